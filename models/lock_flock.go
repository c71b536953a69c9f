//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package models

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file until it is closed, or is errLocked. A killed process loses its locks.
func tryLock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
