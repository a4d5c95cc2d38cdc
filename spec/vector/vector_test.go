package vector_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/spec/vector"
)

func load(t *testing.T) *vector.Set {
	t.Helper()
	set, err := vector.Load(os.DirFS("../vectors"))
	require.NoError(t, err)
	return set
}

func check(t *testing.T, set *vector.Set) *vector.Report {
	t.Helper()
	report, err := set.Check()
	require.NoError(t, err)
	return report
}

// This implementation comes to the outcome of every vector.
func TestVectors(t *testing.T) {
	report := check(t, load(t))
	for _, f := range report.Failures {
		t.Errorf("%s: %s: %s", f.File, f.Name, f.Why)
	}
	assert.Greater(t, report.Valid, 250)
	assert.Greater(t, report.Refused, 3500)
	assert.Greater(t, report.Scenarios, 50)
}

// Every object has vectors that are accepted and such that are refused, and they
// can be had as seeds.
func TestEveryObject(t *testing.T) {
	set := load(t)
	for _, object := range vector.Objects() {
		inputs := set.Inputs(object)
		accepted := func(i vector.Input) bool { return i.Valid }
		assert.True(t, slices.ContainsFunc(inputs, accepted), object)
		assert.True(t, slices.ContainsFunc(inputs, func(i vector.Input) bool { return !accepted(i) }), object)
	}
}

// A vector whose outcome is another fails, each of them.
func TestCompare_OtherOutcome_Found(t *testing.T) {
	set := load(t)
	set.Hashes = nil
	turned := 0
	for _, f := range set.Files {
		f.Scenarios = nil
		for n := range f.Vectors {
			turned++
			f.Vectors[n].Cause = ""
			if f.Vectors[n].Outcome == vector.Valid {
				f.Vectors[n].Outcome = "canonical.ErrTag"
			} else {
				f.Vectors[n].Outcome = vector.Valid
			}
		}
	}
	assert.Len(t, check(t, set).Failures, turned)
}

// A scenario fails that lists an effect more, one less, another object or another
// order, each in its first step that has effects.
func TestCompare_OtherEffects_Found(t *testing.T) {
	for name, change := range map[string]func(e []vector.Effect) []vector.Effect{
		"more": func(e []vector.Effect) []vector.Effect { return append(e, vector.Effect{Record: "dropped"}) },
		"less": func(e []vector.Effect) []vector.Effect { return e[1:] },
		"other": func(e []vector.Effect) []vector.Effect {
			e[0].Record, e[0].Send = e[0].Send, e[0].Record
			return e
		},
		"order": func(e []vector.Effect) []vector.Effect {
			if len(e) == 1 {
				return nil
			}
			slices.Reverse(e)
			return e
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := load(t)
			set.Hashes = nil
			changed := 0
			for _, f := range set.Files {
				f.Vectors = nil
				for _, s := range f.Scenarios {
					at := slices.IndexFunc(s.Steps, func(s vector.Step) bool {
						return len(s.Effects) > 0 && s.Effects[0].Send != "OFFER" // which counts only where it is listed
					})
					if at < 0 {
						continue
					}
					changed++
					s.Steps[at].Effects = change(s.Steps[at].Effects)
				}
			}
			assert.Len(t, check(t, set).Failures, changed)
			assert.Greater(t, changed, 50)
		})
	}
}

// A hash that is another fails, and so does one over other cases.
func TestCompare_OtherHash_Found(t *testing.T) {
	set := load(t)
	set.Files = nil
	set.Hashes.Hashes[3].ShortHash[0] ^= 1
	failures := check(t, set).Failures
	require.Len(t, failures, 1)
	assert.Equal(t, set.Hashes.Hashes[3].Object, failures[0].Name)
	set.Hashes.Short--
	assert.Len(t, check(t, set).Failures, len(set.Hashes.Hashes))
}

