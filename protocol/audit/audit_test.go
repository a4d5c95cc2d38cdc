package audit_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

var groupID = ident.Group{7}

// member is somebody who keeps a journal.
type member struct {
	id      ident.Member
	key     *signature.PrivateKey
	inc     ident.Incarnation
	entries []audit.Entry
	clock   *uint64 // shared by all
}

// story is a few members and what they write, in the order of writing.
type story struct {
	t     *testing.T
	clock uint64
	list  []*member
}

func newStory(t *testing.T, durable ...bool) *story {
	s := &story{t: t}
	for i, d := range durable {
		key, err := signature.NewPrivateKey(bytes.Repeat([]byte{byte(i + 1)}, signature.SeedSize))
		require.NoError(t, err)
		raw := key.Public().Bytes()
		m := &member{id: ident.MemberOf(groupID, raw[:]), key: key, inc: ident.Incarnation{byte(i + 1)}, clock: &s.clock}
		m.write(&journal.Incarnation{Incarnation: m.inc, Member: m.id, Durable: d})
		s.list = append(s.list, m)
	}
	return s
}

// write puts a record into a journal; nil is the end of the process.
func (m *member) write(r journal.Record) {
	*m.clock++
	m.entries = append(m.entries, audit.Entry{At: *m.clock, Record: r})
}

// erase loses the last record.
func (m *member) erase() { m.entries = m.entries[:len(m.entries)-1] }

func (s *story) audit() *audit.Report {
	var journals []audit.Journal
	for _, m := range s.list {
		journals = append(journals, audit.Journal{Member: m.id, Entries: m.entries})
	}
	return audit.Check(groupID, journals, audit.Options{})
}

func (s *story) generate(m *member) token.Title {
	g, err := token.GenesisBody{Resource: "r", Generator: m.id, Incarnation: m.inc, Sequence: s.clock, Time: 1}.Sign(groupID, m.key)
	require.NoError(s.t, err)
	m.write(&journal.Generated{Genesis: g.Raw()})
	return token.Title{Genesis: g}
}

// sign makes a transfer that nobody has written down.
func (s *story) sign(t token.Title, from, to *member, accept uint64) token.Transfer {
	tr, err := t.Next(to.id, ident.Reservation{Incarnation: to.inc, Number: accept}).Sign(groupID, from.key)
	require.NoError(s.t, err)
	return tr
}

func (s *story) send(t token.Title, from, to *member) token.Transfer {
	tr := s.sign(t, from, to, s.clock+1)
	from.write(&journal.Sent{Transfer: tr.Raw()})
	return tr
}

func take(t token.Title, tr token.Transfer, to *member) token.Title {
	to.write(&journal.Held{Transfer: tr.Raw(), Genesis: t.Genesis.Raw()})
	return token.Title{Genesis: t.Genesis, Transfer: tr}
}

func closed(tr token.Transfer, from *member) {
	b := tr.Body()
	from.write(&journal.Closed{Token: b.Token, Hop: b.Hop - 1, Receipt: []byte{1}})
}

// hand is a whole handoff.
func (s *story) hand(t token.Title, from, to *member) token.Title {
	tr := s.send(t, from, to)
	next := take(t, tr, to)
	closed(tr, from)
	return next
}

// kinds are the findings, each kind once.
func kinds(r *audit.Report) (list []audit.Kind) {
	for _, f := range r.Findings {
		if r.Count(f.Kind) > 0 && !contains(list, f.Kind) {
			list = append(list, f.Kind)
		}
	}
	return list
}

func contains(list []audit.Kind, k audit.Kind) bool {
	for _, x := range list {
		if x == k {
			return true
		}
	}
	return false
}

