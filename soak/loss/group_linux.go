package main

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/rig"
)

const (
	resource = "x"
	// operation is operation_time; programs of the group take less, but for those that
	// are to be lost.
	operation = time.Second
	// patience bounds the time until somebody runs: what takes longer is stuck.
	patience = 90 * time.Second
	// smallDisk is the size of a disk that can be filled.
	smallDisk = 24 << 20
	lookEvery = 20 * time.Millisecond
)

// band is a group of members, each on its machine.
type band struct {
	options
	*rig.Group
	kase     kase
	preset   string
	mode     string
	onSilent string
	gone     map[int]bool // for good
	notes    io.Writer
}

// open makes the group and starts all members.
func (b *band) open() error {
	b.gone = make(map[int]bool)
	members := b.Members
	if b.kase.revokes {
		members += b.Runs - 1
	}
	var names []string
	for i := range members {
		names = append(names, fmt.Sprintf("m%d", i+1))
	}
	if err := b.Open(names, nil); err != nil {
		return err
	}
	if b.kase.name == "full" {
		for _, m := range b.World.Machines {
			if err := m.MountState(smallDisk); err != nil {
				return err
			}
		}
	}
	if err := b.makeGroup(); err != nil {
		return err
	}
	for i := range b.World.Machines {
		if err := b.Start(i); err != nil {
			return err
		}
	}
	return b.awaitAll()
}

func (b *band) makeGroup() error {
	if err := b.Init("loss"); err != nil {
		return err
	}
	if err := b.Configure(b.groupFile()); err != nil {
		return err
	}
	if err := b.Issue(); err != nil {
		return err
	}
	if err := b.Publish(b.World.Machines...); err != nil {
		return err
	}
	for i := range b.World.Machines {
		var peers []string
		for j := range b.World.Machines {
			if j != i {
				peers = append(peers, b.Address(j))
			}
		}
		if err := b.WriteMember(i, b.mode, peers); err != nil {
			return err
		}
	}
	return nil
}

// revoke revokes a member. Another one hears of it from the authority.
func (b *band) revoke(i, teller int) error {
	if err := b.CA("revoke", b.World.Machines[i].Name, "--reason", "lost"); err != nil {
		return err
	}
	b.gone[i] = true
	if err := b.Publish(b.World.Machines[teller]); err != nil {
		return err
	}
	b.World.Machines[teller].Signal(syscall.SIGHUP)
	return nil
}

func (b *band) groupFile() string {
	text := fmt.Sprintf("gossip_interval = \"5s\"\nsilence = %q\n", b.Silence) + b.Resource(resource, b.preset, operation, b.Hold)
	if b.onSilent != "wait" {
		text += fmt.Sprintf("on_silent_holder = %q\n", b.onSilent)
	}
	return text
}

// awaitAll waits until all members that are not gone for good take each other for members.
func (b *band) awaitAll() error {
	var members []int
	for i := range b.World.Machines {
		if !b.gone[i] {
			members = append(members, i)
		}
	}
	return b.AwaitAll(members)
}

// status asks a member, which may be dead.
func (b *band) status(i int) (s api.Status, ok bool) {
	if b.gone[i] {
		return s, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := b.Clients[i].Status(ctx)
	return s, err == nil
}

// holders are the members that have a token now.
func (b *band) holders() (list []int) {
	for i := range b.Clients {
		if s, ok := b.status(i); ok && len(s.Resources) > 0 && s.Resources[0].Slots[0].Held {
			list = append(list, i)
		}
	}
	return list
}

// count is what a member's daemon has counted since it began.
type count struct {
	at            clock.Instant // when it was asked
	up            time.Duration
	made, dropped uint64
}

// counts are the numbers of tokens that each member's daemon has counted; zero for who
// does not answer.
func (b *band) counts() (list []count) {
	for i := range b.Clients {
		s, _ := b.status(i)
		list = append(list, count{boottime.Now(), time.Duration(s.UptimeS * float64(time.Second)), s.Tokens.Generated, s.Tokens.Dropped})
	}
	return list
}

// since is what all have counted since before.
func since(before, after []count) (made, dropped int) {
	for i, a := range after {
		b := before[i]
		if a.up < a.at.Sub(b.at) { // another life
			b = count{}
		}
		made, dropped = made+int(a.made-b.made), dropped+int(a.dropped-b.dropped)
	}
	return made, dropped
}

// run runs a program at a member, and returns when it has ended.
func (b *band) run(i int, takes time.Duration) error {
	_, err := b.Run(i, resource, 2*patience, takes, func(int) {})
	return err
}

// programs are all that have run until now.
func (b *band) programs() []judge.Run {
	runs, err := b.Programs(boottime.Now())
	if err != nil {
		fmt.Fprintln(b.notes, err)
	}
	return runs
}

// overlap is for how long two programs ran at once from an instant on.
func (b *band) overlap(from clock.Instant) time.Duration {
	var list []judge.Run
	for _, r := range b.programs() {
		if r.Sure.To > from {
			r.Sure.From = max(r.Sure.From, from)
			list = append(list, r)
		}
	}
	least, _ := judge.Overlap(list, resource, 1)
	return least
}
