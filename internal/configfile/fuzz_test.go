package configfile_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/internal/configfile"
)

var update = flag.Bool("update", false, "write the seed corpora anew")

// The seeds are made anew by go test ./internal/configfile -run TestSeeds -update;
// see package fuzz.
func TestSeeds(t *testing.T) { corpus.Test(t, fuzzTargets, *update) }

var fuzzTargets map[string]corpus.Target

func init() {
	fuzzTargets = map[string]corpus.Target{"FuzzDecode": {Check: checkDecode, Seeds: decodeSeeds}}
}

// FuzzDecode: a file with every type of key. Whatever is in it, its fault is told as
// one of the file, and has a place; and every name that it uses can be asked for.
//
//fuzz:of internal/configfile
func FuzzDecode(f *testing.F) { fuzzTargets["FuzzDecode"].Fuzz(f) }

func checkDecode(t require.TestingT, text []byte) bool {
	_ = configfile.Names(text)
	_ = configfile.Names(text, "resource", 1)
	err := configfile.Decode("x.toml", text, new(file))
	if err == nil {
		return true
	}
	var e *configfile.Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, configfile.ErrFile)
	require.Positive(t, e.Line, "no place: %v", err)
	require.Positive(t, e.Column, "no place: %v", err)
	return false
}

func decodeSeeds() map[string][]byte {
	return map[string][]byte{
		"good-nothing":   {},
		"good-usual":     []byte("state_dir = \"x\"\n[[resource]]\nname = \"a\"\nwait = \"4s\"\nwaits = [\"1s\", \"2s\"]\n"),
		"good-all":       []byte("quick = true\nshare = 0.5\nmany = 3\n[listen]\naddress = \":1\"\nadvertise = [\"a\"]\ntimeout = \"4s\"\n"),
		"good-dotted":    []byte("listen.address = \"x\"\n"),
		"bad-wait":       []byte("[[resource]]\nname = \"a\"\nwait = 5\n"),
		"bad-inline":     []byte("listen = {advertise = [7], \"timeout\" = 1.5}"),
		"bad-quoted-key": []byte("\"quick\" = 'x'"),
		"bad-half":       []byte("[listen]\naddress="),
		"bad-in-list":    []byte("resource = [{name = \"a\"}, {name = true}]"),
		"bad-tables":     []byte("[a.b.c]\n[[a.b]]\n"),
	}
}
