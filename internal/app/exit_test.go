package app

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Scripts rely on exit codes: users are told each.
func TestEveryExitCodeIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []int{ExitDone, ExitFailed, exitUsage, ExitBudget, ExitInconclusive, exitNotPermitted} {
		if !strings.Contains(string(text), fmt.Sprintf("\n| %d | ", code)) {
			t.Errorf("docs/troubleshooting.md does not tell code %d", code)
		}
	}
}
