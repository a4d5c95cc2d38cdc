package node

import (
	"sync"
	"time"
)

const (
	// reportPause is how often a line of one kind is logged at most: what a
	// peer can cause must not fill a disk.
	reportPause = 10 * time.Second
	// reportKinds bounds the kinds that are told apart.
	reportKinds = 256
)

// limiter limits how often things are logged. The zero value is ready.
type limiter struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// allow reports whether a line of this kind may be logged now.
func (l *limiter) allow(kind string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.last == nil || len(l.last) >= reportKinds {
		l.last = make(map[string]time.Time)
	}
	if at, ok := l.last[kind]; ok && now.Sub(at) < reportPause {
		return false
	}
	l.last[kind] = now
	return true
}
