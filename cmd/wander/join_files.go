package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// defaultJoinDir is where join writes when nobody says: where a node looks.
const defaultJoinDir = "/etc/wander"

// memberHome is a folder with the files of one member.
type memberHome struct{ dir string }

func (h memberHome) file(name string) string { return filepath.Join(h.dir, name) }
func (h memberHome) keyFile() string         { return h.file("member.key") }
func (h memberHome) certificate() string     { return h.file("member.crt") }
func (h memberHome) group() string           { return h.file("group.crt") }
func (h memberHome) config() string          { return h.file("wander.toml") }
func (h memberHome) request() string         { return h.file("member.req") }

func (h memberHome) identity() (node.Identity, error) {
	return node.LoadIdentity(h.certificate(), h.keyFile(), h.group())
}

// stateDir is the one that the settings name, "" if they cannot be read.
func (h memberHome) stateDir(env *environment) string {
	s, err := loadSettings(env, h.config())
	if err != nil {
		return ""
	}
	return s.StateDir
}

const otherDirHint = "choose another folder with --dir: existing files are never overwritten"

// check makes the folder, and refuses one where somebody else lives. It is done
// when the member lives there already, with a valid certificate and all its
// files, and refuses one that is a member no more.
func (h memberHome) check(env *environment, g ident.Group, name string) (done bool, err error) {
	if err := os.MkdirAll(h.dir, 0o755); err != nil {
		return false, cli.ConfigError(err, "choose another folder with --dir")
	}
	atomicfile.Sweep(h.dir)
	if exists(h.group()) {
		if there, err := cli.LoadGroup(h.group()); err != nil {
			return false, cli.ConfigError(err, otherDirHint)
		} else if there.ID() != g {
			return false, cli.ConfigError(fmt.Errorf("%s is of another group, %s", h.group(), there.Name()), otherDirHint)
		}
	}
	if !exists(h.certificate()) {
		return false, nil
	}
	id, err := h.identity()
	if errors.Is(err, keyfile.ErrMode) {
		return false, cli.ConfigError(err, "remove the permissions of other users: chmod 600 "+h.keyFile())
	}
	if err != nil {
		return false, cli.ConfigError(err, otherDirHint)
	}
	if id.Certificate.Name() != name {
		return false, cli.ConfigError(fmt.Errorf("%s is member %s of the group already", h.dir, id.Certificate.Name()), otherDirHint)
	}
	if err := departed(id, h.stateDir(env)); err != nil {
		return false, deadError(fmt.Errorf("member %s in %s: %w", name, h.dir, err))
	}
	counts := id.Certificate.ValidAt(env.Now()) == nil && id.Group.Key(id.Certificate.Authority()) != nil
	return counts && exists(h.config()), nil
}

// key is the folder's private key, made if there is none: whole and durable, or
// not there. It is before anything is sent.
func (h memberHome) key() (*signature.PrivateKey, error) {
	key, err := readPrivateKey(h.keyFile())
	if errors.Is(err, fs.ErrNotExist) {
		return h.makeKey()
	}
	return key, err
}

// readPrivateKey reads a key that is not encrypted and that nobody else may read.
func readPrivateKey(name string) (*signature.PrivateKey, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := keyfile.CheckMode(info.Mode()); err != nil {
		return nil, cli.ConfigError(fmt.Errorf("%s: %w", name, err), "remove the permissions of other users: chmod 600 "+name)
	}
	text, err := cli.ReadSmall(name, maxKeyFile)
	if err != nil {
		return nil, err
	}
	key, err := keyfile.DecodePrivateKey(text, nil)
	if err != nil {
		return nil, cli.ConfigError(fmt.Errorf("%s: %w", name, err), otherDirHint)
	}
	return key, nil
}

func (h memberHome) makeKey() (*signature.PrivateKey, error) {
	key, err := signature.Generate(rand.Reader)
	if err != nil {
		return nil, err
	}
	err = createKey(h.keyFile(), key)
	if errors.Is(err, fs.ErrExist) {
		return h.key() // another join was faster
	}
	return key, err
}

// createKey writes a key to a file that must not exist, for its owner only.
func createKey(name string, key *signature.PrivateKey) error {
	text, err := keyfile.EncodePrivateKey(key)
	if err != nil {
		return err
	}
	return atomicfile.Create(name, text, 0o600)
}

// forgetKey removes a key that was made for a join which the CA has refused:
// nothing was issued to it. Another machine that has become a member with it meanwhile
// keeps it.
func (h memberHome) forgetKey(made *signature.PrivateKey) {
	there, err := h.key()
	if err == nil && there.Public().Equal(made.Public()) && !exists(h.certificate()) {
		_ = os.Remove(h.keyFile()) // one that stays is used by the next join
	}
}

// finish writes the files of a new member and reports it. pinned is the fingerprint of the
// CA key by which the group is trusted.
func (f joinFlags) finish(env *environment, h memberHome, e enrolment.Enrolled, pinned [16]byte) error {
	kept, err := h.write(f, e)
	if err == nil {
		h.report(env, e, pinned, kept)
	}
	return err
}

