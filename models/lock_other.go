//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package models

import "os"

// TryLockFile is for systems without flock: there the operator makes sure that one process serves.
func TryLockFile(*os.File) error { return nil }
