package inspect

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

// A file from somebody else must not speak to the terminal.
func TestText_ControlCharacters_None(t *testing.T) {
	const hostile = "x\x1b[2J\r\u009b1m\u202ey"
	data, err := wire.Encode(&wire.Policy{Resource: hostile, Policy: "plain-name", Configuration: 1})
	require.NoError(t, err)
	var b strings.Builder
	for o, err := range New(nil).Objects("-", data) {
		require.NoError(t, err)
		b.Write(o.AppendText(nil))
	}
	for _, r := range []string{"\x1b", "\r", "\u009b", "\u202e"} {
		assert.NotContains(t, b.String(), r)
	}
	assert.Contains(t, b.String(), `resource: "x\x1b[2J`)
	assert.Contains(t, b.String(), "policy: plain-name\n")
}

// Parameters are shown in the units that people write.
func TestText_Parameters_AsInTheFile(t *testing.T) {
	params := policy.Params{
		Preset: "report", OperationTime: 1500 * time.Millisecond, MembersMax: 7, GrowthFactor: 2500, GeneratorRests: true, OnSilentHolder: policy.Replace,
	}
	got := structure(reflect.ValueOf(params), func([]byte) (Object, bool) { return Object{}, false })
	assert.Equal(t, Fields{
		{"preset", "report"}, {"operation_time", "1.5s"}, {"members_max", int64(7)},
		{"growth_factor", 2.5}, {"generator_rests", true}, {"on_silent_holder", "replace"},
	}, got)
}
