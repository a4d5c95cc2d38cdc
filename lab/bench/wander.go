package main

import (
	"context"
	"path/filepath"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/store"
)

// member plays a role with a real node.
type member struct{ *node.Node }

// playMember opens a node. The one that dials makes the tokens.
func playMember(mode store.Mode) func(role) (player, error) {
	return func(r role) (player, error) {
		id, err := identity(r.Dir)
		if err != nil {
			return nil, err
		}
		c := node.Config{
			Identity: id, StateDir: filepath.Join(r.Dir, "state"), Listen: "127.0.0.1:0",
			Mode: mode, Socket: "-", Found: r.Peer != "",
		}
		if r.Peer != "" {
			c.Bootstrap = []string{r.Peer}
		}
		return openMember(c)
	}
}

func openMember(c node.Config) (player, error) {
	n, err := node.Open(context.Background(), c)
	if err != nil {
		return nil, err
	}
	return member{n}, nil
}

// Count asks the member.
func (m member) Count() (handoffs, syncs uint64) {
	st := m.Status()
	return st.Handoffs.OK, st.Journal.Fsyncs
}

// Close leaves the tokens where they are: nobody goes on with them.
func (m member) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = m.Node.Close(ctx)
}
