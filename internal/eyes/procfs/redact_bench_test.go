package procfs

import (
	"strings"
	"testing"
)

func BenchmarkRedactOrdinary(b *testing.B) {
	args := strings.Fields("./server -addr 127.0.0.1:8080 --config /etc/server/config.yaml --log-level=info --max-connections 500 postgres://me:x@db/app")
	for b.Loop() {
		Redact(args)
	}
}

func BenchmarkRedactHuge(b *testing.B) {
	args := []string{"./server"}
	for range 16 {
		args = append(args, strings.Repeat("aKey-b.c_d", 12800))
	}
	for b.Loop() {
		Redact(args)
	}
}
