package app

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheLocaleSaysWhetherThereIsUTF8(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, true},
		{map[string]string{"LANG": "C"}, false},
		{map[string]string{"LANG": "en_US.UTF-8"}, true},
		{map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, false},
		{map[string]string{"LC_ALL": "C.utf8", "LANG": "C"}, true},
		{map[string]string{"LC_CTYPE": "POSIX", "LANG": "en_US.UTF-8"}, false},
	} {
		if got := hasUTF8(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

func TestALinkIsOfTheSchemeThatWasChosen(t *testing.T) {
	host, _ := os.Hostname()
	home := t.TempDir()
	t.Setenv("HOME", home)
	file := filepath.Join(home, "a b.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Dir(file) + "/a%20b.go"
	for scheme, want := range map[string]string{
		"":                             "file://" + host + path,
		"file":                         "file://" + host + path,
		"vscode":                       "vscode://file" + path + ":7",
		"idea":                         "idea://open?file=" + path + "&line=7",
		"zed://file{file}?line={line}": "zed://file" + path + "?line=7",
	} {
		if got := linkOf(scheme)(file, 7); got != want {
			t.Errorf("%q: %q, want %q", scheme, got, want)
		}
	}
	if got := linkOf("")("/not/here.go", 7); got != "" {
		t.Errorf("a file that is not here: %q", got)
	}
	t.Setenv("HOME", t.TempDir())
	if got := linkOf("")(file, 7); got != "" {
		t.Errorf("a file of somebody else: %q", got)
	}
	if linkOf("off") != nil || linkOf("nonsense") != nil {
		t.Error("a link without a scheme")
	}
}
