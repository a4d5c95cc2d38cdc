package experiment

// paper is a chapter of a page.
type paper struct {
	title string
	cites string // the paper itself
	// finding is the outcome in a few sentences, without numbers that the tables have.
	finding string
	// conditions are those of all experiments of the chapter; the register has them.
	conditions  string
	experiments func() []Experiment
}

// papers are the chapters of the page about the papers, in their order. Each names its
// experiments in its own file.
var papers = []paper{
	{
		title: "Journal paper",
		cites: `A. Ciuffoletti, "The Wandering Token: Congestion Avoidance of a Shared Resource", the journal version`,
		finding: `The main claims hold at full load: more than two operations at once are rare, every loss is recovered from, and
coordination is far better than none. The runs do not decide whether the resource idles for less than a tenth of the time. Two
operations at once are somewhat more frequent than published, and times between operations are longer. In a group that is
overbooked by a fifth, operations overlap more than published.`,
		experiments: journalExperiments,
	},
	{
		title: "Slides",
		cites: `A. Ciuffoletti, "The wandering token", slides, DAPSYS 2006`,
		finding: `As in the journal paper, most shares and the number of tokens hold. The largest gap varies too much for a
verdict. At overload two operations at once take more than the published tenth of the time, and a recovery leaves a transient.`,
		experiments: slidesExperiments,
	},
	{
		title: "Report",
		cites: `A. Ciuffoletti, "The Wandering Token: Congestion Avoidance of a Shared Resource", the technical report`,
		finding: `Overlap in stable operation is as published, with and without overload. Long intervals are far more
frequent than published, and most numbers after a loss differ. After independent losses the adaptive timeout makes transients
longer; it shortens the usual transient only if losses follow each other so closely that timeouts are still long from the last
one. The pseudo-code taken literally does not work; the rule that the text describes does.`,
		experiments: reportExperiments,
	},
	{
		title: "Many tokens",
		cites: `A. Ciuffoletti, A. Asim, "Scalable Concurrency Control in a Dynamic Membership"`,
		finding: `The interval, the number of tokens, the peak and the waves are as published if three tokens may wait at a
member. The published probability of long intervals contradicts the published mean. In the plain reading of the registries it takes
longer than published until all members know of a joining.`,
		experiments: multitokenExperiments,
	},
	{
		title: "Rings",
		cites: `E. Feuerstein, S. Leonardi, A. Marchetti-Spaccamela, N. Santoro, "Efficient Token-Based Control in Rings", 1997`,
		finding: `Taken literally, Q and D are neither exclusive nor live; with small corrections they are both. Q then keeps
its bounds, counted from a quiet ring. From five processors on, D needs more messages than its theorem says. E, a simpler algorithm
of this project, keeps every bound of D.`,
		experiments: ringExperiments,
	},
	{
		title:       "Which policy when",
		cites:       "no paper: the policies side by side",
		finding:     "The advice in [policies.md](policies.md) rests on these rows.",
		experiments: policyExperiments,
	},
	{
		title: "Membership updates",
		cites: "no paper: this project's updates, beside the lists of the many-token paper (§2.2, figure 3)",
		finding: `Nearly all members know of a joining within seconds; a group ten times as large needs a few seconds more.
Updates on receipts save a fifth of the time until nearly all members know, and a third until all do. The paper's lists do nearly as
well if joinings are rare, for three times the bytes, and lose some joinings if they are frequent.`,
		experiments: updateExperiments,
	},
}
