// Package groupfile reads the table of a resource, as the group's file and the
// simulator's scenarios have it, and places errors about it.
package groupfile

import (
	"fmt"
	"strings"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// Resource is one [[resource]]. Pointers tell what is absent from what is
// zero, where there is a default. Every parameter of policy.Parameters has its
// key here, under its name.
type Resource struct {
	Name    string    `toml:"name"`
	Policy  *string   `toml:"policy"`
	Preset  string    `toml:"preset"`
	Slots   *int      `toml:"slots"`
	MaxHold *cli.Span `toml:"max_hold"`

	OnIsolated policy.OnIsolated `toml:"on_isolated"`

	OperationTime    cli.Span  `toml:"operation_time"`
	MembersMax       int       `toml:"members_max"`
	SkipDelay        *cli.Span `toml:"skip_delay"`
	MinInterval      cli.Span  `toml:"min_interval"`
	RegenerationMean cli.Span  `toml:"regeneration_mean"`
	MaxInterval      cli.Span  `toml:"max_interval"`
	TargetInterval   cli.Span  `toml:"target_interval"`
	IntervalFactor   Ratio     `toml:"interval_factor"`
	QueueCapacity    int       `toml:"queue_capacity"`
	GrowthFactor     Ratio     `toml:"growth_factor"`
	DecayFactor      Ratio     `toml:"decay_factor"`
	GeneratorRests   bool      `toml:"generator_rests"`
	RequestTimeout   cli.Span  `toml:"request_timeout"`

	OnSilentHolder policy.SilentHolder `toml:"on_silent_holder"`
}

// Group returns what is signed. It names the preset even where the file leaves it to
// the policy, so that all members follow the same one, whatever their program has as
// its default.
func (f Resource) Group() group.Resource {
	r := group.Resource{Name: f.Name, Params: f.params()}.WithDefaults()
	if f.Policy != nil {
		r.Policy = *f.Policy
	}
	if known := catalog.Presets(r.Policy); r.Preset == "" && len(known) > 0 {
		r.Preset = known[0].Name
	}
	if f.Slots != nil {
		r.Slots = *f.Slots
	}
	if f.SkipDelay != nil {
		r.SkipDelay = f.SkipDelay.Duration
	}
	if f.MaxHold != nil {
		r.MaxHold = f.MaxHold.Duration
	}
	return r
}

// params are what the policy is asked for, but for the delay that has a default.
func (f Resource) params() policy.Params {
	return policy.Params{
		Preset:           f.Preset,
		OperationTime:    f.OperationTime.Duration,
		MembersMax:       f.MembersMax,
		MinInterval:      f.MinInterval.Duration,
		RegenerationMean: f.RegenerationMean.Duration,
		MaxInterval:      f.MaxInterval.Duration,
		TargetInterval:   f.TargetInterval.Duration,
		IntervalFactor:   f.IntervalFactor.Ratio,
		QueueCapacity:    f.QueueCapacity,
		GrowthFactor:     f.GrowthFactor.Ratio,
		DecayFactor:      f.DecayFactor.Ratio,
		GeneratorRests:   f.GeneratorRests,
		RequestTimeout:   f.RequestTimeout.Duration,
		OnIsolated:       f.OnIsolated,
		OnSilentHolder:   f.OnSilentHolder,
	}
}

// PolicyHelp returns a line for each preset of each policy: the parameters that it
// uses beside those that every policy does.
func PolicyHelp() string {
	var b strings.Builder
	for _, name := range catalog.Names() {
		for i, preset := range catalog.Presets(name) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "  %-14s %-10s %s\n", name, preset.Name, strings.Join(preset.Uses, ", "))
		}
	}
	return b.String()
}
