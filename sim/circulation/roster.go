package circulation

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
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
	samples [][]int32  // by member: whom it knows; nil without Config.Known
	drawn   []uint32   // by member: the number of the draw that gave it last
	draw    uint32
	tried   map[[2]int32]clock.Instant // when a member first had no answer of one that is down; with Config.Unstated
}

// fall is a member that fell.
type fall struct {
	member int32
	at     clock.Instant
}

func newRoster(w *World) roster {
	return roster{world: w, rng: rand.New(rand.NewPCG(w.cfg.Seed, streamRoster))}
}

// memberRoster is what one member is answered. It implements policy.Roster.
type memberRoster struct {
	roster *roster
	member int32
}

// Others implements policy.Roster: nobody is shunned here.
func (m *memberRoster) Others(n int, to []ident.Member) []ident.Member { return m.Draw(n, to) }

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
	for _, f := range r.fallen {
		if r.shuns(m.member, f.member) {
			r.drawn[f.member] = r.draw
			others--
		}
	}
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

// Size implements policy.Roster.
func (m *memberRoster) Size() int {
	r := m.roster
	r.forget()
	if r.world.cfg.Known > 0 {
		return len(r.sample(m.member))
	}
	n := len(r.world.up) + len(r.fallen) - 1
	for _, f := range r.fallen {
		if r.shuns(m.member, f.member) {
			n--
		}
	}
	return n
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
	s := &r.world.sites[m]
	return s.place >= 0 || !s.left && r.world.now < s.fell.Add(r.world.statedAfter())
}

// rose notes that a member is up.
func (r *roster) rose(m int32) {
	for i := range r.fallen {
		if r.fallen[i].member == m {
			r.fallen = append(r.fallen[:i], r.fallen[i+1:]...)
			return
		}
	}
}

// fell notes that a member is not up any more.
func (r *roster) fell(m int32) {
	r.forget()
	r.fallen = append(r.fallen, fall{m, r.world.now})
}

// left notes that who has just fallen left for good, and told everybody.
func (r *roster) left() { r.fallen = r.fallen[:len(r.fallen)-1] }

// forget lets those not count any more that fell long enough ago.
func (r *roster) forget() {
	n := 0
	for n < len(r.fallen) && r.fallen[n].at.Add(r.world.statedAfter()) <= r.world.now {
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
	return defaultDetectAfter
}

// statedAfter is how long after its fall no Roster names a member any more.
func (w *World) statedAfter() time.Duration {
	if w.cfg.Unstated {
		return forever
	}
	return w.detectAfter()
}

// try notes that a member tells or passes something to another one. Who does so to one
// that is down knows it DetectAfter later.
func (r *roster) try(from, to int32) {
	if !r.world.cfg.Unstated || r.world.sites[to].place >= 0 {
		return
	}
	if r.tried == nil {
		r.tried = map[[2]int32]clock.Instant{}
	}
	if _, known := r.tried[[2]int32{from, to}]; !known {
		r.tried[[2]int32{from, to}] = r.world.now
	}
}

// shuns reports whether a member knows of its own that another one is down, which
// nobody states.
func (r *roster) shuns(m, other int32) bool {
	at, tried := r.tried[[2]int32{m, other}]
	return tried && r.world.sites[other].place < 0 && r.world.now >= at.Add(r.world.detectAfter())
}

// exact is up to how many members there ever were witnesses are found among all of
// them. In larger groups it is enough to look at some.
const exact = 4 * policy.MaxWitnesses

// slotID stands for the slot in questions to the roster. It is no member's id, and
// slotIndex no member's index.
var slotID = ident.Member{255}

const slotIndex = math.MaxInt32

// Witnesses implements policy.Roster: as if by rendezvous hashing, without a look at
// everybody.
func (m *memberRoster) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	r := m.roster
	i := memberIndex(of)
	switch {
	case of == slotID:
		i = slotIndex
	case i < 0 || i >= len(r.world.sites) || r.world.cfg.Known == 0 && !r.counts(int32(i)) || r.shuns(m.member, int32(i)):
		return to
	}
	var found [policy.MaxWitnesses]int32
	n = min(n, policy.MaxWitnesses)
	if len(r.world.sites) <= exact {
		n = r.rank(int32(i), found[:n])
	} else {
		n = r.probe(int32(i), found[:n])
	}
	for _, witness := range found[:n] {
		to = append(to, MemberID(int(witness)))
	}
	return to
}

// mayWitness reports whether a member may be a witness of another one. With
// Config.Known those that were there at the start have only each other, and those
// that joined whoever had joined before: what was certified then stays.
func (r *roster) mayWitness(of, c int32) bool {
	switch {
	case c == of || int(c) >= len(r.world.sites):
		return false
	case r.world.cfg.Known > 0:
		return c < max(of, int32(r.world.cfg.Members))
	}
	return r.counts(c)
}

// rank finds those with the highest hash, and reports how many there are.
func (r *roster) rank(of int32, list []int32) (n int) {
	for c := range int32(len(r.world.sites)) {
		if !r.mayWitness(of, c) {
			continue
		}
		k := n
		for k > 0 && r.hash(of, c) > r.hash(of, list[k-1]) {
			k--
		}
		if k == len(list) {
			continue
		}
		n = min(n+1, len(list))
		copy(list[k+1:n], list[k:])
		list[k] = c
	}
	return n
}

// probe draws indices from a range of a power of two, always the same ones, and takes
// those of members: so a death moves one witness of a few members, and a join makes one
// of a few.
func (r *roster) probe(of int32, list []int32) (n int) {
	mask := uint64(1)<<bits.Len(uint(2*len(r.world.sites))) - 1
	for try := int32(0); n < len(list) && try < exact*policy.MaxWitnesses; try++ {
		c := int32(r.hash(of, try) & mask)
		if r.mayWitness(of, c) && !slices.Contains(list[:n], c) {
			list[n] = c
			n++
		}
	}
	return n
}

// hash stands for the real one of (group, member, witness).
func (r *roster) hash(of, witness int32) uint64 {
	x := r.world.cfg.Seed ^ uint64(of)<<32 ^ uint64(witness)
	hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	hi, lo = bits.Mul64(hi^lo^uint64(witness), 0x94d049bb133111eb)
	return hi ^ lo
}
