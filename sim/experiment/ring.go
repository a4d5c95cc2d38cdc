package experiment

func ringExperiments() []Experiment { return nil }
