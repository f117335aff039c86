package heapdiff

import "github.com/highwater-go/highwater/internal/words/sample"

// A line is a helper's where one of its callers has so much of what grew, more than half of what is in use, and less
// than half of what was allocated: what stays is that caller's doing.
const (
	helperGrowth = 0.8
	helperMost   = 0.5
)

// branch is what one caller of a line has of its sites.
type branch struct {
	caller              sample.Frame
	sites               []int
	held, grown, passed float64 // bytes in use, what they grew by, and all that was allocated
}

// skipHelpers blames the caller instead of a helper such as newBuffer, whose line does not tell whose memory it is: of
// the sites that such a caller has, and on while the caller is a helper, too. What is left stays with the helper's line.
func skipHelpers(blames []Blamed, p Profile, earlier *sample.HeapProfile, v View, ownerOf func(string) Owner) {
	lines := map[line][]int{}
	for i, b := range blames {
		if b.Owner == Own {
			key := line{b.Frame.Func, b.Frame.File, b.Frame.Line}
			lines[key] = append(lines[key], i)
		}
	}
	for _, sites := range lines {
		for depth := 1; len(sites) > 1; depth++ {
			best := mostOf(branches(sites, depth, p, earlier, v, ownerOf))
			if best == nil || best.caller.Func == "" {
				break
			}
			for _, i := range best.sites {
				if blames[i].Helper.Func == "" {
					blames[i].Helper = blames[i].Frame
				}
				blames[i].Frame = best.caller
			}
			sites = best.sites
		}
	}
}

// branches are the callers of a line: by the line of the program's own function that is depth calls above it.
func branches(sites []int, depth int, p Profile, earlier *sample.HeapProfile, v View, ownerOf func(string) Owner) (list []*branch) {
	index := map[line]*branch{}
	for _, i := range sites {
		s, c := p.Sites[i], p.Counts[i]
		at := ownFrame(s, depth, ownerOf)
		key := line{at.Func, at.File, at.Line}
		b := index[key]
		if b == nil {
			b = &branch{caller: at}
			index[key], list = b, append(list, b)
		}
		b.sites = append(b.sites, i)
		b.held += float64(Scale(v.InUse(c), s.Size, p.Rate).Bytes)
		b.grown += float64(max(0, Growth(earlier, p.HeapProfile, i, s.Size, v).Bytes))
		b.passed += float64(Scale(v.Allocs(c), s.Size, p.Rate).Bytes)
	}
	return list
}

// mostOf is the caller that makes a helper of a line, nil: none does.
func mostOf(list []*branch) *branch {
	var all branch
	for _, b := range list {
		all.held, all.grown, all.passed = all.held+b.held, all.grown+b.grown, all.passed+b.passed
	}
	for _, b := range list {
		if b.grown > 0 && b.grown >= helperGrowth*all.grown && b.held > helperMost*all.held && b.passed < helperMost*all.passed {
			return b
		}
	}
	return nil
}

// ownFrame is a frame of the program's own by its number from the innermost, a zero one where there are not so many.
func ownFrame(s sample.Site, number int, ownerOf func(string) Owner) sample.Frame {
	for _, l := range s.Stack {
		for _, f := range l.Frames {
			if ownerOf(f.Func) == Own {
				if number == 0 {
					return f
				}
				number--
			}
		}
	}
	return sample.Frame{}
}
