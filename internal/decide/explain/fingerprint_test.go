package explain

import (
	"fmt"
	"testing"
)

func TestAFingerprintOutlivesWhatCompilersAndReleasesNumber(t *testing.T) {
	for name, want := range map[string]string{
		"main.(*store).put":        "main.(*store).put",
		"main.main.func1":          "main.main.func",
		"main.serve.func1.2":       "main.serve.func",
		"main.serve.func3.1.func2": "main.serve.func",
		"main.run.gowrap1":         "main.run.func",
		"main.walk-range1":         "main.walk-range1",
		"example.org/shop/v2/cache.(*LRU[go.shape.int]).Add": "example.org/shop/cache.(*LRU[...]).Add",
		"example.org/shop/v2.Put":                            "example.org/shop.Put",
		"example.org/v2ray/core.Put":                         "example.org/v2ray/core.Put",
		"":                                                   "",
	} {
		if got := steadyName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if fingerprint(Leak, "main.f.func1", "m") != fingerprint(Leak, "main.f.func2", "m") || fingerprint(Leak, "main.f", "m") == fingerprint(Burst, "main.f", "m") {
		t.Error("a closure's number is in the fingerprint, or the class is not")
	}
}

func TestCausesHaveFingerprintsOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for i := range 5000 {
		seen[fingerprint(Leak, fmt.Sprintf("main.f%x", i), "example.org/shop")] = true
	}
	if len(seen) != 5000 {
		t.Errorf("5000 causes have %d fingerprints", len(seen))
	}
}
