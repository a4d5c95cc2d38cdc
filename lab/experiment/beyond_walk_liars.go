package experiment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering/liars"
	"github.com/wandertoken/wander/sim/circulation"
)

const beyondWalkLiarsNotes = `300 members of the preset fair, of which one lies or several do together, with the losses of the other experiments:

- *always starved*: as witnesses the liars report themselves and each other as those that have waited longest, whoever searches. Asked about one of
  themselves, they confirm it. They put themselves before all candidates on the token. They operate however short a time ago they did, and then
  deny it to their witnesses. *Share* is the operations of a liar over those of an honest member;
- *never operate*: they say that they want the token, take it, and pass it on at once;
- *deny*: they answer each ask with none, even while a token is there, and report none of the tokens that they had;
- *mark*: they tell the witnesses of one other member, as often as they are believed, that it was served just now. Here *share* is that member's;
- *invent*: every 30 s they tell all members of a token that does not exist and precedes all others. Two change nothing. Three are as
  many as are believed: members drop tokens soon after they are generated, and keepers generate others. That is the bound of the preset: no member
  is shown a token of which others only tell, so three members that lie are as credible as three that do not.

A holder that always chooses its accomplices, or tells no witness that they were served, is not among them: no rule keeps a holder from choosing
the next one. It signs each of its transfers, and an audit shows them.`

// deceit is a lie, and how many tell it.
type deceit struct {
	id, name string
	liars    int
	lie      liars.Lie
	share    Check // the goal
}

// deceits are all that are measured; in a sweep those with a limit.
func deceits(l *Lab) []deceit {
	colluding := l.count(colludingLiars)
	all := []deceit{
		{"starved-1", "one is always starved", 1, liars.Starved, AtMost(1.05)},
		{"starved-15", "15 are always starved", colluding, liars.Starved, AtMost(1.3)},
		{"shirks-1", "one never operates", 1, liars.Shirking, Reported()},
		{"shirks-15", "15 never operate", colluding, liars.Shirking, Reported()},
		{"denies-1", "one denies", 1, liars.Denying, Reported()},
		{"denies-15", "15 deny", colluding, liars.Denying, Reported()},
		{"marks-1", "one marks another", 1, liars.Marking, Reported()},
		{"marks-2", "2 mark another", 2, liars.Marking, Reported()},
		{"marks-3", "3 mark another", 3, liars.Marking, Reported()},
		{"invents-1", "one invents a token", 1, liars.Inventing, Reported()},
		{"invents-2", "2 invent a token", 2, liars.Inventing, Reported()},
		{"invents-3", "3 invent a token", 3, liars.Inventing, Reported()},
	}
	if l.sweeping() {
		all = slices.DeleteFunc(all, func(d deceit) bool { return d.share.kind == reported })
	}
	return all
}

// members are the liars of a run, by their indices, and behind them all others.
func (d deceit) members(of, seed uint64) (lying, others []int) {
	all := rand.New(rand.NewPCG(seed, streamPrepare)).Perm(int(of))
	return all[:d.liars], all[d.liars:]
}

// about are those that a lie is about.
func (d deceit) about(lying, others []int) []int {
	switch d.lie {
	case liars.Marking:
		return others[:1]
	case liars.Inventing:
		return others
	}
	return lying
}

// measured are those whose share of the operations a lie changes.
func (d deceit) measured(of, seed uint64) []int {
	lying, others := d.members(of, seed)
	if d.lie == liars.Marking {
		return others[:1]
	}
	return lying
}

// maker makes the policies of a group in which some lie.
func (d deceit) maker(c circulation.Config) circulation.Maker {
	lying, others := d.members(uint64(c.Members), c.Seed)
	ids := column(d.about(lying, others), circulation.MemberID)
	return func(member int, in policy.Surroundings) (policy.Policy, error) {
		if slices.Contains(lying, member) {
			return liars.New(c.Params, in, d.lie, ids)
		}
		return catalog.New(c.Policy, c.Params, in)
	}
}

func beyondWalkLiars(l *Lab) error { return walkLiars(l, fullLoad, l.span(walkLength)) }

func walkLiars(l *Lab, members int, length time.Duration) error {
	table := walkTable{}
	for _, d := range deceits(l) {
		g := walkOf(l, walkFair, members)
		g.length, g.maker = length, d.maker
		runs, err := Gather(l, func(seed uint64) (*walkRun, error) {
			r, err := g.run(l.Context(), seed)
			if err == nil {
				r.gain = gain(r.PerMember(), d.measured(uint64(members), seed+walkSeeds))
			}
			return r, err
		})
		if err != nil {
			return err
		}
		table.add(g, d.name, runs)
		d.rows(l, g, runs)
	}
	l.Table("beyond-walk-liars", walkHeader, table)
	return nil
}

// gain is how often some members operated over how often another one did.
func gain(operations []uint64, some []int) float64 {
	var theirs, honest float64
	for m, n := range operations {
		if slices.Contains(some, m) {
			theirs += float64(n)
		} else {
			honest += float64(n)
		}
	}
	if honest == 0 {
		return 0
	}
	return theirs / float64(len(some)) / (honest / float64(len(operations)-len(some)))
}

func (d deceit) rows(l *Lab, g walkGroup, runs []*walkRun) {
	share := walkQuantity{
		id: "share", says: "who lies gains nothing", quantity: "share of a liar over that of an honest member", unit: Number,
		limit: d.share, value: func(r *walkRun) float64 { return r.gain },
	}
	if d.lie == liars.Marking {
		share.says, share.quantity = "who lies harms little", "share of the one that is marked over that of another member"
	}
	for _, q := range []walkQuantity{share, walkIdle, walkTwo, walkMore, walkP99, walkP999} {
		if q.id != share.id {
			q.limit, q.says = Reported(), "who lies harms little"
		}
		q.quantity = fmt.Sprintf("%s, %s", q.quantity, d.name)
		q.row(l, g, "-"+d.id, runs)
	}
}
