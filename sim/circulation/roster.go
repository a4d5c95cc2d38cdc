package circulation

import (
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// roster is what all members together know about who takes part: those that are
// up, and those that fell less than Config.DetectAfter ago. With Config.Known
// each member's own sample of it is kept too.
type roster struct {
	world   *World
	rng     *rand.Rand // streamRoster
	fallen  []fall     // those that count still, in the order in which they fell
	changes []change   // of who counts, in their order
	lists   [][]int32  // by member: its witnesses, the first best; nil: not asked for yet
	known   []int      // by member: how many of the changes its list has seen
	samples [][]int32  // by member: whom it knows; nil without Config.Known
	drawn   []uint32   // by member: the number of the draw that gave it last
	draw    uint32
}

// fall is a member that fell.
type fall struct {
	member int32
	at     clock.Instant
}

// change is a member that counts from now on, or does not any more.
type change struct {
	member int32
	counts bool
}

func newRoster(w *World) roster {
	return roster{world: w, rng: rand.New(rand.NewPCG(w.cfg.Seed, streamRoster))}
}

// memberRoster is what one member is answered. It implements policy.Roster.
type memberRoster struct {
	roster *roster
	member int32
}

// Draw implements policy.Roster.
func (m *memberRoster) Draw(n int, to []ident.Member) []ident.Member {
	r := m.roster
	r.forget()
	if r.world.cfg.Known > 0 {
		return r.drawKnown(m.member, n, to)
	}
	up := r.world.up
	all := len(up) + len(r.fallen)
	others := all - 1 // who asks is up
	r.begin()
	r.drawn[m.member] = r.draw
	for n = min(n, others); n > 0; {
		var drawn int32
		if i := r.below(all); i < len(up) {
			drawn = up[i]
		} else {
			drawn = r.fallen[i-len(up)].member
		}
		if r.drawn[drawn] != r.draw {
			r.drawn[drawn] = r.draw
			to = append(to, MemberID(int(drawn)))
			n--
		}
	}
	return to
}

// begin begins a draw, in which nobody was drawn yet.
func (r *roster) begin() {
	for len(r.drawn) < len(r.world.sites) {
		r.drawn = append(r.drawn, 0)
	}
	r.draw++
}

// drawKnown is Draw out of a sample: the first of it, after they were shuffled.
func (r *roster) drawKnown(m int32, n int, to []ident.Member) []ident.Member {
	sample := r.sample(m)
	for i := range sample {
		if !r.counts(sample[i]) {
			r.replace(m, sample, i)
		}
	}
	for i := range min(n, len(sample)) {
		k := i + r.below(len(sample)-i)
		sample[i], sample[k] = sample[k], sample[i]
		to = append(to, MemberID(int(sample[i])))
	}
	return to
}

// sample is whom a member knows, drawn when it is asked for first.
func (r *roster) sample(m int32) []int32 {
	for len(r.samples) < len(r.world.sites) {
		r.samples = append(r.samples, nil)
	}
	if r.samples[m] == nil {
		up := r.world.up
		sample := make([]int32, 0, min(r.world.cfg.Known, len(up)-1))
		r.begin()
		r.drawn[m] = r.draw
		for len(sample) < cap(sample) {
			if c := up[r.below(len(up))]; r.drawn[c] != r.draw {
				r.drawn[c] = r.draw
				sample = append(sample, c)
			}
		}
		r.samples[m] = sample
	}
	return r.samples[m]
}

// replace puts a member that is up in the place of one that does not count any
// more. Where it finds nobody that is not known already the old one stays.
func (r *roster) replace(m int32, sample []int32, i int) {
	r.begin()
	r.drawn[m] = r.draw
	for _, known := range sample {
		r.drawn[known] = r.draw
	}
	for range triesMax {
		if c := r.world.up[r.below(len(r.world.up))]; r.drawn[c] != r.draw {
			sample[i] = c
			return
		}
	}
}

// counts reports whether a member is up, or fell a short while ago.
func (r *roster) counts(m int32) bool {
	if r.world.sites[m].place >= 0 {
		return true
	}
	for i := range r.fallen {
		if r.fallen[i].member == m {
			return true
		}
	}
	return false
}

// rose notes that a member is up.
func (r *roster) rose(m int32) {
	r.forget()
	for i := range r.fallen {
		if r.fallen[i].member == m {
			r.fallen = append(r.fallen[:i], r.fallen[i+1:]...)
			return
		}
	}
	r.changes = append(r.changes, change{m, true})
}

// fell notes that a member is not up any more. One that left does not count from
// now on.
func (r *roster) fell(m int32) { r.fallen = append(r.fallen, fall{m, r.world.now}) }

// left notes that who has just fallen left for good, and told everybody.
func (r *roster) left() {
	last := len(r.fallen) - 1
	r.changes = append(r.changes, change{r.fallen[last].member, false})
	r.fallen = r.fallen[:last]
}

// forget lets those not count any more that fell long enough ago.
func (r *roster) forget() {
	n := 0
	for n < len(r.fallen) && r.fallen[n].at.Add(r.world.detectAfter()) <= r.world.now {
		r.changes = append(r.changes, change{r.fallen[n].member, false})
		n++
	}
	if n > 0 {
		r.fallen = append(r.fallen[:0], r.fallen[n:]...)
	}
}

// below is a number from 0 to n-1.
func (r *roster) below(n int) int { return r.rng.IntN(n) }

// detectAfter is Config.DetectAfter with its default.
func (w *World) detectAfter() time.Duration {
	if w.cfg.DetectAfter > 0 {
		return w.cfg.DetectAfter
	}
	return DetectAfter
}

// Witnesses implements policy.Roster.
func (m *memberRoster) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	r := m.roster
	i := MemberIndex(of)
	if i < 0 || i >= len(r.world.sites) {
		return to
	}
	r.forget()
	if r.world.cfg.Known == 0 && !r.counts(int32(i)) {
		return to
	}
	list := r.witnesses(int32(i))
	for _, witness := range list[:min(n, len(list))] {
		to = append(to, MemberID(int(witness)))
	}
	return to
}

