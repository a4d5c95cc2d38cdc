package experiment

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/sim/circulation"
)

const beyondWalkStressNotes = `300 members, or 1000 if a row says so, in groups configured for their size, with the losses of the other experiments, and beside them:

- *slow handoffs*: a handoff takes 50 ms, and so does each small message;
- *crashes*: one member of the group crashes every 100 s on average, forgets everything and is back after a minute;
- *lost messages*: each small message is lost with this probability; a handoff repeats its own;
- *directories of 64*: each member draws from a sample of 64 others, and a member's witnesses are those named when it joined;
- *false suspicion*: this share of the watches on a next holder report it as silent although it works, at any moment of its operation, and the
  two do not reach each other for 10 s.

Ideal is still the perfect round robin in which nothing takes time. Handoffs of 50 ms alone let the resource idle for 1.23 %.`

// stress is something that makes it harder.
type stress struct {
	id, name string
	members  int
	change   change
	goals    bool // the goals of all stresses at once
	papers   bool // it is one for the papers' preset too, which sends no messages
}

// change is what a stress changes.
type change func(*circulation.Config)

// The stresses of the goals.
func slowHandoffs(l *Lab) change {
	slow := circulation.Constant(l.span(slowHandoff))
	return func(c *circulation.Config) { c.Passing, c.Telling = slow, slow }
}

func manyCrashes(l *Lab) change {
	every := l.span(stressCrashes)
	return func(c *circulation.Config) { c.CrashEvery = every }
}

func lostMessages(l *Lab, times float64) change {
	share := l.number(stressLoss) * times
	return func(c *circulation.Config) { c.TellLoss = share }
}

func smallDirectories(l *Lab) change {
	known := l.count(stressKnown)
	return func(c *circulation.Config) { c.Known = known }
}

func someSuspicion(l *Lab, times float64) change {
	share := l.number(stressSuspicion) * times
	return func(c *circulation.Config) { c.FalseSuspicion = share }
}

func allAtOnce(l *Lab) change {
	all := []change{slowHandoffs(l), manyCrashes(l), lostMessages(l, 1), smallDirectories(l), someSuspicion(l, 1)}
	return func(c *circulation.Config) {
		for _, change := range all {
			change(c)
		}
	}
}

// stresses are all of beyond-walk-stress; in a sweep those with a limit among 300
// members.
func stresses(l *Lab) []stress {
	all := stress{"all", "all at once", fullLoad, allAtOnce(l), true, true}
	if l.sweeping() {
		return []stress{all}
	}
	return []stress{
		{"slow", "slow handoffs", fullLoad, slowHandoffs(l), false, true},
		{"crashes", "crashes", fullLoad, manyCrashes(l), false, true},
		{"lossy", "1 % lost messages", fullLoad, lostMessages(l, 1), false, false},
		{"lossy-10", "10 % lost messages", fullLoad, lostMessages(l, 10), false, false},
		{"sampled", "directories of 64", fullLoad, smallDirectories(l), false, false},
		{"suspicion", "false suspicion of 10⁻⁴", fullLoad, someSuspicion(l, 1), false, false},
		{"suspicion-10", "false suspicion of 10⁻³", fullLoad, someSuspicion(l, 10), false, false},
		all,
		{"all-1000", "all at once", 1000, allAtOnce(l), true, true},
	}
}

func beyondWalkStress(l *Lab) error {
	return walkStress(l, "beyond-walk-stress", append([]string{wandering.Paper}, ownPresets()...), stresses(l))
}

const beyondWalkTogetherNotes = `All of these stresses at once for the other sizes, under fair. One member of the group crashes every 100 s, however large the group is.`

// beyondWalkTogether measures fair at the sizes that the stresses leave out.
func beyondWalkTogether(l *Lab) error {
	var sizes []stress
	others := stresses(l)
	for _, n := range walkAllSizes {
		if l.sweeping() && n > fullLoad {
			continue
		}
		if !slices.ContainsFunc(others, func(s stress) bool { return s.goals && s.members == n }) {
			sizes = append(sizes, stress{fmt.Sprintf("all-%d", n), "all at once", n, allAtOnce(l), true, false})
		}
	}
	return walkStress(l, "beyond-walk-together", []string{walkFair}, sizes)
}

// walkStress measures presets under stresses, and writes a table.
func walkStress(l *Lab, name string, presets []string, under []stress) error {
	table := walkTable{}
	for _, preset := range presets {
		for _, s := range under {
			if isPapers(preset) && (!s.papers || l.sweeping()) {
				continue
			}
			g := walkAt(l, preset, s.members)
			g.change = s.change
			runs, err := g.runs(l)
			if err != nil {
				return err
			}
			table.add(g, s.name, runs)
			s.rows(l, g, runs)
		}
	}
	if !l.sweeping() {
		l.Table(name, walkHeader, table)
	}
	return nil
}

// rows are the goals under one stress: limits there are for all at once only.
func (s stress) rows(l *Lab, g walkGroup, runs []*walkRun) {
	for _, q := range []walkQuantity{walkIdle, walkTwo, walkMore, walkP99, walkP999, walkMessages} {
		switch {
		case s.goals && q.id == walkIdle.id:
			q.limit, q.only, q.says = AtMost(0.016), walkFair, "bears everything at once"
		case s.goals && q.id == walkP99.id:
			q.limit, q.says = AtMost(1.1), "bears everything at once"
		default:
			q.limit = Reported()
		}
		q.quantity = fmt.Sprintf("%s, %s", q.quantity, s.name)
		q.row(l, g, "-"+s.id, runs)
	}
}
