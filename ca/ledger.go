package ca

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ledger is the log of an authority, what it says, and what is made from it. Authority
// guards it: only now may be called without Authority.locked.
type ledger struct {
	options Options
	folder  folder
	state   *state // nil before the log was read
	end     chain
	broken  bool // an operation failed half-way
}

// now is the time in the precision of the log.
func (l *ledger) now() time.Time { return l.options.now() }

// locked calls change with the lock of the folder held and the state up to date. What
// fails before anything was written leaves the ledger usable, and broken is set
// otherwise.
func (l *ledger) locked(change func(l *ledger) error) error {
	if l.broken {
		return ErrBroken
	}
	lock, err := l.folder.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := l.refresh(); err != nil {
		return err
	}
	return change(l)
}

// refresh reads on in the log if it is not as this process left it, cuts off
// what a crash left unfinished, and makes what is made from the log.
func (l *ledger) refresh() error {
	size, err := l.folder.size(LogFile)
	if err != nil {
		return err
	}
	if l.state != nil && size == l.end.size {
		return nil
	}
	if size < l.end.size {
		return &damageError{file: l.folder.name(LogFile), reason: errShrunk}
	}
	return l.readOn()
}

// readOn reads what is behind the end of the log that is known.
func (l *ledger) readOn() error {
	s, file := l.state, l.folder.name(LogFile)
	if s == nil {
		s = newState()
	}
	data, err := l.folder.disk.ReadFrom(file, l.end.size)
	if err != nil {
		return err
	}
	l.broken = true // until the state is whole again
	end, err := l.end.read(file, data, s.take)
	if err != nil {
		return err
	}
	if len(s.authorities) == 0 {
		return &damageError{file: file, reason: errCreation}
	}
	if err := l.folder.settle(LogFile, end.size); err != nil {
		return err
	}
	if err := l.folder.publishAll(s); err != nil {
		return err
	}
	l.state, l.end, l.broken = s, end, false
	return nil
}

// record makes an entry happen: durable in the log, then in the state, then in
// what is made from both. On an error this ledger is of no further use,
// because it cannot know how far the entry got.
func (l *ledger) record(e entry) error {
	e, line, err := l.end.encode(e)
	if err != nil {
		return err
	}
	l.broken = true
	if err := l.folder.append(LogFile, line, l.end.size); err != nil {
		return err
	}
	if err := l.state.take(e); err != nil {
		return err
	}
	l.end.follow(e, len(line))
	if err := l.folder.publishLast(l.state); err != nil {
		return err
	}
	l.broken = false
	return nil
}

// drawSerial draws the next serial number and writes to disk that it is drawn. It is
// never drawn again, whether or not the caller uses it.
func (l *ledger) drawSerial() (uint64, error) {
	text, err := l.folder.read(serialFile, maxPlain)
	if err != nil {
		return 0, err
	}
	var drawn uint64
	if text != nil {
		drawn, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return 0, &damageError{file: l.folder.name(serialFile), reason: errors.New("not a number")}
		}
	}
	next := max(drawn, l.state.lastSerial()) + 1
	return next, l.folder.write(serialFile, fmt.Appendf(nil, "%d\n", next))
}
