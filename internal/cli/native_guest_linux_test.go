package cli_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// What malloc says of itself needs nothing, page faults need Linux 5.15, and probes 6.13: on 6.1, Debian 12's.
func TestNativeMemoryOnAnOlderKernel(t *testing.T) {
	t.Parallel()
	hwtest.LeftToMatrix(t, "boots a second kernel")
	hwtest.Need(t, hwtest.QEMU)
	program := staticResident(t)
	doctor, run, mapped := nativeInGuest(t, "", program)
	var a struct {
		Resident struct {
			Lines []struct {
				Line   int
				Mapped bool
			}
		}
	}
	if err := json.Unmarshal([]byte(mapped), &a); err != nil {
		t.Error(err)
	}
	byLine := map[int]bool{}
	for _, l := range a.Resident.Lines {
		byLine[l.Line] = l.Mapped
	}
	// Debian's kernel lets a program run where mmap ends, which tells MAP_FIXED, too.
	for _, name := range []string{"pool", "mover", "fixed"} {
		if at := placesOf(t, program)[name]; !byLine[at] {
			t.Errorf("%s, line %d, is not said to map memory: %+v", name, at, a.Resident.Lines)
		}
	}
	if !strings.Contains(doctor, "by line of Go, through calls of C") || strings.Contains(doctor, "not which line mapped") {
		t.Errorf("doctor:\n%s", doctor)
	}
	at := placesOf(t, program)["large"]
	if want := "resident/main.go:" + strconv.Itoa(at); !strings.Contains(run, "FIRST WRITTEN BY") || !strings.Contains(run, want) {
		t.Errorf("the line %s is not in the answer", want)
	}
}

// On 5.10, Debian 11's, no line is known, and that is said with the kernel that it needs.
func TestNativeMemoryOnAKernelWithoutItsPageFaults(t *testing.T) {
	t.Parallel()
	hwtest.LeftToMatrix(t, "boots a third kernel")
	doctor, run, _ := nativeInGuest(t, "5.10", staticResident(t))
	run = strings.Join(strings.Fields(run), " ")
	for of, said := range map[string]string{doctor: "needs Linux 5.15, and this is 5.10.",
		run: "which lines of Go made native memory grow: needs Linux 5.15, and this is 5.10."} {
		if !strings.Contains(of, said) {
			t.Errorf("%q is not in\n%s", said, of)
		}
	}
	if strings.Contains(run, "FIRST WRITTEN BY") || !strings.Contains(run, "blocks of 65,552 bytes") {
		t.Errorf("a line, or no sizes of blocks, in\n%s", run)
	}
}

func staticResident(t *testing.T) string {
	t.Helper()
	return hwtest.Build(t, "../record/watch/testdata/resident", hwtest.BuildOptions{CGO: true, Ldflags: "-linkmode=external -extldflags=-static"})
}

// nativeInGuest is what doctor says in a guest, run of a program whose native memory grows, and explain --json of one
// that maps memory in several ways.
func nativeInGuest(t *testing.T, kernel, program string) (doctor, run, mapped string) {
	t.Helper()
	r := hwtest.Guest{
		Kernel: kernel, Memory: 1536 * sample.MiB, Timeout: 8 * time.Minute, Disk: 64 * sample.MiB,
		Files: map[string]string{"/bin/highwater": highwater(t), "/bin/resident": program},
		Cmds: [][]string{
			{"/bin/highwater", "doctor"},
			{"/bin/highwater", "run", "--native=live", "-o", "/tmp/live.hwm", "--", "/bin/resident", "-only", "two", "-rounds", "2"},
			{"/bin/highwater", "run", "--limit", "96MiB", "-o", "/tmp/r.hwm", "--", "/bin/resident", "-only", "two", "-rounds", "4000", "-pause", "200ms"},
			// Of 1 MiB each, so that none is a huge page: before Linux 6.7 that is one fault, and counts as one page.
			{"/bin/highwater", "run", "-q", "-o", "/tmp/m.hwm", "--", "/bin/resident", "-only", "mappers", "-each", "1048576", "-rounds", "30", "-pause", "200ms"},
			{"/bin/highwater", "explain", "--json", "--at", "last", "/tmp/m.hwm"},
		},
	}.Run(t)
	for i, c := range r.Cmds {
		t.Logf("command %d ended with %d:\n%s", i, c.Code, c.Output)
	}
	doctor, live, run := r.Cmds[0].Output, r.Cmds[1], r.Cmds[2].Output
	if live.Code == 0 || !strings.Contains(live.Output, "6.13") {
		t.Errorf("--native=live: code %d, and not which kernel it needs", live.Code)
	}
	for _, want := range []string{"Native memory", "in use by C"} {
		if !strings.Contains(run, want) {
			t.Errorf("%q is not in the answer", want)
		}
	}
	return doctor, run, r.Cmds[4].Output
}

// Version 2 of cgroups counts the buffers of sockets and the kernel's own objects: each is a row or a part of one.
func TestSocketsAndNamesOfFilesAreRowsUnderCgroupVersion2(t *testing.T) {
	t.Parallel()
	hwtest.LeftToMatrix(t, "boots a second kernel")
	hwtest.Need(t, hwtest.QEMU)
	r := hwtest.Guest{
		Memory: 1536 * sample.MiB, Timeout: 6 * time.Minute, Disk: 256 * sample.MiB,
		Files: map[string]string{"/bin/highwater": highwater(t), "/bin/kernelmem": hwtest.Build(t, "testdata/kernelmem", hwtest.BuildOptions{})},
		Cmds: [][]string{
			{"/bin/highwater", "run", "-q", "--limit", "512MiB", "-o", "/tmp/s.hwm", "--", "/bin/kernelmem", "sockets", "12"},
			{"/bin/highwater", "run", "-q", "--limit", "512MiB", "-o", "/tmp/n.hwm", "--", "/bin/kernelmem", "/disk", "60000"},
			{"/bin/highwater", "explain", "--json", "--at", "last", "/tmp/s.hwm"},
			{"/bin/highwater", "explain", "--json", "--at", "last", "/tmp/n.hwm"},
		},
	}.Run(t)
	var sockets, names explain.Answer
	for i, to := range map[int]*explain.Answer{2: &sockets, 3: &names} {
		if err := json.Unmarshal([]byte(r.Cmds[i].Output), to); err != nil {
			t.Fatalf("%v: %s\n%+v", err, r.Cmds[i].Output, r.Cmds[:2])
		}
	}
	unread := sample.Bytes(0)
	for _, row := range sockets.Ledger.Rows {
		if row.Name == sample.RowSockets {
			unread = row.Bytes
		}
	}
	// 12 connections have at least 2 MiB of unread data each; 60,000 names take 192 bytes each, and the names themselves.
	if slab := part(names, sample.RowKernel, explain.PartSlab); unread < 24*sample.MiB || slab < 10*sample.MiB {
		t.Errorf("socket buffers %d, slab %d:\n%+v\n%+v", unread, slab, sockets.Ledger.Rows, names.Ledger.Rows)
	} else {
		t.Logf("socket buffers %d MiB, slab %d MiB", unread>>20, slab>>20)
	}
}
