#!/usr/bin/env bash
# Builds kube-apiserver, etcd and kubectl, of the version below, into kubernetes in the tests'
# cache, and prints that directory. The go command builds their modules; nothing is installed. The first
# time it takes minutes.
#
# k8s.io/kubernetes requires its own parts at v0.0.0 and replaces them, which holds for
# its own build alone: the module that is written here says the same of their releases.
set -euo pipefail

version=1.37.2

go=${GO:-go}
cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}
bin=$cache/kubernetes/$version
if [ -x "$bin/kube-apiserver" ] && [ -x "$bin/etcd" ] && [ -x "$bin/kubectl" ]; then
	echo "$bin"
	exit
fi
mkdir -p "$bin"
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cd "$temp"

# main writes a program that is one call of another module's command: "main NAME IMPORT CALL".
main() {
	mkdir "$1"
	printf 'package main\n\nimport (\n\t"os"\n\n%s\n)\n\nfunc main() { %s }\n' "$2" "$3" >"$1/main.go"
}

"$go" mod init node >/dev/null 2>&1
"$go" mod edit -go 1.26.0 -require "k8s.io/kubernetes@v$version"
dir=$("$go" mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
sed -n 's|^\t\(k8s.io/[a-z-]*\) => ./staging.*|\1|p' "$dir/go.mod" | while read -r part; do
	"$go" mod edit -replace "$part=$part@v0.${version#1.}"
done
cli=$'\t"k8s.io/component-base/cli"\n'
main kube-apiserver "$cli"$'\t"k8s.io/kubernetes/cmd/kube-apiserver/app"' 'os.Exit(cli.Run(app.NewAPIServerCommand()))'
main kubectl "$cli"$'\t"k8s.io/kubectl/pkg/cmd"' 'os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))'
main etcd $'\t"go.etcd.io/etcd/server/v3/etcdmain"' 'etcdmain.Main(os.Args)'
"$go" mod tidy >tidy.log 2>&1 || { tail -5 tidy.log >&2; exit 1; }
CGO_ENABLED=0 "$go" build -ldflags '-s -w' -o "$bin/" ./kube-apiserver ./etcd ./kubectl
echo "$bin"
