// Backupzip makes an archive of all settings every few seconds, in memory, and hands it
// over: much for a moment, within a room that is large enough. No fault, and it has no
// faulty form.
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type keeper struct {
	settings [][]byte // 8 MiB, as random as keys are
	kept     int64
}

func (k *keeper) backup(size int64) (*bytes.Buffer, error) {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for i := 0; int64(archive.Len()) < size; i++ {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("settings-%05d", i), Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(k.settings[i%len(k.settings)]); err != nil {
			return nil, err
		}
	}
	return &archive, z.Close()
}

func main() {
	f := frame.Parse()
	k, rng := &keeper{}, rand.New(rand.NewPCG(3, 4))
	for range 8 << 4 {
		s := make([]byte, 64<<10)
		for i := range s {
			s[i] = byte(rng.Uint32())
		}
		k.settings = append(k.settings, s)
	}
	for !f.Over() {
		archive, err := k.backup(f.Total)
		if err != nil {
			log.Fatal(err)
		}
		n, _ := io.Copy(io.Discard, archive)
		k.kept += n
		for pause := time.Now().Add(2 * time.Second); time.Now().Before(pause) && !f.Over(); {
			time.Sleep(20 * time.Millisecond)
		}
	}
	f.Stay()
}
