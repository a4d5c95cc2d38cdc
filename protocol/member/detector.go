package member

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// minPace and maxPace bound the pause between two probes of a member that
	// does not answer. It is an eighth of gossip_interval in between, so that a
	// death is noticed within one.
	minPace = 500 * time.Millisecond
	maxPace = 5 * time.Second

	// suspectAfter is after how many failed probes in a row a member is
	// suspected: it is not chosen any more, and others are asked to probe it.
	suspectAfter = 2

	// stateAfter is after how many failed probes in a row this member states the
	// failure. One packet in ten lost makes a handshake fail less than once in a
	// thousand times, so four in a row are no accident of a bad link.
	stateAfter = 4

	// attachedPatience is how many paces a member that only dials out, and is
	// attached to this one, may take to dial again before it is declared failed.
	// Nobody can probe it.
	attachedPatience = 8

	// maxSuspects bounds the members that are watched at once. When more do not
	// answer, this member itself is probably the one cut off.
	maxSuspects = 1024

	// probeHelpers is how many others are asked to probe a suspect, as in SWIM
	// (Das, Gupta, Motivala, 2002).
	probeHelpers = 3

	// suspectRate and suspectBurst bound the dials of suspects, per second and at
	// once. The rate is divided by the square of the member's health multiplier, as most dials
	// of a late member are in vain. A dial costs 1.3 ms of processor time on both sides
	// together, so that 100 members that suspect each other on one machine take a
	// quarter of a core, and a two-hundredth when they are very late. A few suspects
	// are dialled at each pace.
	suspectRate  = 2
	suspectBurst = 4

	// maxStated bounds the statements that are kept in mind so as not to be made
	// twice. A statement made twice does no harm.
	maxStated = 4096
)

// suspicion is about a member that does not answer.
type suspicion struct {
	sequence uint64        // of the endpoint record under which it does not answer
	since    clock.Instant // when it first did not
	failures int           // probes in a row
	next     clock.Instant // when it is probed again
	helped   bool          // others were asked, or this member is one of those asked
}

// detector is the failure detector of the group's directories, as in SWIM: it probes the
// members that do not answer, with the help of others, and signs failure statements.
type detector struct {
	*core
	own     *health
	greeter *greeter
	publish func(statement []byte) // takes in what this member states, and tells others

	suspects map[ident.Member]*suspicion
	stated   map[ident.Member]uint64 // endpoint sequence + 1 of each member whose failure this one has signed
	at       clock.Instant           // when tick has something to do
	redials  budget                  // of suspects
}

func newDetector(c *core, own *health, g *greeter) *detector {
	return &detector{
		core: c, own: own, greeter: g, at: clock.Never, redials: budget{suspectBurst, c.now.Boot},
		suspects: make(map[ident.Member]*suspicion), stated: make(map[ident.Member]uint64),
	}
}

// pace is the pause between two probes.
func (d *detector) pace() time.Duration {
	return min(max(d.settings.GossipInterval/8, minPace), maxPace)
}

// unanswered notes that nobody answered a dial, or that a connection broke because
// its peer had fallen silent: which takes so many packets without an answer that
// it counts as two dials. On a member that is late many connections break at once,
// and it counts for nothing; nor are others bothered by it.
func (d *detector) unanswered(id ident.Member, broken bool) {
	if broken && d.own.isLate() {
		return
	}
	if d.suspects[id] == nil {
		d.suspect(id, d.pace(), false)
	}
	s := d.suspects[id]
	if s == nil {
		return
	}
	if s.failures++; broken {
		s.failures++
	}
	if s.failures >= suspectAfter && !s.helped && !d.own.isLate() {
		s.helped = true
		d.askHelpers(id, s)
	}
}

// refuses notes that a member answered that it will not talk: it is alive.
func (d *detector) refuses(id ident.Member) {
	if d.dir.Dialable(id) {
		delete(d.suspects, id)
	}
}

// suspect begins to watch a member, unless it is dead already, declared failed by
// this member, or cannot be probed by it.
func (d *detector) suspect(id ident.Member, after time.Duration, helped bool) {
	sequence, known := d.dir.Sequence(id)
	switch {
	case !known || d.stopping || id == d.self || d.peers.has(id):
		return
	case d.dir.Eligible(id, d.now.Wall) != nil || d.hasStated(id):
		return
	case len(d.suspects) >= maxSuspects:
		d.reject("too many suspects")
		return
	}
	if !d.dir.Dialable(id) {
		if !d.dir.AttachedTo(id, d.self) {
			return
		}
		after = attachedPatience * d.pace()
	}
	s := &suspicion{sequence: sequence, since: d.now.Boot, next: d.now.Boot.Add(after), helped: helped}
	d.suspects[id] = s
	d.at = min(d.at, s.next)
}