// write writes what a node, or a gate, needs, the certificate behind the group that vouches
// for it. It reports whether it kept settings that were there.
func (h memberHome) write(f joinFlags, e enrolment.Enrolled) (kept bool, err error) {
	if err := putGroup(h.group(), e.Group, extraOf(e)); err != nil {
		return false, err
	}
	if err := putCertificate(h.certificate(), e.Certificate); err != nil {
		return false, err
	}
	text, err := f.settings(e)
	if err != nil {
		return false, err
	}
	err = atomicfile.Create(h.config(), text, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	return false, err
}

func extraOf(e enrolment.Enrolled) group.Extra {
	extra := group.Extra{Revocations: e.Revocations, Leaves: e.Leaves}
	for _, p := range e.Peers {
		extra.Certificates = append(extra.Certificates, p.Certificate)
		extra.Endpoints = append(extra.Endpoints, p.Endpoint)
	}
	return extra
}

// putGroup writes a group file.
func putGroup(name string, g *group.Group, extra group.Extra) error {
	blocks := g.Blocks()
	for _, part := range []struct {
		kind string
		list [][]byte
	}{
		{keyfile.Certificate, extra.Certificates}, {keyfile.Endpoint, extra.Endpoints},
		{keyfile.Revocation, extra.Revocations}, {keyfile.Leave, extra.Leaves},
	} {
		for _, raw := range part.list {
			blocks = append(blocks, keyfile.Block{Type: part.kind, Bytes: raw})
		}
	}
	text, err := keyfile.EncodeBlocks(blocks...)
	if err != nil {
		return err
	}
	return atomicfile.Replace(name, text, 0o644)
}

func putCertificate(name string, c certificate.Certificate) error {
	text, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: c.Raw()})
	if err != nil {
		return err
	}
	return atomicfile.Replace(name, text, 0o644)
}

// report shows who the member is, what to compare, and which files were written.
// Settings that were kept are not among them.
func (h memberHome) report(env *environment, e enrolment.Enrolled, pinned [16]byte, kept bool) {
	c := e.Certificate.Body()
	as := c.Name
	if c.Role == certificate.GateRole {
		as = "gate " + c.Name
	}
	fmt.Fprintf(env.Out, "joined group %s as %s\n", e.Group.Name(), as)
	fmt.Fprintf(env.Out, "CA key %s (the CA's operator sees the same)\n", certificate.FormatFingerprint(pinned))
	fmt.Fprintf(env.Out, "%-6v %v, certificate %d, valid until %s\n", c.Role.String(), e.Certificate.Member(), c.Serial, c.NotAfter.Format(time.DateTime+" MST"))
	fmt.Fprintf(env.Out, "key    %s\n", certificate.Fingerprint(e.Certificate.Key()))
	written := []string{h.keyFile(), h.certificate(), h.group()}
	if !kept {
		written = append(written, h.config())
	}
	fmt.Fprintf(env.Out, "wrote  %s\n", strings.Join(written, ", "))
	if kept {
		fmt.Fprintf(env.Out, "kept   %s as it was: flags change no settings that are there\n", h.config())
	}
}

// checkSettings refuses what must not get into wander.toml.
func (f joinFlags) checkSettings() error {
	for _, address := range append(append([]string(nil), f.advertise...), f.caAddress...) {
		if err := certificate.CheckAddress(address); err != nil {
			return &cli.Error{Code: cli.ExitUsage, Err: err, Hint: "for example ftp-03.example.org:4133 or [2001:db8::1]:4133"}
		}
	}
	if f.listen != "" {
		if err := checkListen(f.listen); err != nil {
			return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("--listen %q: %w", f.listen, err), Hint: `for example [::]:4133, or "" to only dial out`}
		}
	}
	if len(f.advertise) > certificate.MaxAddresses {
		return cli.UsageError("%d addresses to advertise, at most %d", len(f.advertise), certificate.MaxAddresses)
	}
	if (f.resource == "") != (len(f.command) == 0) {
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("a resource and its command go together"), Hint: "for example --resource ftp -- /usr/local/bin/mirror"}
	}
	for _, text := range append([]string{f.listen, f.stateDir, f.resource}, f.command...) {
		if !utf8.ValidString(text) {
			return cli.UsageError("%q: text that a settings file cannot hold", text)
		}
	}
	return nil
}

// checkListen refuses what no daemon can listen on, whatever the machine.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if port == "" {
		return errors.New("the port is missing")
	}
	_, err = net.LookupPort("udp", port)
	return err
}

// settings is the text of wander.toml. Paths are relative to its folder. That of a gate has what is the same for
// both: the identity, state_dir and the CA's address.
func (f joinFlags) settings(e enrolment.Enrolled) ([]byte, error) {
	state := f.stateDir
	switch {
	case state == "" && f.dir == defaultJoinDir:
		state = defaultSettings().StateDir
	case state == "":
		state = "state"
	}
	var s settings
	s.StateDir = state
	s.Identity.Certificate, s.Identity.Key, s.Identity.Group = "member.crt", "member.key", "group.crt"
	s.CA.Address = f.caAddress
	if e.Certificate.Role() == certificate.MemberRole {
		s.Listen.Address, s.Listen.Advertise = f.listen, f.advertise
		s.Bootstrap.Peers = peerAddresses(e)
		s.Operation.Resource, s.Operation.Command = f.resource, f.command
	}
	text, err := toml.Marshal(s)
	return append([]byte("# Written by wander join; docs/configuration.md explains every key.\n"), text...), err
}

// peerAddresses is where the peers can be reached: of each the address that it
// prefers.
func peerAddresses(of enrolment.Enrolled) []string {
	var list []string
	for _, p := range of.Peers {
		c, err := certificate.Parse(of.Group.ID(), p.Certificate, of.Group)
		if err != nil {
			continue
		}
		e, err := certificate.ParseEndpoint(of.Group.ID(), p.Endpoint, c.Key())
		if err == nil && len(e.Body().Addresses) > 0 {
			list = append(list, e.Body().Addresses[0])
		}
	}
	return list
}
