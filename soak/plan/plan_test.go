package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/soak/plan"
)

func options(seed uint64) plan.Options {
	return plan.Options{Seed: seed, Members: 8, For: 30 * time.Minute}
}

func TestMake_SameSeed_SamePlan(t *testing.T) {
	for _, name := range plan.Names() {
		a, err := plan.Make(name, options(7))
		require.NoError(t, err)
		b, err := plan.Make(name, options(7))
		require.NoError(t, err)
		assert.Equal(t, a, b)
	}
}

func TestMake_OtherSeed_OtherPlan(t *testing.T) {
	a, err := plan.Make("mixed", options(7))
	require.NoError(t, err)
	b, err := plan.Make("mixed", options(8))
	require.NoError(t, err)
	assert.NotEqual(t, a.Steps, b.Steps)
}

// Every plan keeps what the driver relies on.
func TestMake_AnyOptions_StepsWithinBounds(t *testing.T) {
	for _, name := range plan.Names() {
		for seed := range uint64(20) {
			for _, o := range []plan.Options{{Seed: seed, Members: 4, For: 10 * time.Second}, {Seed: seed, Members: 2, For: time.Hour}, {Seed: seed, Members: 8, For: 2 * time.Minute}, {Seed: seed, Members: 64, For: time.Hour}} {
				p, err := plan.Make(name, o)
				require.NoError(t, err)
				checkSteps(t, p)
				checkMembers(t, p)
			}
		}
	}
}

func checkSteps(t *testing.T, p plan.Plan) {
	calm, last := p.For-p.Calm, time.Duration(0)
	until := make([]time.Duration, len(p.Members))
	for _, s := range p.Steps {
		assert.GreaterOrEqual(t, s.At, last, "in order")
		last = s.At
		assert.LessOrEqual(t, s.At+s.For, calm, "the calm is calm")
		if s.Fault == plan.Lossy {
			continue
		}
		require.NotEmpty(t, s.Member)
		for _, m := range s.Member {
			require.Less(t, m, len(p.Members))
		}
		if s.Fault == plan.Split {
			assert.Less(t, len(s.Member), len(p.Members), "somebody is on the other side")
			continue
		}
		if s.Fault == plan.Part || s.Fault == plan.PartOneWay {
			assert.Len(t, s.Member, 2)
			continue
		}
		assert.Len(t, s.Member, 1)
		assert.GreaterOrEqual(t, s.At, until[s.Member[0]], "one fault of a member at a time")
		until[s.Member[0]] = s.At + s.For
		if s.Holder != "" {
			assert.NotEmpty(t, p.Resource(s.Holder).Name)
		}
	}
}

func checkMembers(t *testing.T, p plan.Plan) {
	for _, m := range p.Members {
		for _, d := range m.Demands {
			assert.NotEmpty(t, p.Resource(d.Resource).Name)
		}
	}
}

// TestMake_Votes_EveryFaultOccurs: in half an hour all, and in half a minute a cut and a
// frozen daemon.
func TestMake_Votes_EveryFaultOccurs(t *testing.T) {
	type kind struct {
		fault plan.Fault
		voter plan.Voter
	}
	seen := func(length time.Duration) map[kind]int {
		p, err := plan.Make("votes", plan.Options{Seed: 1, Members: 5, For: length, Silence: time.Second})
		require.NoError(t, err)
		kinds := make(map[kind]int)
		for _, s := range p.Steps {
			kinds[kind{s.Fault, s.Voter}]++
		}
		return kinds
	}
	assert.Len(t, seen(30*time.Minute), 12)
	assert.Equal(t, map[kind]int{{plan.Cut, ""}: 1, {plan.Pause, ""}: 1}, seen(26*time.Second))
}

func TestMake_Mixed_EveryFaultOccurs(t *testing.T) {
	p, err := plan.Make("mixed", options(1))
	require.NoError(t, err)
	seen := make(map[plan.Fault]int)
	for _, s := range p.Steps {
		seen[s.Fault]++
	}
	for _, f := range []plan.Fault{
		plan.Kill, plan.Restart, plan.Pause, plan.PauseRunner, plan.KillRunner, plan.Freeze, plan.Power, plan.Cut, plan.OneWay, plan.Split, plan.Lossy,
	} {
		assert.GreaterOrEqual(t, seen[f], 5, f)
	}
}

