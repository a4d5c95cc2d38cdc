package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// childCommand makes the program one of the two processes of a measurement.
const childCommand = "child"

// role is what one of the two processes is, as JSON in its argument.
type role struct {
	Subject string // one of subjects
	Name    string // of the member
	Dir     string // with the member's files
	Peer    string // the address to dial; empty: listen only, and be first
	Tokens  int
	Profile string // file for a CPU profile, or empty

	Listen, Advertise string // of a member behind a relay; or empty
}

// sample is what a process has done and used since it began.
type sample struct {
	Address  string
	At       clock.Instant
	CPU      time.Duration // user and system
	Handoffs uint64
	Syncs    uint64 // batches written to the journal

	Connections int // that are open, of a member
}

// player is one end of what is measured.
type player interface {
	Address() string
	// Count is the number of handoffs that ended here with a receipt, and of
	// batches written to the journal.
	Count() (handoffs, syncs uint64)
	Close()
}

// runChild plays a role until in ends. It answers each line of in with a
// sample, and says the first when it is ready.
func runChild(args []string, in io.Reader, out io.Writer) error {
	var r role
	if len(args) != 1 {
		return fmt.Errorf("%s wants one argument", childCommand)
	}
	if err := json.Unmarshal([]byte(args[0]), &r); err != nil {
		return err
	}
	play := subjects[r.Subject]
	if r.Subject == idleSubject {
		play = playIdle
	}
	if play == nil {
		return fmt.Errorf("no subject %q", r.Subject)
	}
	p, err := play(r)
	if err != nil {
		return err
	}
	defer p.Close()
	stop, err := profile(r.Profile)
	if err != nil {
		return err
	}
	defer stop()
	answers := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for more := true; more; more = lines.Scan() {
		s, err := take(p)
		if err != nil {
			return err
		}
		if err := answers.Encode(s); err != nil {
			return err
		}
	}
	return lines.Err()
}

func take(p player) (sample, error) {
	cpu, err := cpuTime()
	s := sample{Address: p.Address(), At: boottime.Now(), CPU: cpu}
	s.Handoffs, s.Syncs = p.Count()
	if m, ok := p.(member); ok {
		s.Connections = m.Traffic().Connections
	}
	return s, err
}
