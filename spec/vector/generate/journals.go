package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

const recordsFile = "records.json"

// The clock of the records, in microseconds.
const noonMicros = noonMillis * 1000

// record is one kind of record with its fields.
type record struct {
	name           string
	number         uint64
	fields         item
	free, optional map[int]bool
}

// records are all kinds of records.
func records() []record {
	w := theWalk
	token, member, inc, grant := bstr(w.genesis.hash()), bstr(ada.id), bstr(incarnation), bstr(repeat(6, 16))
	genesis, first, void := bstr(w.genesis.raw), bstr(w.first.raw), bstr(w.void.raw)
	return []record{
		{"incarnation", 1, array(inc, member, boolean(true), text("host:/var/lib/wander")), nil, nil},
		{"counters", 2, array(uintOf(1024), uintOf(16)), nil, nil},
		{"floor", 3, array(member, uintOf(900)), nil, nil},
		{"settled", 4, array(member, inc, uintOf(1000)), nil, nil},
		{"generated", 5, array(genesis, boolean(true)), fields(0), nil},
		{"held", 6, array(bstr(w.third.raw), genesis, bstr(nil), bstr(w.second.raw), void), fields(0, 1, 2, 3, 4), nil},
		{"sent", 7, array(first), fields(0), nil},
		{"closed", 8, array(token, uintOf(1), bstr(w.receipt.raw)), fields(2), nil},
		{"reclaimed", 9, array(token, uintOf(2), void), fields(2), nil},
		{"voided", 10, array(bstr(w.second.raw), void), fields(0, 1), nil},
		{"dropped", 11, array(token, uintOf(3), uintOf(1)), nil, nil},
		{"taken", 12, array(token, uintOf(1), bstr(w.first.hash()), member, uintOf(1025), boolean(false)), nil, nil},
		{"started", 13, array(grant, token, uintOf(1), text("ftp"), uintOf(5_000_000_000), uintOf(2_000_000_000), text("boot"), text("host"), array(uintOf(1000), uintOf(100), uintOf(4711)), uintOf(1_800_000_000_000)), nil, fields(8)},
		{"ended", 14, array(grant, boolean(true), uintOf(1), uintOf(noonMicros), uintOf(noonMicros+2_000_000)), nil, nil},
		{"known", 15, array(uintOf(1), bstr(sign(certificatePayload(ada), "certificate", firstCA).raw)), fields(1), nil},
		{"evidence", 16, array(text("two transfers"), member, array(first, bstr(w.second.raw))), nil, nil},
		{"founded", 17, array(text("ftp"), uintOf(0)), nil, nil},
		{"visited", 18, array(text("ftp"), uintOf(0), token, uintOf(noonMillis), member, uintOf(noonMicros), boolean(true)), nil, nil},
		{"opened", 19, array(uintOf(noonMillis), bstr(repeat(7, 8)), uintOf(12)), nil, nil},
		{"complained", 20, array(bstr(sign(complaintPayload(ada, ben), "complaint", ada).raw)), fields(0), nil},
		{"told", 21, array(bstr(sign(gateAnswerPayload(gateOpens()), "gate-answer", theGate).raw)), fields(0), nil},
	}
}

// entry is the body of a record frame.
func entry(number uint64, fields item) item { return array(uintOf(number), uintOf(noonMicros), fields) }

