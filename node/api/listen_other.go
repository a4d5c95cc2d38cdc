//go:build !linux

package api

// Elsewhere only chmod after bind restricts the socket; the state directory is
// private anyway.
func restrictMode(uintptr) error { return nil }
