package wire_test

import (
	"errors"
	"runtime"
	"slices"

	"pgregory.net/rapid"
)

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// mutate changes, inserts or removes one byte.
func mutate(t *rapid.T, body []byte) []byte {
	at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
	b := rapid.Byte().Draw(t, "byte")
	switch rapid.IntRange(0, 2).Draw(t, "change") {
	case 0:
		body[at] = b
		return body
	case 1:
		return slices.Insert(body, at, b)
	}
	if len(body) == 1 {
		return body
	}
	return slices.Delete(body, at, at+1)
}

// allocated is how many bytes f asks the heap for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
