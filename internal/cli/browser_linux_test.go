package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// shownIn opens the recording in a browser, a shell script, and gives the address that
// the terminal has, and the command.
func shownIn(t *testing.T, script string, env ...string) (address string, cmd *exec.Cmd) {
	t.Helper()
	browser := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(browser, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(highwater(t), "open", privateRecording(t))
	cmd.Env = append(append(os.Environ(), "BROWSER="+browser, "XDG_STATE_HOME="+t.TempDir()), env...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if address, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address), cmd
}

// secretOf is the element of an address that nobody else may know.
func secretOf(t *testing.T, address string) string {
	t.Helper()
	parts := strings.Split(address, "/")
	if len(parts) < 4 || len(parts[3]) < 20 {
		t.Fatalf("address %q", address)
	}
	return parts[3]
}

// nobodyHasInArguments fails the test for each process that has a word in its
// arguments, which every user of the machine may read.
func nobodyHasInArguments(t *testing.T, word string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d processes, %v", len(files), err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have ended
		if bytes.Contains(text, []byte(word)) {
			t.Errorf("%s: %q", file, text)
		}
	}
}

func TestTheBrowserIsLedToThePageByAFileOfItsUsersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	if out, err := exec.Command("mkfifo", told).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address,
		cmd := shownIn(t,
		fmt.Sprintf("file=${1#file://}; stat -c '%%a %%F' \"$file\" \"$(dirname \"$file\")\" >%[1]s.new; cat \"$file\" >>%[1]s.new; echo \"$1\" >%[1]s", told))
	line, err := os.ReadFile(told) // until the script has written it
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(told + ".new")
	if err != nil {
		t.Fatal(err)
	}
	secret := secretOf(t, address)
	if !strings.HasPrefix(string(line), "file:///") || strings.Contains(string(line), secret) {
		t.Errorf("the browser was given %q", line)
	}
	if !strings.HasPrefix(string(said), "600 regular file\n700 directory\n") || !strings.Contains(string(said), "url="+address) {
		t.Errorf("the file is %q", said)
	}
	nobodyHasInArguments(t, secret)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(strings.TrimPrefix(strings.TrimSpace(string(line)), "file://")); !os.IsNotExist(err) {
		t.Errorf("the file is left: %v", err)
	}
}

func TestARealBrowserShowsThePageAndNoProcessHasItsAddressInItsArguments(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	chromium, err := hwtest.ChromiumPath()
	if err != nil {
		t.Fatal(err)
	}
	profile := t.TempDir()
	said := filepath.Join(profile, "said")
	if out, err := exec.Command("mkfifo", said).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address,
		_ := shownIn(t,
		fmt.Sprintf("echo $$ >%[1]s.pid; exec %[2]s --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --remote-debugging-port=0 --user-data-dir=%[3]s \"$1\" 2>%[1]s",
			said, chromium, profile))
	errors, err := os.Open(said)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Close() })
	silent := make(chan struct{})
	t.Cleanup(func() { endOf(t, said+".pid"); <-silent })
	port := ""
	for lines := bufio.NewScanner(errors); port == "" && lines.Scan(); {
		if _, at, found := strings.Cut(lines.Text(), "DevTools listening on ws://"); found {
			port, _, _ = strings.Cut(at, "/")
		}
	}
	go func() { defer close(silent); _, _ = io.Copy(io.Discard, errors) }() // until all of its processes are gone
	for shown := ""; shown != address; shown = pageOf(t, port) {
		if strings.HasPrefix(shown, "chrome-error") {
			t.Fatalf("the browser shows %s", shown)
		}
	}
	nobodyHasInArguments(t, secretOf(t, address))
}

// pageOf is the address of the page that a browser shows, "" while there is none.
func pageOf(t *testing.T, port string) string {
	t.Helper()
	answer, err := http.Get("http://" + port + "/json/list")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var pages []struct{ Type, URL, Title string }
	if err := json.NewDecoder(answer.Body).Decode(&pages); err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if p.Type == "page" && strings.HasPrefix(p.URL, "http") && strings.Contains(p.Title, "server") {
			return p.URL
		}
	}
	return ""
}

// endOf kills the process whose pid a file has.
func endOf(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return
	}
	_ = exec.Command("kill", "-9", strings.TrimSpace(string(text))).Run()
}
