package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/internal/supervisor"
	"github.com/wandertoken/wander/internal/takeover"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/store"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

const (
	// defaultGateListen is where a gate listens.
	defaultGateListen = "[::]:4135"

	// gateSlack is how long a gate that stops waits beside its close hooks.
	gateSlack = 2 * time.Second

	// killSlack is how long a gate that stops waits for the end of hooks that it has killed: the system ends them within 3 s, or not at all.
	killSlack = 5 * time.Second

	// noFloor says that --floor was not given.
	noFloor = -1
)

type gateFlags struct {
	dir, resource, open, close string
	targets                    []string
	listen, metrics            string
	floor                      int64
	logFormat                  string
	ca                         []string
	untilInputEnds             bool
}

func newGateCommand(env *environment) *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Run the gate of a resource: let in members that show that they hold a token",
		Long: `Run the gate of a resource until SIGTERM or SIGINT stops it. Members sign in with the
title of their token, one at a time in each slot, and reach the resource through the
gate's tunnel. The next one comes in when the last one's work has ended.

The folder is a machine's that wander join has made with a gate's invite (wander ca
invite --gate): it has member.key, member.crt, group.crt and wander.toml. The gate's
journal is in the folder gate within it.

--open and --close are shell commands. The open hook runs before a session. The close
hook runs after it: its exit code 0 says that no work of the session goes on. They find
WANDER_GATE_FENCE (the number of the session), WANDER_GATE_SLOT, WANDER_GATE_MEMBER,
WANDER_GATE_TOKEN and WANDER_GATE_DEADLINE (RFC 3339). With fence 0 the close hook ends
whatever there may be. Without --close, the gate waits until the resource has closed
the session's connections, which confirms less.

A gate without a journal stays shut for max_hold. It needs --floor, the greatest fence
that the resource has seen; 0 is right for a resource that has seen none.`,
		Example: "  wander gate --dir /etc/wander --resource db --target unix:/run/postgresql/.s.PGSQL.5432 --close /etc/wander/close-db\n" +
			"  wander gate --dir gate --resource tape --target localhost:873 --floor 0   # the first start\n" +
			"  wander gate --resource db --target sql=unix:/run/postgresql/.s.PGSQL.5432 --target files=localhost:873",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runGate(env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", "/etc/wander", "folder with the gate's key and certificate, the group file and the journal")
	flags.StringVar(&f.resource, "resource", "", "resource that the gate stands before")
	flags.StringArrayVar(&f.targets, "target", nil, "where the resource listens: unix:PATH or HOST:PORT, or NAME= and such an address; may be repeated")
	flags.StringVar(&f.open, "open", "", "shell command to run before a session")
	flags.StringVar(&f.close, "close", "", "shell command that ends the work of a session, and confirms that it has ended")
	flags.StringVar(&f.listen, "listen", defaultGateListen, "listen on this UDP address")
	flags.StringVar(&f.metrics, "metrics", "", "serve metrics on this TCP address (default none)")
	flags.Int64Var(&f.floor, "floor", noFloor, "greatest fence that the resource has seen, for a gate without a journal")
	flags.StringSliceVar(&f.ca, "ca", nil, "address of wander ca serve, host:port; may be repeated (default from wander.toml)")
	flags.StringVar(&f.logFormat, "log-format", "text", "log format: text or json")
	flags.BoolVar(&f.untilInputEnds, "until-input-ends", false, "stop immediately when the standard input ends")
	if err := flags.MarkHidden("until-input-ends"); err != nil {
		panic(err) // the flag is defined above
	}
	flags.Lookup("floor").DefValue = ""
	cmd.AddCommand(newGateStatusCommand(env), newGateClearCommand(env), newGateConnectCommand(env))
	return cmd
}