func TestHonestJournals(t *testing.T) {
	s := newStory(t, true, true, true)
	a, b, c := s.list[0], s.list[1], s.list[2]
	first := s.generate(a)
	second := s.generate(b)
	title := s.hand(s.hand(s.hand(first, a, b), b, c), c, a)
	b.write(&journal.Dropped{Token: second.Token(), Hop: 0})
	// c declines, and a goes on at the burned hop.
	declined := s.send(title, a, c)
	c.write(&journal.Voided{Transfer: declined.Raw(), Void: []byte{1}})
	a.write(&journal.Reclaimed{Token: title.Token(), Hop: declined.Body().Hop, Void: []byte{1}})

	r := s.audit()
	assert.Empty(t, r.Findings)
	assert.Equal(t, 3, r.Handoffs())
	assert.Len(t, r.Custodies, 6)
	fates := make(map[ident.Token]audit.Token)
	for _, tok := range r.Tokens {
		fates[tok.ID] = tok
	}
	assert.Equal(t, audit.Token{
		ID: first.Token(), Hop: 4, Last: a.id, Fate: audit.Held, Resource: "r", Generator: a.id, At: audit.Forever,
	}, fates[first.Token()])
	assert.Equal(t, audit.Dropped, fates[second.Token()].Fate)
	for _, one := range r.Custodies {
		if one.Token == first.Token() && one.Hop == 1 {
			assert.Equal(t, b.id, one.Member)
			assert.Equal(t, audit.Given, one.Ending)
			assert.Less(t, one.Begin, one.End)
		}
	}
}

// Each broken rule, and no other, is found.
func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		tell func(s *story, a, b, c *member)
		want []audit.Kind
	}{
		"the record of giving away is lost": {func(s *story, a, b, _ *member) {
			title := s.generate(a)
			tr := s.send(title, a, b)
			a.erase()
			take(title, tr, b)
		}, []audit.Kind{audit.Unsent, audit.Overlap}},
		"the record of taking is lost": {func(s *story, a, b, _ *member) {
			title := s.generate(a)
			tr := s.send(title, a, b)
			take(title, tr, b)
			b.erase()
			closed(tr, a)
		}, []audit.Kind{audit.Unheld, audit.Vanished}},
		"two transfers of one hop": {func(s *story, a, b, c *member) {
			title := s.generate(a)
			s.hand(title, a, b)
			take(title, s.sign(title, a, c, 9), c)
		}, []audit.Kind{audit.Fork, audit.Unsent, audit.Overlap}},
		"a second one that was only declined": {func(s *story, a, b, c *member) {
			title := s.generate(a)
			s.hand(title, a, b)
			c.write(&journal.Voided{Transfer: s.sign(title, a, c, 9).Raw(), Void: []byte{1}})
		}, []audit.Kind{audit.Fork}},
		"one transfer taken twice": {func(s *story, a, b, c *member) {
			title := s.generate(a)
			tr := s.send(title, a, b)
			next := take(title, tr, b)
			closed(tr, a)
			s.hand(next, b, c)
			take(title, tr, b)
		}, []audit.Kind{audit.Twice, audit.Overlap}},
		"one transfer taken and declined": {func(s *story, a, b, _ *member) {
			title := s.generate(a)
			tr := s.send(title, a, b)
			take(title, tr, b)
			b.write(&journal.Voided{Transfer: tr.Raw(), Void: []byte{1}})
		}, []audit.Kind{audit.Contradiction}},
		"taken, and taken back": {func(s *story, a, b, _ *member) {
			title := s.generate(a)
			tr := s.send(title, a, b)
			take(title, tr, b)
			a.write(&journal.Reclaimed{Token: title.Token(), Hop: 1, Void: []byte{1}})
		}, []audit.Kind{audit.Overlap}},
		"an incarnation begins twice": {func(_ *story, a, _, _ *member) {
			a.write(&journal.Incarnation{Incarnation: a.inc, Member: a.id, Durable: true})
		}, []audit.Kind{audit.Revived}},
		"two members with one incarnation": {func(_ *story, a, b, _ *member) {
			b.write(&journal.Incarnation{Incarnation: a.inc, Member: b.id, Durable: true})
		}, []audit.Kind{audit.Revived}},
		"a sequence number for two tokens": {func(s *story, a, _, _ *member) {
			one, err := token.GenesisBody{Resource: "r", Generator: a.id, Incarnation: a.inc, Sequence: 5, Time: 1}.Sign(groupID, a.key)
			require.NoError(s.t, err)
			two, err := token.GenesisBody{Resource: "r", Generator: a.id, Incarnation: a.inc, Sequence: 5, Time: 2}.Sign(groupID, a.key)
			require.NoError(s.t, err)
			a.write(&journal.Generated{Genesis: one.Raw()})
			a.write(&journal.Generated{Genesis: two.Raw()})
		}, []audit.Kind{audit.Minted}},
		"given away while a program ran": {func(s *story, a, b, _ *member) {
			title := s.generate(a)
			a.write(&journal.Started{Grant: ident.Grant{1}, Token: title.Token()})
			s.hand(title, a, b)
		}, []audit.Kind{audit.Busy}},
		"granted twice": {func(s *story, a, _, _ *member) {
			title := s.generate(a)
			a.write(&journal.Started{Grant: ident.Grant{1}, Token: title.Token()})
			a.write(&journal.Started{Grant: ident.Grant{2}, Token: title.Token()})
		}, []audit.Kind{audit.Busy}},
		"granted without custody": {func(_ *story, a, _, _ *member) {
			a.write(&journal.Started{Grant: ident.Grant{1}, Token: ident.Token{1}})
		}, []audit.Kind{audit.Misfit}},
		"given away without custody": {func(s *story, a, b, _ *member) {
			title := s.generate(a)
			s.hand(title, a, b)
			tr := s.sign(title, a, b, 9)
			a.write(&journal.Sent{Transfer: tr.Raw()})
		}, []audit.Kind{audit.Fork, audit.Misfit}},
		"closed without a sending": {func(s *story, a, _, _ *member) {
			closed(s.sign(s.generate(a), a, s.list[1], 9), a)
		}, []audit.Kind{audit.Misfit}},
		"taken by whom it was not sent to": {func(s *story, a, b, c *member) {
			title := s.generate(a)
			take(title, s.send(title, a, b), c)
		}, []audit.Kind{audit.Misfit}},
		"rubbish": {func(_ *story, a, _, _ *member) {
			a.write(&journal.Held{Transfer: []byte{1}})
			a.write(&journal.Generated{Genesis: []byte{1}})
		}, []audit.Kind{audit.Misfit}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, true, true, true)
			c.tell(s, s.list[0], s.list[1], s.list[2])
			r := s.audit()
			assert.ElementsMatch(t, c.want, kinds(r), "%v", r.Findings)
			for _, f := range r.Findings {
				assert.Contains(t, f.String(), string(f.Kind))
			}
		})
	}
}

