package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/ident"
)

func newStatusCommand(env *environment) *cobra.Command {
	var check bool
	cmd := showCommand(env, &cobra.Command{
		Use:   "status",
		Short: "Show why nothing runs, and the state of the local daemon",
		Long: `Show in one sentence for each resource what it waits for, and then the state of the group that
the local member knows. There is no global view: ages show how old each observation is.

Exit code 69: no daemon answers, no other member can be reached and no token is here, or the certificate
does not count; with --check also if the gate of a resource cannot be reached, or, while a program waits, was stuck within
the last two minutes. With --check, a program that runs much longer than those before is said, and the code is 0: it ends at its
deadline at the latest.`,
		Example: "  wander status\n  wander status --check\n  wander status --socket a/wander.sock --output json",
	}, func(socket string, asJSON bool) error {
		if check {
			return runCheck(env, socket)
		}
		return runStatus(env, socket, asJSON)
	})
	cmd.Flags().BoolVar(&check, "check", false, "print one line, for a monitor")
	return cmd
}

// runCheck is one line about the member.
func runCheck(env *environment, socket string) error {
	st, err := askStatus(env, socket)
	if err != nil {
		printWhy(env.Out, "wander", unanswered(env, socket, err))
		return &cli.Error{Code: cli.ExitUnavailable, Err: errors.New("")}
	}
	text, healthy := checkLine(&st)
	fmt.Fprintln(env.Out, text)
	if !healthy {
		return &cli.Error{Code: cli.ExitUnavailable, Err: errors.New("")}
	}
	return nil
}

// checkLine is what a monitor shows of a member, and whether it is healthy. The cause that keeps the member from all resources comes first, as it often
// explains the rest; a gate that keeps programs out follows on the same line.
func checkLine(st *api.Status) (text string, healthy bool) {
	var lines []string
	if st.Cause != explain.OK {
		lines = append(lines, whyLine(st.Name, st.Why))
	}
	down := isUnreached(st)
	shut := slices.IndexFunc(st.Resources, func(r api.ResourceStatus) bool { return explain.IsShut(r.Cause) })
	long := slices.IndexFunc(st.Resources, func(r api.ResourceStatus) bool { return r.Cause == explain.RunsLong })
	switch {
	case !down && shut >= 0:
		lines = append(lines, whyLine(st.Resources[shut].Name, st.Resources[shut].Why))
	case st.Cause == explain.OK && long >= 0: // nothing is broken: the program ends, at its deadline at the latest
		lines = append(lines, whyLine(st.Resources[long].Name, st.Resources[long].Why))
	case st.Cause == explain.OK:
		lines = append(lines, whyLine(st.Name, st.Why))
	}
	return strings.Join(lines, "; "), !down && shut < 0
}

func runStatus(env *environment, socket string, asJSON bool) error {
	var (
		st    api.Status
		names map[ident.Member]string
	)
	err := inquire(env, socket, func(ctx context.Context, c *api.Client) (err error) {
		if st, err = c.Status(ctx); err == nil && !asJSON {
			names, err = namesToShow(ctx, c, st)
		}
		return err
	})
	switch {
	case err != nil && asJSON:
		why := unanswered(env, socket, err)
		return cmp.Or(cli.WriteJSON(env.Out, struct {
			V int `json:"v"`
			api.Why
		}{api.Version, why}), err)
	case err != nil:
		why := unanswered(env, socket, err)
		printWhy(env.Out, "wander", why)
		return hintAt(why.Cause, err)
	case asJSON:
		return cmp.Or(cli.WriteJSON(env.Out, st), unreached(&st))
	}
	printStatus(env.Out, st, names)
	return unreached(&st)
}

// hintAtLastWord is hintAt for what the daemon of a socket said last, if no daemon answers there. A machine that is no member has no daemon to start.
func hintAtLastWord(env *environment, socket string, err error) error {
	if !errors.Is(err, api.ErrNoDaemon) {
		return err
	}
	cause := unanswered(env, socket, err).Cause
	var exit *cli.Error
	if s, bad := loadSettings(env, ""); cause == explain.NoDaemon && bad == nil && s.socket() == socket && errors.As(err, &exit) {
		if _, bad := os.Stat(s.Identity.Certificate); errors.Is(bad, fs.ErrNotExist) {
			return &cli.Error{Code: exit.Code, Err: exit.Err, Hint: fmt.Sprintf(notJoinedHint, s.Identity.Certificate)}
		}
	}
	return hintAt(cause, err)
}

// notJoinedHint is for a machine without a daemon on which none can start.
const notJoinedHint = "this machine has joined no group: there is no %s, which `wander join` makes; or give the socket of another daemon with --socket"

