package explain

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestATimeOutsideOfTheRecordingIsRefusedWithItsSpan(t *testing.T) {
	end := began.Add(30 * time.Second)
	for _, c := range []struct {
		at   time.Duration
		want string
	}{
		{0, ""}, {30 * time.Second, ""}, {12 * time.Second, ""},
		{31 * time.Second, ""}, // "31 s" may be 30.5
		{-500 * time.Millisecond, ""},
		{40 * time.Second, "10 s after the recording's end; it begins at "},
		{9 * time.Hour, "after the recording's end"},
		{-time.Minute, "60 s before the recording; it begins at "},
	} {
		err := inSpan(began, end, began.Add(c.at))
		if (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, ErrAt) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "is 30 s long")) {
			t.Errorf("%s: %v, want %q", c.at, err, c.want)
		}
	}
}
