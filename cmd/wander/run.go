package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// Exit codes of `wander run` besides the command's own and those of the other
// commands, as shells have them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

const runUsage = `run RESOURCE [flags] -- CMD...`

const runLong = `Run a command while this member holds a token of the resource, at most until the
grant's deadline. All processes of the command get SIGTERM a grace period before the
deadline and SIGKILL at the deadline, even if the daemon or this program has died.
Time spent suspended counts. When the command ends, its remaining processes are
stopped, on Linux also those in another session.

Flags may precede or follow RESOURCE; everything from CMD on belongs to the command.
No shell is used without -c. A signal ends the wait immediately; later signals go to
the command.

A run nested in a run of the same resource at the same member would wait for its own
end; it is refused immediately. A nested run of another resource is permitted. So is
one at another member (--socket), which waits until the outer run has ended.

Exit code: the command's own, 128+n after signal n, and
  64  the command line, or a run    75  not granted in time (or -E), also for
      of the resource within itself     want of votes (on_isolated)
  69  no daemon any more, or cut    76  deadline, loss of the grant or of the
      off                               guards: the command was stopped
  70  a bug                         77  certificate or configuration refuse
  71  no guard starts within 30 s
  126 not executable                127 not found

The command sees WANDER_RESOURCE, WANDER_MEMBER, WANDER_TOKEN, WANDER_HOP,
WANDER_FENCE, WANDER_DEADLINE (RFC 3339), WANDER_PERMIT_FILE (the permit, removed when
the command ends: wander permit verify) and WANDER_HELD, which lists each run that it
is within, its own last, as RESOURCE=GRANT,RESOURCE=GRANT. If the resource has a gate,
it sees WANDER_GATE_FENCE, and reaches the resource by wander gate connect.
WANDER_RETURN_S and WANDER_RETURN_P95_S say in how many seconds the next turn here is
expected, in half of all cases and in 19 of 20; a member with few turns so far sets neither.
With --across-reboot CMD makes the machine restart (systemctl reboot): if it succeeds, the
grant outlives it, the daemon and the restart. It ends by wander release RESOURCE when the
machine is up, or at its deadline; no other member runs until then. If CMD fails, the grant is
released. The daemon must be durable. A session at a gate ends when the machine goes down:
after the restart the resource is reached in the next run, after wander release.
With --dry-run nothing is asked for and nothing runs: the output shows what would run, and what
the resource waits for now.

WANDER_SOCKET, if set, is the default of --socket. The command finds the socket there,
so that every wander in it asks the same daemon.`

const runExample = `  wander run nightly-backup -- /usr/local/bin/backup --full
  wander run ftp --wait 10m --max-hold 2m -- lftp -f upload.lftp
  wander run reboot --across-reboot -- systemctl reboot
  wander run reindex --once-per 24h --else skip -c 'cd /srv && ./reindex | logger'`

func newRunCommand(env *environment) *cobra.Command {
	o := newRunOptions()
	cmd := &cobra.Command{
		Use:                   runUsage,
		Short:                 "Run a command while this member holds a token",
		Long:                  runLong,
		Example:               runExample,
		DisableFlagsInUseLine: true,
		Args:                  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			help, err := o.parse(cmd.Flags(), args)
			switch {
			case errors.As(err, new(*cli.Error)):
				return err
			case err != nil:
				return cli.FlagError(cmd, err)
			case help:
				return cmd.Help()
			}
			socket, err := socketPath(env, o.socket)
			if err != nil {
				return err
			}
			o.socket = socket
			return newRunner(env, o).run()
		},
	}
	o.register(cmd.Flags())
	return cmd
}

// runner is one call of `wander run`.
type runner struct {
	*runOptions
	env     *environment
	client  *api.Client
	signals <-chan os.Signal
	started clock.Instant
	report  runReport
	out     *reportFile
	child   supervise.Command
	held    heldList // what this run is within
	guard   *supervise.Guard

	guardWait   time.Duration // until guard is ready
	interrupted os.Signal     // ended the wait
}

