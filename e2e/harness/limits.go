package harness

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// Limits are the memory and the open files that an instance's serving process may use.
type Limits struct {
	t        testing.TB
	instance *Instance
	memory   int64         // bytes
	group    *controlGroup // nil where none can be made
	missing  error         // why there is none
}

// outsideRuntime is the memory that Cointill leaves to what the Go runtime doesn't count, in
// bytes, where it finds a control group of 480 MiB or less.
const outsideRuntime = 48 << 20

// LimitResources starts the serving process with so many bytes of memory and so many open files from now
// on. A control group enforces the memory where one can be made. Elsewhere, as in most
// containers, GOMEMLIMIT gives the program the limit that it would find in the group, and Check fails when
// the kernel has counted more resident memory.
func (i *Instance) LimitResources(memory int64, files int) *Limits {
	i.t.Helper()
	l := &Limits{t: i.t, instance: i, memory: memory}
	enter := fmt.Sprintf("ulimit -n %d && exec \"$@\"", files)
	if l.group, l.missing = newControlGroup(memory); l.missing == nil {
		enter = l.group.enterCommand() + " && " + enter
		i.t.Cleanup(l.removeGroup)
	} else {
		i.SetVariable("GOMEMLIMIT", fmt.Sprint(memory-outsideRuntime))
	}
	i.wrapper = []string{"/bin/sh", "-c", enter, "sh"}
	return l
}

// removeGroup ends the process and removes its control group.
func (l *Limits) removeGroup() {
	l.instance.Kill()
	WaitFor(l.t, 10*time.Second, "the control group to be empty", func() bool { return l.group.removeGroup() == nil })
}

// DescribeEnforcement says how the memory is limited.
func (l *Limits) DescribeEnforcement() string {
	if l.group == nil {
		return fmt.Sprintf("memory: no control group can be made here (%v), so the peak of resident memory is compared "+
			"with %d MiB", strings.ReplaceAll(l.missing.Error(), "\n", "; "), l.memory>>20)
	}
	return fmt.Sprintf("memory: a control group of %d MiB, beyond which the kernel kills", l.memory>>20)
}

// DescribeUsage says what the control group has counted since the start, or "" without one.
func (l *Limits) DescribeUsage() string {
	if l.group == nil {
		return ""
	}
	killed, err := l.group.countKilled()
	if err != nil {
		l.t.Error(err)
	}
	peak, err := l.group.peakMiB()
	if err != nil {
		return fmt.Sprintf("the group: %d processes killed", killed) // old kernels of version 2 have no peak
	}
	return fmt.Sprintf("the group: at most %d MiB with cached files, %d processes killed", peak, killed)
}

// CheckLimits returns a sentence when the process has ended or has used more memory than it may, and
// "" otherwise.
func (l *Limits) CheckLimits() (broken string) {
	if l.group != nil {
		killed, err := l.group.countKilled()
		if err != nil || killed > 0 {
			return fmt.Sprintf("the kernel killed %d processes of the control group for memory (%v)", killed, err)
		}
	}
	if !l.instance.IsAlive() {
		return "the process has ended"
	}
	peak, err := l.PeakMiB()
	if err != nil || peak > l.memory>>20 {
		return fmt.Sprintf("the process had %d MiB of resident memory, more than %d (%v)", peak, l.memory>>20, err)
	}
	return ""
}

// PeakMiB is the most resident memory of the process since it started or since ResetPeak, without
// the files that it has mapped, whose memory the kernel frees by itself.
func (l *Limits) PeakMiB() (int64, error) {
	text, err := os.ReadFile(l.readFile("status"))
	if err != nil {
		return 0, err
	}
	var kib [2]int64
	for n, name := range []string{"VmHWM:", "RssFile:"} {
		_, after, _ := strings.Cut(string(text), name)
		if _, err := fmt.Sscanf(after, "%d kB", &kib[n]); err != nil {
			return 0, fmt.Errorf("%s of the process: %w", name, err)
		}
	}
	return (kib[0] - kib[1]) >> 10, nil
}

// ResetPeak begins a new measurement of PeakMiB.
func (l *Limits) ResetPeak() {
	l.t.Helper()
	if err := os.WriteFile(l.readFile("clear_refs"), []byte("5"), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// OpenFiles counts the files and connections that the process has open; 0 once it has ended.
func (l *Limits) OpenFiles() int {
	files, _ := os.ReadDir(l.readFile("fd"))
	return len(files)
}

func (l *Limits) readFile(name string) string {
	return fmt.Sprintf("/proc/%d/%s", l.instance.ProcessID(), name)
}
