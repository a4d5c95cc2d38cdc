package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// caBench is a folder in which commands are run.
type caBench struct {
	t        *testing.T
	dir      string
	now      time.Time
	in       string
	vars     map[string]string
	work     int // what a passphrase costs: little, as most tests are about other things
	out, err bytes.Buffer
}

func newCABench(t *testing.T) *caBench {
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	require.NoError(t, err)
	return &caBench{t: t, dir: dir, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), vars: map[string]string{}, work: 1}
}

// wander runs a command line and returns the exit code.
func (b *caBench) wander(args ...string) int {
	b.out.Reset()
	b.err.Reset()
	return run(&environment{
		Environment: cli.Environment{
			In: strings.NewReader(b.in), Out: &b.out, Err: &b.err,
			Getenv: func(name string) string { return b.vars[name] },
			Now:    func() time.Time { return b.now },
		},
		workFactor: b.work,
	}, args)
}

// must runs a command line that has to succeed and returns what it prints.
func (b *caBench) must(args ...string) string {
	b.t.Helper()
	require.Zero(b.t, b.wander(args...), "%s\n%s", strings.Join(args, " "), b.err.String())
	return b.out.String()
}

// fails runs a command line that has to fail with a code, and to say things.
func (b *caBench) fails(code int, says string, args ...string) {
	b.t.Helper()
	assert.Equal(b.t, code, b.wander(args...), "%s\n%s", strings.Join(args, " "), b.out.String()+b.err.String())
	assert.Contains(b.t, b.err.String(), says)
	assert.True(b.t, strings.HasPrefix(b.err.String(), "error: "), b.err.String())
}

func (b *caBench) write(name, text string) {
	require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
}

func (b *caBench) blocks(name string) []keyfile.Block {
	b.t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(b.t, err)
	blocks, err := keyfile.DecodeBlocks(text)
	require.NoError(b.t, err)
	return blocks
}

func (b *caBench) group() (*group.Group, group.Extra) {
	b.t.Helper()
	g, extra, err := group.Load(b.blocks("ca/group.crt"))
	require.NoError(b.t, err)
	return g, extra
}

func (b *caBench) certificate(name string) certificate.Certificate {
	b.t.Helper()
	g, _ := b.group()
	c, err := certificate.Parse(g.ID(), b.blocks(name)[0].Bytes, g)
	require.NoError(b.t, err)
	return c
}

const smallGroup = `
[[resource]]
name = "ftp"
operation_time = "4s"
members_max = 100
`

// started is a bench with an authority and a configuration.
func started(t *testing.T) *caBench {
	b := newCABench(t)
	b.write("group.toml", smallGroup)
	b.must("ca", "init", "--name", "demo", "--no-passphrase")
	b.must("ca", "config", "group.toml")
	return b
}

func TestCA_QuickStart_Works(t *testing.T) {
	b := newCABench(t)
	b.write("group.toml", smallGroup)
	b.must("ca", "init", "--dir", "ca", "--name", "demo", "--no-passphrase")
	assert.Equal(t, "warning: ca/ca.key is not encrypted\n", b.err.String())
	assert.Contains(t, b.must("ca", "config", "--dir", "ca", "group.toml"), "copy ca/group.crt")
	b.must("ca", "issue", "--dir", "ca", "--name", "a", "--out", "a")

	text, err := os.ReadFile("a.key")
	require.NoError(t, err)
	key, err := keyfile.DecodePrivateKey(text, nil)
	require.NoError(t, err)
	cert := b.certificate("a.crt")
	assert.True(t, cert.Key().Equal(key.Public()))
	assert.Equal(t, "a", cert.Name())
	assert.NoError(t, cert.ValidAt(b.now))
	for _, secret := range []string{"a.key", "ca/ca.key"} {
		info, err := os.Stat(secret)
		require.NoError(t, err)
		assert.NoError(t, keyfile.CheckMode(info.Mode()), secret)
	}
}

