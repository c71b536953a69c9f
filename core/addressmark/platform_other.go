//go:build !linux

package addressmark

import (
	"os"
	"time"
)

// lockFile is for systems without such locks: one process at a time may use a folder there.
func lockFile(*os.File, time.Duration) error { return nil }

// syncData flushes a file's data to the disk.
func syncData(file *os.File) error { return file.Sync() }
