package gate

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/ident"
)

// Record is one fact that the gate wrote down before acting on it: the body of a frame of package journal.
type Record interface{ kind() uint64 }

// BeginRecord begins a journal. The numbers of later sessions are above the floor. What there was at the slots before is unknown, except
// for what a checkpoint says, which then ends with an EndRecord.
type BeginRecord struct {
	_          struct{} `cbor:",toarray"`
	Floor      uint64
	Checkpoint bool
}

// OpeningRecord is a session whose open hook is about to run.
type OpeningRecord struct {
	_         struct{} `cbor:",toarray"`
	Session   uint64
	Slot      uint64
	Member    ident.Member
	Token     ident.Token
	Hop       uint64
	Title     ident.Hash
	Generator ident.Member
	Moves     []MoveRecord // at most 4
}

// MoveRecord is a Move.
type MoveRecord struct {
	_        struct{} `cbor:",toarray"`
	By       ident.Member
	Title    ident.Hash
	Declined bool
}

// ClosedRecord is the end of a session: close has confirmed it, and the slot has settled. Session 0 is
// what was unknown when the journal began.
type ClosedRecord struct {
	_       struct{} `cbor:",toarray"`
	Session uint64
	Slot    uint64
	Reason  Reason
}

// MemberRecord is what is remembered of a member. Only checkpoints write it.
type MemberRecord struct {
	_      struct{} `cbor:",toarray"`
	Member ident.Member
	Served uint64
	Titles []TitleRecord // at most MaxTitles, the latest at the end
}

// TitleRecord is one title of a MemberRecord.
type TitleRecord struct {
	_       struct{} `cbor:",toarray"`
	Title   ident.Hash
	Moved   bool
	Session uint64
}

// GeneratorRecord is what is remembered of a member that made tokens. Only checkpoints write it.
type GeneratorRecord struct {
	_         struct{} `cbor:",toarray"`
	Generator ident.Member
	Tokens    []ident.Token // at most MaxTokens, the last one opened at the end
}

// ContinuedRecord is a session that has not ended yet. Only checkpoints write it.
type ContinuedRecord struct {
	_       struct{} `cbor:",toarray"`
	Session uint64
	Slot    uint64
	Member  ident.Member
	Token   ident.Token
	Hop     uint64
	Title   ident.Hash
}

// RevokedRecord is of members that are revoked, for good.
type RevokedRecord struct {
	_       struct{}       `cbor:",toarray"`
	Members []ident.Member // at most maxRevokedRecord
}

// StuckRecord is a slot whose close has failed. Session 0 is what was unknown when the journal began.
type StuckRecord struct {
	_       struct{} `cbor:",toarray"`
	Session uint64
	Slot    uint64
}

// EndRecord ends a checkpoint: a shorter one is none.
type EndRecord struct {
	_       struct{} `cbor:",toarray"`
	Records uint64   // of the checkpoint, before this one
}

// maxRevokedRecord is how many members one RevokedRecord has at most, so that it is no longer than other records.
const maxRevokedRecord = 128

func (*BeginRecord) kind() uint64     { return 1 }
func (*OpeningRecord) kind() uint64   { return 2 }
func (*ClosedRecord) kind() uint64    { return 3 }
func (*MemberRecord) kind() uint64    { return 4 }
func (*GeneratorRecord) kind() uint64 { return 5 }
func (*ContinuedRecord) kind() uint64 { return 6 }
func (*RevokedRecord) kind() uint64   { return 7 }
func (*StuckRecord) kind() uint64     { return 8 }
func (*EndRecord) kind() uint64       { return 9 }

// blank makes a record to decode into, by kind.
var blank = map[uint64]func() Record{
	1: func() Record { return new(BeginRecord) },
	2: func() Record { return new(OpeningRecord) },
	3: func() Record { return new(ClosedRecord) },
	4: func() Record { return new(MemberRecord) },
	5: func() Record { return new(GeneratorRecord) },
	6: func() Record { return new(ContinuedRecord) },
	7: func() Record { return new(RevokedRecord) },
	8: func() Record { return new(StuckRecord) },
	9: func() Record { return new(EndRecord) },
}

// recordLimits bound a record before it is decoded: the largest is that of a member, with MaxTitles of 44 bytes.
var recordLimits = canonical.Limits{MaxBytes: 4 << 10, MaxDepth: 5, MaxItems: 4*MaxTitles + 16}

// entry is a record as it is in a frame.
type entry struct {
	_      struct{} `cbor:",toarray"`
	Kind   uint64
	At     uint64 // µs since 1970, for auditors; it decides nothing
	Fields canonical.Raw
}

// Encode returns the frame body of a record of the given wall time, in µs since 1970.
func Encode(at uint64, r Record) ([]byte, error) {
	fields, err := canonical.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	body, err := canonical.Marshal(&entry{Kind: r.kind(), At: at, Fields: fields})
	if err == nil {
		err = canonical.Check(body, recordLimits)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return body, nil
}

// Decode reads a frame body. Errors: ErrRecord, ErrRecordKind.
func Decode(body []byte) (at uint64, r Record, err error) {
	var e entry
	if err := canonical.Unmarshal(body, &e, recordLimits); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	fresh := blank[e.Kind]
	if fresh == nil {
		return 0, nil, fmt.Errorf("%w: %d", ErrRecordKind, e.Kind)
	}
	r = fresh()
	if err := canonical.Unmarshal(e.Fields, r, recordLimits); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if err := validate(r); err != nil {
		return 0, nil, err
	}
	return e.At, r, nil
}

// validate is what the shape of a record does not say.
func validate(r Record) error {
	ok := true
	switch r := r.(type) {
	case *BeginRecord:
		ok = r.Floor <= MaxNumber
	case *OpeningRecord:
		ok = r.Session > 0 && r.Session <= MaxNumber && r.Slot < MaxSlots && r.Hop <= ident.MaxHop && len(r.Moves) <= maxMoves
	case *ContinuedRecord:
		ok = r.Session > 0 && r.Session <= MaxNumber && r.Slot < MaxSlots && r.Hop <= ident.MaxHop
	case *ClosedRecord:
		ok = r.Session <= MaxNumber && r.Slot < MaxSlots && r.Reason >= BySignOut && r.Reason <= ByWindows
	case *MemberRecord:
		ok = r.Served <= MaxNumber && len(r.Titles) <= MaxTitles
		for _, t := range r.Titles {
			ok = ok && t.Session <= MaxNumber
		}
	case *RevokedRecord:
		ok = len(r.Members) > 0 && len(r.Members) <= maxRevokedRecord
	case *StuckRecord:
		ok = r.Session <= MaxNumber && r.Slot < MaxSlots
	case *GeneratorRecord:
		ok = len(r.Tokens) > 0 && len(r.Tokens) <= MaxTokens
	}
	if !ok {
		return fmt.Errorf("%w: a value that is out of range", ErrRecord)
	}
	return nil
}
