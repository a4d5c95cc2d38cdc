package node

import (
	"strings"
	"sync"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

const (
	// countsAge is how old the counts of members by state may be.
	countsAge = 15 * time.Second
	// countsPiece is how many members are looked at while the engine waits: about
	// 50 µs. Between two pieces it may go on.
	countsPiece = 1024
	// countsPause is the rest between two pieces. A million members take some
	// three seconds, and 50 ms of processor time.
	countsPause = 2 * time.Millisecond
	// countsPatience is how long a scrape waits for a count that is in progress.
	// Those of groups of some ten thousand are over by then; of larger ones it
	// shows the last.
	countsPatience = 100 * time.Millisecond
)

// memberCounts counts the members that this one knows, by state. The engine waits for
// one piece at a time, and a scrape not for long.
type memberCounts struct {
	engine *engine
	ended  <-chan struct{} // closed when the node has

	mu      sync.Mutex
	counts  map[string]int // the last; never changed
	at      time.Time
	running chan struct{} // closed when the count in progress is over; nil: there is none
}

// count is the number of members in each state, nil when they have not been
// counted yet. The map is not to be changed.
func (c *memberCounts) count() map[string]int {
	c.mu.Lock()
	if c.running == nil && (c.at.IsZero() || time.Since(c.at) >= countsAge) {
		c.running = make(chan struct{})
		go c.run(c.running)
	}
	running := c.running
	c.mu.Unlock()
	if running != nil {
		patience := time.NewTimer(countsPatience)
		defer patience.Stop()
		select {
		case <-running:
		case <-patience.C:
		case <-c.ended:
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// run counts once. It ends early when the node ends.
func (c *memberCounts) run(over chan struct{}) {
	counts := c.pieces()
	c.mu.Lock()
	c.counts, c.at, c.running = counts, time.Now(), nil
	c.mu.Unlock()
	close(over)
}

// pieces counts all members, or those up to where the node ended.
func (c *memberCounts) pieces() map[string]int {
	counts := make(map[string]int)
	for next, more := c.piece(ident.Member{}, counts); more; next, more = c.piece(next, counts) {
		select {
		case <-time.After(countsPause):
		case <-c.ended:
			return counts
		}
	}
	return counts
}

// piece adds the members from one on to the counts, as many as are looked at at
// a time, and says with which to go on.
func (c *memberCounts) piece(from ident.Member, counts map[string]int) (next ident.Member, more bool) {
	c.engine.look(func(m *member.Member) {
		left := countsPiece
		for id, err := range m.States(from) {
			if left == 0 {
				next, more = id, true
				return
			}
			counts[stateLabel(err)]++
			left--
		}
	})
	return next, more
}

// stateLabel is a member's state as a label.
func stateLabel(ineligible error) string { return strings.ReplaceAll(stateOf(ineligible), " ", "_") }