func TestRecords_BeforeIncarnation_Damage(t *testing.T) {
	s := newStory(t, true)
	a := s.list[0]
	s.generate(a)
	a.entries = a.entries[1:]
	assert.Equal(t, []audit.Kind{audit.Misfit}, kinds(s.audit()))
}

// What becomes of tokens when volatile members crash: handoff rules §7.
func TestFates(t *testing.T) {
	for name, c := range map[string]struct {
		tell func(s *story, a, b *member) token.Title
		want audit.Fate
	}{
		"V1: the holder crashes": {func(s *story, a, _ *member) token.Title {
			title := s.generate(a)
			a.write(nil)
			return title
		}, audit.LostHolder},
		"V1: the holder begins anew": {func(s *story, a, _ *member) token.Title {
			title := s.generate(a)
			a.write(&journal.Incarnation{Incarnation: ident.Incarnation{50}, Member: a.id})
			return title
		}, audit.LostHolder},
		"V2: the receiver crashes before it takes": {func(s *story, a, b *member) token.Title {
			title := s.generate(a)
			s.send(title, a, b)
			b.write(nil)
			return title
		}, audit.LostReceiver},
		"the sender crashes before the answer": {func(s *story, a, b *member) token.Title {
			title := s.generate(a)
			s.send(title, a, b)
			a.write(nil)
			return title
		}, audit.LostOrphan},
		"the sender gives up": {func(s *story, a, b *member) token.Title {
			title := s.generate(a)
			s.send(title, a, b)
			a.write(&journal.Closed{Token: title.Token()})
			return title
		}, audit.LostOrphan},
		"a receiver's record is lost with its memory": {func(s *story, a, b *member) token.Title {
			title := s.generate(a)
			closed(s.send(title, a, b), a)
			b.write(nil)
			return title
		}, audit.LostHolder},
		"under way": {func(s *story, a, b *member) token.Title {
			title := s.generate(a)
			s.send(title, a, b)
			return title
		}, audit.UnderWay},
		"taken, and then the sender crashes": {func(s *story, a, b *member) token.Title {
			title := s.generate(a)
			take(title, s.send(title, a, b), b)
			a.write(nil)
			return title
		}, audit.Held},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, false, false)
			title := c.tell(s, s.list[0], s.list[1])
			r := s.audit()
			require.Len(t, r.Tokens, 1)
			assert.Equal(t, title.Token(), r.Tokens[0].ID)
			assert.Equal(t, c.want, r.Tokens[0].Fate)
			assert.Equal(t, c.want >= audit.LostHolder, r.Tokens[0].Fate.Lost())
			assert.Empty(t, r.Findings)
		})
	}
}

