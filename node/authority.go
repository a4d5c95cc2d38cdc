package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/member"
)

const (
	// syncShare is how many members of a group ask the CA within one gossip
	// interval on average, whatever the size of the group: what one hears, all
	// hear, and the CA's load does not grow with the group.
	syncShare = 8
	// maxSyncPause bounds the pause after a CA was not reached. It is needed to
	// issue, renew and revoke, never for tokens to move.
	maxSyncPause = 10 * time.Minute
	// minSyncPause is how long a member waits at least, on average, before it asks
	// again: a little more than the CA's service lets one member ask, so that a
	// renewal is never refused for it.
	minSyncPause = 6 * time.Second
	// rushPause is the time for each member within which all renew when their
	// certificates count no more: a renewal takes the CA's disk about 10 ms.
	rushPause = 20 * time.Millisecond
	// renewPatience bounds one renewal.
	renewPatience = time.Minute
)

// errNoAuthority says that the node does not know where its CA is.
var errNoAuthority = fmt.Errorf("%w: no [ca] address: set it, or renew by hand with `wander cert renew`", ErrConfig)

// authority is the node's dealings with its CA: it keeps the certificate fresh
// and hears what the CA publishes. Its methods are safe for concurrent use.
type authority struct {
	n     *Node
	saves chan struct{} // one element: the group file is to be written
	beats chan struct{} // one element: it is time to look at the wall clock, which may be put right

	renewing sync.Mutex // held while the CA is asked for a certificate
	files    sync.Mutex // held while a file is replaced
	showing  sync.Mutex // held while peers are given another certificate to see

	mu       sync.Mutex
	current  certificate.Certificate
	failures int   // renewals in a row
	failed   error // the last of them
	warned   enrolment.Warning
}

func newAuthority(n *Node) *authority {
	return &authority{n: n, current: n.cfg.Certificate, saves: make(chan struct{}, 1), beats: make(chan struct{}, 1)}
}

// isKnown reports whether an address of the CA is known.
func (a *authority) isKnown() bool { return len(a.n.cfg.Authority) > 0 }

// client asks the CA as the member is now.
func (a *authority) client() enrolment.Client {
	return enrolment.Client{
		Addresses: a.n.cfg.Authority, Group: a.n.currentGroup(), Certificate: a.certificate(),
		Key: a.n.cfg.Key, Now: a.n.cfg.Now,
	}
}

// certificate is this member's, the newest.
func (a *authority) certificate() certificate.Certificate {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current
}

func (a *authority) schedule() enrolment.Schedule {
	return enrolment.ScheduleOf(a.certificate(), a.n.currentGroup())
}

// plan is when the CA is asked next. To synchronise needs no wall clock.
type plan struct {
	random  rand.Source
	looked  time.Time // when the plan was last looked at
	renewAt time.Time
	key     keyUse // of the certificate, when renewAt was chosen
	syncAt  clock.Instant
	misses  int // tries to synchronise that failed, in a row
}

// run renews, synchronises and warns until ctx ends.
func (a *authority) run(ctx context.Context) {
	p := &plan{random: rand.NewPCG(rand.Uint64(), rand.Uint64()), looked: a.n.now().Wall, key: a.keyUse()}
	p.renewAt = a.nextRenewal(p.random)
	for ctx.Err() == nil {
		if a.isKnown() {
			a.keepUp(ctx, p)
		}
		a.warn(a.n.now().Wall)
		a.sleep(ctx)
	}
}

// keepUp asks the CA for what is due.
func (a *authority) keepUp(ctx context.Context, p *plan) {
	now, key := a.n.now(), a.keyUse()
	if key != p.key || now.Wall.Before(p.looked) { // the clock was put right
		p.renewAt, p.key = a.nextRenewal(p.random), key
	}
	if p.looked = now.Wall; !now.Wall.Before(p.renewAt) {
		_, _ = a.renew(ctx) // which notes and logs why
		p.renewAt = a.nextRenewal(p.random)
	}
	if now.Boot >= p.syncAt {
		p.misses = a.synchronise(ctx, p.misses)
		p.syncAt = a.n.now().Boot.Add(a.syncPause(p.misses, p.random))
	}
}

// beat has the authority look at the wall clock.
func (a *authority) beat() {
	select {
	case a.beats <- struct{}{}:
	default: // it will look anyway
	}
}

// sleep waits for the next beat, or until the group file is to be written.
func (a *authority) sleep(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-a.n.done:
		<-ctx.Done()
	case <-a.saves:
		a.saveGroup()
	case <-a.beats:
	}
}

