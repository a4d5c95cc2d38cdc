package journal

import "github.com/wandertoken/wander/protocol/ident"

// Generated is a token made here: its genesis, its sequence number (in the
// genesis) and custody at hop 0, as one record (handoff rules §2).
type Generated struct {
	_        struct{} `cbor:",toarray"`
	Genesis  []byte
	Founding bool // made because the group is being founded
}

// Kind is KindGenerated.
func (*Generated) Kind() Kind { return KindGenerated }

// Held is custody reached by a transfer (state HOLD), or, carried forward by a
// checkpoint, by a transfer of one's own and its void. With what Transfer follows from it
// has all that a permit needs.
type Held struct {
	_            struct{} `cbor:",toarray"`
	Transfer     []byte
	Genesis      []byte
	Void         []byte // empty unless custody came back by it
	Previous     []byte // the transfer before Transfer: empty at hop 1
	PreviousVoid []byte // that Transfer names: empty unless Previous was declined
}

// Kind is KindHeld.
func (*Held) Kind() Kind { return KindHeld }

// Sent is custody given away by a complete, signed transfer whose receipt is
// still due (state SENT at the hop before the transfer's). The title from
// which it follows is in an earlier record.
type Sent struct {
	_        struct{} `cbor:",toarray"`
	Transfer []byte
}

// Kind is KindSent.
func (*Sent) Kind() Kind { return KindSent }

// Closed is the end of a Sent by its receipt, or, without one, by giving up.
type Closed struct {
	_       struct{} `cbor:",toarray"`
	Token   ident.Token
	Hop     uint64 // of the custody that was given away
	Receipt []byte // empty: the sender gave up, which proves nothing
}

// Kind is KindClosed.
func (*Closed) Kind() Kind { return KindClosed }

// Reclaimed is the end of a Sent by a void and, in the same record, custody
// at the next hop, which is burned for everybody else.
type Reclaimed struct {
	_     struct{} `cbor:",toarray"`
	Token ident.Token
	Hop   uint64 // the new custody: the hop of the voided transfer
	Void  []byte
}

// Kind is KindReclaimed.
func (*Reclaimed) Kind() Kind { return KindReclaimed }

// Voided is a transfer that was declined permanently (state VOIDED).
type Voided struct {
	_        struct{} `cbor:",toarray"`
	Transfer []byte
	Void     []byte
}

// Kind is KindVoided.
func (*Voided) Kind() Kind { return KindVoided }

// Dropped is a token that the policy removed (state DROPPED).
type Dropped struct {
	_      struct{} `cbor:",toarray"`
	Token  ident.Token
	Hop    uint64
	Reason uint64 // a policy.DropReason
}

// Kind is KindDropped.
func (*Dropped) Kind() Kind { return KindDropped }

// Taken is what is left of a transfer whose story is over: enough to give the
// same receipt, or void, again. Only checkpoints write it.
type Taken struct {
	_        struct{} `cbor:",toarray"`
	Token    ident.Token
	Hop      uint64
	Transfer ident.Hash
	From     ident.Member
	Accept   uint64
	Declined bool // a void was given, not a receipt
}

// Kind is KindTaken.
func (*Taken) Kind() Kind { return KindTaken }
