package service

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"
)

// notices is a log that strangers can cause lines in, but not fill a disk with.
type notices struct {
	log     *slog.Logger
	now     func() time.Time
	lines   single
	dropped atomic.Uint64
}

func newNotices(log *slog.Logger, now func() time.Time) *notices {
	return &notices{log: log, now: now, lines: single{rate: rate{linesPerSecond, lineBurst}}}
}

func (n *notices) note(level slog.Level, message string, args ...any) {
	if !n.log.Enabled(context.Background(), level) {
		return
	}
	if n.lines.take(n.now()) > 0 {
		n.dropped.Add(1)
		return
	}
	if left := n.dropped.Swap(0); left > 0 {
		args = append(args, "lines_left_out", left)
	}
	n.log.Log(context.Background(), level, message, args...)
}

// Write takes in what net/http logs: failed handshakes, mostly.
func (n *notices) Write(line []byte) (int, error) {
	n.note(slog.LevelDebug, "connection", "error", strings.TrimSpace(strings.ToValidUTF8(string(line), "?")))
	return len(line), nil
}
