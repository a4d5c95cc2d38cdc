package member

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// creditorsAtOnce is how many members that may wait for an answer are dialled in
// one look by a member that nobody can dial.
const creditorsAtOnce = 8

// signRate and signBurst bound how often this member signs an endpoint record, per
// second and at once. Each is told to everybody. Two that lie can have it answer
// them as often as they declare it failed, and so can a second member with the same
// key; what is due beyond that is signed when there is room again, ten seconds
// later at most.
const (
	signRate  = 0.1
	signBurst = 8
)

// debtor is what endpoints asks about custody.
type debtor interface {
	opened() token.Position    // the opening of the journal that this member has begun
	creditors() []ident.Member // members that may wait for an answer about a token
}

// endpoints says where this member can be reached: it signs the endpoint record, and keeps
// a member that only dials out connected with those through whom tokens reach it.
type endpoints struct {
	*core
	records  *records
	news     *dissemination
	greeter  *greeter
	detector *detector
	owner    owner
	custody  debtor

	announced bool                           // the driver has said where
	addresses []string                       // none: it only dials out
	attached  map[ident.Member]clock.Instant // to whom, if it only dials out; when the connection was lost, or Never
	links     [2]ident.Member                // those beside it on the ring, whom a member that only dials out keeps connected, absent or not
	record    certificate.SignedEndpoint
	attachAt  clock.Instant // when it looks at its attachments again
	signAt    clock.Instant // when a record that is due is signed
	signs     budget
}

func newEndpoints(c *core, r *records, n *dissemination, g *greeter, d *detector, owner owner) *endpoints {
	return &endpoints{
		core: c, records: r, news: n, greeter: g, detector: d, owner: owner,
		attached: make(map[ident.Member]clock.Instant), attachAt: clock.Never, signAt: clock.Never,
		signs: budget{signBurst, c.now.Boot},
	}
}

// dialsOut reports whether the driver has said that nobody can dial this member.
func (e *endpoints) dialsOut() bool { return e.announced && len(e.addresses) == 0 }

// link has a member that only dials out keep connected with those beside it on the ring.
func (e *endpoints) link(links [2]ident.Member) {
	if links != e.links {
		e.links = links
		e.attachAt = min(e.attachAt, e.now.Boot)
	}
}

// announce takes in where the driver listens, and says so to others if that is
// news.
func (e *endpoints) announce(addresses []string) {
	e.announced, e.addresses = true, slices.Clone(addresses)
	e.changed = true
	if len(addresses) > 0 {
		clear(e.attached)
	}
	if raw, ok := e.dir.Endpoint(e.self); ok {
		if old, err := certificate.ParseEndpoint(e.cfg.Group.ID(), raw, e.cfg.Certificate.Key()); err == nil {
			e.record = old
		}
	}
	if len(addresses) == 0 { // it may find those again that it was attached to
		for _, id := range e.record.Body().Attached {
			e.attached[id] = e.now.Boot
		}
	}
	e.attach()
	if b := e.record.Body(); e.record.IsZero() || !e.saysThis(b) || !e.saysOpening(b) || e.dir.Failed(e.self) {
		e.sign()
	}
}

// saysThis reports whether an endpoint record says where this member is noe.
func (e *endpoints) saysThis(b certificate.Endpoint) bool {
	return b.Mode == e.mode() && slices.Equal(b.Addresses, e.addresses) && slices.Equal(b.Attached, e.attachments())
}

// saysOpening reports whether an endpoint record names this opening of the journal, where
// one can be missed: so a copy of this member that runs somewhere else hears of it.
func (e *endpoints) saysOpening(b certificate.Endpoint) bool {
	return !e.cfg.Durable || token.PositionOf(b.Extensions) == e.custody.opened()
}

func (e *endpoints) mode() certificate.Mode {
	if len(e.addresses) > 0 {
		return certificate.Reachable
	}
	return certificate.DialsOut
}

// attachments are to whom this member keeps connections, in order of their ids.
func (e *endpoints) attachments() []ident.Member {
	return slices.SortedFunc(maps.Keys(e.attached), ident.Member.Compare)
}

// sign signs a new endpoint record, numbered above the one that is known,
// or notes when it may. The clock numbers the first, so that a member that has
// lost its journal is probably above what it has signed before; if not, it will
// hear of that.
func (e *endpoints) sign() {
	e.signAt = clock.Never
	if !e.announced || e.departed {
		return
	}
	if !e.signs.spend(e.now.Boot, signRate, signBurst) {
		e.signAt = e.now.Boot.Add(e.signs.wait(signRate))
		return
	}
	above, _ := e.dir.Sequence(e.self)
	record := certificate.Endpoint{
		Member: e.self, Sequence: max(above+1, e.now.Millis()), Mode: e.mode(),
		Addresses: e.addresses, Attached: e.attachments(), Time: e.now.Millis(),
		Extensions: e.custody.opened().Extensions(),
	}
	signed, err := record.Sign(e.cfg.Group.ID(), e.cfg.Key)
	if err != nil {
		e.emit(effect.Report{Kind: "endpoint record not signed", About: e.self, Detail: err.Error()})
		return
	}
	e.record = signed
	if _, err := e.dir.LearnEndpoint(signed.Raw()); err != nil {
		e.reject("own endpoint record")
		return
	}
	e.records.located(e.self, signed.Raw())
	e.news.announceLocation(e.self)
}

