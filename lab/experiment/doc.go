// Package experiment holds the published claims against what the simulator
// measures.
//
// An Experiment belongs to a figure, or to a group of numbers in a paper's
// text. It runs the simulator once for each seed and hands in, for each claim
// of the paper, one Row: what the paper says, what is measured, and what would
// make the two agree. The confidence interval of the median over the seeds decides.
// A claim that does not hold is a row like any other, with the likely reason; one
// that the runs do not decide is open.
//
// Everything is deterministic: the same seeds give the same bytes, in the
// tables, the figures and the document, on any number of cores.
//
//	results, err := experiment.Run(ctx, experiment.All(), experiment.Options{Seeds: experiment.Seeds(1, 40)})
//	err = experiment.Write("docs", results)
//	err = experiment.Save("docs", command, results) // and renders the pages
//
// # Who calls it
//
// The commands of wander-lab: they list experiments, run them, and run scenarios with parameters of the user's own
// (Scenario).
//
// # The types
//
//	paper       a chapter of a page: its finding, its conditions and its experiments
//	Experiment  reproduces a figure or a group of numbers: Run measures
//	Lab         where one experiment runs, and what it hands its results in to
//	Claim       one statement of a paper, and what is measured to check it
//	Row         a claim with what was measured
//	Check       what would make the two agree
//	Kind        what a claim is about; verdicts of one kind are counted together
//	Result      what an experiment has handed in: rows, each Table and each Figure
//	Saved       what the documents show of a result, kept in the folder data
//	Scenario    a simulation with the user's own parameters, apart from all claims
//	splitting   which runs are made here and which elsewhere: RunPart keeps what Gather's jobs give, Merge takes it
//
// # The walk of one experiment
//
//	Run            several seeds at once, or several experiments where there are few seeds
//	 └ Experiment.Run(lab)
//	    ├ Gather   the job once for each seed; the values in the order of the seeds
//	    └ Lab      takes the rows, tables and figures in
//	Write          dir/figures, and dir/data with the claims and samples of each experiment
//	Save           dir/data again, and WritePages renders the pages of everything that is saved there
//
// Pages come from what is saved, so that they can be made of several runs: all experiments at once take hours.
//
// # What belongs elsewhere
//
// The simulators are in sim, the schedules of rings in lab/ringcheck. A new experiment is a function in the
// file of its paper, and an entry in the list of its chapter (journalExperiments, for example). The goals of this
// project are in the files beyond_*.go; Beyond lists them. The ID of a claim never changes.
//
// # Concurrency
//
// The methods of Lab are for the goroutine of Experiment.Run. The jobs of Gather, and what AtOnce does, run at the
// same time and share nothing.
package experiment
