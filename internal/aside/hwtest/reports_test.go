package hwtest

import (
	"reflect"
	"strings"
	"testing"
)

func TestReportsThatEndEarlyOrSpeakOfAnErrorAreAnError(t *testing.T) {
	const good = `{"Cmd":0,"Output":"b25l"}` + "\r\n" + `{"Cmd":0,"Output":"dHdv"}` + "\n" + `{"Cmd":0,"Code":3}` + "\n"
	for _, c := range []struct{ text, err string }{
		{good + `{"Done":true}`, ""},
		{good, "it stopped before its end"},
		{good + `{"Error":"no proc"}`, "no proc"},
		{good + `{"Cmd":2,"Code":0}`, "report of command 2 of 1"},
		{good + "noise", `report "noise"`},
	} {
		r, err := parseReports([]byte(c.text), 1)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.err)
		}
		if want := []GuestCmd{{Output: "onetwo", Code: 3}}; !reflect.DeepEqual(r.Cmds, want) {
			t.Errorf("%q: %+v", c.text, r.Cmds)
		}
	}
}

func FuzzReports(f *testing.F) {
	f.Add([]byte(`{"Cmd":1,"Code":3}`+"\n"+`{"File":"/a","Data":"AA=="}`+"\n"+`{"Done":true}`), 2)
	f.Fuzz(func(t *testing.T, b []byte, cmds int) {
		cmds = max(0, min(cmds, 100))
		if r, _ := parseReports(b, cmds); len(r.Cmds) != cmds {
			t.Errorf("%d commands of %d", len(r.Cmds), cmds)
		}
	})
}
