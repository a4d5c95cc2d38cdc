package cluster

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// What a release and its answers hold behind their kind: a custody, when the token was made (release only), and
// which promise it is.
const (
	bornLength    = 8
	promiseLength = 8 + 4
)

// diverter is a keeper that gives no promise back. It says each time that another token circulates, so that the
// holder sends its token to the member that the diverter names, or it says nothing.
type diverter struct {
	meek
	n     *node
	names func(holder ident.Member) ident.Member // nil: it answers nothing
	count int                                    // releases
}

// newDiverter makes a keeper that has each token sent to itself.
func newDiverter(n *node) badness {
	return &diverter{n: n, names: func(ident.Member) ident.Member { return n.id }}
}

// newScatterer makes a keeper that has each token sent to another member that is not the holder, each in turn.
func newScatterer(n *node) badness {
	d := &diverter{n: n}
	d.names = func(holder ident.Member) ident.Member {
		list := slices.DeleteFunc(n.c.nodes.honest(), func(o *node) bool { return o.id == holder })
		return list[d.count%len(list)].id
	}
	return d
}

// newWithholder makes a keeper that answers no release.
func newWithholder(n *node) badness { return &diverter{n: n} }

func (d *diverter) hears(from ident.Member, m wire.Message) bool {
	p, ok := m.(*wire.Policy)
	if k := keeperKind(m); !ok || k != keeperRelease && k != keeperReturned || len(p.Body) != 1+custodyLength+bornLength+promiseLength {
		return true
	}
	d.count++
	if d.names != nil {
		says, to := *p, d.names(from)
		says.Body = slices.Concat([]byte{keeperOther}, p.Body[1:1+custodyLength], p.Body[1+custodyLength+bornLength:], to[:])
		d.n.bad.adds(from, &says)
	}
	return false
}

// newReturner makes a keeper that gives each promise back, and whose member does not hear that it was asked to: it counts the
// promise as one that stands.
func newReturner(n *node) badness { return &returner{n: n} }

type returner struct {
	meek
	n     *node
	count int // promises that it gave back
}

func (r *returner) hears(from ident.Member, m wire.Message) bool {
	p, ok := m.(*wire.Policy)
	if k := keeperKind(m); !ok || k != keeperRelease && k != keeperReturned || len(p.Body) != 1+custodyLength+bornLength+promiseLength {
		return true
	}
	r.count++
	says := *p
	says.Body = slices.Concat([]byte{keeperReleased}, p.Body[1:1+custodyLength], p.Body[1+custodyLength+bornLength:])
	r.n.bad.adds(from, &says)
	return false
}

// renewer is an idler that says at each question that it has passed another token on since, of which nobody else
// knows: so a later keeper takes the token for lost anew each time.
type renewer struct {
	*idler
	named uint64 // tokens
}

func newRenewer(n *node) badness { return &renewer{idler: newIdler(n).(*idler)} }

func (r *renewer) sends(e effect.Send) []effect.Send {
	m, ok := e.Message.(*wire.Policy)
	switch keeperKind(e.Message) {
	case keeperHave, keeperRest, keeperReturned, keeperWent, keeperNone:
	default:
		ok = false
	}
	if !ok || r.first == (hop{}) {
		return r.idler.sends(e)
	}
	r.named++
	honest, says := r.n.c.nodes.honest(), *m
	var t ident.Token
	binary.BigEndian.PutUint64(t[:], r.named)
	to := honest[r.named%uint64(len(honest))].id
	says.Body = slices.Concat([]byte{keeperWent}, t[:], []byte{0, 0, 0, 0, 0, 0, 0, 5}, to[:], make([]byte, 4))
	return []effect.Send{{To: e.To, Message: &says}}
}

// forgetter is a keeper that hears of no token: it counts no promise and no program.
type forgetter struct {
	meek
	count int // words that it has not heard
}

func newForgetter(*node) badness { return &forgetter{} }

func (f *forgetter) hears(_ ident.Member, m wire.Message) bool {
	if k := keeperKind(m); k != keeperHave && k != keeperRest {
		return true
	}
	f.count++
	return false
}

// pesterer tells each member all the time that it wants a token, and asks each one for it.
type pesterer struct {
	meek
	n     *node
	like  *wire.Policy // a keeper's message, of which the others are made
	count int
}

func newPesterer(n *node) badness { return &pesterer{n: n} }

func (p *pesterer) sends(e effect.Send) []effect.Send {
	if m, ok := e.Message.(*wire.Policy); ok && keeperKind(m) != 0 {
		p.like = m
	}
	return []effect.Send{e}
}

func (p *pesterer) ticks() {
	if p.like == nil {
		return
	}
	want, ask := *p.like, *p.like
	want.Body = append([]byte{keeperWant}, p.n.id[:]...)
	ask.Body = slices.Concat([]byte{keeperAsk}, make([]byte, custodyLength), p.n.id[:])
	for _, o := range p.n.c.nodes.honest() {
		p.count++
		p.n.bad.adds(o.id, &want)
		p.n.bad.adds(o.id, &ask)
	}
}

// noter is a keeper that notes each want, looks for no token, and does all else as an honest member.
type noter struct {
	meek
	noted int // wants that it has only noted
}

func newNoter(*node) badness { return &noter{} }

func (i *noter) sends(e effect.Send) []effect.Send {
	switch m, _ := e.Message.(*wire.Policy); keeperKind(e.Message) {
	case keeperAsk:
		return nil
	case keeperNoted: // as late as it may be
		i.noted++
		says := *m
		says.Body = []byte{keeperNoted, 255, 255, 255, 255}
		return []effect.Send{{To: e.To, Message: &says}}
	}
	return []effect.Send{e}
}

// releaser is a dropper that asks each member once a second to give back what it has never promised: of the last token
// that it dropped.
type releaser struct {
	*dropper
	last hop
	like *wire.Policy // a keeper's message, of which the others are made
	next time.Duration
	told uint32
}

func newReleaser(n *node) badness { return &releaser{dropper: newDropper(n).(*dropper)} }

func (r *releaser) hears(from ident.Member, m wire.Message) bool {
	if t, ok := m.(*wire.Transfer); ok {
		if b, _, err := token.PeekTransfer(r.n.c.group.ID(), t.Transfer); err == nil && b.To == r.n.id {
			r.last = hop{b.Token, b.Hop}
		}
	}
	return r.dropper.hears(from, m)
}

func (r *releaser) sends(e effect.Send) []effect.Send {
	if m, ok := e.Message.(*wire.Policy); ok && keeperKind(m) != 0 {
		r.like = m
	}
	return []effect.Send{e}
}

func (r *releaser) ticks() {
	if r.like == nil || r.last == (hop{}) || r.n.c.now < r.next {
		return
	}
	r.next = r.n.c.now + hoarderTells
	r.told++
	m := *r.like
	m.Body = binary.BigEndian.AppendUint64(append([]byte{keeperRelease}, r.last.token[:]...), r.last.number)
	m.Body = binary.BigEndian.AppendUint32(append(m.Body, make([]byte, bornLength+8)...), r.told)
	for _, o := range r.n.c.nodes.honest() {
		r.n.bad.adds(o.id, &m)
	}
}
