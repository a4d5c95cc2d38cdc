// Package journal is the format of a member's journal: the write-ahead log of
// custody and, at the same time, the evidence that auditors read. It is pure;
// node/store keeps the files.
//
//	body, err := journal.Encode(at, &journal.Dropped{Token: t, Hop: 7, Reason: 1}) // a record
//	data = journal.Frame{Type: journal.FrameRecord, Seq: n, Body: body}.Append(data) // in a frame
//	...
//	r, err := journal.NewReader(name, data) // a whole segment
//	for f, err := r.Next(); err == nil; f, err = r.Next() {
//		at, record, err := journal.Decode(f.Body) // only of a FrameRecord
//	}
//
// # Segments and frames
//
// A journal is a sequence of segments. A segment is one file: a SegmentHeader,
// then frames (Frame). Its first frames are a checkpoint, which carries the
// records that still matter over from the segment before it; so a member that
// restarts reads its last segment only, and older ones are kept for auditors
// and may be removed. Frames are numbered without gaps over all segments.
//
// A frame is, with big-endian integers:
//
//	offset  size
//	0       1     type: 1 record, 2 checkpoint begin, 3 checkpoint end; 0x80 added on the first of a batch
//	1       3     n, the length of the body
//	4       8     sequence number
//	12      4     CRC-32C of bytes 0 to 11
//	16      n     body
//	16+n    4     CRC-32C of bytes 0 to 15+n
//	20+n    1     end mark 0x5a
//
// # Torn or damaged
//
// What a crash leaves behind and what damage is are told apart by one rule.
// The last segment may end in a torn tail: a frame that the end of the file
// cuts short, or that is zero from some byte on, and so is everything behind
// it to the end of the file. Its checkpoint is never torn. A torn tail was not
// acknowledged; a member cuts it off. Whatever else does not match, in the
// last frame too, is damage (DamageError) and is never repaired. Because no
// frame ends in a zero byte, no single flipped bit makes a frame look torn:
// header and body have checksums of their own, so not even a flipped length.
//
// Reader checks all that can be checked within one segment. That a segment continues the one before
// is for who reads several (store.Frames, and the audit).
//
// # Records
//
// A Record is one fact of a kind; its Stamped adds the wall clock of its making, which is for
// auditors, and shows that the clock was set back. There are three families, one file each:
//
//	record_custody.go    Generated, Held, Sent, Closed, Reclaimed, Voided, Dropped, Taken:
//	                     what happened to a token here; signed objects as they travel
//	record_operation.go  Started, Ended, Founded, Visited: programs, and what policies are told again
//	record_memory.go     Incarnation, Opened, Counters, Floor, Settled: what the custody memory
//	                     has promised; Known, Evidence: what others have signed; Complained
//
// Taken, Founded and Visited are written by checkpoints only: each stands for records that are not needed any
// more.
//
// # Who calls it
//
// handoff and member make records, as effects, and rebuild themselves from them after a restart;
// node encodes what effects say and hands the bytes to node/store, which frames
// them. sim/cluster does both in memory. audit, `wander inspect` and the demo's summary read them.
//
// # What holds, and what does not belong here
//
// The format knows no order of records: which one may follow which, and what a restart makes of it,
// is for handoff (replay.go) and member (restore.go). Signatures in records are verified by who needs
// them. A record is encoded in one way (package canonical), a body has at most MaxRecord bytes, and a record's limits
// are checked when it is written, too. A change of a record or of the framing raises SegmentVersion; a segment of
// another version is refused, and told from damage (VersionError).
//
// A new record goes into the file of its kin, and into the table of record.go; CONTRIBUTING.md lists what else it needs.
//
// Records and frames are plain values. A Reader is not safe for concurrent use.
package journal
