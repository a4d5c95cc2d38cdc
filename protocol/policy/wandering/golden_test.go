package wandering

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/*.txt")

// TestScenarios plays the scripts in testdata. A script has lines
//
//	# comment
//	agent NAME=VALUE...      parameters of Params, and seed
//	TIME EVENT [TOKEN] ...   an event; a token is a letter and its birth: b@2
//	  ACTION ...             what the agent answers: written with -update
//
// with the time since the start of the boot, which may be negative in a
// recalled event.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			got := play(t, string(want))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			assert.Equal(t, string(want), got)
		})
	}
}

// play answers a script anew, and leaves everything else in it as it is.
func play(t *testing.T, script string) string {
	var out strings.Builder
	var agent *Agent
	for number, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		words := strings.Fields(line)
		if strings.HasPrefix(line, "  ") {
			continue // an old answer
		}
		fmt.Fprintln(&out, line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "agent":
			agent = parseAgent(t, words[1:])
		default:
			require.NotNil(t, agent, "line %d: no agent yet", number+1)
			now, event := parseEvent(t, words)
			for _, a := range agent.Step(now, event, nil) {
				fmt.Fprintln(&out, "  "+render(a))
			}
		}
	}
	return out.String()
}

func parseAgent(t *testing.T, words []string) *Agent {
	var p policy.Params
	var seed uint64
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		number, _ := strconv.Atoi(value)
		span, _ := time.ParseDuration(value)
		switch name {
		case "operation_time":
			p.OperationTime = span
		case "members_max":
			p.MembersMax = number
		case "skip_delay":
			p.SkipDelay = span
		case "min_interval":
			p.MinInterval = span
		case "regeneration_mean":
			p.RegenerationMean = span
		case "seed":
			seed = uint64(number)
		default:
			require.Fail(t, "unknown parameter", w)
		}
	}
	agent, err := New(p, rand.NewPCG(seed, 0))
	require.NoError(t, err)
	return agent
}

var events = map[string]policy.Event{
	"arrival":         {Kind: policy.Arrival},
	"generated":       {Kind: policy.Generated},
	"resumed":         {Kind: policy.Resumed},
	"recalled":        {Kind: policy.Recalled},
	"recalled-run":    {Kind: policy.Recalled, Operated: true},
	"timer":           {Kind: policy.Timer},
	"ended":           {Kind: policy.OperationEnded, Operated: true},
	"did-not-begin":   {Kind: policy.OperationEnded},
	"demand":          {Kind: policy.DemandChanged, Demand: true},
	"no-demand":       {Kind: policy.DemandChanged},
	"delivered":       {Kind: policy.PassSettled, Outcome: policy.Delivered},
	"returned":        {Kind: policy.PassSettled, Outcome: policy.Returned},
	"abandoned":       {Kind: policy.PassSettled, Outcome: policy.Abandoned},
	"foreign-message": {Kind: policy.Message, Body: []byte("?")},
}

func parseEvent(t *testing.T, words []string) (clock.Instant, policy.Event) {
	at, err := time.ParseDuration(words[0])
	require.NoError(t, err)
	event, known := events[words[1]]
	require.True(t, known, "no event %q", words[1])
	if len(words) > 2 {
		name, born, _ := strings.Cut(words[2], "@")
		event.Token.ID = ident.Token{name[0]}
		event.Token.Born, err = strconv.ParseUint(born, 10, 64)
		require.NoError(t, err)
	}
	if event.Kind == policy.Recalled {
		event.At = clock.Instant(at)
		at = 0
	}
	return clock.Instant(at), event
}

func render(a policy.Action) string {
	token := string(a.Token[:1])
	switch a.Kind {
	case policy.Run:
		return "run " + token
	case policy.Pass:
		return "pass " + token
	case policy.Drop:
		return "drop " + token + " " + a.Reason.String()
	case policy.Generate:
		return "generate"
	case policy.Wait:
		if a.At == clock.Never {
			return "wait for nothing"
		}
		return "wait until " + strconv.FormatFloat(float64(a.At)/1e9, 'f', -1, 64) + "s"
	}
	return fmt.Sprintf("%+v", a)
}
