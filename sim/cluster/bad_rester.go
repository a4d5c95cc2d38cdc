package cluster

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/wire"
)

// rester promises all others that its token rests when a program begins under it, and runs that to its deadline. Meanwhile it says
// that it has no token, or answers no question for one. So a keeper makes another token beside it at once. Then it passes the token
// on, as an honest member.
type rester struct {
	meek
	n     *node
	quiet bool
	says  *wire.Policy  // a keeper's message, of which the others are made
	under hop           // under which its program runs
	until time.Duration // the deadline of that
	told  int           // promises
	asked int           // questions that it has answered falsely, or not
}

func newRester(n *node) badness      { return &rester{n: n} }
func newResterQuiet(n *node) badness { return &rester{n: n, quiet: true} }

// isRunning reports whether a program runs there that it has not told of.
func (r *rester) isRunning() bool { return r.n.c.now < r.until && r.n.c.running[r.under.token] != nil }

func (r *rester) lasts(e effect.Grant, _ time.Duration) time.Duration {
	r.under, r.until = hop{e.Token, e.Hop}, r.n.virtual(e.Deadline)
	r.promises()
	return math.MaxInt64 - r.n.c.now
}

// promises tells all others that the token rests.
func (r *rester) promises() {
	if r.says == nil {
		return
	}
	r.told++
	m := *r.says
	m.Body = binary.BigEndian.AppendUint64(append([]byte{keeperRest}, r.under.token[:]...), r.under.number)
	m.Body = binary.BigEndian.AppendUint64(m.Body, math.MaxUint64) // a life that its policy never has
	m.Body = binary.BigEndian.AppendUint32(m.Body, uint32(r.told))
	for _, o := range r.n.c.nodes.honest() {
		r.n.bad.adds(o.id, &m)
	}
}

func (r *rester) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Policy)
	switch keeperKind(e.Message) {
	case keeperHave, keeperRest, keeperReturned, keeperWent, keeperNone:
	default:
		ok = false
	}
	if ok {
		r.says = m
	}
	if !ok || !r.isRunning() {
		return []effect.Send{e}
	}
	r.asked++
	if r.quiet {
		return nil
	}
	none := *m
	none.Body = binary.BigEndian.AppendUint32([]byte{keeperNone}, math.MaxUint32)
	return []effect.Send{{To: e.To, Message: &none}}
}
