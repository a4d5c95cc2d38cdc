package experiment

// paper is a chapter of the document.
type paper struct {
	title       string
	cites       string // the paper itself
	experiments func() []Experiment
}

// papers are the chapters in their order. Each names its experiments in its
// own file.
var papers = []paper{
	{
		"Journal paper",
		`A. Ciuffoletti, "The Wandering Token: Congestion Avoidance of a Shared Resource", the journal version`,
		journalExperiments,
	},
	{
		"Slides",
		`A. Ciuffoletti, "The wandering token", slides, DAPSYS 2006`,
		slidesExperiments,
	},
	{
		"Report",
		`A. Ciuffoletti, "The Wandering Token: Congestion Avoidance of a Shared Resource", the technical report`,
		reportExperiments,
	},
	{
		"Many tokens",
		`A. Ciuffoletti, A. Asim, "Scalable Concurrency Control in a Dynamic Membership"`,
		multitokenExperiments,
	},
	{
		"Rings",
		"the paper on request-driven token circulation in a ring: algorithms S, Q and D",
		ringExperiments,
	},
	{
		"Which policy when",
		"no paper: the policies side by side",
		policyExperiments,
	},
}
