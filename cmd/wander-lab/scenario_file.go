package main

import (
	"errors"
	"slices"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/internal/groupfile"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/lab/experiment"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/circulation"
)

// scenarioFile is a scenario as people write it: all of circulation.Config but
// the seed, and what to measure.
type scenarioFile struct {
	Members  int      `toml:"members"` // default: the resource's members_max
	Tokens   *int     `toml:"tokens"`  // default: 1
	Duration cli.Span `toml:"duration"`
	Demand   demand   `toml:"demand"`
	// Begin is the wall clock at the beginning, which the windows of the resource go by; default: 1 January 2020, a Wednesday.
	Begin cli.Instant `toml:"begin"`
	// Acquaintances is how many others each member knows; 0: everybody.
	Acquaintances int                `toml:"acquaintances"`
	Known         int                `toml:"known"`   // the same for the presets that ask members
	Classes       []string           `toml:"classes"` // of the members, in turn
	Resource      groupfile.Resource `toml:"resource"`

	Latency struct {
		Passing   latency `toml:"passing"`
		Reserving latency `toml:"reserving"`
		Telling   latency `toml:"telling"`
		Operation latency `toml:"operation"` // default: operation_time
	} `toml:"latency"`

	Faults struct {
		PassLoss    share    `toml:"pass_loss"`
		TellLoss    share    `toml:"tell_loss"`
		LossEvery   cli.Span `toml:"loss_every"`
		CrashEvery  cli.Span `toml:"crash_every"`
		CrashHolder bool     `toml:"crash_holder"`
		DownFor     cli.Span `toml:"down_for"`
		Down        share    `toml:"down"`
		DownBy      cli.Span `toml:"down_by"`
		Unstated    bool     `toml:"unstated"`
		Forgetful   bool     `toml:"forgetful"`
		Recall      bool     `toml:"recall"`
		ClockOffset cli.Span `toml:"clock_offset"`
		DetectAfter cli.Span `toml:"detect_after"` // default: 10 s
		Suspicion   share    `toml:"false_suspicion"`
	} `toml:"faults"`

	Measure struct {
		WarmUp cli.Span   `toml:"warm_up"`
		Idle   cli.Span   `toml:"idle_timeout"` // of connections; default: they are not counted
		What   []string   `toml:"what"`         // default: everything
		Below  []cli.Span `toml:"below"`        // shares of times below these
		Bin    cli.Span   `toml:"bin"`
		Limit  cli.Span   `toml:"limit"`
	} `toml:"measure"`
}

// defaultScenarioDuration is how long the papers' simulations last.
const defaultScenarioDuration = 100_000 * time.Second

// parseScenario reads and checks a scenario.
func parseScenario(file string, text []byte) (experiment.Scenario, error) {
	f := scenarioFile{Duration: cli.Span{Duration: defaultScenarioDuration}}
	f.Resource.SetDefaults()
	if err := configfile.Decode(file, text, &f); err != nil {
		return experiment.Scenario{}, err
	}
	s := f.scenario()
	if err := f.checkResource(configfile.Names(text, "resource"), s); err != nil {
		return experiment.Scenario{}, groupfile.Placed(file, text, err, f.hint(err), "resource")
	}
	if err := s.Validate(); err != nil {
		return experiment.Scenario{}, f.placed(file, text, err)
	}
	return s, nil
}

// scenario is what the file asks for.
func (f scenarioFile) scenario() experiment.Scenario {
	r := f.Resource.Group()
	s := experiment.Scenario{
		Config: circulation.Config{
			Policy: r.Policy, Params: r.PolicyParams(),
			Members: f.Members, Classes: f.Classes, Found: 1, Demand: f.Demand.Demand,
			Windows: r.Windows, Begin: f.Begin.Time,
			Passing: f.Latency.Passing.Latency, Reserving: f.Latency.Reserving.Latency, Telling: f.Latency.Telling.Latency, Operation: f.Latency.Operation.Latency,
			PassLoss: f.Faults.PassLoss.float64, TellLoss: f.Faults.TellLoss.float64,
			LossEvery: f.Faults.LossEvery.Duration, CrashEvery: f.Faults.CrashEvery.Duration,
			CrashHolder: f.Faults.CrashHolder, DownFor: f.Faults.DownFor.Duration,
			Down: f.Faults.Down.float64, DownBy: f.Faults.DownBy.Duration, Unstated: f.Faults.Unstated,
			Forgetful: f.Faults.Forgetful, Recall: f.Faults.Recall, ClockOffset: f.Faults.ClockOffset.Duration,
			IdleTimeout: f.Measure.Idle.Duration, DetectAfter: f.Faults.DetectAfter.Duration, FalseSuspicion: f.Faults.Suspicion.float64, Known: f.Known,
		},
		Acquaintances: f.Acquaintances,
		Duration:      f.Duration.Duration,
		WarmUp:        f.Measure.WarmUp.Duration,
		What:          f.Measure.What,
		Bin:           f.Measure.Bin.Duration,
		Limit:         f.Measure.Limit.Duration,
	}
	if f.Members == 0 {
		s.Members = r.MembersMax
	}
	if f.Tokens != nil {
		s.Found = *f.Tokens
	}
	for _, d := range f.Measure.Below {
		s.Below = append(s.Below, d.Duration)
	}
	return s
}

// errNotSimulated: a setting of a resource that means nothing here.
var errNotSimulated = errors.New("slots and max_hold must be left out: the simulator has one slot and no deadlines")

// placed is an error about what happens to the group, at the key that it names
// in whichever table that is.
func (f scenarioFile) placed(file string, text []byte, err error) error {
	for _, table := range []any{"faults", "measure", "latency"} {
		if groupfile.Mentioned(err.Error(), configfile.Names(text, table)) != "" {
			return groupfile.Placed(file, text, err, "", table)
		}
	}
	return groupfile.Placed(file, text, err, "")
}

// checkResource checks the resource, whose table has the given keys.
func (f scenarioFile) checkResource(keys []string, s experiment.Scenario) error {
	if slices.Contains(keys, "slots") || slices.Contains(keys, "max_hold") {
		return errNotSimulated
	}
	if err := f.Resource.CheckGiven(keys); err != nil {
		return err
	}
	return catalog.Check(s.Policy, s.Params)
}

func (f scenarioFile) hint(err error) string {
	if errors.Is(err, policy.ErrUnused) {
		return groupfile.PolicyHint(f.Resource.Group(), err)
	}
	return ""
}