// witnesses is the list of a member, up to date. With Config.Known it is what was
// certified at joining, and stays.
func (r *roster) witnesses(of int32) []int32 {
	for len(r.lists) < len(r.world.sites) {
		r.lists, r.known = append(r.lists, nil), append(r.known, 0)
	}
	switch list := r.lists[of]; {
	case list == nil:
		r.lists[of] = r.rank(of, make([]int32, 0, policy.MaxWitnesses))
	case r.world.cfg.Known > 0:
	case len(r.changes)-r.known[of] > len(r.world.up):
		r.lists[of] = r.rank(of, list[:0])
	default:
		for _, c := range r.changes[r.known[of]:] {
			list = r.follow(of, list, c)
		}
		r.lists[of] = list
	}
	r.known[of] = len(r.changes)
	return r.lists[of]
}

// rank finds the witnesses of a member among all that count. With Config.Known
// those that were there at the start have only each other, and those that joined
// whoever had joined before.
func (r *roster) rank(of int32, list []int32) []int32 {
	if r.world.cfg.Known > 0 {
		for c := range max(of+1, int32(r.world.cfg.Members)) {
			list = r.insert(of, list, c)
		}
		return list
	}
	for _, c := range r.world.up {
		list = r.insert(of, list, c)
	}
	for i := range r.fallen {
		list = r.insert(of, list, r.fallen[i].member)
	}
	return list
}

// follow is one change in a list of witnesses.
func (r *roster) follow(of int32, list []int32, c change) []int32 {
	for i, witness := range list {
		if witness != c.member {
			continue
		}
		if c.counts {
			return list
		}
		if len(list) < policy.MaxWitnesses { // it was everybody
			return append(list[:i], list[i+1:]...)
		}
		return r.rank(of, list[:0])
	}
	if c.counts {
		return r.insert(of, list, c.member)
	}
	return list
}

// insert puts a candidate where its hash belongs, if that is among the first.
func (r *roster) insert(of int32, list []int32, c int32) []int32 {
	if c == of {
		return list
	}
	hash := r.hash(of, c)
	i := len(list)
	for i > 0 && hash > r.hash(of, list[i-1]) {
		i--
	}
	if i == policy.MaxWitnesses {
		return list
	}
	if len(list) < policy.MaxWitnesses {
		list = append(list, 0)
	}
	copy(list[i+1:], list[i:])
	list[i] = c
	return list
}

// hash stands for the real one of (group, member, witness).
func (r *roster) hash(of, witness int32) uint64 {
	x := r.world.cfg.Seed ^ uint64(of)<<32 ^ uint64(witness)
	hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	hi, lo = bits.Mul64(hi^lo^uint64(witness), 0x94d049bb133111eb)
	return hi ^ lo
}
