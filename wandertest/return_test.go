package wandertest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/wandertest"
)

// player plays what it fetches, which has to last until it fetches again. It fetches for as long as the member says, and
// what is configured until the member can tell.
type player struct {
	configured time.Duration
	full       time.Time     // it has something to play until then
	silent     time.Duration // in all

	silentWhenTold time.Duration // of silent, until the first turn after it was told
}

// fetch is the player's turn.
func (p *player) fetch(_ context.Context, g wander.Grant) error {
	const reserve = time.Minute // for the turn itself, and for one that comes a little later
	now := time.Now()
	if !p.full.IsZero() && now.After(p.full) {
		p.silent += now.Sub(p.full)
	}
	need := p.configured
	if g.ReturnP95 > 0 {
		if need = g.ReturnP95 + reserve; p.silentWhenTold == 0 {
			p.silentWhenTold = p.silent
		}
	}
	p.full = now.Add(need)
	time.Sleep(20 * time.Second) // whatever it fetches
	return nil
}

// Three programs share a server, one of them a player. It is configured for too short a time between two turns, and is silent until
// the member can tell how long that is, and not any more from then on.
func TestGrant_Return_AProgramAdapts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := wandertest.New(t, 3)
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Minute)
		defer stop()
		done := make(chan error, 3)
		p := &player{configured: 10 * time.Second}
		var told []wander.Grant
		for i := range 3 {
			go func() {
				var err error
				for ctx.Err() == nil && err == nil {
					err = g.Member(i).Client().Do(ctx, wandertest.Tape, func(ctx context.Context, grant wander.Grant) error {
						if i != 0 {
							time.Sleep(20 * time.Second)
							return nil
						}
						told = append(told, grant)
						return p.fetch(ctx, grant)
					})
				}
				if ctx.Err() != nil {
					err = nil
				}
				done <- err
			}()
		}
		for range 3 {
			require.NoError(t, <-done)
		}
		require.Greater(t, len(told), 10)
		for i, grant := range told {
			if i < 3 {
				assert.Zero(t, grant.Return, "after %d returns", i)
				assert.Zero(t, grant.ReturnP95)
				continue
			}
			assert.Positive(t, grant.Return)
			assert.GreaterOrEqual(t, grant.ReturnP95, grant.Return)
		}
		last := told[len(told)-1]
		assert.InDelta(t, time.Minute.Seconds(), last.Return.Seconds(), 15, "a round of three")
		assert.Positive(t, p.silent, "while it was not told")
		assert.Equal(t, p.silentWhenTold, p.silent, "and not any more")
	})
}
