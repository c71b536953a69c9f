package memory_test

import (
	"context"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"cointill/core/memory"
)

const mib = 1 << 20

// TestAvailableIsTheLeastLimit holds what is found against the files of machines and containers.
func TestAvailableIsTheLeastLimit(t *testing.T) {
	const machine = "MemFree:         1 kB\nMemTotal:       1048576 kB\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no Linux", nil, memory.Unlimited},
		{"a machine without groups", map[string]string{"proc/meminfo": machine}, 1024 * mib},
		{"version 2", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/system.slice/till.service\n",
			"sys/fs/cgroup/system.slice/till.service/memory.max": "268435456\n"}, 256 * mib},
		{"version 2, limited further out", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b/c\n",
			"sys/fs/cgroup/a/b/c/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.max": "536870912\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 512 * mib},
		{"version 2 in a container", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "268435456\n"}, 256 * mib},
		{"version 1", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "5:cpu:/x\n4:memory:/docker/abc\n0::/\n",
			"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "268435456\n"}, 256 * mib},
		{"version 1 in a container that sees the path outside", map[string]string{"proc/meminfo": machine,
			"proc/self/cgroup": "4:hugetlb,memory:/docker/abc\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n"}, 256 * mib},
		{"version 1 without a limit", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n"}, 1024 * mib},
		{"unreadable", map[string]string{"proc/meminfo": "MemTotal: many kB\n", "proc/self/cgroup": "memory\n\n0::/a"}, memory.Unlimited},
	} {
		root := fstest.MapFS{}
		for name, text := range c.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := memory.Available(root); got != c.want {
			t.Errorf("%s: %d bytes are available, want %d", c.name, got, c.want)
		}
	}
}

// TestPlanFitsIntoMemory shares out the memory of small and large machines: what may be
// held at once is less than there is, and one password can always be hashed.
func TestPlanFitsIntoMemory(t *testing.T) {
	for _, c := range []struct{ available, hashes, connections, room int64 }{
		{128 * mib, 1, 320, 16 * mib},
		{memory.Least, 1, 832, 80 * mib},
		{512 * mib, 2, 1843, 268 * mib},
		{2048 * mib, 2, 4096, 1651 * mib},
		{memory.Unlimited, 2, 4096, 0},
	} {
		limit := memory.RuntimeLimit(c.available)
		p := memory.PlanFor(limit)
		if c.room > 0 && p.Room>>20 != c.room>>20 || int64(p.Hashes) != c.hashes || int64(p.Connections) != c.connections {
			t.Errorf("%d MiB: %+v, want %+v", c.available>>20, p, c)
		}
		if held := int64(p.Hashes)*64*mib + p.Room; c.available >= memory.Least && held > limit || limit > c.available {
			t.Errorf("%d MiB: %d may be held, and the runtime keeps to %d", c.available>>20, held, limit)
		}
		if p.Collect != (c.available <= 512*mib) {
			t.Errorf("%d MiB: collects after a hash: %t", c.available>>20, p.Collect)
		}
	}
}

// TestPartsShareABudget: a part has its own bound and the budget's; what is given back
// goes to who waits.
func TestPartsShareABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := memory.NewBudget(100)
		one, other := budget.Part(70), budget.Part(60)
		if one.Take(71) || !one.Take(70) || one.Take(1) {
			t.Error("a part of 70 gives other than 70")
		}
		if other.Take(31) || !other.Take(30) {
			t.Error("beside 70 of 100 another part gives other than 30")
		}
		waited := make(chan bool, 1)
		go func() { waited <- other.Wait(t.Context(), 20) }()
		synctest.Wait()
		one.Give(10)
		synctest.Wait()
		select {
		case <-waited:
			t.Error("one that waits for 20 has them after 10 were given back")
		default:
		}
		one.Give(10)
		if !<-waited {
			t.Error("one that waits for 20 lacks them after 20 were given back")
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { waited <- other.Wait(ctx, 20) }()
		synctest.Wait()
		cancel()
		if <-waited {
			t.Error("one whose time is up has what there wasn't")
		}
		other.Give(50)
		one.Give(50)
		if !one.Take(70) || one.Most() != 70 {
			t.Error("something was lost")
		}
		var none *memory.Part
		none.Give(5)
		if !none.Take(memory.Unlimited) || !none.Wait(ctx, 1) || none.Most() != memory.Unlimited {
			t.Error("without a part there is a bound")
		}
	})
}
