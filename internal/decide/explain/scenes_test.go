package explain

import (
	"maps"
	"math"
)

// scenes are runs whose cause is known, by name.
var scenes = merged(leakScenes, workScenes, gcScenes, outsideScenes, heapScenes, mallocScenes, processScenes, residentScenes, nativeLiveScenes)

// quiet are runs in which a hasty rule would speak.
var quiet = merged(quietHeap, quietWork)

func merged[T any](parts ...map[string]T) map[string]T {
	all := map[string]T{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

func leaking() *scene {
	s := newScene()
	s.heap(190, 212, 240)
	s.killed()
	s.cycles(25, 10, 30, 50, 70, 90, 110, 130, 150, 170, 190)
	s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 200, 0.01)
	s.site("example.org/shop/cmd/shop.main", "/build/shop/main.go", 20, 6, 0)
	s.stand(10, 60, 1, 0)
	s.stand(20, 120, 0, 0)
	s.inside("net/http.(*conn).serve", 8)
	return s
}

func oneOfSeveral() *scene {
	s := leaking()
	s.heap(110, 120, 140)
	s.killed()
	s.cycles(25, 10, 20, 32, 44, 55, 66, 78, 90, 100, 110)
	s.Sites[0].Bytes, s.Sites[0].Growth, s.Sites[0].Allocated, s.Sites[0].Freed = 110*mib, int64(100*mib), 111*mib, 0
	s.Sites[0].Course[1].Bytes = 80 * mib
	s.Moment.Cgroup.Stat.PageCache = mib
	s.charge()
	s.beside(4712, "shop", true, 70)
	s.beside(4713, "shop", true, 25)
	s.beside(4700, "sh", false, 1)
	return s
}

// noise is a live heap of v MiB that goes up and down by a MiB over n collections
// and grows by so many MiB from the first to the last.
func noise(n int, v, growth float64) (live []float64) {
	for i := range n {
		live = append(live, v+1.5*math.Abs(math.Sin(float64(i*i)))+growth*float64(i)/float64(n-1))
	}
	return live
}

// filling is a live heap that comes near v MiB, fast at first.
func filling(n int, v float64) (live []float64) {
	for i := range n {
		live = append(live, v*(1-math.Exp(-1.6*float64(i+1)/float64(n))))
	}
	return live
}
