//go:build !linux

package main

import "errors"

func runInner() {}

func judgeAgain(o options) (int, error) { return outer(o) }

func outer(options) (int, error) {
	return exitUnsupported, errors.New("soak runs on Linux only: it needs network namespaces")
}