// A durable member's crash ends nothing.
func TestCustody_DurableCrash_GoesOn(t *testing.T) {
	s := newStory(t, true, true)
	title := s.generate(s.list[0])
	s.list[0].write(nil)
	s.hand(title, s.list[0], s.list[1])
	s.list[1].write(nil)
	r := s.audit()
	assert.Empty(t, r.Findings)
	assert.Equal(t, audit.Held, r.Tokens[0].Fate)
}

// Custody lasts until the record of its end is durable.
func TestCustody_EndDurable_Ends(t *testing.T) {
	s := newStory(t, true, true)
	a, b := s.list[0], s.list[1]
	title := s.generate(a)
	tr := s.send(title, a, b)
	sent := len(a.entries) - 1
	take(title, tr, b)
	assert.Empty(t, s.audit().Findings)
	a.entries[sent].Durable = s.clock + 5
	assert.Equal(t, []audit.Kind{audit.Overlap}, kinds(s.audit()))
}

func TestClocks_Skew_Estimated(t *testing.T) {
	s := newStory(t, true, true)
	a, b := s.list[0], s.list[1]
	title := s.generate(a)
	take(title, s.send(title, a, b), b)
	for i := range b.entries {
		b.entries[i].At -= 2 // b's clock is late: it took the token before it was sent
	}
	journals := []audit.Journal{{Member: a.id, Entries: a.entries}, {Member: b.id, Entries: b.entries}}
	assert.Equal(t, 1, audit.Check(groupID, journals, audit.Options{}).Count(audit.Overlap))
	assert.Empty(t, audit.Check(groupID, journals, audit.Options{Skew: 2}).Findings)
}

// Where a journal is not at hand, nothing is held against its owner.
func TestMissingJournals(t *testing.T) {
	s := newStory(t, true, true, true)
	a, b, c := s.list[0], s.list[1], s.list[2]
	s.hand(s.hand(s.generate(a), a, b), b, c)
	s.list = []*member{a, c}
	r := s.audit()
	assert.Empty(t, r.Findings)
	assert.Equal(t, uint64(2), r.Tokens[0].Hop)
	assert.Equal(t, c.id, r.Tokens[0].Last)
	assert.Equal(t, audit.Held, r.Tokens[0].Fate)
	s.list = []*member{a}
	assert.Equal(t, audit.UnderWay, s.audit().Tokens[0].Fate)
}

func TestNames(t *testing.T) {
	seen := make(map[string]bool)
	for f := audit.Held; f <= audit.LostUnknown; f++ {
		seen[f.String()] = true
	}
	for e := audit.Open; e <= audit.Unseen; e++ {
		seen[e.String()] = true
	}
	assert.Len(t, seen, 10+5-1, "dropped is a fate and an ending")
	assert.Equal(t, "fate 99", audit.Fate(99).String())
	assert.Equal(t, "ending 99", audit.Ending(99).String())
}
