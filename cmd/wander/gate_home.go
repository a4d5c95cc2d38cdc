package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

const (
	// maxGateFile bounds the files of a gate's key and certificate, in bytes.
	maxGateFile = 64 << 10

	// renewLook is how often a gate looks whether its certificate is to be renewed, and renewGateFor bounds one attempt.
	renewLook    = time.Minute
	renewGateFor = 30 * time.Second
)

// gateHome is a gate's folder.
type gateHome struct {
	dir                      string
	certificate, key, groups string
	authority                []string
}

func (h gateHome) state() string { return filepath.Join(h.dir, "gate") }

// gateSocket is the local socket of the gate in a folder.
func gateSocket(dir string) string { return filepath.Join(dir, "gate", "gate.sock") }

// openGateHome reads where everything is: from wander.toml if wander join has written one.
func openGateHome(env *environment, f gateFlags) (gateHome, error) {
	h := gateHome{
		dir: f.dir, certificate: filepath.Join(f.dir, "member.crt"), key: filepath.Join(f.dir, "member.key"), groups: filepath.Join(f.dir, "group.crt"),
		authority: f.ca,
	}
	name := filepath.Join(f.dir, "wander.toml")
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	s, err := loadSettings(env, name)
	if err != nil {
		return h, err
	}
	h.certificate, h.key, h.groups = s.Identity.Certificate, s.Identity.Key, s.Identity.Group
	if len(f.ca) == 0 {
		h.authority = s.CA.Address
	}
	return h, nil
}

// openFolder is a folder that others can use, and should not.
type openFolder struct {
	name string
	mode fs.FileMode
	hint string
}

// openFolders are those of the gate in which others can write: they could put a key, a configuration or a journal there. Nobody else needs to read in the
// state folder either.
func (h gateHome) openFolders() (list []openFolder) {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, f := range []struct {
		name string
		bad  fs.FileMode
		mend string
	}{{h.dir, 0o022, "chmod go-w "}, {h.state(), 0o077, "chmod 700 "}} {
		if info, err := os.Stat(f.name); err == nil && info.Mode().Perm()&f.bad != 0 {
			list = append(list, openFolder{f.name, info.Mode().Perm(), f.mend + f.name})
		}
	}
	return list
}

// permissionHint says what to do about a file in a gate's folder that this process may not use.
func permissionHint(err error, dir string) string {
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	name := "this user"
	if u, failure := user.Current(); failure == nil {
		name = u.Username
	}
	return fmt.Sprintf("the gate runs as %s, which may not use the files: run it as the user that has run wander join, or chown -R %s %s", name, name, dir)
}

// load reads the gate's identity into a configuration.
func (h gateHome) load(cfg *driver.Config) (err error) {
	const noHome = "give --dir the folder that wander join has made"
	if cfg.Group, cfg.Extra, err = cli.ReadGroup(h.groups); err != nil {
		return cli.ConfigError(err, cmp.Or(permissionHint(err, h.dir), noHome))
	}
	text, err := cli.ReadSmall(h.certificate, maxGateFile)
	if err != nil {
		return cli.ConfigError(err, cmp.Or(permissionHint(err, h.dir), noHome))
	}
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil || len(blocks) != 1 || blocks[0].Type != keyfile.Certificate {
		return cli.ConfigError(fmt.Errorf("%s does not hold exactly one certificate", h.certificate), "")
	}
	if cfg.Certificate, err = certificate.ParseGate(cfg.Group.ID(), blocks[0].Bytes, cfg.Group.History()); err != nil {
		hint := ""
		if errors.Is(err, certificate.ErrRole) {
			hint = "a gate needs a certificate of its own: wander ca invite --gate"
		}
		return cli.ConfigError(fmt.Errorf("%s: %w", h.certificate, err), hint)
	}
	cfg.Key, err = loadGateKey(h.key, h.dir)
	return err
}

