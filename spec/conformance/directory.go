package conformance

import (
	"crypto/sha256"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// maxPages is how many pages of a directory are read: of more than 64 members
// each, no check needs them all.
const maxPages = 256

// page asks for one page of the directory and looks at what M-6 says of it.
func (s *session) page(from, through ident.Member) *wire.Members {
	t := s.t
	m := request(s, &wire.Want{Topic: wire.WantMembers, From: from, Through: through}, "MEMBERS in answer to WANT", whatever[*wire.Members])
	last := ident.Member{}
	for i, e := range m.Entries {
		c, err := certificate.Parse(t.Group.ID(), e.Certificate, t.Group)
		t.check(err == nil, "the certificate of an entry: %v", err)
		id := c.Member()
		t.check(id.Compare(from) >= 0 && id.Compare(through) <= 0, "an entry outside of the range")
		t.check(i == 0 || id.Compare(last) > 0, "the entries do not ascend")
		t.ofEntry(c, e)
		last = id
	}
	if m.More {
		t.check(len(m.Entries) > 0 && m.Through == last, "more, but through is not the last entry's id")
	} else {
		t.check(m.Through == through, "no more, but through is not that of the question")
	}
	return m
}

// ofEntry looks at what stands beside the certificate in an entry of a page.
func (t *trial) ofEntry(c certificate.Certificate, e wire.Entry) {
	if len(e.Endpoint) > 0 {
		_, err := certificate.ParseEndpoint(t.Group.ID(), e.Endpoint, c.Key())
		t.check(err == nil, "the endpoint record of an entry: %v", err)
	}
	if len(e.Leave) > 0 {
		_, err := certificate.ParseLeave(t.Group.ID(), e.Leave, c.Key())
		t.check(err == nil, "the leave of an entry: %v", err)
	}
}

// entry is what the member shows of somebody; false if it does not.
func (s *session) entry(id ident.Member) (e wire.Entry, shown bool) {
	m := s.page(id, id)
	if len(m.Entries) == 0 {
		return e, false
	}
	return m.Entries[0], true
}

// recorded is the endpoint record of this member that the member under test has.
func (s *session) recorded() certificate.Endpoint {
	e, shown := s.entry(s.t.self)
	if !shown || len(e.Endpoint) == 0 {
		return certificate.Endpoint{}
	}
	r, err := certificate.ParseEndpoint(s.t.Group.ID(), e.Endpoint, s.t.Identity.Certificate.Key())
	s.t.check(err == nil, "this member's own record: %v", err)
	return r.Body()
}

// fingerprint is that of an entry of a page (D-16).
func fingerprint(e wire.Entry) (f wire.Fingerprint) {
	hash := sha256.New()
	for i, raw := range [][]byte{e.Certificate, e.Endpoint, e.Leave} {
		var part [sha256.Size]byte
		if i == 0 || len(raw) > 0 {
			part = sha256.Sum256(raw)
		}
		hash.Write(part[:])
	}
	for _, raw := range e.Failures {
		part := sha256.Sum256(raw)
		hash.Write(part[:])
	}
	copy(f[:], hash.Sum(nil))
	return f
}

// tally is how many members a range has, and their fingerprint.
type tally struct {
	members     uint64
	fingerprint wire.Fingerprint
}

func (c *tally) add(members uint64, f wire.Fingerprint) {
	c.members += members
	for i := range f {
		c.fingerprint[i] ^= f[i]
	}
}

// counted reads a whole directory, page by page.
func (s *session) counted() (c tally) {
	from := ident.Member{}
	for range maxPages {
		m := s.page(from, ident.LastMember())
		for _, e := range m.Entries {
			c.add(1, fingerprint(e))
		}
		if !m.More {
			return c
		}
		from = m.Through.Next()
	}
	s.t.skip("the directory has more than %d pages", maxPages)
	return c
}

// summary asks how the directory looks in a range, and looks at what M-6 says of
// the answer.
func (s *session) summary(from, through ident.Member) (c tally) {
	m := request(s, &wire.Want{Topic: wire.WantSummary, From: from, Through: through}, "SUMMARY in answer to WANT",
		func(m *wire.Summary) bool { return m.From == from })
	s.t.check(len(m.Parts) > 0, "a SUMMARY without parts")
	s.t.check(m.Parts[len(m.Parts)-1].Through == through, "the SUMMARY does not end where the question does")
	for _, p := range m.Parts {
		c.add(p.Members, p.Fingerprint)
	}
	s.t.check(len(m.Parts) == 1 || uint64(len(m.Parts)) <= c.members, "%d parts for %d members", len(m.Parts), c.members)
	return c
}
