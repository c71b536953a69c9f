// Package filelock locks files between processes. A killed process loses its locks.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lockFile marks a data folder that is served. It stays when nothing serves: its lock counts,
// which the system gives back however the process ends.
const lockFile = "cointill.lock"

// ErrLocked means that another process, or another open file of this one, holds the lock.
var ErrLocked = errors.New("another process keeps the file locked")

// OccupyFolder makes this process the one that serves the database in a data folder, until release is
// called or the process ends. An error says which process that is already, and since when.
// Others may use the database meanwhile, as commands do beside a serving process.
func OccupyFolder(dataDir string, now time.Time) (release func() error, err error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	path := filepath.Join(dataDir, lockFile)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := TryLock(file); errors.Is(err, ErrLocked) {
		holder := make([]byte, 200)
		n, _ := file.ReadAt(holder, 0) // it may not be written yet
		return nil, errors.Join(
			fmt.Errorf("the data folder %s is served by %s. Stop that first, or set COINTILL_DATA_DIR to another "+
				"folder; several processes can serve one database of PostgreSQL", dataDir,
				lockHolder(string(holder[:n]))),
			file.Close())
	} else if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	host, _ := os.Hostname() // "" where it has none
	text := fmt.Sprintf("process %d on %s since %s\n", os.Getpid(), host, now.UTC().Format(time.RFC3339))
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteString(text)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), file.Close())
	}
	return file.Close, nil
}

// lockHolder returns the line that the holder of a lock wrote, or a word for one that hasn't yet.
func lockHolder(line string) string {
	if line, _, whole := strings.Cut(line, "\n"); whole {
		return line
	}
	return "another process"
}
