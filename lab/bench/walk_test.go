package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

func TestOccupancy(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	var o occupancy
	o.begin(at(0)) // before it is opened, and counted when it ends
	o.open(at(50))
	o.end(at(100))
	o.begin(at(130))
	o.begin(at(180)) // beside the other one: no gap
	o.end(at(200))
	o.end(at(300))
	o.begin(at(310))
	assert.Equal(t, 350*time.Millisecond, o.close(at(400)))
	o.end(at(500))
	o.begin(at(900))
	assert.Equal(t, 3, o.operations)
	assert.Equal(t, 40*time.Millisecond, o.idle)
	assert.Equal(t, 20*time.Millisecond, o.overlap)
	assert.InDeltaSlice(t, []float64{0.03, 0.01}, o.gaps, 1e-9)
}

// TestCrewsWork: each preset runs among real members, and is counted.
func TestCrewsWork(t *testing.T) {
	w := walk{progress: io.Discard, operation: leastOperation}
	members := []string{"m1", "m2", "m3"}
	for _, preset := range usual {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, makeGroup(dir, members, w.resource(len(members), preset)))
			does := work{mode: store.Volatile, operation: w.operation, watch: new(occupancy)}
			does.watch.open(time.Now())
			if preset == quiet {
				does.operation = 0
			}
			c, err := openCrew(dir, members, does)
			defer c.close()
			require.NoError(t, err)
			before := c.tally()
			if preset == quiet {
				assert.Zero(t, before.hops)
				return
			}
			var did tally
			await.Until(t, "three hops", func() bool {
				did = c.tally().since(before)
				return did.hops >= 3 && (preset != wandering.Fair || did.small > 0)
			})
			assert.GreaterOrEqual(t, did.messages, 2*did.hops+did.small)
			assert.Len(t, c.connections(), len(members))
		})
	}
}

func TestRow(t *testing.T) {
	r := walked{
		members: 25, preset: "fair", took: 10 * time.Second, connections: []float64{3, 9, 4},
		cpu:   time.Second,
		did:   tally{hops: 50, dials: 25, messages: 1500, small: 1250},
		watch: &occupancy{operations: 50, idle: time.Second, overlap: 0, gaps: []float64{0.002, 0.003, 0.001}},
	}
	assert.Len(t, strings.Split(r.row(), "|"), len(heads)+2)
	assert.Equal(t, "| 25 | `fair` | 50 | 30.0 | 25.0 | 25.0 | 1.0 | 0.5 | 20.0 ms | 10.0 % | 4, 9 | 2.0 ms, 2.0 ms | 10.0 % | 0.0 % |", r.row())
	r = walked{members: 25, preset: quiet, took: 10 * time.Second, connections: []float64{3}, watch: new(occupancy)}
	assert.Equal(t, "| 25 | `quiet` | – | – | – | – | – | – | – | 0.0 % | 3, 3 | – | – | – |", r.row())
}

func TestWalkArguments(t *testing.T) {
	for _, args := range [][]string{
		{"walk", "-members", "1"}, {"walk", "-members", "5000"}, {"walk", "-preset", "nonsense"},
		{"walk", "-delay", "-1ms"}, {"walk", "-operation", "1ms"}, {"walk", "-operation", "2s", "-for", "1s"},
	} {
		assert.Error(t, run(args, io.Discard, io.Discard), "%v", args)
	}
	w := walk{operation: 4 * time.Second}
	assert.Equal(t, 600*time.Second, w.settled(100))
	assert.Equal(t, settle, w.settled(2))
	assert.NoError(t, catalog.Check(catalog.Wandering, w.resource(100, "fair").Params))
}
