package circulation

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

func TestConfigErrors(t *testing.T) {
	good := Config{Policy: catalog.Wandering, Members: 2, Params: policy.Params{OperationTime: time.Second, MembersMax: 2, SkipDelay: time.Second}}
	_, err := New(good)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(*Config)
		want   error
	}{
		"no members":         {func(c *Config) { c.Members = 0 }, ErrMembers},
		"too many":           {func(c *Config) { c.Members = policy.MaxMembers + 1 }, ErrMembers},
		"tokens":             {func(c *Config) { c.Found = 3 }, ErrFound},
		"loss":               {func(c *Config) { c.PassLoss = 1.1 }, ErrShare},
		"no number":          {func(c *Config) { c.TellLoss = nan() }, ErrShare},
		"negative":           {func(c *Config) { c.DownFor = -1 }, ErrNegative},
		"negative latency":   {func(c *Config) { c.Passing = Constant(-1) }, ErrLatency},
		"reversed":           {func(c *Config) { c.Telling = Uniform(2, 1) }, ErrLatency},
		"no quantiles":       {func(c *Config) { c.Operation = Quantiles(nil) }, ErrLatency},
		"negative quantile":  {func(c *Config) { c.Operation = Quantiles([]time.Duration{-1, 2}) }, ErrLatency},
		"unordered quantile": {func(c *Config) { c.Operation = Quantiles([]time.Duration{2, 1}) }, ErrLatency},
		"policy":             {func(c *Config) { c.Policy = "nonesuch" }, catalog.ErrUnknownPolicy},
		"parameter":          {func(c *Config) { c.Params.MembersMax = 0 }, policy.ErrOutOfRange},
	} {
		cfg := good
		c.change(&cfg)
		_, err := New(cfg)
		assert.ErrorIs(t, err, c.want, name)
		assert.ErrorIs(t, cfg.Validate(), c.want, name)
	}
	assert.NoError(t, good.Validate())
}

// TestCancel: neither the setting up nor the run outlives its context.
func TestCancel(t *testing.T) {
	cfg := Config{
		Policy: catalog.Wandering, Members: 10_000, Found: 1,
		Params: policy.Params{OperationTime: time.Second, MembersMax: 10_000, SkipDelay: time.Second},
	}
	over := errors.New("over")
	for _, looks := range []int{0, 1, 2, 3, 4, 5} { // three times in admit, three in start
		_, err := NewContext(newCountdown(t, looks, over), cfg)
		assert.ErrorIs(t, err, over, looks)
	}
	w, err := NewContext(newCountdown(t, 8, over), cfg)
	require.NoError(t, err)
	w.Run(clock.Never)
	assert.ErrorIs(t, w.Err(), over)
	assert.LessOrEqual(t, w.Stats().Events, uint64(4*lookEvery))
	now := w.Now()
	w.Run(clock.Never)
	assert.Equal(t, now, w.Now(), "it is over")
}

// countdown is a context that ends when it was looked at so many times.
type countdown struct {
	context.Context
	cancel context.CancelCauseFunc
	looks  int
}

func newCountdown(t *testing.T, looks int, why error) *countdown {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return &countdown{ctx, func(error) { cancel(why) }, looks}
}

func (c *countdown) Err() error {
	if c.looks--; c.looks < 0 {
		c.cancel(nil)
	}
	return c.Context.Err()
}

func nan() float64 { zero := 0.0; return zero / zero }

func TestLatency(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		latency Latency
		mean    float64
		low     float64 // share below half the mean
	}{
		"zero":        {Latency{}, 0, 0},
		"constant":    {Constant(time.Second), 1, 0},
		"uniform":     {Uniform(time.Second, 3*time.Second), 2, 0},
		"exponential": {Exponential(time.Second), 1, 0.393},
		"quantiles":   {Quantiles([]time.Duration{0, time.Second, 5 * time.Second}), 1.75, 0.4375},
		"one":         {Quantiles([]time.Duration{time.Second}), 1, 0},
	} {
		h := NewHistogram(time.Millisecond, 20*time.Second)
		for range 20_000 {
			h.Add(c.latency.draw(rng))
		}
		assert.InDelta(t, c.mean, h.Mean().Seconds(), 0.04, name)
		assert.InDelta(t, c.low, h.ShareBelow(time.Duration(c.mean/2*1e9)), 0.015, name)
	}
}
