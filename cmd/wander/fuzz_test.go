package main

import (
	"errors"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/internal/configfile"
)

var updateSeeds = flag.Bool("update", false, "write the seed corpora anew")

// The seeds are made anew by go test ./cmd/wander -run TestSeeds -update; see
// package fuzz.
func TestSeeds(t *testing.T) { corpus.Test(t, fuzzTargets, *updateSeeds) }

var fuzzTargets map[string]corpus.Target

func init() {
	fuzzTargets = map[string]corpus.Target{
		"FuzzNodeFile":     {Check: checkNodeFile, Seeds: nodeFileSeeds},
		"FuzzGroupFile":    {Check: checkGroupFile, Seeds: groupFileSeeds},
		"FuzzScenarioFile": {Check: checkScenarioFile, Seeds: scenarioFileSeeds},
	}
}

// toldWell checks an error about a file: it is one line that people can read, and has
// a place unless it is about the whole file.
func toldWell(t require.TestingT, err error) bool {
	if err == nil {
		return true
	}
	var e *configfile.Error
	if errors.As(err, &e) {
		require.Equal(t, e.Line > 0, e.Column > 0, "half a place: %v", err)
	}
	require.NotEmpty(t, err.Error())
	require.NotContains(t, err.Error(), "\n")
	return false
}

// FuzzNodeFile: the configuration file of a member.
//
//fuzz:of cmd/wander internal/configfile node
func FuzzNodeFile(f *testing.F) { fuzzTargets["FuzzNodeFile"].Fuzz(f) }

func checkNodeFile(t require.TestingT, text []byte) bool {
	s := defaultSettings()
	if !toldWell(t, configfile.Decode("wander.toml", text, &s)) {
		return false
	}
	s.anchor("/etc/wander")
	return true
}

// FuzzGroupFile: the configuration file of a group. What is accepted can be signed,
// and says the same when it is read again.
//
//fuzz:of cmd/wander internal/configfile protocol/group protocol/policy/...
func FuzzGroupFile(f *testing.F) { fuzzTargets["FuzzGroupFile"].Fuzz(f) }

func checkGroupFile(t require.TestingT, text []byte) bool {
	s, err := parseGroupFile("group.toml", text, "demo")
	if !toldWell(t, err) {
		return false
	}
	require.NoError(t, s.Validate())
	again, err := parseGroupFile("group.toml", text, "demo")
	require.NoError(t, err)
	require.Equal(t, s, again)
	return true
}

// FuzzScenarioFile: a scenario of the simulator.
//
//fuzz:of cmd/wander internal/configfile protocol/group protocol/policy/...
func FuzzScenarioFile(f *testing.F) { fuzzTargets["FuzzScenarioFile"].Fuzz(f) }

func checkScenarioFile(t require.TestingT, text []byte) bool {
	s, err := parseScenario("scenario.toml", text)
	if !toldWell(t, err) {
		return false
	}
	require.NoError(t, s.Validate())
	return true
}

// badFiles are refused by every file's reader.
func badFiles() map[string][]byte {
	return map[string][]byte{
		"bad-syntax":  []byte("x = [\n"),
		"bad-key":     []byte("adress = 1\n"),
		"bad-control": []byte("x = \"\x00\"\n"),
		"bad-twice":   []byte("[a]\n[a]\n"),
		"bad-date":    []byte("x = 2026-13-01\n"),
	}
}

func nodeFileSeeds() map[string][]byte {
	seeds := badFiles()
	seeds["good-nothing"] = []byte{}
	seeds["good-usual"] = []byte("state_dir = \"/var/lib/wander\"\nmode = \"volatile\"\n[identity]\ncertificate = \"a.crt\"\n" +
		"[listen]\naddress = \"[::]:4133\"\n[log]\nlevel = \"debug\"\n")
	seeds["bad-type"] = []byte("mode = 3\n")
	return seeds
}

const exampleResource = "[[resource]]\nname = \"ftp\"\noperation_time = \"4s\"\nmembers_max = 20\n"

func groupFileSeeds() map[string][]byte {
	seeds := badFiles()
	seeds["good-usual"] = []byte("name = \"demo\"\n" + exampleResource)
	seeds["good-two"] = []byte(exampleResource + "[[resource]]\nname = \"backup\"\npolicy = \"ring\"\noperation_time = \"1h\"\nmembers_max = 9\n")
	seeds["bad-name"] = []byte("[[resource]]\nname = \"\"\noperation_time = \"4s\"\nmembers_max = 20\n")
	seeds["bad-range"] = []byte("[[resource]]\nname = \"x\"\noperation_time = \"0s\"\nmembers_max = 20\n")
	seeds["bad-policy"] = []byte(exampleResource + "policy = \"none\"\n")
	return seeds
}

func scenarioFileSeeds() map[string][]byte {
	seeds := badFiles()
	seeds["good-usual"] = []byte(fullScenario)
	seeds["good-least"] = []byte("[resource]\noperation_time = \"4s\"\nmembers_max = 30\nskip_delay = \"100ms\"\n")
	seeds["bad-slots"] = []byte("[resource]\noperation_time = \"4s\"\nmembers_max = 20\nslots = 2\n")
	return seeds
}
