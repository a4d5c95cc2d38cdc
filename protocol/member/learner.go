package member

import (
	"bytes"
	"errors"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// recentLeaves is how many leaves are kept at hand for the CA, which has perhaps
// not heard of them.
const recentLeaves = 64

// learner takes in what others say about members: signed objects, whose signatures the
// directory verifies. What is news it journals and passes on.
type learner struct {
	*core
	faults      *faults
	records     *records
	revocations *revocations
	news        *dissemination
	endpoints   *endpoints
	detector    *detector
	snapshots   *snapshots
	leaves      [][]byte // the last that were news
}

// updates takes in the updates that a peer carries. Each one proves itself. The
// first that does not ends it: its carrier has not checked what it passes on.
func (l *learner) updates(from ident.Member, list [][]byte) {
	if len(list) == 0 {
		return
	}
	if l.faults.ignored(from) {
		l.reject("ignored peer")
		return
	}
	l.news.heard = append(l.news.heard, list...)
	p := l.peers.of(from)
	for _, raw := range list {
		if p == nil || !l.allows(p, updatesHeard) {
			l.reject("update rate")
			return
		}
		u, err := update.Parse(raw)
		if errors.Is(err, update.ErrKind) {
			l.reject("unknown kind of update") // of a later version of the protocol
			continue
		}
		if err != nil {
			l.faults.blame(from, "malformed update")
			return
		}
		l.news.asNews(func() { err = l.update(from, u) })
		if err != nil && !errors.Is(err, certificate.ErrUnknownCA) {
			return // the peer may know a CA key that is not known here yet
		}
	}
}

// update takes in one update, and passes on what is news.
func (l *learner) update(from ident.Member, u update.Update) error {
	if u.Kind == update.KindRevocation {
		return l.revocations.learn(from, [][]byte{u.Revocation})
	}
	if l.dir.Sampled() && !l.concerns(u) {
		return nil
	}
	if err := l.certificate(from, u.Certificate, l.dir.Learn); err != nil {
		return err
	}
	switch u.Kind {
	case update.KindJoin:
		return l.endpoint(from, u.Endpoint)
	case update.KindLeave:
		return l.leave(from, u.Leave)
	case update.KindFailure:
		return l.failure(from, u.Failure)
	}
	return nil
}

// concerns reports whether an update is about somebody of whom a member that
// knows a sample wants to know.
func (l *learner) concerns(u update.Update) bool {
	switch u.Kind {
	case update.KindJoin:
		c, err := certificate.Peek(l.cfg.Group.ID(), u.Certificate)
		return err != nil || l.dir.Wants(ident.MemberOf(c.Group, c.Key[:]))
	case update.KindLeave:
		id, err := certificate.LeaveSigner(l.cfg.Group.ID(), u.Leave)
		return err != nil || l.knows(id)
	case update.KindFailure:
		f, err := certificate.PeekFailure(l.cfg.Group.ID(), u.Failure)
		return err != nil || l.knows(f.Subject)
	}
	return true
}

func (l *learner) knows(id ident.Member) bool {
	return l.dir.RawCertificate(id) != ""
}

// signers takes in the certificates of the members that have signed a token.
func (l *learner) signers(from ident.Member, list [][]byte) {
	for _, raw := range list {
		if l.faults.ignored(from) && !l.dir.Has(raw) {
			l.reject("ignored peer")
			return
		}
		_ = l.certificate(from, raw, l.dir.LearnSigner)
	}
}

// certificate takes in one certificate. News is journalled, lazily, so
// that after a restart this member finds its peers without anybody's help.
func (l *learner) certificate(from ident.Member, raw []byte, learn func([]byte) (certificate.Certificate, bool, error)) error {
	if l.dir.Has(raw) {
		return nil
	}
	c, news, err := learn(raw)
	if err != nil {
		return l.faults.unlearned(from, "certificate", err)
	}
	if news {
		l.changed = true
		l.records.known(journal.KnownCertificate, raw)
		l.news.passLocation(c.Member())
	}
	return nil
}

// endpoint takes in one endpoint record. Its member can sign as many as it
// likes, so not all of them are journalled.
func (l *learner) endpoint(from ident.Member, raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	id, err := certificate.EndpointSigner(l.cfg.Group.ID(), raw)
	if err != nil {
		return l.faults.unlearned(from, "endpoint record", err)
	}
	failed := l.dir.Failed(id)
	_, located := l.dir.Endpoint(id)
	news, err := l.dir.LearnEndpoint(raw)
	switch {
	case err != nil:
		return l.faults.unlearned(from, "endpoint record", err)
	case !news:
		l.outdated(from, id, raw)
		return nil
	}
	l.records.located(id, raw)
	if id == l.self {
		l.endpoints.overtaken(raw)
		return nil
	}
	switch {
	case failed && !l.dir.Failed(id):
		l.news.passLocation(id)
		l.news.announceAlive(id)
	case !located && l.snapshots.caughtUp():
		l.news.passLocationNow(id)
	default:
		l.news.passLocation(id)
	}
	return nil
}

// outdated counts an endpoint record that a newer one has replaced. An honest
// peer may not have heard of that yet; it is told by the next exchange.
func (l *learner) outdated(from, about ident.Member, raw []byte) {
	if known, _ := l.dir.Endpoint(about); !bytes.Equal(known, raw) {
		l.faults.stale(from, "old endpoint record")
	}
}

// leave takes in that a member has left, by its own word.
func (l *learner) leave(from ident.Member, raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	id, err := certificate.LeaveSigner(l.cfg.Group.ID(), raw)
	if err != nil {
		return l.faults.unlearned(from, "leave", err)
	}
	_, before := l.dir.Left(id)
	switch news, err := l.dir.LearnLeave(raw); {
	case err != nil:
		return l.faults.unlearned(from, "leave", err)
	case !news || before: // an earlier leave of whom has left is as good
		return nil
	}
	l.tookLeave(id, raw)
	l.leaves = append(l.leaves[max(0, len(l.leaves)+1-recentLeaves):], raw)
	if c := l.dir.RawCertificate(id); c != "" && (l.news.passes || id == l.self) {
		l.news.disseminateNow(update.Key{Kind: update.KindLeave, Subject: id}, update.Leave(raw, []byte(c)))
	}
	return nil
}

// tookLeave notes that a member has left.
func (l *learner) tookLeave(id ident.Member, raw []byte) {
	l.changed = true
	l.records.knownNowAndThen(update.Key{Kind: update.KindLeave, Subject: id}, journal.KnownLeave, raw)
	l.detector.forget(id)
	if id == l.self {
		l.depart()
	}
}

// failure takes in that a witness does not reach a member.
func (l *learner) failure(from ident.Member, raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	f, err := certificate.PeekFailure(l.cfg.Group.ID(), raw)
	if err != nil {
		return l.faults.unlearned(from, "failure statement", err)
	}
	if l.dir.HasFailure(f.Subject, raw) {
		return nil
	}
	before, failed := len(l.dir.Failures(f.Subject)), l.dir.Failed(f.Subject)
	if _, err := l.dir.LearnFailure(raw); err != nil {
		return l.faults.unlearned(from, "failure statement", err)
	}
	if len(l.dir.Failures(f.Subject)) <= before {
		return nil // it counts for nothing yet, or its witness has said so before
	}
	l.tookFailure(f, raw)
	if !failed && l.peers.has(f.Subject) {
		l.showFailures(f.Subject)
	}
	return nil
}

// tookFailure journals and passes on a failure statement that is news, that names
// the subject's endpoint record (any other counts for nothing yet), and that is needed for a quorum: when a network breaks, everybody
// would else tell everybody what everybody sees.
func (l *learner) tookFailure(f certificate.Failure, raw []byte) {
	if sequence, known := l.dir.Sequence(f.Subject); !known || sequence != f.Sequence {
		return
	}
	if len(l.dir.Failures(f.Subject)) <= l.settings.FailureQuorum { // more would only repeat it
		l.records.knownNowAndThen(update.Key{Kind: update.KindFailure, Subject: f.Subject, Witness: f.Witness}, journal.KnownFailure, raw)
		l.changed = true
		l.news.passFailure(f, raw)
	}
	if f.Subject == l.self {
		l.endpoints.refute()
	}
}

// page takes in one page of a peer's directory, whose signatures are
// verified together. It reports whether there was a certificate that was not
// known.
func (l *learner) page(from ident.Member, entries []wire.Entry) (newCertificate bool) {
	learned := l.dir.LearnPage(entries, l.sources.member)
	for i, got := range learned { // the journal is read from the front, and witnesses may stand behind
		if got.Err != nil {
			_ = l.faults.unlearned(from, "directory entry", got.Err)
		}
		if got.Certificate {
			l.changed, newCertificate = true, true
			l.records.known(journal.KnownCertificate, entries[i].Certificate)
		}
	}
	for i, got := range learned {
		l.tookEntry(got, entries[i])
	}
	return newCertificate
}

// tookEntry notes what one entry of a page, besides the certificate, has brought.
func (l *learner) tookEntry(got directory.Learned, e wire.Entry) {
	if got.Endpoint {
		l.records.located(got.Member, e.Endpoint)
		if got.Member == l.self {
			l.endpoints.overtaken(e.Endpoint)
		}
	}
	if got.Leave {
		l.tookLeave(got.Member, e.Leave)
	}
	for _, n := range got.Failures {
		if f, err := certificate.PeekFailure(l.cfg.Group.ID(), e.Failures[n]); err == nil {
			l.tookFailure(f, e.Failures[n])
		}
	}
}

// showFailures shows a peer the statements by which it has failed, so that it refutes them.
func (l *learner) showFailures(id ident.Member) {
	if !l.dir.Failed(id) {
		return
	}
	var news [][]byte
	for _, raw := range l.dir.Failures(id) {
		f, err := certificate.PeekFailure(l.cfg.Group.ID(), raw)
		if err != nil {
			continue
		}
		c := l.dir.RawCertificate(f.Witness)
		if c == "" {
			continue
		}
		if u, err := update.Failure(raw, []byte(c)).Encode(); err == nil {
			news = append(news, u)
		}
	}
	for _, bundle := range bundles(news) {
		l.send(id, &wire.News{Updates: bundle})
	}
}

// depart ends a member that turns out to have left.
func (l *learner) depart() {
	if l.departed {
		return
	}
	l.departed = true
	l.emit(effect.Stop{Reason: ErrLeft})
}
