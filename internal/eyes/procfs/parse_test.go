package procfs

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestParseStatReadsFieldsBehindAnyName(t *testing.T) {
	const tail = " S 7 7133 3974 0 -1 4194304 637 0 12 0 150 25 0 0 20 0 3 0 111295 78237696 810 18446744073709551615\n"
	want := stat{state: 'S', ppid: 7, majflt: 12, utime: 150, stime: 25, threads: 3, start: 111295}
	for _, name := range []string{"(a)", "()", "(a b)", "(a) R 1 (b)", "(x\ny)"} {
		got, err := parseStat([]byte("7143 " + name + tail))
		if err != nil || got != want {
			t.Errorf("name %q: got %+v, %v; want %+v", name, got, err, want)
		}
	}
}

func TestParseStatRefusesWhatIsNoStat(t *testing.T) {
	for _, text := range []string{"", "1 a S 1", "1 (a)", "1 (a) S 1 2 3", "1 (a) S x 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"} {
		if st, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q: got %+v, want an error", text, st)
		}
	}
}

func TestParseStatmCountsPages(t *testing.T) {
	total, shared, err := parseStatm([]byte("19101 835 282 1 0 2676 0\n"), 4096)
	if err != nil || total != 835*4096 || shared != 282*4096 {
		t.Errorf("got %d, %d, %v", total, shared, err)
	}
	for _, text := range []string{"", "1", "1 2", "1 -2 3", "1 99999999999999999999 3"} {
		if _, _, err := parseStatm([]byte(text), 4096); err == nil {
			t.Errorf("%q: want an error", text)
		}
	}
}

const smapsText = `00400000-0048a000 r-xp 00000000 fe:00 9978169                    /usr/bin/a b
Rss:                 552 kB
Pss:                  10 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
c000000000-c000400000 rw-p 00000000 00:00 0
Rss:                2048 kB
Shared_Clean:          4 kB
Shared_Dirty:          8 kB
Private_Clean:        12 kB
Private_Dirty:      2024 kB
Anonymous:          2044 kB
LazyFree:             16 kB
AnonHugePages:      2048 kB
Swap:                 20 kB
7ffeb2520000-7ffeb2541000 rw-p 00000000 00:00 0                          [stack]
Anonymous:            12 kB
`

func TestParseSmapsKeepsEveryMapping(t *testing.T) {
	want := []Mapping{
		{Start: 0x400000, End: 0x48a000, Perms: [4]byte([]byte("r-xp")), Inode: 9978169, Path: "/usr/bin/a b", device: "254:0", Rss: 552 << 10},
		{Start: 0xc000000000, End: 0xc000400000, Perms: [4]byte([]byte("rw-p")), Rss: 2 << 20, SharedClean: 4 << 10,
			SharedDirty: 8 << 10, PrivateClean: 12 << 10, PrivateDirty: 2024 << 10, Anonymous: 2044 << 10,
			LazyFree: 16 << 10, AnonHuge: 2 << 20, Swap: 20 << 10},
		{Start: 0x7ffeb2520000, End: 0x7ffeb2541000, Perms: [4]byte([]byte("rw-p")), Path: "[stack]", Anonymous: 12 << 10},
	}
	got, err := parseSmaps(nil, []byte(smapsText))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
	}
	again, err := parseSmaps(got, []byte(smapsText))
	if err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("over old entries: got %+v, %v", again, err)
	}
}

func TestAMappingThatGrewWhileItWasReadCountsOnce(t *testing.T) {
	const text = `7f0000000000-7f0000021000 rw-p 00000000 00:00 0
Rss:                 100 kB
7f0000000000-7f0000042000 rw-p 00000000 00:00 0
Rss:                 200 kB
7f0000100000-7f0000101000 rw-p 00000000 00:00 0
Rss:                   4 kB
`
	got, err := parseSmaps(nil, []byte(text))
	if err != nil || len(got) != 2 || got[0].Rss != 200*sample.KiB || got[1].Rss != 4*sample.KiB {
		t.Errorf("%+v, %v; want the grown mapping as it was read last, and the next", got, err)
	}
}

func TestParseSmapsRefusesWhatTheKernelNeverWrites(t *testing.T) {
	for name, text := range map[string]string{
		"size before a mapping": "Rss: 1 kB\n",
		"size without unit":     "1000-2000 rw-p 0 0:0 0\nRss: 1\n",
		"backwards":             "2000-1000 rw-p 0 0:0 0\n",
		"overlapping":           "1000-3000 rw-p 0 0:0 0\n2000-4000 rw-p 0 0:0 0\n",
		"short permissions":     "1000-2000 rw 0 0:0 0\n",
		"no inode":              "1000-2000 rw-p 0 0:0\n",
	} {
		if ms, err := parseSmaps(nil, []byte(text)); err == nil {
			t.Errorf("%s: got %+v, want an error", name, ms)
		}
	}
}

