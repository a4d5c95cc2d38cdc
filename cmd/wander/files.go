package main

import "os"

// exists reports whether there is something with this name.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
