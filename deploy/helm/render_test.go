package helm

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// object is one of Kubernetes.
type object map[string]any

// objects are those of a text, by kind and name.
func objects(t *testing.T, text string) map[string]object {
	t.Helper()
	all := map[string]object{}
	for part := range strings.SplitSeq("\n"+text, "\n---\n") {
		var o object
		if err := yaml.UnmarshalStrict([]byte(part), &o); err != nil {
			t.Fatalf("%v:\n%s", err, part)
		}
		if len(o) > 0 {
			meta, _ := o["metadata"].(map[string]any)
			kind, _ := o["kind"].(string)
			name, _ := meta["name"].(string)
			all[kind+" "+name] = o
		}
	}
	return all
}

// at is the value at a path of names and numbers.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			o, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("nothing is at %v", path)
			}
			v = o[p]
		case int:
			list, ok := v.([]any)
			if !ok || p >= len(list) {
				t.Fatalf("nothing is at %v", path)
			}
			v = list[p]
		}
	}
	return v
}

func rendered(t *testing.T, values string) map[string]object {
	t.Helper()
	text, err := Render("highwater", "highwater", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, text)
}

// The chart with its own values is the manifests of deploy/kubernetes, but for labels and the
// policy of pulling: the rights that these ask for are compared with Pod Security elsewhere.
func TestTheChartMakesTheManifests(t *testing.T) {
	got := rendered(t, "")
	for _, file := range []string{"agent.yaml", "rollup.yaml"} {
		text, err := os.ReadFile("../kubernetes/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range objects(t, string(text)) {
			switch {
			case strings.HasPrefix(name, "Namespace "): // helm makes it, or who installs
				continue
			case strings.HasPrefix(name, "ClusterRole"): // whose names must not collide with those of another release
				name = strings.Replace(name, " ", " highwater-", 1)
				if role, ok := want["roleRef"].(map[string]any); ok {
					role["name"] = "highwater-highwater-agent"
				}
			}
			o := got[name]
			if o == nil {
				t.Errorf("the chart has no %s, only %v", name, slices.Sorted(maps.Keys(got)))
				continue
			}
			delete(got, name)
			for _, part := range []string{"spec", "rules", "roleRef", "subjects"} {
				strip(o[part])
				strip(want[part])
				if !reflect.DeepEqual(o[part], want[part]) {
					t.Errorf("%s.%s:\n%s\nwant\n%s", name, part, asJSON(o[part]), asJSON(want[part]))
				}
			}
		}
	}
	if len(got) > 0 {
		t.Errorf("the chart makes more: %v", slices.Sorted(maps.Keys(got)))
	}
}

// strip takes out what the chart has beside the manifests.
func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "imagePullPolicy")
		if labels, ok := v["labels"].(map[string]any); ok {
			maps.DeleteFunc(labels, func(name string, _ any) bool { return name != "app" })
			if len(labels) == 0 {
				delete(v, "labels")
			}
		}
		if meta, ok := v["metadata"].(map[string]any); ok {
			strip(meta)
			if len(meta) == 0 {
				delete(v, "metadata")
			}
		}
		for _, one := range v {
			strip(one)
		}
	case []any:
		for _, one := range v {
			strip(one)
		}
	}
}

func asJSON(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

// Each value does what values.yaml says of it.
func TestValuesChangeWhatTheyName(t *testing.T) {
	got := rendered(t, `
image: {repository: mirror.example/highwater, tag: "1.2"}
imagePullSecrets: [{name: pull}]
store: {url: "file:///var/lib/highwater/store"}
tenant: 'a "quoted": tenant'
recordings: {url: ""}
events: false
heapProfile: "on"
metricsPort: 0
extraArgs: [--at-most=500]
priorityClassName: ""
tolerations: []
nodeSelector: {pool: go}
podAnnotations: {team: memory}
appArmor: false
rollup: {enabled: false}
`)
	if len(got) != 2 {
		t.Errorf("%v", slices.Sorted(maps.Keys(got)))
	}
	pod := at(t, map[string]any(got["DaemonSet highwater-agent"]), "spec", "template", "spec")
	args := at(t, pod, "containers", 0, "args")
	want := []any{"agent", "--store=file:///var/lib/highwater/store", "--credentials=/etc/highwater/store", `--tenant=a "quoted": tenant`, "--heap-profile=on",
		"--at-most=500"}
	if !reflect.DeepEqual(args, want) {
		t.Errorf("%q", args)
	}
	if image := at(t, pod, "containers", 0, "image"); image != "mirror.example/highwater:1.2" {
		t.Errorf("%v", image)
	}
	for _, gone := range []string{"priorityClassName", "tolerations"} {
		if v := at(t, pod, gone); v != nil {
			t.Errorf("%s: %v", gone, v)
		}
	}
	if v := at(t, pod, "containers", 0, "securityContext", "appArmorProfile"); v != nil {
		t.Errorf("%v", v)
	}
	if v := at(t, pod, "nodeSelector", "pool"); v != "go" {
		t.Errorf("%v", v)
	}
	if v := at(t, map[string]any(got["ServiceAccount highwater-agent"]), "automountServiceAccountToken"); v != false {
		t.Errorf("an agent without Events has a token: %v", v)
	}
}

// What is misspelt, or is of another form, is refused before anything is installed.
func TestTheSchemaRefusesWrongValues(t *testing.T) {
	for name, values := range map[string]string{
		"a name that is wrong": "heapProfil: on",
		"plain http":           `store: {url: "http://clickhouse:8123/highwater"}`,
		"no store":             `store: {url: ""}`,
		"a policy that is not": "heapProfile: always",
		"a port":               "metricsPort: 96450",
		"rights":               "securityContext: {privileged: true}",
		"a size":               "goMemLimit: 200Mi",
		"an argument":          "extraArgs: [at-most=5]",
	} {
		if text, err := Render("highwater", "highwater", []byte(values)); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
}
