package handoff

import (
	"crypto/sha256"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// Bounds on the evidence that a machine writes into the journal, from the start
// of the process on: together at most 512 records of about 1 kB. It counts
// evidence beyond them as rejected.
const (
	// MaxEvidencePerMember bounds the evidence against one member. One piece is
	// enough to revoke it, and a member that breaks the rules can produce any
	// number.
	MaxEvidencePerMember = 4
	// MaxAccused bounds the members against which there is evidence.
	MaxAccused = 128
)

// ConflictDetector remembers a bounded number of signed objects that peers
// showed to this member, and finds objects that contradict them; package
// evidence has one. This package only says where to look for evidence, not what
// it is.
type ConflictDetector interface {
	// Genesis, Transfer and Answer take in an object whose signature holds, and
	// return one that contradicts it, if there is any.
	Genesis(token.Genesis) (mine, other token.Object, found bool)
	Transfer(token.Transfer) (mine, other token.Object, found bool)
	Answer(token.Answer) (mine, other token.Object, found bool)
	// Recall takes in an object from this member's journal.
	Recall(token.Object)
	// Judge says what two objects prove, if anything, and against which member,
	// and returns the objects in the order in which the journal stores them.
	Judge(a, b token.Object) (what string, accused ident.Member, first, second token.Object, ok bool)
}

// nobody is a ConflictDetector that remembers and finds nothing.
type nobody struct{}

func (nobody) Genesis(token.Genesis) (mine, other token.Object, found bool) {
	return mine, other, false
}
func (nobody) Transfer(token.Transfer) (mine, other token.Object, found bool) {
	return mine, other, false
}
func (nobody) Answer(token.Answer) (mine, other token.Object, found bool) { return mine, other, false }
func (nobody) Recall(token.Object)                                        {}
func (nobody) Judge(a, b token.Object) (what string, accused ident.Member, first, second token.Object, ok bool) {
	return "", accused, a, b, false
}

// recalled bounds the objects of the journal that a detector is told of, the last
// ones: it would forget the others.
const recalled = 512

// GiversOfOneHop is the journal's text for two transfers of one hop that two
// members have signed, or one member by two chains. Some earlier holder has
// then given the token away twice, and the chains in the journals show which
// one. It is suspicion, and no evidence.
const GiversOfOneHop = "two givers of one hop"

// conflicts looks for contradictions between signed objects, journals those that are
// evidence, and counts them against their signers.
type conflicts struct {
	detector ConflictDetector
	out      *output
	stats    *Stats
	pairs    map[[2]ident.Hash]bool // that are in the journal as evidence
	accused  map[ident.Member]int   // how often, since the start; nobody: suspicion
}

func newConflicts(w ConflictDetector, out *output, stats *Stats) conflicts {
	if w == nil {
		w = nobody{}
	}
	return conflicts{detector: w, out: out, stats: stats, pairs: make(map[[2]ident.Hash]bool), accused: make(map[ident.Member]int)}
}

// transfer compares what has come with a TRANSFER with what this member
// remembers. It reports whether the transfer itself is part of evidence.
func (c *conflicts) transfer(p verifiedTransfer) (convicted bool) {
	c.genesis(p.title.Genesis)
	if !p.title.Transfer.IsZero() {
		c.convictIf(c.detector.Transfer(p.title.Transfer))
	}
	if !p.title.Void.IsZero() {
		c.convictIf(c.detector.Answer(p.title.Void))
	}
	return c.convictIf(c.detector.Transfer(p.transfer))
}

// genesis compares a genesis whose signature holds with what this member remembers.
func (c *conflicts) genesis(g token.Genesis) { c.convictIf(c.detector.Genesis(g)) }

// answer looks at an answer whose signature holds, also one that closes
// nothing any more. rec is the record of its hop, or nil: custody that came back by a
// void is still here with it.
func (c *conflicts) answer(answer token.Answer, rec *record) {
	if rec != nil && answer.Verdict() == token.Receipt && !rec.title.Void.IsZero() {
		c.convict(object(envelope.Void, rec.title.Void.Raw()), object(envelope.Receipt, answer.Raw()))
	}
	c.convictIf(c.detector.Answer(answer))
}

// misfit looks at a transfer that does not follow from what came with it; the
// signatures of all hold.
func (c *conflicts) misfit(t token.Transfer, msg *wire.Transfer) {
	for _, with := range []token.Object{
		object(envelope.Genesis, msg.Genesis), object(envelope.Transfer, msg.Previous), object(envelope.Void, msg.Void),
	} {
		c.convict(object(envelope.Transfer, t.Raw()), with)
	}
	c.convict(object(envelope.Transfer, msg.Previous), object(envelope.Genesis, msg.Genesis))
}

func object(k envelope.Kind, raw []byte) token.Object { return token.Object{Kind: k, Raw: raw} }

// accuse writes down that a hop which is decided has another transfer, too. What
// the first was, the record has if custody is still here; otherwise the detector
// may remember it, and has told, or it is in the journal only.
func (c *conflicts) accuse(rec *record, t token.Transfer, convicted bool) {
	if rec.accused {
		return
	}
	rec.accused = true
	first := rec.title.Transfer.Raw()
	if first != nil && c.convict(object(envelope.Transfer, first), object(envelope.Transfer, t.Raw())) || convicted {
		return
	}
	// Two signers, or two chains of one, or the first is not at hand to tell: that
	// accuses nobody.
	if first == nil {
		first = rec.taken[:]
	}
	if c.persist(GiversOfOneHop, ident.Member{}, first, t.Raw()) {
		c.out.report("evidence", ident.Member{}, GiversOfOneHop) // which nobody else tells of
	}
}

func (c *conflicts) convictIf(mine, other token.Object, found bool) bool {
	return found && c.convict(mine, other)
}

// convict makes evidence of two objects, if they are any, once. It reports
// whether they are.
func (c *conflicts) convict(a, b token.Object) bool {
	what, accused, a, b, ok := c.detector.Judge(a, b)
	if !ok {
		return false
	}
	pair := [2]ident.Hash{hashOf(a.Raw), hashOf(b.Raw)}
	if c.pairs[pair] || c.pairs[[2]ident.Hash{pair[1], pair[0]}] {
		return true
	}
	if !c.persist(what, accused, a.Raw, b.Raw) {
		return true
	}
	c.pairs[pair] = true
	c.out.notify(Notice{Kind: Convicted, Peer: accused, Objects: [2]token.Object{a, b}})
	return true
}

// persist journals evidence, or suspicion if accused is nobody, unless
// there is enough.
func (c *conflicts) persist(what string, accused ident.Member, objects ...[]byte) bool {
	if !c.count(accused) {
		c.stats.Rejected++
		return false
	}
	c.stats.Evidence++
	c.out.persist(&journal.Evidence{What: what, Accused: accused, Objects: objects}, false)
	return true
}

// count reports whether there is room for one more against a member, and counts it.
func (c *conflicts) count(accused ident.Member) bool {
	n, known := c.accused[accused]
	if n >= MaxEvidencePerMember || !known && len(c.accused) >= MaxAccused {
		return false
	}
	c.accused[accused] = n + 1
	return true
}

func hashOf(raw []byte) ident.Hash { return sha256.Sum256(raw) }
