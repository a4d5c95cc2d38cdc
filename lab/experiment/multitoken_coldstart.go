package experiment

import (
	"math"
	"math/cmplx"
	"time"

	"github.com/wandertoken/wander/lab/figure"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/sim/circulation"
)

const multitokenColdNotes = `A hundred members begin at one instant without a token, with a target of 60 s and handoffs of 30 ms. *In step* is measured between
the 100th and the 110th target interval after the start. It is the mean resultant length of the instants at which operations begin, on a circle
of t_wait/k_max = 20 s: 1 is all at once, 0 is evenly spread.`

func multitokenColdStart(l *Lab) error {
	members, target, wait := l.count(coldMembers), l.span(coldTarget), l.count(coldWait)
	p := figure.Plot{
		Title: "Operations of 100 members that began together, target interval 60 s",
		X:     figure.Axis{Label: "time since the 100th target interval (s)", Min: 0, Max: 120},
		Y:     figure.Axis{Label: "operations that begin in a second"},
	}
	for _, c := range []struct {
		preset string
		step   Check
	}{{multitoken.Paper, AtLeast(0.9).ours()}, {multitoken.Jittered, AtMost(0.3).ours()}} {
		runs, err := Gather(l, func(seed uint64) (*began, error) {
			return coldStart(c.preset, seed, members, target, wait, l.count(coldMeasured))
		})
		if err != nil {
			return err
		}
		claim := func(id, says, quantity string, unit Unit, holds Check) Claim {
			return Claim{
				ID: "multitoken-coldstart-" + id + "/" + c.preset, Source: fromThisProject, Says: says, Quantity: quantity,
				Reading: c.preset, Unit: unit, Holds: holds, Why: "handoffs spread the operations.",
			}
		}
		says := "fixed thresholds keep members that begin together in step"
		if c.preset == multitoken.Jittered {
			says = "drawn thresholds do not"
		}
		l.Row(claim("step", says, "in step", Number, c.step), column(runs, (*began).step))
		l.Row(claim("crowd", says, "most operations that begin within a second", Number, Reported()), column(runs, (*began).crowd))
		l.Row(claim("mean", "the interval does not depend on it", "mean time between operations of a member", Seconds, Reported()),
			column(runs, func(b *began) float64 { return b.length.Seconds() * float64(members) / float64(len(b.instants)) }))
		p.Lines = append(p.Lines, figure.Line{Name: c.preset, Style: figure.Steps, Points: runs[0].perSecond()})
	}
	l.Plot("multitoken-coldstart", p)
	return nil
}

// began notes when operations begin.
type began struct {
	circulation.Ignore
	from     clock.Instant
	length   time.Duration
	period   time.Duration
	instants []time.Duration // since from
}

// OperationBegan implements circulation.Observer.
func (b *began) OperationBegan(now clock.Instant, _ int) {
	if now >= b.from {
		b.instants = append(b.instants, now.Sub(b.from))
	}
}

func coldStart(preset string, seed uint64, members int, target time.Duration, wait, measured int) (*began, error) {
	w, err := circulation.New(circulation.Config{
		Policy: catalog.Multitoken, Members: members, Seed: seed, Passing: circulation.Constant(gridLatency),
		Params: policy.Params{
			Preset: preset, OperationTime: policy.MinDuration, MembersMax: members, SkipDelay: policy.MinDuration,
			TargetInterval: target,
		},
	})
	if err != nil {
		return nil, err
	}
	b := &began{from: clock.Instant(target * time.Duration(wait)), length: time.Duration(measured) * target, period: target / 3}
	w.Observe(b)
	w.Run(b.from.Add(b.length))
	return b, w.Err()
}

func (b *began) step() float64 {
	var sum complex128
	for _, at := range b.instants {
		sum += cmplx.Rect(1, 2*math.Pi*at.Seconds()/b.period.Seconds())
	}
	return cmplx.Abs(sum) / float64(len(b.instants))
}

// crowd is the most operations that begin within a second.
func (b *began) crowd() float64 {
	most, first := 0, 0
	for i, at := range b.instants {
		for at-b.instants[first] >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return float64(most)
}

func (b *began) perSecond() [][2]float64 {
	points := make([][2]float64, 120)
	for i := range points {
		points[i][0] = float64(i)
	}
	for _, at := range b.instants {
		if i := int(at / time.Second); i < len(points) {
			points[i][1]++
		}
	}
	return points
}
