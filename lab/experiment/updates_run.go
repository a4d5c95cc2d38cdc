package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/lab/gossip"
	"github.com/wandertoken/wander/lab/updates"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/circulation"
)

// The setting of the runs about updates.
const (
	// joinEvery is the paper's rate: 190 joinings in 30 minutes.
	joinEvery = 9400 * time.Millisecond
)

// growing is a group that members join, one after the other.
type growing struct {
	preset   string
	members  int // at the start
	joins    int
	every    time.Duration // between two joinings
	warm     time.Duration // before the first joining
	tail     time.Duration // after the last one
	before   int           // joinings after which traffic is measured
	contacts int           // with how many members a joiner connects
	compare  time.Duration // gossip_interval; 0: directories are not compared
	receipts bool          // they carry updates, too
	paper    bool          // the paper's list (lab/gossip) in place of this project's
}

// grow is the default reading.
func grow(l *Lab, preset string, members, joins int) growing {
	return growing{
		preset: preset, members: members, joins: joins, every: joinEvery, compare: l.span(compareEvery), receipts: true,
		warm: l.span(joinsWarm), tail: l.span(joinsTail), before: l.count(joinsBefore), contacts: l.count(joinContacts),
	}
}

func (g growing) config(seed uint64) circulation.Config {
	return circulation.Config{
		Policy: catalog.Multitoken, Members: g.members, Found: max(1, g.members/4), Seed: seed,
		Passing: circulation.Constant(gridLatency), Operation: noTime,
		Params: policy.Params{
			Preset: g.preset, OperationTime: policy.MinDuration, MembersMax: g.members + g.joins, SkipDelay: policy.MinDuration,
			TargetInterval: gridTarget,
		},
	}
}

// shares are the parts of a group, in percent, for which it is noted when they
// knew of a joining: 0 to 100.
const shares = 101

// spread is how joinings got known in one run, each to those that were there
// before.
type spread struct {
	// times has for each joining after how many seconds each share of them
	// knew, without bound where that did not happen.
	times    [][shares]float64
	traffic  updates.Traffic // from growing.before joinings on, to the last
	interval float64         // between two tokens at a member in the same time, s
}

// column is the times of one share of the members, sorted.
func (s *spread) column(percent int) []float64 {
	var all []float64
	for i := range s.times {
		all = append(all, s.times[i][percent])
	}
	slices.Sort(all)
	return all
}

// watch notes who hears of whom.
type watch struct {
	world   *circulation.Simulation
	members int // at the start
	at      []clock.Instant
	knowers []int // of each joiner, among those that were there before
	reached []int // the next share of each
	*spread
}

// begin notes that the next member is about to join.
func (o *watch) begin() {
	var never [shares]float64
	for i := range never {
		never[i] = math.Inf(1)
	}
	o.times = append(o.times, never)
	o.at, o.knowers, o.reached = append(o.at, o.world.Now()), append(o.knowers, 0), append(o.reached, 0)
}

// learned is updates.Config.Learned, and gossip.Config.Learned.
func (o *watch) learned(member, subject int) {
	i := subject - o.members
	if i < 0 || member >= subject {
		return
	}
	o.knowers[i]++
	after := o.world.Now().Sub(o.at[i]).Seconds()
	for o.reached[i] < shares && o.knowers[i]*(shares-1) >= o.reached[i]*subject {
		o.times[i][o.reached[i]] = after
		o.reached[i]++
	}
}

// talk is a directory whose traffic is known.
type talk interface {
	circulation.Directory
	Traffic() updates.Traffic
}

// directory makes what the members know.
func (g growing) directory(o *watch, rng *rand.Rand) talk {
	if g.paper {
		d := gossip.New(g.members, gossip.Config{Snapshot: true, Learned: o.learned})
		return &paperTalk{Directory: d, size: len(signedJoins(1)[0])}
	}
	return updates.New(updates.Config{
		Founders: g.members, Capacity: gossip.Capacity, Joins: signedJoins(g.joins), Contacts: g.contacts,
		Receipts: g.receipts, Rand: rng, Learned: o.learned,
	})
}

// paperTalk counts what the paper's lists would weigh.
type paperTalk struct {
	*gossip.Directory
	size    int
	traffic updates.Traffic
}

func (p *paperTalk) Passed(token ident.Token, from, to int) {
	p.traffic.Hops++
	p.traffic.Tokens.Add(p.News(from), p.size)
	p.Directory.Passed(token, from, to)
}

func (p *paperTalk) Traffic() updates.Traffic { return p.traffic }

// run lets members join one after the other.
func (g growing) run(l *Lab, seed uint64) (*spread, error) {
	o := &watch{members: g.members, spread: &spread{}}
	rng := rand.New(rand.NewPCG(seed, 0))
	talk := g.directory(o, rng)
	cfg := g.config(seed)
	cfg.Directory = talk
	w, err := circulation.NewContext(l.Context(), cfg)
	if err != nil {
		return nil, err
	}
	o.world = w
	g.schedule(w, o, talk, rng)
	first, last := g.warm+time.Duration(g.before)*g.every, g.warm+time.Duration(g.joins-1)*g.every
	w.Run(clock.Instant(first))
	before := talk.Traffic()
	w.Run(clock.Instant(last))
	o.traffic = talk.Traffic().Since(before)
	members := float64(g.members) + float64(g.before+g.joins)/2
	o.interval = members * (last - first).Seconds() / float64(o.traffic.Hops)
	w.Run(clock.Instant(last + g.tail))
	return o.spread, w.Err()
}

// schedule plans the joinings, and when directories are compared. In the paper a
// joiner makes a token, which tells of it.
func (g growing) schedule(w *circulation.Simulation, o *watch, d talk, rng *rand.Rand) {
	for i := range g.joins {
		w.At(clock.Instant(g.warm+time.Duration(i)*g.every), func(w *circulation.Simulation) {
			o.begin()
			if m := w.Join(rng.IntN(w.Members())); g.paper {
				w.Generate(m)
			}
		})
	}
	news, ok := d.(*updates.Directory)
	if !ok || g.compare == 0 {
		return
	}
	for m := range g.members + g.joins {
		compare(w, news, m, clock.Instant(rng.Int64N(int64(g.compare))), g.compare, rng)
	}
}

// compare lets a member compare its directory with that of a random one it
// knows, again and again.
func compare(w *circulation.Simulation, d *updates.Directory, m int, at clock.Instant, every time.Duration, rng *rand.Rand) {
	w.At(at, func(w *circulation.Simulation) {
		if m < w.Members() {
			if other, ok := d.Choose(m, rng); ok {
				d.Compare(m, other)
			}
		}
		compare(w, d, m, at.Add(every), every, rng)
	})
}
