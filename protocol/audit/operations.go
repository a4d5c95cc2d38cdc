package audit

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

const (
	// killMargin is from the instant at which a grant's program is killed to its
	// deadline, as members have it.
	killMargin = 250 * time.Millisecond
	// late is how long after its deadline an end may be written by a member that
	// was there all the time, before that is held against it: a busy machine, a
	// slow disk.
	late = 5 * time.Second
)

// run is one operation.
type run struct {
	resource string
	member   ident.Member
	from, to uint64
	in       Place // of the record of its grant
}

func (r *Reader) started(e Entry, rec *journal.Started) {
	h := hop{rec.Token, rec.Hop}
	if !r.begun("grant", h.token, h.number) {
		return
	}
	if r.open[h] == nil {
		r.find(Misfit, h.token, h.number, "grant without custody", r.member)
	}
	if _, busy := r.running[h]; busy {
		r.find(Busy, h.token, h.number, "granted again", r.member)
	}
	r.running[h] = rec.Grant
	g := &grant{hop: h, resource: rec.Resource, from: e.At, in: r.place()}
	if r.partial() {
		if longest, ok := r.trust.maxHold(rec.Resource); ok {
			g.bound = e.At + uint64((longest + killMargin).Microseconds())
		}
	}
	r.grants[rec.Grant] = g
}

func (r *Reader) ended(e Entry, rec *journal.Ended) {
	g, known := r.grants[rec.Grant]
	if !known || r.running[g.hop] != rec.Grant {
		return
	}
	delete(r.running, g.hop)
	delete(r.grants, rec.Grant)
	if !rec.Operated || !r.partial() {
		return
	}
	r.runs = append(r.runs, run{g.resource, r.member, g.from, max(g.from, e.At), g.in})
	if g.alive > 0 && e.At > g.alive+uint64(late.Microseconds()) {
		r.add(Finding{
			Kind: Outlived, Token: g.hop.token, Hop: g.hop.number, Members: []ident.Member{r.member}, At: e.At,
			Records: places(g.in, r.place()),
			Detail:  fmt.Sprintf("it ran for %v, permitted are %v", micros(e.At-g.from), micros(g.bound-g.from)),
		})
	}
}

// notice remembers for each grant that its member was there when its deadline had
// passed. A member that was not, ends its grants when it comes back.
func (r *Reader) notice(at uint64) {
	for _, g := range r.grants {
		if g.alive == 0 && g.bound > 0 && at >= g.bound {
			g.alive = at
		}
	}
}

func micros(n uint64) time.Duration {
	return time.Duration(min(n, lastTime/1000)) * time.Microsecond
}
