package main

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/sim/plan"
)

// chosen is a group whose plan is short.
const chosen = `{"members":5,"operation_time":"1m","every":"30m","policy":"uncoordinated","preset":"report","first":3,"seeds":2}`

func TestSimulator_Questions_Answered(t *testing.T) {
	s := new(simulator)
	for _, f := range []func() (any, error){func() (any, error) { return s.step(1) }, s.report} {
		_, err := f()
		require.ErrorIs(t, err, errNoShow)
	}
	first, err := s.show(chosen)
	require.NoError(t, err)
	assert.Equal(t, "wander plan --members 5 --operation-time 1m --every 30m --policy uncoordinated --preset report --first 3 --seeds 2", first.(begun).Command)
	for _, ms := range []float64{math.Inf(-1), -1, math.NaN(), 0, 1500, math.Inf(1)} {
		_, err = s.step(ms)
		require.NoError(t, err, ms)
	}
	scene, err := s.step(500)
	require.NoError(t, err)
	assert.InDelta(t, maxStep.Seconds()+2, scene.(plan.Scene).Now, 1e-9, "a step is an hour at most")
	var seen struct {
		Simulated float64 `json:"simulated_s"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer(s.report())), &seen))
	assert.InDelta(t, maxStep.Seconds()+2, seen.Simulated, 1e-9)
	assert.JSONEq(t, `{"error":"no run has begun: press Run"}`, answer(nil, errNoShow))
	assert.Contains(t, answer(math.NaN(), nil), `"error"`, "JSON does not have it")
}

func TestSimulator_Plan_ThatOfTheRequest(t *testing.T) {
	last := 0.0
	here, err := new(simulator).plan(chosen, func(done float64) { last = done })
	require.NoError(t, err)
	assert.InDelta(t, 1, last, 0)
	_, r, err := read(chosen)
	require.NoError(t, err)
	there, err := plan.Make(context.Background(), r, func(float64) {})
	require.NoError(t, err)
	assert.Equal(t, there, here)
	_, err = new(simulator).plan("{", func(float64) {})
	require.ErrorIs(t, err, errForm)
	_, err = new(simulator).show(`{"members":5}`)
	require.Error(t, err)
}
