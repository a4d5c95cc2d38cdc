// Package faultfs is a file system in memory that fails when a test tells it
// to: the seam store.FS in its most pessimistic permitted form. Equal seeds
// and equal calls give equal outcomes.
//
//	for n := 1; ; n++ {
//		disk := faultfs.New(seed)
//		disk.CrashAt(n)
//		work(disk)              // the code under test; returns faultfs.ErrCrashed from the crash on
//		if !disk.Crashed() {
//			break               // n is behind the last operation: each one has been crashed at
//		}
//		check(disk.PowerLoss()) // open what is left, and say what has to be there
//	}
//
// The tests of node/store, of ca and of the node use it, and the fuzz target of the store. No program does.
//
// # Operations
//
// Operations are the calls that change something: Create, WriteAt, Truncate, Sync, Rename,
// Remove, SyncDir. They are counted from 1 (Ops), and Trace lists them for the message of a failing test. CrashAt and
// FailAt name one by its number:
//
//	           the operation                          afterwards
//	CrashAt    is performed in part or not at all     every call returns ErrCrashed
//	FailAt     a write is performed in part, a sync   the file system goes on
//	           forgets its data, others do nothing
//	Flip       (no operation) flips one bit           the file system goes on
//
// A Sync that fails forgets: the data stays visible and counts as
// written, a later Sync succeeds without writing it, and a power failure
// loses it. That is what Linux does.
//
// # After a crash
//
// Kill leaves what the next process finds: all that was written is visible, and what was not synced may still
// be lost. PowerLoss leaves what the machine finds, one of the permitted outcomes, chosen by the seed. Both
// return a new FS, without locks, whose operations count from 1 again; the old one is dead.
//
// What power failure leaves follows POSIX and not the kindness of any one system:
//
//   - of the writes to a file since its last Sync, a prefix in order; the last
//     of them may be torn, leaving its first bytes, or those and zeros to the
//     end it would have had. A hole within a file, a later write without an
//     earlier one, does not occur: see package store on the file systems this
//     stands for.
//   - of the creations, renames and removals in a directory since its last
//     SyncDir, any subset, each in whole.
//   - directories themselves are durable at once.
//
// # The types
//
// An FS has names and inodes. Each inode has its contents three times over, and each name is known twice:
//
//	FS.cached   what processes see          inode.cached
//	FS.changes  renames since SyncDir       inode.pending  edits since Sync
//	FS.disk     what is there for certain   inode.disk
//
// So Sync moves pending into disk, SyncDir moves changes into disk, and PowerLoss applies a part of both.
//
// Withhold is another thing: around a real file system it keeps what is written in the process until Sync, so
// that killing a real process loses what it had not synced.
//
// # What it does not do
//
// It models no directories, permissions, or full disks (FailAt with such an error does), and no reordering of
// writes within a file. A test that needs another fault adds it to step, which every operation goes through.
//
// An FS is safe for concurrent use; only calls in a fixed order are deterministic.
package faultfs
