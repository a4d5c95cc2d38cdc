package main

import (
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
		"FuzzNodeFile":  {Check: checkNodeFile, Seeds: nodeFileSeeds},
		"FuzzGroupFile": {Check: checkGroupFile, Seeds: groupFileSeeds},
	}
}

// FuzzNodeFile: the configuration file of a member.
//
//fuzz:of cmd/wander internal/configfile node
func FuzzNodeFile(f *testing.F) { fuzzTargets["FuzzNodeFile"].Fuzz(f) }

func checkNodeFile(t require.TestingT, text []byte) bool {
	s := defaultSettings()
	if !corpus.ToldWell(t, configfile.Decode("wander.toml", text, &s)) {
		return false
	}
	s.anchor("/etc/wander")
	return true
}

// FuzzGroupFile: the configuration file of a group. A file that is accepted can be signed,
// and says the same when it is read again.
//
//fuzz:of cmd/wander cmd/internal/groupfile internal/configfile protocol/group protocol/policy/...
func FuzzGroupFile(f *testing.F) { fuzzTargets["FuzzGroupFile"].Fuzz(f) }

func checkGroupFile(t require.TestingT, text []byte) bool {
	s, err := parseGroupFile("group.toml", text, "demo")
	if !corpus.ToldWell(t, err) {
		return false
	}
	require.NoError(t, s.Validate())
	again, err := parseGroupFile("group.toml", text, "demo")
	require.NoError(t, err)
	require.Equal(t, s, again)
	return true
}

func nodeFileSeeds() map[string][]byte {
	seeds := corpus.BadFiles()
	seeds["good-nothing"] = []byte{}
	seeds["good-usual"] = []byte("state_dir = \"/var/lib/wander\"\nmode = \"volatile\"\n[identity]\ncertificate = \"a.crt\"\n" +
		"[listen]\naddress = \"[::]:4133\"\n[log]\nlevel = \"debug\"\n")
	seeds["bad-type"] = []byte("mode = 3\n")
	return seeds
}

const exampleResource = "[[resource]]\nname = \"ftp\"\noperation_time = \"4s\"\nmembers_max = 20\n"

func groupFileSeeds() map[string][]byte {
	seeds := corpus.BadFiles()
	seeds["good-usual"] = []byte("name = \"demo\"\n" + exampleResource)
	seeds["good-two"] = []byte(exampleResource + "[[resource]]\nname = \"backup\"\npolicy = \"ring\"\noperation_time = \"1h\"\nmembers_max = 9\n")
	seeds["bad-name"] = []byte("[[resource]]\nname = \"\"\noperation_time = \"4s\"\nmembers_max = 20\n")
	seeds["bad-range"] = []byte("[[resource]]\nname = \"x\"\noperation_time = \"0s\"\nmembers_max = 20\n")
	gate := "gate = \"000102030405060708090a0b0c0d0e0f\"\ngate_address = \"a:1\"\n"
	seeds["good-gate"] = []byte(exampleResource + gate + "gate_mode = \"observe\"\nsettle = \"2s\"\ngate_min_interval = \"0s\"\n")
	seeds["bad-gate-mode"] = []byte(exampleResource + gate + "gate_mode = \"off\"\n")
	seeds["bad-gate-alone"] = []byte(exampleResource + "gate_sessions = 2\n")
	seeds["bad-policy"] = []byte(exampleResource + "policy = \"none\"\n")
	return seeds
}