// recordVectors are the records of a journal.
func (s *suite) recordVectors() {
	s.open(recordsFile, "Records of a journal, the bodies of its frames: journal.md.")
	const malformed, kind = "journal.ErrRecord", "journal.ErrRecordKind"
	for _, r := range records() {
		whole := entry(r.number, r.fields)
		s.unsigned(recordsFile, unsigned{
			object: "record", rule: "journal:record", prefix: r.name, item: whole, req: "C-2", outcome: malformed, depth: 0,
		})
		for _, p := range spellingsAt(whole, []int{2}, 1) {
			s.add(recordsFile, s.vector("record", "journal:record", p.as(r.name+"/spelled-", "", malformed), p.data))
		}
		for _, p := range shapes(whole, []int{2}, r.free, r.optional) {
			f := fault{slug: r.name + "/shape-" + p.slug, about: p.about, req: "C-4", outcome: malformed}
			s.add(recordsFile, s.vector("record", "journal:record", f, encode(p.item)))
		}
	}
	put := func(slug, about, outcome string, i item) {
		s.add(recordsFile, s.vector("record", "journal:record", fault{slug: slug, about: about, req: "C-4", outcome: outcome}, encode(i)))
	}
	nobody := slices.Clone(records()[12].fields.Items)
	nobody[8] = null
	s.add(recordsFile, s.vector("record", "journal:record", ok("started-no-asker", "a program of the daemon's own", "C-2"), encode(entry(13, array(nobody...)))))
	put("kind-0", "kind 0", kind, entry(0, array()))
	put("kind-22", "kind 22, of a later version", kind, entry(22, array()))
	put("kind-huge", "kind 2^64-1", kind, entry(1<<64-1, array()))
	put("two", "without fields", malformed, array(uintOf(2), uintOf(noonMicros)))
	put("four", "one element more", malformed, array(uintOf(2), uintOf(noonMicros), array(uintOf(1), uintOf(1)), null))
	put("fields-map", "a map in place of the fields", malformed, entry(2, dict(uintOf(1), uintOf(1))))
}

const segmentsFile = "segments.json"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(data []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.Checksum(data, castagnoli))
}

// segmentHeader begins a segment.
func segmentHeader(magic string, version uint32) []byte {
	h := append([]byte(magic), binary.BigEndian.AppendUint32(nil, version)...)
	for _, n := range []uint64{1, 1, noonMillis} {
		h = binary.BigEndian.AppendUint64(h, n)
	}
	h = append(append(h, groupID...), ada.id...)
	return append(h, sum(h)...)
}

const segmentMagic = "\x89WNDRJ\r\n"

// The types of frames.
const (
	frameRecord = 1
	frameBegin  = 2
	frameEnd    = 3
	frameBatch  = 0x80
)

// journalFrame is one frame.
func journalFrame(kind byte, sequence uint64, body []byte) []byte {
	return framed(kind, uint32(len(body)), sequence, body)
}

// framed is a frame whose length is said to be n.
func framed(kind byte, n uint32, sequence uint64, body []byte) []byte {
	f := binary.BigEndian.AppendUint32(nil, uint32(kind)<<24|n)
	f = binary.BigEndian.AppendUint64(f, sequence)
	f = append(f, sum(f)...)
	f = append(f, body...)
	return append(append(f, sum(f)...), 0x5a)
}

