package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

func TestCAConfig(t *testing.T) {
	b := started(t)
	assert.Contains(t, b.must("ca", "config", "group.toml"), "configuration 1 of group demo says this already")
	b.write("group.toml", `
name = "renamed"
members_max = 50
update_capacity = 5
failure_quorum = 3
certificate_lifetime = "30d"
clock_allowance = "1h"
settlement_time = "1d12h"
gossip_interval = "1s500ms"
silence = "2s500ms"
[[resource]]
name = "ftp"
policy = "wandering"
preset = "paper"
slots = 2
operation_time = "4s"
members_max = 100
skip_delay = "10ms"
min_interval = "1m"
regeneration_mean = "1h"
max_hold = "3s"
[[resource]]
name = "backup"
operation_time = "1m"
members_max = 7
on_isolated = "majority"
`)
	assert.Contains(t, b.must("ca", "config", "group.toml"), "signed configuration 2 of group renamed, with 2 resources")
	g, _ := b.group()
	s := g.Config().Settings()
	assert.Equal(t, "renamed", s.Name)
	assert.Equal(t, b.now, s.Issued)
	assert.Equal(t, 50, s.MembersMax)
	assert.Equal(t, 5, s.UpdateCapacity)
	assert.Equal(t, 3, s.FailureQuorum)
	assert.Equal(t, 30*24*time.Hour, s.CertificateLifetime)
	assert.Equal(t, time.Hour, s.ClockAllowance)
	assert.Equal(t, 36*time.Hour, s.SettlementTime)
	assert.Equal(t, 1500*time.Millisecond, s.GossipInterval)
	assert.Equal(t, 2500*time.Millisecond, s.Silence)
	require.Len(t, s.Resources, 2)
	assert.Equal(t, "backup", s.Resources[0].Name)
	assert.Equal(t, catalog.Presets(catalog.Wandering)[0].Name, s.Resources[0].Preset, "what is signed names the preset")
	assert.Equal(t, time.Minute, s.Resources[0].MaxHold)
	r := s.Resources[1]
	assert.Equal(t, 2, r.Slots)
	assert.Equal(t, 10*time.Millisecond, r.SkipDelay)
	assert.Equal(t, time.Minute, r.MinInterval)
	assert.Equal(t, time.Hour, r.RegenerationMean)
	assert.Equal(t, 3*time.Second, r.MaxHold)
	assert.Equal(t, policy.Continue, r.OnIsolated)
	assert.Equal(t, policy.Majority, s.Resources[0].OnIsolated)
}

// inTOML is a value of a parameter as people write it, and the number that it
// has in the configuration.
func inTOML(q policy.Quantity) (text string, number uint64) {
	switch q {
	case policy.Span:
		return `"1s500ms"`, 1500
	case policy.Thousandths:
		return "2.5", 2500
	case policy.Flag:
		return "true", 1
	case policy.Choice:
		return `"replace"`, 1
	}
	return "7", 7
}

// Every parameter that a policy may have can be given in the file, by its name.
func TestCAConfig_EveryParameter_Accepted(t *testing.T) {
	for _, p := range policy.Parameters {
		t.Run(p.Name, func(t *testing.T) {
			text, number := inTOML(p.Quantity)
			var g groupFile
			require.NoError(t, configfile.Decode("x", fmt.Appendf(nil, "[[resource]]\n%s = %s\n", p.Name, text), &g))
			params := g.resources[0].Group().PolicyParams()
			assert.Equal(t, number, p.Wire(&params))
		})
	}
}

// Each preset can be given each parameter that it uses, from the file to the signature.
func TestCAConfig_EveryPreset_Accepted(t *testing.T) {
	b := started(t)
	version := 1
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			text := fmt.Sprintf("%spolicy = %q\npreset = %q\n", smallGroup, name, preset.Name)
			for _, p := range policy.Parameters {
				if slices.Contains(preset.Uses, p.Name) {
					value, _ := inTOML(p.Quantity)
					if p.Name == "decay_factor" {
						value = "0.05"
					}
					text += fmt.Sprintf("%s = %s\n", p.Name, value)
				}
			}
			b.write("group.toml", text)
			version++
			assert.Contains(t, b.must("ca", "config", "group.toml"), fmt.Sprintf("signed configuration %d of", version))
			g, _ := b.group()
			r := g.Config().Settings().Resources[0]
			assert.Equal(t, preset.Name, r.Preset)
			for _, p := range policy.Parameters {
				assert.Equal(t, !p.Optional || slices.Contains(preset.Uses, p.Name), p.Wire(&r.Params) != 0, p.Name)
			}
		}
	}
	help := b.must("ca", "config", "--help")
	for _, p := range policy.Parameters {
		if isUsed(p.Name) {
			assert.Contains(t, help, p.Name)
		}
	}
}

// isUsed reports whether any policy uses a parameter.
func isUsed(parameter string) bool {
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			if slices.Contains(preset.Uses, parameter) {
				return true
			}
		}
	}
	return false
}

