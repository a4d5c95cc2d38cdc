package experiment

const journalSetupNotes = `Most rows follow from the case study's own numbers by arithmetic and have one value; they are here so that no number of
the text is left out. The policy's default timeouts are measured: each token of 300 members is lost as soon as it is passed, and
the members time out again and again for 10⁷ s.`

// computation is a claim that follows from the paper's numbers by arithmetic.
type computation struct {
	id, says, quantity string
	unit               Unit
	holds              Check
	value              float64
}

func (c computation) row(l *Lab, source string) {
	l.Row(Claim{
		ID: c.id, Source: source, Says: c.says, Quantity: c.quantity, Unit: c.unit, Holds: c.holds,
		Kind: Arithmetic, Why: "the paper's numbers do not fit together.",
	}, []float64{c.value})
}

const (
	journalStream, journalChannel = 0.65, 200.0 // MBps
	journalSlot                   = 4.0         // Δop in seconds
)

var journalComputations = []computation{
	{
		"journal-saturation", "650 KBps each saturate 200 MBps with 300 subscribers", "200 MBps / 650 KBps",
		Number, About(fullLoad, 0.05), journalChannel / journalStream,
	},
	{
		"journal-burst", "the channel takes bursts of 400 MBps: two operations at once, and no more", "400 MBps / 200 MBps",
		Number, Exactly(2), 400 / journalChannel,
	},
	{
		"journal-slot", "a slot of 4 s carries what a subscriber's stream brings between two slots", "4 s · 200 MBps / (1200 s · 650 KBps)",
		Number, AtLeast(1), journalSlot * journalChannel / (period.Seconds() * journalStream),
	},
	{
		"journal-period", "the interval between requests without coordination is 4·300 = 1200 s", "Δop·Nmax",
		Seconds, Exactly(1200), journalSlot * fullLoad,
	},
	{
		"journal-delta-min", "Δmin = Δop·Nmax/2 = 600 s", "Δop·Nmax/2",
		Seconds, Exactly(600), journalSlot * fullLoad / 2,
	},
	{
		"journal-gamma-formula", "γ = Δmin·Nmax = Δop·Nmax²/2 = 180·10³ s", "Δop·Nmax²/2",
		Seconds, Exactly(180_000), journalSlot * fullLoad * fullLoad / 2,
	},
	{
		"journal-rescaled", "delays of mean γ end once in Δmin when Nmax agents run at a time", "γ/Nmax",
		Seconds, Exactly(600), 180_000.0 / fullLoad,
	},
	{
		"journal-skip", "Δskip is much smaller than Δop", "Δskip/Δop; much smaller is up to a tenth",
		Number, AtMost(0.1).ours(), 0.1 / journalSlot,
	},
	{
		"journal-one-day", "10⁵ s are about one day", "10⁵ s / 24 h",
		Number, About(1, 0.2), runLength.Hours() / 24,
	},
	{
		"journal-three-hours", "10⁴ s are 3 hours", "10⁴ s / 1 h",
		Number, About(3, 0.1), lossEvery.Hours(),
	},
	{
		"journal-70-percent", "the smallest group has 70 % of Nmax", "210 / 300",
		Share, Exactly(0.7), 210.0 / fullLoad,
	},
	{
		"journal-120-percent", "the largest group has 120 % of Nmax", "360 / 300",
		Share, Exactly(1.2), 360.0 / fullLoad,
	},
}

func journalSetup(l *Lab) error {
	for _, c := range journalComputations {
		c.row(l, "journal §1 to §3, table 1")
	}
	if err := journalTimeouts(l); err != nil {
		return err
	}
	journalNotMeasured(l)
	return nil
}

// journalTimeouts measures γ: what members wait that never see a token.
func journalTimeouts(l *Lab) error {
	s := caseStudy(fullLoad)
	s.Found, s.LossEvery, s.PassLoss, s.length = 0, 0, 1, l.span(gammaRun)
	runs, err := s.runs(l)
	if err != nil {
		return err
	}
	l.Row(Claim{
		ID: "journal-gamma-default", Source: "journal §2, table 1", Says: "γ = Δmin·Nmax = 180·10³ s",
		Quantity: "mean wait of a member that sees no token, less Δmin", Unit: Seconds, Holds: About(180_000, 0.05),
		Why: "the policy's default is not the paper's.",
	}, column(runs, func(o *outcome) float64 {
		cycle := s.length.Seconds() * fullLoad / float64(o.stats.Generated)
		return cycle - s.Params.OperationTime.Seconds() - deltaMin.Seconds()
	}))
	return nil
}

func journalNotMeasured(l *Lab) {
	for _, n := range []NotMeasured{
		{"journal §1", "bursts over 200 MBps cost extra, and over 400 MBps delivery is not guaranteed", "prices and contracts; the time spent there is measured as two, and more than two, operations at once"},
		{"journal §1", "the rule that removes spurious tokens is more efficient than that of Israeli and Jalfon", "the paper gives no number, and their algorithm is no policy here"},
		{"journal §2", "a wider collision window improves recovery over exact collisions of tokens", "as above"},
		{"journal §2", "the 4-way handoff makes token losses far less likely", "it is about the protocol of another paper; that of this project is examined in spec/model"},
		{"journal §3", "the simulator has a few hundred lines of Perl", "it is about a program that is not at hand"},
		{"journal §3", "variations of the handoff's duration are negligible against Δskip", "an assumption of the simulation, made here, too: handoffs take no time"},
		{"journal §3", "the source can hold terabytes of old data", "a property of the use case"},
		{"journal §4", "any number of agents may take part", "no run can show it; slides-thousands runs 3000"},
		{"journal §4", "messages and computation cost next to nothing", "what a handoff costs this project is in benchmarks.md"},
	} {
		l.NotMeasured(n.Source, n.Says, n.Why)
	}
}
