package experiment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/sim/circulation"
)

const beyondWalkLiarsNotes = `300 members of the preset fair, of which one lies, or 15 do together; the losses of the other experiments:

- *always starved*: as witnesses they report themselves and each other as those that have waited longest, whoever looks for somebody;
  asked about one of themselves they confirm it, they put themselves before all candidates on the token, and they operate however short a
  time ago they did. *Share* is the operations of a liar over those of an honest member;
- *never operate*: they say that they want the token, take it, and let it go at once;
- *deny*: they answer no poll, and say that they never had a token that they passed on.

Not among them is a holder that chooses its accomplices for ever, or tells nobody that they were served: no rule keeps a holder from choosing
who is next. Each of its transfers is signed, and shows in an audit.`

// deceit is a lie, and how many tell it.
type deceit struct {
	id, name string
	liars    int
	lie      wandering.Lie
	share    float64 // the goal; 0: there is none
}

// colluding is 5 % of the members.
const colluding = fullLoad / 20

var deceits = []deceit{
	{"starved-1", "one is always starved", 1, wandering.Starved, 1.05},
	{"starved-15", "15 are always starved", colluding, wandering.Starved, 1.3},
	{"shirks-1", "one never operates", 1, wandering.Shirking, 0},
	{"shirks-15", "15 never operate", colluding, wandering.Shirking, 0},
	{"denies-1", "one denies", 1, wandering.Denying, 0},
	{"denies-15", "15 deny", colluding, wandering.Denying, 0},
}

// members are the liars of a run, by their indices.
func (d deceit) members(of, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, streamPrepare)).Perm(int(of))[:d.liars]
}

// maker makes the policies of a group in which some lie.
func (d deceit) maker(c circulation.Config) circulation.Maker {
	liars := d.members(uint64(c.Members), c.Seed)
	ids := column(liars, circulation.MemberID)
	return func(member int, in policy.Surroundings) (policy.Policy, error) {
		if slices.Contains(liars, member) {
			return wandering.NewLiar(c.Params, in, d.lie, ids)
		}
		return catalog.New(c.Policy, c.Params, in)
	}
}

func beyondWalkLiars(l *Lab) error { return walkLiars(l, fullLoad, walkLength) }

func walkLiars(l *Lab, members int, length time.Duration) error {
	table := walkTable{}
	for _, d := range deceits {
		g := walkOf(walkFair, members)
		g.length, g.maker = length, d.maker
		runs, err := Gather(l, func(seed uint64) (*walkRun, error) {
			r, err := g.run(l.Context(), seed)
			if err == nil {
				r.gain = gain(r.PerMember(), d.members(uint64(members), seed+walkSeeds))
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

// gain is how often a liar operated over how often an honest member did.
func gain(operations []uint64, liars []int) float64 {
	var lied, honest float64
	for m, n := range operations {
		if slices.Contains(liars, m) {
			lied += float64(n)
		} else {
			honest += float64(n)
		}
	}
	return lied / float64(len(liars)) / (honest / float64(len(operations)-len(liars)))
}

func (d deceit) rows(l *Lab, g walkGroup, runs []*walkRun) {
	share := walkQuantity{
		id: "share", says: "who lies gains nothing", quantity: "share of a liar over that of an honest member", unit: Number,
		limit: Reported(), value: func(r *walkRun) float64 { return r.gain },
	}
	if d.share > 0 {
		share.limit = AtMost(d.share)
	}
	for _, q := range []walkQuantity{share, walkIdle, walkTwo, walkMore, walkP99, walkP999} {
		if q.id != share.id {
			q.limit, q.says = Reported(), "who lies harms little"
		}
		q.quantity = fmt.Sprintf("%s, %s", q.quantity, d.name)
		q.row(l, g, "-"+d.id, runs)
	}
}
