package experiment

func slidesExperiments() []Experiment { return nil }
