// Package protocol_test holds the rule of the pure core: what is under
// protocol/ and crypto/ is a function of its inputs, and imports only point
// downwards. It also holds that no type has too many methods. It reads the whole module.
package protocol_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLayers_Imports_PureAndDownwards(t *testing.T) {
	s, err := inspect(os.DirFS(".."))
	require.NoError(t, err)
	assert.Empty(t, s.broken)

	// The test would also pass if it found nothing to read.
	for _, pkg := range []string{"crypto/signature", "protocol/wire", "protocol/member", "cmd/wander", "lab/experiment"} {
		assert.NotEmpty(t, s.imports[pkg], pkg)
	}
	assert.Contains(t, s.reach("protocol/member"), "crypto/canonical")
}

// Each rule, broken by a small module.
func TestRules_Each_CanFail(t *testing.T) {
	const down = module + "/"
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"good": {
			"protocol/wire/a.go",
			`package wire; import ("time"; "math/rand/v2"; "` + down + `crypto/canonical")
			 var _ = canonical.Check; var _ = time.Second; func f(s rand.Source) { rand.New(s).IntN(3) }`,
			nil,
		},
		"net": {"protocol/wire/a.go", `package wire; import _ "net"`, []string{
			"protocol/wire/a.go: imports net, which reaches outside",
		}},
		"below net": {"crypto/signature/a.go", `package signature; import _ "net/netip"`, []string{
			"crypto/signature/a.go: imports net/netip, which reaches outside",
		}},
		"os": {"crypto/keyfile/a.go", `package keyfile; import _ "os"`, []string{
			"crypto/keyfile/a.go: imports os, which reaches outside",
		}},
		"types of files are no files": {"crypto/keyfile/a.go", `package keyfile; import _ "io/fs"`, nil},
		"log": {"protocol/wire/a.go", `package wire; import _ "log"; import _ "log/slog"`, []string{
			"protocol/wire/a.go: imports log, which reaches outside",
		}},
		"entropy": {"protocol/wire/a.go", `package wire; import _ "crypto/rand"`, []string{
			"protocol/wire/a.go: imports crypto/rand, which reaches outside",
		}},
		"quic": {"protocol/member/a.go", `package member; import _ "github.com/quic-go/quic-go"`, []string{
			"protocol/member/a.go: imports github.com/quic-go/quic-go, which has no place in the pure core",
		}},
		"library of another package": {"protocol/wire/a.go", `package wire; import _ "github.com/fxamacker/cbor/v2"`, []string{
			"protocol/wire/a.go: imports github.com/fxamacker/cbor/v2, which has no place in the pure core",
		}},
		"unsafe": {"protocol/wire/a.go", `package wire; import _ "unsafe"`, []string{
			"protocol/wire/a.go: imports unsafe, which has no place in the pure core",
		}},
		"global randomness": {
			"protocol/wire/a.go", "package wire; import \"math/rand/v2\"\nvar n = rand.IntN(3)",
			[]string{"protocol/wire/a.go: uses math/rand/v2.IntN in line 2"},
		},
		"global randomness, renamed and as a value": {
			"protocol/policy/ring/a.go", "package ring; import dice \"math/rand\"\nvar roll = dice.Float64",
			[]string{"protocol/policy/ring/a.go: uses math/rand.Float64 in line 2"},
		},
		"a goroutine": {
			"protocol/wire/a.go", "package wire\nfunc f() {\ngo f()\n}",
			[]string{"protocol/wire/a.go: starts a goroutine in line 3"},
		},
		"import without a name": {"protocol/wire/a.go", `package wire; import . "time"`, []string{
			"protocol/wire/a.go: imports time without a name",
		}},
		"a variable called time is no clock": {
			"protocol/wire/a.go", `package wire; type c struct{ Now int }; func f(time c) int { return time.Now }`, nil,
		},
		"tests may do all of this": {"protocol/wire/a_test.go", `package wire; import _ "os"; func f() { go f() }`, nil},
		"so may drivers":           {"node/a.go", `package node; import _ "net"; func f() { go f() }`, nil},
		"whatever the system":      {"protocol/wire/a_windows.go", `package wire; import _ "os"`, []string{"protocol/wire/a_windows.go: imports os, which reaches outside"}},
		"up": {"protocol/wire/a.go", `package wire; import _ "` + down + `protocol/member"`, []string{
			"protocol/wire: imports protocol/member, which is not below it",
		}},
		"from crypto to protocol": {"crypto/envelope/a.go", `package envelope; import _ "` + down + `protocol/ident"`, []string{
			"crypto/envelope: imports protocol/ident, which is not below it",
		}},
		"beside": {"protocol/wire/a.go", `package wire; import _ "` + down + `protocol/token"`, []string{
			"protocol/wire: imports protocol/token, which is not below it",
		}},
		"to a driver": {"protocol/member/a.go", `package member; import _ "` + down + `node"`, []string{
			"protocol/member: imports node, which is not below it",
		}},
		"from one driver to another": {"node/a.go", `package node; import _ "` + down + `sim"`, []string{
			"node: imports sim, which is not below it",
		}},
		"to what stands on all drivers": {"ca/a.go", `package ca; import _ "` + down + `lab/bench"`, []string{
			"ca: imports lab/bench, which is not below it",
		}},
		"from a simulator to the study": {"sim/plan/a.go", `package plan; import _ "` + down + `lab/figure"`, []string{
			"sim/plan: imports lab/figure, which is not below it",
		}},
		"within a driver": {"node/a.go", `package node; import _ "` + down + `node/store"`, nil},
		"no floor": {"protocol/cellar/a.go", `package cellar`, []string{
			"protocol/cellar: has no floor",
		}},
		"policy and handoff": {"protocol/policy/catalog/a.go", `package catalog; import _ "` + down + `protocol/handoff"`, []string{
			"protocol/policy/catalog: knows of protocol/handoff",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := inspect(fstest.MapFS{c.file: {Data: []byte(c.text)}})
			require.NoError(t, err)
			assert.Equal(t, c.want, s.broken)
		})
	}
}

func TestClock_EveryWayToRead_Found(t *testing.T) {
	for _, name := range clockReaders {
		text := "package wire; import \"time\"\nvar x = time." + name
		s, err := inspect(fstest.MapFS{"protocol/wire/a.go": {Data: []byte(text)}})
		require.NoError(t, err)
		assert.Equal(t, []string{"protocol/wire/a.go: uses time." + name + " in line 2"}, s.broken)
	}
}

// A handoff that learns of policies through a third package is caught, too.
func TestStrangers_ThroughOthers_Found(t *testing.T) {
	s, err := inspect(fstest.MapFS{
		"protocol/handoff/a.go": {Data: []byte(`package handoff; import _ "` + module + `/protocol/group"`)},
		"protocol/group/a.go":   {Data: []byte(`package group; import _ "` + module + `/protocol/policy"`)},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"protocol/handoff: knows of protocol/policy"}, s.broken)
}

func TestFile_Invalid_Error(t *testing.T) {
	_, err := inspect(fstest.MapFS{"protocol/wire/a.go": {Data: []byte("package")}})
	assert.Error(t, err)
}
