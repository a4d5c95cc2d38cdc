package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/sim/plan"
)

func TestForm_Choices_RequestAndCommand(t *testing.T) {
	f, err := readForm(`{"members":50,"operation_time":"4s","every":"5m","policy":"wandering","preset":"fair","latency":"20ms","loss_percent":0.1,
		"crash":"10m","down_for":"30s","volatile":true,"first":7,"seeds":3}`)
	require.NoError(t, err)
	r, err := f.request()
	require.NoError(t, err)
	assert.Equal(t, plan.Request{
		Policy: "wandering", Members: 50, Every: 5 * time.Minute, Latency: 20 * time.Millisecond, Loss: 0.1 / 100, Crash: 10 * time.Minute,
		DownFor: 30 * time.Second, Volatile: true, First: 7, Seeds: 3,
		Params: policy.Params{Preset: "fair", OperationTime: 4 * time.Second, SkipDelay: 100 * time.Millisecond, MembersMax: 50},
	}, r)
	assert.Equal(t, "wander plan --members 50 --operation-time 4s --every 5m --preset fair --latency 20ms --loss 0.1% --crash 10m --down-for 30s --volatile --first 7 --seeds 3",
		strings.Join(f.command(), " "))
	few := form{Members: 2, OperationTime: "1s", Policy: "multitoken", TargetInterval: "1m", First: 1, Seeds: 8, DownFor: "2m", Volatile: true}
	assert.Equal(t, "wander plan --members 2 --operation-time 1s --policy multitoken --target-interval 1m", strings.Join(few.command(), " "))
}

func TestForm_Mistakes_EachRefused(t *testing.T) {
	for _, text := range []string{"", "x", "[]", `{"members":"many"}`, `{"unknown":1}`, `{"members":1e99}`, `{"first":-1}`} {
		_, err := readForm(text)
		assert.ErrorIs(t, err, errForm, text)
	}
	for text, want := range map[string]string{
		`{"members":50,"operation_time":"soon"}`:                                                     "operation time: ",
		`{"members":1,"operation_time":"4s","policy":"ring","first":1,"seeds":1}`:                    "members out of range",
		`{"members":9,"operation_time":"4s","policy":"ring","first":1,"seeds":1,"loss_percent":100}`: "loss out of range",
		`{"members":9,"operation_time":"4s","policy":"none","first":1,"seeds":1}`:                    "none",
		`{"members":9,"operation_time":"","policy":"ring","first":1,"seeds":1}`:                      "operation_time",
	} {
		f, err := readForm(text)
		require.NoError(t, err, text)
		_, err = f.request()
		assert.ErrorContains(t, err, want, text)
	}
}