// hintAt has an error about a daemon that has ended say where to read what to do: starting it again mends none of what it said last.
func hintAt(c api.Cause, err error) error {
	var exit *cli.Error
	if c == explain.NoDaemon || c == explain.DaemonSilent || !errors.As(err, &exit) {
		return err
	}
	return &cli.Error{Code: exit.Code, Err: exit.Err, Hint: "wander help " + string(c) + " says what to do"}
}

// namesToShow asks for the names of members, if there are any to name.
func namesToShow(ctx context.Context, c *api.Client, st api.Status) (map[ident.Member]string, error) {
	named := slices.ContainsFunc(st.Membership.Faults, func(f api.FaultStatus) bool { return f.Count > 0 })
	for _, r := range st.Resources {
		named = named || slices.ContainsFunc(r.Slots, func(s api.SlotStatus) bool { return len(s.Missing) > 0 })
	}
	if !named {
		return nil, nil
	}
	list, err := c.Members(ctx)
	names := make(map[ident.Member]string)
	for _, m := range list {
		names[m.Member] = m.Name
	}
	return names, err
}

func printStatus(w io.Writer, st api.Status, names map[ident.Member]string) {
	printReasons(w, st)
	fmt.Fprintf(w, "member      %s (%v), %s, up %s\n", st.Name, st.Member, st.Mode, duration.Format(seconds(st.UptimeS)))
	fmt.Fprintf(w, "group       %s (%s), configuration %d\n", st.GroupName, st.Group.String()[:16], st.ConfigurationVersion)
	fmt.Fprintf(w, "address     %s\n", orNone(st.Address))
	fmt.Fprintf(w, "certificate until %s\n", st.CertificateExpires.UTC().Format(time.RFC3339))
	fmt.Fprintf(w, "peers       %d connected:", len(st.Peers))
	for _, p := range st.Peers {
		fmt.Fprintf(w, " %s", p.Name)
	}
	fmt.Fprintf(w, "\nhandoffs    %d ok; offers: %d retried, %d reselected; in doubt: %d now, %d resolved\n",
		st.Handoffs.OK, st.Handoffs.Retried, st.Handoffs.Reselected, st.Handoffs.InDoubt, st.Handoffs.InDoubtResolved)
	fmt.Fprintf(w, "tokens      %d generated, %d dropped\n", st.Tokens.Generated, st.Tokens.Dropped)
	fmt.Fprintf(w, "journal     %s, %s, %s\n", counted.Of(st.Journal.Segments, "segment"), counted.Of(st.Journal.Bytes, "byte"), counted.Of(st.Journal.Fsyncs, "sync"))
	printMembership(w, st.Membership, names)
	if e := st.Evidence; e.Kept > 0 {
		fmt.Fprintf(w, "evidence    %s in %s, %d not yet brought to the CA; wander audit verify-evidence shows against whom\n", counted.Of(e.Kept, "file"), e.Folder, e.Unsent)
	}
	for _, r := range st.Resources {
		printResource(w, r, names)
	}
	for _, u := range st.Users {
		fmt.Fprintf(w, "user        %s: waiting and running programs: %d\n", userText(u.User), u.Programs)
	}
	for _, warning := range st.Warnings {
		fmt.Fprintf(w, "warning     %s [%s]\n", cli.OneLine(warning.Sentence), warning.Cause)
	}
	for _, reason := range slices.Sorted(maps.Keys(st.Rejected)) {
		fmt.Fprintf(w, "rejected    %d %s\n", st.Rejected[reason], reason)
	}
}

// printMembership leaves out those who only were late with something.
func printMembership(w io.Writer, m api.MembershipStatus, names map[ident.Member]string) {
	fmt.Fprintf(w, "directory   revocations %d, compared with %s since joining, %s; %s to tell, members that do not answer: %d\n",
		m.RevocationVersion, counted.Of(m.Snapshots, "peer"), counted.Of(m.Exchanges, "exchange"), counted.Of(m.UpdatesPending, "update"), m.Suspects)
	for _, f := range m.Faults {
		if f.Count > 0 {
			fmt.Fprintf(w, "faults      %s (%v): %d faulty, %d outdated, the last: %s\n", cmp.Or(names[f.Member], "unknown"), f.Member, f.Count, f.Stale, f.Last)
		}
	}
}

// maxNamed bounds the members that one line names.
const maxNamed = 5

// memberList names members, as far as their names are known.
func memberList(list []ident.Member, names map[ident.Member]string) string {
	var text []string
	for _, m := range list[:min(len(list), maxNamed)] {
		text = append(text, cmp.Or(names[m], m.String()))
	}
	if more := len(list) - maxNamed; more > 0 {
		text = append(text, fmt.Sprintf("%d more", more))
	}
	return strings.Join(text, ", ")
}

