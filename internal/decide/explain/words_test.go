package explain

import "testing"

func TestTypeArgumentsAreLeftOutOfNames(t *testing.T) {
	const generic = "example.org/jobs.init.unary[go.shape.struct { example.com/pb.state int; Value []uint8; example.com/pb.sizeCache int32 }].func1"
	for name, want := range map[string]string{
		generic: "jobs.init.unary[...].func1",
		"example.org/v.2/shop%2ev2.(*Cache[go.shape.int]).Put": "shop.v2.(*Cache[...]).Put",
	} {
		if got := ShortFunc(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
