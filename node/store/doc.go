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
// # Who calls it
//
// node drives a Store for its member (journal.go in that package). `wander inspect`, `wander join` and the
// demo read journals, also those that are being written, with Frames, which takes no lock. Package ca uses FS
// and OS for its own folder. A record is bytes here: what it means is for protocol/journal and the member.
//
// # The walk of a record
//
//	Append      framed into pending, in memory; it gets its sequence number
//	Sync        one goroutine takes the batch (take), the others wait for it
//	  write     one WriteAt behind the end of the last segment
//	  File.Sync in durable mode; then synced is its number, and the waiters return
//	Checkpoint  what is pending is written first; begin writes NUMBER.journal.new, syncs it, renames it and
//	            syncs the directory; prune removes segments that nobody needs
//	Open        findSegments: names and headers of all; readLast: the last one whole;
//	            settle: cuts a torn tail, writes the last batch again and syncs it
//
// # The types
//
//	Options   whose journal it is, Mode, and the sizes; withDefaults checks them
//	Store     an open journal: what belongs to the goroutine that is at the files, and what mem guards
//	Recovery  what Open found: the records, how many of them are a checkpoint's, the torn tail
//	Located   a frame and its place, from Frames
//	FS, File  the seam to the disk: OS for a real one, package faultfs for one that fails
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
// This relies on two things. The disk keeps what it has acknowledged. And a
// file to which one write was in progress when the power failed ends short, or in
// zeros, where that write did not get through; file systems that record a
// file's new size only after its data do so (ext4 in its default mode, and
// others by their design). Therefore the store only ever appends, does not
// allocate ahead, and has one write in progress at most in durable mode.
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
//
// # What belongs elsewhere
//
// The store decides neither when to sync nor what a checkpoint holds: both are the member's, through node. It
// repairs nothing but a torn tail, and checks no signature. What differs between systems is in the files
// os_*.go, and nowhere else; the format is in protocol/journal. A new operation on files is a method of FS, in
// OS and in package faultfs, so that the crash tests stop at it.
//
// A Store is safe for concurrent use: one goroutine at a time is at the files (busy), and mem is never held
// during I/O, so that Append does not wait for the disk.
package store
