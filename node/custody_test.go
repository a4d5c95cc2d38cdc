package node_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// custody is one member's custody of a token at one hop, as its journal says.
type custody struct {
	who      string // the process: a clone of m1 is m1'
	from, to uint64 // µs since 1970; to is 0 while it lasts
	next     string // who it was given to
	back     bool   // it came back by a void
	answered bool   // by a receipt
}

// chronicle is what the journals of a group say: the custodies of each token by
// hop, which begin from a transfer that is in its sender's journal.
type chronicle struct {
	group   ident.Group
	names   map[ident.Member]string
	tokens  map[ident.Token]map[uint64][]*custody
	dropped int
	// clockless: the members' clocks do not agree, their times mean nothing.
	clockless bool
	starts    map[string][]ident.Grant // grants without an end, by member
}

// readJournals reads the journals of members by name. They may be of members
// that run or that were killed.
func readJournals(t testing.TB, dirs map[string]string, ids map[ident.Member]string) *chronicle {
	t.Helper()
	c := &chronicle{
		names: ids, tokens: make(map[ident.Token]map[uint64][]*custody), starts: make(map[string][]ident.Grant),
	}
	for name, dir := range dirs {
		for _, r := range readJournal(t, dir, &c.group) {
			require.NoError(t, c.record(name, r), name)
		}
	}
	return c
}

// readJournal is every record of one journal, oldest first.
func readJournal(t testing.TB, dir string, g *ident.Group) (list []journal.Stamped) {
	t.Helper()
	for f, err := range store.Frames(nil, dir) {
		if errors.Is(err, journal.ErrTorn) {
			break
		}
		require.NoError(t, err, dir)
		if f.FromCheckpoint || len(f.Body) == 0 {
			continue
		}
		*g = f.Segment.Group
		at, r, err := journal.Decode(f.Body)
		require.NoError(t, err, dir)
		list = append(list, journal.Stamped{At: at, Record: r})
	}
	return list
}

func (c *chronicle) record(who string, s journal.Stamped) error {
	switch r := s.Record.(type) {
	case *journal.Incarnation:
		c.forget(who, s.At)
	case *journal.Generated:
		_, h, err := token.PeekGenesis(c.group, r.Genesis)
		c.gain(who, ident.Token(h), 0, s.At)
		return err
	case *journal.Held:
		b, _, err := token.PeekTransfer(c.group, r.Transfer)
		c.gain(who, b.Token, b.Hop, s.At)
		return err
	case *journal.Sent:
		b, _, err := token.PeekTransfer(c.group, r.Transfer)
		if err != nil {
			return err
		}
		return c.lose(who, b.Token, b.Hop-1, s.At, c.names[b.To])
	case *journal.Closed:
		if own := c.own(who, r.Token, r.Hop); own != nil {
			own.answered = len(r.Receipt) > 0
		}
	case *journal.Reclaimed:
		c.gain(who, r.Token, r.Hop, s.At)
		c.own(who, r.Token, r.Hop).back = true
	case *journal.Dropped:
		c.dropped++
		return c.lose(who, r.Token, r.Hop, s.At, "")
	case *journal.Started:
		c.starts[who] = append(c.starts[who], r.Grant)
	case *journal.Ended:
		for i, g := range c.starts[who] {
			if g == r.Grant {
				c.starts[who] = append(c.starts[who][:i], c.starts[who][i+1:]...)
				break
			}
		}
	}
	return nil
}

func (c *chronicle) gain(who string, t ident.Token, hop, at uint64) {
	if c.tokens[t] == nil {
		c.tokens[t] = make(map[uint64][]*custody)
	}
	c.tokens[t][hop] = append(c.tokens[t][hop], &custody{who: who, from: at})
}

func (c *chronicle) own(who string, t ident.Token, hop uint64) *custody {
	for _, x := range c.tokens[t][hop] {
		if x.who == who {
			return x
		}
	}
	return nil
}

func (c *chronicle) lose(who string, t ident.Token, hop, at uint64, next string) error {
	own := c.own(who, t, hop)
	if own == nil || own.to != 0 {
		return fmt.Errorf("hop %d of %v given away without custody", hop, t)
	}
	own.to, own.next = at, next
	return nil
}

// forget ends what an earlier incarnation remembered.
func (c *chronicle) forget(who string, at uint64) {
	for _, hops := range c.tokens {
		for _, list := range hops {
			for _, x := range list {
				if x.who == who && x.to == 0 {
					x.to = at
				}
			}
		}
	}
}

// last is the highest hop of a token.
func (c *chronicle) last(t ident.Token) (hop uint64) {
	for h := range c.tokens[t] {
		hop = max(hop, h)
	}
	return hop
}

// requireOne checks that a token was never in two places and never in none:
// one custody for each hop, from hop 0 without a gap, each by the transfer that
// ended the one before and not before it; and in the end somebody holds it, or
// still sends it to somebody who does not have it yet.
func (c *chronicle) requireOne(t testing.TB, id ident.Token) {
	t.Helper()
	end := c.requireChain(t, id)
	require.True(t, end.to == 0 || end.next != "", "the token is with nobody after hop %d", c.last(id))
}

// requireChain checks the same but for the end: who had the token last may have lost it.
func (c *chronicle) requireChain(t testing.TB, id ident.Token) *custody {
	t.Helper()
	hops, last := c.tokens[id], c.last(id)
	require.Equal(t, int(last)+1, len(hops), "hops with custody")
	for h := range last + 1 {
		require.Equal(t, 1, len(hops[h]), "custodies of hop %d", h)
		if h == 0 {
			continue
		}
		before, now := hops[h-1][0], hops[h][0]
		require.NotZero(t, before.to, "hop %d is held although %s still has hop %d", h, before.who, h-1)
		if !c.clockless {
			require.LessOrEqual(t, before.to, now.from, "hop %d begins before hop %d ends", h, h-1)
		}
		given := before.next
		if now.back {
			given = before.who
		}
		require.Equal(t, given, strings.TrimSuffix(now.who, "'"), "who was given hop %d", h)
	}
	end := hops[last][0]
	require.False(t, end.answered, "the receipt for hop %d is there, the token is not", last+1)
	return end
}
