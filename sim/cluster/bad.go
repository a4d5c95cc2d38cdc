package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// badness is what the driver of a bad member does otherwise than its member says. The
// member below is an honest one that knows of nothing: it greets, gossips and wants turns.
// The driver has its key. It is good again when the faults of a run are over.
type badness interface {
	// sends is what leaves in place of a message of the member: the message itself, others
	// or nothing.
	sends(e effect.Send) []effect.Send
	// hears is told of each message before the member is, and reports whether the member is
	// to have it.
	hears(from ident.Member, m wire.Message) bool
	// ticks is called each badTick.
	ticks()
	// runs reports whether the programs of its member truly run, and do not only seem to.
	runs() bool
	// lasts is told of a grant, and is how long its program runs, which would run for so long.
	lasts(e effect.Grant, run time.Duration) time.Duration
	// ends is told that a program of its member has ended, as an honest one would have, and reports whether the member is
	// told so.
	ends(p *program) bool
}

// badTick is how often a bad member's driver does something unasked.
const badTick = 50 * time.Millisecond

// badKind is a kind of bad members.
type badKind struct {
	name, does string
	make       func(*node) badness
}

// badKinds are all kinds of bad members. Another one is a line here, and a file with a type
// that has meek for what it does as an honest member would.
var badKinds []badKind

func init() { // the kinds look each other up here
	badKinds = []badKind{
		{"hoarder", "takes each token, lets none go, and says that a program runs", newHoarder},
		{"dodger", "the same, and answers now and then only, so that it is never late", newDodger},
		{"evader", "passes the first tokens on, then hoards, and says each time that it has another one of those", newEvader},
		{"laggard", "hoards, and gives each member account now and then only, so that it is given up and not struck", newLaggard},
		{"ender", "the same with all custodies of a token before its last pass, so that a keeper forgets which it has named", newEnder},
		{"dropper", "takes each token and says that it has none", newDropper},
		{"dropper-quiet", "the same, and never answers a transfer", newDropperQuiet},
		{"dropper-half", "the same with every other token, and its receipts say that it may have forgotten it", newDropperHalf},
		{"dropper-restart", "takes each token, and begins anew at once, as if it had never had it", newDropperRestart},
		{"dropper-sent", "takes each token, and says that it has passed it to a member that is dead", newDropperSent},
		{"misleader", "drops each token, and says each time that it is on its way at a later hop", newMisleader},
		{"pretender", "drops each token, and says each time that it has been there since before a restart", newPretender},
		{"stonewaller", "drops each token, and answers no question for one", newStonewaller},
		{"ghost", "drops each token, and says each time that it has the first one that it had", newGhost},
		{"idler", "drops each token, answers no question for one, and as a keeper notes each want and looks for no token", newIdler},
		{"renewer", "the same, and says at each question that it has passed on another token since", newRenewer},
		{"releaser", "drops each token, and asks all others again and again for a promise of it back", newReleaser},
		{"noter", "as a keeper, notes each want and looks for no token, and does all else as an honest member", newNoter},
		{"diverter", "as a keeper, has each token that rests passed to itself when its holder wants to use it", newDiverter},
		{"scatterer", "as a keeper, has each such token passed to another member in turn", newScatterer},
		{"withholder", "as a keeper, gives no promise back", newWithholder},
		{"forgetter", "as a keeper, hears of no promise and of no program", newForgetter},
		{"pesterer", "tells each member 20 times a second that it wants a token, and asks it for one", newPesterer},
		{"denier", "says each time that it has no token and has just begun its work, and passes tokens on", newDenier},
		{"beginner", "the same, and drops each token", newBeginner},
		{"babbler", "drops every other token, and its keeper says anything", newBabbler},
		{"refuser", "wants turns, and refuses each token", newRefuser},
		{"ignorer", "wants turns, and answers no offer", newIgnorer},
		{"decliner", "wants turns, and declines each token that it has accepted", newDecliner},
		{"tardy", "wants turns, and accepts each token when it is for another member already", newTardy},
		{"coy", "wants turns, as it tells keepers, and tells each holder that it wants none", newCoy},
		{"prophet", "promises that the token rests with it, at a hop that the token has not reached, and says that it has none", newProphet},
		{"prophet-names", "the same, and says that another member has it, each time another one", newProphetNames},
		{"herald", "refuses each token, and tells all others again and again, unasked, that it has passed the token on at the hop that comes next", newHerald},
		{"herald-turns", "the same, and has its turns: it says so also while it has the token", newHeraldTurns},
		{"overrunner", "runs its programs on for twice max_hold when it has said that they have ended, and has passed the token on", newOverrunner},
		{"overrunner-silent", "says never that a program has ended, and runs it on for as long", newOverrunnerSilent},
		{"rester", "promises that the token rests, runs for max_hold under it, and says meanwhile that it has none", newRester},
		{"rester-quiet", "the same, and answers no question for a token meanwhile", newResterQuiet},
		{"returner", "as a keeper, gives each promise back, and counts it as one that stands", newReturner},
		{"minter", "makes 20 tokens a second, each of which wins", newMinter},
		{"minter-slow", "makes one each max_hold", newMinterSlow},
		{"friends", "passes tokens to others of its kind only", newFriend},
		{"favourer", "passes tokens to the second half of the members only", newFavourer},
		{"swallower", "lets its policy hear nothing, and so sends no request of a ring on", newSwallower},
		{"forger", "makes tokens of any time with a hop that two have invented", newForger},
	}
}

