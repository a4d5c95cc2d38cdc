package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeExecutable writes a file that is to be executed. No process is started meanwhile: until it executes its own program
// it would have the file open for writing, and the system executes no such file.
func writeExecutable(t *testing.T, name string, text []byte, mode os.FileMode) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(name, text, mode))
}