func loadGateKey(name, dir string) (*signature.PrivateKey, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, cli.ConfigError(err, permissionHint(err, dir))
	}
	if err := keyfile.CheckMode(info.Mode()); err != nil {
		return nil, cli.ConfigError(fmt.Errorf("%s: %w", name, err), "remove the permissions of other users: chmod 600 "+name)
	}
	text, err := cli.ReadSmall(name, maxGateFile)
	if err != nil {
		return nil, cli.ConfigError(err, permissionHint(err, dir))
	}
	key, err := keyfile.DecodePrivateKey(text, func() ([]byte, error) { return nil, errors.New("a gate cannot ask for a passphrase") })
	if err != nil {
		return nil, cli.ConfigError(fmt.Errorf("%s: %w", name, err), "")
	}
	return key, nil
}

// sync asks the CA as the gate.
func (h gateHome) sync(cfg driver.Config) func(context.Context, *group.Group, uint64) (driver.News, error) {
	return func(ctx context.Context, g *group.Group, revocations uint64) (driver.News, error) {
		c := enrolment.Client{Addresses: h.authority, Group: g, Certificate: cfg.Certificate, Key: cfg.Key, Now: cfg.Now}
		news, err := c.Sync(ctx, enrolment.Mine{Revocations: revocations})
		return driver.News{Group: news.Group, Revocations: news.Revocations, More: news.More}, err
	}
}

// catchUp asks the CA for its configuration, if the group file does not have this gate: wander join has written the file
// before the configuration could name the gate.
func (h gateHome) catchUp(cfg *driver.Config, log *slog.Logger) {
	self := cfg.Certificate.Member()
	if slices.ContainsFunc(cfg.Group.Config().Settings().Resources, func(r group.Resource) bool { return r.Gate.Member == self }) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), renewGateFor)
	defer cancel()
	news, err := cfg.Sync(ctx, cfg.Group, 0)
	if err != nil {
		log.Warn("the group file does not have this gate, and the CA does not answer", "error", err)
		return
	}
	if news.Group == nil {
		return
	}
	cfg.Group, cfg.Extra.Revocations = news.Group, append(cfg.Extra.Revocations, news.Revocations...)
	if err := h.save(cfg.Group, cfg.Extra.Revocations); err != nil {
		log.Warn("group file not written", "error", err)
	}
}

// save writes the group file, so that a restart knows configuration and revocations.
func (h gateHome) save(g *group.Group, revocations [][]byte) error {
	blocks := g.Blocks()
	for _, raw := range revocations {
		blocks = append(blocks, keyfile.Block{Type: keyfile.Revocation, Bytes: raw})
	}
	text, err := keyfile.EncodeBlocks(blocks...)
	if err != nil {
		return err
	}
	return atomicfile.Replace(h.groups, text, 0o644)
}

// renew renews the gate's certificate when two thirds of its life are over.
func (h gateHome) renew(ctx context.Context, g *driver.Gate, cfg driver.Config, log *slog.Logger) {
	current := cfg.Certificate
	t := time.NewTicker(renewLook)
	defer t.Stop()
	for {
		b := current.Body()
		if !cfg.Now().Before(enrolment.ScheduleOf(cfg.Certificate, cfg.Group).Due()) {
			asking, cancel := context.WithTimeout(ctx, renewGateFor)
			got, err := enrolment.Client{Addresses: h.authority, Group: g.Group(), Certificate: current, Key: cfg.Key, Now: cfg.Now}.Renew(asking)
			cancel()
			if err == nil && got.Certificate.Body().Serial != b.Serial {
				if err = h.take(g, got.Certificate); err == nil {
					current = got.Certificate
					log.Info("certificate renewed", "until", current.Body().NotAfter)
				}
			}
			if err != nil && ctx.Err() == nil {
				log.Warn("cannot renew the gate's certificate", "until", b.NotAfter, "error", err)
			}
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// take puts a renewed certificate into the file, and then into force.
func (h gateHome) take(g *driver.Gate, c certificate.Certificate) error {
	text, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: c.Raw()})
	if err == nil {
		err = atomicfile.Replace(h.certificate, text, 0o644)
	}
	if err == nil {
		err = g.SetCertificate(c)
	}
	return err
}
