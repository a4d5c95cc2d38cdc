package wire

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
)

// Type is a message's number on the wire.
type Type uint8

// The message types. Numbers stay below 24, so that a type is one byte.
const (
	TypeHello         Type = 1
	TypeOffer         Type = 2
	TypeNeed          Type = 3
	TypeAccept        Type = 4
	TypeRefuse        Type = 5
	TypeCancel        Type = 6
	TypeTransfer      Type = 7
	TypeReceipt       Type = 8
	TypeVoid          Type = 9
	TypeUnknown       Type = 10
	TypePolicy        Type = 11
	TypeWant          Type = 12
	TypeMembers       Type = 13
	TypeConfiguration Type = 14
	TypeRevocations   Type = 15
	TypeGossip        Type = 16
	TypeSummary       Type = 17
	TypeProbe         Type = 18
	TypeNews          Type = 19
)

// kinds say of each type its name, whether it is urgent, and how to make a message to decode
// into.
var kinds = [...]struct {
	name   string
	urgent bool
	blank  func() Message
}{
	// Both say this first, on every connection.
	TypeHello: {"HELLO", true, func() Message { return new(Hello) }},
	// A handoff is prepared, custody moves, and the transfer is answered.
	TypeOffer:    {"OFFER", true, func() Message { return new(Offer) }},
	TypeNeed:     {"NEED", true, func() Message { return new(Need) }},
	TypeAccept:   {"ACCEPT", true, func() Message { return new(Accept) }},
	TypeRefuse:   {"REFUSE", true, func() Message { return new(Refuse) }},
	TypeCancel:   {"CANCEL", true, func() Message { return new(Cancel) }},
	TypeTransfer: {"TRANSFER", true, func() Message { return new(Transfer) }},
	TypeReceipt:  {"RECEIPT", true, func() Message { return new(Receipt) }},
	TypeVoid:     {"VOID", true, func() Message { return new(Void) }},
	TypeUnknown:  {"UNKNOWN", true, func() Message { return new(Unknown) }},
	// Between policies, without authority.
	TypePolicy: {"POLICY", false, func() Message { return new(Policy) }},
	// Directories are compared, and what is missing is fetched.
	TypeWant:          {"WANT", false, func() Message { return new(Want) }},
	TypeMembers:       {"MEMBERS", false, func() Message { return new(Members) }},
	TypeConfiguration: {"CONFIGURATION", false, func() Message { return new(Configuration) }},
	TypeRevocations:   {"REVOCATIONS", true, func() Message { return new(Revocations) }},
	TypeGossip:        {"GOSSIP", false, func() Message { return new(Gossip) }},
	TypeSummary:       {"SUMMARY", false, func() Message { return new(Summary) }},
	// Who cannot be reached, and membership updates.
	TypeProbe: {"PROBE", false, func() Message { return new(Probe) }},
	TypeNews:  {"NEWS", false, func() Message { return new(News) }},
}

// isKnown reports whether there is a message of this type.
func (t Type) isKnown() bool { return int(t) < len(kinds) && kinds[t].blank != nil }

func (t Type) String() string {
	if t.isKnown() {
		return kinds[t].name
	}
	return fmt.Sprintf("message type %d", uint8(t))
}

// Urgent reports whether messages of this type go before all others to the same
// peer: those of the handoff, and HELLO and REVOCATIONS, which decide whether
// the receiver accepts anything from the sender.
func (t Type) Urgent() bool { return t.isKnown() && kinds[t].urgent }

// Message is one message between members.
type Message interface {
	// Type is the message's number on the wire.
	Type() Type
	// validate checks what CBOR cannot: counts, ranges, sizes.
	validate() error
}

// pairHead is the head of the array [type, fields].
const pairHead = 0x82

// headSize is what stands before the fields: pairHead and the type.
const headSize = 2

// messageLimits bound the fields of every message before they are decoded.
// Bytes: with its head the message fits a frame, as Encode has it. Items: a
// page of MaxPage directory entries has 5 and up to MaxFailures for each.
var messageLimits = canonical.Limits{MaxBytes: MaxFrame - headSize, MaxDepth: 5, MaxItems: 2048}

// Encode returns the frame body of a message. It fails only on a message that
// breaks its own limits, with the error that Decode would give.
func Encode(m Message) ([]byte, error) { return Append(nil, m) }

// Append appends to dst what Encode returns. If that is an error, it returns
// dst unchanged.
func Append(dst []byte, m Message) ([]byte, error) {
	if err := m.validate(); err != nil {
		return dst, fmt.Errorf("%v: %w", m.Type(), err)
	}
	body, err := canonical.Append(append(dst, pairHead, byte(m.Type())), m)
	if err != nil {
		return dst, fmt.Errorf("%v: %w: %w", m.Type(), ErrMalformed, err)
	}
	if size := len(body) - len(dst); size > MaxFrame {
		return dst, fmt.Errorf("%v: %w: %d bytes", m.Type(), ErrLimit, size)
	}
	return body, nil
}

// Decode reads a frame body. The message does not refer to body. Errors:
// ErrMessageType, ErrMalformed, ErrLimit.
func Decode(body []byte) (Message, error) {
	t, err := PeekType(body)
	if err != nil {
		return nil, err
	}
	m := kinds[t].blank()
	if err := canonical.Unmarshal(body[headSize:], m, messageLimits); err != nil {
		return nil, fmt.Errorf("%v: %w: %w", t, ErrMalformed, err)
	}
	if err := m.validate(); err != nil {
		return nil, fmt.Errorf("%v: %w", t, err)
	}
	return m, nil
}

// PeekType returns the type of the message in a frame body. It does not look at
// the fields.
func PeekType(body []byte) (Type, error) {
	if len(body) <= headSize || body[0] != pairHead || body[1] >= 24 {
		return 0, ErrMalformed
	}
	t := Type(body[1])
	if !t.isKnown() {
		return 0, fmt.Errorf("%w: %d", ErrMessageType, body[1])
	}
	return t, nil
}
