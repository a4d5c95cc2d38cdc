package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// taskFolder is a folder like /proc/PID/task, of threads that have done this. One that has
// done nothing has ended since the folder was listed.
func taskFolder(t *testing.T, all map[string]thread) string {
	dir := t.TempDir()
	for id, done := range all {
		require.NoError(t, os.Mkdir(filepath.Join(dir, id), 0o700))
		if done == (thread{}) {
			continue
		}
		status := fmt.Sprintf("Name:\twander\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t1\n", done.switches-1)
		require.NoError(t, os.WriteFile(filepath.Join(dir, id, "status"), []byte(status), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, id, "schedstat"), []byte(fmt.Sprintf("%d 5 7\n", done.ran)), 0o600))
	}
	return dir
}

func TestLookAt_ThreadEnded_OthersCounted(t *testing.T) {
	list, err := lookAt(taskFolder(t, map[string]thread{"10": {switches: 3, ran: 100}, "11": {}}))
	require.NoError(t, err)
	assert.Equal(t, threads{"10": {switches: 3, ran: 100}}, list)

	_, err = lookAt(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist, "a process that has ended is an error")
}

func TestThreads_Since_OnlyWhatLives(t *testing.T) {
	before := threads{"10": {switches: 3, ran: 100}, "11": {switches: 900, ran: 9000}, "12": {switches: 50, ran: 500}}
	after := threads{
		"10": {switches: 5, ran: 150}, // 11 has ended
		"12": {switches: 2, ran: 20},  // another one with the number of one that has ended
		"13": {switches: 7, ran: 70},  // begun
	}
	assert.Equal(t, thread{switches: 2 + 2 + 7, ran: 50 + 20 + 70}, after.since(before))
}
