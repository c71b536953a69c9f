//go:build !linux

package addressmark

import "os"

// syncData flushes a file's data to the disk.
func syncData(file *os.File) error { return file.Sync() }
