package demo

import (
	"slices"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// holding is at which of the given times a member held a token, by its journal.
func holding(group ident.Group, j audit.Journal, times []uint64) (list []uint64) {
	for _, at := range times {
		if holds(group, j, at) {
			list = append(list, at)
		}
	}
	return list
}

// holds reports whether a member held a token at a time. A volatile member that
// starts again holds none.
func holds(group ident.Group, j audit.Journal, at uint64) bool {
	held := make(map[ident.Token]bool)
	for _, e := range j.Entries {
		if e.At > at {
			break
		}
		switch r := e.Record.(type) {
		case *journal.Incarnation:
			clear(held)
		case *journal.Generated:
			if _, id, err := token.PeekGenesis(group, r.Genesis); err == nil {
				held[ident.Token(id)] = true
			}
		case *journal.Held:
			if t, _, err := token.PeekTransfer(group, r.Transfer); err == nil {
				held[t.Token] = true
			}
		case *journal.Reclaimed:
			held[r.Token] = true
		case *journal.Sent:
			if t, _, err := token.PeekTransfer(group, r.Transfer); err == nil {
				delete(held, t.Token)
			}
		case *journal.Dropped:
			delete(held, r.Token)
		}
	}
	return len(held) > 0
}

// recovery is what followed the kills of holders at these times; nil without any.
func (b *books) recovery(struck []uint64) *Recovery {
	if len(struck) == 0 {
		return nil
	}
	slices.Sort(b.starts)
	r := &Recovery{Kills: len(struck)}
	var gaps []float64
	for _, at := range struck {
		next, _ := slices.BinarySearch(b.starts, at+1)
		if next == len(b.starts) {
			r.Unanswered++
			continue
		}
		gaps = append(gaps, float64(b.starts[next]-at)/1e6)
	}
	if q := quantiles(gaps); q != nil {
		r.P50, r.Max = q.P50, gaps[len(gaps)-1] // quantiles has sorted them
	}
	return r
}
