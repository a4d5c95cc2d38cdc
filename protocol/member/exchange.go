package member

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// joiningPace is how soon a member that has not got its snapshots yet asks
	// somebody again: at first. The pauses double up to gossip_interval, and are
	// short again when somebody else connects.
	joiningPace = time.Second

	// strangerEvery is which of a member's exchanges is with one drawn from all: the
	// others are with members that are connected, which costs a third of a dial. A
	// member is drawn as often as before, by those that it is connected with. With an
	// exchange each 5 seconds, and connections that are closed after 30 without one,
	// a member has about eight: together they are a random graph whose diameter is
	// little above that of all with all.
	strangerEvery = 6

	// cutOffAfter is how many gossip intervals without a connection make a member
	// one that was cut off.
	cutOffAfter = 3
)

// exchange keeps this member's directory like those of others: it compares versions and
// fingerprints with a random member each gossip_interval (anti-entropy).
type exchange struct {
	*core
	snapshots *snapshots
	greeter   *greeter
	detector  *detector
	repairs   *repairs
	configs   *configuration

	at      clock.Instant // the next one
	early   bool          // it may come up to half an interval early, as a peer has just begun one
	aloneAt clock.Instant // since when nobody is connected; Never: somebody is
	rounds  uint64        // exchanges that this member began
	pause   time.Duration // before the next one, while snapshots are missing
}

// tick exchanges digests with a random member once each gossip_interval, and with
// one that is said to have failed: so the halves of a broken network find each
// other when it is whole again.
func (x *exchange) tick() {
	x.noteAlone()
	e := x
	early := e.early && x.snapshots.caughtUp() && x.now.Boot >= e.at.Add(-x.settings.GossipInterval/2)
	e.early = false
	switch {
	case early:
		e.at = e.at.Add(x.settings.GossipInterval)
	case x.now.Boot >= e.at:
		e.at = x.now.Boot.Add(x.nextPause())
	default:
		return
	}
	x.refreshSample()
	if x.stopping {
		return
	}
	if id, ok := x.partner(); ok {
		x.rounds++
		x.greeter.greet(id)
	}
	if id, ok := x.dir.DrawFailed(x.sources.member, x.now.Wall); ok && !x.peers.has(id) {
		x.greeter.greet(id)
	}
}

// partner draws the member of the next exchange: mostly from those connected, and each
// strangerEvery-th time from all.
func (x *exchange) partner() (id ident.Member, ok bool) {
	if x.snapshots.caughtUp() && x.rounds%strangerEvery != 0 {
		if id, ok := x.drawConnected(); ok {
			return id, true
		}
	}
	return x.dir.Choose(x.sources.member, x.now.Wall, x.detector.isSuspect)
}

// drawConnected draws one of the connected eligible peers, each with the
// same chance. It looks only at those that it draws.
func (x *exchange) drawConnected() (id ident.Member, ok bool) {
	random := rand.New(x.sources.member)
	for list := x.peers.list(); len(list) > 0; {
		at := random.IntN(len(list))
		if x.dir.Eligible(list[at], x.now.Wall) == nil {
			return list[at], true
		}
		list = slices.Delete(list, at, at+1)
	}
	return id, false
}

func (x *exchange) nextPause() time.Duration {
	e := x
	if x.snapshots.caughtUp() {
		return x.settings.GossipInterval
	}
	e.pause = min(max(2*e.pause, joiningPace), x.settings.GossipInterval)
	return e.pause
}

// noteAlone begins anew with the snapshots of a member that was cut off.
func (x *exchange) noteAlone() {
	switch {
	case x.peers.len() > 0:
		x.aloneAt = clock.Never
	case x.aloneAt == clock.Never:
		x.aloneAt = x.now.Boot
	case x.now.Boot.Sub(x.aloneAt) >= cutOffAfter*x.settings.GossipInterval:
		clear(x.snapshots.from)
	}
}

// onGossip compares a peer's notes with this member's own: versions first,
// then directories.
func (x *exchange) onGossip(from ident.Member, p *peer, msg *wire.Gossip) {
	x.compareVersions(from, p, msg.Configuration, msg.Revocations)
	if !msg.Answer {
		x.send(from, x.greeter.notes(true))
		x.early = true // two exchanges at one time wake the process half as often
	}
	x.compareDirectories(from, p, msg)
}

// compareVersions asks for what is newer there. What is newer here the peer asks
// for, as it is shown the same.
func (x *exchange) compareVersions(from ident.Member, p *peer, configuration, revocations uint64) {
	p.configuration, p.revocations = max(p.configuration, configuration), max(p.revocations, revocations)
	if configuration > x.settings.Version {
		x.send(from, &wire.Want{Topic: wire.WantConfiguration, Version: x.settings.Version})
	}
	if own := x.dir.RevocationVersion(); revocations > own {
		x.send(from, &wire.Want{Topic: wire.WantRevocations, Version: own})
	}
}

func (x *exchange) compareDirectories(from ident.Member, p *peer, msg *wire.Gossip) {
	members, fingerprint := x.dir.Fingerprint()
	switch {
	case x.dir.Sampled():
		x.repairs.askSample(from, p)
	case msg.Fingerprint == fingerprint && msg.Members == members:
		x.snapshots.add(from)
	case msg.Members == 0: // it knows a sample only, or nobody: there is nothing to learn
	default:
		x.repairs.begin(from, p)
	}
}

// onWant answers a peer's question.
func (x *exchange) onWant(from ident.Member, msg *wire.Want) {
	switch msg.Topic {
	case wire.WantMembers:
		entries, last, more := x.dir.Page(msg.From, msg.Through, wire.MaxPage, pageBytes)
		x.send(from, &wire.Members{Entries: entries, Through: last, More: more})
	case wire.WantSummary:
		x.send(from, &wire.Summary{From: msg.From, Parts: x.dir.Split(msg.From, msg.Through, wire.MaxParts)})
	case wire.WantConfiguration:
		x.configs.sendTo(from)
	case wire.WantRevocations:
		list, more := x.dir.Revocations(msg.Version, wire.MaxPage/4)
		x.send(from, &wire.Revocations{Revocations: list, More: more})
	}
}

// refreshSample lets a member that knows a sample only forget one and look for
// another.
func (x *exchange) refreshSample() {
	if x.dir.Sampled() {
		x.dir.Refresh(x.sources.member)
	}
}

// hasten has the next exchange come within the gossip_interval that is in force now.
func (x *exchange) hasten() { x.at = min(x.at, x.now.Boot.Add(x.settings.GossipInterval)) }
