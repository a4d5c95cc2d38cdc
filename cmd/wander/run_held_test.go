//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/ident"
)

// nesting grants every resource, but none within its own grant.
func nesting() *fakeDaemon {
	return newFakeDaemon(func(_ context.Context, r api.AcquireRequest) (api.HeldGrant, error) {
		id := ident.Grant{r.Resource[0]}
		for _, held := range r.Held {
			if held == id {
				return nil, api.ErrHeld
			}
		}
		held := testGrant(time.Hour)
		held.grant.ID, held.grant.Resource = id, r.Resource
		return held, nil
	})
}

func TestRun_WithinItself_RefusedAtOnce(t *testing.T) {
	socket := runSocket(t)
	nesting().listen(t, socket)
	other := runSocket(t)
	granting(testGrant(time.Hour)).listen(t, other)
	self, err := os.Executable()
	require.NoError(t, err)
	inner := fmt.Sprintf("%s=1 WANDER_SOCKET='%s' '%s' run", programVariable, socket, self)
	for name, c := range map[string]struct {
		script string
		code   int
		says   string
	}{
		"same":             {inner + ` ftp -q --else skip -- echo ran`, cli.ExitUsage, "error: ftp: held already by the run that this program belongs to\nhint: "},
		"through another":  {inner + ` tape -- sh -c "` + inner + ` ftp -- echo ran"`, cli.ExitUsage, "error: ftp: held"},
		"another":          {inner + ` tape -c 'test "$WANDER_HELD" = "` + heldText("ftp", "tape") + `" && exit 7'`, 7, ""},
		"after the other":  {inner + ` tape -- true && ` + inner + ` tape -c 'exit 7'`, 7, ""},
		"another member":   {fmt.Sprintf("%s --socket '%s' ftp -c 'exit 7'", inner, other), 7, ""},
		"its own resource": {`test "$WANDER_HELD" = "` + heldText("ftp") + `" && exit 7`, 7, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := startRun(t, socket, "ftp", "-c", c.script)
			p.stdin.Close()
			assert.Equal(t, c.code, p.end(t), p.stderr.String())
			p.expectAllDead(t)
			assert.Contains(t, p.stderr.String(), c.says)
			assert.NotContains(t, p.stderr.String(), "processes that the command left behind")
		})
	}
}

func heldText(resources ...string) string {
	var entries []string
	for _, r := range resources {
		entries = append(entries, r+"="+ident.Grant{r[0]}.String())
	}
	return strings.Join(entries, ",")
}

func TestHeld_Malformed_ConfigurationError(t *testing.T) {
	for _, text := range []string{"ftp", ",", "ftp=", "ftp=12", "=" + ident.Grant{}.String(), heldText("ftp") + ",", strings.Repeat(heldText("ftp")+",", api.MaxHeld) + heldText("ftp")} {
		_, err := readHeld(environ(map[string]string{heldVariable: text}).Getenv)
		var exit *cli.Error
		require.ErrorAs(t, err, &exit, text)
		assert.Equal(t, cli.ExitConfiguration, exit.Code)
		assert.NotEmpty(t, exit.Hint)
	}
	h, err := readHeld(environ(map[string]string{heldVariable: heldText("ftp", "tape")}).Getenv)
	require.NoError(t, err)
	assert.Equal(t, []ident.Grant{{'f'}, {'t'}}, h.grants)
}

// TestSocket_Environment_StandsInForTheFlag, over the settings and under the flag.
func TestSocket_Environment_StandsInForTheFlag(t *testing.T) {
	env := environ(map[string]string{socketVariable: "/here", "WANDER_API_SOCKET": "/daemon"})
	path, err := socketPath(env, "")
	require.NoError(t, err)
	assert.Equal(t, "/here", path)
	path, err = socketPath(env, "/flag")
	require.NoError(t, err)
	assert.Equal(t, "/flag", path)
	path, err = socketPath(environ(map[string]string{"WANDER_API_SOCKET": "/daemon"}), "")
	require.NoError(t, err)
	assert.Equal(t, "/daemon", path)
}
