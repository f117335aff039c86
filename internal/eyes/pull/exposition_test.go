package pull

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// byLibrary is what Prometheus' own parser makes of a text. It panics at some, as version
// 0.70.1 does at "#HELP A \n{}".
func byLibrary(text []byte) (families map[string]*dto.MetricFamily, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("its parser failed: %v", cause)
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}

func sumOf(family *dto.MetricFamily) (sum float64) {
	for _, m := range family.GetMetric() {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue() +
			float64(m.GetHistogram().GetSampleCount()) + float64(m.GetSummary().GetSampleCount())
	}
	return sum
}

// expositions are texts that both parsers read: what servers write, and the corners of the format.
var expositions = []string{
	exposition,
	"a 1\nb{x=\"1\"} 2 3\n a{ y = \"2\" , } 4\n",
	"# a comment\n#\n\n# HELP a what it is\n# TYPE a gauge\na -1.5e3\n",
	"# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count 3\nh_other 9\n",
	"# TYPE s summary\ns{quantile=\"0.5\"} 1\ns_sum 2\ns_count{a=\"b\"} 5\ns_count{a=\"c\"} 6\n",
	"{\"a.b\"} 1\n{\"a.b\",x=\"y\"} 2\nc{\"quoted key\"=\"v\"} 3\n# TYPE \"d e\" counter\n{\"d e\"} 7\n",
	"a{x=\"}\\\\\\\"\\n{\"} 8\n",
	"a +Inf\nb -Inf\nc NaN\n",
	"a:b_c9 1\n",
}

func TestTheTextFormatIsReadAsPrometheusReadsIt(t *testing.T) {
	for _, text := range expositions {
		want, err := byLibrary([]byte(text))
		if err != nil {
			t.Errorf("the library refuses %q: %v", text, err)
			continue
		}
		got, err := parseMetrics([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		agree(t, text, got, want)
	}
}

// agree compares families that have values, for the library has some without.
func agree(t *testing.T, text string, got map[string]*family, want map[string]*dto.MetricFamily) {
	t.Helper()
	for name, w := range want {
		g, sum := got[name], sumOf(w)
		if len(w.GetMetric()) == 0 {
			continue
		}
		if g == nil || !same(g.sum, sum) {
			t.Errorf("%s is %+v, the library says %v:\n%s", name, g, sum, text)
		}
	}
	for name, g := range got {
		if g.seen && want[name] == nil {
			t.Errorf("the library has no %s:\n%s", name, text)
		}
	}
}

func same(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Abs(b)
}

func TestWhatIsNotTheTextFormatIsRefusedWithItsLine(t *testing.T) {
	for _, text := range []string{"a", "a b", "a 1 2 3", "a 1 x", "9a 1", "a{ 1", "a{x} 1 {", "a{x=\"1} 1", "a{x=1} 1", "a{x=\"\\q\"} 1", "# TYPE a what\n",
		"{} 1", "# TYPE a gauge\n# TYPE a gauge\n", "a 1\n# TYPE a gauge\n", "{\"a\",\"b\"} 1"} {
		if got, err := parseMetrics([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
		if _, err := byLibrary([]byte(text + "\n")); err == nil {
			t.Errorf("the library reads %q", text)
		}
	}
}
