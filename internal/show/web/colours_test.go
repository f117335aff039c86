package web_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// rowsInOrder are the ledger's rows with a colour of their own, as the chart stacks them.
var rowsInOrder = []string{
	"live-go-heap", "new-since-the-last-gc", "garbage", "idle-heap", "goroutine-stacks", "go-runtime", "native-cgo-mmap", "program-data",
	"other-programs", "shared-memory", "kernel", "socket-buffers", "page-cache",
}

// visions are what people see of linear RGB: all of it, and with protanopia, deuteranopia
// and tritanopia, by Machado, Oliveira and Fernandes, "A Physiologically-based Model for
// Simulation of Color Vision Deficiency" (2009), at severity 1.
var visions = map[string][9]float64{
	"all colours":  {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protanopia":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritanopia":   {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

// linear is "#rrggbb" as linear RGB.
func linear(t *testing.T, hex string) (rgb [3]float64) {
	t.Helper()
	for i := range rgb {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		if v := float64(n) / 255; v <= 0.04045 {
			rgb[i] = v / 12.92
		} else {
			rgb[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

// oklab is linear RGB in Björn Ottosson's OKLab: equal distances look alike. About 0.02 can just be told apart.
func oklab(c [3]float64) [3]float64 {
	l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
	m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
	s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
	return [3]float64{0.2104542553*l + 0.7936177850*m - 0.0040720468*s, 1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s}
}

// apart is how far two colours are from each other for those who see like that.
func apart(t *testing.T, a, b string, vision [9]float64) float64 {
	t.Helper()
	var seen [2][3]float64
	for n, hex := range []string{a, b} {
		c := linear(t, hex)
		for i := range 3 {
			seen[n][i] = min(1, max(0, vision[3*i]*c[0]+vision[3*i+1]*c[1]+vision[3*i+2]*c[2]))
		}
		seen[n] = oklab(seen[n])
	}
	return math.Sqrt(math.Pow(seen[0][0]-seen[1][0], 2) + math.Pow(seen[0][1]-seen[1][1], 2) + math.Pow(seen[0][2]-seen[1][2], 2))
}

// schemes are the variables of page.css that are colours, in light and in dark.
func schemes(t *testing.T) map[string]map[string]string {
	t.Helper()
	css, err := os.ReadFile("ui/page.css")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`(?s):root \{(.*?)\n\s*\}`).FindAllSubmatch(css, 2)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of variables", len(blocks))
	}
	all := map[string]map[string]string{}
	for i, name := range []string{"light", "dark"} {
		all[name] = map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllSubmatch(blocks[i][1], -1) {
			all[name][string(m[1])] = string(m[2])
		}
	}
	return all
}

func TestTheColoursOfTheChartCanBeToldApartByEverybody(t *testing.T) {
	t.Parallel()
	const touching, any = 0.09, 0.07 // of rows that often touch, and of any two
	for scheme, colours := range schemes(t) {
		for i, a := range rowsInOrder {
			for j := i + 1; j < len(rowsInOrder); j++ {
				b, least := rowsInOrder[j], any
				if j-i <= 2 {
					least = touching
				}
				for vision, m := range visions {
					if d := apart(t, colours["row-"+a], colours["row-"+b], m); d < least {
						t.Errorf("%s, %s: %s and %s are %.3f apart, want %.2f", scheme, vision, a, b, d, least)
					}
				}
			}
		}
		lines := []string{"live", "limit", "usage"} // that are drawn unless they are switched off
		for i, a := range lines {
			for _, b := range lines[i+1:] {
				for vision, m := range visions {
					if d := apart(t, colours[a], colours[b], m); d < 0.15 {
						t.Errorf("%s, %s: the lines %s and %s are %.3f apart, want 0.15", scheme, vision, a, b, d)
					}
				}
			}
		}
	}
}

func TestNamesWithinTheChartCanBeRead(t *testing.T) {
	t.Parallel()
	light := func(hex string) float64 {
		c := linear(t, hex)
		return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
	}
	for scheme, colours := range schemes(t) {
		for _, row := range rowsInOrder {
			a, b := light(colours["row-"+row]), light(colours["on-"+row])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
				t.Errorf("%s: the name of %s has a contrast of %s", scheme, row, fmt.Sprintf("%.1f", ratio))
			}
		}
	}
}