func runGate(env *environment, f gateFlags) error {
	manager := supervisor.FromEnvironment() // before hooks inherit it
	s := defaultSettings()
	s.Log.Format = f.logFormat
	log, err := s.logger(env)
	if err != nil {
		return cli.UsageError("--log-format %q: must be text or json", f.logFormat)
	}
	cfg, h, err := f.configure(env, log)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	if f.untilInputEnds {
		go stopAfter(env.In, stop)
	}
	g, err := driver.Open(context.Background(), cfg)
	if err != nil {
		return errors.Join(openFailure(err, cfg), cfg.Conn.Close())
	}
	servers, err := f.servers(g, h, log)
	if err != nil {
		return errors.Join(err, g.Close(ended()))
	}
	defer servers()
	renewing, stopRenewing := context.WithCancel(context.Background())
	defer stopRenewing()
	if len(h.authority) > 0 {
		go h.renew(renewing, g, cfg, log)
	}
	log.Info("gate is up", "gate", cfg.Certificate.Member(), "name", cfg.Certificate.Name(), "group", cfg.Group.Name(), "resource", f.resource,
		"listen", g.Addr(), "target", strings.Join(f.targets, ", "), "socket", gateSocket(f.dir))
	manager.Ready()
	return serveGate(g, stop, log)
}

// openFailure gives the error of a gate that does not start its exit code and hint.
func openFailure(err error, cfg driver.Config) error {
	if !errors.Is(err, driver.ErrResource) {
		return gateFailure(err)
	}
	var names []string
	for _, r := range cfg.Group.Config().Settings().Resources {
		names = append(names, r.Name)
	}
	hint := fmt.Sprintf("where the CA is, give the resource gate = %q and its gate_address in the group's file, and sign that: wander ca config", cfg.Certificate.Member())
	if len(names) > 0 && !slices.Contains(names, cfg.Resource) {
		hint = cmp.Or(cli.DidYouMean(cfg.Resource, names), "the group has "+strings.Join(names, ", "))
	}
	return cli.ConfigError(err, hint)
}

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// configure is what the driver needs.
func (f gateFlags) configure(env *environment, log *slog.Logger) (cfg driver.Config, h gateHome, err error) {
	switch {
	case f.resource == "":
		return cfg, h, cli.UsageError("--resource is missing")
	case len(f.targets) == 0:
		return cfg, h, cli.UsageError("--target is missing")
	case f.floor < noFloor:
		return cfg, h, cli.UsageError("--floor %d: must be 0 or greater", f.floor)
	}
	for _, text := range f.targets {
		if err := addTarget(&cfg, text); err != nil {
			return cfg, h, err
		}
	}
	if h, err = openGateHome(env, f); err != nil {
		return cfg, h, err
	}
	if err := h.load(&cfg); err != nil {
		return cfg, h, err
	}
	if err := os.MkdirAll(h.state(), 0o700); err != nil {
		return cfg, h, cli.ConfigError(err, permissionHint(err, h.dir))
	}
	for _, w := range h.openFolders() {
		log.Warn("others can change what the gate goes by", "folder", w.name, "mode", w.mode.String(), "hint", w.hint)
	}
	for _, text := range f.targets {
		if err := missingSocket(text); err != nil {
			log.Warn("nothing is at the target", "target", text, "error", err, "hint", "the path may be misspelt, or the resource not have started yet")
		}
	}
	cfg.Dir, cfg.Resource, cfg.Log, cfg.Now, cfg.FS = h.state(), f.resource, log, env.Now, env.gateDisk
	if f.floor != noFloor {
		floor := uint64(f.floor)
		cfg.Floor = &floor
	}
	hooks := gateHooks{dir: filepath.Join(h.state(), "hooks"), log: log}
	if f.open != "" {
		cfg.OpenHook = hooks.hook("open", f.open)
	}
	if f.close != "" {
		cfg.CloseHook = hooks.hook("close", f.close)
	}
	cfg.Await = hooks.await
	cfg.Save = h.save
	if len(h.authority) > 0 {
		cfg.Sync = h.sync(cfg)
		h.catchUp(&cfg, log)
	}
	if cfg.ResetKey, err = node.ResetKey(h.state()); err != nil {
		return cfg, h, cli.ConfigError(err, "")
	}
	cfg.Conn, err = takeover.Open(context.Background(), func() (net.PacketConn, error) { return net.ListenPacket("udp", f.listen) }, syscall.EADDRINUSE)
	if err != nil {
		return cfg, h, cli.ConfigError(err, "choose another address with --listen")
	}
	return cfg, h, nil
}

