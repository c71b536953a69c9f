package addressmark

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// place is one folder in which marks are kept.
type place struct {
	folder  string
	timeout time.Duration
	hung    atomic.Int64 // operations that did not end in time and still run

	mu      sync.Mutex
	problem string            // of the folder; "" while it works
	files   map[string]string // the problems of single files, by their names
}

var (
	errHung     = errors.New("it does not answer in time")
	errVanishes = errors.New("the file was made and removed by others at the same time")
)

// fileError is a problem of one file, while the folder itself may work.
type fileError struct{ error }

func (e fileError) Unwrap() error { return e.error }

// change takes the mark that a folder holds, 0 for none, and returns the next mark and
// whether to write it.
type change func(held int64) (next int64, write bool)

// outcome is what an operation on one place gave. held is the mark now, wrote that this
// operation put it there durably.
type outcome struct {
	held  int64
	wrote bool
	err   error
}

// updateMark changes the key's mark, unless the folder hangs: one that did not answer in time
// fails at once until it does.
func (p *place) updateMark(k Key, decide change) outcome {
	if p.hung.Load() > 0 {
		return p.noteProblem(k, outcome{err: errHung})
	}
	done := make(chan outcome, 1)
	go func() { done <- p.updateFile(k, decide) }()
	late := time.NewTimer(p.timeout)
	defer late.Stop()
	select {
	case o := <-done:
		return p.noteProblem(k, o)
	case <-late.C:
		p.hung.Add(1)
		go func() {
			<-done
			p.hung.Add(-1)
		}()
		return p.noteProblem(k, outcome{err: errHung})
	}
}

// updateFile changes the key's file while it holds its lock.
func (p *place) updateFile(k Key, decide change) outcome {
	path := filepath.Join(p.folder, k.fileName())
	for range 2 { // again where another process made the file just now
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			next, write := decide(0)
			if !write {
				return outcome{}
			}
			if err = p.createFile(k, next); !errors.Is(err, fs.ErrExist) {
				return outcome{held: next, wrote: err == nil, err: err}
			}
			continue
		}
		if _, there := os.Stat(path); there == nil && errors.Is(err, fs.ErrPermission) {
			err = fileError{err}
		}
		if err != nil {
			return outcome{err: err}
		}
		o := p.updateOpen(k, file, decide)
		o.err = errors.Join(o.err, file.Close())
		return o
	}
	return outcome{err: errVanishes}
}

func (p *place) updateOpen(k Key, file *os.File, decide change) outcome {
	about, err := file.Stat()
	if err == nil && !about.Mode().IsRegular() {
		err = fileError{errDamaged}
	}
	if err == nil {
		err = lockFile(file, p.timeout/2)
	}
	if err != nil {
		return outcome{err: err}
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if err != nil {
		return outcome{err: err}
	}
	found, err := k.decodeFile(data)
	if err != nil {
		return outcome{err: fileError{err}}
	}
	if found.torn {
		slog.Warn("one record of an address mark is damaged, as by a power cut while it was written; the other "+
			"one counts",
			"file", file.Name(), "next", found.next)
	}
	next, write := decide(found.next)
	if !write {
		return outcome{held: found.next}
	}
	if _, err = file.WriteAt([]byte(formatLine(next)), found.lower); err == nil {
		err = syncData(file)
	}
	return outcome{held: next, wrote: err == nil, err: err}
}

// createFile makes the key's file, whole and on the disk, and its folder. fs.ErrExist where
// the file is there by now.
func (p *place) createFile(k Key, next int64) error {
	if err := makeFolder(p.folder); err != nil {
		return err
	}
	draft, err := os.CreateTemp(p.folder, "draft.*") // for its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(k.encodeFile(next))
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), filepath.Join(p.folder, k.fileName())); err != nil {
		return err
	}
	return syncFolder(p.folder)
}

// makeFolder makes a folder with those above it, for their owner alone, and has all of
// them on the disk.
func makeFolder(path string) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := filepath.Dir(path)
	if err := makeFolder(above); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(above)
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// noteProblem keeps the problem of the folder, or of the key's file alone, and logs it when it
// changes.
func (p *place) noteProblem(k Key, o outcome) outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.err == nil {
		if p.problem != "" {
			slog.Info("address marks are kept in this folder again", "folder", p.folder)
		}
		p.problem = ""
		delete(p.files, k.fileName())
		return o
	}
	problem := o.err.Error()
	var alone fileError
	if before, known := p.files[k.fileName()]; errors.As(o.err, &alone) && (!known || before != problem) {
		p.files[k.fileName()] = problem
		slog.Error("an address mark can't be read or written", "folder", p.folder, "file", k.fileName(), "error",
			problem)
	}
	if !errors.As(o.err, &alone) && p.problem != problem {
		p.problem = problem
		slog.Error("address marks can't be kept in this folder", "folder", p.folder, "error", problem)
	}
	o.err = fmt.Errorf("%s: %w", p.folder, o.err)
	return o
}