// A fault that no member can have does not keep the others from coming.
func TestMake_FewMembers_FaultsGoOn(t *testing.T) {
	p, err := plan.Make("mixed", plan.Options{Seed: 1, Members: 2, For: time.Hour})
	require.NoError(t, err)
	require.NotEmpty(t, p.Steps)
	assert.Greater(t, p.Steps[len(p.Steps)-1].At, 50*time.Minute)
}

func TestMake_OptionsInvalid_Refused(t *testing.T) {
	for want, o := range map[error][]plan.Options{
		plan.ErrOptions: {{Members: 1, For: time.Minute}, {Members: 65, For: time.Minute}, {Members: 8, For: time.Second}, {Members: 8, For: 25 * time.Hour}},
	} {
		for _, one := range o {
			_, err := plan.Make("mixed", one)
			assert.ErrorIs(t, err, want)
		}
	}
	_, err := plan.Make("nothing", options(1))
	assert.ErrorIs(t, err, plan.ErrUnknown)
}

func TestPathUnder_Steps_CutAndLossy(t *testing.T) {
	cut := plan.Step{Fault: plan.Cut, Member: []int{1}}
	split := plan.Step{Fault: plan.Split, Member: []int{0, 1}}
	oneWay := plan.Step{Fault: plan.OneWay, Member: []int{2}}
	lossy := plan.Step{Fault: plan.Lossy, Loss: 0.1, Delay: time.Second}
	for name, c := range map[string]struct {
		steps    []plan.Step
		from, to int
		want     plan.Path
	}{
		"nothing":                     {nil, 0, 1, plan.Path{}},
		"from the one cut off":        {[]plan.Step{cut}, 1, 0, plan.Path{Cut: true}},
		"to the one cut off":          {[]plan.Step{cut}, 0, 1, plan.Path{Cut: true}},
		"between others":              {[]plan.Step{cut}, 0, 2, plan.Path{}},
		"within a half":               {[]plan.Step{split}, 0, 1, plan.Path{}},
		"between halves":              {[]plan.Step{split}, 1, 2, plan.Path{Cut: true}},
		"parted from one":             {[]plan.Step{{Fault: plan.Part, Member: []int{1, 2}}}, 1, 2, plan.Path{Cut: true}},
		"by the one":                  {[]plan.Step{{Fault: plan.Part, Member: []int{1, 2}}}, 2, 1, plan.Path{Cut: true}},
		"others of the one":           {[]plan.Step{{Fault: plan.Part, Member: []int{1, 2}}}, 1, 0, plan.Path{}},
		"what one hears of another":   {[]plan.Step{{Fault: plan.PartOneWay, Member: []int{1, 2}}}, 2, 1, plan.Path{Cut: true}},
		"what one says to another":    {[]plan.Step{{Fault: plan.PartOneWay, Member: []int{1, 2}}}, 1, 2, plan.Path{}},
		"what a deaf one is sent":     {[]plan.Step{{Fault: plan.Deaf, Member: []int{2}}}, 0, 2, plan.Path{Cut: true}},
		"what a deaf one sends":       {[]plan.Step{{Fault: plan.Deaf, Member: []int{2}}}, 2, 0, plan.Path{}},
		"what one sends":              {[]plan.Step{oneWay}, 2, 0, plan.Path{Cut: true}},
		"what one is sent":            {[]plan.Step{oneWay}, 0, 2, plan.Path{}},
		"lossy":                       {[]plan.Step{lossy}, 0, 2, plan.Path{Loss: 0.1, Delay: time.Second}},
		"several, of which one holds": {[]plan.Step{cut, split, lossy}, 0, 2, plan.Path{Cut: true, Loss: 0.1, Delay: time.Second}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, plan.PathUnder(c.steps, c.from, c.to)) })
	}
}
