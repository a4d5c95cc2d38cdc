// Package whole says whether tests are to run every case that they have. go test ./... runs a
// short form of the longest ones; docs and .ci/run ask for the rest:
//
//	WANDER_TESTS=whole go test -timeout 30m ./...
package whole

import (
	"os"
	"testing"
)

// The environment variable that asks for every case, and its value.
const (
	variable = "WANDER_TESTS"
	every    = "whole"
)

// Asked reports whether every case is to run.
func Asked() bool { return os.Getenv(variable) == every }

// Only skips a test, or a part of one, that the short form leaves out.
func Only(t testing.TB) {
	t.Helper()
	if !Asked() {
		t.Skipf("it takes long: %s=%s go test", variable, every)
	}
}

// Part is how many cases to go through: some in the short form, otherwise all.
func Part(some, all int) int {
	if Asked() {
		return all
	}
	return some
}

// Spares reports whether the short form leaves out a case: it has one of so many parts. The
// number of a case is the sum of its places in the test's lists, so that a part has each
// element of each list.
func Spares(number, parts int) bool { return !Asked() && number%parts != 0 }
