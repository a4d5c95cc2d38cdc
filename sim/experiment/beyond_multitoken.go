package experiment

const beyondManyFinding = `The presets t3gj and s3gj of multitoken.`

// beyondManyExperiments are the goals about many tokens.
func beyondManyExperiments() []Experiment { return nil }
