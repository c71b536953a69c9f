package addressmark

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lockPause is the time between two attempts to lock a file.
const lockPause = 2 * time.Millisecond

// lockFile keeps other processes, and others in this one, from the file until it is closed.
func lockFile(file *os.File, atMost time.Duration) error {
	late := time.NewTimer(atMost)
	defer late.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		pause := time.NewTimer(lockPause)
		select {
		case <-pause.C:
		case <-late.C:
			pause.Stop()
			return errLocked
		}
	}
}

// syncData flushes a file's data to the disk. Unlike Sync it leaves out the file's times, which
// would cost a second write.
func syncData(file *os.File) error { return syscall.Fdatasync(int(file.Fd())) }
