package cluster

import (
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// denier passes tokens on as an honest member does, and answers each question for one by none, and that it has just begun
// its work: what it did before might still run. As a keeper it hears of nobody that waits. A beginner drops each token besides.
type denier struct {
	badness     // what it does otherwise
	told    int // questions that it has answered so
}

func newDenier(*node) badness     { return &denier{badness: meek{}} }
func newBeginner(n *node) badness { return &denier{badness: newDropper(n)} }

func (d *denier) hears(from ident.Member, m wire.Message) bool {
	return keeperKind(m) != keeperWant && d.badness.hears(from, m)
}

func (d *denier) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Policy)
	if k := keeperKind(e.Message); !ok || k != keeperHave && k != keeperRest && k != keeperWent && k != keeperNone {
		return d.badness.sends(e)
	}
	d.told++
	says := *m
	says.Body = []byte{keeperNone, 0, 0, 0, 0}
	return []effect.Send{{To: e.To, Message: &says}}
}

// babbler drops every other token, and its keeper says anything: every other message of it is another one, well-formed and
// drawn at random, and each second or so it says one unasked. It names tokens that it has heard of, at hops beside those that it has
// heard of, and any members. So it comes upon what no other kind was made for.
type babbler struct {
	*dropper
	rng   *rand.Rand
	heard []hop // custodies that others have named, the latest last
	like  *wire.Policy
	said  int // bodies drawn at random
}

const (
	babblerRemembers = 16 // custodies
	babblerSpeaks    = 20 // unasked at one of so many ticks
)

func newBabbler(n *node) badness {
	return &babbler{dropper: makeDropper(n, false, 2), rng: rand.New(rand.NewPCG(n.c.seed, binary.BigEndian.Uint64(n.id[:8])))}
}

func (b *babbler) hears(from ident.Member, m wire.Message) bool {
	switch m := m.(type) {
	case *wire.Policy:
		if parts := keeperParts[keeperKind(m)]; len(parts) > 0 && rune(parts[0]) == custodyPart && len(m.Body) > custodyLength && !isAnyHop(m.Body[1:]) {
			b.notes(hop{ident.Token(m.Body[1:33]), binary.BigEndian.Uint64(m.Body[33:])})
		}
	case *wire.Transfer:
		if t, _, err := token.PeekTransfer(b.n.c.group.ID(), m.Transfer); err == nil {
			b.notes(hop{t.Token, t.Hop})
		}
	}
	return b.dropper.hears(from, m)
}

func (b *babbler) notes(c hop) {
	b.heard = append(slices.DeleteFunc(b.heard, func(h hop) bool { return h == c }), c)
	b.heard = b.heard[max(0, len(b.heard)-babblerRemembers):]
}

func (b *babbler) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Policy)
	if !ok || keeperKind(m) == 0 {
		return []effect.Send{e}
	}
	b.like = m
	if b.rng.IntN(2) == 0 || len(b.heard) == 0 {
		return []effect.Send{e}
	}
	return []effect.Send{{To: e.To, Message: b.anything()}}
}

func (b *babbler) ticks() {
	if b.like == nil || len(b.heard) == 0 || b.rng.IntN(babblerSpeaks) > 0 {
		return
	}
	if honest := b.n.c.nodes.honest(); len(honest) > 0 {
		b.n.bad.adds(honest[b.rng.IntN(len(honest))].id, b.anything())
	}
}

// anything is a well-formed message of a keeper.
func (b *babbler) anything() wire.Message {
	b.said++
	says := *b.like
	kind := keeperKinds[b.rng.IntN(len(keeperKinds))]
	says.Body = []byte{kind}
	for _, p := range keeperParts[kind] {
		says.Body = b.part(p, says.Body)
	}
	return &says
}

// part appends a part of a message, drawn at random.
func (b *babbler) part(p rune, to []byte) []byte {
	rng := b.rng
	number := func(list ...uint64) uint64 { return list[rng.IntN(len(list))] }
	switch p {
	case custodyPart:
		c := b.heard[len(b.heard)-1-rng.IntN(min(len(b.heard), 1+rng.IntN(babblerRemembers)))]
		at := c.number + number(0, 0, 0, 1, 2, 1000)
		return binary.BigEndian.AppendUint64(append(to, c.token[:]...), at-min(at, number(0, 0, 0, 1, 2, math.MaxUint64)))
	case memberPart:
		all := b.n.c.nodes
		m := all[rng.IntN(len(all))].id
		if rng.IntN(8) == 0 {
			m = ident.Member{}
		}
		return append(to, m[:]...)
	case spanPart:
		hold := uint64(b.n.c.resources[0].MaxHold.Milliseconds())
		return binary.BigEndian.AppendUint32(to, uint32(number(0, 1, 1000, hold, 10*hold, math.MaxUint32)))
	case numberPart:
		now := uint64(epoch.Add(b.n.c.now).UnixMilli())
		return binary.BigEndian.AppendUint64(to, number(0, 1, 2, now, now+1000, math.MaxUint64))
	}
	return binary.BigEndian.AppendUint32(to, uint32(number(0, 1, 2, math.MaxUint32))) // serialPart
}

// The parts of keepers' messages (P-50).
const (
	custodyPart = 'c'
	memberPart  = 'm'
	spanPart    = 's'
	numberPart  = 'n' // 8 bytes
	serialPart  = 'p' // 4 bytes
)

// keeperParts are the parts of each kind, but of proof, which has a receipt.
var keeperParts = map[byte]string{
	keeperWant: "m", keeperNoted: "s", keeperHave: "cs", keeperRest: "cnp", keeperRelease: "cnnp", keeperReturned: "cnnp",
	keeperReleased: "cnp", keeperOther: "cnpm", keeperAsk: "cm", keeperWent: "cms", keeperNone: "s", keeperLasts: "", keeperLasting: "s",
	keeperAccount: "c", keeperStill: "c", keeperSent: "cms", keeperInstead: "cmc",
	keeperNever: "csnn", keeperBlame: "cmm",
}

// keeperKinds are those kinds, in order.
var keeperKinds = slices.Sorted(maps.Keys(keeperParts))