func TestCAConfig_Factors_Parsed(t *testing.T) {
	for text, want := range map[string]policy.Ratio{
		"3": 3000, "2.5": 2500, "0.05": 50, "1.001": 1001, "1000": 1_000_000, "0.0": 0, "-0.1": -100,
	} {
		var g groupFile
		require.NoError(t, configfile.Decode("x", []byte("[[resource]]\ngrowth_factor = "+text), &g), text)
		assert.Equal(t, want, g.resources[0].GrowthFactor, text)
	}
	for _, text := range []string{"--1", "-", "1.0001", "1e3", "1_000", "true", `""`, `"x"`, `"."`, `"1."`, `".5"`, "inf", "nan", "99999999999"} {
		err := configfile.Decode("x", []byte("[[resource]]\ngrowth_factor = "+text), new(groupFile))
		assert.ErrorIs(t, err, configfile.ErrFile, text)
	}
}

// zoneFile is a zone's file that lists no change of its own (RFC 8536, section 3), and ends in a rule.
func zoneFile(rule string) []byte {
	block := append([]byte("TZif2"), make([]byte, 15+6*4)...)
	block[5+15+4*4+3], block[5+15+5*4+3] = 1, 4                     // one kind of time, and four bytes of names
	block = append(block, 0, 0, 0x0e, 0x10, 0, 0, 'C', 'E', 'T', 0) // an hour ahead
	return append(append(append(block, block...), '\n'), rule+"\n"...)
}

// TestCAConfig_Windows_SignedAndShown: the rule of a zone is signed beside its name, and people see when windows open.
func TestCAConfig_Windows_SignedAndShown(t *testing.T) {
	b := started(t)
	zones := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(zones, "Test"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(zones, "Test", "Town"), zoneFile("CET-1CEST,M3.5.0,M10.5.0/3"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(zones, "Test", "Old"), []byte("TZif1\n"), 0o600))
	t.Setenv("ZONEINFO", zones)
	b.write("group.toml", smallGroup+`windows = ["Mon-Fri 22:00-06:00 Test/Town", "Sun 10:00-11:00 +02:00"]`)
	dry := b.must("ca", "config", "--dry-run", "group.toml")
	assert.Contains(t, dry, "group.toml is valid for group ")
	assert.Contains(t, dry, "nothing is signed\nftp: windows Mon-Fri 22:00-06:00 Test/Town; Sun 10:00-11:00 +02:00\n")
	assert.Equal(t, 3, strings.Count(dry, "ftp: open from "), dry)
	g, _ := b.group()
	before := g.Config().Version()
	signed := b.must("ca", "config", "group.toml")
	assert.Equal(t, 3, strings.Count(signed, "ftp: open from "), signed)
	g, _ = b.group()
	assert.Equal(t, before+1, g.Config().Version())
	list := g.Config().Settings().Resources[0].Windows
	require.Len(t, list, 2)
	assert.Equal(t, "CET-1CEST,M3.5.0,M10.5.0/3", list[0].Zone.String())
	assert.Equal(t, "Test/Town", list[0].Name)
	b.write("old.toml", smallGroup+`windows = ["Mon 22:00-06:00 Test/Old"]`)
	b.fails(78, "does not end in a rule; write the rule in place of the name, such as CET-1CEST,M3.5.0,M10.5.0/3", "ca", "config", "old.toml")
}

