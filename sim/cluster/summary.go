package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// Summary adds up the results of many runs, by mix.
type Summary struct {
	Failed []uint64 // seeds, in the order in which they were added
	mixes  [mixes]column
}

type column struct {
	runs                                       int
	virtual                                    time.Duration
	members, crashes, stops, checkpoints       int
	configurations, cuts, clocks               int
	messages, lost, repeated, late, broken     int
	handoffs, retransmitted, reclaimed, grants int
	tokens, dropped, overlaps                  int
	holder, receiver, orphan, unknown          int
}

// Add adds a result.
func (s *Summary) Add(r *Result) {
	if r.Err() != nil {
		s.Failed = append(s.Failed, r.Seed)
	}
	c := &s.mixes[r.Mix]
	c.runs++
	c.virtual += r.Virtual
	c.members += r.Members
	c.crashes += r.Crashes
	c.stops += r.Stops
	c.checkpoints += r.Checkpoints
	c.configurations += r.Configurations
	c.cuts += r.Cuts
	c.clocks += r.Clocks
	c.messages += r.Messages
	c.lost += r.Lost
	c.repeated += r.Repeated
	c.late += r.Late
	c.broken += r.Broken
	c.handoffs += r.Handoffs
	c.retransmitted += max(0, r.Sent[wire.TypeTransfer]-r.Records[journal.KindSent])
	c.reclaimed += r.Records[journal.KindReclaimed]
	c.grants += r.Grants
	c.tokens += r.Tokens
	c.dropped += r.Fates[audit.Dropped]
	c.holder += r.Fates[audit.LostHolder]
	c.receiver += r.Fates[audit.LostReceiver]
	c.orphan += r.Fates[audit.LostOrphan]
	c.unknown += r.Fates[audit.LostUnknown]
	for _, f := range r.Findings {
		if f.Kind == audit.Overlap {
			c.overlaps++
		}
	}
}

// Crashes is how many there were in all.
func (s *Summary) Crashes() int { return s.sum(func(c *column) int { return c.crashes }) }

// Handoffs is how many there were in all.
func (s *Summary) Handoffs() int { return s.sum(func(c *column) int { return c.handoffs }) }

// Runs is how many there were in all.
func (s *Summary) Runs() int { return s.sum(func(c *column) int { return c.runs }) }

func (s *Summary) sum(of func(*column) int) int {
	n := 0
	for i := range s.mixes {
		n += of(&s.mixes[i])
	}
	return n
}

// String is the table.
func (s *Summary) String() string {
	var b strings.Builder
	row := func(name string, of func(*column) int) {
		fmt.Fprintf(&b, "%-34s", name)
		for i := range s.mixes {
			fmt.Fprintf(&b, "%12d", of(&s.mixes[i]))
		}
		fmt.Fprintf(&b, "%12d\n", s.sum(of))
	}
	fmt.Fprintf(&b, "%-34s%12s%12s%12s%12s\n", "members", "durable", "volatile", "mixed", "all")
	row("seeds", func(c *column) int { return c.runs })
	row("virtual time, minutes", func(c *column) int { return int(c.virtual.Minutes()) })
	row("members", func(c *column) int { return c.members })
	row("crashes", func(c *column) int { return c.crashes })
	row("orderly stops", func(c *column) int { return c.stops })
	row("checkpoints", func(c *column) int { return c.checkpoints })
	row("changes of configuration", func(c *column) int { return c.configurations })
	row("cuts through the network", func(c *column) int { return c.cuts })
	row("clocks set", func(c *column) int { return c.clocks })
	row("connections broken", func(c *column) int { return c.broken })
	row("messages", func(c *column) int { return c.messages })
	row("  lost", func(c *column) int { return c.lost })
	row("  repeated", func(c *column) int { return c.repeated })
	row("  late", func(c *column) int { return c.late })
	row("handoffs", func(c *column) int { return c.handoffs })
	row("transfers sent again", func(c *column) int { return c.retransmitted })
	row("transfers declined and reclaimed", func(c *column) int { return c.reclaimed })
	row("operations", func(c *column) int { return c.grants })
	row("tokens", func(c *column) int { return c.tokens })
	row("  dropped by their policy", func(c *column) int { return c.dropped })
	row("  lost with a volatile holder", func(c *column) int { return c.holder })
	row("  lost with a volatile receiver", func(c *column) int { return c.receiver })
	row("  orphaned by a volatile sender", func(c *column) int { return c.orphan })
	row("  lost otherwise", func(c *column) int { return c.unknown })
	row("custody of one token twice", func(c *column) int { return c.overlaps })
	fmt.Fprintf(&b, "%-34s%60d\n", "seeds that broke a rule", len(s.Failed))
	return b.String()
}
