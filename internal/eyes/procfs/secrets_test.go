package procfs

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// secretForms are the forms in which secrets stand in command lines, one a line:
// words between tabs, with the secret itself as SECRET or in a known shape.
func secretForms(t *testing.T) (forms [][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if !strings.HasPrefix(line, "#") {
			forms = append(forms, strings.Split(strings.ReplaceAll(line, `\n`, "\n"), "\t"))
		}
	}
	return forms
}

// inShell is a word as one types it.
func inShell(word string) string {
	switch {
	case !strings.ContainsAny(word, " \n{;'"):
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func TestNoFormOfASecretStaysInACommandLine(t *testing.T) {
	forms := secretForms(t)
	if len(forms) < 40 {
		t.Fatalf("%d forms", len(forms))
	}
	for _, f := range forms {
		args := append([]string{"./server"}, f...)
		var typed []string
		for _, a := range args {
			typed = append(typed, inShell(a))
		}
		for how, got := range map[string][]string{
			"Redact":        Redact(args),
			"Withhold":      Withhold(sample.Program{Name: "server", Args: args}),
			"WithholdShell": {WithholdShell(strings.Join(typed, " "))},
			"RedactShell":   {RedactShell(strings.Join(typed, " "))},
		} {
			if text := strings.Join(got, " "); strings.Contains(text, "S3cret") || strings.HasPrefix(text, "***") {
				t.Errorf("%s of %q keeps %q", how, f, got)
			}
		}
	}
}

func TestNoQuotedSecretOfAShellsCommandStays(t *testing.T) {
	text, err := os.ReadFile("testdata/shell-secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	commands := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(commands) < 40 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		for how, got := range map[string]string{"RedactShell": RedactShell(c), "WithholdShell": WithholdShell(c)} {
			if strings.Contains(got, "S3cret") {
				t.Errorf("%s of %s keeps %s", how, c, got)
			}
		}
		program, _, _ := strings.Cut(c, " ")
		if got := RedactShell(c); strings.Trim(program, "(") != "" && !strings.Contains(program, "=") && !strings.HasPrefix(got, program) {
			t.Errorf("%s has lost its program: %s", c, got)
		}
	}
}

func TestOfArgumentsNamesAndPlainValuesStay(t *testing.T) {
	for in, want := range map[string]string{
		"./server -addr :8080 --limit=256MiB -v":         "./server -addr :8080 --limit=256MiB -v",
		"./server -addr 127.0.0.1:80 -dir /home/me/x":    "./server -addr 127.0.0.1:80 -dir …",
		"./server --probe http://127.0.0.1:80/healthz":   "./server --probe http://127.0.0.1:80/healthz",
		"./server --probe http://127.0.0.1:80/s?q=me":    "./server --probe http://127.0.0.1:80/…",
		"./server --host db.internal:5432 -n 5 -t 1m30s": "./server --host … -n 5 -t 1m30s",
		"./server serve me --max-retries2 7 -8 50%":      "./server … … --max-retries2 7 -8 50%",
		"./server --pin 1234 -pHunter2 -port 5":          "./server --pin … … -port 5",
		"env GOGC=50 NAME=me ./server":                   "env GOGC=50 … …",
		"/bin/sh ./load.sh me 5":                         "/bin/sh ./load.sh … 5",
		"sh -c run":                                      "sh -c …",
		"./server --name=me --on=true -- x":              "./server --name=… --on=true -- …",
	} {
		words := strings.Fields(in)
		got := Withhold(sample.Program{Name: words[0][strings.LastIndex(words[0], "/")+1:], Args: words})
		if strings.Join(got, " ") != want {
			t.Errorf("%s\n got %s\nwant %s", in, strings.Join(got, " "), want)
		}
	}
}

func TestOfALoadItsProgramAndGrammarStay(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "",
		"demo/load -addr 127.0.0.1:18080":     "demo/load -addr 127.0.0.1:18080",
		"hey -n 100 -c 5 http://example.com/": "hey -n 100 -c 5 …",
		"TOKEN=x ./load.sh && rm me":          "… … && … …",
		"sleep 1; curl 'x y'":                 "sleep … … …",
	} {
		if got := WithholdShell(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestOfSettingsTheRuntimesStay(t *testing.T) {
	got := WithholdSettings([]string{"GOMEMLIMIT=200MiB", "GODEBUG=gctrace=1", "DSN=me@host", "WORKERS=4", "API_PIN=1234"})
	if want := []string{"GOMEMLIMIT=200MiB", "GODEBUG=gctrace=1", "DSN=…", "WORKERS=4", "API_PIN=…"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACommandLineOfMegabytesIsCut(t *testing.T) {
	args := []string{"./server"}
	for range 2000 {
		args = append(args, strings.Repeat("a-", 500))
	}
	args = append(args, "--password=S3cret")
	long := []string{"./server", strings.Repeat("é", 1<<20), "-v", "--password=S3cret"}
	for how, got := range map[string][]string{"many": Redact(args), "long": Redact(long), "withheld": Withhold(sample.Program{Args: args})} {
		text := strings.Join(got, " ")
		if len(text) > mostArgs+100 || got[0] != "./server" || strings.Contains(text, "S3cret") {
			t.Errorf("%s: %d arguments of %d bytes", how, len(got), len(text))
		}
	}
	if got := Redact(long); len(got) != 4 || got[2] != "-v" || got[3] != "--password=***" || !strings.HasSuffix(got[1], "é"+Withheld) {
		t.Errorf("%d arguments, the second ends with %q", len(got), got[1][len(got[1])-10:])
	}
	typed := "./load " + strings.Repeat("x ", 1<<20)
	if got := RedactShell(typed); len(got) > 2*mostArgs+100 {
		t.Errorf("a load of %d bytes", len(got))
	}
}