func printResource(w io.Writer, r api.ResourceStatus, names map[ident.Member]string) {
	place := ""
	if r.NoPlace {
		place = "; no place on the ring, no turns here"
	}
	fmt.Fprintf(w, "resource    %s (%s), %d waiting here%s\n", r.Name, ruleOf(r), r.Waiting, place)
	for _, s := range r.Slots {
		state := "elsewhere"
		switch {
		case s.Leaving:
			state = fmt.Sprintf("here, in use, leaving: not in the configuration any more (token %s, hop %d)", s.Token.Short(), s.Hop)
		case s.Executing:
			state = fmt.Sprintf("here, in use (token %s, hop %d)", s.Token.Short(), s.Hop)
		case s.Held:
			state = fmt.Sprintf("here (token %s, hop %d)", s.Token.Short(), s.Hop)
		}
		fmt.Fprintf(w, "  slot %-4d token %s; last here %s, last operation %s; %s here\n",
			s.Slot, state, ago(s.LastSeenS), ago(s.LastOperationS), counted.Of(s.Operations, "operation"))
		if a := s.Asker; a != nil {
			fmt.Fprintf(w, "            asked for by user %s%s\n", askerText(*a), stopText(r.Name, &s))
		}
		if s.IsolatedS > 0 {
			fmt.Fprintf(w, "            isolated for %v: no program begins here, votes are missing of %s\n", seconds(s.IsolatedS), memberList(s.Missing, names))
		}
		if g := s.Gate; g != nil {
			fmt.Fprintf(w, "            gate %s\n", gateText(*g))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Gauges)) {
			fmt.Fprintf(w, "            %s %.3g\n", name, s.Gauges[name])
		}
	}
}

// stopText is how to stop what runs in a slot. The process that asked is `wander run`, which ends its program and gives the token
// back if it is told to end, or a program that speaks the local API itself. Its command is not shown: it is its user's own. After a restart of
// the machine another process may have its number, so a grant that lasts across one is ended by its resource.
func stopText(resource string, s *api.SlotStatus) (text string) {
	if h := s.Holder; h != nil && h.ProgramS != nil {
		text = fmt.Sprintf(", runs for %v", seconds(*h.ProgramS))
	}
	switch {
	case s.Holder != nil && s.Holder.AwayS != nil:
		text += "; to end it: wander release " + resource
	case s.Asker.Process == 0:
	case !isProcess(int(s.Asker.Process)):
		text += "; there is no such process: if it has ended without the daemon, the token goes on at the deadline"
	default:
		text += fmt.Sprintf("; to stop it: kill %d", s.Asker.Process)
	}
	return text
}

// askerText is a local process that has asked for a grant.
func askerText(a api.Asker) string {
	if a.Process == 0 {
		return userText(a.User)
	}
	return fmt.Sprintf("%s, process %d", userText(a.User), a.Process)
}

// userText is a local user with the name, if this machine has one.
func userText(id uint32) string {
	if u, err := user.LookupId(strconv.FormatUint(uint64(id), 10)); err == nil {
		return fmt.Sprintf("%d (%s)", id, u.Username)
	}
	return strconv.FormatUint(uint64(id), 10)
}

// gateText is what is known of a slot's gate.
func gateText(g api.GateStatus) string {
	text := "unreachable: no token is carried there"
	switch {
	case g.Reachable:
		text = "reachable"
	case g.Observes:
		text = "unreachable: it only observes, and programs run"
	}
	if g.Unreached != "" {
		text += "; " + cli.OneLine(g.Unreached)
	}
	if g.Said != "" {
		text += "; " + cli.OneLine(g.Said)
	}
	if g.Session > 0 {
		text += fmt.Sprintf(", session %d", g.Session)
	}
	if !g.NotBefore.IsZero() {
		text += ", not before " + g.NotBefore.Format(time.RFC3339)
	}
	return text
}

// ruleOf is by which policy and preset a resource's tokens move.
func ruleOf(r api.ResourceStatus) string {
	if r.Policy == "" {
		return "leaving"
	}
	if r.Weight > 0 {
		return fmt.Sprintf("%s, %s, weight %d here", r.Policy, r.Preset, r.Weight)
	}
	return r.Policy + ", " + r.Preset
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Truncate(time.Second)
}

func ago(s *float64) string {
	if s == nil {
		return "never"
	}
	if d := seconds(*s); d >= duration.Day {
		return duration.Format(duration.About(d)) + " ago"
	}
	return fmt.Sprintf("%.1f s ago", *s)
}

func orNone(s string) string {
	if s == "" {
		return "none: dials out only"
	}
	return s
}
