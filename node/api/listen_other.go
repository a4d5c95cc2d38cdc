//go:build !linux

package api

// restrictMode does nothing: only chmod after bind restricts the socket here; the state directory is
// private anyway.
func restrictMode(uintptr) error { return nil }