// askHelpers asks a few peers whether they reach a member.
func (d *detector) askHelpers(id ident.Member, s *suspicion) {
	peers := d.peers.list()
	random := rand.New(d.sources.member)
	for range min(probeHelpers, len(peers)) {
		i := random.IntN(len(peers))
		d.send(peers[i], &wire.Probe{Subject: id, Sequence: s.sequence})
		peers = slices.Delete(peers, i, i+1)
	}
}

// onProbe is a peer's question whether this member reaches another. The
// answer, if it is no, is a statement of this member's own.
func (d *detector) onProbe(msg *wire.Probe) {
	if d.own.isLate() { // and a bad witness
		d.reject("probe while late")
		return
	}
	sequence, known := d.dir.Sequence(msg.Subject)
	switch {
	case !known || sequence != msg.Sequence:
	case d.peers.has(msg.Subject):
		d.greeter.greet(msg.Subject) // if it is dead the connection breaks for want of an answer
	case d.suspects[msg.Subject] == nil:
		d.suspect(msg.Subject, 0, true)
	}
}

// tick probes the suspects, and states the failure of those that have not answered for
// long enough.
func (d *detector) tick() {
	if d.now.Boot < d.at {
		return
	}
	d.at = clock.Never
	if d.departed {
		return // its statements count no more
	}
	for _, id := range d.inOrder() {
		s := d.suspects[id]
		if sequence, _ := d.dir.Sequence(id); sequence != s.sequence || d.dir.Eligible(id, d.now.Wall) != nil {
			delete(d.suspects, id)
			continue
		}
		if s.next <= d.now.Boot {
			d.probe(id, s)
		}
		if d.suspects[id] != nil {
			d.at = min(d.at, s.next)
		}
	}
	if d.at <= d.now.Boot { // a probe that is due still waits for a dial
		d.at = d.now.Boot.Add(d.redials.wait(d.rate()))
	}
}

func (d *detector) rate() float64 {
	return suspectRate / float64(d.own.multiplier()*d.own.multiplier())
}

// inOrder are the suspects, the one that has waited longest for a probe first.
func (d *detector) inOrder() []ident.Member {
	return slices.SortedFunc(maps.Keys(d.suspects), func(a, b ident.Member) int {
		return cmp.Or(cmp.Compare(d.suspects[a].next, d.suspects[b].next), a.Compare(b))
	})
}

// probe dials a suspect once more, when that may be, or gives it up.
func (d *detector) probe(id ident.Member, s *suspicion) {
	reachable := d.dir.Dialable(id)
	if reachable && s.failures < stateAfter {
		if d.redials.spend(d.now.Boot, d.rate(), suspectBurst) {
			s.next = d.now.Boot.Add(d.pace())
			d.greeter.greet(id)
		}
		return
	}
	s.next = d.now.Boot.Add(d.pace())
	switch {
	case d.own.isLate() || !d.own.inTouch(s.since):
		// It may be this member that is too late to hear, or cut off: it waits
		// until it is punctual and somebody else is heard, and begins anew.
		s.failures = min(s.failures, suspectAfter)
	default:
		delete(d.suspects, id)
		d.stateFailure(id, s.sequence)
	}
}

// stateFailure signs that a member does not answer. A quorum of such statements
// makes it failed until it signs a new endpoint record.
func (d *detector) stateFailure(id ident.Member, sequence uint64) {
	signed, err := certificate.Failure{
		Witness: d.self, Subject: id, Sequence: sequence, Time: d.now.Millis(),
	}.Sign(d.cfg.Group.ID(), d.cfg.Key)
	if err != nil {
		d.reject("failure not signed")
		return
	}
	if len(d.stated) >= maxStated {
		clear(d.stated)
	}
	d.stated[id] = sequence + 1 // so that 0 means none
	d.publish(signed.Raw())
}

// answered notes that a member is alive.
func (d *detector) answered(id ident.Member) {
	delete(d.suspects, id)
	delete(d.stated, id)
}

// forget gives up the suspicion of a member.
func (d *detector) forget(id ident.Member) { delete(d.suspects, id) }

// isSuspect reports whether a member has not answered of late.
func (d *detector) isSuspect(id ident.Member) bool {
	s := d.suspects[id]
	return s != nil && s.failures >= suspectAfter
}

// isUnresponsive reports whether another member has not answered of late.
func (d *detector) isUnresponsive(id ident.Member) bool { return d.hasStated(id) || d.isSuspect(id) }

// hasStated reports whether this member has stated the failure of another under
// the endpoint record that is known. With a newer one the other says that it lives.
func (d *detector) hasStated(id ident.Member) bool {
	stated := d.stated[id]
	if stated == 0 {
		return false
	}
	sequence, known := d.dir.Sequence(id)
	return known && stated == sequence+1
}
