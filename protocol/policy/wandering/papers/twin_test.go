package papers

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// past is the history of figure 1, taken literally: every reception, permanently,
// index 0 the newest.
type past []policy.Token

// since is how many receptions ago a token was noted last.
func (p past) since(t policy.Token) int {
	return slices.IndexFunc(p, func(o policy.Token) bool { return o.ID == t.ID })
}

func older(x, y policy.Token) bool {
	if x.Born == y.Born {
		return slices.Compare(x.ID[:], y.ID[:]) < 0
	}
	return x.Born < y.Born
}

// sandwich is line 12: some i < j with history(j).id = token.id and
// history(i).timestamp < token.timestamp.
func (p past) sandwich(token policy.Token) bool {
	for j := range p {
		for i := range j {
			if p[j].ID == token.ID && older(p[i], token) {
				return true
			}
		}
	}
	return false
}

func (p *past) push(token policy.Token) { *p = slices.Insert(*p, 0, token) }

// twin does what an agent does in the plainest way: no bound, no shortcut.
type twin struct {
	min, skip time.Duration
	mean      float64
	rng       *rand.Rand

	history    past
	lastAccess []clock.Instant // empty or the last one
	resting    []guest
	running    []policy.Token // empty or one
	demand     bool
	regenerate clock.Instant
}

type guest struct {
	token policy.Token
	until clock.Instant
}

func newTwin(p policy.Params, rng rand.Source) *twin {
	w := &twin{min: p.MinInterval, skip: p.SkipDelay, mean: float64(p.RegenerationMean), rng: rand.New(rng), regenerate: clock.Never}
	if w.min == 0 {
		w.min = p.OperationTime * time.Duration(p.MembersMax) / 2
	}
	if w.mean == 0 {
		w.mean = float64(w.min) * float64(p.MembersMax)
	}
	return w
}

func (w *twin) held() int { return len(w.resting) + len(w.running) }

func (w *twin) listen(now clock.Instant) {
	if w.held() == 0 {
		w.regenerate = now.Add(w.min + time.Duration(w.rng.ExpFloat64()*w.mean) + 1)
	}
}

func (w *twin) mayRun(now clock.Instant) bool {
	early := len(w.lastAccess) > 0 && now.Sub(w.lastAccess[0]) <= w.min
	return w.demand && len(w.running) == 0 && !early
}

func (w *twin) Step(now clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	if e.Kind == policy.Recalled {
		w.history.push(e.Token)
		if e.Operated {
			at := min(e.At, now)
			if len(w.lastAccess) > 0 {
				at = max(at, w.lastAccess[0])
			}
			w.lastAccess = []clock.Instant{at}
		}
		return actions
	}
	actions = append(actions, w.answer(now, e)...)
	if w.regenerate == clock.Never {
		w.listen(now) // it begins its work
	}
	return actions
}

func (w *twin) Deadline() clock.Instant {
	if w.held() == 0 {
		return w.regenerate
	}
	deadline := clock.Never
	for _, g := range w.resting {
		deadline = min(deadline, g.until)
	}
	return deadline
}

func (w *twin) answer(now clock.Instant, e policy.Event) []policy.Action {
	switch {
	case e.Kind == policy.Arrival && w.history.sandwich(e.Token):
		w.listen(now)
		return []policy.Action{{Kind: policy.Drop, Reason: policy.Superseded, Token: e.Token.ID}}
	case e.Kind == policy.Arrival, e.Kind == policy.Generated, e.Kind == policy.Resumed,
		e.Kind == policy.PassEnded && e.Outcome == policy.Returned:
		if e.Kind != policy.PassEnded { // it did not go, so it has not come
			w.history.push(e.Token)
		}
		if w.mayRun(now) {
			w.running = append(w.running, e.Token)
			return []policy.Action{{Kind: policy.Run, Token: e.Token.ID}, {Kind: policy.Prepare, Token: e.Token.ID}}
		}
		w.resting = append(w.resting, guest{e.Token, now.Add(w.skip)})
		return []policy.Action{{Kind: policy.Prepare, Token: e.Token.ID}}
	case e.Kind == policy.OperationEnded:
		if e.Operated {
			w.lastAccess = []clock.Instant{now}
		}
		w.running = nil
		w.listen(now)
		return []policy.Action{{Kind: policy.Pass, Token: e.Token.ID}}
	case e.Kind == policy.DemandChanged:
		w.demand = e.Demand
		if len(w.resting) > 0 && w.mayRun(now) {
			g := slices.MinFunc(w.resting, func(x, y guest) int {
				if older(x.token, y.token) {
					return -1
				}
				return 1
			})
			w.leave(g.token.ID)
			w.running = append(w.running, g.token)
			return []policy.Action{{Kind: policy.Run, Token: g.token.ID}}
		}
	case e.Kind == policy.Timer && w.held() == 0 && now >= w.regenerate:
		w.listen(now)
		return []policy.Action{{Kind: policy.Generate}}
	case e.Kind == policy.Timer:
		return w.passRested(now)
	}
	return nil
}

func (w *twin) passRested(now clock.Instant) (actions []policy.Action) {
	byReception := slices.Clone(w.resting)
	slices.SortStableFunc(byReception, func(x, y guest) int { return w.history.since(y.token) - w.history.since(x.token) })
	for _, g := range byReception {
		if g.until <= now {
			w.leave(g.token.ID)
			actions = append(actions, policy.Action{Kind: policy.Pass, Token: g.token.ID})
			w.listen(now)
		}
	}
	return actions
}

func (w *twin) leave(id ident.Token) {
	w.resting = slices.DeleteFunc(w.resting, func(g guest) bool { return g.token.ID == id })
}
