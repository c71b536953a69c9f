package app

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"

	"cointill/core/memory"
)

// limits are what this process may use of the machine, and how it is shared out.
type limits struct {
	available   int64 // bytes of memory
	memory      memory.Plan
	descriptors int64
	// connections is how many clients may be connected, pages how many of them may wait for
	// news of a payment, deliveries how many webhooks may be on their way.
	connections, pages, deliveries int
	bodies, pictures, answers      *memory.Part
}

const (
	// ownFiles is how many descriptors are left to the database, nodes, the mail server and
	// sources of prices.
	ownFiles = 160
	// memoryOfPage is the memory that there is for each open page: it takes a tenth of that.
	memoryOfPage = 1 << 20
)

// KeepToMemory tells the Go runtime how much memory there is, unless the operator did.
func KeepToMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory.RuntimeLimit(memory.Available(os.DirFS("/"))))
	}
}

// findLimits finds out what this process may use.
func findLimits() limits {
	available := memory.Available(os.DirFS("/"))
	runtime := min(debug.SetMemoryLimit(-1), memory.RuntimeLimit(available))
	l := limitsOf(memory.PlanFor(runtime), maxDescriptors())
	l.available = available
	return l
}

// limitsOf shares out memory and descriptors. Clients that are connected have two thirds of the
// descriptors, those that are turned away a twelfth, and webhooks, open ones and idle ones, a quarter. Pages that wait
// have at most half of the connections: requests have the others.
func limitsOf(plan memory.Plan, descriptors int64) limits {
	shared := max(descriptors-ownFiles, descriptors/2)
	l := limits{memory: plan, descriptors: descriptors, connections: int(min(int64(plan.Connections), shared*2/3))}
	l.pages = int(max(min(int64(l.connections/2), plan.Runtime/memoryOfPage), 1))
	l.deliveries = int(max(min(int64(plan.Connections/4), shared/6), 1))
	room := memory.NewBudget(plan.Room)
	l.bodies, l.pictures, l.answers = room.Part(plan.Room/2), room.Part(plan.Room), room.Part(plan.Room/2)
	return l
}

// logLimits writes the limits to the log, and warns of those that are low.
func (l limits) logLimits(ctx context.Context, log *slog.Logger) {
	log.InfoContext(ctx, "limits", "memory_mib", l.available>>20, "runtime_mib", l.memory.Runtime>>20,
		"descriptors", l.descriptors, "connections", l.connections, "password_hashes", l.memory.Hashes,
		"webhook_requests", l.deliveries)
	if l.available < memory.Least {
		log.WarnContext(ctx, "there is less memory than Cointill is made for: give it 256 MiB or more "+
			"(docs/operations.md, Memory and open files)",
			"memory_mib", l.available>>20)
	}
	if l.connections < l.memory.Connections {
		log.WarnContext(ctx, "the limit of open files keeps clients out that there is memory for: raise it to 16384 "+
			"(LimitNOFILE of systemd, nofile of Docker, ulimit -n)", "descriptors", l.descriptors, "connections",
			l.connections)
	}
}