func newRunner(env *environment, o *runOptions) *runner {
	return &runner{
		runOptions: o, env: env, client: api.Dial(o.socket), started: boottime.Now(),
		report: runReport{V: 1, Resource: o.resource, Outcome: outcomeError}, guardWait: cmp.Or(env.guardWait, supervise.ReadyTimeout),
	}
}

// run returns nil or an *exitError; the report says the same.
func (r *runner) run() (err error) {
	if r.out, err = openReport(r.reportTo); err != nil {
		return reportError(err)
	}
	forgetOuterGrant()
	var stop func()
	r.signals, stop = catchSignals()
	defer stop()
	defer r.writeReport()
	return r.wait()
}

func reportError(err error) error {
	return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("--report: %w", err), Hint: "name a file that can be written, the number of an open descriptor (fd:3), or - for the standard output"}
}

// writeReport tells how the run has ended. Only the first call does.
func (r *runner) writeReport() {
	if err := r.out.write(r.report); err != nil {
		r.warn("the report could not be written: " + err.Error())
	}
	r.out = nil
}

// wait does everything that can fail before it asks for the resource.
func (r *runner) wait() (err error) {
	if r.held, err = readHeld(r.env.Getenv); err != nil {
		return err
	}
	path, err := lookPath(r.command[0])
	if err != nil {
		return r.notStarted(err)
	}
	if r.dryRun {
		return r.describe(path)
	}
	r.child = supervise.Command{Path: path, Args: r.command}
	r.env.adopt()
	r.guard, err = supervise.StartGuard(supervise.Streams{
		Stdin: fileOf(r.env.In, os.Stdin), Stdout: fileOf(r.env.Out, os.Stdout), Stderr: fileOf(r.env.Err, os.Stderr),
	}, r.guardWait)
	if err != nil {
		return &cli.Error{
			Code: cli.ExitSystem, Err: err,
			Hint: "check that the machine has free processes, memory and processor time, and try again; nothing was run",
		}
	}
	defer r.guard.Close()
	held, err := r.acquire()
	r.report.WaitedS = boottime.Now().Sub(r.started).Seconds()
	if err != nil {
		return r.notGranted(err)
	}
	defer held.Close()
	return r.underGrant(held)
}

// underGrant runs the command and gives the grant back.
func (r *runner) underGrant(held *api.Held) error {
	grant := held.Grant()
	deadline := grant.DeadlineHere()
	used, end := r.operate(held, deadline)
	r.writeReport() // the release may have to wait for a daemon
	if r.acrossReboot && r.keepsGrant(grant, used.Exit) {
		return end
	}
	r.release(grant, deadline, used)
	return end
}

// keepsGrant reports whether a grant of --across-reboot is left to the machine, which goes down: the command has brought that about, or
// was stopped by SIGTERM, as systems stop programs that still run then. It says what follows.
func (r *runner) keepsGrant(g api.Grant, exit int) bool {
	if r.report.Outcome != outcomeCompleted || exit != cli.ExitOK && exit != cli.ExitSignal+int(syscall.SIGTERM) {
		r.warn("the command has failed, and the machine does not restart: " + g.Resource + " is released")
		return false
	}
	r.warn("this member holds " + g.Resource + " across the restart of the machine, until " + g.Deadline.Format(time.RFC3339) + " at the latest; wander release " + g.Resource + " ends that")
	if g.GateFence > 0 {
		r.warn(fmt.Sprintf("session %d at the gate ends when the machine goes down; after the restart nothing reaches the resource before wander release and the next run", g.GateFence))
	}
	return true
}

