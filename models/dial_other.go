//go:build !linux

package models

import "syscall"

// setUserTimeout is for systems without such a limit: theirs is some minutes, and
// requests have their own.
func setUserTimeout(_, _ string, _ syscall.RawConn) error { return nil }
