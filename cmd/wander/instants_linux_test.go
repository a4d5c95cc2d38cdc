package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/instants"
	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/certificate"
)

// interruption is a command that is killed at every instant.
type interruption struct {
	prepare func(b *caBench)
	args    func(b *caBench) []string
	folder  string                         // in which the command writes
	half    func(s instants.State) string  // what of a state a kill must not leave
	skip    func(s instants.State) bool    // states after which the same command cannot be run again
	between func()                         // called before the command runs in each state
	again   int                            // exit code of the same command after it was done
	done    func(t *testing.T, b *caBench) // what must hold when the command was run again
}

// TestCommands_KilledAtAnyInstant_CanBeRunAgain runs each command that writes files
// that matter, takes each state of its folder that a kill can leave, and runs the
// same command again there. After that all is as if nobody had been killed, and
// nothing lies about. The short form takes every eighth state and the last one.
func TestCommands_KilledAtAnyInstant_CanBeRunAgain(t *testing.T) {
	var line string // an invite
	var authority *served
	for name, c := range map[string]interruption{
		"ca init": {
			prepare: func(*caBench) { require.NoError(t, os.RemoveAll("ca")) },
			args:    command("ca", "init", "--name", "demo", "--no-passphrase"), folder: ".", again: cli.ExitUsage,
			done: func(t *testing.T, b *caBench) { assert.Empty(t, listed(b).Certificates) },
		},
		"ca config": {
			prepare: func(b *caBench) { b.write("group.toml", smallGroup+"min_interval = \"9s\"\n") },
			args:    command("ca", "config", "group.toml"), folder: ".",
			done: func(t *testing.T, b *caBench) { assert.EqualValues(t, 2, listed(b).ConfigurationVersion) },
		},
		"ca issue": {
			args: command("ca", "issue", "--name", "a"), folder: ".", again: cli.ExitUsage,
			half: func(s instants.State) string {
				if has(s, "a.key") && !has(s, "a.crt") {
					return "a key without a certificate"
				}
				return ""
			},
			done: func(t *testing.T, b *caBench) { checkPair(t, b, "a") },
		},
		"ca issue --out": {
			prepare: func(*caBench) { require.NoError(t, os.Mkdir("out", 0o700)) },
			args:    command("ca", "issue", "--name", "a", "--out", "out/"), folder: ".", again: cli.ExitUsage,
			done: func(t *testing.T, b *caBench) { checkPair(t, b, "out/a") },
		},
		"ca issue --key": {
			prepare: func(b *caBench) { b.must("ca", "issue", "--name", "a") },
			args:    command("ca", "issue", "--name", "a", "--key", "a.crt"), folder: ".",
			done: func(t *testing.T, b *caBench) { checkPair(t, b, "a") },
		},
		"ca issue --request": {
			prepare: func(b *caBench) { b.must("join", "--request", "--name", "a", "--group", "ca/group.crt", "--dir", "m") },
			args:    command("ca", "issue", "--request", "m/member.req"), folder: ".",
			done: func(t *testing.T, b *caBench) {
				b.must("join", "--install", "a.crt", "--group", "ca/group.crt", "--dir", "m")
			},
		},
		"ca invite": {
			args: command("ca", "invite", "--name", "a", "--address", "ca:4134"), folder: ".",
			done: func(t *testing.T, b *caBench) { assert.NotEmpty(t, listed(b).Invites) },
		},
		"ca rotate begin": {
			args: command("ca", "rotate", "begin"), folder: ".", again: cli.ExitUsage,
			done: func(t *testing.T, b *caBench) { assert.Len(t, listed(b).Keys, 2) },
		},
		"ca rotate switch": {
			prepare: func(b *caBench) { b.must("ca", "rotate", "begin") },
			args:    command("ca", "rotate", "switch"), folder: ".", again: cli.ExitUsage,
			done: func(t *testing.T, b *caBench) { b.must("ca", "issue", "--name", "new") },
		},
		"ca rotate retire": {
			prepare: func(b *caBench) { b.must("ca", "rotate", "begin"); b.must("ca", "rotate", "switch") },
			args:    command("ca", "rotate", "retire"), folder: ".", again: cli.ExitUsage,
			done: func(t *testing.T, b *caBench) { b.must("ca", "issue", "--name", "new") },
		},
		"ca rotate withdraw": {
			prepare: func(b *caBench) { b.must("ca", "rotate", "begin") },
			args:    command("ca", "rotate", "withdraw"), folder: ".", again: cli.ExitUsage,
			done: func(t *testing.T, b *caBench) { b.must("ca", "issue", "--name", "new") },
		},
		"ca revoke": {
			prepare: func(b *caBench) { b.must("ca", "issue", "--name", "a") },
			args:    command("ca", "revoke", "a"), folder: ".",
			done: func(t *testing.T, b *caBench) { assert.Len(t, listed(b).Revocations, 1) },
		},
		"join": {
			prepare: func(b *caBench) { line = b.invited("a", b.serve().address) },
			args:    func(*caBench) []string { return []string{"join", line, "--dir", "m"} }, folder: "m",
			skip: func(s instants.State) bool { return !has(s, "member.key") }, // the invite was used with the key
			done: func(t *testing.T, b *caBench) { assert.Equal(t, "a", b.identity("m").Certificate.Name()) },
		},
		"join --request": {
			args: command("join", "--request", "--name", "a", "--group", "ca/group.crt", "--dir", "m"), folder: "m",
			done: func(t *testing.T, b *caBench) {
				r, err := certificate.ParseRequest(listed(b).Group, b.blocks("m/member.req")[0].Bytes)
				require.NoError(t, err)
				key, err := readPrivateKey("m/member.key")
				require.NoError(t, err)
				assert.True(t, r.Key().Equal(key.Public()))
			},
		},
		"join --install": {
			prepare: func(b *caBench) {
				b.must("join", "--request", "--name", "a", "--group", "ca/group.crt", "--dir", "m")
				b.must("ca", "issue", "--request", "m/member.req")
			},
			args: command("join", "--install", "a.crt", "--group", "ca/group.crt", "--dir", "m"), folder: "m",
			done: func(t *testing.T, b *caBench) { assert.Equal(t, "a", b.identity("m").Certificate.Name()) },
		},
		"cert renew": {
			prepare: func(b *caBench) {
				authority = b.serve()
				b.must("join", b.invited("a", authority.address), "--dir", "m")
				b.must("ca", "rotate", "begin")
				b.must("ca", "rotate", "switch")
			},
			args: command("cert", "renew", "--config", "m/wander.toml"), folder: "m",
			// A renewal is two requests; the authority grants one member that many in 10 s.
			between: func() { authority.ahead.Add(int64(10 * time.Second)) },
			done: func(t *testing.T, b *caBench) {
				id := b.identity("m")
				assert.Equal(t, id.Group.Config().Signer(), id.Certificate.Authority())
			},
		},
	} {
		t.Run(name, func(t *testing.T) { c.run(t) })
	}
}

