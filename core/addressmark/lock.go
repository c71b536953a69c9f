package addressmark

import (
	"errors"
	"os"
	"time"

	"cointill/core/filelock"
)

// lockPause is the time between two attempts to lock a file.
const lockPause = 2 * time.Millisecond

// lockFile keeps other processes, and others in this one, from the file until it is closed. It
// returns filelock.ErrLocked when the lock isn't free in time.
func lockFile(file *os.File, atMost time.Duration) error {
	late := time.NewTimer(atMost)
	defer late.Stop()
	for {
		err := filelock.TryLock(file)
		if !errors.Is(err, filelock.ErrLocked) {
			return err
		}
		pause := time.NewTimer(lockPause)
		select {
		case <-pause.C:
		case <-late.C:
			pause.Stop()
			return err
		}
	}
}