// overtaken meets a record of this member's own that is newer than the one it
// remembers, or has the same number and the greater bytes: the journal is older
// than what it has signed. It signs a newer one.
func (e *endpoints) overtaken(raw []byte) {
	theirs, err := certificate.ParseEndpoint(e.cfg.Group.ID(), raw, e.cfg.Certificate.Key())
	if err != nil || theirs.Body().Sequence < e.record.Body().Sequence {
		return
	}
	if e.owner.hasForgotten(token.PositionOf(theirs.Body().Extensions)) {
		return // which has signed one
	}
	e.sign()
}

// refute answers a quorum's verdict that this member has failed, with a newer endpoint
// record.
func (e *endpoints) refute() {
	if !e.dir.Failed(e.self) {
		return
	}
	e.emit(effect.Report{Kind: "stated failed", About: e.self, Detail: "by a quorum of others, who do not reach this member; it says that it is alive"})
	e.sign()
}

// tick does what is due.
func (e *endpoints) tick() {
	if e.now.Boot >= e.attachAt {
		e.attach()
	}
	if e.now.Boot >= e.signAt {
		e.sign()
	}
}

// attach keeps a member that only dials out attached to a few others, and
// says so to everybody when they change.
func (e *endpoints) attach() {
	e.attachAt = clock.Never
	if !e.announced || len(e.addresses) > 0 || e.stopping {
		return
	}
	e.attachAt = e.now.Boot.Add(e.detector.pace())
	before := e.attachments()
	for id, lost := range e.attached {
		if !e.peers.has(id) && (e.now.Boot.Sub(lost) > attachedPatience*e.detector.pace() || e.dir.Eligible(id, e.now.Wall) != nil) {
			delete(e.attached, id)
		}
	}
	e.attachConnected()
	for n := len(e.attached); n < directory.Attachments; n++ {
		id, ok := e.dir.PickAttachment(e.sources.member, e.now.Wall, func(id ident.Member) bool {
			_, already := e.attached[id]
			return already || e.peers.has(id) || e.detector.isSuspect(id)
		})
		if !ok {
			break
		}
		e.greeter.greet(id) // once connected, it is attached
	}
	e.redial()
	e.linkRing()
	e.dialCreditors()
	if !e.record.IsZero() && !slices.Equal(before, e.attachments()) {
		e.sign()
	}
}

// attachConnected takes those for attached that are connected and can be.
func (e *endpoints) attachConnected() {
	for _, id := range e.peers.list() {
		if len(e.attached) >= directory.Attachments {
			return
		}
		if e.dir.Dialable(id) && e.dir.Eligible(id, e.now.Wall) == nil {
			e.attached[id] = clock.Never
		}
	}
}

// redial dials those that this member is attached to and has lost.
func (e *endpoints) redial() {
	for _, id := range e.attachments() {
		if !e.peers.has(id) {
			e.greeter.greet(id)
		}
	}
}

// connected notes that the connection with an attachment is there.
func (e *endpoints) connected(id ident.Member) {
	if _, ok := e.attached[id]; ok {
		e.attached[id] = clock.Never
		return
	}
	if e.announced && len(e.addresses) == 0 && len(e.attached) < directory.Attachments {
		e.attachAt = e.now.Boot
	}
}

// disconnected notes that the connection with an attachment is gone.
func (e *endpoints) disconnected(id ident.Member) {
	if lost, ok := e.attached[id]; ok && lost == clock.Never {
		e.attached[id] = e.now.Boot
		e.attachAt = e.now.Boot
	}
	if slices.Contains(e.links[:], id) {
		e.attachAt = e.now.Boot
	}
}

// dialCreditors dials those that may wait for an answer from a member that they
// cannot dial.
func (e *endpoints) dialCreditors() {
	if !e.announced || len(e.addresses) > 0 {
		return
	}
	list := slices.DeleteFunc(e.custody.creditors(), func(id ident.Member) bool {
		return e.peers.has(id) || !e.dir.Dialable(id) || e.dir.Revoked(id)
	})
	random := rand.New(e.sources.member)
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, id := range list[:min(len(list), creditorsAtOnce)] {
		e.greeter.greet(id)
	}
}

// linkRing dials the members beside this one on the ring that are not connected. A
// connection is kept if a member made it that only dials out.
func (e *endpoints) linkRing() {
	for i, id := range e.links {
		if !id.IsZero() && !e.peers.has(id) && e.dir.Dialable(id) && (i == 0 || id != e.links[0]) {
			e.greeter.greet(id)
		}
	}
}
