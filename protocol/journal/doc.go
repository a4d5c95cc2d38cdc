// Package journal is the format of a member's journal: the write-ahead log of
// custody and, at the same time, the evidence that auditors read. It is pure;
// node/store keeps the files.
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
// What a crash leaves behind and what damage is are told apart by one rule.
// The last segment may end in a torn tail: a frame that the end of the file
// cuts short, or that is zero from some byte on, and so is everything behind
// it to the end of the file. Its checkpoint is never torn. A torn tail was not
// acknowledged; a member cuts it off. Whatever else does not match, in the
// last frame too, is damage (DamageError) and is never repaired. Because no
// frame ends in a zero byte, no single flipped bit makes a frame look torn:
// header and body have checksums of their own, so not even a flipped length.
//
// Reader reads one segment. The bodies of record frames are what Encode gives
// and Decode takes; their shapes are in spec/journal.cddl.
package journal
