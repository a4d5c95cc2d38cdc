//go:build !unix

package main

import "os"

// notifyReload does nothing where there is no such signal: restart the node.
func notifyReload(chan<- os.Signal) {}

// isProcess is not known where there is no such question.
func isProcess(int) bool { return true }
