package harness

import (
	"sync"
	"testing"
)

// RunEach runs a test for each value as a subtest of its name, all at the same time, and waits
// for them. They run within their parent's turn of -parallel. A subtest that calls
// t.Parallel waits for a turn of its own, behind all other tests, while what the parent
// has started stands idle: meanwhile a payment could expire.
func RunEach[V any](t *testing.T, values map[string]V, test func(t *testing.T, name string, value V)) {
	t.Helper()
	var running sync.WaitGroup
	for name, value := range values {
		running.Go(func() {
			t.Run(name, func(t *testing.T) { test(t, name, value) })
		})
	}
	running.Wait()
}
