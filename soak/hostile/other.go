//go:build !linux

package main

import "errors"

func runInner() {}

func outer(options) (int, error) {
	return exitUnsupported, errors.New("hostile runs on Linux only: it needs network namespaces")
}
