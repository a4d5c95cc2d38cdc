package experiment

import "math"

const reportSetupNotes = `Most rows follow from the case study's own numbers by arithmetic and have one value; they are here so that no number of the
text is left out. Table 1 contradicts itself: its number for Δmin is 600, and its formula gives 900 for 150 members (600 for 100). The
figures use the number, as their captions say.`

// reportArithmetic is what follows from one of the report's numbers.
type reportArithmetic struct {
	id, source, says, quantity string
	holds                      Check
	value                      float64
	unit                       Unit
	why                        string
}

// The numbers of the report's table 1 and case study (§5, §6), in its units:
// MBps, and time units of a second.
const (
	reportStream, reportChannel = 0.65, 200.0
	reportOp                    = 4.0
	reportDmin, reportDmax      = 600.0, 1800.0
)

var reportSums = []reportArithmetic{
	{
		"report-delta-min", "report table 1", "Δmin is 600, which is 1.5·Δop·N", "1.5·Δop·150",
		Exactly(reportDmin), 1.5 * reportOp * reportMembers, Seconds, "the formula gives 600 for 100 members only; the text has 150 and 300.",
	},
	{
		"report-delta-max", "report table 1", "Δmax is 1800, which is 3·Δmin", "3·600",
		Exactly(reportDmax), 3 * reportDmin, Seconds, "",
	},
	{
		"report-load-nominal", "report §3, §5", "150 members are the nominal load", "k = Δop·N/Δmin, N = 150",
		Exactly(1), reportOp * reportMembers / reportDmin, Number, "",
	},
	{
		"report-load-over", "report §3, §6", "300 members are 100 % overbooking", "k = Δop·N/Δmin, N = 300",
		Exactly(2), reportOp * reportOverload / reportDmin, Number, "",
	},
	{
		"report-unstable-size", "report §4.1", "unstable near N = Δmax/Δop; the experiment has 300", "300 / (Δmax/Δop)",
		Reported(), reportOverload / (reportDmax / reportOp), Number, "",
	},
	{
		"report-ratio-size", "report §4", "recovery is safe when Δop·N/Δmax is around 0.2", "N where it is 0.2",
		Reported(), 0.2 * reportDmax / reportOp, Number, "",
	},
	{
		"report-slot", "report §6", "4 s of 200 MBps carry 800 MB", "4 · 200 MB",
		Exactly(800), reportOp * reportChannel, Number, "",
	},
	{
		"report-period", "report §6", "800 MB last 20 minutes at 650 KBps", "800 MB / 650 KBps",
		About(1200, 0.05), reportOp * reportChannel / reportStream, Seconds, "",
	},
	{
		"report-share", "report §6", "150 subscribers have 4 s every 10 minutes each", "150 · 4 s",
		Exactly(600), reportMembers * reportOp, Seconds, "",
	},
	{
		"report-starvation", "report §5", "3000 = 5·Δmin", "5·Δmin",
		Exactly(3000), 5 * reportDmin, Seconds, "",
	},
	{
		"report-five-units", "report §5", "8 units of 10⁶ are 0.0008 %", "8 / 10⁶",
		Exactly(0.000008), 8 / reportLength.Seconds(), Share, "",
	},
	{
		"report-bitrate", "report §6", "with 300 receivers, 3·Δmin between transfers ask for a bitrate lower by about 30 %",
		"1 − 800 MB / 1800 s / 650 KBps", About(0.3, 0.2), 1 - reportOp*reportChannel/reportDmax/reportStream, Share, "",
	},
	{
		"report-drift", "report §4.2", "a drift of 10⁻⁴ is adequate", "10⁻⁴·Δmax over Δskip: an error below 1 changes no decision but by one short stay",
		AtMost(1), 1e-4 * reportDmax, Number, "",
	},
	{
		"report-growth", "report §4.1", "Δgen grows by 50 % at each generation: exponentially", "generations from Δmax to 10·Δmax",
		Reported(), math.Ceil(math.Log(10) / math.Log(1.5)), Number, "",
	},
	{
		"report-decay", "report §4.1", "Δgen loses 5 % of what it is above Δmax at each token", "tokens until a hundredth of that is left",
		Reported(), math.Ceil(math.Log(0.01) / math.Log(0.95)), Number, "",
	},
}

func reportSetup(l *Lab) error {
	for _, c := range reportSums {
		why := c.why
		if why == "" {
			why = "the numbers of the text do not fit together."
		}
		l.Row(Claim{
			ID: c.id, Source: c.source, Says: c.says, Quantity: c.quantity, Unit: c.unit, Holds: c.holds, Kind: Arithmetic, Why: why,
		}, []float64{c.value})
	}
	reportNotMeasured(l)
	return nil
}

func reportNotMeasured(l *Lab) {
	for _, n := range []NotMeasured{
		{"report §1", "it is enough to know O(log n) random members", "the report gives no number; the journal paper's rows of the same claim are in journal-walk"},
		{"report §1", "recovery is substantially better than with Israeli and Jalfon's rule", "the report gives no number, and their algorithm is no policy here"},
		{"report §3", "the cover time grows with n·log n", "in journal-walk; the walk is the same"},
		{"report §5", "the simulator has 200 lines of Perl", "it is about a program that is not at hand"},
		{"report §5", "handoffs take a negligible time against Δskip", "an assumption of the simulation, made here, too: they take none"},
		{"report §6", "with some buffering the video runs smoothly", "a property of the use case"},
		{"report §7", "messages and computation cost next to nothing", "what a handoff costs this project is in benchmarks.md"},
	} {
		l.NotMeasured(n.Source, n.Says, n.Why)
	}
}
