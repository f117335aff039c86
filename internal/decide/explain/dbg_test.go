package explain
import ("testing";"fmt";"os";"strings";"github.com/highwater-go/highwater/internal/record/recording")
func TestDbg(t *testing.T){ for _,f:=range strings.Fields(os.Getenv("RECS")) { r,err:=recording.Open(f); if err!=nil{t.Fatal(err)}; e,err:=Load(r,"",""); if err!=nil{t.Fatal(err)}; c:=newCase(e)
 fmt.Println("##",f,c.kept)
 for i:=range c.Heap.Paths { p:=&c.Heap.Paths[i]; fmt.Printf(" %d parent %d label %q type %s retained %.1f root %+v holder %v\n",i,p.Parent,p.Label,p.Type,float64(p.Retained)/1048576,p.Root,p.Holder); if i>14 {break} }
 for _,g:=range c.proc.Goroutines { fmt.Print("  g ",g.State," ",g.Count," "); for _,l:=range g.Where { for _,fr:=range l.Frames { fmt.Print(fr.Func,":",fr.Line," < ") } }; fmt.Println() }
}}
