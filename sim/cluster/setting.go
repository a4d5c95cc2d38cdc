package cluster

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Preset is a kind of runs.
type Preset uint8

const (
	// Chaos is a few members for a few minutes, with faults of everything, all the
	// time. Each seed is another group under another policy.
	Chaos Preset = iota
	// Long is many durable members with one policy, for hours: about a thousand
	// handoffs and a hundred faults an hour.
	Long
	// Rollback is Chaos with durable members whose disks go back: old copies, and
	// journals without their end. Only what they sign twice is judged.
	Rollback
	presets
)

var presetNames = [presets]string{"chaos", "long", "rollback"}

func (p Preset) String() string { return presetNames[p] }

// ErrSetting says that a setting makes no run.
var ErrSetting = errors.New("not a setting of a run")

// ParsePreset reads what String writes.
func ParsePreset(name string) (Preset, error) {
	for p, n := range presetNames {
		if n == name {
			return Preset(p), nil
		}
	}
	return 0, fmt.Errorf("%w: preset %q: %s", ErrSetting, name, strings.Join(presetNames[:], " or "))
}

// MixOf spreads the seeds over the mixes; half of them are all durable.
func MixOf(seed uint64) Mix { return [...]Mix{Durable, Volatile, Durable, Mixed}[seed%4] }

// ParseMix reads what String writes.
func ParseMix(name string) (Mix, error) {
	for m := range mixes {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("%w: members %q: durable, volatile or mixed", ErrSetting, name)
}

// Setting is everything that makes a run: one setting is one run, byte for byte.
type Setting struct {
	Seed   uint64
	Preset Preset
	Mix    Mix
	// Members is how many there are, 2 to MaxMembers; 0: as many as the preset has.
	Members int
	// For is how long there are faults, in virtual time; 0: as long as the preset
	// says.
	For time.Duration
	// Faults are those that happen.
	Faults Limits
	// Liars is how many members have drivers that lie; honest ones stay at least
	// two.
	Liars int
	// Bad are the kinds of the bad members (BadKinds), one for each, with commas between
	// them; honest members stay at least two.
	Bad string
	// Bug is planted in the driver, to test the observers. Unguarded leaves it to
	// the audit to find it.
	Bug       Bug
	Unguarded bool
}

// MaxMembers is the most that a run can have.
const MaxMembers = maxMembers

// Validate returns the first thing that is wrong, which matches ErrSetting.
func (s Setting) Validate() error {
	switch {
	case s.Preset >= presets || s.Mix >= mixes || s.Bug > HideShown:
		return fmt.Errorf("%w: no such preset, mix or bug", ErrSetting)
	case s.Members != 0 && (s.Members < 2 || s.Members > MaxMembers):
		return fmt.Errorf("%w: %d members, permitted are 2 to %d", ErrSetting, s.Members, MaxMembers)
	case s.For < 0:
		return fmt.Errorf("%w: %v of virtual time", ErrSetting, s.For)
	case s.Liars < 0 || s.Liars > 0 && s.Liars > s.Members-2:
		return fmt.Errorf("%w: %d liars among %d members: two must be honest, and their number be said", ErrSetting, s.Liars, s.Members)
	}
	return s.validateBad()
}

// Args are the flags with which "wander-lab cluster" makes this run.
func (s Setting) Args() string {
	args := []string{fmt.Sprintf("--preset %v --seed %d --mix %v", s.Preset, s.Seed, s.Mix)}
	if s.Members > 0 {
		args = append(args, fmt.Sprintf("--members %d", s.Members))
	}
	if s.For > 0 {
		args = append(args, fmt.Sprintf("--virtual %v", s.For))
	}
	if s.Faults != (Limits{}) {
		args = append(args, "--faults "+s.Faults.String())
	}
	if s.Liars > 0 {
		args = append(args, fmt.Sprintf("--liars %d", s.Liars))
	}
	if s.Bad != "" {
		args = append(args, "--bad "+s.Bad)
	}
	if s.Bug != NoBug {
		args = append(args, "--bug "+s.Bug.String())
	}
	if s.Unguarded {
		args = append(args, "--unguarded")
	}
	return strings.Join(args, " ")
}

// String is the setting as a line of the table of regressions.
func (s Setting) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{Seed: %d, Preset: %s, Mix: %s", s.Seed, title(s.Preset.String()), title(s.Mix.String()))
	if s.Members > 0 {
		fmt.Fprintf(&b, ", Members: %d", s.Members)
	}
	if s.For > 0 {
		fmt.Fprintf(&b, ", For: %d", s.For)
	}
	if s.Faults != (Limits{}) {
		fmt.Fprintf(&b, ", Faults: limits(%q)", s.Faults)
	}
	if s.Liars > 0 {
		fmt.Fprintf(&b, ", Liars: %d", s.Liars)
	}
	if s.Bad != "" {
		fmt.Fprintf(&b, ", Bad: %q", s.Bad)
	}
	if s.Bug != NoBug {
		fmt.Fprintf(&b, ", Bug: %d", s.Bug)
	}
	if s.Unguarded {
		b.WriteString(", Unguarded: true")
	}
	return b.String() + "}"
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// draw makes what a run consists of.
func (s Setting) draw() (setting, chaos) {
	set, f := draw(s.Seed, s.Mix)
	if s.Preset == Long {
		set, f = drawLong(s.Seed, s.Members)
	}
	if s.Preset == Rollback {
		set, f = drawRollback(s.Seed)
	}
	if s.Members > 0 {
		set.members = s.resize(set.members)
	}
	if s.For > 0 {
		f.least, f.most = s.For, s.For
	}
	set.limits, set.bug, set.unguarded = s.Faults, s.Bug, s.Unguarded || set.unguarded
	return set, f
}

// resize makes the drawn members as many as are asked for, lets the last of them be bad,
// and those before them lie.
func (s Setting) resize(drawn []memberSetting) []memberSetting {
	list := make([]memberSetting, 0, s.Members)
	bads := s.bads()
	first := s.Members - len(bads)
	for i := range s.Members {
		m := drawn[i%len(drawn)]
		m.found, m.liar = i == 0, i < first && i >= first-s.Liars
		if i >= first {
			m.kind = bads[i-first]
		}
		list = append(list, m)
	}
	return list
}

// Run makes the run. Each thing that happens is a line of the trace; nil: nobody
// reads it. It panics where Validate has something to say.
func (s Setting) Run(trace io.Writer) *Result {
	must(s.Validate())
	set, f := s.draw()
	c, err := newCluster(set, trace)
	must(err)
	return (&schedule{c, f}).run(s)
}

// Watch makes the run, and tells what the drivers do, as it happens. Who is told must
// not change anything.
func (s Setting) Watch(watch func(Moment)) *Result {
	must(s.Validate())
	set, f := s.draw()
	c, err := newCluster(set, nil)
	must(err)
	c.watch = watch
	return (&schedule{c, f}).run(s)
}

// run lets faults happen until there were enough, and waits until all has come to
// rest.
func (s *schedule) run(set Setting) *Result {
	s.begin()
	c, f := s.c, s.f
	for c.now < f.most && len(c.violations) == 0 &&
		(c.now < f.least || c.hazards.falls() < f.crashes || c.handoffs() < f.handoffs) {
		c.runFor(quietStep)
	}
	if len(c.violations) == 0 && set.Preset != Rollback {
		c.rest()
	}
	return s.result(set)
}
