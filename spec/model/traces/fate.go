package main

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/cluster"
)

// fate is what became of a record that was written.
type fate uint8

const (
	lost   fate = iota // a crash took it
	kept               // a crash left it, unsynced as it was
	synced             // or nothing came any more
)

// fates tells for each moment that writes what became of the record.
func fates(moments []cluster.Moment) []fate {
	list := make([]fate, len(moments))
	pending := make(map[ident.Member][]int)
	settle := func(m ident.Member, keep int, as fate) {
		for _, i := range pending[m][:keep] {
			list[i] = as
		}
		delete(pending, m)
	}
	for i, m := range moments {
		switch m.Deed {
		case cluster.Wrote:
			pending[m.Member] = append(pending[m.Member], i)
		case cluster.Synced:
			settle(m.Member, len(pending[m.Member]), synced)
		case cluster.Crashed:
			settle(m.Member, m.Kept, kept)
		}
	}
	for m := range pending {
		settle(m, len(pending[m]), synced)
	}
	return list
}
