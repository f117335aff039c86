package app

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/highwater-go/highwater/internal/decide/explain"
)

// causesPath is the user's own file of causes: causes.json in
// $XDG_CONFIG_HOME/highwater, by default ~/.config/highwater.
func causesPath() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "highwater", "causes.json"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".config", "highwater", "causes.json"), err
}

// ownCauses reads it; without a file there are none.
func ownCauses() ([]explain.Cause, error) {
	path, err := causesPath()
	if err != nil {
		return nil, nil // without a home there are none
	}
	text, err := readOwn(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	causes, err := explain.ReadCauses(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return causes, nil
}
