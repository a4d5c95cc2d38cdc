package audit

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

const (
	// maxAwaitingKey bounds the objects that wait for the key that verifies them,
	// in number: more than a group's CA keys and members that left.
	maxAwaitingKey = 4096
	// maxAuthorities bounds the CA keys of one audit: every one that a group can
	// ever have had at a time, several times.
	maxAuthorities = 8 * group.MaxAuthorities
	// surveyBatch is how many certificates are verified together.
	surveyBatch = 256
)

// Trust has what signatures are verified with: the group's CA keys, and the
// certificates, revocations and leaves of the members. It starts from the group
// file alone, and learns from the journals what it can verify with that. Fill
// it before an audit (Learn, then Settle); the audit only reads it. Filling it
// is not safe for concurrent use.
type Trust struct {
	group       ident.Group
	cas         authorities
	members     map[ident.Member]*identity
	gates       map[[envelope.KeyIDSize]byte]certificate.Certificate // of gates, by the key id of their answers
	configs     []group.Settings
	good        map[print]bool // what has verified
	waiting     []certificate.Unverified[certificate.Claims, certificate.Certificate]
	prints      []print // of waiting
	awaitingKey []journal.Known
}

// print names an object with its signature and its kind: SHA-256 of all bytes.
type print [sha256.Size]byte

func printOf(k envelope.Kind, raw []byte) print {
	h := sha256.New()
	h.Write([]byte{byte(k)})
	h.Write(raw)
	var p print
	h.Sum(p[:0])
	return p
}

// identity is what is known of one member.
type identity struct {
	name        string
	class       string // in the certificate that ends last; empty: none
	ends        uint64 // of that certificate, ms since 1970
	key         *signature.PublicKey
	certificate []byte // the first that was seen
	authority   [envelope.KeyIDSize]byte
	valid       []validity
	revoked     uint64 // CA's clock, ms since 1970; 0: not
	left        uint64 // its own clock, ms since 1970; 0: not
}

// validity is that of one certificate, in ms since 1970.
type validity struct{ from, to uint64 }

// NewTrust returns a Trust with the contents of a group file: its CA keys, its
// configuration, and the certificates, revocations and leaves in it.
func NewTrust(g *group.Group, extra group.Extra) *Trust {
	t := &Trust{group: g.ID(), members: make(map[ident.Member]*identity), gates: make(map[[envelope.KeyIDSize]byte]certificate.Certificate), good: make(map[print]bool)}
	t.cas.list = g.Authorities()
	t.configs = append(t.configs, g.Config().Settings())
	t.good[printOf(envelope.Configuration, g.Config().Raw())] = true
	for _, a := range t.cas.list {
		t.good[printOf(envelope.Authority, a.Raw())] = true
	}
	for what, list := range map[journal.Knowledge][][]byte{
		journal.KnownCertificate: extra.Certificates, journal.KnownRevocation: extra.Revocations, journal.KnownLeave: extra.Leaves,
	} {
		for _, raw := range list {
			t.know(journal.Known{What: what, Object: raw})
		}
	}
	return t
}

// authorities are all CA keys that a chain of statements leads to, retired ones
// too: journals are of the past.
type authorities struct{ list []group.Authority }

func (a *authorities) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey {
	for _, one := range a.list {
		if one.ID() == id {
			return one.Key()
		}
	}
	return nil
}

// Learn takes in the body of one frame of a journal. It ignores what is not
// about the group.
func (t *Trust) Learn(body []byte) {
	const kindAt = 1 // behind the head of the array
	if len(body) <= kindAt || body[kindAt] != byte(journal.KindKnown) {
		return
	}
	if _, r, err := journal.Decode(body); err == nil {
		t.know(*r.(*journal.Known))
	}
}

