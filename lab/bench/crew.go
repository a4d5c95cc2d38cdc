package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/wandertoken/wander/internal/relay"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/store"
)

// crew are the members of a group, all in this process.
type crew []crewMember

// crewMember is a node, and the relay before it, if there is one.
type crewMember struct {
	*node.Node
	relay   *relay.Relay
	reached string // its address for the others
}

// work is what each member of a crew does.
type work struct {
	mode      store.Mode
	operation time.Duration // how long one takes; 0: nobody wants any
	watch     *occupancy
	path      relay.Path // between the members; zero: they talk to each other without a relay
}

// startPause is between the starts of two members: one machine carries all of them,
// and each meets dozens of others at first.
const startPause = 300 * time.Millisecond

// openCrew opens a node for each name in dir. The first makes the token, and the
// others meet it first.
func openCrew(dir string, members []string, w work) (crew, error) {
	var c crew
	for i, name := range members {
		if i > 0 {
			time.Sleep(startPause)
		}
		id, err := identity(filepath.Join(dir, name))
		if err != nil {
			return c, err
		}
		cfg := node.Config{
			Identity: id, StateDir: filepath.Join(dir, name, "state"), Listen: "127.0.0.1:0",
			Mode: w.mode, Socket: "-", Found: len(c) == 0 && w.operation > 0,
		}
		if w.operation > 0 {
			cfg.Operation = node.Operation{Resource: resource, Run: w.run}
		}
		if len(c) > 0 {
			cfg.Bootstrap = []string{c[0].reached}
		}
		m, err := w.open(cfg)
		if err != nil {
			return c, fmt.Errorf("member %d: %w", len(c)+1, err)
		}
		c = append(c, m)
	}
	return c, nil
}

// open opens a node, behind a relay of its own where the network is slow.
func (w work) open(cfg node.Config) (crewMember, error) {
	var m crewMember
	var err error
	if w.path != (relay.Path{}) {
		listen, err := freePort()
		if err != nil {
			return m, err
		}
		if m.relay, err = relay.New(listen, w.path, 0); err != nil {
			return m, err
		}
		m.reached = m.relay.Address()
		cfg.Listen, cfg.Advertise = listen.String(), []string{m.reached}
	}
	if m.Node, err = node.Open(context.Background(), cfg); err != nil {
		m.closeRelay()
		return m, err
	}
	m.reached = cmp.Or(m.reached, m.Address())
	return m, nil
}

func (m crewMember) closeRelay() {
	if m.relay != nil {
		m.relay.Close()
	}
}

// run is one operation.
func (w work) run(ctx context.Context, _ api.Grant) api.ReleaseRequest {
	w.watch.begin(time.Now())
	defer func() { w.watch.end(time.Now()) }()
	t := time.NewTimer(w.operation)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return api.ReleaseRequest{Operated: true}
}

// knowEachOther reports whether every member knows every other one.
func (c crew) knowEachOther() bool {
	for _, n := range c {
		if len(n.Members()) < len(c) {
			return false
		}
	}
	return true
}

// close ends the members where they are: nobody goes on with the token.
func (c crew) close() {
	var all sync.WaitGroup
	for _, n := range c {
		all.Go(member{n.Node}.Close)
	}
	all.Wait()
	for _, n := range c {
		n.closeRelay()
	}
}

// tally is what a crew has done since it was opened.
type tally struct {
	hops                   uint64
	dials, messages, small uint64
	syncs, made, dropped   uint64
}

func (c crew) tally() (t tally) {
	for _, n := range c {
		st, traffic := n.Status(), n.Traffic()
		t.hops += st.Handoffs.OK
		t.syncs += st.Journal.Fsyncs
		t.made += st.Tokens.Generated
		t.dropped += st.Tokens.Dropped
		t.dials += traffic.Dials
		t.messages += traffic.Messages
		t.small += traffic.PolicyMessages
	}
	return t
}

// since is what was done after before.
func (t tally) since(before tally) tally {
	return tally{
		hops: t.hops - before.hops, dials: t.dials - before.dials,
		messages: t.messages - before.messages, small: t.small - before.small, syncs: t.syncs - before.syncs,
		made: t.made - before.made, dropped: t.dropped - before.dropped,
	}
}

// connections are the numbers that are open at each member.
func (c crew) connections() []float64 {
	var list []float64
	for _, n := range c {
		list = append(list, float64(n.Traffic().Connections))
	}
	return list
}
