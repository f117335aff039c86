package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestAScriptHasItsOwnName(t *testing.T) {
	for _, c := range []struct{ exe, args, want string }{
		{"dash", "/bin/sh ./serve.sh -v", "serve.sh"},
		{"dash", "/bin/sh -e ./serve.sh", "serve.sh"},
		{"perl", "perl -e print", "perl"},
		{"bash", "bash -lc make", "bash"},
		{"bash", "/bin/bash -x /opt/app/serve --port 80", "serve"},
		{"dash", "sh -c make", "dash"},
		{"dash", "sh", "dash"},
		{"dash", "", "dash"},
		{"bash", "bash -s", "bash"},
		{"busybox", "/bin/sh /entry.sh", "entry.sh"},
		{"busybox", "busybox sh /entry.sh", "entry.sh"},
		{"python3.11", "/usr/bin/python3 -u app.py", "app.py"},
		{"python3.11", "python3 -m http.server", "python3.11"},
		{"server", "./server config.yml", "server"},
	} {
		list := []sample.Program{{Name: c.exe, Args: strings.Fields(c.args)}}
		nameScripts(list)
		if list[0].Name != c.want {
			t.Errorf("%s as %q is called %q, want %q", c.exe, c.args, list[0].Name, c.want)
		}
	}
	list := []sample.Program{{Name: "dash", Args: []string{"/bin/sh", "./serve.sh", "-v"}}}
	if nameScripts(list); !slices.Equal(list[0].Args, []string{"./serve.sh", "-v"}) {
		t.Errorf("%q", list[0].Args)
	}
}