// know takes in what verifies, and remembers what may do so later.
func (t *Trust) know(k journal.Known) {
	p := printOf(knownKinds[k.What], k.Object)
	if t.good[p] {
		return
	}
	switch err := t.verify(k, p); {
	case err == nil:
	case errors.Is(err, certificate.ErrUnknownCA), errors.Is(err, errUnknownSigner):
		if len(t.awaitingKey) < maxAwaitingKey {
			t.awaitingKey = append(t.awaitingKey, k)
		}
	}
}

// errUnknownSigner says that the certificate of a signer has not been seen.
var errUnknownSigner = errors.New("certificate of the signer is not known")

// verify takes in an object if it verifies. Certificates wait for a batch.
func (t *Trust) verify(k journal.Known, p print) error {
	switch k.What {
	case journal.KnownCertificate:
		u, err := certificate.Read(t.group, k.Object, &t.cas)
		if err != nil {
			return err
		}
		t.waiting, t.prints = append(t.waiting, u), append(t.prints, p)
		if len(t.waiting) >= surveyBatch {
			t.admit()
		}
	case journal.KnownGate:
		c, err := certificate.ParseGate(t.group, k.Object, &t.cas)
		if err != nil {
			return err
		}
		t.good[p] = true
		t.gates[wire.KeyID(c.Key())] = c
	case journal.KnownAuthority:
		a, err := group.ParseAuthority(t.group, k.Object, &t.cas)
		if err != nil {
			return err
		}
		t.good[p] = true
		if t.cas.Key(a.ID()) == nil && len(t.cas.list) < maxAuthorities {
			t.cas.list = append(t.cas.list, a)
		}
	case journal.KnownConfiguration:
		c, err := group.ParseConfig(t.group, k.Object, &t.cas)
		if err != nil {
			return err
		}
		t.good[p] = true
		t.configs = append(t.configs, c.Settings())
	case journal.KnownRevocation:
		r, err := certificate.ParseRevocation(t.group, k.Object, &t.cas)
		if err != nil {
			return err
		}
		t.good[p] = true
		t.member(r.Body().Member).revoked = max(1, r.Body().Time)
	case journal.KnownLeave:
		return t.leave(k.Object, p)
	}
	return nil
}

func (t *Trust) leave(raw []byte, p print) error {
	m, err := certificate.LeaveSigner(t.group, raw)
	if err != nil {
		return err
	}
	key := t.Key(m)
	if key == nil {
		return errUnknownSigner
	}
	l, err := certificate.ParseLeave(t.group, raw, key)
	if err != nil {
		return err
	}
	t.good[p] = true
	t.member(m).left = max(1, l.Body().Time)
	return nil
}

// admit verifies the certificates that wait, together.
func (t *Trust) admit() {
	var batch envelope.Batch
	for _, u := range t.waiting {
		u.AddTo(&batch)
	}
	for i, r := range batch.Verify(nil) {
		if c, err := t.waiting[i].Accept(r); err == nil && !t.good[t.prints[i]] {
			t.good[t.prints[i]] = true
			t.certified(c)
		}
	}
	t.waiting, t.prints = t.waiting[:0], t.prints[:0]
}

func (t *Trust) certified(c certificate.Certificate) {
	i := t.member(c.Member())
	claims := c.Body()
	if i.key == nil {
		i.key, i.name, i.certificate, i.authority = c.Key(), c.Name(), c.Raw(), c.Authority()
	}
	if ends := millis(claims.NotAfter); ends >= i.ends {
		i.class, i.ends = claims.Class, ends
	}
	i.valid = append(i.valid, validity{millis(claims.NotBefore), millis(claims.NotAfter)})
}

func millis(t time.Time) uint64 { return uint64(max(0, t.UnixMilli())) }

func (t *Trust) member(m ident.Member) *identity {
	i := t.members[m]
	if i == nil {
		i = &identity{}
		t.members[m] = i
	}
	return i
}

// Settle ends learning: it verifies the objects that waited for a key that came
// later.
func (t *Trust) Settle() {
	t.admit()
	for before := -1; before != len(t.awaitingKey) && len(t.awaitingKey) > 0; {
		again := t.awaitingKey
		before, t.awaitingKey = len(again), nil
		for _, k := range again {
			t.know(k)
		}
		t.admit()
	}
}

