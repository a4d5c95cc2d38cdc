package experiment

import "errors"

// What an experiment can do wrong. Each is a bug in the experiment.
var (
	// ErrDuplicate: two rows have one ID, or two files one name.
	ErrDuplicate = errors.New("experiment: name given twice")
	// ErrSamples: a row has neither one sample a seed nor one alone.
	ErrSamples = errors.New("experiment: wrong number of samples")
	// ErrIncomplete: a claim without an ID, a source, a quantity, a unit or a check.
	ErrIncomplete = errors.New("experiment: incomplete claim")
	// ErrNoSeeds: there is nothing to run.
	ErrNoSeeds = errors.New("experiment: no seeds")
)

// What is wrong with a folder that the page of goals is made from.
var (
	// ErrNothingSaved: no run has saved results there.
	ErrNothingSaved = errors.New("experiment: no results are saved")
	// ErrSaved: a file with saved results is none, or is of another version.
	ErrSaved = errors.New("experiment: saved results cannot be read")
)
