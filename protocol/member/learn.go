package member

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// writePause is how often what a member can sign anew as often as it likes is
// journalled at most: its endpoint record, its leave, what it states about one
// other. A newer one that is not journalled is asked for again after a restart.
const writePause = 10 * time.Minute

// tellPause is how often news of one member's certificate or endpoint record
// are passed on at most. It can sign as many as it likes; what is left out,
// the exchange of directories brings.
const tellPause = 2 * time.Second

// learn takes in what the operator's files say.
func (m *Member) learn(in Learn) {
	if len(in.Configuration) > 0 {
		m.learnConfiguration(ident.Member{}, in.Configuration, in.Authorities)
	} else {
		m.learnAuthorities(in.Authorities)
	}
	_ = m.learnRevocations(ident.Member{}, in.Revocations)
	for _, raw := range in.Certificates {
		_ = m.learnCertificate(ident.Member{}, raw, m.dir.Learn)
	}
	for _, raw := range in.Endpoints {
		_ = m.learnEndpoint(ident.Member{}, raw)
	}
	for _, raw := range in.Leaves {
		// The CA tells of members that this one need not know: of times before it.
		if id, err := certificate.LeaveSigner(m.cfg.Group.ID(), raw); err != nil || m.dir.Key(id) != nil {
			_ = m.learnLeave(ident.Member{}, raw)
		}
	}
}

// talk calls f, in which news are passed on: what an update or a greeting says.
// What a page of a directory says may be old, and is passed on by nobody; nor are
// the operator's files.
func (m *Member) talk(f func()) {
	before := m.talking
	m.talking = true
	f()
	m.talking = before
}

// learnSigners takes in the certificates of those who have signed a token.
func (m *Member) learnSigners(from ident.Member, list [][]byte) {
	for _, raw := range list {
		if m.ignored(from) && !m.dir.Has(raw) {
			m.reject("ignored peer")
			return
		}
		_ = m.learnCertificate(from, raw, m.dir.LearnSigner)
	}
}

// learnCertificate takes in one certificate. News is journalled, lazily, so
// that after a restart this member finds its peers without anybody's help.
func (m *Member) learnCertificate(from ident.Member, raw []byte, learn func([]byte) (certificate.Certificate, bool, error)) error {
	if m.dir.Has(raw) {
		return nil
	}
	c, news, err := learn(raw)
	if err != nil {
		return m.unlearned(from, "certificate", err)
	}
	if news {
		m.changed = true
		m.persist(&journal.Known{What: journal.KnownCertificate, Object: raw}, false)
		m.tellOf(c.Member())
	}
	return nil
}

// unlearned sorts out why an object was not taken: for want of room, of time or
// of somebody's certificate, or because it is not what it says.
func (m *Member) unlearned(from ident.Member, what string, err error) error {
	switch {
	case errors.Is(err, certificate.ErrUnknownCA):
		// Perhaps of a CA key that was introduced meanwhile.
		m.reject(what + " of an unknown CA key")
	case errors.Is(err, directory.ErrUnknown), errors.Is(err, directory.ErrFull), errors.Is(err, directory.ErrForgotten):
		m.reject(what + " not kept")
		return nil
	default:
		m.blame(from, "forged "+what)
	}
	return err
}

// learnEndpoint takes in one endpoint record. Its member can sign as many as it
// likes, so not all of them are journalled.
func (m *Member) learnEndpoint(from ident.Member, raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	id, err := certificate.EndpointSigner(m.cfg.Group.ID(), raw)
	if err != nil {
		return m.unlearned(from, "endpoint record", err)
	}
	failed := m.dir.Failed(id)
	_, located := m.dir.Endpoint(id)
	news, err := m.dir.LearnEndpoint(raw)
	switch {
	case err != nil:
		return m.unlearned(from, "endpoint record", err)
	case !news:
		m.outdated(from, id, raw)
		return nil
	}
	m.located(id, raw)
	if id == m.self {
		m.overtaken(raw)
		return nil
	}
	switch {
	case failed && !m.dir.Failed(id):
		m.tellOf(id)
		m.tellAlive(id)
	case !located && m.snapshots.caughtUp():
		m.tellJoined(id)
	default:
		m.tellOf(id)
	}
	return nil
}

