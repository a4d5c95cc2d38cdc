package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/invite"
)

const (
	// defaultJoinWait is how long join tries to reach the CA.
	defaultJoinWait = time.Minute
	// firstJoinPause and longestJoinPause are between tries, doubling.
	firstJoinPause   = 250 * time.Millisecond
	longestJoinPause = 10 * time.Second
	// clockTolerance is how wrong a clock may be without a warning: certificates
	// do not notice.
	clockTolerance = 30 * time.Second
)

type joinFlags struct {
	dir, stateDir, listen string
	advertise             []string
	resource              string
	command               []string // behind --
	wait                  cli.Span

	request         bool
	install         string
	name, groupName string
	caAddress       []string
}

func newJoinCommand(env *environment) *cobra.Command {
	f := joinFlags{wait: cli.Span{Duration: defaultJoinWait}}
	cmd := &cobra.Command{
		Use:   "join INVITE [-- COMMAND…]",
		Short: "Join a group",
		Long: `Join a group with an invite, the line that wander ca invite prints; - reads it from
the standard input, where other users cannot see it. The private key is made here and
stays here. The command writes what a member needs to a folder: member.key,
member.crt, group.crt, and wander.toml unless it exists.

The command never overwrites a key. After a crash or a lost answer, run the same
command again to complete it.

With the invite of a gate (wander ca invite --gate) the machine becomes a gate: it
runs wander gate and no member.

Without a network between the machine and the CA: --request writes a request
file, wander ca issue --request signs it, and --install installs the certificate.`,
		Example: `  wander join wander1-… --advertise ftp-03.example.org:4133
  wander join - --dir ftp-03 --resource ftp -- /usr/local/bin/mirror < invite.txt
  wander join --request --name ftp-03 --group group.crt --dir ftp-03
  wander join --install ftp-03.crt --group group.crt --dir ftp-03`,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, f.command = splitAt(args, cmd.ArgsLenAtDash())
			return runJoin(env, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", defaultJoinDir, "write the files to this folder")
	flags.StringVar(&f.stateDir, "state-dir", "", "state_dir in wander.toml (default /var/lib/wander, or state in a --dir)")
	flags.StringVar(&f.listen, "listen", "[::]:4133", `listen.address in wander.toml; "" for a member that only dials out`)
	flags.StringSliceVar(&f.advertise, "advertise", nil, "listen.advertise in wander.toml: address for other members, host:port; may be repeated")
	flags.StringVar(&f.resource, "resource", "", "operation.resource in wander.toml; its command follows --")
	flags.Var(&f.wait, "wait", "maximum time to retry while the CA is unreachable")
	flags.BoolVar(&f.request, "request", false, "write a request file for wander ca issue instead")
	flags.StringVar(&f.install, "install", "", "install the certificate in this file instead")
	flags.StringVar(&f.name, "name", "", "with --request: the member's name")
	flags.StringVar(&f.groupName, "group", "", "with --request and --install: the group file; with --request also its id")
	flags.StringSliceVar(&f.caAddress, "ca-address", nil, "with --install: address of wander ca serve, for renewals")
	return cmd
}

// splitAt parts what stands behind -- from the rest.
func splitAt(args []string, dash int) (before, behind []string) {
	if dash < 0 {
		return args, nil
	}
	return args[:dash], args[dash:]
}

func runJoin(env *environment, f joinFlags, args []string) error {
	offline := f.request || f.install != ""
	switch {
	case f.request && f.install != "":
		return cli.UsageError("--request and --install cannot be combined")
	case offline && len(args) > 0:
		return cli.UsageError("an invite cannot be combined with --request or --install")
	case !offline && (f.name != "" || f.groupName != "" || len(f.caAddress) > 0):
		return cli.UsageError("--name, --group and --ca-address cannot be combined with an invite, which contains them")
	case len(args) > 1:
		return cli.UsageError("unexpected argument %q after the invite", args[1])
	case !offline && len(args) == 0:
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("no invite specified"), Hint: "ask the CA's operator for one: wander ca invite --name NAME"}
	}
	if err := f.checkSettings(); err != nil {
		return err
	}
	switch {
	case f.request:
		return runJoinRequest(env, f)
	case f.install != "":
		return runJoinInstall(env, f)
	}
	i, err := readInvite(env, args[0])
	if err != nil {
		return err
	}
	return f.join(env, i)
}

// readInvite takes an invite from the command line or, for -, from the standard
// input.
func readInvite(env *environment, text string) (invite.Invite, error) {
	if text == "-" {
		raw, err := io.ReadAll(io.LimitReader(env.In, invite.MaxText+1))
		if err != nil {
			return invite.Invite{}, err
		}
		text = string(raw)
	}
	i, err := invite.Parse(text)
	hint := "ask the CA's operator for another one: wander ca invite"
	switch {
	case err == nil:
		return i, nil
	case errors.Is(err, invite.ErrMangled):
		hint = "copy the whole line again, from wander1- on: a part is missing or changed"
	case errors.Is(err, invite.ErrVersion):
		hint = "update wander on this machine"
	case errors.Is(err, invite.ErrNotInvite):
		hint = "give the one word that begins with wander1-"
	}
	return invite.Invite{}, &cli.Error{Code: cli.ExitUsage, Err: err, Hint: hint}
}

// join becomes a member. Each step can be the last one before a crash.
func (f joinFlags) join(env *environment, i invite.Invite) error {
	home := memberHome{dir: f.dir}
	done, err := home.check(env, i.Group, i.Name)
	if err != nil {
		return err
	}
	if done {
		return f.again(env, i, home)
	}
	made := !exists(home.keyFile())
	key, err := home.key()
	if err != nil {
		return err
	}
	signed, err := signRequest(env, i.Group, i.Name, key)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	e, err := f.enrol(ctx, env, i, signed)
	if errors.Is(err, enrolment.ErrRefused) && made {
		home.forgetKey(key)
	}
	if err != nil {
		return joinError(env, i, err)
	}
	e = allRevocations(ctx, e, enrolment.Client{
		Addresses: i.Addresses, Group: e.Group, Certificate: e.Certificate, Key: key, Now: env.Now,
	})
	f.caAddress = i.Addresses
	if err := f.finish(env, home, e, i.Authority); err != nil {
		return err
	}
	f.advise(env, home, e)
	return nil
}

// askAgainFor bounds the question after the standing of a member that there is
// already: it needs no answer.
const askAgainFor = 5 * time.Second

// again is a join that was done before. The CA may know that the member is none
// any more; and one that never ran may be the first that has to make the tokens.
func (f joinFlags) again(env *environment, i invite.Invite, home memberHome) error {
	id, err := home.identity()
	if err != nil {
		return cli.ConfigError(err, otherDirHint)
	}
	ctx, stop := context.WithTimeout(context.Background(), askAgainFor)
	defer stop()
	client := enrolment.Client{Addresses: i.Addresses, Group: id.Group, Certificate: id.Certificate, Key: id.Key, Now: env.Now}
	_, err = client.Sync(ctx, enrolment.Mine{Revocations: lastRevocation(id)})
	if errors.Is(err, enrolment.ErrRevoked) || errors.Is(err, enrolment.ErrLeft) {
		return deadError(fmt.Errorf("member %s in %s: %w", i.Name, f.dir, err))
	}
	fmt.Fprintf(env.Out, "nothing to do: %s is %v %s already\n", f.dir, id.Certificate.Role(), i.Name)
	if id.Certificate.Role() == certificate.GateRole {
		f.adviseGate(env, home, id.Certificate)
		return nil
	}
	if !hasJournal(home.stateDir(env)) {
		if signed, err := signRequest(env, i.Group, i.Name, id.Key); err == nil {
			if e, err := enrolment.Enrol(ctx, i, signed, env.Now); err == nil {
				f.advise(env, home, e)
				return nil
			}
		}
		cli.Warn(env.Err, "the CA does not report whether there are other members: start only the very first one with --found, once")
	}
	fmt.Fprintf(env.Out, "next: %s\n", startLine(home.config(), false, hasUnit(home.config())))
	return nil
}

// packageUnit is the unit that a package brings. It starts the member whose settings are in the default place.
const packageUnit = "/usr/lib/systemd/system/wander.service"

// hasUnit reports whether systemd starts the member with these settings.
func hasUnit(config string) bool {
	_, err := os.Stat(packageUnit)
	return err == nil && config == defaultConfigFile
}

// startLine is the command that starts a member: by its unit, if there is one, so that the daemon runs as the unit's user. The first member
// founds the group.
func startLine(config string, found, unit bool) string {
	switch {
	case unit && found:
		return "systemctl set-environment WANDER_NODE_OPTIONS=--found; systemctl enable --now wander; systemctl unset-environment WANDER_NODE_OPTIONS    # " + foundNote
	case unit:
		return "systemctl enable --now wander"
	case found:
		return "wander node --config " + config + " --found    # " + foundNote
	}
	return "wander node --config " + config
}

const foundNote = "the first member generates the tokens, once"

// signRequest asks for a certificate for a key.
func signRequest(env *environment, g ident.Group, name string, key *signature.PrivateKey) (certificate.SignedRequest, error) {
	r := certificate.Request{Name: name, Key: key.Public().Bytes(), Time: uint64(max(env.Now().UnixMilli(), 0))}
	if _, err := rand.Read(r.Nonce[:]); err != nil {
		return certificate.SignedRequest{}, err
	}
	return r.Sign(g, key)
}

// enrol asks the CA until it answers or there is no more time.
func (f joinFlags) enrol(ctx context.Context, env *environment, i invite.Invite, r certificate.SignedRequest) (enrolment.Enrolled, error) {
	deadline, pauses := time.Now().Add(f.wait.Duration), joinPauses{firstJoinPause}
	for {
		e, err := enrolment.Enrol(ctx, i, r, env.Now)
		if err == nil {
			return e, nil
		}
		wait, again := pauses.next(err, time.Until(deadline))
		if !again || ctx.Err() != nil {
			return e, err
		}
		cli.Warn(env.Err, "%v; trying again in %v", err, wait.Round(time.Millisecond))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// joinPauses are the pauses between requests to the CA: each is twice as long as the one
// before it, up to longestJoinPause.
type joinPauses struct{ pause time.Duration }

// next returns the pause after a request that failed with err when the time left is left,
// and whether another request follows. The last request is at the end of the time.
func (p *joinPauses) next(err error, left time.Duration) (pause time.Duration, again bool) {
	pause = p.pause
	var busy *enrolment.BusyError
	switch {
	case errors.As(err, &busy):
		if busy.After > left {
			return 0, false
		}
		pause = max(pause, busy.After)
	case !errors.Is(err, enrolment.ErrUnreachable) && !errors.Is(err, enrolment.ErrFailed):
		return 0, false
	}
	p.pause = min(2*p.pause, longestJoinPause)
	return min(pause, left), left > 0
}

// allRevocations is an answer with the revocations that did not fit it. The member
// learns the rest from other members.
func allRevocations(ctx context.Context, e enrolment.Enrolled, client enrolment.Client) enrolment.Enrolled {
	for e.More && len(e.Revocations) > 0 && len(e.Revocations) < maxJoinRevocations {
		last, err := certificate.ParseRevocation(e.Group.ID(), e.Revocations[len(e.Revocations)-1], e.Group)
		if err != nil {
			return e
		}
		news, err := client.Sync(ctx, enrolment.Mine{Revocations: last.Body().Version})
		if err != nil || len(news.Revocations) == 0 {
			return e
		}
		e.Revocations, e.More = append(e.Revocations, news.Revocations...), news.More
	}
	return e
}

// maxJoinRevocations bounds the revocations that join writes: a group file with
// them stays far below what a node reads.
const maxJoinRevocations = 8192

// adviseGate says what to do next with the certificate of a gate.
func (f joinFlags) adviseGate(env *environment, home memberHome, c certificate.Certificate) {
	if len(f.advertise) > 0 || f.resource != "" {
		cli.Warn(env.Err, "this is a gate: --advertise, --resource and the command are a member's and were left out")
	}
	fmt.Fprintf(env.Out, "next: where the CA is, give the resource gate = \"%v\" and its gate_address, and sign that: wander ca config\n", c.Member())
	fmt.Fprintf(env.Out, "next: wander gate --dir %s --resource NAME --target HOST:PORT --close COMMAND --floor 0    # 0: the resource has seen no session yet\n", filepath.Dir(home.config()))
}

// advise says what to do next, and what is wrong with the clock.
func (f joinFlags) advise(env *environment, home memberHome, e enrolment.Enrolled) {
	found := false
	isGate := e.Certificate.Role() == certificate.GateRole
	switch {
	case isGate:
	case len(e.Peers) > 0:
	case e.Others > 0:
		cli.Warn(env.Err, "the group has %s, but the CA does not know where: put the address of one into %s, under [bootstrap] peers",
			otherMembers(e.Others), home.config())
	default:
		found = true
	}
	if e.Skew.Abs() > clockTolerance {
		how := "slow"
		if e.Skew < 0 {
			how = "fast"
		}
		cli.Warn(env.Err, "this machine's clock is %s %s: set it, or certificates seem not valid", duration.Format(e.Skew.Abs()), how)
	}
	if err := e.Certificate.ValidAt(env.Now()); err != nil {
		cli.Warn(env.Err, "by this machine's clock the %v: set the clock before the node is started", err)
	}
	if isGate {
		f.adviseGate(env, home, e.Certificate)
		return
	}
	if len(f.advertise) == 0 && isAnyAddress(f.listen) {
		cli.Warn(env.Err, "no other member can dial this one: write where they reach it into %s, as advertise under [listen]", home.config())
	}
	fmt.Fprintf(env.Out, "next: %s\n", startLine(home.config(), found, hasUnit(home.config())))
}

// isAnyAddress reports whether an address to listen on names no host, so that nobody can be told to dial it.
func isAnyAddress(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	return err == nil && (host == "" || ip != nil && ip.IsUnspecified())
}

func otherMembers(n uint64) string {
	if n == 1 {
		return "1 other member"
	}
	return fmt.Sprintf("%d other members", n)
}

// joinError gives an error its exit code and says what to do.
func joinError(env *environment, i invite.Invite, err error) error {
	switch {
	case errors.Is(err, enrolment.ErrRefused):
		hint := "ask the CA's operator for a new invite: each works once, for one machine; the log of wander ca serve has the reason"
		if now := env.Now(); now.After(i.Expires) {
			hint = fmt.Sprintf("ask the CA's operator for a new invite: this one expired at %s", i.Expires.Format(time.RFC3339))
		}
		return &cli.Error{Code: cli.ExitNoPermission, Err: err, Hint: hint}
	case errors.Is(err, enrolment.ErrImpostor):
		return &cli.Error{
			Code: cli.ExitNoPermission, Err: err,
			Hint: "check the address in the invite (" + strings.Join(i.Addresses, ", ") + ") and which service answers there; nothing was sent to it",
		}
	}
	return authorityError(err, i.Addresses)
}

// checkName is for a name and group that no invite has checked.
func checkName(name string) error {
	if name == "" {
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("no member name specified"), Hint: "add --name, for example --name ftp-03"}
	}
	return caError(certificate.CheckName(name))
}

// groupID reads a group id in hex.
func groupID(text string) (ident.Group, error) {
	var g ident.Group
	err := g.UnmarshalText([]byte(text))
	return g, err
}
