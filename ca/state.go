package ca

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// Record is what an authority knows of a certificate that it issued.
type Record struct {
	Serial    uint64
	Name      string
	Member    ident.Member
	Role      certificate.Role
	Class     string // of a member; empty: none
	IssuedAt  time.Time
	NotBefore time.Time
	NotAfter  time.Time
	Key       int      // which of the CA's keys has signed it, by number
	Revoked   *Revoked // nil unless the member was revoked
	Left      *Left    // nil unless the member has left

	raw []byte // of a member's newest
}

// Revoked is what an authority knows of a member that is no more.
type Revoked struct {
	Version uint64 // of the revocation list
	Member  ident.Member
	Time    time.Time
	Reason  string
	By      *ident.Hash // the evidence for which it was revoked, if that was given
}

// state is what the log says.
type state struct {
	authorities []group.Authority // every CA key there was, in order
	config      group.Config      // zero before the first one
	records     []Record          // by serial
	byName      map[string][]int
	byMember    map[ident.Member]int // the newest
	revocations []revocation         // by version, which is the index plus 1
	dead        map[ident.Member]*Revoked
	leaves      []*Left // in the order in which they came
	left        map[ident.Member]*Left
	invites     invites
	proofs      []*Evidence // in the order in which they came
	evidence    map[ident.Hash]*Evidence
	accusations map[ident.Member]int // how often members have brought evidence against one
	last        entry
}

type revocation struct {
	Revoked
	signer [envelope.KeyIDSize]byte // the CA key
	raw    []byte
}

func newState() *state {
	return &state{
		byName:   make(map[string][]int),
		byMember: make(map[ident.Member]int),
		dead:     make(map[ident.Member]*Revoked),
		left:     make(map[ident.Member]*Left),
		invites:  invites{byID: make(map[InviteID]*Invite)},
		evidence: make(map[ident.Hash]*Evidence), accusations: make(map[ident.Member]int),
	}
}

func (s *state) group() ident.Group { return s.authorities[0].Body().Group }

// signer is the CA key that signs: the one that signed the configuration.
func (s *state) signer() group.Authority {
	if s.config.IsZero() {
		return s.authorities[0]
	}
	return s.authorities[s.numberOf(s.config.Signer())-1]
}

// numberOf is the number of a CA key, from 1 on; 0 if there is none such.
func (s *state) numberOf(id [envelope.KeyIDSize]byte) int {
	return 1 + slices.IndexFunc(s.authorities, func(a group.Authority) bool { return a.ID() == id })
}

// Key is the CA key with this id, also one that signs no more: a state is a
// certificate.Authorities.
func (s *state) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey {
	n := s.numberOf(id)
	if n == 0 {
		return nil
	}
	return s.authorities[n-1].Key()
}

// lastSerial is that of the last certificate.
func (s *state) lastSerial() uint64 {
	if len(s.records) == 0 {
		return 0
	}
	return s.records[len(s.records)-1].Serial
}

// take applies one entry. It trusts what the entry says about certificates and
// revocations: whoever can write the log has no need to forge what is in it.
func (s *state) take(e entry) error {
	if (len(s.authorities) == 0) != (e.Event == created) {
		return errCreation
	}
	s.last = e
	switch e.Event {
	case created:
		return s.takeAuthority(e)
	case introduced:
		return s.takeNewKey(e)
	case configured:
		return s.takeConfig(e)
	case issued:
		return s.takeCertificate(e)
	case revoked:
		return s.takeRevocation(e)
	case invited:
		return s.invites.take(e)
	case left:
		return s.takeLeave(e)
	case cancelled:
		return s.invites.takeCancel(e)
	case proved:
		return s.takeEvidence(e)
	}
	return fmt.Errorf("%w: unknown event %q", errLine, e.Event)
}

func (s *state) takeAuthority(e entry) error {
	id, err := group.GroupOf(e.Object)
	if err != nil {
		return err
	}
	a, err := group.ParseAuthority(id, e.Object, s)
	if err == nil {
		s.authorities = append(s.authorities, a)
	}
	return err
}

func (s *state) takeNewKey(e entry) error {
	a, err := group.ParseAuthority(s.group(), e.Object, s)
	if err != nil {
		return err
	}
	if s.numberOf(a.ID()) != 0 || a.Body().Version != s.config.Version()+1 {
		return errSequence
	}
	s.authorities = append(s.authorities, a)
	return nil
}

func (s *state) takeConfig(e entry) error {
	c, err := group.ParseConfig(s.group(), e.Object, s)
	if err != nil {
		return err
	}
	if c.Version() != s.config.Version()+1 {
		return errSequence
	}
	s.config = c
	return nil
}

func (s *state) takeCertificate(e entry) error {
	if e.Member == nil || e.NotBefore == nil || e.NotAfter == nil {
		return errLine
	}
	if e.Serial <= s.lastSerial() {
		return errSequence
	}
	if e.Invite != nil {
		if err := s.invites.takeUse(*e.Invite, *e.Member); err != nil {
			return err
		}
	}
	if i, known := s.byMember[*e.Member]; known {
		s.records[i].raw = nil
	}
	s.byName[e.Name] = append(s.byName[e.Name], len(s.records))
	s.byMember[*e.Member] = len(s.records)
	s.records = append(s.records, Record{
		Serial: e.Serial, Name: e.Name, Member: *e.Member, Role: e.Role, Class: e.Class,
		IssuedAt: e.Time, NotBefore: *e.NotBefore, NotAfter: *e.NotAfter,
		Key: s.numberOf(s.signer().ID()), raw: e.Object,
	})
	return nil
}

func (s *state) takeRevocation(e entry) error {
	if e.Member == nil {
		return errLine
	}
	if e.Number != s.revocationVersion()+1 || s.dead[*e.Member] != nil {
		return errSequence
	}
	r := Revoked{Version: e.Number, Member: *e.Member, Time: e.Time, Reason: e.Reason, By: e.Evidence}
	s.revocations = append(s.revocations, revocation{Revoked: r, signer: s.signer().ID(), raw: e.Object})
	s.dead[r.Member] = &r
	return nil
}

func (s *state) revocationVersion() uint64 { return uint64(len(s.revocations)) }

// lastOf is the newest certificate of a member.
func (s *state) lastOf(m ident.Member) (Record, bool) {
	i, ok := s.byMember[m]
	if !ok {
		return Record{}, false
	}
	return s.records[i], true
}

// named lists the living members that have a certificate with the name which
// has not expired at a time.
func (s *state) named(name string, at time.Time) []ident.Member {
	var members []ident.Member
	for _, i := range s.byName[name] {
		r := s.records[i]
		if s.final(r.Member) == nil && at.Before(r.NotAfter) && !slices.Contains(members, r.Member) {
			members = append(members, r.Member)
		}
	}
	return members
}
