module helmchart

go 1.26

require helm.sh/helm/v3 v3.17.2

require (
	github.com/Masterminds/semver/v3 v3.3.0 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	sigs.k8s.io/yaml v1.4.0 // indirect
)
