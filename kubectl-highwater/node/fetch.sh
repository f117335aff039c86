#!/usr/bin/env bash
# Builds what a node of Kubernetes is made of, of the versions below, into kubernetes in the tests' cache,
# and prints that directory: kube-apiserver, etcd and kubectl; with --node also kube-controller-manager, kubelet,
# containerd with its shim, ctr, and runc. The go command builds their modules; nothing is installed. runc needs a C compiler, pkg-config
# and libseccomp-dev. The first time it takes minutes.
#
# k8s.io/kubernetes requires its own parts at v0.0.0 and replaces them, which holds for
# its own build alone: the module that is written here says the same of their releases.
set -euo pipefail

version=1.37.2
containerd=2.4.2
runc=1.5.2

go=${GO:-go}
cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}
bin=$cache/kubernetes/$version
mkdir -p "$bin"
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

# have says whether all of these programs are there.
have() {
	for name; do [ -x "$bin/$name" ] || return 1; done
}

# main writes a program that is one call of another module's command: "main NAME IMPORTS CALL".
main() {
	mkdir -p "$1"
	printf 'package main\n\nimport (\n\t"os"\n\n%s\n)\n\nfunc main() { %s }\n' "$2" "$3" >"$1/main.go"
}

# kubernetes builds some of the programs that come from k8s.io/kubernetes and its requirements.
kubernetes() {
	mkdir "$temp/kubernetes"
	cd "$temp/kubernetes"
	"$go" mod init node >/dev/null 2>&1
	"$go" mod edit -go 1.26.0 -require "k8s.io/kubernetes@v$version"
	dir=$("$go" mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	sed -n 's|^\t\(k8s.io/[a-z-]*\) => ./staging.*|\1|p' "$dir/go.mod" | while read -r part; do
		"$go" mod edit -replace "$part=$part@v0.${version#1.}"
	done
	cli=$'\t"k8s.io/component-base/cli"\n'
	main kube-apiserver "$cli"$'\t"k8s.io/kubernetes/cmd/kube-apiserver/app"' 'os.Exit(cli.Run(app.NewAPIServerCommand()))'
	main kubectl "$cli"$'\t"k8s.io/kubectl/pkg/cmd"' 'os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))'
	main kube-controller-manager "$cli"$'\t"k8s.io/kubernetes/cmd/kube-controller-manager/app"' 'os.Exit(cli.Run(app.NewControllerManagerCommand()))'
	main kubelet $'\t"context"\n'"$cli"$'\t"k8s.io/kubernetes/cmd/kubelet/app"' 'os.Exit(cli.Run(app.NewKubeletCommand(context.Background())))'
	main etcd $'\t"go.etcd.io/etcd/server/v3/etcdmain"' 'etcdmain.Main(os.Args)'
	"$go" mod tidy >tidy.log 2>&1 || { tail -5 tidy.log >&2; exit 1; }
	CGO_ENABLED=0 "$go" build -ldflags '-s -w' -o "$bin/" "$@"
}

# module builds commands of one module as it is released: "module PATH VERSION PACKAGE...".
module() {
	mkdir "$temp/module"
	cd "$temp/module"
	"$go" mod init node >/dev/null 2>&1
	"$go" mod edit -go 1.26.0
	local path=$1 at=$2 packages=()
	shift 2
	for package; do packages+=("$path$package"); done
	"$go" get -tool "${packages[@]/%/@v$at}" >get.log 2>&1 || { tail -5 get.log >&2; exit 1; }
	"$go" build -tags seccomp -ldflags '-s -w' -o "$bin/" "${packages[@]}"
	rm -rf "$temp/module"
}

have kube-apiserver etcd kubectl || kubernetes ./kube-apiserver ./etcd ./kubectl
if [ "${1:-}" = --node ]; then
	have kubelet kube-controller-manager || { rm -rf "$temp/kubernetes"; kubernetes ./kubelet ./kube-controller-manager; }
	have containerd containerd-shim-runc-v2 ctr ||
		CGO_ENABLED=0 module github.com/containerd/containerd/v2 "$containerd" /cmd/containerd /cmd/containerd-shim-runc-v2 /cmd/ctr
	have runc || CGO_ENABLED=1 module github.com/opencontainers/runc "$runc" ""
fi
echo "$bin"