// files is a small folder that can be loaded.
func files(t *testing.T, change map[string]string) fstest.MapFS {
	keys, err := os.ReadFile("../vectors/keys.json")
	require.NoError(t, err)
	dir := fstest.MapFS{
		"keys.json": {Data: keys},
		"a.json":    {Data: []byte(`{"v":1,"about":"","vectors":[{"name":"a","class":"valid","object":"cbor","outcome":"valid","input":"00"}]}`)},
	}
	for name, text := range change {
		if text == "" {
			delete(dir, name)
		} else {
			dir[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return dir
}

func TestFiles_Invalid_Refused(t *testing.T) {
	one := func(fields string) string {
		return `{"v":1,"about":"","vectors":[{"name":"b","class":"valid","object":"cbor","outcome":"valid","input":"00"` + fields + `}]}`
	}
	scenario := func(step string) string {
		return `{"v":1,"about":"","scenarios":[{"name":"b","member":"ben","steps":[` + step + `]}]}`
	}
	for name, c := range map[string]struct {
		change map[string]string
		want   error
		says   string
	}{
		"as it is":          {nil, nil, ""},
		"no keys":           {map[string]string{"keys.json": ""}, vector.ErrNoVectors, "keys.json"},
		"no vector":         {map[string]string{"a.json": ""}, vector.ErrNoVectors, ""},
		"not JSON":          {map[string]string{"b.json": "{\n\"v\":1,\n]"}, vector.ErrFile, "b.json: not a file of vectors: line 3"},
		"not an object":     {map[string]string{"b.json": "[]"}, vector.ErrFile, "line 1"},
		"two values":        {map[string]string{"b.json": one("") + "{}"}, vector.ErrFile, "more than one"},
		"unknown key":       {map[string]string{"b.json": one(`,"colour":1`)}, vector.ErrFile, "colour"},
		"another version":   {map[string]string{"b.json": `{"v":2}`}, vector.ErrVersion, "2"},
		"a name twice":      {map[string]string{"b.json": strings.Replace(one(""), `"b"`, `"a"`, 1)}, vector.ErrName, `"a"`},
		"no name":           {map[string]string{"b.json": strings.Replace(one(""), `"b"`, `""`, 1)}, vector.ErrName, ""},
		"unknown object":    {map[string]string{"b.json": strings.Replace(one(""), "cbor", "cobr", 1)}, vector.ErrObject, "cobr"},
		"unknown class":     {map[string]string{"b.json": strings.Replace(one(""), "valid", "good", 1)}, vector.ErrClass, "good"},
		"class and outcome": {map[string]string{"b.json": strings.Replace(one(""), "valid", "invalid", 1)}, vector.ErrClass, "invalid"},
		"a file is missing": {map[string]string{"index.json": `{"v":1,"files":{"a.json":{"vectors":1},"c.json":{"vectors":1},"keys.json":{}}}`}, vector.ErrIncomplete, "c.json"},
		"a file too many":   {map[string]string{"index.json": `{"v":1,"files":{"keys.json":{}}}`}, vector.ErrIncomplete, "a.json"},
		"a vector less":     {map[string]string{"index.json": `{"v":1,"files":{"a.json":{"vectors":2},"keys.json":{}}}`}, vector.ErrIncomplete, "a.json has 1"},
		"with an index":     {map[string]string{"index.json": `{"v":1,"files":{"a.json":{"vectors":1},"keys.json":{}}}`}, nil, ""},
		"unknown outcome":   {map[string]string{"b.json": strings.Replace(one(""), `"outcome":"valid"`, `"outcome":"fine"`, 1)}, vector.ErrOutcome, "fine"},
		"unknown cause":     {map[string]string{"b.json": one(`,"cause":"x"`)}, vector.ErrOutcome, "x"},
		"odd digits":        {map[string]string{"b.json": strings.Replace(one(""), `"00"`, `"000"`, 1)}, vector.ErrBytes, ""},
		"a run too long":    {map[string]string{"b.json": strings.Replace(one(""), `"00"`, `"(00*9999999999)"`, 1)}, vector.ErrBytes, "run"},
		"many runs":         {map[string]string{"b.json": strings.Replace(one(""), `"00"`, `"`+strings.Repeat("(00*999999)", 99)+`"`, 1)}, vector.ErrBytes, ""},
		"a run not closed":  {map[string]string{"b.json": strings.Replace(one(""), `"00"`, `"(00*3"`, 1)}, vector.ErrBytes, ""},
		"unknown event":     {map[string]string{"b.json": scenario(`{"event":"thought"}`)}, vector.ErrObject, "thought"},
		"a step in a year":  {map[string]string{"b.json": scenario(`{"event":"waited","after":31536000000}`)}, vector.ErrFile, "after"},
		"steps without end": {map[string]string{"b.json": scenario(strings.Repeat(`{"event":"waited"},`, 300) + `{"event":"waited"}`)}, vector.ErrFile, "steps"},
		"cases without end": {map[string]string{"hashes.json": `{"v":1,"cases":1000000000,"short_cases":1}`}, vector.ErrFile, "hashes.json"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := vector.Load(files(t, c.change))
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				assert.ErrorContains(t, err, c.says)
			}
		})
	}
}

// What parses and cannot be run fails, and ends.
func TestScenario_Impossible_Refused(t *testing.T) {
	for name, step := range map[string]string{
		"no peer":      `{"event":"connected"}`,
		"unknown peer": `{"event":"received","peer":"eve","message":"00"}`,
		"an authority": `{"event":"connected","peer":"first-authority"}`,
	} {
		text := `{"v":1,"about":"","scenarios":[{"name":"b","member":"ben","start":1772366400000,"steps":[` + step + `]}]}`
		set, err := vector.Load(files(t, map[string]string{"b.json": text}))
		require.NoError(t, err, name)
		failures := check(t, set).Failures
		require.Len(t, failures, 1, name)
		assert.Contains(t, failures[0].Why, vector.ErrParties.Error(), name)
	}
}

func TestKeys_Invalid_Refused(t *testing.T) {
	for name, change := range map[string]func(p *vector.Parties){
		"group": func(p *vector.Parties) { p.Group = p.Group[1:] },
		"seed":  func(p *vector.Parties) { p.Parties[0].Seed = p.Parties[0].Seed[1:] },
		"key":   func(p *vector.Parties) { p.Parties[1].Public = p.Parties[0].Public },
		"id":    func(p *vector.Parties) { p.Parties[4].ID = p.Parties[3].ID },
	} {
		set := load(t)
		change(&set.Parties)
		_, err := set.Check()
		assert.ErrorIs(t, err, vector.ErrParties, name)
	}
}

func TestBytes_Text_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b vector.Bytes
		for range rapid.IntRange(0, 5).Draw(t, "pieces") {
			one := rapid.Byte().Draw(t, "byte")
			for range rapid.IntRange(1, 100).Draw(t, "times") {
				b = append(b, one)
			}
		}
		text, err := json.Marshal(b)
		require.NoError(t, err)
		var back vector.Bytes
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, string(b), string(back))
	})
}
