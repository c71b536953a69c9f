package xrpl

import (
	"os"
	"path/filepath"
	"testing"
)

// readVectors reads a file that e2e/vectors/xrpl.mjs writes.
func readVectors(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
