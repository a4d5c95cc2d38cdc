package ringcheck

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/policy/ring"
)

// adversary writes a schedule by hand. The first impossible step ends it.
type adversary struct {
	*Run
	n   int
	err error
}

// minAdversary is the smallest ring in which all schedules here make sense.
const minAdversary = 3

func newAdversary(alg ring.Algorithm, n int) (*adversary, error) {
	if n < minAdversary {
		return nil, fmt.Errorf("%w: %d, adversaries need at least %d", ErrProcessors, n, minAdversary)
	}
	r, err := newRun(alg, n)
	return &adversary{Run: r, n: n}, err
}

func (a *adversary) make(action Action, p int) {
	if a.err == nil {
		a.err = a.step(Step{action, (p%a.n + a.n) % a.n})
	}
}

func (a *adversary) ask(p int)     { a.make(Ask, p) }
func (a *adversary) leave(p int)   { a.make(Leave, p) }
func (a *adversary) deliver(p int) { a.make(Deliver, p) }

// carry delivers on the links that leave from, from+1, … up to to, one message
// each. to may be less than from: then it goes through n-1 to 0.
func (a *adversary) carry(from, to int) { a.bundle(from, to, 1) }

// bundle is carry with so many messages on each link.
func (a *adversary) bundle(from, to, messages int) {
	for p := from % a.n; a.err == nil; p = (p + 1) % a.n {
		for range messages {
			a.deliver(p)
		}
		if p == (to%a.n+a.n)%a.n {
			return
		}
	}
}

// settle delivers all messages, and lets everybody leave, until nothing moves.
func (a *adversary) settle() {
	for a.err == nil {
		steps := a.possible(nil, Deliver)
		if len(steps) == 0 {
			return
		}
		a.make(steps[0].Action, steps[0].Processor)
	}
}

// FarRequests is the run of theorem 2.2: again and again the processor before
// the resting token asks, so that at least n-1 messages bring the token there.
// In S the token has just left. Error: ErrProcessors.
func FarRequests(alg ring.Algorithm, n, requests int) (*Run, error) {
	a, err := newAdversary(alg, n)
	for range requests {
		if err != nil || a.err != nil {
			break
		}
		at, moving := a.Token()
		p := (at + n - 1) % n
		a.ask(p)
		if !moving {
			a.settle()
			continue
		}
		for a.err == nil && !a.station(p).Inside() {
			at, _ := a.Token()
			a.deliver(at)
		}
		a.leave(p)
	}
	return a.result(err)
}

func (a *adversary) result(err error) (*Run, error) {
	if err != nil {
		return nil, err
	}
	return a.Run, a.err
}

// NearRequests is the dearest run of E: again and again the processor after
// the resting token asks. The request goes the whole way round, and so does
// the token, which serves it at the first hop: 2n-2 messages. Error:
// ErrProcessors.
func NearRequests(alg ring.Algorithm, n, requests int) (*Run, error) {
	a, err := newAdversary(alg, n)
	for range requests {
		if err != nil || a.err != nil {
			break
		}
		at, _ := a.Token()
		a.ask(at + 1)
		a.settle()
	}
	return a.result(err)
}

// IdleTours lets the token of S go round so often, for one request. Error:
// ErrProcessors.
func IdleTours(n, tours int) (*Run, error) {
	a, err := newAdversary(ring.S, n)
	if err != nil {
		return nil, err
	}
	for range tours {
		a.carry(0, n-1)
	}
	a.ask(1)
	a.deliver(0)
	return a.result(nil)
}

// VainSearches is the dearest run of the corrected D. Of each two requests one
// is served while its message still goes round, nearly twice, and then sends
// the token on a search for nobody: 5n-4 messages for two requests. Error:
// ErrProcessors.
func VainSearches(n, pairs int) (*Run, error) {
	a, err := newAdversary(ring.D, n)
	if err != nil {
		return nil, err
	}
	a.ask(n - 1)
	a.deliver(n - 1)
	a.ask(0)
	a.carry(0, n-2)
	a.leave(n - 1)
	a.deliver(n - 1) // the token serves 0, whose message goes round
	a.carry(0, n-1)
	a.leave(0)
	for i, at := 0, 0; i < pairs; i, at = i+1, at+2*n-3 {
		a.vainSearch(at)
	}
	return a.result(nil)
}

// vainSearch begins and ends with a token that leaves on a search while nobody
// waits.
func (a *adversary) vainSearch(at int) {
	b, c := at+a.n-2, at+a.n-1
	a.carry(at, at+a.n-3)
	a.ask(b)
	a.deliver(b) // the token rests at c,
	a.deliver(b) // and is woken at once to go round to b
	a.ask(c)
	a.carry(c, b+a.n-1)
	a.leave(b)
	a.deliver(b) // the token serves c, whose message is still on the first link
	a.deliver(c)
	a.leave(c)
	a.carry(c+1, c+a.n-1)
	a.bundle(c, c+a.n-3, 2) // the message follows the token until that rests
}
