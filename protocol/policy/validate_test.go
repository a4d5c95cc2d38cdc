package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
)

// table1 is the case study of the journal paper, table 1.
var table1 = policy.Params{
	OperationTime: 4 * time.Second,
	MembersMax:    300,
	SkipDelay:     100 * time.Millisecond,
}

func TestValidate_WholeRange_Accepted(t *testing.T) {
	for name, edit := range map[string]func(*policy.Params){
		"the paper's table 1":     func(*policy.Params) {},
		"shortest operation":      func(p *policy.Params) { p.OperationTime = policy.MinDuration },
		"longest operation":       func(p *policy.Params) { p.OperationTime = policy.MaxOperationTime },
		"one member":              func(p *policy.Params) { p.MembersMax = 1 },
		"most members":            func(p *policy.Params) { p.MembersMax = policy.MaxMembers },
		"shortest skip":           func(p *policy.Params) { p.SkipDelay = policy.MinDuration },
		"longest skip":            func(p *policy.Params) { p.SkipDelay = policy.MaxSkipDelay },
		"shortest interval":       func(p *policy.Params) { p.MinInterval = policy.MinDuration },
		"longest interval":        func(p *policy.Params) { p.MinInterval = policy.MaxInterval },
		"shortest regeneration":   func(p *policy.Params) { p.RegenerationMean = policy.MinDuration },
		"longest regeneration":    func(p *policy.Params) { p.RegenerationMean = policy.MaxInterval },
		"the longest round at 10": func(p *policy.Params) { p.MembersMax, p.OperationTime = 10, policy.MaxOperationTime },
	} {
		t.Run(name, func(t *testing.T) {
			p := table1
			edit(&p)
			assert.NoError(t, p.Validate())
		})
	}
}

func TestValidate_OutOfRange_NamesFieldAndRange(t *testing.T) {
	for _, c := range []struct {
		edit func(*policy.Params)
		want string
	}{
		{func(p *policy.Params) { p.OperationTime = 0 },
			"operation_time is 0s or missing, permitted are 1ms to 7d"},
		{func(p *policy.Params) { p.OperationTime = policy.MaxOperationTime + 1 },
			"operation_time is 7d1ns, permitted are 1ms to 7d"},
		{func(p *policy.Params) { p.MembersMax = 0 },
			"members_max is 0 or missing, permitted are 1 to 1000000"},
		{func(p *policy.Params) { p.MembersMax = -1 },
			"members_max is -1, permitted are 1 to 1000000"},
		{func(p *policy.Params) { p.MembersMax = policy.MaxMembers + 1 },
			"members_max is 1000001, permitted are 1 to 1000000"},
		{func(p *policy.Params) { p.MembersMax, p.OperationTime = 100_000, time.Hour },
			"operation_time with these members_max is 1h, permitted are 1ms to 52m33.6s"},
		{func(p *policy.Params) { p.SkipDelay = 0 },
			"skip_delay is 0s or missing, permitted are 1ms to 1h"},
		{func(p *policy.Params) { p.SkipDelay = -time.Second },
			"skip_delay is -1s, permitted are 1ms to 1h"},
		{func(p *policy.Params) { p.MinInterval = -time.Second },
			"min_interval is -1s, permitted are 0 (derived) and 1ms to 3650d"},
		{func(p *policy.Params) { p.MinInterval = time.Microsecond },
			"min_interval is 1µs, permitted are 0 (derived) and 1ms to 3650d"},
		{func(p *policy.Params) { p.RegenerationMean = policy.MaxInterval + 1 },
			"regeneration_mean is 3650d1ns, permitted are 0 (derived) and 1ms to 3650d"},
	} {
		t.Run(c.want, func(t *testing.T) {
			p := table1
			c.edit(&p)
			err := p.Validate()
			require.ErrorIs(t, err, policy.ErrOutOfRange)
			assert.EqualError(t, err, "parameter out of range: "+c.want)
		})
	}
}
