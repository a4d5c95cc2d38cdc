package live_test

import (
	"bytes"
	"sync"
)

// logBook is the log of a node, which tests read while it is written.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// lines counts the lines that contain all of these texts.
func (l *logBook) lines(with ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
next:
	for line := range bytes.Lines(l.b.Bytes()) {
		for _, text := range with {
			if !bytes.Contains(line, []byte(text)) {
				continue next
			}
		}
		n++
	}
	return n
}

// tail is the end of the log.
func (l *logBook) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	const most = 3 << 10
	return string(l.b.Bytes()[max(0, l.b.Len()-most):])
}
