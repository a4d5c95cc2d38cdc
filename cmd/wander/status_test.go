package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAgo_DayOrMore_InDays(t *testing.T) {
	for want, s := range map[string]float64{
		"0.5 s ago": 0.5, "86399.0 s ago": 86_399, "1d ago": 86_400, "1d1h ago": 90_030, "5d ago": 440_000,
	} {
		assert.Equal(t, want, ago(&s))
	}
	assert.Equal(t, "never", ago(nil))
}
