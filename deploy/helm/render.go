// Package helm renders the chart of this directory with Helm's own engine, as helm template does.
package helm

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// Render is the manifests of the chart "highwater", one after another as YAML documents, for a
// release in a namespace. values is the text of a file of values, nil for the chart's own; what
// the chart's schema does not allow is an error.
func Render(chart, namespace string, values []byte) (string, error) {
	_, here, _, _ := runtime.Caller(0)
	c, err := loader.Load(filepath.Join(filepath.Dir(here), chart))
	if err != nil {
		return "", fmt.Errorf("read the chart: %w", err)
	}
	given := map[string]any{}
	if err := yaml.Unmarshal(values, &given); err != nil {
		return "", fmt.Errorf("read the values: %w", err)
	}
	all, err := util.ToRenderValues(c, given, common.ReleaseOptions{Name: "highwater", Namespace: namespace, Revision: 1, IsInstall: true},
		common.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return "", fmt.Errorf("render the chart: %w", err)
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(files[name]) != "" {
			fmt.Fprintf(&text, "---\n%s\n", strings.TrimSpace(files[name]))
		}
	}
	return text.String(), nil
}
