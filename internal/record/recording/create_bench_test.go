package recording

import (
	"fmt"
	"path/filepath"
	"testing"
)

func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		w, err := Create(filepath.Join(dir, fmt.Sprintf("r-%d.hwm", i)), Meta{})
		if err != nil {
			b.Fatal(err)
		}
		_ = w.abandon()
	}
}
