package addressmark

import (
	"os"
	"syscall"
)

// syncData flushes a file's data to the disk. Unlike Sync it leaves out the file's times, which
// would cost a second write.
func syncData(file *os.File) error { return syscall.Fdatasync(int(file.Fd())) }