// BadKinds are the names of the kinds of bad members, each with what it does.
func BadKinds() (list []string) {
	for _, k := range badKinds {
		list = append(list, k.name+": "+k.does)
	}
	return list
}

// badKindNamed is the kind of a name; nil: there is none.
func badKindNamed(name string) *badKind {
	if i := slices.IndexFunc(badKinds, func(k badKind) bool { return k.name == name }); i >= 0 {
		return &badKinds[i]
	}
	return nil
}

// bads are the kinds of Setting.Bad, one for each bad member.
func (s Setting) bads() []string {
	if s.Bad == "" {
		return nil
	}
	return strings.Split(s.Bad, ",")
}

// validateBad returns what is wrong with the bad members.
func (s Setting) validateBad() error {
	list := s.bads()
	for _, name := range list {
		if badKindNamed(name) == nil {
			var names []string
			for _, k := range badKinds {
				names = append(names, k.name)
			}
			return fmt.Errorf("%w: bad member %q: %s", ErrSetting, name, strings.Join(names, ", "))
		}
	}
	if len(list) > 0 && len(list)+s.Liars > s.Members-2 {
		return fmt.Errorf("%w: %d bad members and %d liars among %d members: two must be honest, and their number be said", ErrSetting, len(list), s.Liars, s.Members)
	}
	return nil
}

// isHonest reports whether a member's driver does what the member says.
func (n *node) isHonest() bool { return !n.liar && n.bad == nil }

// isBad reports whether a member's driver is bad now.
func (n *node) isBad() bool { return n.bad != nil && !n.c.calm }

// turnBad lets a member's driver be of the kind of its setting.
func (n *node) turnBad() {
	if n.kind != "" {
		n.bad = &impostor{n: n, kind: badKindNamed(n.kind).make(n)}
		n.bad.ticks()
	}
}

// impostor is the driver of a bad member: it has the member's key and speaks for it.
type impostor struct {
	n    *node
	kind badness
}

func (i *impostor) ticks() {
	i.n.c.after(badTick, func() {
		if i.n.isBad() && i.n.member != nil && !i.n.asleep {
			i.kind.ticks()
		}
		i.ticks()
	})
}

// send sends what a bad member's driver makes of a message.
func (i *impostor) send(e effect.Send) {
	list := i.kind.sends(e)
	if len(list) == 0 {
		i.n.c.log(i.n, "is BAD: says nothing to %s", i.n.c.name(e.To))
	}
	for _, s := range list {
		if s != e {
			i.n.c.log(i.n, "is BAD to %s", i.n.c.name(s.To))
		}
		i.n.send(s.To, s.Message)
	}
}

// adds sends what no member has said.
func (i *impostor) adds(to ident.Member, m wire.Message) {
	i.n.c.log(i.n, "is BAD to %s", i.n.c.name(to))
	i.n.send(to, m)
}

// keeps reports whether the driver keeps an input from its member.
func (i *impostor) keeps(in member.Input) bool {
	r, ok := in.(member.Received)
	if !ok {
		return false
	}
	m, err := wire.Decode(r.Body)
	return err == nil && !i.kind.hears(r.From, m)
}

// pretends lets no program run for a grant, and reports one until its deadline.
func (i *impostor) pretends(e effect.Grant) {
	from, deadline := i.n.c.now, i.n.virtual(e.Deadline)
	i.n.after(deadline-killMargin-i.n.c.now, func() {
		i.n.put(member.Ended{Grant: e.Grant, Operated: true, SeenFrom: i.n.instant(from), SeenTo: i.n.instant(i.n.c.now)})
	})
}

// forged is a genesis that a bad member's driver has made up.
func (i *impostor) forged(sequence uint64, at time.Duration) token.Genesis {
	body := token.GenesisBody{
		Resource: i.n.c.resources[0].Name, Generator: i.n.id, Incarnation: i.n.guard.oracle.incarnation,
		Sequence: 1<<33 + sequence, Time: uint64(epoch.Add(at).UnixMilli()),
	}
	g, err := body.Sign(i.n.c.group.ID(), i.n.key)
	must(err)
	i.n.c.taint(g.ID())
	i.n.c.forged[g.ID()] = true
	return g
}

// meek is what a bad member does as an honest one would: everything. Kinds have it for what
// they leave as it is.
type meek struct{}

func (meek) sends(e effect.Send) []effect.Send     { return []effect.Send{e} }
func (meek) hears(ident.Member, wire.Message) bool { return true }
func (meek) ticks()                                {}
func (meek) runs() bool                            { return true }
func (meek) ends(*program) bool                    { return true }

func (meek) lasts(_ effect.Grant, run time.Duration) time.Duration { return run }
