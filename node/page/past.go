package page

import (
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/history"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// past is what has happened that is new to a listener. All times are in milliseconds of the daemon's boot clock.
type past struct {
	First    bool      `json:"first,omitempty"` // it is all that is known
	NowMS    int64     `json:"now_ms"`
	Sights   []sight   `json:"sights,omitempty"`
	Runs     []run     `json:"runs,omitempty"`
	Waits    []wait    `json:"waits,omitempty"`
	Overlaps []overlap `json:"overlaps,omitempty"` // all of them
}

// sight is that a member had a token.
type sight struct {
	Resource string       `json:"resource"`
	Token    ident.Token  `json:"token"`
	Hop      uint64       `json:"hop"`
	Member   ident.Member `json:"member"`
	AtMS     int64        `json:"at_ms"`
	How      api.How      `json:"how"`
}

// run is one program that ran under a token. It is told again when it has ended.
type run struct {
	ID       uint64       `json:"id"`
	Resource string       `json:"resource"`
	Token    ident.Token  `json:"token"`
	Member   ident.Member `json:"member"`
	FromMS   int64        `json:"from_ms"`
	ToMS     int64        `json:"to_ms,omitempty"` // absent: it runs, as far as is known
	How      api.How      `json:"how"`
}

// wait is one wait of a program of this member.
type wait struct {
	Resource string `json:"resource"`
	FromMS   int64  `json:"from_ms"`
	ToMS     int64  `json:"to_ms"`
	Granted  bool   `json:"granted"`
}

// overlap is a time in which more programs ran than there are slots.
type overlap struct {
	Resource string `json:"resource"`
	FromMS   int64  `json:"from_ms"`
	ToMS     int64  `json:"to_ms"`
}

func millis(t clock.Instant) int64 { return int64(t) / 1e6 }

// newsOf is what is new after a sequence number, and the number to ask with next.
func newsOf(l *history.Log, seq uint64, now clock.Instant) (past, uint64) {
	news := l.Since(seq, now)
	p := past{First: seq == 0, NowMS: millis(now)}
	for _, s := range news.Sightings {
		p.Sights = append(p.Sights, sight{s.Resource, s.Token, s.Hop, s.Holder, millis(s.At), s.How})
	}
	for _, o := range news.Operations {
		r := run{ID: o.ID, Resource: o.Resource, Token: o.Token, Member: o.Member, FromMS: millis(o.Begun), How: o.How}
		if o.Ended != 0 {
			r.ToMS = max(1, millis(o.Ended))
		}
		p.Runs = append(p.Runs, r)
	}
	for _, w := range news.Waits {
		p.Waits = append(p.Waits, wait{w.Resource, millis(w.Asked), millis(w.Answered), w.Outcome == granted})
	}
	return p, news.Next
}

// granted is the outcome of a wait that ended with a grant.
const granted = "granted"

// overlapsOf are the overlaps of the resources whose policy aims at none.
func overlapsOf(l *history.Log, resources []api.ResourceStatus, now clock.Instant) (list []overlap) {
	all := l.Since(0, now).Operations
	for i := range resources {
		r := &resources[i]
		if catalog.Several(r.Policy) {
			continue
		}
		for _, s := range history.Overlaps(all, r.Name, max(1, len(r.Slots)), now) {
			list = append(list, overlap{r.Name, millis(s.From), millis(s.To)})
		}
	}
	return list
}