// addTarget reads a --target: ADDRESS, or NAME=ADDRESS for one of several.
func addTarget(cfg *driver.Config, text string) error {
	name, address, isNamed := strings.Cut(text, "=")
	if isNamed = isNamed && !strings.HasPrefix(text, "unix:"); !isNamed {
		name, address = "", text
	} else if err := group.CheckName(name); err != nil {
		return cli.UsageError("--target %s: %v", text, err)
	}
	to, err := driver.ParseTarget(address)
	if err != nil {
		return &cli.Error{
			Code: cli.ExitUsage, Err: fmt.Errorf("--target %s: must be unix:PATH or HOST:PORT, or NAME= and such an address", cli.OneLine(text)),
			Hint: targetHint(text, address),
		}
	}
	if _, twice := cfg.Targets[name]; twice || !isNamed && cfg.Target != (driver.Target{}) {
		return cli.UsageError("--target %s: another one has this name, or none either: give them names", text)
	}
	if !isNamed {
		cfg.Target = to
		return nil
	}
	if cfg.Targets == nil {
		cfg.Targets = make(map[string]driver.Target)
	}
	cfg.Targets[name] = to
	return nil
}

// missingSocket is why no socket can be at a target's path; nil if one may be. The gate does not dial: a connection may be work for the resource.
func missingSocket(target string) error {
	_, path, isSocket := strings.Cut(target, "unix:")
	if !isSocket || strings.HasPrefix(path, "@") { // an abstract one has no file
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		err = fmt.Errorf("%s is no socket", path)
	}
	return err
}

// targetHint says how an address that is none may be meant.
func targetHint(text, address string) string {
	switch {
	case strings.HasPrefix(address, "/"), strings.HasPrefix(address, "./"):
		return "for a Unix socket: --target " + cli.OneLine(strings.TrimSuffix(text, address)+"unix:"+address)
	case address != "" && !strings.Contains(address, ":"):
		return "name its port: --target " + cli.OneLine(text) + ":PORT"
	}
	return ""
}

// servers opens the local socket and the metrics, and returns how to close them.
func (f gateFlags) servers(g *driver.Gate, h gateHome, log *slog.Logger) (closeAll func(), err error) {
	l, err := api.Listen(gateSocket(f.dir), api.Access{})
	if err != nil {
		return nil, cli.ConfigError(err, "choose a shorter path for --dir")
	}
	list := []*http.Server{g.NewControl(log)}
	listeners := []net.Listener{l}
	if f.metrics != "" {
		m, err := takeover.Open(context.Background(), func() (net.Listener, error) { return net.Listen("tcp", f.metrics) }, syscall.EADDRINUSE)
		if err != nil {
			return nil, errors.Join(cli.ConfigError(err, "choose another address with --metrics"), l.Close())
		}
		list, listeners = append(list, g.NewMetrics(log)), append(listeners, m)
	}
	for i, s := range list {
		go func() {
			if err := s.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				log.Error("a local server stopped", "error", err)
			}
		}()
	}
	return func() {
		for _, s := range list {
			s.Close()
		}
	}, nil
}

// serveGate waits until the gate fails or is told to stop.
func serveGate(g *driver.Gate, stop <-chan os.Signal, log *slog.Logger) error {
	select {
	case <-g.Done():
		return gateFailure(g.Err())
	case <-stop:
	}
	log.Info("stopping: sessions are closed; a second signal stops immediately")
	r, _ := g.Group().Config().Resource(g.Resource())
	ctx, cancel := context.WithTimeout(context.Background(), r.Gate.CloseTimeout+gateSlack)
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	closed := make(chan error, 1)
	go func() { closed <- g.Close(ctx) }()
	select {
	case err := <-closed:
		return gateFailure(err)
	case <-ctx.Done():
	}
	select {
	case err := <-closed:
		return gateFailure(err)
	case <-time.After(killSlack):
	}
	return &cli.Error{Code: cli.ExitFailure, Err: errors.New("a hook does not end"), Hint: "the next start waits for it, and then closes what is open"}
}

// gateFailure gives a gate's end its exit code and hint.
func gateFailure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrLocked):
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "another process runs this gate: see wander gate status; give each gate a folder of its own"}
	case errors.Is(err, core.ErrFloor):
		return cli.ConfigError(err, "give --floor the greatest fence that the resource has seen; 0 is right for a resource that has seen none")
	case errors.Is(err, driver.ErrOther):
		return cli.ConfigError(err, "the group's file names the gate of a resource by its id: see wander ca config --help")
	case errors.Is(err, driver.ErrConfig):
		return cli.ConfigError(err, "")
	case errors.Is(err, driver.ErrJournal):
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "see docs/gate.md before touching the journal: without it the gate stays shut for max_hold"}
	}
	return err
}
