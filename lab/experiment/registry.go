package experiment

// paper is a chapter of the document.
type paper struct {
	title       string
	cites       string // the paper itself
	finding     string // in a few sentences, without numbers that the table has
	experiments func() []Experiment
}

// papers are the chapters in their order. Each names its experiments in its
// own file.
var papers = []paper{
	{
		"Journal paper",
		`A. Ciuffoletti, "The Wandering Token: Congestion Avoidance of a Shared Resource", the journal version`,
		`The main claims hold at full load: hardly ever more than two operations at once, a new token after every loss, and a
clear gain over no coordination. Whether the resource idles for less than a tenth of the time, 40 runs do not decide. Two at once are somewhat more frequent than published, times
between operations longer, and a group that is overbooked by a fifth overlaps more.`,
		journalExperiments,
	},
	{
		"Slides",
		`A. Ciuffoletti, "The wandering token", slides, DAPSYS 2006`,
		`As the journal paper: the number of tokens and most shares hold, and the largest gap varies too much to tell; two at once at overload are above
the tenth that is claimed, and a recovery does leave a transient.`,
		slidesExperiments,
	},
	{
		"Report",
		`A. Ciuffoletti, "The Wandering Token: Congestion Avoidance of a Shared Resource", the technical report`,
		`Overlap in stable operation is as published with and without overload. Long intervals are far more frequent, and after a
loss most numbers differ. After independent losses the adaptive timeout makes transients about twice as long in the median, or longer; it
shortens the usual one only where losses follow each other so closely that timeouts are still long from the last one. The
pseudo-code taken literally does not work; the rule that the text describes does.`,
		reportExperiments,
	},
	{
		"Many tokens",
		`A. Ciuffoletti, A. Asim, "Scalable Concurrency Control in a Dynamic Membership"`,
		`The interval, the number of tokens, the peak and the waves come out as published when three tokens may wait at a member.
The published probability of long intervals contradicts the published mean. In the plain reading of the registries a
joining takes longer to be known everywhere than published.`,
		multitokenExperiments,
	},
	{
		"Rings",
		`E. Feuerstein, S. Leonardi, A. Marchetti-Spaccamela, N. Santoro, "Efficient Token-Based Control in Rings", 1997`,
		`Taken literally, Q and D are neither exclusive nor live; with small corrections they are. Q then keeps its bounds,
counted from a quiet ring. D needs more messages than its theorem says from five processors on. E, which is simpler, keeps
every bound of D.`,
		ringExperiments,
	},
	{
		"Which policy when",
		"no paper: the policies side by side",
		"What [policies.md](policies.md) rests on.",
		policyExperiments,
	},
	{
		"Membership updates",
		"no paper: this project's updates, beside the lists of the many-token paper (§2.2, figure 3)",
		`Nearly everybody knows of a joining within seconds; ten times as many members need a few seconds more. Updates on
receipts save a fifth of the time until nearly all know, and a third until all do. The paper's lists do nearly as well while
joinings are rare, for three times the bytes, and lose some when joinings are frequent.`,
		updateExperiments,
	},
}
