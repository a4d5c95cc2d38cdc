package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/ca/service"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/supervisor"
	"github.com/wandertoken/wander/internal/takeover"
	"github.com/wandertoken/wander/protocol/certificate"
)

const (
	// defaultCAListen is where the enrolment service listens.
	defaultCAListen = ":4134"
	// serveGrace is how long requests in progress may take when the service
	// stops.
	serveGrace = 10 * time.Second
)

type caServeFlags struct {
	*caFlags
	listen, logFormat string
	untilInputEnds    bool
}

func newCAServeCommand(env *environment, shared *caFlags) *cobra.Command {
	f := caServeFlags{caFlags: shared}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve enrolment, renewal and membership updates over the network",
		Long: `Serve machines that join with an invite (wander ca invite), members that renew their
certificates, and members that poll for new configurations and revocations. The
service uses HTTPS with its own certificate, which invites and group files
authenticate. Changes by other wander ca commands in the same folder take effect
immediately. Members and their tokens continue while the service is down.

The command asks for the passphrase once, at the start. SIGTERM or SIGINT stops it
gracefully; a second signal stops it immediately.`,
		Example: "  wander ca serve --dir ca\n  wander ca serve --dir ca --listen 192.0.2.10:4134",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runCAServe(env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", defaultCAListen, "listen on this TCP address")
	flags.StringVar(&f.logFormat, "log-format", "text", "log format: text or json")
	flags.BoolVar(&f.untilInputEnds, "until-input-ends", false, "stop immediately when the standard input ends")
	if err := flags.MarkHidden("until-input-ends"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

func runCAServe(env *environment, f caServeFlags) error {
	s := defaultSettings()
	s.Log.Format = f.logFormat
	log, err := s.logger(env)
	if err != nil {
		return cli.UsageError("--log-format %q: must be text or json", f.logFormat)
	}
	listener, err := takeover.Open(context.Background(), func() (net.Listener, error) { return net.Listen("tcp", f.listen) }, syscall.EADDRINUSE)
	if err != nil {
		return &cli.Error{Code: cli.ExitUnavailable, Err: err, Hint: "choose another address with --listen"}
	}
	address := listener.Addr()
	server, err := service.New(service.Config{Open: f.opener(env), Listener: listener, Log: log, Now: env.Now})
	if err != nil {
		return errors.Join(serveError(err), listener.Close())
	}
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	if f.untilInputEnds {
		go stopAfter(env.In, stop)
	}
	fmt.Fprintf(env.Out, "serving on %v\n", address)
	supervisor.FromEnvironment().Ready()
	return serveUntil(server, stop, log)
}

// opener opens the authority, with the same passphrase each time.
func (f *caServeFlags) opener(env *environment) func() (*ca.Authority, error) {
	dir := f.folder(env)
	source := passphraseSource{env: env, file: f.passphraseFile, what: dir}
	ask := sync.OnceValues(source.ask)
	return func() (*ca.Authority, error) {
		if err := checkOwner(dir); err != nil {
			return nil, err
		}
		return ca.Open(dir, ca.Options{Now: env.Now, Passphrase: ask, WorkFactor: env.workFactor})
	}
}

// serveUntil runs a service until it fails or is told to stop, twice to stop at
// once.
func serveUntil(server *service.Server, stop <-chan os.Signal, log *slog.Logger) error {
	log.Info("enrolment service is up", "group", server.Group(), "ca", certificate.FormatFingerprint(server.Signer()))
	failed := make(chan error, 1)
	go func() { failed <- server.Serve() }()
	var err error
	select {
	case err = <-failed:
	case <-stop:
		log.Info("stopping; a second signal stops immediately")
	}
	ctx, cancel := context.WithTimeout(context.Background(), serveGrace)
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return errors.Join(err, cutOff(server.Shutdown(ctx), log))
}

// cutOff makes of a stop that could not wait for all requests what it is: no
// failure. Who was cut off asks again.
func cutOff(err error, log *slog.Logger) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		log.Warn("open requests were aborted")
		return nil
	}
	return err
}

// serveError gives an error at the start its exit code and hint.
func serveError(err error) error {
	if errors.Is(err, service.ErrNoConfiguration) {
		return cli.ConfigError(err, "sign one first: wander ca config FILE")
	}
	return caError(err)
}
