//go:build !unix

package main

// checkOwner has nothing to check where files have no owner that matters.
func checkOwner(string) error { return nil }
