module helmset

go 1.26

require helm.sh/helm/v3 v3.9.4

require (
	github.com/pkg/errors v0.9.1 // indirect
	gopkg.in/yaml.v2 v2.4.0 // indirect
	sigs.k8s.io/yaml v1.3.0 // indirect
)
