package configfile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/protocol/duration"
)

// span is a duration as files have them.
type span struct{ time.Duration }

func (s *span) UnmarshalText(text []byte) (err error) {
	s.Duration, err = duration.Parse(string(text))
	return err
}

type file struct {
	Dir    string  `toml:"state_dir"`
	Quick  bool    `toml:"quick"`
	Share  float64 `toml:"share"`
	Many   *int    `toml:"many"`
	Listen struct {
		Address   string   `toml:"address"`
		Advertise []string `toml:"advertise"`
		Timeout   span     `toml:"timeout"`
	} `toml:"listen"`
	Resources []struct {
		Name  string `toml:"name"`
		Wait  *span  `toml:"wait"`
		Waits []span `toml:"waits"`
	} `toml:"resource"`
}

func TestDecode(t *testing.T) {
	f := file{Dir: "kept"}
	require.NoError(t, configfile.Decode("x.toml", []byte("[listen]\naddress = \":1\"\ntimeout = \"4s\"\n[[resource]]\nname = \"ftp\"\n"), &f))
	require.Equal(t, "kept", f.Dir)
	require.Equal(t, ":1", f.Listen.Address)
	require.Equal(t, 4*time.Second, f.Listen.Timeout.Duration)
	require.Equal(t, "ftp", f.Resources[0].Name)
}

func TestFault_Syntax_NamesPlaceAndRemedy(t *testing.T) {
	for name, c := range map[string]struct{ text, want, hint string }{
		"unknown key":           {"[listen]\nadress = \":1\"\n", `x.toml:2:1: unknown key "listen.adress"`, `did you mean "listen.address"?`},
		"unknown table":         {"[lissen]\naddress = \":1\"\n", `x.toml:1:2: unknown key "lissen"`, `did you mean "listen"?`},
		"unknown, nothing near": {"colour = 1\n", `x.toml:1:1: unknown key "colour"`, ""},
		"unknown in a list":     {"[[resource]]\nnam = \"ftp\"\n", `x.toml:2:1: unknown key "resource.nam"`, `did you mean "resource.name"?`},
		"no quotes":             {"[[resource]]\nname = tape # x\n", `x.toml:2:8: expected keyword "true"`, `write text in quotes: name = "tape"`},
		"no quotes, address":    {"[listen]\naddress = [::]:4133\n", `x.toml:2:12: unexpected character U+003A ':' at start of value`, `write text in quotes: address = "[::]:4133"`},
		"no value":              {"[listen]\naddress =\n", `x.toml:2:10: unexpected character U+000A at start of value`, ""},
		"twice":                 {"many = 1\nmany = 2\n", `x.toml:2:1: key many is already defined`, ""},
		"quotes, not closed":    {"[listen]\naddress = \"a\n", `x.toml:2:13: basic strings cannot have new lines`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := configfile.Decode("x.toml", []byte(c.text), new(file))
			var e *configfile.Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, configfile.ErrFile)
			require.Equal(t, c.want, e.Error())
			require.Equal(t, c.hint, e.Hint)
		})
	}
}

// Every bad value is told with its place, its key and what is wanted, and not
// with the types of the program.
func TestValue_Invalid_NamesPlaceAndKey(t *testing.T) {
	const bare = ` is not a duration: write for example "4s", "100ms" or "90d"`
	for text, want := range map[string]string{
		"state_dir = 3":                       "1:13: state_dir must be text in quotes",
		"quick=\"yes\"":                       "1:7: quick must be true or false",
		"\n  quick = 1":                       "2:11: quick must be true or false",
		"share = \"x\"":                       "1:9: share must be a number",
		"many = 2.5":                          "1:8: many must be a whole number",
		"many = 99999999999999999999":         "1:8: many must be a whole number",
		"listen = 4":                          "1:10: listen must be a table: begin it with [listen]",
		"[[listen]]\naddress=\"x\"":           "1:3: listen must be a table: begin it with [listen]",
		"resource = 5":                        "1:12: resource must be tables: begin each with [[resource]]",
		"[resource]\nname = 5":                "2:8: resource.name must be text in quotes",
		"[state_dir]\nx=1":                    "1:2: state_dir must be text in quotes",
		"[listen]\nadvertise = \"x\"":         "2:13: listen.advertise must be a list in brackets",
		"[listen]\nadvertise = [\"x\",\n  5]": "3:3: listen.advertise must be text in quotes",
		"listen = {advertise = [7]}":          "1:24: listen.advertise must be text in quotes",
		"listen.timeout = 5":                  "1:18: listen.timeout: \"5\"" + bare,
		"[listen]\ntimeout = \"5\"":           "2:11: listen.timeout: \"5\"" + bare,
		"[listen]\ntimeout = true":            "2:11: listen.timeout: \"true\"" + bare,
		"[listen]\ntimeout = [1]":             "2:11: listen.timeout must be a number or text in quotes",
		"[[resource]]\nwait=\"1s\"\n[[resource]]\nwait = 2.5": "4:8: resource.wait: \"2.5\"" + bare,
		"[[resource]]\nwaits=[\"1s\", 7]":                     "2:14: resource.waits: \"7\"" + bare,
		"resource = [{name = \"a\"}, {name = true}]":          "1:35: resource.name must be text in quotes",
	} {
		err := configfile.Decode("x.toml", []byte(text), new(file))
		require.ErrorIs(t, err, configfile.ErrFile, text)
		require.Equal(t, "x.toml:"+want, err.Error(), text)
	}
}

