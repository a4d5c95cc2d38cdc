package ringcheck

import "github.com/wandertoken/wander/protocol/policy/ring"

// BothWays is the largest service traffic of E, and of D from a quiet ring:
// before the token comes to the processor that asked, two requests and the
// token go over nearly every link: 3n-3 messages are sent. Error:
// ErrProcessors.
func BothWays(alg ring.Algorithm, n int) (*Run, error) {
	a, err := newAdversary(alg, n)
	if err != nil {
		return nil, err
	}
	last := n - 1
	a.ask(last)
	a.ask(1)
	if n > 3 {
		a.carry(1, n-3) // a first request before the token
	}
	a.deliver(last)
	for p := range last { // and one behind it
		a.ask(p)
		for a.err == nil && !a.passed(p) {
			a.deliver(p)
		}
		if p == 0 {
			a.leave(1)
		}
	}
	return a.result(nil)
}

// passed reports whether the token has left the link after p.
func (a *adversary) passed(p int) bool { return !a.carries(p) }

// AskingBehind is the largest service traffic of the corrected D: who asks has
// just been served, so the token on its check tour is on the link before it,
// and a search follows: 3n-2 messages are sent. Error: ErrProcessors.
func AskingBehind(n int) (*Run, error) {
	a, err := newAdversary(ring.D, n)
	if err != nil {
		return nil, err
	}
	last := n - 1
	a.ask(last)
	a.deliver(last)
	a.carry(0, n-2)
	a.leave(last) // the check tour begins
	a.ask(last)
	a.ask(0)
	a.carry(0, n-3) // a first request before the token
	a.deliver(last)
	a.leave(0)
	for p := range last { // and one behind it
		a.ask(p)
		for a.err == nil && !a.passed(p) {
			a.deliver(p)
		}
		if at, moving := a.Token(); !moving && at < last {
			a.deliver(p) // the check tour ended one short; the request wakes it
		}
	}
	return a.result(nil)
}

// Chasing is the largest service traffic of Q from a quiet ring: each request
// goes the whole way round to the processor that made it, which has the token
// by then; those served ask again. (3n²-5n+2)/2 messages are delivered. Error:
// ErrProcessors.
func Chasing(n int) (*Run, error) {
	a, err := newAdversary(ring.Q, n)
	if err != nil {
		return nil, err
	}
	a.ask(n - 1)
	a.deliver(n - 1)
	for p := 1; p <= n-2; p++ { // the token is on the link before p
		a.ask(p)
		a.carry(p, p+n-2)
		a.deliver(p - 1) // the token
		a.deliver(p - 1) // the request
		if p < n-2 {
			a.leave(p)
		}
	}
	for p := range n - 2 { // those who were served ask again
		a.ask(p)
		a.carry(p, n-3)
	}
	a.leave(n - 2)
	a.deliver(n - 2)
	return a.result(nil)
}

// OldRequests is the largest service traffic of Q: before the token, requests
// go round that were served long ago. 2n²-3n+1 messages. Error: ErrProcessors.
func OldRequests(n int) (*Run, error) {
	a, err := newAdversary(ring.Q, n)
	if err != nil {
		return nil, err
	}
	x, y := n-2, n-1
	for p := 1; p <= x; p++ { // the old requests wait on the link after x
		a.ask(p)
		if p < x {
			a.carry(p, x-1)
		}
	}
	a.ask(y)
	a.deliver(y)
	for p := range x { // those who made them are served, and ask again
		a.ask(p)
		a.deliver(p)
		a.leave(p + 1)
		a.deliver(p)
	}
	a.ask(x) // this is the request that will wait
	a.roundTrip(x, y)
	return a.result(nil)
}

// roundTrip brings the token from the link after x round to x, with the old
// requests before it and everybody waiting.
func (a *adversary) roundTrip(x, y int) {
	old := a.n - 2
	a.bundle(x, x, old)
	a.deliver(x) // the token serves y
	a.bundle(y, x+a.n-1, old)
	a.deliver(x)
	a.leave(y)
	for p := range x {
		a.deliver(p + a.n - 1) // the token serves p
		a.bundle(p+a.n-2, p+a.n-2, old-p)
		a.deliver(p + a.n - 1)
		if p < x-1 {
			a.leave(p)
		}
	}
	a.ask(y) // those who were served ask again
	a.carry(y, x+a.n-2)
	for p := range x - 1 {
		a.ask(p)
		a.carry(p, x-2)
	}
	a.leave(x - 1)
	a.deliver(x - 1)
}
