package truthfile

import (
	"fmt"
	"regexp"
	"strings"
)

// Values are what the names in braces of a run's commands stand for.
type Values struct {
	Programs string                 // {bin}: the folder with a program for each main package, by Program's name
	Dir      string                 // {dir}: an empty folder of the run
	Fault    string                 // {fault}
	Address  func() (string, error) // {address:NAME}: a free loopback address, the same for a name in all commands

	addresses map[string]string
}

// Program is the name under {bin} of a package: "./picoshare/load" is
// "picoshare-load".
func Program(pkg string) string {
	return strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "-")
}

// Expand returns the run with every name filled in.
func (r Run) Expand(v *Values) (Run, error) {
	for _, c := range []*string{&r.Before, &r.Beside, &r.BesideReady, &r.Command, &r.Ready, &r.Load} {
		var err error
		if *c, err = expand(*c, v.of); err != nil {
			return r, err
		}
	}
	return r, nil
}

var inBraces = regexp.MustCompile(`\{[^}]*\}?`)

func expand(command string, of func(name string) (string, error)) (string, error) {
	var failed error
	command = inBraces.ReplaceAllStringFunc(command, func(name string) string {
		kind, _, _ := strings.Cut(strings.Trim(name, "{}"), ":")
		switch kind {
		case "bin", "dir", "fault", "address":
			value, err := of(strings.Trim(name, "{}"))
			if err != nil {
				failed = err
			}
			return value
		}
		failed = fmt.Errorf("%s stands for nothing", name)
		return name
	})
	return command, failed
}

func (v *Values) of(name string) (string, error) {
	switch kind, which, _ := strings.Cut(name, ":"); kind {
	case "bin":
		return v.Programs, nil
	case "dir":
		return v.Dir, nil
	case "fault":
		return v.Fault, nil
	default: // address
		return v.address(which)
	}
}

func (v *Values) address(which string) (string, error) {
	if a, ok := v.addresses[which]; ok {
		return a, nil
	}
	a, err := v.Address()
	if err != nil {
		return "", err
	}
	if v.addresses == nil {
		v.addresses = map[string]string{}
	}
	v.addresses[which] = a
	return a, nil
}
