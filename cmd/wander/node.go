package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/supervisor"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/journal"
)

type nodeFlags struct {
	config                                      string
	found, newIncarnation, volatile, noPreOffer bool
	untilInputEnds                              bool
	listenFD                                    int
}

func newNodeCommand(env *environment) *cobra.Command {
	var f nodeFlags
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Run a member of a group as a daemon",
		Long: `Run a member of a group until SIGTERM or SIGINT stops it; it then ends the programs
that run under its grants, and passes on its tokens. SIGHUP makes it read the group
file and the certificate again, for a newer configuration, new members, revocations
and a renewed certificate.

It serves a page for people, which only shows: on the socket of the local API, and on
the loopback address of [web] listen if that is set (see docs/page.md).`,
		Example: "  wander node --config /etc/wander/wander.toml\n  wander node --config a.toml --found     # the first member of a new group",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runNode(env, f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.config, "config", "c", "", configFlag)
	flags.BoolVar(&f.found, "found", false, "generate the first token of each slot, once for this journal")
	flags.BoolVar(&f.newIncarnation, "new-incarnation", false, "forget custody, because the journal was restored from a backup or cloned")
	flags.BoolVar(&f.volatile, "volatile", false, `override with mode = "volatile": faster, but a crash loses the tokens held`)
	flags.BoolVar(&f.noPreOffer, "no-pre-offer", false, "search for the next holder only after the operation has ended (for measurements)")
	flags.BoolVar(&f.untilInputEnds, "until-input-ends", false, "stop immediately when the standard input ends, as it does with the program that holds its other end")
	flags.IntVar(&f.listenFD, "listen-fd", noFD, "use this descriptor of a UDP socket that is already bound to listen.address")
	for _, hidden := range []string{"until-input-ends", "listen-fd"} {
		if err := flags.MarkHidden(hidden); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return cmd
}

func runNode(env *environment, f nodeFlags) error {
	manager := supervisor.FromEnvironment() // before hooks and commands inherit it
	s, err := loadSettings(env, f.config)
	if err != nil {
		return err
	}
	if f.volatile {
		s.Mode = "volatile"
	}
	cfg, err := s.nodeConfig()
	if err != nil {
		return err
	}
	if cfg.Certificate.Role() == certificate.GateRole {
		return notAMember(cfg.Certificate, cmp.Or(f.config, env.Getenv(configVariable)))
	}
	if cfg.Log, err = s.logger(env); err != nil {
		return err
	}
	cfg.Found, cfg.NewIncarnation, cfg.NoPreOffer = f.found, f.newIncarnation, f.noPreOffer
	cfg.Now = env.Now
	if cfg.Hooks, err = s.hooks(cfg.Certificate, cfg.Log); err != nil {
		return err
	}
	if cfg.Operation, err = s.operation(env, cfg.Log); err != nil {
		return err
	}

	if cfg.Conn, err = inherited(f.listenFD); err != nil {
		return err
	}
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	if f.untilInputEnds {
		go stopAfter(env.In, stop)
	}
	reload := make(chan os.Signal, 1)
	notifyReload(reload)
	defer signal.Stop(reload)

	cfg.Quiet = env.Quiet
	n, err := node.Open(context.Background(), cfg)
	if setting := (*node.SettingError)(nil); errors.As(err, &setting) && !errors.Is(err, syscall.EADDRINUSE) {
		return settingError(env, f.config, setting)
	}
	if err != nil {
		return nodeError(err)
	}
	cfg.Log.Info("member is up", "member", n.ID(), "name", cfg.Certificate.Body().Name,
		"group", cfg.Group.Name(), "listen", n.Address(), "socket", cfg.Socket, "mode", cfg.Mode.String())
	manager.Ready()
	watched, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	go manager.Watch(watched, func() { n.Status() })
	return serve(n, cfg, stop, reload)
}

// notAMember refuses to run a member with the certificate of a gate.
func notAMember(c certificate.Certificate, config string) error {
	return cli.ConfigError(fmt.Errorf("%w: %s is a gate", certificate.ErrRole, c.Name()), "run the gate in its place: wander gate --dir "+filepath.Dir(cmp.Or(config, defaultConfigFile)))
}

// isGate reports whether the settings that the environment and the default file have are those of a gate, and its name.
func isGate(env *environment) (name string, is bool) {
	s, err := loadSettings(env, "")
	if err != nil {
		return "", false
	}
	id, err := node.LoadIdentity(s.Identity.Certificate, s.Identity.Key, s.Identity.Group)
	return id.Certificate.Name(), err == nil && id.Certificate.Role() == certificate.GateRole
}

// noFD says that the daemon opens its socket itself.
const noFD = -1

// inherited is the socket with a descriptor that this process was started with, or
// nil for noFD.
func inherited(fd int) (net.PacketConn, error) {
	if fd == noFD {
		return nil, nil
	}
	file := os.NewFile(uintptr(fd), "listen-fd")
	if file == nil {
		return nil, cli.UsageError("--listen-fd %d: must be a descriptor", fd)
	}
	defer file.Close()
	conn, err := net.FilePacketConn(file)
	if err != nil {
		return nil, cli.UsageError("--listen-fd %d: %v", fd, err)
	}
	return conn, nil
}

// stopAfter asks twice to stop, which means at once, when in has ended: the
// program that started this one is gone, however it ended.
func stopAfter(in io.Reader, stop chan<- os.Signal) {
	_, _ = io.Copy(io.Discard, in)
	stop <- syscall.SIGTERM
	stop <- syscall.SIGTERM
}

// serve waits until the node fails or is told to stop.
func serve(n *node.Node, cfg node.Config, stop, reload <-chan os.Signal) error {
	for {
		select {
		case <-reload:
			if err := n.Reload(); err != nil {
				cfg.Log.Error("cannot read group file and certificate", "error", err)
			} else {
				cfg.Log.Info("group file and certificate read again")
			}
		case <-stop:
			cfg.Log.Info("stopping; a second signal stops immediately")
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				<-stop
				cancel()
			}()
			err := n.Close(ctx)
			cancel()
			return nodeError(err)
		case <-n.Done():
			err := n.Err()
			_ = n.Close(context.Background())
			if errors.Is(err, node.ErrClosed) { // it has left, as it was told to
				return nil
			}
			return nodeError(err)
		}
	}
}

