//go:build !full

package speed

// Full is true when tests run at their full size.
const Full = false
