package faultfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// PowerLoss returns what the machine finds when it comes back: one of the
// outcomes that the package comment permits, chosen by the seed. The old file
// system is dead from then on. Locks are free, no crash or failure is planned,
// and operations count from 1 again.
func (f *FS) PowerLoss() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	after := f.successor()
	for _, r := range f.changes {
		if f.rng.IntN(2) == 0 {
			r.apply(f.disk)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.disk)) {
		left := f.disk[name].afterPowerLoss(f.rng)
		n := &inode{cached: left, disk: slices.Clone(left)}
		after.cached[name], after.disk[name] = n, n
	}
	return after
}

// Kill returns what the next process finds after this one was killed: all that
// was written is visible, and what was not synced is still at the mercy of a
// power failure. Otherwise it is like PowerLoss.
func (f *FS) Kill() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	after := f.successor()
	copies := make(map[*inode]*inode)
	clone := func(n *inode) *inode {
		if n != nil && copies[n] == nil {
			copies[n] = n.clone()
		}
		return copies[n]
	}
	for _, name := range slices.Sorted(maps.Keys(f.cached)) {
		after.cached[name] = clone(f.cached[name])
	}
	for _, name := range slices.Sorted(maps.Keys(f.disk)) {
		after.disk[name] = clone(f.disk[name])
	}
	for _, r := range f.changes {
		after.changes = append(after.changes, rename{from: r.from, to: r.to, node: clone(r.node)})
	}
	return after
}

// successor ends f and returns the empty file system that follows it.
func (f *FS) successor() *FS {
	f.crashed = true
	after := New(0)
	after.rng = rand.New(rand.NewPCG(f.rng.Uint64(), f.rng.Uint64()))
	return after
}
