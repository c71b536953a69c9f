package xrpl

import (
	"os"
	"path/filepath"
	"testing"
)

// readVectors is a file that e2e/vectors/xrpl.mjs makes.
func readVectors(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