func TestAt(t *testing.T) {
	text := []byte("state_dir = \"x\"\n[[resource]]\nname = \"a\"\n[[resource]]\n  name = \"b\"\n[listen]\naddress=1\n")
	for want, path := range map[string][]any{
		"x:1:13: p": {"state_dir"},
		"x:3:8: p":  {"resource", 0, "name"},
		"x:5:10: p": {"resource", 1, "name"},
		"x:4:3: p":  {"resource", 1, "wait"},
		"x:7:9: p":  {"listen", "address"},
		"x: p":      {"quick"},
	} {
		require.Equal(t, want, configfile.At("x", text, "p", path...).Error())
	}
	require.Equal(t, []string{"name"}, configfile.Names(text, "resource", 1))
	require.Equal(t, []string{"state_dir", "listen"}, configfile.Names(text))
	require.Empty(t, configfile.Names(text, "quick"))
}

func TestNearest(t *testing.T) {
	require.Equal(t, "ring", configfile.Nearest("rign", []string{"wandering", "ring"}))
	require.Empty(t, configfile.Nearest("sunday", []string{"wandering", "ring"}))
	require.Empty(t, configfile.Nearest("foo", []string{"run", "ca"}), "all its letters differ")
}

func TestValue_Invalid_Refused(t *testing.T) {
	for _, text := range []string{"[listen]\ntimeout = \"4\"\n", "[listen]\ntimeout = 4\n", "state_dir = 3\n", "x = [\n"} {
		require.ErrorIs(t, configfile.Decode("x.toml", []byte(text), new(file)), configfile.ErrFile, text)
	}
	require.ErrorIs(t, configfile.Decode("x.toml", make([]byte, configfile.MaxSize+1), new(file)), configfile.ErrFile)
}

// listed is a table whose keys are listed.
type listed struct {
	wait   time.Duration
	number int
	more   []one
}

func (l *listed) Places() map[string]any {
	return map[string]any{"wait": &l.wait, "number": &l.number, "more": &l.more}
}

type one struct {
	Number int           `toml:"number"`
	Wait   time.Duration `toml:"wait"`
}

func (o *one) SetDefaults() { o.Number = 7 }

func TestDecode_ListedKeys_SetWithDefaults(t *testing.T) {
	l := listed{number: 1}
	require.NoError(t, configfile.Decode("x", []byte("wait = \"4s\"\n[[more]]\n[[more]]\nnumber = 0\nwait = \"1d\"\n"), &l))
	require.Equal(t, listed{wait: 4 * time.Second, number: 1, more: []one{{Number: 7}, {Wait: 24 * time.Hour}}}, l)
	require.Equal(t, []string{"more.number", "more.wait", "number", "wait"}, configfile.Keys(&l))
	err := configfile.Decode("x", []byte("[[more]]\nwaits = 1"), &l)
	require.EqualError(t, err, "x:2:1: unknown key \"more.waits\"")
	require.EqualError(t, configfile.Decode("x", []byte("wait = 1"), &l), "x:1:8: wait: \"1\" is not a duration: write for example \"4s\", \"100ms\" or \"90d\"")
}

func TestSet(t *testing.T) {
	var f file
	set := func(key, text string) error { return configfile.Set(configfile.Place(&f, key), text) }
	require.NoError(t, set("listen.advertise", "a, b"))
	require.NoError(t, set("listen.timeout", "4s"))
	require.NoError(t, set("many", "-3"))
	require.Equal(t, []string{"a", "b"}, f.Listen.Advertise)
	require.Equal(t, 4*time.Second, f.Listen.Timeout.Duration)
	require.Equal(t, -3, *f.Many)
	require.EqualError(t, set("many", "x"), "\"x\": must be a whole number")
	require.EqualError(t, set("quick", "1"), "\"1\": must be true or false")
	require.Error(t, set("share", "x"))
	require.Error(t, set("listen.timeout", "4"))
}