// nodeError gives a node's end its exit code.
func nodeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, certificate.ErrExpired): // before ErrRevoked, which a member that ends is given too
		return &cli.Error{Code: cli.ExitNoPermission, Err: err, Hint: expiredHint}
	case errors.Is(err, node.ErrRevoked), errors.Is(err, node.ErrLeft):
		return deadError(err)
	case errors.Is(err, store.ErrLocked):
		return &cli.Error{
			Code: cli.ExitFailure, Err: fmt.Errorf("another daemon already uses this state_dir%s", holderIn(err)),
			Hint: "see wander status; give a second member its own state_dir",
		}
	case errors.Is(err, node.ErrLink):
		return cli.ConfigError(err, "stop every daemon that uses the journal, and put its folder into state_dir in the place of the link; state_dir itself may be a link")
	case errors.Is(err, syscall.EADDRINUSE):
		return cli.ConfigError(err, "choose another port in listen.address: another program, perhaps a daemon of this machine, uses this one")
	case errors.Is(err, node.ErrConfig), errors.Is(err, node.ErrIdentity):
		return cli.ConfigError(err, "")
	case errors.Is(err, journal.ErrVersion):
		return &cli.Error{
			Code: cli.ExitFailure, Err: err,
			Hint: "start the version of wander that wrote it, or move the journal away and start without --found: see docs/journal.md, Another version",
		}
	case errors.Is(err, journal.ErrForeign):
		return &cli.Error{
			Code: cli.ExitFailure, Err: err,
			Hint: "if this machine has joined anew, move the journal of the member before away, keep it for auditors, and start without --found (docs/install.md, Change the group); otherwise see docs/journal.md, Another member's journal",
		}
	case errors.Is(err, node.ErrJournal):
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "see docs/journal.md before touching the files: they are custody and evidence"}
	}
	return err
}

// holderIn is the part of an error about a locked journal that names the process.
func holderIn(err error) string {
	if found := regexp.MustCompile(` \(process \d+\)`).FindString(err.Error()); found != "" {
		return found
	}
	return ""
}

// logger makes the daemon's log.
func (s *settings) logger(env *environment) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.Log.Level)); err != nil {
		return nil, cli.ConfigError(fmt.Errorf("log.level = %q", s.Log.Level), "write debug, info, warn or error")
	}
	o := &slog.HandlerOptions{Level: level}
	switch s.Log.Format {
	case "text":
		return slog.New(slog.NewTextHandler(env.Err, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(env.Err, o)), nil
	}
	return nil, cli.ConfigError(fmt.Errorf("log.format = %q", s.Log.Format), "write text or json")
}
