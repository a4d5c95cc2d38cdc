package fuzz

import (
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// custody checks who has which token.
func (r *handoffRun) custody() {
	holders, waiting := make(map[ident.Token]int), 0
	for _, p := range r.parties {
		for _, h := range p.m.Holdings() {
			holders[h.Title.Token()]++
		}
		waiting += p.m.Unanswered()
	}
	for _, id := range r.tokens {
		require.LessOrEqual(r, holders[id], 1, "two members have custody of %v", id)
		if r.durable && !r.dropped[id] && waiting == 0 && holders[id] == 0 {
			require.False(r, r.exists(id), "a token of durable members is lost")
		}
	}
}

// exists reports whether a token was ever made: a crash may have come before its
// genesis was on a disk.
func (r *handoffRun) exists(id ident.Token) bool {
	for _, p := range r.parties {
		for _, record := range p.disk {
			if g, ok := record.(*journal.Generated); ok && ident.Token(genesisHash(g.Genesis)) == id {
				return true
			}
		}
	}
	return false
}

func genesisHash(raw []byte) ident.Hash {
	_, h, _ := token.PeekGenesis(group, raw)
	return h
}

// replays checks that a journal gives the machine that wrote it.
func (r *handoffRun) replays() {
	for _, p := range r.parties {
		if !p.cfg.Durable {
			continue
		}
		again := r.replay(p)
		require.Equal(r, p.m.Unanswered(), again.Unanswered())
		require.Equal(r, titles(p.m), titles(again), "custody over a restart")
		again.SetNow(r.now)
		require.Equal(r, p.m.Checkpoint(), again.Checkpoint(), "memory over a restart")
	}
}

func titles(m *handoff.Machine) (list []ident.Hash) {
	for _, h := range m.Holdings() {
		list = append(list, h.Title.Hash())
	}
	return list
}
