package demo

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// pollEvery is how often the members are asked for their status.
	pollEvery = 250 * time.Millisecond
	// holderTries is how often the members are asked who holds a token before nobody
	// is killed: it is in progress for a small part of the time.
	holderTries = 20
	// stopPatience is how long members may take for each way of being told to
	// stop.
	stopPatience = 2 * time.Second
)

// Screen shows how a demo goes.
type Screen interface {
	// Show is called several times a second with the members' state.
	Show(View)
	// Close is called before the summary.
	Close()
}

// Prepare checks the options, names the preset and makes the folder: what Run
// is given differs from o in these. All that it finds is ErrOptions.
func Prepare(o Options) (Options, error) {
	if err := o.validate(); err != nil {
		return o, err
	}
	o.Preset = o.preset()
	var err error
	o.Dir, err = folder(o.Dir)
	return o, err
}

// Run runs a demo until its time is over or ctx ends, and returns what the
// journals say. The members have stopped when it returns. Prepare has made o.
func Run(ctx context.Context, o Options, screen Screen) (Summary, error) {
	dir := o.Dir
	members, err := makeGroup(o, dir)
	defer release(members)
	if err != nil {
		return Summary{}, err
	}
	cut, err := tether(members)
	if err != nil {
		return Summary{}, err
	}
	defer cut()
	ran, err := runMembers(ctx, o, members, screen)
	screen.Close()
	if err != nil {
		return Summary{}, fmt.Errorf("%w (logs are in %s)", err, dir)
	}
	s, err := tally(o, members)
	s.Seconds = ran.Seconds()
	s.Journals = dir
	if err != nil {
		return s, fmt.Errorf("journals in %s: %w", dir, err)
	}
	return s, nil
}

// tether gives all members a pipe to read from that nobody writes to. It ends
// when cut is called and when this process ends, be it by SIGKILL, and the
// members end with it.
func tether(members []*process) (cut func(), err error) {
	input, output, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	for _, p := range members {
		p.input = input
	}
	return func() {
		output.Close()
		input.Close()
	}, nil
}

// folder makes the folder of a run.
func folder(dir string) (string, error) {
	if dir == "" {
		dir, err := os.MkdirTemp("", "wander-demo-")
		if err != nil {
			return "", fmt.Errorf("%w: no temporary folder: %w; name one with --dir", ErrOptions, err)
		}
		return dir, nil
	}
	whole, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(whole, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("%w: --dir %s: %w; name a new or empty folder in a place where you may write", ErrOptions, dir, err)
	}
	if entries, err := os.ReadDir(whole); err == nil && len(entries) > 0 {
		return "", fmt.Errorf("%w: --dir %s: the folder must be new or empty", ErrOptions, dir)
	}
	return whole, nil
}

func release(members []*process) {
	for _, p := range members {
		if p != nil {
			p.release()
		}
	}
}

// runMembers starts all members, lets them run, and stops them. It returns for
// how long they ran, without the stopping.
func runMembers(ctx context.Context, o Options, members []*process, screen Screen) (ran time.Duration, err error) {
	defer stopAll(members)
	began := time.Now()
	defer func() { ran = time.Since(began) }() // before stopAll
	return 0, play(ctx, o, members, screen)
}

// play starts all members and looks after them until the time is over.
func play(ctx context.Context, o Options, members []*process, screen Screen) error {
	ctx, cancel := context.WithTimeout(ctx, o.For)
	defer cancel()
	for _, p := range members {
		if err := p.start(); err != nil {
			return err
		}
	}
	h := &hand{members: members, holders: o.Victim == VictimHolder, away: cmp.Or(o.Away, DefaultAway), rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	if o.Crash > 0 {
		h.every = time.NewTicker(o.Crash)
		defer h.every.Stop()
	}
	began := time.Now()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return h.restore()
		case <-h.due():
			if err := h.strike(); err != nil {
				return err
			}
		case <-h.back:
			if err := h.restore(); err != nil {
				return err
			}
		case <-poll.C:
			pollAll(ctx, members)
			screen.Show(viewOf(members, time.Since(began), o.For))
			if p := h.lost(); p != nil && ctx.Err() == nil { // Ctrl-C reaches them, too
				return fmt.Errorf("member %s has exited unexpectedly", p.name)
			}
		}
	}
}

// hand kills members and starts them again, one at a time.
type hand struct {
	members []*process
	holders bool          // only those that hold a token
	away    time.Duration // how long a killed member stays so
	rng     *rand.Rand
	every   *time.Ticker
	down    *process
	back    <-chan time.Time
}

func (h *hand) due() <-chan time.Time {
	if h.every == nil {
		return nil
	}
	return h.every.C
}

// strike kills a member, if there is one to be killed.
func (h *hand) strike() error {
	if err := h.restore(); err != nil {
		return err
	}
	p := h.victim()
	if p == nil {
		return nil
	}
	h.down = p
	p.kill()
	h.back = time.After(h.away)
	return nil
}

// victim is who is to be killed, or nil.
func (h *hand) victim() *process {
	if !h.holders {
		p := h.members[h.rng.IntN(len(h.members))]
		p.poll(context.Background())
		return p
	}
	for range holderTries {
		pollAll(context.Background(), h.members)
		for _, at := range h.rng.Perm(len(h.members)) {
			if h.members[at].holds() {
				return h.members[at]
			}
		}
	}
	return nil
}

// restore starts the killed member again.
func (h *hand) restore() error {
	h.back = nil
	if h.down == nil {
		return nil
	}
	p := h.down
	h.down = nil
	return p.start()
}

// lost is a member that nobody killed and that runs no more.
func (h *hand) lost() *process {
	for _, p := range h.members {
		if p != h.down && p.dead() {
			return p
		}
	}
	return nil
}

func pollAll(ctx context.Context, members []*process) {
	var wg sync.WaitGroup
	for _, p := range members {
		wg.Go(func() { p.poll(ctx) })
	}
	wg.Wait()
}

func stopAll(members []*process) {
	pollAll(context.Background(), members)
	var wg sync.WaitGroup
	for _, p := range members {
		wg.Go(func() { p.stop(stopPatience) })
	}
	wg.Wait()
}
