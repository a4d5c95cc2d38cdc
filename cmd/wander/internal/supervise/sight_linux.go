package supervise

// running reports whether the command runs. It is exact: a command that has ended
// does not count, whether or not it was reaped.
func (p *process) running() bool { return p.leaderRuns() }
