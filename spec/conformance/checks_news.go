package conformance

import (
	"bytes"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// newsChecks are about chapters 7.9 and 9.1: what is said about members. All of it is about this one:
// its endpoint record shows what was taken in.
var newsChecks = []Check{
	{"news", []string{"M-16", "D-1"}, "An endpoint record in NEWS is taken in, and the one before does not take its place afterwards.", newsTaken},
	{"malformed-update", []string{"M-10"}, "What stands before a malformed update is taken in, what stands behind it is not; the connection stays.", malformedUpdate},
	{"unknown-update", []string{"M-10"}, "An update of a kind that nobody knows is skipped, and the next one is taken in.", unknownUpdate},
	{"forged-record", []string{"D-2", "E-5", "D-30"}, "An endpoint record whose signature does not hold is not taken in; the connection stays.", forgedRecord},
	{"forged-certificate-told", []string{"D-2", "E-5"}, "A member whose certificate no CA has signed is not taken in; the connection stays.", forgedMember},
	{"forged-revocation", []string{"D-2", "E-5", "O-8"}, "A revocation of this member that no CA has signed changes nothing; the connection stays.", forgedRevocation},
	{"forged-configuration", []string{"D-29", "E-5", "O-4"}, "A configuration with a higher version that no CA has signed is not adopted; the connection stays.", forgedConfiguration},
}

// join is the update with this member's certificate and an endpoint record.
func (t *trial) join(e certificate.SignedEndpoint) []byte { return t.joinOf(e.Raw()) }

func (t *trial) joinOf(endpoint []byte) []byte {
	raw, err := update.Join(t.Identity.Certificate.Raw(), endpoint).Encode()
	t.check(err == nil, "update not encoded: %v", err)
	return raw
}

// listened greets the member, and makes sure that it listens to what this one says
// about members: it need not, after too many faults (D-31).
func (t *trial) listened() *session {
	s := t.greet()
	t.record = t.endpoint(s.cert.Member())
	s.say(&wire.News{Updates: [][]byte{t.join(t.record)}})
	s.fence()
	if s.recorded().Sequence != t.record.Body().Sequence {
		t.skip("the member does not take in the endpoint record of this one: it keeps a sample, or has had too many faults from this identity (D-31); try again in some minutes")
	}
	return s
}

// taken fails unless the member has this record of this one.
func (s *session) taken(want certificate.SignedEndpoint, what string) {
	s.fence()
	s.t.check(s.recorded().Sequence == want.Body().Sequence, "%s", what)
}

func newsTaken(t *trial) {
	s := t.greet()
	if s.recorded().Sequence == 0 {
		t.skip("the member does not show the record of this one: it keeps a sample, or has had too many faults from this identity (D-31)")
	}
	before := t.record
	t.record = t.endpoint(s.cert.Member())
	s.say(&wire.News{Updates: [][]byte{t.join(t.record)}})
	s.taken(t.record, "the record in NEWS was not taken in")
	s.say(&wire.News{Updates: [][]byte{t.join(before)}})
	s.taken(t.record, "an older record has taken the place of a newer one")
}

// malformed is an update that lacks an object.
var malformed = []byte{0x82, 0x01, 0x40}

func malformedUpdate(t *trial) {
	s := t.listened()
	first := t.endpoint(s.cert.Member())
	t.record = first
	second := t.endpoint(s.cert.Member())
	t.record = second
	s.say(&wire.News{Updates: [][]byte{t.join(first), malformed, t.join(second)}})
	s.taken(first, "what stands before the malformed update was not taken in, or what stands behind it was")
}

func unknownUpdate(t *trial) {
	s := t.listened()
	t.record = t.endpoint(s.cert.Member())
	s.say(&wire.News{Updates: [][]byte{{0x82, 0x17, 0x41, 0x00}, t.join(t.record)}})
	s.taken(t.record, "what stands behind an update of an unknown kind was not taken in")
}

func forgedRecord(t *trial) {
	s := t.listened()
	before := t.record
	t.record = t.endpoint(s.cert.Member())
	raw := bytes.Clone(t.record.Raw())
	raw[len(raw)-40] ^= 1
	s.say(&wire.News{Updates: [][]byte{t.joinOf(raw)}})
	s.taken(before, "a forged record was taken in")
	greeting := s.greeting()
	greeting.Endpoint = raw
	s.say(greeting)
	s.taken(before, "a forged record in HELLO was taken in")
}

// asCA rewrites an envelope so that its key id is that of a CA of the group, which
// has not signed it.
func (t *trial) asCA(raw []byte) []byte {
	const keyID = 8 // where it begins (chapter 5)
	forged, ca := bytes.Clone(raw), t.Group.Config().Signer()
	copy(forged[keyID:], ca[:])
	return forged
}

func forgedMember(t *trial) {
	s := t.listened()
	key := t.newKey()
	made := t.selfMade(t.Group.ID(), key, t.newKey()).Certificate
	for _, raw := range [][]byte{made.Raw(), t.asCA(made.Raw())} {
		u, err := update.Join(raw, nil).Encode()
		t.check(err == nil, "update not encoded: %v", err)
		s.say(&wire.News{Updates: [][]byte{u}})
	}
	s.fence()
	_, shown := s.entry(made.Member())
	t.check(!shown, "a member that no CA has signed is in its directory")
}

func forgedRevocation(t *trial) {
	s := t.greet()
	r, err := certificate.Revocation{Version: s.hello.Revocations + 1, Member: t.self, Serial: 1}.Sign(t.Group.ID(), t.newKey())
	t.check(err == nil, "revocation not signed: %v", err)
	u, err := update.Revocation(t.asCA(r.Raw())).Encode()
	t.check(err == nil, "update not encoded: %v", err)
	s.say(&wire.Revocations{Revocations: [][]byte{t.asCA(r.Raw()), r.Raw()}}, &wire.News{Updates: [][]byte{u}})
	s.fence()
	t.greet().stays()
}

func forgedConfiguration(t *trial) {
	s := t.greet()
	settings, key := t.Group.Config().Settings(), t.newKey()
	settings.Version = s.hello.Configuration + 100
	settings.Authorities = [][16]byte{certificate.AuthorityID(key.Public())}
	c, err := settings.Sign(t.Group.ID(), key)
	t.check(err == nil, "configuration not signed: %v", err)
	s.say(&wire.Configuration{Configuration: t.asCA(c.Raw())}, &wire.Configuration{Configuration: c.Raw()})
	s.fence()
	version := t.greet().hello.Configuration
	t.check(version < settings.Version, "a forged configuration is in force")
}