func TestParseMeminfoNeedsBothFigures(t *testing.T) {
	var h sample.Host
	err := parseMeminfo(&h, []byte("MemTotal:       24684084 kB\nMemFree: 1 kB\nMemAvailable:   24308724 kB\n"))
	if want := (sample.Host{Total: 24684084 << 10, Available: 24308724 << 10}); err != nil || h != want {
		t.Errorf("got %+v, %v", h, err)
	}
	if err := parseMeminfo(&h, []byte("MemTotal: 24684084 kB\n")); !errors.Is(err, errMeminfo) {
		t.Errorf("without MemAvailable: got %v", err)
	}
}

func TestParsePressureReadsBothLines(t *testing.T) {
	var p sample.Pressure
	err := parsePressure(&p, []byte("some avg10=1.25 avg60=0.00 avg300=0.00 total=1500\nfull avg10=100.00 avg60=0.00 avg300=0.00 total=20\n"))
	want := sample.Pressure{Some10: 1.25, Full10: 100, SomeTotal: 1500 * time.Microsecond, FullTotal: 20 * time.Microsecond}
	if err != nil || p != want {
		t.Errorf("got %+v, %v", p, err)
	}
	for _, text := range []string{"", "some avg10=1.25 avg60=0.00 avg300=0.00 total=1500\n", "full\nsome\n"} {
		if err := parsePressure(&p, []byte(text)); err == nil {
			t.Errorf("%q: want an error", text)
		}
	}
}

func TestRedactHidesValuesThatLookSecret(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"prog", "--password=hunter2", "-v"}, []string{"prog", "--password=***", "-v"}},
		{[]string{"prog", "--db-password", "hunter2", "-v"}, []string{"prog", "--db-password", "***", "-v"}},
		{[]string{"prog", "-token", "-x9", "file"}, []string{"prog", "-token", "***", "file"}},
		{[]string{"env", "PGPASSWORD=hunter2", "psql"}, []string{"env", "PGPASSWORD=***", "psql"}},
		{[]string{"prog", "host=h password=hunter2 port=1"}, []string{"prog", "host=h password=*** port=1"}},
		{[]string{"prog", `host=h password='hunter 2' port=1`}, []string{"prog", "host=h password=*** port=1"}},
		{[]string{"curl", "-H", "Authorization: Bearer abc.def"}, []string{"curl", "-H", "Authorization: ***"}},
		{[]string{"curl", "https://me:hunter2@host/x?a=1&access_key=k&b=2"}, []string{"curl", "https://***@host/x?a=1&access_key=***&b=2"}},
		{[]string{"curl", "https://me:p@ss@host/x"}, []string{"curl", "https://***@host/x"}},
		{[]string{"prog", "root:hunter2@tcp(db:3306)/app"}, []string{"prog", "***@tcp(db:3306)/app"}},
		{[]string{"prog", "ghp_0123456789abcdef0123"}, []string{"prog", "***"}},
		{[]string{"prog", "AKIAIOSFODNN7EXAMPLE"}, []string{"prog", "***"}},
		{[]string{"prog", "--api-key=k", "--apikey=k", "--APP_SECRET=k"}, []string{"prog", "--api-key=***", "--apikey=***", "--APP_SECRET=***"}},
		{[]string{"prog", "-addr", ":8080", "https://host/p@th", "user@host"}, []string{"prog", "-addr", ":8080", "https://host/p@th", "user@host"}},
		{[]string{"prog", "--password", "--verbose"}, []string{"prog", "--password", "***"}},
		{[]string{"secret-server", "--limit", "5"}, []string{"secret-server", "--limit", "5"}},
		{[]string{}, []string{}},
	} {
		if got := Redact(c.in); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		smapsText, "1 (a) S 7 1 1 0 -1 4 6 0 12 0 150 25 0 0 20 0 3 0 111295 7 8\n", "1 2 3 4\n",
		"MemTotal: 1 kB\nMemAvailable: 1 kB\n",
		"some avg10=1.25 avg60=0.00 avg300=0.00 total=1\nfull avg10=1.00 avg60=0.00 avg300=0.00 total=2\n",
		"--password=x https://a:b@c/", "Name:\ta\nTgid:\t12\nTracerPid:\t0\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		parseStat(b)
		parseStatm(b, 4096)
		parseStatusNumber(b, "Tgid:")
		if ms, err := parseSmaps(nil, b); err == nil {
			for i := range ms {
				if ms[i].End <= ms[i].Start || i > 0 && ms[i].Start < ms[i-1].End {
					t.Errorf("mapping %d of %+v overlaps", i, ms)
				}
			}
		}
		var h sample.Host
		parseMeminfo(&h, b)
		parseMounts(b)
		var p sample.Pressure
		if parsePressure(&p, b) == nil && (p.SomeTotal < 0 || p.FullTotal < 0) {
			t.Errorf("negative time in %+v", p)
		}
		Redact([]string{"prog", string(b)})
		Withhold(sample.Program{Name: "prog", Args: strings.Fields(string(b))})
		WithholdShell(string(b))
		RedactShell(string(b))
		PlainReason(string(b))
		WithoutDirectories(string(b))
	})
}
