package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// groupRoot is where Linux shows control groups.
const groupRoot = "/sys/fs/cgroup"

// controlGroup is a Linux control group with a limit of memory. The kernel kills a process in it
// that needs more.
type controlGroup struct {
	folder string
	kills  string // the file that counts the processes that were killed for memory
	peak   string // the file with the most memory that the group has used
}

// newControlGroup makes a control group whose processes may use so many bytes. It lies in the
// group of the test, or beside it, so that the limits of that hold too.
func newControlGroup(memory int64) (*controlGroup, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	g := &controlGroup{}
	if err := g.createGroup(string(own), memory); err != nil {
		return nil, errors.Join(err, g.removeGroup())
	}
	try := exec.Command("/bin/sh", "-c", g.enterCommand())
	if text, err := try.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("enter %s: %w: %s", g.folder, err, text), g.removeGroup())
	}
	return g, nil
}

// createGroup makes the group in the version of control groups that limits memory here.
func (g *controlGroup) createGroup(own string, memory int64) error {
	unified := ""
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		switch {
		case len(parts) != 3:
		case parts[1] == "": // version 2
			unified = parts[2]
		case strings.Contains(","+parts[1]+",", ",memory,"):
			return g.createVersion1(groupFolder(filepath.Join(groupRoot, "memory"), parts[2]), memory)
		}
	}
	return g.createVersion2(groupFolder(groupRoot, unified), memory)
}

// groupFolder is the folder of a group, or the mount in a container that sees nothing else.
func groupFolder(mount, group string) string {
	folder := filepath.Join(mount, group)
	if _, err := os.Stat(folder); err != nil {
		return mount
	}
	return folder
}

func (g *controlGroup) createVersion1(parent string, memory int64) error {
	if err := g.makeFolder(parent, "memory.oom_control", "memory.max_usage_in_bytes"); err != nil {
		return err
	}
	limit := strconv.FormatInt(memory, 10)
	return errors.Join(g.writeLimit("memory.limit_in_bytes", limit), g.setIfPresent("memory.memsw.limit_in_bytes", limit))
}

// createVersion2 makes the group in the nearest one that gives its groups the memory controller.
func (g *controlGroup) createVersion2(parent string, memory int64) error {
	for ; ; parent = filepath.Dir(parent) {
		control := filepath.Join(parent, "cgroup.subtree_control")
		controllers, err := os.ReadFile(control)
		if err == nil && parent == groupRoot && !bytes.Contains(controllers, []byte("memory")) {
			controllers, err = []byte("memory"), os.WriteFile(control, []byte("+memory"), 0o600)
		}
		if err != nil {
			return err
		}
		if bytes.Contains(controllers, []byte("memory")) {
			break
		}
	}
	if err := g.makeFolder(parent, "memory.events", "memory.peak"); err != nil {
		return err
	}
	return errors.Join(g.writeLimit("memory.max", strconv.FormatInt(memory, 10)), g.setIfPresent("memory.swap.max", "0"))
}

func (g *controlGroup) makeFolder(parent, kills, peak string) error {
	folder := filepath.Join(parent, fmt.Sprintf("cointill-test-%d-%d", os.Getpid(), time.Now().UnixNano()))
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	g.folder, g.kills, g.peak = folder, filepath.Join(folder, kills), filepath.Join(folder, peak)
	return nil
}

func (g *controlGroup) writeLimit(file, value string) error {
	return os.WriteFile(filepath.Join(g.folder, file), []byte(value), 0o600)
}

// setIfPresent sets a file that not all kernels have.
func (g *controlGroup) setIfPresent(file, value string) error {
	if _, err := os.Stat(filepath.Join(g.folder, file)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return g.writeLimit(file, value)
}

// enterCommand returns the shell command by which a process enters the group.
func (g *controlGroup) enterCommand() string {
	return fmt.Sprintf("echo $$ >'%s'", filepath.Join(g.folder, "cgroup.procs"))
}

// removeGroup removes the group, which must be empty.
func (g *controlGroup) removeGroup() error {
	if g.folder == "" {
		return nil
	}
	return os.Remove(g.folder)
}

// countKilled counts the processes that the kernel killed because the group had no more memory.
func (g *controlGroup) countKilled() (n int, err error) {
	text, err := os.ReadFile(g.kills)
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(text), "oom_kill ")
	if _, err := fmt.Sscan(after, &n); !found || err != nil {
		return 0, fmt.Errorf("%s has no count of killed processes: %q", g.kills, text)
	}
	return n, nil
}

// peakMiB is the most memory that the group has used, with the files that the kernel kept for it.
func (g *controlGroup) peakMiB() (int64, error) {
	text, err := os.ReadFile(g.peak)
	if err != nil {
		return 0, err
	}
	bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return bytes >> 20, err
}
