package main

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/fuzz/corpus"
)

var update = flag.Bool("update", false, "write the seed corpora and testdata/scenario.* anew")

// The seeds are made anew by go test ./cmd/wander-lab -run TestSeeds -update; see
// package fuzz.
func TestSeeds(t *testing.T) { corpus.Test(t, fuzzTargets, *update) }

var fuzzTargets map[string]corpus.Target

func init() {
	fuzzTargets = map[string]corpus.Target{"FuzzScenarioFile": {Check: checkScenarioFile, Seeds: scenarioFileSeeds}}
}

// FuzzScenarioFile: a scenario of the simulator.
//
//fuzz:of cmd/wander-lab cmd/internal/groupfile internal/configfile protocol/group protocol/policy/...
func FuzzScenarioFile(f *testing.F) { fuzzTargets["FuzzScenarioFile"].Fuzz(f) }

func checkScenarioFile(t require.TestingT, text []byte) bool {
	s, err := parseScenario("scenario.toml", text)
	if !corpus.ToldWell(t, err) {
		return false
	}
	require.NoError(t, s.Validate())
	return true
}

func scenarioFileSeeds() map[string][]byte {
	seeds := corpus.BadFiles()
	seeds["good-usual"] = []byte(fullScenario)
	seeds["good-least"] = []byte("[resource]\noperation_time = \"4s\"\nmembers_max = 30\nskip_delay = \"100ms\"\n")
	seeds["bad-slots"] = []byte("[resource]\noperation_time = \"4s\"\nmembers_max = 20\nslots = 2\n")
	return seeds
}
