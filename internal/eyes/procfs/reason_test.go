package procfs

import "testing"

func TestAReasonNamesNoPlace(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"its linker switched heap profiling off, and --no-heap-profile left it so": "its linker switched heap profiling off, and --no-heap-profile left it so",
		"http://db.internal:9090/metrics: nobody listens":                          "… nobody listens",
		"Get \"http://h/x\": dial tcp: lookup dbhost on 10.0.0.1:53: no such host": "Get … dial … lookup … on … no such host",
		"dial tcp 10.1.2.3:80: connect: connection refused":                        "dial … connect: connection refused",
		"read memory of process 4711: /proc/4711/mem: permission denied":           "read memory of process … permission denied",
		"open /home/me/x: permission denied":                                       "open … permission denied",
		"it is of Go 1.19, and 1.20 to 1.27 are read":                              "it is of Go 1.19, and 1.20 to 1.27 are read",
		"the linker of /usr/lib/me.so switched it off":                             "the linker of … switched it off",
		"12% of 4.5 MiB": "12% of 4.5 MiB",
	} {
		if got := PlainReason(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestANameLosesDirectories(t *testing.T) {
	for in, want := range map[string]string{
		"goroutine main.run in /home/me/src/main.go:12": "goroutine main.run in main.go:12",
		"map[string]*github.com/a/b.T":                  "map[string]*github.com/a/b.T",
		"net/http.(*conn).serve":                        "net/http.(*conn).serve",
		"/home/me/x.go":                                 "x.go",
	} {
		if got := WithoutDirectories(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