// nextRenewal is when to renew next. A certificate of a CA key that signs no
// more is renewed within the time in which the group synchronises, however long
// it lives, so that the old key can be retired; one of a key that was retired,
// which nobody accepts, as soon as the CA can bear it.
func (a *authority) nextRenewal(random rand.Source) time.Time {
	now := a.n.now().Wall
	a.mu.Lock()
	failures := a.failures
	a.mu.Unlock()
	next, key := a.schedule().Next(now, failures, random), a.keyUse()
	if failures > 0 || key == keySigns {
		return next
	}
	pause := a.syncPause(0, random)
	if key == keyRetired {
		pause = time.Duration(rand.New(random).Int64N(int64(a.rush())))
	}
	if soon := now.Add(pause); soon.Before(next) {
		return soon
	}
	return next
}

// rush is within which time all renew whose certificates count no more.
func (a *authority) rush() (all time.Duration) {
	a.n.engine.look(func(m *member.Member) {
		all = time.Duration(groupSize(m.Len(), a.n.cfg.Sample, m.Settings().MembersMax)) * rushPause
	})
	return max(all, rushPause)
}

// groupSize is how many members there are, if one knows so many: all, or as many
// as are enough in a group of at most members.
func groupSize(known, sample, most int) int {
	if sample == 0 {
		return known
	}
	return max(known, sort.Search(most, func(n int) bool { return directory.SampleSize(n+1) > sample }))
}

// keyUse is what the CA key is for that signed a certificate.
type keyUse int

const (
	keySigns   keyUse = iota // what is certified now
	keyOld                   // nothing new
	keyRetired               // nothing at all: nobody accepts the certificate
)

func (a *authority) keyUse() keyUse {
	by, g := a.certificate().Authority(), a.n.currentGroup()
	switch {
	case by == g.Config().Signer():
		return keySigns
	case g.Key(by) != nil:
		return keyOld
	}
	return keyRetired
}

func (a *authority) syncPause(misses int, random rand.Source) time.Duration {
	interval, members := 0*time.Second, 0
	a.n.engine.look(func(m *member.Member) {
		s := m.Settings()
		interval, members = s.GossipInterval, groupSize(m.Candidates()+1, a.n.cfg.Sample, s.MembersMax)
	})
	pause := max(minSyncPause, time.Duration(float64(interval)*max(1, float64(members)/syncShare)))
	pause = doubled(pause, misses, maxSyncPause)
	return pause/2 + time.Duration(rand.New(random).Int64N(int64(pause)))
}

// doubled is a pause after so many failures in a row: twice as long for each, up to
// most, or as it is if that is longer already.
func doubled(pause time.Duration, failures int, most time.Duration) time.Duration {
	most = max(pause, most)
	for ; failures > 0 && pause < most; failures-- {
		pause = min(2*pause, most)
	}
	return pause
}

// renew asks for a newer certificate, and puts it into force. newer says that
// there is one.
func (a *authority) renew(ctx context.Context) (newer bool, err error) {
	if !a.isKnown() {
		return false, errNoAuthority
	}
	a.renewing.Lock()
	defer a.renewing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, renewPatience)
	defer cancel()
	renewed, err := a.client().Renew(ctx)
	if err == nil {
		a.n.engine.do(member.Learn{Authorities: renewed.Authorities})
		newer, err = a.take(renewed.Certificate)
	}
	a.mu.Lock()
	if a.failed = err; err != nil {
		a.failures++
	} else {
		a.failures = 0
	}
	a.mu.Unlock()
	if err != nil {
		a.n.log.Warn("cannot renew certificate", "error", err)
		a.refused(err)
	}
	return newer, err
}

// refused acts on what a CA says about this member itself. A revocation that
// this member cannot verify, for want of a CA key that it has missed, it believes
// the CA.
func (a *authority) refused(err error) {
	var revoked *enrolment.RevokedError
	switch {
	case errors.As(err, &revoked):
		a.n.engine.do(member.Learn{Revocations: [][]byte{revoked.Revocation}})
		a.n.fail(fmt.Errorf("%w: according to the CA", ErrRevoked)) // unless it has ended by now
	case errors.Is(err, enrolment.ErrLeft):
		a.n.fail(ErrLeft)
	}
}

// take puts a certificate into force that the CA has given: durable first, then
// known to the member and shown to peers. Connections and handoffs go on: it is
// the same member.
func (a *authority) take(c certificate.Certificate) (newer bool, err error) {
	a.files.Lock()
	defer a.files.Unlock()
	old := a.certificate()
	older := c.Body().IssuedAt.Before(old.Body().IssuedAt) // a CA that was restored from a backup
	if c.Member() != old.Member() || c.Body().Serial == old.Body().Serial || older {
		return false, nil
	}
	if a.n.currentGroup().Key(c.Authority()) == nil {
		return false, fmt.Errorf("%w: the certificate is signed by CA key %x, which is not valid here", ErrIdentity, c.Authority())
	}
	if err := a.saveCertificate(c); err != nil {
		return false, err
	}
	a.mu.Lock()
	a.current, a.warned = c, enrolment.NoWarning
	a.mu.Unlock()
	a.n.engine.put(item{input: member.Renewed{Certificate: c}})
	if err := a.show(); err != nil {
		return false, err
	}
	a.n.log.Info("certificate renewed", "serial", c.Body().Serial, "until", c.Body().NotAfter)
	return true, nil
}

