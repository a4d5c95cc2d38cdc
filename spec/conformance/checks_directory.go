package conformance

import (
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// directoryChecks are about chapters 7.7, 7.8, 9.3 and 9.4: questions about the directory.
var directoryChecks = []Check{
	{"members", []string{"M-6", "D-17"}, "WANT, topic 1, is answered by pages with ascending ids in the range, whose objects verify, and on which the member itself is.", wantMembers},
	{"empty-page", []string{"M-6"}, "A range with nobody in it is answered by a page with nobody on it.", emptyPage},
	{"configuration", []string{"M-6", "E-5"}, "WANT, topic 2, is answered by a configuration that verifies and has the version of HELLO.", wantConfiguration},
	{"revocations", []string{"M-6", "D-6"}, "WANT, topic 3, is answered by revocations that verify, ascending, above the version that was named.", wantRevocations},
	{"summary", []string{"M-6"}, "WANT, topic 4, is answered by parts that cover the range.", wantSummary},
	{"fingerprint", []string{"D-16", "D-17"}, "The fingerprint of a SUMMARY is the one that its pages give.", fingerprints},
	{"gossip", []string{"M-14"}, "GOSSIP is answered by one GOSSIP, with answer true, which itself is not answered.", gossipOnce},
	{"versions", []string{"D-28"}, "A GOSSIP with higher versions makes the member ask for configuration and revocations; one with lower ones does not.", versions},
	{"page-without-end", []string{"M-7"}, "After a page that promises more and brings nobody, the member does not ask for the next one.", pageWithoutEnd},
	{"not-asked-for", []string{"M-9"}, "A page that nobody has asked for changes nothing.", notAskedFor},
}

func wantMembers(t *trial) {
	s := t.greet()
	e, shown := s.entry(s.cert.Member())
	t.check(shown, "the member does not show itself")
	t.check(len(e.Certificate) > 0, "an entry without certificate")
	s.page(ident.Member{}, ident.LastMember())
}

func emptyPage(t *trial) {
	s := t.greet()
	id := t.self.Next()
	m := s.page(id, id)
	t.check(len(m.Entries) == 0 && !m.More, "somebody is on a page about nobody")
}

func wantConfiguration(t *trial) {
	s := t.greet()
	m := request(s, &wire.Want{Topic: wire.WantConfiguration}, "CONFIGURATION", whatever[*wire.Configuration])
	g := t.Group.Vouched(m.Authorities)
	c, err := group.ParseConfig(t.Group.ID(), m.Configuration, g)
	t.check(err == nil, "the configuration: %v", err)
	t.check(c.Version() == s.hello.Configuration, "version %d, and HELLO says %d", c.Version(), s.hello.Configuration)
}

func wantRevocations(t *trial) {
	s := t.greet()
	var after uint64
	for range maxPages {
		m := request(s, &wire.Want{Topic: wire.WantRevocations, Version: after}, "REVOCATIONS", whatever[*wire.Revocations])
		before := after
		for _, raw := range m.Revocations {
			r, err := certificate.ParseRevocation(t.Group.ID(), raw, t.Group)
			t.check(err == nil, "a revocation: %v", err)
			t.check(r.Body().Version > after, "version %d comes after %d", r.Body().Version, after)
			after = r.Body().Version
		}
		if !m.More {
			return
		}
		t.check(after > before, "more, but nothing new")
	}
}

func wantSummary(t *trial) {
	s := t.greet()
	t.check(s.summary(ident.Member{}, ident.LastMember()).members > 0, "a directory without members")
	self := s.cert.Member()
	t.check(s.summary(self, self).members == 1, "one id, and not one member")
	nobody := t.self.Next()
	t.check(s.summary(nobody, nobody) == tally{}, "of no members, the fingerprint is not 0")
}

// fingerprints reads the directory until it does not change meanwhile.
func fingerprints(t *trial) {
	s := t.greet()
	for range 5 {
		before := s.summary(ident.Member{}, ident.LastMember())
		pages := s.counted()
		if before != s.summary(ident.Member{}, ident.LastMember()) {
			continue
		}
		t.check(pages.members == before.members, "%d members on pages, %d in SUMMARY", pages.members, before.members)
		t.check(pages.fingerprint == before.fingerprint, "%x by the pages, %x in SUMMARY", pages.fingerprint, before.fingerprint)
		return
	}
	t.skip("the directory changes all the time")
}

// gossip compares nothing but versions.
func (s *session) gossip(answer bool) *wire.Gossip {
	return &wire.Gossip{Configuration: s.hello.Configuration, Revocations: s.hello.Revocations, Answer: answer}
}

func isAnswer(m *wire.Gossip) bool { return m.Answer }

func gossipOnce(t *trial) {
	s := t.greet()
	s.say(s.gossip(false))
	expect(s, "answer to GOSSIP", isAnswer)
	s.say(s.gossip(true))
	never(s, "a GOSSIP with answer true is answered, or another one twice", isAnswer)
}

func versions(t *trial) {
	s := t.greet()
	ahead := s.gossip(true)
	ahead.Configuration += 7
	ahead.Revocations += 7
	s.say(ahead)
	topics := map[wire.Topic]bool{}
	for len(topics) < 2 {
		m := expect(s, "WANT of the configuration and revocations that it lacks", func(m *wire.Want) bool {
			return m.Topic == wire.WantConfiguration || m.Topic == wire.WantRevocations
		})
		topics[m.Topic] = true
	}
	behind := s.gossip(true)
	behind.Configuration--
	behind.Revocations -= min(behind.Revocations, 1)
	s.heard = nil
	s.say(behind)
	never(s, "it asks for what is older", func(m *wire.Want) bool {
		return m.Topic == wire.WantConfiguration || m.Topic == wire.WantRevocations
	})
}

func pageWithoutEnd(t *trial) {
	s := t.greet()
	ask := s.gossip(true)
	ask.Members, ask.Fingerprint = 1, wire.Fingerprint{1}
	s.say(ask)
	first := expect(s, "question about the directory that it does not have", func(m *wire.Want) bool { return m.Topic == wire.WantSummary })
	s.say(&wire.Summary{From: first.From, Parts: []wire.Part{{Through: first.Through, Members: 1, Fingerprint: wire.Fingerprint{1}}}})
	expect(s, "question for the members of a range that differs", func(m *wire.Want) bool { return m.Topic == wire.WantMembers })
	s.heard = nil
	s.say(&wire.Members{Through: ident.Member{0: 0x7f}, More: true})
	never(s, "it reads on after a page that brings nobody", func(m *wire.Want) bool { return m.Topic == wire.WantMembers })
}

func notAskedFor(t *trial) {
	s := t.greet()
	before := s.recorded()
	if before.Sequence == 0 {
		t.skip("the member does not show the record of this one: it has not taken it, or keeps a sample")
	}
	t.record = t.endpoint(s.cert.Member())
	s.say(&wire.Members{
		Entries: []wire.Entry{{Certificate: t.Identity.Certificate.Raw(), Endpoint: t.record.Raw()}}, Through: ident.LastMember(),
	})
	s.fence()
	t.check(s.recorded().Sequence == before.Sequence, "a page that nobody has asked for was taken in")
}