func (c interruption) run(t *testing.T) {
	b := started(t)
	b.now = time.Now()
	if c.prepare != nil {
		c.prepare(b)
	}
	require.NoError(t, os.MkdirAll(c.folder, 0o755))
	args := c.args(b)
	states := statesOf(t, c.folder, args)
	require.Greater(t, len(states), 3)
	t.Logf("%d states", len(states))
	for i, s := range states {
		if whole.Spares(i, 8) && i < len(states)-1 {
			continue
		}
		restore(t, c.folder, s)
		if c.half != nil {
			require.Empty(t, c.half(s), s)
		}
		if c.skip != nil && c.skip(s) {
			continue
		}
		if c.between != nil {
			c.between()
		}
		code := b.wander(args...)
		if c.again == 0 || code != c.again {
			require.Zero(t, code, "state %d of %d: %s%s", i, len(states), b.err.String(), s)
		}
		c.done(t, b)
		checkTidy(t, c.folder)
	}
}

// command is a command line that is the same for every bench.
func command(args ...string) func(*caBench) []string {
	return func(*caBench) []string { return args }
}

// statesOf runs a command as a process of its own.
func statesOf(t *testing.T, folder string, args []string) []instants.State {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)
	defer output.Close()
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	cmd.Stdout, cmd.Stderr = output, output
	states, code, err := instants.Of(cmd, folder)
	if errors.Is(err, instants.ErrNotPermitted) {
		t.Skip(err)
	}
	require.NoError(t, err)
	text, err := os.ReadFile(output.Name())
	require.NoError(t, err)
	require.Zero(t, code, "%s", text)
	return states
}

// restore gives a folder the state, an hour ago.
func restore(t *testing.T, folder string, s instants.State) {
	t.Helper()
	if folder == "." {
		t.Chdir(t.TempDir())
	} else {
		require.NoError(t, os.RemoveAll(folder))
	}
	require.NoError(t, s.Write(folder))
	hourAgo := time.Now().Add(-time.Hour)
	for name := range s {
		require.NoError(t, os.Chtimes(filepath.Join(folder, name), hourAgo, hourAgo))
	}
}

// unfinished matches the names of files that are being written.
var unfinished = regexp.MustCompile(`(\.tmp|\.new)$`)

func checkTidy(t *testing.T, folder string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
		assert.False(t, unfinished.MatchString(name), name)
		return err
	}))
}

// checkPair: the key and the certificate belong together, and to the only member.
func checkPair(t *testing.T, b *caBench, prefix string) {
	t.Helper()
	text, err := os.ReadFile(prefix + ".key")
	require.NoError(t, err)
	key, err := keyfile.DecodePrivateKey(text, nil)
	require.NoError(t, err)
	require.True(t, b.certificate(prefix+".crt").Key().Equal(key.Public()))
	for _, c := range listed(b).Certificates {
		require.Equal(t, b.certificate(prefix+".crt").Member(), c.Member)
	}
}

func listed(b *caBench) (r caReport) {
	b.t.Helper()
	require.NoError(b.t, json.NewDecoder(bytes.NewBufferString(b.must("ca", "list", "--output", "json"))).Decode(&r))
	return r
}

func has(s instants.State, name string) bool { _, ok := s[name]; return ok }
