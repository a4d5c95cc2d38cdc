package experiment

func multitokenExperiments() []Experiment { return nil }
