package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/ident"
)

const gateConnectLong = `Connect to a resource through its gate, within the session of the run that this command is
within. Standard input and output are the stream, so this is a ProxyCommand for ssh. With
--listen each connection to a Unix socket is one stream: the socket is for the owner only,
in a folder for the owner only. The stream belongs to the session and ends with it.

Exit codes: 0 if the resource has ended the stream, 64 if the gate has no such target or
this is not within a run, 69 if the gate does not reach the resource or has too many
streams, or the daemon is gone, 76 if the session has ended.`

const gateConnectExample = `  wander run files -- rsync -e "ssh -o ProxyCommand='wander gate connect files'" -a data/ files:/srv/data
  wander run db -c 'wander gate connect db --listen ~/.pg/.s.PGSQL.5432 & sleep 1; psql -h ~/.pg'`

func newGateConnectCommand(env *environment) *cobra.Command {
	var socket, listen, target string
	cmd := &cobra.Command{
		Use:     "connect RESOURCE",
		Short:   "Connect to a resource through its gate, within a run",
		Long:    gateConnectLong,
		Example: gateConnectExample,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := socketPath(env, socket)
			if err != nil {
				return err
			}
			grant, err := grantOf(env, args[0])
			if err != nil {
				return err
			}
			d := gateDialer{client: api.Dial(path), request: api.ConnectRequest{Grant: grant, Target: target}, resource: args[0], log: env.Err}
			if listen != "" {
				return d.serve(listen)
			}
			return d.join(&console{env.In, env.Out})
		},
	}
	addSocketFlag(cmd.Flags(), &socket)
	cmd.Flags().StringVar(&target, "target", "", "connect to the target with this name")
	cmd.Flags().StringVar(&listen, "listen", "", "serve streams on a Unix socket at this path, for the owner only")
	return cmd
}

// grantOf is the innermost run of a resource that this command is within.
func grantOf(env *environment, resource string) (g ident.Grant, err error) {
	held, err := readHeld(env.Getenv)
	if err != nil {
		return g, err
	}
	found, within := false, []string(nil)
	for i, entry := range strings.FieldsFunc(held.text, func(r rune) bool { return r == ',' }) {
		name, _, _ := strings.Cut(entry, "=")
		if within = append(within, name); name == resource && i < len(held.grants) {
			g, found = held.grants[i], true
		}
	}
	if !found {
		return g, &cli.Error{
			Code: cli.ExitUsage, Err: fmt.Errorf("not within a run of %s", cli.OneLine(resource)),
			Hint: cmp.Or(cli.DidYouMean(resource, within), runHint(resource, within)),
		}
	}
	return g, nil
}

// runHint says within which runs a command is, or how it gets into one.
func runHint(resource string, within []string) string {
	if len(within) > 0 {
		return "this is within a run of " + strings.Join(within, ", ")
	}
	return "start it in: wander run " + cli.OneLine(resource) + " -- …"
}

// gateDialer opens streams through a gate.
type gateDialer struct {
	client   *api.Client
	request  api.ConnectRequest
	resource string
	log      io.Writer
}

func (d *gateDialer) dial() (api.Duplex, error) {
	stream, err := d.client.Connect(context.Background(), d.request)
	return stream, d.failure(err)
}

// failure gives the end of a stream, or that there is none, its exit code.
func (d *gateDialer) failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, api.ErrNoSession):
		return &cli.Error{Code: cli.ExitLost, Err: fmt.Errorf("%s: %w", d.resource, err), Hint: "the run is over or has lost its session, the resource has no gate, or the run is of another daemon (--socket): wander status shows the gate"}
	case errors.Is(err, api.ErrBadRequest): // the gate has no such target
		return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("%s: %w", d.resource, err)}
	case errors.Is(err, api.ErrUnavailable):
		return &cli.Error{
			Code: cli.ExitUnavailable, Err: fmt.Errorf("%s: %w", d.resource, err),
			Hint: "wander status shows the gate; on the gate's machine, wander gate status shows its target, and whether that was reached",
		}
	}
	return fmt.Errorf("%s: %w", d.resource, err)
}

// join joins a stream with this process's own input and output. It ends with what comes from the resource.
func (d *gateDialer) join(c *console) error {
	stream, err := d.dial()
	if err != nil {
		return err
	}
	defer stream.Close()
	go send(stream, c.in)
	_, err = io.Copy(c.out, stream)
	return d.failure(err)
}

// send sends what comes to the resource. How the stream has ended is for those who read it to find out.
func send(stream api.Duplex, in io.Reader) {
	_, _ = io.Copy(stream, in)
	_ = stream.CloseWrite()
}

// console is this process's input and output.
type console struct {
	in  io.Reader
	out io.Writer
}

// serve serves streams on a socket until there is no session any more.
func (d *gateDialer) serve(path string) error {
	if err := privateFolder(filepath.Dir(path)); err != nil {
		return err
	}
	l, err := api.Listen(path, api.Access{})
	if err != nil {
		return cli.ConfigError(fmt.Errorf("--listen: %w", err), "name a path of at most 103 bytes that nothing else uses")
	}
	defer l.Close()
	over := make(chan error, 1)
	for {
		local, err := l.Accept()
		select {
		case why := <-over:
			if err == nil {
				local.Close()
			}
			return why
		default:
		}
		if err != nil {
			return err
		}
		stream, err := d.dial()
		if err != nil {
			local.Close()
			if isOver(err) {
				return err
			}
			cli.Warn(d.log, "%v", err) // the other streams go on
			continue
		}
		go func() {
			if err := d.joinLocal(local.(*net.UnixConn), stream); isOver(err) {
				select {
				case over <- err:
					l.Close()
				default:
				}
			} else if err != nil {
				cli.Warn(d.log, "%v", err)
			}
		}()
	}
}

// isOver reports whether an error says that no stream can be opened any more.
func isOver(err error) bool {
	return errors.Is(err, api.ErrNoSession) || errors.Is(err, api.ErrNoDaemon) || errors.Is(err, api.ErrBadRequest)
}

// joinLocal joins a stream with a program that has connected to the socket. The error says how the stream has ended, if not by the resource or the program.
func (d *gateDialer) joinLocal(local *net.UnixConn, stream api.Duplex) error {
	defer local.Close()
	defer stream.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		send(stream, local)
	}()
	_, err := io.Copy(local, stream)
	if err == nil {
		_ = local.CloseWrite()
		<-sent
	}
	if gone := (*net.OpError)(nil); errors.As(err, &gone) && gone.Op == "write" {
		return nil // the program has gone
	}
	return d.failure(err)
}

// privateFolder makes the socket's folder, or sees to it that nobody else can enter it.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cli.ConfigError(fmt.Errorf("--listen: %w", err), "name a path in a folder that you may make")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return cli.ConfigError(fmt.Errorf("--listen: %w", err), "")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		hint := "chmod 700 " + dir + ", or name another folder"
		if info.Mode()&fs.ModeSticky != 0 { // for everybody, as /tmp is
			hint = "name a path in a folder of your own, such as mktemp -d makes"
		}
		return cli.ConfigError(fmt.Errorf("--listen: others can enter %s (mode %#o)", dir, mode), hint)
	}
	return nil
}
