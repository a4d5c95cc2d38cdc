package main

import (
	"os"
	"os/signal"
)

// catchSignals catches what is to end the wait or go to the command.
func catchSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	return c, func() { signal.Stop(c) }
}

// keepFromChildren has nothing to do: Windows inherits only what is listed.
func keepFromChildren(*os.File) {}