// show lets peers see the certificate, and the statements about CA keys, that are
// the newest. Who renews and who reconfigures may do it at the same time.
func (a *authority) show() error {
	a.showing.Lock()
	defer a.showing.Unlock()
	return a.n.transport.SetCertificate(a.certificate(), a.n.currentGroup().Vouchers())
}

// synchronise tells the CA where this member is, and takes in what is new. It
// returns how many tries in a row have failed.
func (a *authority) synchronise(ctx context.Context, misses int) int {
	ctx, cancel := context.WithTimeout(ctx, renewPatience)
	defer cancel()
	var mine enrolment.Mine
	a.n.engine.look(func(m *member.Member) {
		mine.Revocations = m.RevocationVersion()
		mine.Endpoint, _ = m.Endpoint(m.ID())
		mine.Leaves = m.RecentLeaves()
	})
	client := a.client()
	news, err := client.Sync(ctx, mine)
	if err != nil {
		if ctx.Err() == nil && a.n.reports.allow("ca") {
			a.n.log.Warn("CA unreachable; tokens move without it", "error", err)
		}
		a.refused(err)
		return misses + 1
	}
	in := learned(news)
	if news.Group != client.Group {
		in.Configuration = news.Group.Config().Raw()
	}
	a.n.engine.do(in)
	var has uint64
	a.n.engine.look(func(m *member.Member) { has = m.RevocationVersion() })
	if news.More && has > mine.Revocations && ctx.Err() == nil {
		return a.synchronise(ctx, misses)
	}
	return 0
}

// learned is what the CA's news teach, but for a configuration.
func learned(news enrolment.News) member.Learn {
	in := member.Learn{
		Authorities: news.Authorities, Revocations: news.Revocations, Leaves: news.Leaves,
	}
	for _, peer := range news.Peers {
		in.Certificates = append(in.Certificates, peer.Certificate)
		in.Endpoints = append(in.Endpoints, peer.Endpoint)
	}
	return in
}

// tellLeave tells the CA that this member has left. If it does not hear of it
// now, it will from another member.
func (a *authority) tellLeave(ctx context.Context) {
	if !a.isKnown() {
		return
	}
	var raw []byte
	a.n.engine.look(func(m *member.Member) { raw, _ = m.Left(m.ID()) })
	if err := a.client().Leave(ctx, raw); err != nil {
		a.n.log.Warn("cannot tell the CA that this member left; other members will", "error", err)
	}
}

// warn says once for each stage how near the certificate's end is.
func (a *authority) warn(now time.Time) {
	level := a.schedule().Warning(now)
	a.mu.Lock()
	rises := level > a.warned
	a.warned = level
	a.mu.Unlock()
	if rises {
		a.n.log.Warn(a.warning(now))
	}
}

// warning is what an operator should know about the certificate, or nothing.
func (a *authority) warning(now time.Time) string {
	level, s := a.schedule().Warning(now), a.schedule()
	a.mu.Lock()
	failed := a.failed
	a.mu.Unlock()
	why := ""
	switch {
	case failed != nil:
		why = fmt.Sprintf("; the last attempt to renew it failed: %v", failed)
	case !a.isKnown():
		why = "; without a [ca] address it is not renewed automatically"
	}
	switch left := s.NotAfter.Sub(now); {
	case level == enrolment.HasExpired && a.renewal(now) != "":
		return fmt.Sprintf("the %s%s", a.renewal(now), why)
	case level == enrolment.HasExpired:
		return fmt.Sprintf("the certificate expired at %s: this member does not take part%s", s.NotAfter.UTC().Format(time.RFC3339), why)
	case level > enrolment.NoWarning:
		return fmt.Sprintf("the certificate expires in %s%s", duration.Format(duration.About(left)), why)
	}
	return ""
}

// renewal is how this member's certificate, which has ended, is renewed nevertheless; empty if it is not.
func (a *authority) renewal(now time.Time) string {
	s := a.schedule()
	if !a.isKnown() || !s.InGrace(now) {
		return ""
	}
	return fmt.Sprintf("certificate ended %s ago; renewing within the grace of %s", duration.Format(duration.About(now.Sub(s.NotAfter))), duration.Format(s.Grace))
}

// currentGroup is the CA keys and the configuration in force.
func (n *Node) currentGroup() *group.Group { return n.group.Load() }

// vouched hears of CA keys that a peer has shown.
func (n *Node) vouched(statements [][]byte) {
	go n.engine.put(item{input: member.Learn{Authorities: statements}})
}
