package experiment

func policyExperiments() []Experiment { return nil }
