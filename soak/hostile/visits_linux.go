package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

const (
	// flooded is the machine, in the order of the members, that a flood is for.
	flooded = 0
	// floodFirst is how long a flood lasts before the first visit: it takes its places within
	// a second.
	floodFirst = 5 * time.Second
	// visitWithin bounds one visit, the start of the daemon included. Somebody who is not let
	// in tries again each second or more often.
	visitWithin = 10 * time.Second
	// visitLook is between two looks whether a visitor was let in.
	visitLook = 10 * time.Millisecond
)

// acquaint has the member that comes back again and again be in the group once, so that the
// flooded member knows its address.
func (b *band) acquaint() error {
	if b.returner == "" {
		return nil
	}
	if v := b.visit(b.returner, false); !v.in {
		return errors.New("the member that is to come back is not let in without a flood: " + v.err)
	}
	return nil
}

// visits has newcomers want to be let in, one after the other and spread over the rest of the
// attack, and after each the member that comes back. None begins when the time is over.
func (b *band) visits(from clock.Instant) (newcomers, returns []visit) {
	for i, name := range b.guests {
		at := floodFirst + (b.For-floodFirst)*time.Duration(i)/time.Duration(len(b.guests))
		time.Sleep(at - boottime.Now().Sub(from))
		if boottime.Now().Sub(from) >= b.For {
			break
		}
		newcomers = append(newcomers, b.visit(name, true))
		returns = append(returns, b.visit(b.returner, false))
	}
	return newcomers, returns
}

// visit starts the daemon of a member that knows the flooded member only, waits until each
// of the two says that it is connected with the other one, and ends the daemon. One that
// leaves has the group do without it from then on.
func (b *band) visit(name string, leaves bool) (v visit) {
	i := b.indexOf(name)
	m := b.World.Machines[i]
	b.knocks.begin(i)
	if err := m.StartDaemon(b.Program, "node", "--config", filepath.Join(m.Dir, "wander.toml")); err != nil {
		return visit{err: err.Error()}
	}
	defer m.Stop()
	client := api.Dial(filepath.Join(m.Dir, "state", api.SocketName))
	ctx, cancel := context.WithTimeout(context.Background(), visitWithin)
	defer cancel()
	for !v.in && ctx.Err() == nil {
		time.Sleep(visitLook)
		v.in = connected(ctx, client, b.names[flooded]) && connected(ctx, b.Clients[flooded], name)
	}
	now := boottime.Now()
	dials, first := b.knocks.of(i)
	if v.dials = dials; dials > 0 {
		v.within = now.Sub(first)
	}
	if v.in && leaves {
		if err := client.Leave(ctx); err != nil {
			v.err = err.Error()
		}
	}
	return v
}

// connected reports whether a daemon says that it is connected with a member.
func connected(ctx context.Context, c *api.Client, name string) bool {
	list, err := c.Members(ctx)
	for _, m := range list {
		if m.Name == name {
			return err == nil && m.Connected
		}
	}
	return false
}