func TestCAConfig_Invalid_Refused(t *testing.T) {
	b := started(t)
	tests := []struct{ name, text, says string }{
		{"unknown key", "gossip_intervall = \"1s\"\n" + smallGroup, "bad.toml:1:1: unknown key \"gossip_intervall\"\nhint: did you mean \"gossip_interval\"?"},
		{"unknown key of a resource", smallGroup + "slot = 1\n", "bad.toml:6:1: unknown key \"resource.slot\"\nhint: did you mean \"resource.slots\"?"},
		{"number without a unit", smallGroup + "max_hold = 4\n", "bad.toml:6:12: resource.max_hold: \"4\" is not a duration"},
		{"type", smallGroup + "slots = \"many\"\n", "bad.toml:6:9: resource.slots must be a whole number\n"},
		{"syntax", "name =\n", "bad.toml:1"},
		{"explicit zero", smallGroup + "slots = 0\n", "bad.toml:6:9: resource \"ftp\": setting out of range: slots is 0, permitted are 1 to 1024"},
		{"explicit zero of the group", "members_max = 0\n" + smallGroup, "bad.toml:1:15: setting out of range: members_max is 0"},
		{"explicit zero hold", smallGroup + "max_hold = \"0s\"\n", "max_hold is 0s"},
		{"explicit zero delay", smallGroup + "skip_delay = \"0s\"\n", "skip_delay is 0s"},
		{"missing time", "[[resource]]\nname = \"ftp\"\nmembers_max = 2\n", "bad.toml:1:3: resource \"ftp\": operation_time must be given\n"},
		{"missing members", "[[resource]]\nname = \"ftp\"\noperation_time = \"2s\"\n", "bad.toml:1:3: resource \"ftp\": members_max must be given\n"},
		{"missing name", smallGroup + "[[resource]]\noperation_time = \"2s\"\n", "bad.toml:6:3: name must be given\n"},
		{"explicit zero time", "[[resource]]\nname = \"ftp\"\nmembers_max = 2\noperation_time = \"0s\"\n", "bad.toml:4:18: resource \"ftp\": parameter out of range: operation_time is 0s"},
		{"unknown policy", smallGroup + "policy = \"nonsense\"\n", "bad.toml:6:10: resource \"ftp\": unknown policy \"nonsense\", known are"},
		{"unknown preset", smallGroup + "preset = \"nonsense\"\n", "bad.toml:6:10: resource \"ftp\": policy wandering: unknown preset \"nonsense\", known are fair"},
		{"name of a preset", smallGroup + "preset = \"Paper\"\n", "bad.toml:6:10: resource \"ftp\": preset: invalid name: \"Paper\", permitted are a-z, 0-9 and, not at the beginning, '.', '_' and '-'\nhint: did you mean \"paper\"?"},
		{
			"parameter without effect", smallGroup + "interval_factor = 3\n",
			"bad.toml:6:19: resource \"ftp\": policy wandering: parameter without effect: preset fair does not use interval_factor; leave it out\n" +
				"hint: preset fair of policy wandering uses min_interval",
		},
		{"parameter out of range", smallGroup + "min_interval = \"4000d\"\n", "bad.toml:6:16: resource \"ftp\": parameter out of range: min_interval is"},
		{"negative factor", smallGroup + "policy = \"multitoken\"\ndecay_factor = -0.1\n", "bad.toml:7:16: resource \"ftp\": parameter out of range: decay_factor is -0.1, permitted are 0 (derived) and 0.001 to 1\n"},
		{"no such reaction", smallGroup + "on_isolated = \"halt\"\n", "on_isolated is \"halt\", permitted are continue, stop, majority"},
		{"no list of windows", smallGroup + "windows = \"Mon 22:00-06:00 UTC\"\n", "bad.toml:6:11: resource.windows must be a list in brackets"},
		{"no window", smallGroup + "windows = [\"at night\"]\n", "invalid window: \"at night\" is not in the form \"Mon-Fri 22:00-06:00 Europe/Rome\""},
		{"no such zone", smallGroup + "windows = [\"Mon 22:00-06:00 Europe/Atlantis\"]\n", "bad.toml:6:12: resource.windows: unknown time zone: "},
		{"a path", smallGroup + "windows = [\"Mon 22:00-06:00 ../../etc/passwd\"]\n", "is not a name such as Europe/Rome"},
		{"a short window", "[[resource]]\nname = \"ftp\"\nmembers_max = 2\noperation_time = \"2m\"\nwindows = [\"Mon 22:00-22:01 UTC\"]\n", "bad.toml:5:11: resource \"ftp\": invalid windows of a resource: \"Mon 22:00-22:01 UTC\" is shorter than operation_time, 2m0s, in windows"},
		{"nine windows", smallGroup + "windows = [" + strings.Repeat("\"Mon 22:00-06:00 UTC\", ", 9) + "]\n", "windows has 9, permitted are 8"},
		{"several at once", smallGroup + "policy = \"uncoordinated\"\non_isolated = \"stop\"\n", "uncoordinated lets several programs run at once; leave out on_isolated"},
		{"which resource", smallGroup + "[[resource]]\nname = \"b\"\noperation_time = \"1s\"\nmembers_max = 3\nmax_hold = 7\n", "bad.toml:10:12: resource.max_hold: \"7\" is not a duration"},
		{"near a policy", smallGroup + "policy = \"rign\"\n", "hint: did you mean \"ring\"?"},
		{"near a preset", smallGroup + "preset = \"reprot\"\n", "hint: did you mean \"report\"?"},
		{"fraction of a parameter", smallGroup + "min_interval = \"1500us\"\n", "not a whole number of milliseconds: min_interval"},
		{"factor as text", smallGroup + "growth_factor = \"much\"\n", "bad.toml:6:17: resource.growth_factor: \"much\": must be a number such as 3 or 2.5"},
		{"twice", smallGroup + smallGroup, "twice"},
		{"no resource", "name = \"x\"\n", "permitted are 1 to 1024"},
		{"name", "name = \"X\"\n" + smallGroup, "invalid name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b.write("bad.toml", tt.text)
			b.fails(78, tt.says, "ca", "config", "bad.toml")
		})
	}
	b.fails(78, "none.toml", "ca", "config", "none.toml")
	b.fails(64, "an argument is missing", "ca", "config")
	g, _ := b.group()
	assert.Equal(t, uint64(1), g.Config().Version())
	b.in = "[[resource]]\nname = \"r\"\noperation_time = \"1s\"\nmembers_max = 1\n"
	b.must("ca", "config", "-")
}