// located notes a new endpoint record, and journals it now and then.
func (m *Member) located(id ident.Member, raw []byte) {
	m.changed = true
	if m.mayWrite(update.Key{Kind: update.KindJoin, Subject: id}) || id == m.self {
		m.persist(&journal.Known{What: journal.KnownEndpoint, Object: raw}, false)
	}
}

// mayWrite bounds how often what is news about one matter is journalled.
func (m *Member) mayWrite(key update.Key) bool {
	if last, ok := m.journalled[key]; ok && m.now.Boot.Sub(last) < writePause {
		return false
	}
	if len(m.journalled) >= maxJournalled {
		clear(m.journalled)
	}
	m.journalled[key] = m.now.Boot
	return true
}

// maxJournalled bounds the matters of which it is known when they were journalled
// last: 6 MB. When there are more, all may be journalled again.
const maxJournalled = 1 << 16

// outdated counts an endpoint record that a newer one has replaced. An honest
// peer may not have heard of that yet; it is told by the next exchange.
func (m *Member) outdated(from, about ident.Member, raw []byte) {
	if known, _ := m.dir.Endpoint(about); !bytes.Equal(known, raw) {
		m.stale(from, "old endpoint record")
	}
}

// tellOf passes on where a member is, if that was heard as news.
func (m *Member) tellOf(id ident.Member) { m.pass(id, m.spread) }

// tellJoined is tellOf of somebody who was not known: at once, because tokens may
// come seldom, and until it is known it gets none of them.
func (m *Member) tellJoined(id ident.Member) { m.pass(id, m.spreadNow) }

func (m *Member) pass(id ident.Member, spread func(update.Key, update.Update)) {
	if !m.talking {
		return
	}
	key := update.Key{Kind: update.KindJoin, Subject: id}
	if u, ok := m.joinOf(id); ok && m.mayTell(key) {
		spread(key, u)
	}
}

// tellAlive passes on at once where a member is that others may take for dead, if
// that was not done just before: those who state its failure again and again may
// be its friends.
func (m *Member) tellAlive(id ident.Member) {
	if m.mayTell(update.Key{Kind: update.KindJoin, Subject: id, Witness: id}) {
		m.tellNow(id)
	}
}

// tellNow passes on at once where a member is.
func (m *Member) tellNow(id ident.Member) {
	if u, ok := m.joinOf(id); ok {
		m.spreadNow(update.Key{Kind: update.KindJoin, Subject: id}, u)
	}
}

// mayTell bounds how often news about one matter are passed on: who signs them
// can sign as many as it likes.
func (m *Member) mayTell(key update.Key) bool {
	if last, ok := m.told[key]; ok && m.now.Boot.Sub(last) < tellPause {
		return false
	}
	if len(m.told) >= maxTold {
		clear(m.told)
	}
	m.told[key] = m.now.Boot
	return true
}

// maxTold bounds the matters whose last news are timed. When there are more, all
// may be told of again.
const maxTold = 4096

// joinOf is the update that says where a member is.
func (m *Member) joinOf(id ident.Member) (update.Update, bool) {
	c := m.dir.RawCertificate(id)
	e, located := m.dir.Endpoint(id)
	if c == "" || !located {
		return update.Update{}, false
	}
	return update.Join([]byte(c), e), true
}

// recentLeaves is how many leaves are kept at hand for the CA, which has perhaps
// not heard of them.
const recentLeaves = 64

// RecentLeaves are the last leaves that were news here, encoded.
func (m *Member) RecentLeaves() [][]byte { return slices.Clone(m.leaves) }

// learnLeave takes in that a member has left, by its own word.
func (m *Member) learnLeave(from ident.Member, raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	id, err := certificate.LeaveSigner(m.cfg.Group.ID(), raw)
	if err != nil {
		return m.unlearned(from, "leave", err)
	}
	_, before := m.dir.Left(id)
	switch news, err := m.dir.LearnLeave(raw); {
	case err != nil:
		return m.unlearned(from, "leave", err)
	case !news || before: // an earlier leave of whom has left is as good
		return nil
	}
	m.tookLeave(id, raw)
	m.leaves = append(m.leaves[max(0, len(m.leaves)+1-recentLeaves):], raw)
	if c := m.dir.RawCertificate(id); c != "" && (m.talking || id == m.self) {
		m.spreadNow(update.Key{Kind: update.KindLeave, Subject: id}, update.Leave(raw, []byte(c)))
	}
	return nil
}

