// Package memory finds out how much memory the process may use, and shares it out among
// the work that takes much of it.
package memory

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// Unlimited is the limit of a process that has none.
const Unlimited = math.MaxInt64

// Available returns how many bytes the process may use: the least of what its control
// groups allow, version 1 or 2, and of what the machine has. It is Unlimited where none of
// them says so, as on other systems than Linux. root is the root of the file system.
func Available(root fs.FS) int64 {
	least := machineMemory(root)
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		switch {
		case len(parts) != 3:
		case parts[1] == "": // version 2
			least = min(least, groupLimit(root, "sys/fs/cgroup", parts[2], "memory.max"))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			least = min(least, groupLimit(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	return least
}

// groupLimit returns the least limit of a group and of all that it lies in. In a container
// the group's path may be the one outside: then the mount itself is the container's group.
func groupLimit(root fs.FS, mount, group, file string) int64 {
	least := int64(Unlimited)
	for {
		if text, err := fs.ReadFile(root, path.Join(mount, group, file)); err == nil {
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // not "max"
				least = min(least, limit)
			}
		}
		if group == "/" || group == "." {
			return least
		}
		group = path.Dir(group)
	}
}

// machineMemory returns the memory of the machine in bytes.
func machineMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return Unlimited
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line) // MemTotal: 16384 kB
		if len(words) == 3 && words[0] == "MemTotal:" {
			if total, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				return total << 10
			}
		}
	}
	return Unlimited
}
