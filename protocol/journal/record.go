package journal

import (
	"errors"
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
)

// Why the body of a frame is not a record.
var (
	ErrRecord     = errors.New("malformed journal record")
	ErrRecordKind = errors.New("journal record of a kind that this version does not know")
)

// Kind is a record's number in the journal.
type Kind uint8

// The records. Numbers stay below 24, so that a kind is one byte.
const (
	KindIncarnation Kind = 1
	KindCounters    Kind = 2
	KindFloor       Kind = 3
	KindSettled     Kind = 4
	KindGenerated   Kind = 5
	KindHeld        Kind = 6
	KindSent        Kind = 7
	KindClosed      Kind = 8
	KindReclaimed   Kind = 9
	KindVoided      Kind = 10
	KindDropped     Kind = 11
	KindTaken       Kind = 12
	KindStarted     Kind = 13
	KindEnded       Kind = 14
	KindKnown       Kind = 15
	KindEvidence    Kind = 16
	KindFounded     Kind = 17
	KindVisited     Kind = 18
	KindOpened      Kind = 19
	KindComplained  Kind = 20
	KindTold        Kind = 21
)

// kinds say of each kind its name, and how to make a record to decode into.
var kinds = [...]struct {
	name  string
	blank func() Record
}{
	KindIncarnation: {"incarnation", func() Record { return new(Incarnation) }},
	KindCounters:    {"counters", func() Record { return new(Counters) }},
	KindFloor:       {"floor", func() Record { return new(Floor) }},
	KindSettled:     {"settled", func() Record { return new(Settled) }},
	KindGenerated:   {"generated", func() Record { return new(Generated) }},
	KindHeld:        {"held", func() Record { return new(Held) }},
	KindSent:        {"sent", func() Record { return new(Sent) }},
	KindClosed:      {"closed", func() Record { return new(Closed) }},
	KindReclaimed:   {"reclaimed", func() Record { return new(Reclaimed) }},
	KindVoided:      {"voided", func() Record { return new(Voided) }},
	KindDropped:     {"dropped", func() Record { return new(Dropped) }},
	KindTaken:       {"taken", func() Record { return new(Taken) }},
	KindStarted:     {"started", func() Record { return new(Started) }},
	KindEnded:       {"ended", func() Record { return new(Ended) }},
	KindKnown:       {"known", func() Record { return new(Known) }},
	KindEvidence:    {"evidence", func() Record { return new(Evidence) }},
	KindFounded:     {"founded", func() Record { return new(Founded) }},
	KindVisited:     {"visited", func() Record { return new(Visited) }},
	KindOpened:      {"opened", func() Record { return new(Opened) }},
	KindComplained:  {"complained", func() Record { return new(Complained) }},
	KindTold:        {"told", func() Record { return new(Told) }},
}

// isKnown reports whether there is a record of this kind.
func (k Kind) isKnown() bool { return int(k) < len(kinds) && kinds[k].blank != nil }

func (k Kind) String() string {
	if k.isKnown() {
		return kinds[k].name
	}
	return fmt.Sprintf("record kind %d", uint8(k))
}

// Record is one fact that a member wrote down before acting on it.
type Record interface {
	// Kind is the record's number in the journal.
	Kind() Kind
}

// Stamped is a record with the wall clock of its making, µs since 1970.
type Stamped struct {
	At     uint64
	Record Record
}

// recordLimits bound a record before it is decoded: the largest is evidence,
// which holds a few signed objects.
var recordLimits = canonical.Limits{MaxBytes: MaxRecord, MaxDepth: 4, MaxItems: 128}

// entry is a record as it is in a frame.
type entry struct {
	_      struct{} `cbor:",toarray"`
	Kind   uint64
	At     uint64 // µs since 1970
	Fields canonical.Raw
}

// Encode returns the frame body of a record that was made at the given wall
// time, in µs since 1970. The time is for auditors, and shows that the clock was set back.
func Encode(at uint64, r Record) ([]byte, error) { return Append(nil, at, r) }

// entryHead is the head of an entry, an array of 3.
const entryHead = 0x83

// Append appends what Encode returns to dst, or returns dst as it was and the
// error.
func Append(dst []byte, at uint64, r Record) ([]byte, error) {
	body, err := canonical.Append(append(dst, entryHead, byte(r.Kind())), at)
	if err == nil {
		body, err = canonical.Append(body, r)
	}
	if err != nil {
		return dst, fmt.Errorf("%v: %w: %w", r.Kind(), ErrRecord, err)
	}
	if err := canonical.Check(body[len(dst):], recordLimits); err != nil {
		return dst, fmt.Errorf("%v: %w: %w", r.Kind(), ErrRecord, err)
	}
	return body, nil
}

// Decode reads a frame body. The record does not refer to body. Errors:
// ErrRecord, ErrRecordKind.
func Decode(body []byte) (at uint64, r Record, err error) {
	var e entry
	if err := canonical.Unmarshal(body, &e, recordLimits); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if e.Kind >= uint64(len(kinds)) || !Kind(e.Kind).isKnown() {
		return 0, nil, fmt.Errorf("%w: %d", ErrRecordKind, e.Kind)
	}
	r = kinds[e.Kind].blank()
	if err := canonical.Unmarshal(e.Fields, r, recordLimits); err != nil {
		return 0, nil, fmt.Errorf("%v: %w: %w", r.Kind(), ErrRecord, err)
	}
	return e.At, r, nil
}