// operate runs the command, if there is time for it, and tells how the grant
// was used.
func (r *runner) operate(held *api.Held, deadline clock.Instant) (used api.ReleaseRequest, end error) {
	grant := held.Grant()
	used.Grant = grant.ID
	r.tookGrant(grant)
	begin := boottime.Now()
	if !begin.Before(deadline) {
		r.report.Outcome = outcomeDeadline
		return used, r.told(cli.ExitLost, errors.New("the grant expired before the command could start"), "")
	}
	file, err := writePermit(grant.Permit)
	if err != nil {
		r.warn("no " + permitVariable + ": " + err.Error())
	}
	defer file.remove()
	r.child.Env = append(childEnviron(grant, r.held, r.socket), file.environ()...)
	defer r.remindOf(deadline)()
	result, err := supervise.Run(r.child, r.guard, supervise.Options{
		Deadline: deadline, Grace: r.grace.Duration, Lost: held.Lost(), OnLost: r.onLost.value,
		Signals: r.signals, Warn: r.warn,
	})
	r.report.HeldS = boottime.Now().Sub(begin).Seconds()
	if errors.Is(err, supervise.ErrLate) {
		r.report.Outcome = outcomeDeadline
		return used, r.told(cli.ExitLost, errors.New("the grant expired before the command could start"), "")
	}
	if err != nil {
		return used, r.notStarted(err)
	}
	r.report.ended(result)
	used.Operated, used.Exit = true, exitCode(result)
	used.SeenFrom, used.SeenTo = result.SeenFrom, result.SeenTo
	r.say("the command has ended with %d after %.1f s", used.Exit, r.report.HeldS)
	return used, r.verdict(result)
}

// verdict is what becomes of this program when the command has ended.
func (r *runner) verdict(result supervise.Result) error {
	switch result.Stopped {
	case supervise.ByDeadline:
		r.report.Outcome = outcomeDeadline
		return r.told(cli.ExitLost, errors.New("the grant expired; the command was stopped"), r.longerHint())
	case supervise.ByLoss:
		r.report.Outcome = outcomeLost
		return r.told(cli.ExitLost, fmt.Errorf("the grant was lost (%s); the command was stopped", result.Lost), "")
	case supervise.ByGuard:
		r.report.Outcome = outcomeUnguarded
		return r.told(cli.ExitLost, errors.New("the guards of the command were killed or stopped, and the command was stopped"), "")
	}
	r.report.Outcome = outcomeCompleted
	return silent(exitCode(result))
}

// longerHint says how the grant could have been longer.
func (r *runner) longerHint() string {
	if r.maxHold.Duration > 0 {
		return "request a longer grant with --max-hold, up to max_hold in the group configuration"
	}
	return "a longer grant needs a longer max_hold in the group configuration"
}

// withoutGrant is --else run.
func (r *runner) withoutGrant() error {
	r.child.Env = append(os.Environ(), "WANDER_RESOURCE="+r.resource)
	result, err := supervise.Run(r.child, r.guard, supervise.Options{
		Deadline: clock.Never, Grace: r.grace.Duration, Signals: r.signals, Warn: r.warn,
	})
	if err != nil {
		return r.notStarted(err)
	}
	r.report.ended(result)
	r.report.Outcome = outcomeWithoutGrant
	return silent(exitCode(result))
}

// notStarted is a command that cannot be executed.
func (r *runner) notStarted(err error) error {
	code := exitNotExecutable
	r.report.Outcome = outcomeNotExecutable
	if isNotFound(err) {
		code, r.report.Outcome = exitNotFound, outcomeNotFound
	}
	return &cli.Error{Code: code, Err: err}
}

// exitCode is the command's own, or what a shell makes of its signal.
func exitCode(r supervise.Result) int {
	switch {
	case r.Signal != 0:
		return cli.ExitSignal + int(r.Signal)
	case r.Exit < 0: // its status is not known
		return cli.ExitFailure
	}
	return r.Exit
}

// told is an outcome that -q keeps to the exit code.
func (r *runner) told(code int, err error, hint string) error {
	if r.quiet {
		return silent(code)
	}
	return &cli.Error{Code: code, Err: err, Hint: hint}
}

// silent ends the program with a code and no message.
func silent(code int) error {
	if code == cli.ExitOK {
		return nil
	}
	return &cli.Error{Code: code, Err: errors.New("")}
}

func (r *runner) warn(text string) {
	if !r.quiet {
		cli.Warn(r.env.Err, "%s", text)
	}
}
