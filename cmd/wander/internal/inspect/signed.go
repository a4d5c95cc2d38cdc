package inspect

import (
	"cmp"
	"errors"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// verifiedYes is the Object.Verified of what verified. Other values say why not.
const verifiedYes = "yes"

const (
	noGroup     = "no group file was given"
	noSignature = "no key at hand verifies it"
	// onlyItself is of a group file: anybody can make one that agrees with itself.
	onlyItself = "the group file agrees with itself; give one that you trust"
)

// unrecognised is the Object.What of a signed object of unknown kind.
const unrecognised = "signed object"

// Inspector recognises objects of one group, or of any when it has none.
type Inspector struct {
	group *group.Group
	keys  map[ident.Member]*signature.PublicKey
	read  *token.Verifier
	only  string // why what agrees with the group is not verified; empty if it is
	kinds []kind // that are verified; none without a group
	// learnt: keys are only read, as several goroutines show objects.
	learnt bool
}

// New returns an Inspector. The group may be nil: then nothing is verified.
func New(g *group.Group) *Inspector {
	i := &Inspector{group: g, keys: make(map[ident.Member]*signature.PublicKey)}
	i.read = token.NewVerifier(i.id(), i)
	if g != nil {
		i.kinds = append(i.ofTokens(), append(i.byAuthority(), i.byMembers()...)...)
	}
	return i
}

func (i *Inspector) id() ident.Group {
	if i.group == nil {
		return ident.Group{}
	}
	return i.group.ID()
}

// Key is the key of a member whose certificate has been shown.
func (i *Inspector) Key(m ident.Member) *signature.PublicKey { return i.keys[m] }

// within is the Inspector for the blocks of a file: with no group at hand, a
// group file is read with the group that it is.
func (i *Inspector) within(blocks []keyfile.Block) *Inspector {
	if i.group != nil {
		return i
	}
	g, _, err := group.Load(blocks)
	if err != nil {
		return i
	}
	own := New(g)
	own.only = onlyItself
	return own
}

// Learn takes the key of a member from its certificate, if that verifies.
func (i *Inspector) Learn(raw []byte) {
	if i.group == nil {
		return
	}
	if c, err := certificate.ParseAny(i.group.ID(), raw, i.group.History()); err == nil {
		i.keys[c.Member()] = c.Key()
	}
}

// signed recognises a signed object: by verifying it where that is possible,
// by its shape otherwise.
func (i *Inspector) signed(raw []byte) (Object, bool) {
	if len(raw) == 0 || raw[0] != signedTag {
		return Object{}, false // most byte strings are none, and an error costs more than this
	}
	u, err := envelope.Parse(envelope.Domain{Version: 1, Group: i.id(), Kind: envelope.Genesis}, raw)
	if err != nil {
		return Object{}, false
	}
	head := payloadHead(u)
	for _, k := range i.kinds {
		if k.head != 0 && k.head != head {
			continue
		}
		if what, body, err := k.try(raw); err == nil {
			return i.object(what, cmp.Or(i.only, verifiedYes), body), true
		}
	}
	why := noGroup
	if i.group != nil {
		why = noSignature
	}
	switch head {
	case genesisHead:
		if b, _, err := token.PeekGenesis(i.id(), raw); err == nil {
			return i.object("genesis", why, b), true
		}
	case transferHead:
		if b, _, err := token.PeekTransfer(i.id(), raw); err == nil {
			return i.object("transfer", why, b), true
		}
	case complaintHead:
		if b, _, err := token.PeekComplaint(i.id(), raw); err == nil {
			return i.object("complaint", why, shownComplaint(b)), true
		}
	}
	return i.unknown(u, why), true
}

// signedTag is the first byte of a signed object: CBOR's tag 18 (RFC 9052, 4.2).
const signedTag = 0xd2

// These are the first bytes of the payloads of objects about tokens: CBOR arrays of as many elements as the bodies of
// package token have fields. So an object is verified as what it can be, and not as all that there is.
const (
	answerHead    = 0x80 + 6
	genesisHead   = 0x80 + 8
	complaintHead = 0x80 + 10
	transferHead  = 0x80 + 12
)

// payloadHead is the first byte of a payload, 0 if it has none.
func payloadHead(u envelope.Unverified) byte {
	if p := u.Payload(); len(p) > 0 {
		return p[0]
	}
	return 0
}

func (i *Inspector) object(what, verified string, body any) Object {
	f, _ := structure(reflect.ValueOf(body), i.open).(Fields)
	return Object{What: what, Verified: verified, Fields: f}
}

// open is for byte strings inside of objects.
func (i *Inspector) open(raw []byte) (Object, bool) { return i.signed(raw) }

// unknown shows an object that is not recognised in diagnostic notation (RFC
// 8949 §8).
func (i *Inspector) unknown(u envelope.Unverified, why string) Object {
	kid := u.KeyID()
	text, err := cbor.Diagnose(u.Payload())
	if err != nil {
		text = err.Error()
	}
	return Object{What: unrecognised, Verified: why, Fields: Fields{
		{"key_id", structure(reflect.ValueOf(kid), i.open)}, {"payload", text},
	}}
}

type recognise func(raw []byte) (what string, body any, err error)

// kind is one kind of signed object.
type kind struct {
	head byte // of its payload; 0: it is tried in any case
	try  recognise
}

// errNot says that an object is of another kind.
var errNot = errors.New("not this kind")

// ofTokens come first: a journal consists of them.
func (i *Inspector) ofTokens() []kind {
	return []kind{
		{transferHead, func(raw []byte) (string, any, error) {
			o, err := i.read.Transfer(raw)
			return "transfer", o.Body(), err
		}},
		{answerHead, i.answer(token.Receipt)}, {answerHead, i.answer(token.Void)}, {answerHead, i.answer(token.Unknown)},
		{genesisHead, func(raw []byte) (string, any, error) {
			o, err := i.read.Genesis(raw)
			if err != nil {
				return "", nil, err
			}
			return "genesis of token " + o.ID().String(), o.Body(), nil
		}},
		{complaintHead, i.complaint},
	}
}

// byAuthority are the kinds that the CA signs. Those that it signed in the past, with
// keys that are retired by now, are shown, too.
func (i *Inspector) byAuthority() []kind {
	g, cas := i.group, i.group.History()
	return []kind{
		{0, func(raw []byte) (string, any, error) {
			c, err := certificate.ParseAny(g.ID(), raw, cas)
			if err != nil {
				return "", nil, err
			}
			if !i.learnt {
				i.keys[c.Member()] = c.Key()
			}
			return "certificate of " + c.Role().String() + " " + c.Member().String(), c.Body(), nil
		}},
		{0, byCA(i, "CA certificate", group.ParseAuthority)},
		{0, byCA(i, "group configuration", group.ParseConfig)},
		{0, byCA(i, "revocation", certificate.ParseRevocation)},
	}
}

// byCA recognises what a CA key has signed.
func byCA[B any, S interface{ Body() B }](
	i *Inspector, what string, parse func(ident.Group, []byte, certificate.Authorities) (S, error),
) recognise {
	return func(raw []byte) (string, any, error) {
		signed, err := parse(i.group.ID(), raw, i.group.History())
		if err != nil {
			return "", nil, err
		}
		return what, signed.Body(), nil
	}
}

// byMembers are the kinds of objects about membership that members sign.
func (i *Inspector) byMembers() []kind {
	g := i.group.ID()
	return []kind{
		{0, byMember(i, "endpoint record", certificate.EndpointSigner, certificate.ParseEndpoint)},
		{0, byMember(i, "leave", certificate.LeaveSigner, certificate.ParseLeave)},
		{0, byMember(i, "failure statement", certificate.FailureSigner, certificate.ParseFailure)},
		{0, func(raw []byte) (string, any, error) {
			r, err := certificate.ParseRequest(g, raw)
			return "certificate request", r.Body(), err
		}},
	}
}

// byMember recognises what is signed with the key of a member whose certificate
// was shown.
func byMember[B any, S interface{ Body() B }](
	i *Inspector, what string,
	signer func(ident.Group, []byte) (ident.Member, error),
	parse func(ident.Group, []byte, *signature.PublicKey) (S, error),
) recognise {
	return func(raw []byte) (string, any, error) {
		m, err := signer(i.group.ID(), raw)
		if err != nil || i.keys[m] == nil {
			return "", nil, errNot
		}
		signed, err := parse(i.group.ID(), raw, i.keys[m])
		if err != nil {
			return "", nil, err
		}
		return what, signed.Body(), nil
	}
}

func (i *Inspector) answer(v token.Verdict) recognise {
	return func(raw []byte) (string, any, error) {
		o, err := i.read.Answer(v, raw)
		return v.String(), o.Body(), err
	}
}

// complaint is a complaint with the words for its numbers.
type complaint struct {
	Resource string
	Slot     uint64
	Signer   ident.Member
	Accused  ident.Member
	Token    ident.Token
	Hop      uint64
	Measure  policy.Measure
	Cause    policy.Cause
	Time     uint64
}

func shownComplaint(b token.ComplaintBody) complaint {
	return complaint{
		b.Resource, b.Slot, b.Signer, b.Accused, b.Token, b.Hop, policy.Measure(b.Measure), policy.Cause(b.Cause), b.Time,
	}
}

func (i *Inspector) complaint(raw []byte) (string, any, error) {
	o, err := i.read.Complaint(raw)
	return "complaint", shownComplaint(o.Body()), err
}
