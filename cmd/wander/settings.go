package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/store"
)

// settings are a node's, as they are in its file. A file names them under
// [section] key; the environment as WANDER_SECTION_KEY; docs/configuration.md
// says what each does. wander join writes those without omitempty.
type settings struct {
	StateDir string `toml:"state_dir"`
	Mode     string `toml:"mode,omitempty"`
	Identity struct {
		Certificate string `toml:"certificate"`
		Key         string `toml:"key"`
		Group       string `toml:"group"`
	} `toml:"identity"`
	Listen struct {
		Address   string   `toml:"address"`
		Advertise []string `toml:"advertise"`
	} `toml:"listen"`
	Bootstrap struct {
		Peers []string `toml:"peers"`
	} `toml:"bootstrap"`
	CA struct {
		Address []string `toml:"address"`
	} `toml:"ca"`
	Directory struct {
		Sample int `toml:"sample,omitempty"`
	} `toml:"directory,omitempty"`
	Operation struct {
		Resource string        `toml:"resource,omitempty"`
		Command  []string      `toml:"command,omitempty"`
		MaxHold  time.Duration `toml:"max_hold,omitempty"`
		Grace    time.Duration `toml:"grace,omitempty"`
	} `toml:"operation,omitempty"`
	API struct {
		Socket string `toml:"socket,omitempty"`
		Group  string `toml:"group,omitempty"`
		Mode   string `toml:"mode,omitempty"`
	} `toml:"api,omitempty"`
	Hooks   hookSettings `toml:"hooks,omitempty"`
	Metrics struct {
		Listen string `toml:"listen,omitempty"`
	} `toml:"metrics,omitempty"`
	Web struct {
		Listen string `toml:"listen,omitempty"`
	} `toml:"web,omitempty"`
	FleetLock struct {
		Listen string   `toml:"listen,omitempty"`
		Groups []string `toml:"groups,omitempty"`
	} `toml:"fleetlock,omitempty"`
	Log struct {
		Format string `toml:"format,omitempty"`
		Level  string `toml:"level,omitempty"`
	} `toml:"log,omitempty"`
}

// hookSettings are executables, by what they are run for.
type hookSettings struct {
	OnGrant     string `toml:"on_grant,omitempty"`
	OnLost      string `toml:"on_lost,omitempty"`
	OnIsolated  string `toml:"on_isolated,omitempty"`
	OnDuplicate string `toml:"on_duplicate,omitempty"`
	OnEvidence  string `toml:"on_evidence,omitempty"`
}

func defaultSettings() settings {
	var s settings
	s.StateDir = "/var/lib/wander"
	s.Mode = "durable"
	s.Identity.Certificate = "/etc/wander/member.crt"
	s.Identity.Key = "/etc/wander/member.key"
	s.Identity.Group = "/etc/wander/group.crt"
	s.Listen.Address = "[::]:4133"
	s.Log.Format, s.Log.Level = "text", "info"
	return s
}

// defaultConfigFile is read when neither --config nor configVariable names one; it may be absent then.
const defaultConfigFile = "/etc/wander/wander.toml"

// configVariable names the settings file for the daemon, and for every command that asks a daemon without --socket.
const configVariable = "WANDER_CONFIG"

// configFlag explains --config.
const configFlag = "settings file (default $" + configVariable + ", or " + defaultConfigFile + ")"

// loadSettings reads the defaults, the file over them and the environment over
// both. Paths in the file are relative to the file's folder.
func loadSettings(env *environment, file string) (settings, error) {
	s := defaultSettings()
	hint := "give --config a readable file"
	if file == "" && env.Getenv(configVariable) != "" {
		file, hint = env.Getenv(configVariable), "set "+configVariable+" to a readable file, or unset it"
	}
	given := file != ""
	if !given {
		file = defaultConfigFile
	}
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		if err := configfile.Decode(file, text, &s); err != nil {
			return s, cli.ConfigError(err, "")
		}
		s.anchor(filepath.Dir(file))
	case given || !errors.Is(err, fs.ErrNotExist):
		return s, cli.ConfigError(err, hint)
	}
	return s, s.override(env.Getenv)
}

// settingHints say what to write, by key.
var settingHints = map[string]string{
	"listen.address":   `write an address of this machine and a port, for example "[::]:4133" or "192.0.2.7:4133", or "" to only dial out`,
	"listen.advertise": `write where others reach this member, for example ["192.0.2.7:4133"]`,
	"bootstrap.peers":  `write addresses of other members, for example ["192.0.2.8:4133"]`,
	"ca.address":       `write the address of wander ca serve, for example ["192.0.2.9:4134"]`,
	"api.group":        `add the daemon's user to the group (usermod -aG), or name one that it is in`,
	"api.socket":       `name a path in a folder that the users of the socket can enter, for example "/run/wander/wander.sock": state_dir is for its owner only`,
	"fleetlock.listen": `write a loopback address and a port, for example "127.0.0.1:9466"`,
	"fleetlock.groups": `write which resource belongs to which group of updaters, for example ["default=reboot"]`,
	"metrics.listen":   `write an address of this machine and a port, for example "127.0.0.1:9464"`,
	"web.listen":       `write a loopback address and a port, for example "127.0.0.1:9465"; docs/page.md says how to look from another machine`,
}

