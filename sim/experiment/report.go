package experiment

func reportExperiments() []Experiment { return nil }
