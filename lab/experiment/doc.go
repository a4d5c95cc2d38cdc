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
package experiment