// tookLeave notes that a member has left.
func (m *Member) tookLeave(id ident.Member, raw []byte) {
	m.changed = true
	if m.mayWrite(update.Key{Kind: update.KindLeave, Subject: id}) {
		m.persist(&journal.Known{What: journal.KnownLeave, Object: raw}, false)
	}
	delete(m.live.detector.suspects, id)
	if id == m.self {
		m.depart()
	}
}

// learnFailure takes in that a witness does not reach a member.
func (m *Member) learnFailure(from ident.Member, raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	f, err := certificate.PeekFailure(m.cfg.Group.ID(), raw)
	if err != nil {
		return m.unlearned(from, "failure statement", err)
	}
	if m.dir.HasFailure(f.Subject, raw) {
		return nil
	}
	before, failed := len(m.dir.Failures(f.Subject)), m.dir.Failed(f.Subject)
	if _, err := m.dir.LearnFailure(raw); err != nil {
		return m.unlearned(from, "failure statement", err)
	}
	if len(m.dir.Failures(f.Subject)) <= before {
		return nil // it counts for nothing yet, or its witness has said so before
	}
	m.tookFailure(f, raw)
	if !failed && m.peers.has(f.Subject) {
		m.tellFailed(f.Subject)
	}
	return nil
}

// tookFailure journals and passes on a failure statement that is news, that names
// the subject's endpoint record (any other counts for nothing yet), and that is needed for a quorum: when a network breaks, everybody
// would else tell everybody what everybody sees.
func (m *Member) tookFailure(f certificate.Failure, raw []byte) {
	if sequence, known := m.dir.Sequence(f.Subject); !known || sequence != f.Sequence {
		return
	}
	if len(m.dir.Failures(f.Subject)) <= m.settings.FailureQuorum { // more would only repeat it
		if m.mayWrite(update.Key{Kind: update.KindFailure, Subject: f.Subject, Witness: f.Witness}) {
			m.persist(&journal.Known{What: journal.KnownFailure, Object: raw}, false)
		}
		m.changed = true
		m.tellFailure(f, raw)
	}
	if f.Subject == m.self {
		m.refute()
	}
}

// tellFailure passes a failure statement on at once, if it was heard as news.
func (m *Member) tellFailure(f certificate.Failure, raw []byte) {
	key := update.Key{Kind: update.KindFailure, Subject: f.Subject, Witness: f.Witness}
	c := m.dir.RawCertificate(f.Witness)
	if c != "" && (m.talking || f.Witness == m.self) && m.mayTell(key) {
		m.spreadNow(key, update.Failure(raw, []byte(c)))
	}
}

// learnPage takes in one page of a peer's directory, whose signatures are
// verified together. It reports whether there was a certificate that was not
// known.
func (m *Member) learnPage(from ident.Member, entries []wire.Entry) (newCertificate bool) {
	learned := m.dir.LearnPage(entries, m.sources.member)
	for i, l := range learned { // the journal is read from the front, and witnesses may stand behind
		if l.Err != nil {
			_ = m.unlearned(from, "directory entry", l.Err)
		}
		if l.Certificate {
			m.changed, newCertificate = true, true
			m.persist(&journal.Known{What: journal.KnownCertificate, Object: entries[i].Certificate}, false)
		}
	}
	for i, l := range learned {
		m.tookEntry(l, entries[i])
	}
	return newCertificate
}

// tookEntry notes what one entry of a page, besides the certificate, has brought.
func (m *Member) tookEntry(l directory.Learned, e wire.Entry) {
	if l.Endpoint {
		m.located(l.Member, e.Endpoint)
		if l.Member == m.self {
			m.overtaken(e.Endpoint)
		}
	}
	if l.Leave {
		m.tookLeave(l.Member, e.Leave)
	}
	for _, n := range l.Failures {
		if f, err := certificate.PeekFailure(m.cfg.Group.ID(), e.Failures[n]); err == nil {
			m.tookFailure(f, e.Failures[n])
		}
	}
}
