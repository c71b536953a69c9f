package quorum

import "sync"

// maxCached bounds how many values a Cache keeps.
const maxCached = 1000

// Cache keeps values that were read of a node, such as headers by their hash. It is safe for concurrent use. The zero
// Cache is empty.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// Find returns the value of a key, and whether it is there.
func (c *Cache[K, V]) Find(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok = c.values[key]
	return value, ok
}

// Keep stores a value. A full cache is emptied first.
func (c *Cache[K, V]) Keep(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil || len(c.values) >= maxCached {
		c.values = map[K]V{}
	}
	c.values[key] = value
}

// Clear empties the cache.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.values)
}
