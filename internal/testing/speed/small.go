//go:build !full

package speed

// Full tells whether tests run at their full size.
const Full = false
