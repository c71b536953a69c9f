package memory

// Least is the least memory that the program is made for, in bytes. docs/operations.md
// states it, and the attack suite runs with it.
const Least = 256 << 20

// Hash is what one password hash takes, in bytes.
const Hash = 64 << 20

const (
	// outside is what the process has beside what the Go runtime counts, at least: the
	// embedded database's pages and the program itself.
	outside = 48 << 20
	// standing is what the program takes under load without any work that a Plan bounds:
	// open connections and pages, rows on their way, and garbage between two collections.
	standing = 64 << 20
	// plenty is the memory from which on nothing needs to be collected early.
	plenty = 1 << 30
	// perConnection is the memory for which there is one connection.
	perConnection = 256 << 10
	// roomAtLeast lets a logo and a block be read with less memory than Least, too.
	roomAtLeast = 16 << 20
)

// Plan says how the memory of a process is shared out.
type Plan struct {
	// Runtime is the limit that the Go runtime keeps by collecting garbage more often.
	Runtime int64
	// Hashes is how many passwords are hashed at once.
	Hashes int
	// Collect is whether garbage is collected after each hash. The runtime would only
	// do so once the buffers of several hashes lie about.
	Collect bool
	// Connections is how many clients may be connected at once.
	Connections int
	// Room is for everything else that takes much: long requests, pictures, answers of nodes.
	Room int64
}

// RuntimeLimit returns the limit for the Go runtime of a process that may use so many bytes.
func RuntimeLimit(available int64) int64 {
	if available == Unlimited {
		return Unlimited
	}
	return max(available-max(available/10, outside), available/2)
}

// PlanFor shares out what a runtime with a limit has.
func PlanFor(runtime int64) Plan {
	p := Plan{Runtime: runtime, Collect: runtime < plenty}
	p.Hashes = int(min(max((runtime-standing)/2/Hash, 1), 2))
	p.Connections = int(min(max(runtime/perConnection, 64), 4096))
	p.Room = max(runtime-standing-int64(p.Hashes)*Hash, roomAtLeast)
	return p
}