func TestCAInit_FolderExists_Refused(t *testing.T) {
	b := started(t)
	before, err := os.ReadFile("ca/ca.key")
	require.NoError(t, err)
	b.fails(64, "never overwritten", "ca", "init", "--name", "demo", "--no-passphrase")
	after, err := os.ReadFile("ca/ca.key")
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestCAInit_Invalid_Refused(t *testing.T) {
	b := newCABench(t)
	b.fails(64, "hint: add --name", "ca", "init", "--no-passphrase")
	b.fails(64, "invalid name", "ca", "init", "--name", "De mo", "--no-passphrase")
	b.fails(64, "lifetime", "ca", "init", "--name", "demo", "--no-passphrase", "--lifetime", "20000d")
	b.fails(64, "cannot be combined", "ca", "init", "--name", "demo", "--no-passphrase", "--passphrase-file", "x")
	b.fails(64, "--passphrase-file or WANDER_CA_PASSPHRASE", "ca", "init", "--name", "demo")
	b.fails(64, "unknown command", "ca", "initialise")
	assert.NoDirExists(t, "ca")
}

// A passphrase costs what it should where nobody is testing.
func TestCAInit_Passphrase_UsualCost(t *testing.T) {
	b := newCABench(t)
	b.vars["WANDER_CA_PASSPHRASE"], b.work = "sesame", 0
	b.must("ca", "init", "--name", "demo")
	assert.Regexp(t, fmt.Sprintf(`^age-encryption\.org/v1\n-> scrypt \S+ %d\n`, keyfile.WorkFactor), string(b.blocks("ca/ca.key")[0].Bytes))
}

func TestCA_Passphrase_Asked(t *testing.T) {
	b := newCABench(t)
	b.vars["WANDER_CA_PASSPHRASE"] = "sesame"
	b.vars["WANDER_CA_DIR"] = "else"
	b.must("ca", "init", "--name", "demo")
	assert.Empty(t, b.err.String())
	assert.Equal(t, keyfile.EncryptedPrivateKey, b.blocks("else/ca.key")[0].Type)
	delete(b.vars, "WANDER_CA_PASSPHRASE")

	b.must("ca", "list")
	b.fails(64, "no terminal to read", "ca", "issue", "--name", "a")
	assert.NoFileExists(t, "a.key", "a key that is not certified is not left behind")
	b.write("wrong", "salami\n")
	b.fails(77, "wrong passphrase", "ca", "issue", "--name", "a", "--passphrase-file", "wrong")
	b.write("right", "sesame\r\nmore\n")
	b.must("ca", "issue", "--name", "a", "--passphrase-file", "right")
	assert.Contains(t, b.err.String(), "no configuration yet")
	b.in = "sesame"
	b.must("ca", "issue", "--name", "b", "--passphrase-file", "-")

	require.NoError(t, os.Chmod("right", 0o644))
	b.fails(78, "hint: remove the permissions", "ca", "issue", "--name", "c", "--passphrase-file", "right")
	b.write("empty", "\nsesame")
	b.fails(78, "first line", "ca", "issue", "--name", "c", "--passphrase-file", "empty")
	b.fails(78, "no such file", "ca", "issue", "--name", "c", "--passphrase-file", "none")
	b.fails(78, "hint: name the folder with --dir (a package has it in /var/lib/wander-ca)", "ca", "list", "--dir", "none")
}

func TestCAIssue_Output_WrittenThere(t *testing.T) {
	b := started(t)
	require.NoError(t, os.Mkdir("members", 0o700))
	tests := []struct{ name, out, want string }{
		{"a", "", "a"}, {"b", "members", "members/b"}, {"c", "members/", "members/c"}, {"d", "members/x", "members/x"},
	}
	for _, tt := range tests {
		b.must("ca", "issue", "--name", tt.name, "--out", tt.out)
		assert.Equal(t, tt.name, b.certificate(tt.want+".crt").Name())
		assert.FileExists(t, tt.want+".key")
	}
	assert.NotZero(t, b.wander("ca", "issue", "--name", "e", "--out", "nowhere/"))
}

func TestCAIssue_KeyExists_Refused(t *testing.T) {
	b := started(t)
	b.must("ca", "issue", "--name", "a")
	b.fails(64, "hint: to certify the existing key, give --key a.key", "ca", "issue", "--name", "a")
	require.NoError(t, os.Remove("a.key"))
	b.fails(64, "a.crt already exists", "ca", "issue", "--name", "a")
	assert.NoFileExists(t, "a.key")
}

// TestCAIssue_KilledAndRevoked_MakesANewMember: the member of a run that was killed
// may have been revoked before the next one.
func TestCAIssue_KilledAndRevoked_MakesANewMember(t *testing.T) {
	b := started(t)
	b.must("ca", "issue", "--name", "a")
	dead := b.certificate("a.crt").Member()
	require.NoError(t, os.Rename("a.key", ".a.key.new"))
	require.NoError(t, os.Remove("a.crt"))
	b.must("ca", "revoke", "a")
	b.must("ca", "issue", "--name", "a")
	assert.NotEqual(t, dead, b.certificate("a.crt").Member())
	assert.NoFileExists(t, ".a.key.new")
}

// TestCAIssue_Refused_LeavesNothing: no key lies about to which nothing was issued.
func TestCAIssue_Refused_LeavesNothing(t *testing.T) {
	b := started(t)
	b.must("ca", "issue", "--name", "a", "--out", "other")
	b.fails(64, "name is in use", "ca", "issue", "--name", "a")
	left, err := filepath.Glob(".a.key*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestNewMember_KeyTakenAway_IsWrittenAgain: two runs for one name share a pending
// key; the one that has made it may fail and remove it.
func TestNewMember_KeyTakenAway_IsWrittenAgain(t *testing.T) {
	m := newMember{filepath.Join(t.TempDir(), "a")}
	key, made, err := m.key()
	require.NoError(t, err)
	require.True(t, made)
	same, made, err := m.key()
	require.NoError(t, err)
	require.False(t, made)
	require.True(t, same.Public().Equal(key.Public()))
	require.NoError(t, os.Remove(m.pendingKey()))
	require.NoError(t, m.nameKey(same))
	found, err := readPrivateKey(m.keyFile())
	require.NoError(t, err)
	require.True(t, found.Public().Equal(key.Public()))
}

// TestCAIssue_NoFolder_NothingIssued: where the files cannot be written nothing is
// signed, whoever has made the key.
func TestCAIssue_NoFolder_NothingIssued(t *testing.T) {
	b := started(t)
	b.must("ca", "issue", "--name", "a")
	b.write("file", "")
	before := b.must("ca", "list", "--output", "json")
	for _, out := range []string{"nowhere/x", "nowhere/", "file/x"} {
		b.fails(64, "\nhint: make the folder first, or name another with --out", "ca", "issue", "--name", "b", "--out", out)
		b.fails(64, "\nhint: make the folder first, or name another with --out", "ca", "issue", "--name", "a", "--key", "a.key", "--out", out)
	}
	assert.Equal(t, before, b.must("ca", "list", "--output", "json"))
}

func TestCAIssue_ExistingKey_Used(t *testing.T) {
	b := started(t)
	b.must("ca", "issue", "--name", "a", "--lifetime", "1d")
	first := b.certificate("a.crt")
	assert.Equal(t, 24*time.Hour, first.Body().NotAfter.Sub(first.Body().IssuedAt))
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{7}, signature.SeedSize))
	require.NoError(t, err)
	block, err := keyfile.EncodePublicKey(key.Public())
	require.NoError(t, err)
	text, err := keyfile.EncodeBlocks(block)
	require.NoError(t, err)
	b.write("public", string(text))

	for _, file := range []string{"a.key", "a.crt"} {
		b.must("ca", "issue", "--name", "a", "--key", file)
		renewed := b.certificate("a.crt")
		assert.Equal(t, first.Member(), renewed.Member())
		assert.Greater(t, renewed.Body().Serial, first.Body().Serial)
	}
	b.must("ca", "issue", "--name", "p", "--key", "public")
	assert.True(t, b.certificate("p.crt").Key().Equal(key.Public()))
	assert.NoFileExists(t, "p.key")

	b.fails(78, "give --key", "ca", "issue", "--name", "x", "--key", "ca/ca.crt")
	b.fails(78, "give --key", "ca", "issue", "--name", "x", "--key", "ca/group.crt")
	b.fails(78, "no such file", "ca", "issue", "--name", "x", "--key", "none")
	b.fails(64, "the CA key", "ca", "issue", "--name", "x", "--key", "ca/ca.key")
	assert.NoFileExists(t, "x.crt")
}

func TestCAIssue_Invalid_Refused(t *testing.T) {
	b := started(t)
	b.fails(64, "hint: add --name", "ca", "issue")
	b.fails(64, "invalid member name", "ca", "issue", "--name", "A")
	b.fails(64, "lifetime out of range", "ca", "issue", "--name", "a", "--lifetime", "91d")
	b.fails(64, "not a duration", "ca", "issue", "--name", "a", "--lifetime", "91")
	b.must("ca", "issue", "--name", "a")
	b.fails(64, "name is in use", "ca", "issue", "--name", "a", "--out", "other")
	assert.NoFileExists(t, "other.key")
	b.fails(78, "hint: name the folder with --dir", "ca", "issue", "--name", "b", "--dir", "nowhere")
	require.NoError(t, os.Chmod("ca/ca.key", 0o644))
	b.fails(78, "permissions too open", "ca", "issue", "--name", "b")
	b.now = b.now.AddDate(11, 0, 0)
	require.NoError(t, os.Chmod("ca/ca.key", 0o600))
	b.fails(77, "CA certificate has expired", "ca", "issue", "--name", "b")
}

func TestCARevoke(t *testing.T) {
	b := started(t)
	b.must("ca", "issue", "--name", "a")
	b.must("ca", "issue", "--name", "b")
	b.must("ca", "issue", "--name", "c")
	assert.Contains(t, b.must("ca", "revoke", "a", "--reason", "stolen"), "version 1 of the revocation list")
	b.must("ca", "revoke", b.certificate("b.crt").Member().String())
	b.must("ca", "revoke", "--serial", "3")
	assert.Contains(t, b.must("ca", "revoke", "a"), "nothing to do")

	g, extra := b.group()
	require.Len(t, extra.Revocations, 3)
	r, err := certificate.ParseRevocation(g.ID(), extra.Revocations[0], g)
	require.NoError(t, err)
	assert.Equal(t, "stolen", r.Body().Reason)
	assert.Equal(t, b.certificate("a.crt").Member(), r.Body().Member)

	b.fails(77, "never certified again", "ca", "issue", "--name", "a", "--key", "a.key")
	b.fails(64, "no such member", "ca", "revoke", "nobody")
	b.fails(64, "no such member", "ca", "revoke", "--serial", "9")
	b.fails(64, "error: no member specified\nhint: give a name", "ca", "revoke")
	b.fails(64, "error: member specified in 2 ways\nhint: give only one of", "ca", "revoke", "a", "--serial", "1")
	b.fails(64, "invalid reason", "ca", "revoke", ident.Member{1}.String(), "--reason", "a\nb")
}

func TestCAList(t *testing.T) {
	b := started(t)
	b.must("ca", "issue", "--name", "a", "--lifetime", "1d")
	b.must("ca", "issue", "--name", "b")
	b.must("ca", "issue", "--name", "c")
	b.must("ca", "revoke", "b", "--reason", "stolen")
	b.now = b.now.AddDate(0, 0, 2)

	var r caReport
	require.NoError(t, json.Unmarshal([]byte(b.must("ca", "list", "--output", "json")), &r))
	g, _ := b.group()
	assert.Equal(t, 1, r.V)
	assert.Equal(t, g.ID(), r.Group)
	assert.Equal(t, "demo", r.Name)
	assert.Equal(t, uint64(1), r.ConfigurationVersion)
	assert.Equal(t, uint64(1), r.RevocationVersion)
	require.Len(t, r.Certificates, 3)
	assert.Equal(t, []string{"expired", "revoked", "valid"}, []string{r.Certificates[0].State, r.Certificates[1].State, r.Certificates[2].State})
	assert.Equal(t, b.certificate("b.crt").Member(), r.Revocations[0].Member)
	assert.Equal(t, "stolen", r.Revocations[0].Reason)

	text := b.must("ca", "list")
	for _, want := range []string{"group demo", "SERIAL", "expired", "revoked", "stolen"} {
		assert.Contains(t, text, want)
	}
	b.now = b.now.AddDate(0, 0, -9)
	assert.Contains(t, b.must("ca", "list"), "not_yet_valid")
	b.fails(64, "text or json", "ca", "list", "--output", "xml")
}

func TestCA_Damage_Reported(t *testing.T) {
	b := started(t)
	log, err := os.ReadFile(filepath.Join("ca", ca.LogFile))
	require.NoError(t, err)
	log[50] ^= 1
	b.write(filepath.Join("ca", ca.LogFile), string(log))
	b.fails(78, "ca/log.jsonl is damaged at line 1", "ca", "list")
}

// Revoking ends the open invites for the name, and one can be taken back alone.
func TestCAInvite_Cancelled_Ended(t *testing.T) {
	b := started(t)
	s := b.serve()
	b.must("join", b.invited("a", s.address), "--dir", "a")
	b.fails(64, "choose another --name", "ca", "invite", "--name", "a", "--address", s.address)
	b.must("ca", "revoke", "a")
	assert.NotContains(t, b.out.String(), "took back")
	back, spare := b.invited("a", s.address), b.invited("a", s.address)
	b.must("join", back, "--dir", "again")
	out := b.must("ca", "revoke", "a", "--reason", "stolen")
	assert.Contains(t, out, "revoked invite")
	assert.Contains(t, out, "for a\n")
	assert.Contains(t, out, "or let wander ca serve publish it")
	b.fails(77, "works once", "join", spare, "--dir", "thief")

	line := b.invited("b", s.address)
	b.fails(64, "with --dir only", "ca", "invite", "--cancel", "b", "--name", "b")
	assert.Contains(t, b.must("ca", "invite", "--cancel", "b"), "revoked invite")
	assert.Contains(t, b.must("ca", "invite", "--cancel", "b"), "nothing to do")
	b.fails(64, "wander ca list shows the invites", "ca", "invite", "--cancel", "c")
	b.fails(77, "works once", "join", line, "--dir", "b")
	assert.Regexp(t, ` b +member +2026-.* UTC +cancelled`, b.must("ca", "list"))
}

// A user who copies the files for members can read them.
func TestCA_PublicFiles_Readable(t *testing.T) {
	started(t)
	for name, mode := range map[string]os.FileMode{"group.crt": 0o644, "ca.crt": 0o644, "ca.key": 0o600, "log.jsonl": 0o600} {
		info, err := os.Stat(filepath.Join("ca", name))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm(), name)
	}
}

// A file where the authority's folder is wanted, and one that belongs to another
// user, which root has no way to show.
func TestCA_FolderInvalid_Refused(t *testing.T) {
	b := newCABench(t)
	b.write("file", "")
	b.fails(cli.ExitConfiguration, "\nhint: name the authority's folder with --dir", "ca", "list", "--dir", "file")
	var exit *cli.Error
	require.ErrorAs(t, caError(fs.ErrPermission), &exit)
	assert.Equal(t, cli.ExitConfiguration, exit.Code)
	assert.Contains(t, exit.Hint, "run this as the owner of the authority's folder")
}