// Key returns the key of a member whose certificate was seen, or nil. With it a
// Trust implements token.Keys.
func (t *Trust) Key(m ident.Member) *signature.PublicKey {
	if i := t.members[m]; i != nil {
		return i.key
	}
	return nil
}

// Name returns the name of a member or a gate whose certificate was seen, or "".
func (t *Trust) Name(m ident.Member) string {
	if i := t.members[m]; i != nil {
		return i.name
	}
	return t.gate(m).Name()
}

// class is that of a member, as its certificate that ends last has it: empty if it has none, or none was seen.
func (t *Trust) class(m ident.Member) string {
	if i := t.members[m]; i != nil {
		return i.class
	}
	return ""
}

// gate is the certificate of a gate; the zero value has no name.
func (t *Trust) gate(m ident.Member) (c certificate.Certificate) {
	for _, g := range t.gates {
		if g.Member() == m {
			return g
		}
	}
	return c
}

// Certificate returns a certificate of a member or a gate, and the statements about CA
// keys that lead to it, the group's first key first. Evidence contains both.
// Both are nil when no certificate was seen.
func (t *Trust) Certificate(m ident.Member) (certificate []byte, statements [][]byte) {
	var authority [envelope.KeyIDSize]byte
	if i := t.members[m]; i != nil && i.certificate != nil {
		certificate, authority = i.certificate, i.authority
	} else if g := t.gate(m); g.Key() != nil {
		certificate, authority = g.Raw(), g.Authority()
	} else {
		return nil, nil
	}
	needed := map[[envelope.KeyIDSize]byte]bool{authority: true}
	for n := len(t.cas.list) - 1; n >= 0; n-- {
		if a := t.cas.list[n]; needed[a.ID()] {
			needed[a.Voucher()] = true
			statements = append([][]byte{a.Raw()}, statements...)
		}
	}
	return certificate, statements
}

// HasResource reports whether any configuration that is known has a resource.
func (t *Trust) HasResource(name string) bool {
	_, ok := t.maxHold(name)
	return ok
}

// GateOf returns the resource before which a gate stands, by the configurations that are known; ok is false if the
// id is not a gate's.
func (t *Trust) GateOf(gate ident.Member) (resource string, ok bool) {
	for _, c := range t.configs {
		for _, r := range c.Resources {
			if r.Gate.Member == gate && !gate.IsZero() {
				return r.Name, true
			}
		}
	}
	return "", false
}

// observed reports whether the gate of a resource only observes, by some configuration: then members are let in
// without a session.
func (t *Trust) observed(resource string) bool {
	for _, c := range t.configs {
		for _, r := range c.Resources {
			if r.Name == resource && r.Gate.Mode == group.Observe {
				return true
			}
		}
	}
	return false
}

// severalPlaces reports whether a slot of a resource has more than one place at its gate, by some configuration.
func (t *Trust) severalPlaces(resource string) bool {
	for _, c := range t.configs {
		for _, r := range c.Resources {
			if r.Name == resource && r.Gate.Sessions > 1 {
				return true
			}
		}
	}
	return false
}

// permits reports whether the windows of a resource are open from one instant to another, by some configuration.
func (t *Trust) permits(resource string, from, until time.Time) bool {
	known := false
	for _, c := range t.configs {
		for _, r := range c.Resources {
			if r.Name != resource {
				continue
			}
			known = true
			next, changes := r.Windows.NextChange(from)
			if r.Windows.Open(from) && (!changes || !next.Before(until)) {
				return true
			}
		}
	}
	return !known
}

// maxHold is the longest grant of a resource that any configuration permits; ok
// is false when none has the resource.
func (t *Trust) maxHold(resource string) (longest time.Duration, ok bool) {
	for _, c := range t.configs {
		for _, r := range c.Resources {
			if r.Name == resource {
				longest, ok = max(longest, r.MaxHold), true
			}
		}
	}
	return longest, ok
}
