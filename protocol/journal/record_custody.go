package journal

import "github.com/wandertoken/wander/protocol/ident"

// Generated is a token made here: its genesis, its sequence number (in the
// genesis) and custody at hop 0, as one record (handoff rules §2).
//
//	generated = [ genesis: bstr, founding: bool ]
type Generated struct {
	_        struct{} `cbor:",toarray"`
	Genesis  []byte
	Founding bool // made because the group is being founded
}

// Kind is KindGenerated.
func (*Generated) Kind() Kind { return KindGenerated }

// Held is custody reached by a transfer (state HOLD), or, carried forward by a
// checkpoint, by a transfer of one's own and its void.
//
//	held = [ transfer: bstr, genesis: bstr, void: bstr ]
type Held struct {
	_        struct{} `cbor:",toarray"`
	Transfer []byte
	Genesis  []byte
	Void     []byte // empty unless custody came back by it
}

// Kind is KindHeld.
func (*Held) Kind() Kind { return KindHeld }

// Sent is custody given away by a complete, signed transfer whose receipt is
// still due (state SENT at the hop before the transfer's). The title from
// which it follows is in an earlier record.
//
//	sent = [ transfer: bstr ]
type Sent struct {
	_        struct{} `cbor:",toarray"`
	Transfer []byte
}

// Kind is KindSent.
func (*Sent) Kind() Kind { return KindSent }

// Closed is the end of a Sent by its receipt, or, without one, by giving up.
//
//	closed = [ token: hash, hop: uint, receipt: bstr ]
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
//
//	reclaimed = [ token: hash, hop: uint, void: bstr ]
type Reclaimed struct {
	_     struct{} `cbor:",toarray"`
	Token ident.Token
	Hop   uint64 // the new custody: the hop of the voided transfer
	Void  []byte
}

// Kind is KindReclaimed.
func (*Reclaimed) Kind() Kind { return KindReclaimed }

// Voided is a transfer that was declined permanently (state VOIDED).
//
//	voided = [ transfer: bstr, void: bstr ]
type Voided struct {
	_        struct{} `cbor:",toarray"`
	Transfer []byte
	Void     []byte
}

// Kind is KindVoided.
func (*Voided) Kind() Kind { return KindVoided }

// Dropped is a token that the policy removed (state DROPPED).
//
//	dropped = [ token: hash, hop: uint, reason: uint ]
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
//
//	taken = [ token: hash, hop: uint, transfer: hash, from: member, accept: uint,
//	          declined: bool ]
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
