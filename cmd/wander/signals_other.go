//go:build !unix

package main

import "os"

// notifyReload does nothing where there is no such signal: restart the node.
func notifyReload(chan<- os.Signal) {}
