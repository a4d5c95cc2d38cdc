package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCompletion_Words_Proposed presses the tab key behind command lines. No daemon runs, so that the group file has the resources.
func TestCompletion_Words_Proposed(t *testing.T) {
	b := started(t)
	b.vars["WANDER_IDENTITY_GROUP"] = "ca/group.crt"
	b.vars["WANDER_SOCKET"] = "nobody.sock"
	for _, name := range []string{"nas-01", "nas-02", "web"} {
		b.must("ca", "issue", "--name", name)
	}
	b.must("ca", "revoke", "nas-02")
	b.must("ca", "invite", "--name", "ftp-07", "--address", "127.0.0.1:1")
	b.must("ca", "invite", "--name", "ftp-08", "--address", "127.0.0.1:1")
	b.must("ca", "invite", "--cancel", "ftp-08")
	for _, c := range []struct {
		line string // the word that was begun is behind the last space
		want string
	}{
		{"run ", "ftp"}, {"hold f", "ftp"}, {"who x", ""}, {"eta ", "ftp"}, {"release ", "ftp"}, {"gate --resource ", "ftp"},
		{"status --output ", "json text"}, {"ca serve --log-format j", "json text"}, {"run --else ", "fail run skip"}, {"plan --policy ", "multitoken ring uncoordinated wandering"},
		{"ca revoke ", "nas-01 web"}, {"ca revoke n", "nas-01"}, {"ca revoke --dir nowhere ", ""}, {"ca invite --cancel ", "ftp-07"},
		{"ca rotate ", "begin retire switch withdraw"}, {"doctor ", "CA"}, {"status ", ""},
	} {
		words := strings.Split(c.line, " ")
		lines := strings.Split(strings.TrimSpace(b.must(append([]string{cobra.ShellCompNoDescRequestCmd}, words...)...)), "\n")
		last := len(lines) - 1
		require.Equal(t, ":4", lines[last], "%s: no files", c.line)
		assert.ElementsMatch(t, strings.Fields(c.want), lines[:last], c.line)
	}
	out := b.must(cobra.ShellCompNoDescRequestCmd, "run", "ftp", "--", "")
	assert.Equal(t, ":0", strings.TrimSpace(out), "behind the resource is a command, or a file")
}
