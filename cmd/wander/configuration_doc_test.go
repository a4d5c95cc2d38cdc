package main

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// sections are the parts of a chapter of docs/configuration.md, by the key in
// the heading of each.
func sections(t *testing.T, chapter string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n## "+chapter+"\n")
	require.True(t, found, chapter)
	rest, _, _ = strings.Cut(rest, "\n## ")
	heading := regexp.MustCompile("(?m)^### `([a-z_.]+)`$")
	parts := make(map[string]string)
	starts := heading.FindAllStringSubmatchIndex(rest, -1)
	for i, m := range starts {
		end := len(rest)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		parts[rest[m[2]:m[3]]] = rest[m[1]:end]
	}
	return parts
}

func keysOf(sections map[string]string) []string {
	return slices.Sorted(maps.Keys(sections))
}

// Every setting of a node is documented, with its default and its name in the
// environment, and nothing else is.
func TestNodeSettings_Each_Documented(t *testing.T) {
	documented := sections(t, "The node's file")
	s := defaultSettings()
	assert.Equal(t, configfile.Keys(&s), keysOf(documented))
	for key, text := range documented {
		value := reflect.ValueOf(configfile.Place(&s, key)).Elem()
		given := "none"
		if value.Kind() == reflect.String && value.Len() > 0 {
			given = "`" + value.String() + "`"
		} else if !value.IsZero() {
			given = fmt.Sprint(value.Interface())
		}
		environment := "WANDER_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		want := fmt.Sprintf("\n\nDefault: %s. Environment: `%s`.\n", given, environment)
		assert.True(t, strings.HasPrefix(text, want), "%s: want %q", key, want)
		assert.Greater(t, len(text), len(want)+20, "%s is not explained", key)
	}
}

// Every setting of a group is documented, with what is permitted and what it
// is if it is not given.
func TestGroupSettings_Each_Documented(t *testing.T) {
	want := map[string]string{
		"name":                  "Default: the authority's name for the group.",
		"resource.name":         "Must be given.",
		"resource.policy":       "Default: `" + group.DefaultPolicy + "`.",
		"resource.preset":       "Default: none.",
		"resource.on_isolated":  "Permitted: `continue`, `stop` and `majority`. Default: continue.",
		"resource.weights":      "Permitted: up to 16 classes, each with a weight of 1 to 100. Default: none.",
		"resource.gate":         "Default: none.",
		"resource.windows":      "Default: none.",
		"resource.gate_address": "Must be given if there is a gate.",
		"resource.gate_mode":    "Permitted: `enforce` and `observe`. Default: enforce.",
	}
	for _, c := range group.Constants {
		want[c.Name] = constant(c)
	}
	for _, c := range group.ResourceConstants {
		want["resource."+c.Name] = constant(c)
	}
	for _, c := range group.GateConstants {
		if want["resource."+c.Name] = constant(c); c.Optional {
			_, low, high := c.Texts()
			want["resource."+c.Name] = fmt.Sprintf("Permitted: 0 or %s to %s. Default: 0.", low, high)
		}
	}
	for _, p := range policy.Parameters {
		want["resource."+p.Name] = permitted(p)
	}
	documented := sections(t, "The group's file")
	assert.Equal(t, configfile.Keys(&groupFile{}), keysOf(documented))
	for key, text := range documented {
		assert.True(t, strings.HasPrefix(text, "\n\n"+want[key]+"\n"), "%s: want %q", key, want[key])
		assert.Greater(t, len(text), len(want[key])+20, "%s is not explained", key)
	}
}

// Every setting of a group says when a change of it takes effect on running members.
func TestGroupSettings_Change_IsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n### When a change takes effect\n")
	require.True(t, found)
	var keys []string
	for row := range strings.Lines(table) {
		if strings.HasPrefix(row, "#") {
			break
		}
		if cells := strings.Split(row, "|"); len(cells) == 4 && strings.Contains(cells[1], "`") {
			assert.Greater(t, len(cells[2]), 5, "when does a change of%stake effect?", cells[1])
			for _, m := range regexp.MustCompile("`([a-z_.]+)`").FindAllStringSubmatch(cells[1], -1) {
				keys = append(keys, m[1])
			}
		}
	}
	slices.Sort(keys)
	assert.Equal(t, configfile.Keys(&groupFile{}), keys)
}

// constant is what the text says first of a constant.
func constant[T any](c policy.Setting[T]) string {
	absent, low, high := c.Texts()
	if c.Default == 0 && c.Low > 0 { // max_hold
		absent = "`resource.operation_time`"
	}
	return fmt.Sprintf("Permitted: %s to %s. Default: %s.", low, high, absent)
}

// permitted is what the text says first of a policy's parameter.
func permitted(p policy.Parameter) string {
	_, low, high := p.Texts()
	switch p.Quantity {
	case policy.Flag:
		return "Permitted: true or false. Default: false."
	case policy.Choice:
		return fmt.Sprintf("Permitted: `%s`. Default: `%s`.", strings.Join(p.Words(), "` or `"), p.Words()[0])
	}
	zero, absent := "", "Must be given."
	if p.Optional {
		zero, absent = "0 or ", "Default: 0."
	}
	if r := (group.Resource{}).WithDefaults(); p.Wire(&r.Params) != 0 {
		absent = fmt.Sprintf("Default: %v.", p.Value(&r.Params))
	}
	return fmt.Sprintf("Permitted: %s%s to %s. %s", zero, low, high, absent)
}

// Every policy and preset is named where people choose one, and each parameter
// says who uses it.
func TestPolicies_Each_Documented(t *testing.T) {
	documented := sections(t, "The group's file")
	for _, name := range catalog.Names() {
		assert.Contains(t, documented["resource.policy"], "\n- `"+name+"`: ")
		_, ofPolicy, found := strings.Cut(documented["resource.preset"], "\n- `"+name+"`: ")
		assert.True(t, found, "no presets of %s", name)
		ofPolicy, _, _ = strings.Cut(ofPolicy, "\n- ")
		presets := catalog.Presets(name)
		assert.True(t, strings.HasPrefix(ofPolicy, "`"+presets[0].Name+"`"), "the default of %s comes first", name)
		for _, preset := range presets {
			assert.Contains(t, ofPolicy, "`"+preset.Name+"`")
			for _, parameter := range preset.Uses {
				assert.Contains(t, documented["resource."+parameter], "`"+name+"`", parameter)
			}
		}
	}
}
