package gobin

import (
	"slices"
	"strings"
	"testing"
)

// packageOf is the package of a variable or function.
func packageOf(name string) string {
	i := strings.LastIndex(name, "/") + 1
	pkg, _, _ := strings.Cut(name[i:], ".")
	return name[:i] + pkg
}

func TestTheFirstUserOfAVariableIsAFunctionOfItsPackage(t *testing.T) {
	for _, p := range append([]probe{{toolchain: "go1.26.8"}, {toolchain: "go1.26.8", flags: "-buildmode=pie"}}, arm64...) {
		t.Run(p.String(), func(t *testing.T) {
			b := open(t, p.build(t))
			all, err := b.Variables([][2]uint64{{0, 1 << 48}})
			if err != nil {
				t.Fatal(err)
			}
			var addrs []uint64
			for _, v := range all {
				addrs = append(addrs, v.Addr)
			}
			users, err := b.Users(addrs)
			if err != nil {
				t.Fatal(err)
			}
			named, own := 0, 0
			for _, v := range all {
				user, ok := users[v.Addr]
				if !ok || strings.Contains(v.Name, ":") {
					continue // what the linker makes is no package's
				}
				named++
				if packageOf(user) == packageOf(v.Name) {
					own++
				}
				if v.Name == "main.native" && user != "main.main" {
					t.Errorf("%s uses main.native", user)
				}
			}
			if t.Logf("%d of %d variables have users, %d of their package", named, len(all), own); named < 100 || own < named*4/5 {
				t.Errorf("%d of %d users are of the variable's package", own, named)
			}
			if none, err := b.Users(nil); len(none) != 0 || err != nil {
				t.Errorf("no variables have users %v, %v", none, err)
			}
		})
	}
}

func TestAllThatAUserOfAVariableRefersToIsPassedOn(t *testing.T) {
	for _, p := range append([]probe{{toolchain: "go1.26.8"}}, arm64...) {
		t.Run(p.String(), func(t *testing.T) {
			b := open(t, p.build(t))
			all, err := b.Variables([][2]uint64{{0, 1 << 48}})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(all, func(v Variable) bool { return v.Name == "main.native" })
			calls, found := 0, false
			err = b.References([]uint64{all[i].Addr}, func(targets []uint64) {
				calls++
				found = slices.Contains(targets, all[i].Addr) && len(targets) > 1
			})
			if err != nil || calls == 0 || !found {
				t.Errorf("%d functions, %v, %v", calls, found, err)
			}
			if err := b.References(nil, func([]uint64) { t.Error("a user of nothing") }); err != nil {
				t.Error(err)
			}
		})
	}
}
