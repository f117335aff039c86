package faultprofile

import "testing"

func TestKernelsAreComparedByTheirFirstTwoNumbers(t *testing.T) {
	for release, older := range map[string]bool{
		"5.10.0-46-cloud-amd64": true, "5.14.21": true, "4.19.0": true, "5.4": true,
		"5.15.0": false, "5.16-rc1": false, "6.1.0-56-cloud-amd64": false, "10.2": false, "": false, "next": false,
	} {
		if got := isBefore(release, 5, 15); got != older {
			t.Errorf("%q before 5.15: %v", release, got)
		}
	}
}
