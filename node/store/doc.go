// Package store keeps a member's journal on disk: segment files in the format
// of protocol/journal, appended to, synced in groups, rotated with a
// checkpoint, and removed when nobody needs them any more.
//
// # How to drive it
//
//	st, found, err := store.Open(dir, store.Options{Group: g, Member: m})
//	// rebuild the member from found.Records, in order
//	for {
//		st.Append(records...)   // in memory
//		st.Sync()               // now they are durable; one Sync serves many Appends
//		// only now may what depends on them leave
//		if st.NeedsCheckpoint() {
//			st.Checkpoint(live) // begins a new segment with the live state
//		}
//	}
//
// An error of Append, Sync or Checkpoint that is ErrBroken is final. What the
// disk holds is then unknown, and a second sync that succeeds would prove
// nothing (the kernel forgets pages that it failed to write), so the store
// refuses all work and the member has to stop (handoff rules §5). It may be
// started again: Open finds out what is there, and writes and syncs anew what
// may not have been synced before it hands it out.
//
// # What survives
//
// After a crash at any point, of the process or of the machine, Open returns
// the records of the newest checkpoint and every record appended since that a
// Sync acknowledged, in order; behind those possibly some that were appended
// and not acknowledged, again in order; nothing else. A tail that was torn is
// cut and reported. Anything else that does not match is refused as
// *journal.DamageError with file and offset.
//
// This holds on file systems whose files, after a power failure, end short or
// in zeros when the last write did not get through (ext4, XFS, Btrfs, APFS,
// NTFS), on disks that keep what they have acknowledged. The store never writes
// ahead of the file's end and has, in durable mode, one write under way at
// most, so that nothing else can happen.
//
// # Files
//
// The directory holds the segments (journal.SegmentName), "lock" against a
// second process, and while a segment is being created a file ending in
// ".new". Other files are left alone. Restart reads the last segment and the
// headers of the others: its time does not grow with the age of the journal.
// Disk use is bounded, for a member that heeds NeedsCheckpoint, by
// Options.RetainBytes plus three times the larger of Options.SegmentSize and
// the live state (the third only while a segment is being created).
package store
