package experiment

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	published "github.com/wandertoken/wander/protocol/policy/wandering/papers"
	"github.com/wandertoken/wander/sim/circulation"
)

func reportExperiments() []Experiment {
	return []Experiment{
		{
			Name: "report-setup", Title: "The numbers that the simulation starts from", Source: "report §3, §4, table 1, §6",
			Notes: reportSetupNotes, Cheap: true, Run: reportSetup,
		},
		{
			Name: "report-fig2", Title: "Operations at once, nominal and overloaded, coordinated and not", Source: "report §2, §5, §6, figures 1 and 2",
			Notes: reportFig2Notes, Run: reportFig2,
		},
		{
			Name: "report-fig3", Title: "Time between operations, nominal and overloaded", Source: "report §3, §5, §6, figure 3",
			Notes: reportFig3Notes, Run: reportFig3,
		},
		{
			Name: "report-fig4", Title: "Stabilisation after a loss", Source: "report §4, §4.1, §5, §6, figure 4",
			Notes: reportFig4Notes, Run: reportFig4,
		},
		{
			Name: "report-removal", Title: "How spurious tokens are removed, and whether clocks matter", Source: "report §4, §4.2",
			Notes: reportRemovalNotes, Run: reportRemoval,
		},
	}
}

// The simulation of the report (report §5, table 1); a time unit is a second.
const (
	reportMembers  = 150 // nominal
	reportOverload = 300
	reportMin      = 600 * time.Second  // Δmin
	reportMax      = 1800 * time.Second // Δmax
	reportLength   = 1_000_000 * time.Second
)

// reportStudy is the report's simulation with so many members: one token at the
// beginning, and no losses.
func reportStudy(members int) setting {
	return setting{length: reportLength, Config: circulation.Config{
		Policy: catalog.Wandering,
		Params: policy.Params{
			Preset: wandering.Report, OperationTime: 4 * time.Second, MembersMax: reportMembers, SkipDelay: time.Second,
			MinInterval: reportMin, MaxInterval: reportMax,
		},
		Members: members, Found: 1,
	}}
}

// reportBenchmark is the report's random access (§2).
func reportBenchmark(members int) setting {
	s := reportStudy(members)
	s.Policy, s.Found, s.Params.MaxInterval = catalog.Uncoordinated, 0, 0
	return s
}

// reportReading is one way to read the report.
type reportReading struct {
	id, text string
	change   func(*setting)
	warm     time.Duration // what is not measured
	literal  bool          // figure 1 as it is printed
}

var reportReadings = []reportReading{
	{},
	{id: "/generator-rests", text: "a generator passes its token on", change: rest},
	{id: "/not-adaptive", text: "Δgen = Δmax", change: keepTimeout},
	{id: "/generator-rests-not-adaptive", text: "both", change: func(s *setting) { rest(s); keepTimeout(s) }},
	{id: "/cold-start", text: "no token at first", change: startCold},
	{id: "/warmed-up", text: "no token at first, first 10⁵ units left out", change: startCold, warm: reportLength / 10},
	{id: "/table-formula", text: "Δmin = 1.5·Δop·150 = 900", change: followFormula},
	{id: "/literal", text: "figure 1 literally", change: startCold, literal: true},
}

func rest(s *setting)        { s.Params.GeneratorRests = true }
func keepTimeout(s *setting) { s.Params.GrowthFactor = policy.MinRatio }
func startCold(s *setting)   { s.Found = 0 }

func followFormula(s *setting) {
	s.Params.MinInterval = published.ReportMinInterval(s.Params.OperationTime, s.Params.MembersMax)
	s.Params.MaxInterval = published.ReportMaxInterval(s.Params.MinInterval)
}

// of is the report's simulation under this reading.
func (r reportReading) of(members int) setting {
	s := reportStudy(members)
	if r.change != nil {
		r.change(&s)
	}
	return s
}

// run runs the report's simulation under this reading.
func (r reportReading) run(l *Lab, members int) ([]*outcome, error) {
	s := r.of(members)
	return Gather(l, func(seed uint64) (*outcome, error) {
		s := s
		s.Seed = seed
		w, err := r.world(s.Config)
		if err != nil {
			return nil, err
		}
		o := &outcome{Meter: circulation.NewMeter(circulation.MeterConfig{Start: clock.Instant(r.warm)}), watch: newTokenWatch()}
		w.Observe(o.Meter)
		w.Run(clock.Instant(s.length))
		o.stats = w.Stats()
		return o, w.Err()
	})
}

func (r reportReading) world(cfg circulation.Config) (*circulation.Simulation, error) {
	if r.literal {
		return circulation.NewWith(cfg, func(int, policy.Surroundings) (policy.Policy, error) { return published.NewLiteral(cfg.Params) })
	}
	return circulation.New(cfg)
}

// claim is a claim under this reading.
func (r reportReading) claim(c Claim) Claim {
	c.ID += r.id
	c.Reading = r.text
	if r.literal {
		c.Why = "figure 1 compares the generation times of tokens, so under one token each member runs once only, and any other token is removed."
	}
	return c
}
