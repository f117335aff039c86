package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"text/template"
	"time"
)

// bill is a bill of materials as CycloneDX 1.6 has it: what the go command recorded in a program.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   billOf      `json:"metadata"`
	Components []component `json:"components"`
}

type billOf struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type     string              `json:"type"`
	Name     string              `json:"name"`
	Version  string              `json:"version"`
	Ref      string              `json:"bom-ref"`
	PURL     string              `json:"purl"`
	Hashes   []map[string]string `json:"hashes,omitempty"`
	Licenses []any               `json:"licenses,omitempty"`
}

// purl is a module as a package URL.
func purl(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
}

func moduleOf(m debug.Module) component {
	return component{Type: "library", Name: m.Path, Version: m.Version, Ref: purl(m.Path, m.Version), PURL: purl(m.Path, m.Version)}
}

// bills writes the bill of each target's program.
func (r *release) bills() error {
	for _, t := range r.targets {
		info, err := buildinfo.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		sum, err := sumOf(r.program(t))
		if err != nil {
			return err
		}
		main := moduleOf(info.Main)
		main.Type, main.Hashes = "application", []map[string]string{{"alg": "SHA-256", "content": sum}}
		main.Licenses = []any{map[string]any{"license": map[string]string{"id": "Apache-2.0"}}}
		b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: billOf{r.at.UTC().Format(time.RFC3339), main}}
		b.Components = append(b.Components, moduleOf(debug.Module{Path: "std", Version: info.GoVersion}))
		for _, m := range info.Deps {
			b.Components = append(b.Components, moduleOf(*m))
		}
		text, err := json.MarshalIndent(b, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.name("_"+t.String()+".cdx.json"), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var formula = template.Must(template.New("formula").Parse(`class Highwater < Formula
  desc "Tells why a Go program used the memory it did"
  homepage "https://github.com/highwater-go/highwater"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Files}}
    on_{{.CPU}} do
      url "{{.URL}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "highwater"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/highwater"
    zsh_completion.install "share/zsh/vendor-completions/_highwater"
    fish_completion.install "share/fish/vendor_completions.d/highwater.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/highwater --version")
  end
end
`))

// formula writes what Homebrew installs by, with the archives' sums.
func (r *release) formula() (err error) {
	type download struct{ CPU, URL, Sum string }
	type system struct {
		Name  string
		Files []download
	}
	systems := []system{{Name: "macos"}, {Name: "linux"}}
	for i, goos := range []string{"darwin", "linux"} {
		for _, cpu := range [][2]string{{"arm", "arm64"}, {"intel", "amd64"}} {
			if !slices.Contains(r.targets, target{goos, cpu[1]}) {
				continue
			}
			path := r.name("_" + goos + "_" + cpu[1] + ".tar.gz")
			sum, err := sumOf(path)
			if err != nil {
				return err
			}
			url := fmt.Sprintf("https://github.com/highwater-go/highwater/releases/download/%s/highwater_%s_%s_%s.tar.gz", r.version, r.plain(), goos, cpu[1])
			systems[i].Files = append(systems[i].Files, download{cpu[0], url, sum})
		}
	}
	f, err := os.Create(r.to + "/highwater.rb")
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	return formula.Execute(f, map[string]any{"Version": r.plain(), "Systems": systems})
}