// settingError is about a setting that cannot be used: it names the variable or the
// line of the file that sets it.
func settingError(env *environment, file string, e *node.SettingError) error {
	hint := settingHints[e.Key]
	problem := fmt.Sprintf("%s: %v", e.Key, e.Err)
	if name := variable(e.Key); env.Getenv(name) != "" {
		return cli.ConfigError(fmt.Errorf("%s: %s", name, problem), hint)
	}
	file = cmp.Or(file, env.Getenv(configVariable), defaultConfigFile)
	text, err := os.ReadFile(file)
	if err != nil { // there is none, and the default cannot be used
		return cli.ConfigError(errors.New(problem), hint)
	}
	section, key, _ := strings.Cut(e.Key, ".")
	fault := configfile.At(file, text, problem, section, key)
	fault.Hint = hint
	return cli.ConfigError(fault, hint)
}

// anchor makes the file's relative paths relative to its folder.
func (s *settings) anchor(dir string) {
	for _, p := range []*string{&s.StateDir, &s.Identity.Certificate, &s.Identity.Key, &s.Identity.Group, &s.API.Socket} {
		if *p != "" && *p != "-" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
	// A program without a slash is looked for in PATH.
	if c := s.Operation.Command; len(c) > 0 && !filepath.IsAbs(c[0]) && filepath.Base(c[0]) != c[0] {
		c[0] = filepath.Join(dir, c[0])
	}
}

// variable is the name of a setting in the environment.
func variable(key string) string {
	return "WANDER_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// override takes in WANDER_SECTION_KEY for every key; a list has commas.
func (s *settings) override(getenv func(string) string) error {
	for _, key := range configfile.Keys(s) {
		if text := getenv(variable(key)); text != "" {
			if err := configfile.Set(configfile.Place(s, key), text); err != nil {
				return cli.ConfigError(fmt.Errorf("%s: %w", variable(key), err), "")
			}
		}
	}
	return nil
}

// socket is the path of the daemon's local API.
func (s *settings) socket() string {
	if s.API.Socket != "" {
		return s.API.Socket
	}
	return filepath.Join(s.StateDir, "wander.sock")
}

// identityError is for an identity that cannot be loaded.
func identityError(err error, s *settings) error {
	hint := "give the settings file with --config; wander join makes key, certificate and group.crt"
	switch {
	case errors.Is(err, keyfile.ErrMode):
		hint = "remove the permissions of other users: chmod 600 " + s.Identity.Key
	case errors.Is(err, fs.ErrPermission):
		hint = "run this as the daemon's user: the file belongs to another user"
	}
	return cli.ConfigError(err, hint)
}

// accessError is for a socket that cannot be as api.group and api.mode say.
func (s *settings) accessError(err error) error {
	key, hint := "api.group", "name a group of this system (getent group), or its number"
	switch {
	case errors.Is(err, api.ErrMode):
		key, hint = "api.mode", `write "0660" with an api.group, and "0600" (the owner only) or "0666" (every user) without one`
	case errors.Is(err, api.ErrNoAsker):
		hint = "remove api.group and api.mode: only the daemon's user can use it here"
	}
	return cli.ConfigError(fmt.Errorf("%s: %w", key, err), hint)
}

// nodeConfig turns settings into a node's configuration.
func (s *settings) nodeConfig() (node.Config, error) {
	id, err := node.LoadIdentity(s.Identity.Certificate, s.Identity.Key, s.Identity.Group)
	if err != nil {
		return node.Config{}, identityError(err, s)
	}
	cfg := node.Config{
		Identity: id, StateDir: s.StateDir, Listen: s.Listen.Address, Advertise: s.Listen.Advertise,
		Bootstrap: s.Bootstrap.Peers, Authority: s.CA.Address, Sample: s.Directory.Sample, Socket: s.socket(), Metrics: s.Metrics.Listen, Web: s.Web.Listen,
		FleetLock: node.FleetLock{Listen: s.FleetLock.Listen, Groups: s.FleetLock.Groups},
	}
	if cfg.Access, err = api.ParseAccess(s.API.Group, s.API.Mode); err != nil {
		return cfg, s.accessError(err)
	}
	switch s.Mode {
	case "durable":
		cfg.Mode = store.Durable
	case "volatile":
		cfg.Mode = store.Volatile
	default:
		return cfg, cli.ConfigError(fmt.Errorf("mode = %q", s.Mode), `write mode = "durable" or mode = "volatile"`)
	}
	return cfg, nil
}