// segmentVectors are whole segments.
func (s *suite) segmentVectors() {
	s.open(segmentsFile, "Segments of a journal, the last one of it: journal.md.")
	body := encode(entry(2, array(uintOf(1024), uintOf(16))))
	header := segmentHeader(segmentMagic, 8)
	begin, end := journalFrame(frameBegin|frameBatch, 1, nil), journalFrame(frameEnd, 3, nil)
	carried, last := journalFrame(frameRecord, 2, body), journalFrame(frameRecord|frameBatch, 4, body)
	join := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	whole := join(header, begin, carried, end, last)
	put := func(f fault, data []byte) { s.add(segmentsFile, s.vector("segment", "", f, data)) }
	damaged := func(slug, about, cause string, data []byte) {
		put(fault{slug: slug, about: about, req: "J-7", outcome: "journal.ErrDamaged", cause: cause}, data)
	}
	torn := func(slug, about string, data []byte) {
		put(fault{slug: slug, about: about, req: "J-6", outcome: "journal.ErrTorn"}, data)
	}
	put(ok("good", "a checkpoint with one record, and one record behind it", "J-4"), whole)
	put(ok("checkpoint-only", "an empty checkpoint", "J-4"), join(header, begin, journalFrame(frameEnd, 2, nil)))
	put(ok("largest", "a record of 327680 bytes", "J-4"), join(header, begin, carried, end, journalFrame(frameRecord, 4, make([]byte, 327680))))
	damaged("empty", "an empty file", "journal.ErrMagic", nil)
	damaged("magic", "as a copy made as text would begin", "journal.ErrMagic", join([]byte("\x89WNDRJ\n\n"), header[8:], begin))
	damaged("header-short", "a header of 87 bytes", "journal.ErrMagic", header[:87])
	damaged("header-bit", "one bit of the header is another", "journal.ErrSegmentHeader", join(flip(header, 40, 0), begin, end))
	for _, other := range []uint32{7, 9} {
		damaged(fmt.Sprintf("version-%d", other), fmt.Sprintf("of version %d", other), "journal.ErrVersion",
			join(segmentHeader(segmentMagic, other), begin))
	}
	damaged("no-checkpoint", "it begins with a record", "journal.ErrCheckpoint", join(header, journalFrame(frameRecord, 1, body)))
	damaged("checkpoint-twice", "two checkpoints", "journal.ErrCheckpoint", join(header, begin, carried, end, journalFrame(frameBegin, 4, nil)))
	damaged("sequence-gap", "a sequence number is left out", "journal.ErrSequence", join(header, begin, carried, end, journalFrame(frameRecord, 5, body)))
	damaged("sequence-again", "a frame is there twice", "journal.ErrSequence", join(whole, last))
	damaged("type-0", "a frame of type 0", "journal.ErrFrameType", join(header, begin, carried, end, journalFrame(0, 4, body)))
	damaged("type-4", "a frame of type 4", "journal.ErrFrameType", join(header, begin, carried, end, journalFrame(4, 4, body)))
	damaged("size-0", "a record without a body", "journal.ErrFrameSize", join(header, begin, carried, end, journalFrame(frameRecord, 4, nil)))
	damaged("size-327681", "a record of 327681 bytes", "journal.ErrFrameSize", join(header, begin, carried, end, journalFrame(frameRecord, 4, make([]byte, 327681))))
	put(fault{slug: "size-lie", about: "a record claims 16 MiB", req: "J-7", outcome: "journal.ErrDamaged", cause: "journal.ErrFrameSize"}.malicious(),
		join(header, begin, carried, end, framed(frameRecord, 1<<24-1, 4, body)))
	damaged("end-with-body", "a checkpoint's end with a body", "journal.ErrFrameSize", join(header, begin, carried, framed(frameEnd, 1, 3, []byte{0})))
	damaged("frame-header-bit", "one bit of a frame's header is another", "journal.ErrFrameHeader", join(header, begin, carried, end, flip(last, 2, 0)))
	damaged("body-bit", "one bit of a body is another", "journal.ErrFrameBody", join(header, begin, carried, end, flip(last, 18, 0)))
	damaged("body-bit-zeros", "one bit of a body is another, and zeros stand behind the frame", "journal.ErrFrameBody", join(header, begin, carried, end, flip(last, 18, 0), make([]byte, 64)))
	damaged("frame-header-bit-zeros", "one bit of a frame's header is another, and zeros stand behind the frame", "journal.ErrFrameHeader", join(header, begin, carried, end, flip(last, 2, 0), make([]byte, 64)))
	damaged("mark-bit", "one bit of the last byte is another", "journal.ErrFrameBody", join(header, begin, carried, end, flip(last, len(last)-1, 1)))
	damaged("trailing", "something that is no frame behind whole frames", "journal.ErrFrameHeader", join(whole, repeat(1, 21)))
	torn("frame-short", "the last frame is cut", whole[:len(whole)-1])
	torn("frame-header-short", "the last frame's header is cut", whole[:len(whole)-len(last)+7])
	torn("zeros", "the last frame is zero from its middle on", join(header, begin, carried, end, last[:18], make([]byte, len(last)-18)))
	torn("zero-tail", "zeros behind the last whole frame", join(whole, make([]byte, 512)))
}
