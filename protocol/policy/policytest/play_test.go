package policytest_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// recorder notes what it is told and answers what it was given.
type recorder struct {
	params policy.Params
	draw   uint64
	told   []policy.Event
	at     []clock.Instant
	answer []policy.Action
	due    clock.Instant
}

func (r *recorder) Step(now clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	r.told, r.at = append(r.told, e), append(r.at, now)
	return append(actions, r.answer...)
}

func (r *recorder) Deadline() clock.Instant { return r.due }

func (r *recorder) Gauges(show func(string, float64)) { show("interval_seconds", 2.5) }

func (r *recorder) make(p policy.Params, rng rand.Source) (*recorder, error) {
	r.params, r.draw = p, rng.Uint64()
	return r, nil
}

func TestAgentLine(t *testing.T) {
	var r recorder
	_, err := policytest.Play("agent preset=report operation_time=4s members_max=300 skip_delay=100ms "+
		"growth_factor=1.5 decay_factor=0.05 generator_rests=1 seed=7\n", r.make)
	require.NoError(t, err)
	assert.Equal(t, policy.Params{Preset: "report", OperationTime: 4 * time.Second, MembersMax: 300,
		SkipDelay: 100 * time.Millisecond, GrowthFactor: 1500, DecayFactor: 50, GeneratorRests: true}, r.params)
	assert.Equal(t, rand.NewPCG(7, 0).Uint64(), r.draw)
}

func TestEvents(t *testing.T) {
	b := policy.Token{ID: ident.Token{'b'}, Born: 2}
	full := policy.Token{ID: ident.Token{'b'}, Born: 20, Generator: ident.Member{'M'}, Hop: 3, Field: []byte{0xc0, 0xff}}
	for line, want := range map[string]policy.Event{
		"0s arrival b@2":                        {Kind: policy.Arrival, Token: b},
		"0s arrival b@20 by=M hop=3 field=c0ff": {Kind: policy.Arrival, Token: full},
		"0s generated b@2":                      {Kind: policy.Generated, Token: b},
		"0s resumed b@2":                        {Kind: policy.Resumed, Token: b},
		"-2s recalled b@2":                      {Kind: policy.Recalled, Token: b, At: clock.Instant(-2 * time.Second)},
		"1s recalled-run b@2":                   {Kind: policy.Recalled, Token: b, At: clock.Instant(time.Second), Operated: true},
		"0s timer":                              {Kind: policy.Timer},
		"0s ended b@2":                          {Kind: policy.OperationEnded, Token: b, Operated: true},
		"0s did-not-begin b@2":                  {Kind: policy.OperationEnded, Token: b},
		"0s demand":                             {Kind: policy.DemandChanged, Demand: true},
		"0s no-demand":                          {Kind: policy.DemandChanged},
		"0s delivered b@2":                      {Kind: policy.PassEnded, Token: b, Outcome: policy.Delivered},
		"0s returned b@2":                       {Kind: policy.PassEnded, Token: b, Outcome: policy.Returned},
		"0s abandoned b@2":                      {Kind: policy.PassEnded, Token: b, Outcome: policy.Abandoned},
		"0s message M c0ff":                     {Kind: policy.Message, From: ident.Member{'M'}, Body: []byte{0xc0, 0xff}},
		"0s neighbour M n=5":                    {Kind: policy.Neighbour, From: ident.Member{'M'}, Members: 5},
		"0s neighbour n=1":                      {Kind: policy.Neighbour, Members: 1},
		"0s silent M":                           {Kind: policy.Silent, From: ident.Member{'M'}},
		"0s arrival b@2 from=M":                 {Kind: policy.Arrival, From: ident.Member{'M'}, Token: b},
	} {
		var r recorder
		_, err := policytest.Play("agent\n"+line+"\n", r.make)
		require.NoError(t, err, line)
		assert.Equal(t, []policy.Event{want}, r.told, line)
		assert.Equal(t, []clock.Instant{0}, r.at, line)
	}
}

func TestAnswers(t *testing.T) {
	b, m := ident.Token{'b'}, ident.Member{'M'}
	r := recorder{due: clock.Instant(1500 * time.Millisecond), answer: []policy.Action{
		{Kind: policy.Run, Token: b},
		{Kind: policy.Prepare, Token: b},
		{Kind: policy.Prepare, Token: b, To: m},
		{Kind: policy.Pass, Token: b},
		{Kind: policy.Pass, Token: b, To: m, Field: []byte{0xc0, 0xff}},
		{Kind: policy.Drop, Token: b, Reason: policy.Spent},
		{Kind: policy.Generate},
		{Kind: policy.Tell, To: m, Field: []byte{1}},
		{Kind: policy.Watch, To: m},
		{Kind: policy.Unwatch, To: m},
	}}
	script := `# a comment stays
agent seed=1

0s timer
  run b
  prepare b
  prepare b to M
  pass b
  pass b to M field c0ff
  drop b spent
  generate
  tell M 01
  watch M
  unwatch M
  wait until 1.5s
1s gauges
  interval_seconds 2.5
`
	got, err := policytest.Play(script, r.make)
	require.NoError(t, err)
	assert.Equal(t, script, got)
	got, err = policytest.Play(strings.Replace(script, "  run b\n", "  an old answer\n", 1), r.make)
	require.NoError(t, err)
	assert.Equal(t, script, got)
}

func TestWrongLines(t *testing.T) {
	for _, line := range []string{
		"agent colour=red", "agent seed=x", "agent members_max=-1", "agent skip_delay=1us", "agent growth_factor=much",
		"0s", "soon timer", "0s tea", "0s timer b@1",
		"0s arrival", "0s arrival b", "0s arrival b@x", "0s arrival b@1 colour=red", "0s arrival b@1 by=MM",
		"0s arrival b@1 hop=x", "0s arrival b@1 field=x", "0s message", "0s message M x", "0s message MM 00",
		"0s silent", "0s silent MM", "0s arrival b@1 from=MM", "0s neighbour", "0s neighbour M", "0s neighbour M n=x", "0s neighbour MM n=2",
		"2s timer\n1s timer",
	} {
		_, err := policytest.Play("agent\n"+line+"\n", new(recorder).make)
		assert.ErrorIs(t, err, policytest.ErrScript, line)
		assert.ErrorContains(t, err, "line ", line)
	}
	_, err := policytest.Play("0s timer\n", new(recorder).make)
	assert.ErrorIs(t, err, policytest.ErrScript, "no agent yet")

	refused := errors.New("refused")
	_, err = policytest.Play("agent\n", func(policy.Params, rand.Source) (*recorder, error) { return nil, refused })
	assert.ErrorIs(t, err, refused)

	type plain struct{ policy.Policy }
	_, err = policytest.Play("agent\n0s gauges\n", func(policy.Params, rand.Source) (plain, error) { return plain{}, nil })
	assert.ErrorIs(t, err, policytest.ErrScript, "no gauges")
}
