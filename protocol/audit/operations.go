package audit

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/group"
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

// operation is one grant under which a program may have run: in no other time than
// from the first to the second, and certainly from when to when it was seen. All
// times are by its member's clock.
type operation struct {
	resource         string
	member           ident.Member
	hop              hop
	in               RecordRef // of the record of its grant
	from, to         uint64
	seenFrom, seenTo uint64 // both 0: nobody saw it
	end              knownEnd
	asker            *journal.Asker
}

// knownEnd is what is known of an operation's end.
type knownEnd uint8

const (
	endKnown   knownEnd = iota
	endBounded          // found past its deadline at a restart: it ended no later than that
	endOpen             // no record of it is at hand: running, or unknown
)

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
	g := &grant{hop: h, resource: rec.Resource, from: e.At, in: r.ref(), asker: rec.Asker}
	if r.partial() {
		g.bound = r.deadline(e.At, rec)
	}
	r.grants[rec.Grant] = g
	r.checkWindows(e, rec)
}

// checkWindows finds a grant that was outside the windows of its resource by the clock of its member. Which configuration the member
// had in force is not known for certain, so what one of them permits is permitted.
func (r *Reader) checkWindows(e Entry, rec *journal.Started) {
	from := time.UnixMicro(int64(min(e.At, lastTime)))
	until := from.Add(time.Duration(min(rec.Length, uint64(group.MaxLifetime))) - killMargin - windowMargin)
	if !r.partial() || r.trust.permits(rec.Resource, from, until) {
		return
	}
	r.addOnce(Finding{
		Kind: Closed, Token: rec.Token, Hop: rec.Hop, Members: []ident.Member{r.member}, At: e.At, Records: refs(r.ref()),
		Detail: fmt.Sprintf("resource %q, from %s to %s", rec.Resource, from.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339)),
	})
}

// windowMargin is what rounding may make of the end of a grant.
const windowMargin = time.Millisecond

// deadline is when a grant's program has to be dead, 0 if nothing tells.
func (r *Reader) deadline(from uint64, rec *journal.Started) uint64 {
	length := rec.Length / uint64(time.Microsecond)
	if length == 0 {
		longest, ok := r.trust.maxHold(rec.Resource)
		if !ok {
			return 0
		}
		length = uint64((longest + killMargin).Microseconds())
	}
	return min(from+min(length, lastTime)+1, lastTime)
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
	o := r.over(g, e.At, rec)
	r.operations = append(r.operations, o)
	if detail := o.outlived(g, e.At); detail != "" {
		r.add(Finding{
			Kind: Outlived, Token: g.hop.token, Hop: g.hop.number, Members: []ident.Member{r.member}, At: e.At,
			Records: refs(g.in, r.ref()), Detail: detail,
		})
	}
}

// outlived says in what way an operation, whose end was written at a time, may have
// outlived its grant, and is empty if nothing tells so. A member that runs late writes
// late: where the program was looked at, only the looks count. A machine that stood still
// over the deadline kills the program when it goes on.
func (o *operation) outlived(g *grant, at uint64) string {
	margin, permitted := uint64(late.Microseconds()), micros(g.bound-min(g.from, g.bound))
	switch {
	case g.alive == 0:
	case o.seenTo > g.alive+margin:
		return fmt.Sprintf("it was seen running %v after its start, permitted are %v", micros(o.seenTo-g.from), permitted)
	case o.seenTo == 0 && at > g.alive+margin:
		return fmt.Sprintf("nobody saw it end, and its end was written %v after its start, permitted are %v", micros(at-g.from), permitted)
	}
	return ""
}

// over is an operation whose end was written at a time.
func (r *Reader) over(g *grant, at uint64, rec *journal.Ended) operation {
	o := r.operation(g)
	o.to = at
	if rec.Cause == journal.EndRestarted {
		o.end = endBounded
		if g.bound > 0 {
			o.to = min(at, g.bound)
		}
	} else {
		o.end = endKnown
	}
	if o.to < o.from { // the clock was set back meanwhile, and nobody knows when
		length := max(g.bound, g.from) - g.from
		o.from, o.to = o.to-min(o.to, length), o.from+length
	}
	if o.from <= rec.SeenFrom && rec.SeenFrom < rec.SeenTo && rec.SeenTo <= o.to {
		o.seenFrom, o.seenTo = rec.SeenFrom, rec.SeenTo
	}
	return o
}

// operation is one without a known end. It lasts for as long as it may.
func (r *Reader) operation(g *grant) operation {
	o := operation{resource: g.resource, member: r.member, hop: g.hop, in: g.in, from: g.from, to: g.bound, end: endOpen, asker: g.asker}
	if g.bound == 0 {
		o.to = lastTime
	}
	return o
}

// unended takes down grants without an end.
func (r *Reader) unended(grants map[ident.Grant]*grant) {
	if !r.partial() {
		return
	}
	for _, g := range grants {
		r.operations = append(r.operations, r.operation(g))
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
