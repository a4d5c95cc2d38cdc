package corpus

import (
	"errors"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/configfile"
)

// ToldWell checks an error about a configuration file: it is one line, and has a place
// unless it is about the whole file. It reports whether there is none.
func ToldWell(t require.TestingT, err error) bool {
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

// BadFiles returns seeds that the reader of any configuration file refuses.
func BadFiles() map[string][]byte {
	return map[string][]byte{
		"bad-syntax":  []byte("x = [\n"),
		"bad-key":     []byte("adress = 1\n"),
		"bad-control": []byte("x = \"\x00\"\n"),
		"bad-twice":   []byte("[a]\n[a]\n"),
		"bad-date":    []byte("x = 2026-13-01\n"),
	}
}
