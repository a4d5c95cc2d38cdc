package configfile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/configfile"
)

type file struct {
	Dir    string `toml:"state_dir"`
	Listen struct {
		Address   string              `toml:"address"`
		Advertise []string            `toml:"advertise"`
		Timeout   configfile.Duration `toml:"timeout"`
	} `toml:"listen"`
	Resources []struct {
		Name string `toml:"name"`
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

func TestFaultsNamePlaceAndRemedy(t *testing.T) {
	for name, c := range map[string]struct{ text, want, hint string }{
		"unknown key":           {"[listen]\nadress = \":1\"\n", `x.toml:2:1: unknown key "listen.adress"`, `did you mean "listen.address"?`},
		"unknown, nothing near": {"colour = 1\n", `x.toml:1:1: unknown key "colour"`, ""},
		"unknown in a list":     {"[[resource]]\nnam = \"ftp\"\n", `x.toml:2:1: unknown key "resource.nam"`, `did you mean "resource.name"?`},
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

func TestBadValuesAreRefused(t *testing.T) {
	for _, text := range []string{"[listen]\ntimeout = \"4\"\n", "[listen]\ntimeout = 4\n", "state_dir = 3\n", "x = [\n"} {
		require.ErrorIs(t, configfile.Decode("x.toml", []byte(text), new(file)), configfile.ErrFile, text)
	}
	require.ErrorIs(t, configfile.Decode("x.toml", make([]byte, configfile.MaxSize+1), new(file)), configfile.ErrFile)
}
