package node

import (
	"strings"
	"sync"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

const (
	// censusAge is how old the counts of members by state may be.
	censusAge = 15 * time.Second
	// censusPiece is how many members are looked at while the engine waits: some
	// 50 µs. Between two pieces it may go on.
	censusPiece = 1024
	// censusPause is the rest between two pieces. A million members take some
	// three seconds, and 50 ms of processor time.
	censusPause = 2 * time.Millisecond
	// censusPatience is how long a scrape waits for a count that is under way.
	// Those of groups of some ten thousand are over by then; of larger ones it
	// shows the last.
	censusPatience = 100 * time.Millisecond
)

// census counts the members that this one knows, by state. The engine waits for
// one piece at a time, and a scrape not for long.
type census struct {
	engine *engine
	ended  <-chan struct{} // closed when the node has

	mu      sync.Mutex
	counts  map[string]int // the last; never changed
	at      time.Time
	running chan struct{} // closed when the count under way is over; nil: there is none
}

// count is the number of members in each state, nil when they have not been
// counted yet. The map is not to be changed.
func (c *census) count() map[string]int {
	c.mu.Lock()
	if c.running == nil && (c.at.IsZero() || time.Since(c.at) >= censusAge) {
		c.running = make(chan struct{})
		go c.run(c.running)
	}
	running := c.running
	c.mu.Unlock()
	if running != nil {
		patience := time.NewTimer(censusPatience)
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
func (c *census) run(over chan struct{}) {
	counts := c.pieces()
	c.mu.Lock()
	c.counts, c.at, c.running = counts, time.Now(), nil
	c.mu.Unlock()
	close(over)
}

// pieces counts all members, or those up to where the node ended.
func (c *census) pieces() map[string]int {
	counts := make(map[string]int)
	for next, more := c.piece(ident.Member{}, counts); more; next, more = c.piece(next, counts) {
		select {
		case <-time.After(censusPause):
		case <-c.ended:
			return counts
		}
	}
	return counts
}

// piece adds the members from one on to the counts, as many as are looked at at
// a time, and says with which to go on.
func (c *census) piece(from ident.Member, counts map[string]int) (next ident.Member, more bool) {
	c.engine.look(func(m *member.Member) {
		left := censusPiece
		for id, standing := range m.Standings(from) {
			if left == 0 {
				next, more = id, true
				return
			}
			counts[stateLabel(standing)]++
			left--
		}
	})
	return next, more
}

// stateLabel is a member's state as a label.
func stateLabel(standing error) string { return strings.ReplaceAll(stateOf(standing), " ", "_") }
