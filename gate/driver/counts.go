package driver

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	core "github.com/wandertoken/wander/protocol/gate"
)

// counts are what a gate counts. They only grow.
type counts struct {
	signIns, sessions, broken, observed, evicted, accepted atomic.Uint64

	mu      sync.Mutex
	answers map[string]uint64
	alarms  map[string]uint64
	hooks   map[string]hookCount
}

type hookCount struct {
	succeeded, failed, timedOut uint64
	spent                       time.Duration
}

func newCounts() *counts {
	return &counts{answers: make(map[string]uint64), alarms: make(map[string]uint64), hooks: make(map[string]hookCount)}
}

// said counts an answer.
func (c *counts) said(a core.Answer) {
	kind := "busy"
	switch a := a.(type) {
	case core.OpenAnswer:
		kind = "open"
	case core.RefuseAnswer:
		kind = "refuse: " + a.Code.String()
	case core.ClosedAnswer:
		kind = "closed: " + a.Reason.String()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[kind]++
}

func (c *counts) alarm(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alarms[kind]++
}

func (c *counts) hook(name string, d time.Duration, r core.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.hooks[name]
	h.spent += d
	switch r {
	case core.Succeeded:
		h.succeeded++
	case core.Failed:
		h.failed++
	default:
		h.timedOut++
	}
	c.hooks[name] = h
}

// notes logs trouble that others cause, each kind once in noteEvery.
type notes struct {
	log  *slog.Logger
	mu   sync.Mutex
	last map[string]time.Time
	more map[string]uint64
}

// maxNotes bounds the kinds: their texts are this program's, and errors are cut to these.
const maxNotes = 64

func (n *notes) note(what string, attrs ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if last, ok := n.last[what]; ok && now.Sub(last) < noteEvery || !ok && len(n.last) >= maxNotes {
		n.more[what]++
		return
	}
	n.last[what] = now
	more := n.more[what]
	delete(n.more, what)
	n.log.Warn(what, append(attrs, "unlogged", more)...)
}
