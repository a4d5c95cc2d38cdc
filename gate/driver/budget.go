package driver

import (
	"context"
	"sync"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// errand is what a member has a budget for.
type errand int

const (
	signIns errand = iota
	signOuts
	updates
	copies // of the configuration
	lines  // of the log
	errands
)

// rates are the tokens per second of each budget, and at most.
var rates = [errands]struct{ rate, burst float64 }{
	signIns: {SignInsPerSecond, signInBurst}, signOuts: {SignInsPerSecond, signInBurst}, updates: {updatesPerSecond, updateBurst},
	copies: {copiesPerSecond, copyBurst}, lines: {linesPerSecond, lineBurst},
}

// budgets bounds what each member asks for, over all of its connections. It is safe for concurrent use.
type budgets struct {
	mu  sync.Mutex
	now func() time.Time
	of  map[ident.Member]*budget
}

type budget struct {
	tokens [errands]float64
	last   time.Time
}

func (b *budget) refill(now time.Time) (full bool) {
	passed := max(0, now.Sub(b.last).Seconds())
	b.last, full = now, true
	for i, r := range rates {
		b.tokens[i] = min(r.burst, b.tokens[i]+passed*r.rate)
		full = full && b.tokens[i] >= r.burst
	}
	return full
}

// take takes one token, and returns how long it is until it is there.
func (b *budgets) take(id ident.Member, what errand) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := b.mine(id)
	mine.tokens[what]--
	if left := mine.tokens[what]; left < 0 {
		return time.Duration(-left / rates[what].rate * float64(time.Second))
	}
	return 0
}

// spare takes one token if it is there, and reports whether it was.
func (b *budgets) spare(id ident.Member, what errand) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := b.mine(id)
	if mine.tokens[what] < 1 {
		return false
	}
	mine.tokens[what]--
	return true
}

// mine is a member's budget now. It needs b.mu.
func (b *budgets) mine(id ident.Member) *budget {
	now := b.now()
	mine := b.of[id]
	if mine == nil {
		if len(b.of) >= maxBudgets {
			for other, o := range b.of {
				if o.refill(now) {
					delete(b.of, other)
				}
			}
		}
		mine = &budget{last: now}
		for i, r := range rates {
			mine.tokens[i] = r.burst
		}
		b.of[id] = mine
	}
	mine.refill(now)
	return mine
}

// wait waits until a member may ask for something.
func (b *budgets) wait(ctx context.Context, id ident.Member, what errand) error {
	pause := b.take(id, what)
	if pause == 0 {
		return nil
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
