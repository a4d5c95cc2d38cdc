//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

// A program that asks a real daemon for progress is told that another member's program runs, and then granted.
func TestProgress_RealDaemons_CauseThenGrant(t *testing.T) {
	t.Parallel()
	f := newFault(t, nil)
	socket := ""
	a, _ := f.pair(&socket)
	held, err := a.Acquire(t.Context(), api.AcquireRequest{Resource: gatetest.Resource})
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	response, err := client.Post("http://wander/v1/acquire", "application/json", strings.NewReader(`{"resource":"tape","progress":true}`))
	require.NoError(t, err)
	defer response.Body.Close()
	released := false
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var e struct {
			Event string `json:"event"`
			api.Waiting
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		switch {
		case e.Event == "granted":
			assert.True(t, released)
			return
		case e.Cause == explain.RunsElsewhere && !released:
			assert.Contains(t, e.Sentence, "a runs its program")
			released = true
			held.Release(true, 0)
		}
	}
	t.Fatal("no grant")
}
