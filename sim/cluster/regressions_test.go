package cluster

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
)

func limits(text string) Limits {
	l, err := ParseLimits(text)
	must(err)
	return l
}

// regression is a run that broke a rule once, made as small as it gets.
type regression struct {
	found   string
	setting Setting
}

var regressions = []regression{
	{"honest members convicted by the second chain of a forked token",
		Setting{Seed: 10, Preset: Chaos, Mix: Durable, Members: 3, For: 9000000000, Faults: limits("syncfails=all,lie=13-25,others=none"), Liars: 1}},
	{"ring: a request from before the token was back kept the next one from being sent",
		Setting{Seed: 1795314116, Preset: Chaos, Mix: Durable}},
	{"a program on a machine that is suspended, and then loses power, counted as running", Setting{
		Seed: 1795387716, Preset: Chaos, Mix: Durable, Members: 5, For: 55_000_000_000,
		Faults: limits("power=5-11,break=9-9,cut=1-4,suspend=all,diskfull=all,repeat=23-41,late=46-84,others=none")}},
	{"a program on a suspended machine whose member was restarted when it woke up, counted as running",
		Setting{Seed: 1795400292, Preset: Chaos, Mix: Durable}},
	{"a program that a suspended machine held up called running, as no journal can tell", Setting{
		Seed: 1795398694, Preset: Chaos, Mix: Durable, For: 313_000_000_000,
		Faults: limits("crash=19-60,power=3-16,stop=1-13,break=3-3,cut=1-5,oneway=none,clock=none,suspend=3-3,slowdisk=1-1,syncfails=1-6,diskfull=4-11,reconfigure=2-3,loss=5-547,repeat=none,late=none,lie=none")}},
	{"demand judged by a group configuration that was lost with the power, and had no such resource any more",
		Setting{Seed: 30025, Preset: Chaos, Mix: Volatile}},
	{"a member given up for a message that was 8 s late, and said that it had a token which it had passed on",
		Setting{Seed: 1795675460, Preset: Chaos, Mix: Durable}},
	{"a durable member struck for denying what it had told of in a message that came late",
		Setting{Seed: 970000, Preset: Chaos, Mix: Durable, Members: 6, Bad: "dropper-half"}},
	{"a member struck for denying what it had told of, beside one that names dead receivers",
		Setting{Seed: 970003, Preset: Chaos, Mix: Mixed, Members: 6, Bad: "dropper-sent"}},
	{"a member struck for a receipt that was read before it restarted",
		Setting{Seed: 1795733427, Preset: Chaos, Mix: Mixed}},
	{"a member struck that waited for the word of all others after a pass had failed",
		Setting{Seed: 9100013, Preset: Chaos, Mix: Volatile, Members: 6, Bad: "stonewaller"}},
	{"a token made while a member had one that its maker alone had struck",
		Setting{Seed: 1165053, Preset: Chaos, Mix: Volatile, Members: 6, Bad: "hoarder"}},
	{"a member struck as its transfer was lost five times",
		Setting{Seed: 1180048, Preset: Chaos, Mix: Durable, Members: 6, Bad: "dropper-quiet"}},
	{"multitoken split: the rest of a token that is alone counted as a stall",
		Setting{Seed: 1795758454, Preset: Chaos, Mix: Durable}},
	// A noter and a forgetter have no occasion here: their runs are this one, byte for byte.
	{"ring s: the walk to all of the dead, of whom one is in an inquest, counted as a stall of the one that lives",
		Setting{Seed: 9100022, Preset: Chaos, Mix: Durable, Members: 6, Bad: "noter"}},
	{"ring e: the same walk, in a group with one that promises that the token rests with it",
		Setting{Seed: 9100013, Preset: Chaos, Mix: Volatile, Members: 6, Bad: "prophet"}},
}

// slowRegressions take the longest: the short form leaves them out.
var slowRegressions = []regression{
	{"a forked token twice in custody of one member, whose program was forgotten",
		Setting{Seed: 80, Preset: Chaos, Mix: Durable, Members: 5, Liars: 1}},
	{"a member that shunned the only one it reached kept all tokens, and was struck for that",
		Setting{Seed: 910218, Preset: Chaos, Mix: Durable}},
	{"a transfer lost five times in a row, and its receiver barred for denying it",
		Setting{Seed: 910351, Preset: Chaos, Mix: Mixed}},
	{"a holder struck by a member that wanted a token, and did not when it was asked",
		Setting{Seed: 920643, Preset: Chaos, Mix: Mixed}},
	{"tokens that were withheld from a policy, and forgotten as there were too many",
		Setting{Seed: 920908, Preset: Chaos, Mix: Durable}},
	{"a member struck for denying what it had told of in a message that came late, before it restarted",
		Setting{Seed: 970043, Preset: Chaos, Mix: Mixed, Members: 6, Bad: "dropper-half"}},
	{"a holder struck by a member that heard its offers late, as its own disk was slow",
		Setting{Seed: 1160027, Preset: Chaos, Mix: Mixed, Members: 6, Bad: "dropper-quiet"}},
	{"ring: a holder struck as each member accepted its token when the next one was asked",
		Setting{Seed: 9810014, Preset: Chaos, Mix: Durable, Members: 6, Bad: "ignorer"}},
	{"fair: a holder struck for the same reason",
		Setting{Seed: 9968040, Preset: Chaos, Mix: Durable, Members: 6, Bad: "evader"}},
}

func TestRegressions(t *testing.T) {
	skipUnderRaceDetector(t)
	list := regressions
	if whole.Asked() {
		list = slices.Concat(list, slowRegressions)
	}
	for i, r := range list {
		if whole.Spares(i, 4) {
			continue
		}
		t.Run(r.found, func(t *testing.T) { check(t, r.setting.Run(nil)) })
	}
}

// TestShrink: a planted bug is found in the smallest group and without any fault.
func TestShrink(t *testing.T) {
	skipUnderRaceDetector(t)
	r := Setting{Seed: 2, Bug: SendFirst}.Run(nil)
	require.Error(t, r.Err())
	small := Shrink(context.Background(), r, nil)
	require.Error(t, small.Err())
	assert.True(t, small.Violations[0].isLike(r.Violations[0]))
	assert.LessOrEqual(t, small.Members, r.Members)
	assert.Equal(t, 2, small.Members)
	assert.Zero(t, small.injected())
	assert.Equal(t, small.Violations, small.Setting.Run(nil).Violations, "it is replayed")
}

func TestLimits_Text_RoundTrip(t *testing.T) {
	for _, text := range []string{"", "crash=2-5", "crash=none,cut=1-1", "crash=2-5,cut=all,others=none", "others=none"} {
		l := limits(text)
		assert.Equal(t, text, l.String())
	}
	for _, text := range []string{"crsh=none", "crash=5-2", "crash=x", "crash"} {
		_, err := ParseLimits(text)
		assert.ErrorIs(t, err, ErrLimits, text)
	}
}

// TestLiars_EachKind_Convicted: whoever forks a token that honest members take, and nobody
// else. In one run of six honest members take such a token: in those of the seeds 8 and 11.
func TestLiars_EachKind_Convicted(t *testing.T) {
	skipUnderRaceDetector(t)
	var s Summary
	seeds := []uint64{8, 11, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10}
	for _, seed := range seeds[:whole.Part(4, len(seeds))] {
		r := Setting{Seed: seed, Members: 4, Liars: 1}.Run(nil)
		check(t, r)
		s.AddResult(r)
	}
	for _, what := range []string{"lie", "forks", "convictions"} {
		assert.Positive(t, s.All()[what], what)
	}
}
