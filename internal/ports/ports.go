// Package ports gives tests ports that stay theirs while nothing listens on them: a
// member that is started again finds its own one free.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// The ports from lowest to highest. Systems give out others by themselves, to whoever
// asks for any port.
const lowest, highest = 15000, 29999

// width is of one row: its first port locks it, so that no other process takes from it.
const width = 8

// rowPorts is how many ports Take gives.
const rowPorts = width - 1

// maxTries is how often to look for a row before it is certain that there is none: a
// whole run of the tests takes some hundred of almost two thousand.
const maxTries = 1000

// Take gives the first of rowPorts ports of 127.0.0.1, which follow each other and on which
// nothing listens, by TCP or UDP. They are the test's until it has ended.
func Take(t testing.TB) (first int) {
	t.Helper()
	for range maxTries {
		row := lowest + width*rand.IntN((highest+1-lowest)/width)
		lock, err := net.Listen("tcp", address(row))
		if err != nil {
			continue
		}
		if areFree(row + 1) {
			t.Cleanup(func() { _ = lock.Close() })
			return row + 1
		}
		_ = lock.Close()
	}
	t.Fatal("no free ports")
	return 0
}

// Address is 127.0.0.1 with a port that is the test's until it has ended.
func Address(t testing.TB) string {
	t.Helper()
	return address(Take(t))
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// areFree reports whether nothing listens on the ports of a row.
func areFree(first int) bool {
	for port := first; port < first+rowPorts; port++ {
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			return false
		}
		_ = l.Close()
		c, err := net.ListenPacket("udp", address(port))
		if err != nil {
			return false
		}
		_ = c.Close()
	}
	return true
}
