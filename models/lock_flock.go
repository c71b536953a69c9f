//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package models

import (
	"errors"
	"os"
	"syscall"
)

// TryLockFile locks a file until it is closed, or returns ErrFileLocked. A killed process loses
// its locks.
func TryLockFile(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrFileLocked
		case !errors.Is(err, syscall.EINTR):
			return err
		}
	}
}
