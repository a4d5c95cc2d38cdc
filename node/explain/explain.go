package explain

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/member"
)

const (
	// clockApart is by how much a clock is wrong for people to be told: time servers keep clocks within a
	// second, and a minute shows in audits and in certificates that have just been issued.
	clockApart = time.Minute

	// silentFor is from when on it is said that no peer answers: a few round trips on the slowest network, and far less
	// than after what a member counts as isolated.
	silentFor = 2 * time.Second

	// fewDials is from how many unanswered dials on the network is suspected, and not one failed peer.
	fewDials = 2

	// stuckLasts is for how long a gate that was stuck is taken to be so by a member that has passed the token on: it is a person who mends it, and
	// a program that waits brings the token back within a minute or so.
	stuckLasts = 2 * time.Minute
)

// Status fills in why nothing runs at the time now.
func Status(st *api.Status, now time.Time) {
	st.Why = everything(st)
	for i := range st.Resources {
		st.Resources[i].Why = resource(st, &st.Resources[i], now)
	}
	st.Warnings = append(st.Warnings, longTurns(st)...)
}

// IsDown reports whether a cause keeps a member from its resources until people or the network change something.
// A member that holds a token of theirs needs no others for its programs.
func IsDown(c api.Cause, holds bool) bool {
	switch c {
	case NoDaemon, DaemonSilent, DiskFull, JournalFailed, Revoked, Left, Expired, RetiredKey:
		return true
	case NoAddresses, UDPBlocked, Isolated:
		return !holds
	}
	return false
}

// OfProgram is why a program that waits for a resource does: what keeps this member from all, or what keeps it from that one.
func OfProgram(st *api.Status, resource string) (why api.Why, known bool) {
	i := slices.IndexFunc(st.Resources, func(r api.ResourceStatus) bool { return r.Name == resource })
	switch {
	case IsDown(st.Cause, i >= 0 && Holds(&st.Resources[i])):
		return st.Why, true
	case i >= 0:
		return st.Resources[i].Why, true
	}
	return why, false
}

// IsShut reports whether a cause keeps programs from a resource, at its gate, until people do something. It is what this member sees: others may
// reach the gate.
func IsShut(c api.Cause) bool { return c == GateUnreachable || c == GateStuck }

// Holds reports whether a token of a resource is here.
func Holds(r *api.ResourceStatus) bool {
	return slices.ContainsFunc(r.Slots, func(s api.SlotStatus) bool { return s.Held })
}

func because(c api.Cause, since *float64, format string, args ...any) api.Why {
	return api.Why{Cause: c, SinceS: since, Sentence: fmt.Sprintf(format, args...)}
}

// everything is what keeps a member from all resources.
func everything(st *api.Status) api.Why {
	l := &st.Link
	ahead := time.Duration(l.ClockAheadS * float64(time.Second))
	switch {
	case st.Invalid == "revoked":
		return because(Revoked, nil, "the CA has revoked this member: it takes part in nothing any more")
	case st.Invalid != "" && st.Renewing != "":
		return because(Expired, nil, "this member's %s: no member hands it a token until then", st.Renewing)
	case st.Invalid != "":
		return because(Expired, nil, "this member's certificate does not count: %s; it ends at %s, and no member hands it a token",
			st.Invalid, st.CertificateExpires.UTC().Format(time.RFC3339))
	case st.KeyRetired:
		return because(RetiredKey, nil, "the CA key that signed this member's certificate is retired: other members refuse it until it renews")
	case st.Stopping:
		return because(Stopping, nil, "the daemon is stopping: it passes on what it holds, and grants nothing")
	case st.Journal.Recalling:
		return because(Recalling, &st.UptimeS, "the daemon has restarted %s ago and waits for the greetings of its peers: until then it uses no token", text(st.UptimeS))
	case l.Isolated && l.NobodyLeft:
		return because(Isolated, l.LastHeardS, "isolated: no other member takes part any more: each one has left, was revoked, has failed or has no valid certificate (wander members)")
	case l.Isolated && l.NoAddresses:
		return because(NoAddresses, l.LastHeardS, "neither this member nor any other that it knows can be dialled: all only dial out")
	case l.Isolated && l.LastHeardS == nil && l.Silent && l.Unanswered >= fewDials:
		return because(UDPBlocked, &st.UptimeS, "%s went out since the start %s ago, and nothing came back: UDP may be blocked", counted.Of(l.Unanswered, "dial"), text(st.UptimeS))
	case l.Isolated && l.LastHeardS == nil:
		return because(Isolated, &st.UptimeS, "isolated: no peer has answered since the start %s ago", text(st.UptimeS))
	case l.Isolated:
		return because(Isolated, l.LastHeardS, "isolated: no peer answered for %s", text(*l.LastHeardS))
	case st.Membership.Patience > 1:
		return because(Late, nil, "this machine is late: the daemon was not scheduled for %s; it waits %s as long before it suspects others",
			text(st.Membership.LateS), counted.Of(st.Membership.Patience, "time"))
	case l.SilentS >= silentFor.Seconds():
		return because(NoAnswer, &l.SilentS, "no peer has answered for %s, though this member asks", text(l.SilentS))
	case ahead.Abs() >= clockApart && ahead > 0:
		return because(Clock, nil, "this machine's clock is %s ahead of its peers' clocks", text(ahead.Seconds()))
	case ahead.Abs() >= clockApart:
		return because(Clock, nil, "this machine's clock is %s behind its peers' clocks", text(-ahead.Seconds()))
	case st.Membership.Behind:
		return because(Behind, nil, "the CA has published a configuration or revocations later than configuration %d, and no peer has sent them yet", st.ConfigurationVersion)
	}
	return because(OK, nil, "nothing keeps this member from its resources")
}

// resource is what keeps a resource from the programs here.
func resource(st *api.Status, r *api.ResourceStatus, now time.Time) api.Why {
	for i := range r.Slots {
		switch s := &r.Slots[i]; {
		case s.Leaving:
			return because(Leaving, nil, "the configuration lacks it: the program that runs here may end, and no other begins")
		case s.Executing:
			return running(s)
		}
	}
	if r.Windows != nil && r.Windows.Closed { // the next program would find it so
		return closed(r)
	}
	s := foremost(r.Slots, now)
	if why, ok := blocked(s, now); ok && (r.Waiting > 0 || why.Cause == GateUnreachable) { // the next program would find that so
		return why
	}
	switch {
	case s.Held && r.Waiting > 0:
		return because(TokenHere, s.LastSeenS, "the token is here, and %s", waiting(r))
	case s.Held:
		return because(TokenHere, s.LastSeenS, "the token is here, and no program waits")
	case r.NoPlace:
		return because(NoPlace, nil, "this member has no place on the ring, as more than half of the members only dial out: it gets no turns")
	}
	if r.Waiting > 0 {
		return elsewhere(st, s)
	}
	unhurried := *s
	unhurried.Eta = nil
	why := elsewhere(st, &unhurried)
	if why.Cause != NoToken && why.Cause != Replacing {
		return because(Idle, why.SinceS, "no program waits here; %s", why.Sentence)
	}
	return why
}

// closed is until when the windows of a resource are closed.
func closed(r *api.ResourceStatus) api.Why {
	w := r.Windows
	until := ""
	if w.ByGate {
		until = " by the clock of its gate"
	}
	if !w.Opens.IsZero() {
		until += " until " + w.Opens.Format("Mon 2 Jan 15:04 MST")
	}
	waits := "no program waits"
	if r.Waiting > 0 {
		waits = waiting(r)
	}
	return because(WindowClosed, nil, "closed%s (windows %s); %s", until, w.Text, waits)
}

// NoResource is that the configuration has no such resource.
func NoResource(name string) api.Why {
	return because(NotConfigured, nil, "the group's configuration has no resource %q", name)
}

func running(s *api.SlotStatus) api.Why {
	var since *float64
	sentence := "a program runs here"
	if s.Holder != nil && s.Holder.AwayS != nil {
		without := ""
		if s.Gate != nil && !s.Gate.Observes && s.Gate.Session == 0 {
			without = ", without a session at the gate"
		}
		return because(Running, nil, "this member holds it across a restart of its machine%s, for %s more at most; wander release ends that", without, text(*s.Holder.AwayS))
	}
	if h := s.Holder; h != nil {
		if since = h.ProgramS; since != nil {
			sentence += " for " + text(*since)
		}
		if h.ProgramEndsS != nil {
			sentence += fmt.Sprintf(", and is killed in %s at the latest", text(*h.ProgramEndsS))
		}
	}
	if s.Long != nil {
		return because(RunsLong, since, "%s; %s: it may hang", sentence, usual(s.Long))
	}
	return because(Running, since, "%s", sentence)
}

// blocked is what keeps a program from running under a token that is here or comes.
func blocked(s *api.SlotStatus, now time.Time) (api.Why, bool) {
	if s.IsolatedS > 0 {
		return because(VotesMissing, &s.IsolatedS, "no program begins here for %s: the votes of %s are missing (on_isolated)",
			text(s.IsolatedS), counted.Of(len(s.Missing), "member")), true
	}
	return AtGate(s, now)
}

// AtGate is what keeps a program out at the gate of a slot, as far as this member has heard.
func AtGate(s *api.SlotStatus, now time.Time) (api.Why, bool) {
	g := s.Gate
	if g == nil || g.Observes {
		return api.Why{}, false
	}
	reason, until := "", ""
	if g.Unreached != "" {
		reason = ": " + g.Unreached
	}
	if !g.NotBefore.IsZero() {
		until = ", until " + g.NotBefore.Format(time.RFC3339)
	}
	switch {
	case !g.Reachable:
		return because(GateUnreachable, nil, "the gate in front of the resource cannot be reached%s", reason), true
	case !s.Held && member.Hindrance(g.Hinders) == member.GateStuck && g.SaidS != nil && *g.SaidS < stuckLasts.Seconds():
		return because(GateStuck, g.SaidS, "the gate could not end the session before: it said %q %s ago", g.Said, text(*g.SaidS)), true
	case !s.Held && !g.NotBefore.After(now): // what it has said was about another custody
		return api.Why{}, false
	}
	switch member.Hindrance(g.Hinders) {
	case member.GateStuck:
		return because(GateStuck, nil, "the gate cannot end the session before: it says %q", g.Said), true
	case member.GateRefuses:
		return because(GateRefuses, nil, "the gate refuses: it says %q%s", g.Said, until), true
	case member.GateBusy:
		return because(GateBusy, g.AskedS, "the gate still has the session before%s, and opens when that has ended%s", asked(g), until), true
	case member.GateUnanswered:
		return because(GateBusy, g.AskedS, "the gate has not answered yet%s", asked(g)), true
	case member.GateUseless:
		return because(GateRefuses, nil, "the gate lets no program in: it says %q%s", g.Said, until), true
	}
	return api.Why{}, false
}

// asked is how long ago a program began to wait for a gate.
func asked(g *api.GateStatus) string {
	if g.AskedS == nil {
		return ""
	}
	return " (asked " + text(*g.AskedS) + " ago)"
}

// foremost is the slot whose token comes first, as far as is known. Of tokens that are here, one that nothing blocks is first.
func foremost(list []api.SlotStatus, now time.Time) *api.SlotStatus {
	free := func(s *api.SlotStatus) bool {
		_, is := blocked(s, now)
		return !is
	}
	first := &list[0]
	for i := range list {
		s := &list[i]
		switch {
		case first.Held && s.Held && !free(first) && free(s):
			first = s
		case first.Held:
		case s.Held, s.Eta != nil && (first.Eta == nil || s.Eta.P50S < first.Eta.P50S), first.Holder == nil && s.Holder != nil:
			first = s
		}
	}
	return first
}

// elsewhere is where a token is that is not here.
func elsewhere(st *api.Status, s *api.SlotStatus) api.Why {
	h := s.Holder
	due := "soon"
	if s.Search != nil && s.Search.DueS != nil {
		due = "in at most " + text(*s.Search.DueS)
	}
	switch isLost := s.Search != nil && s.Search.Stage == "lost"; {
	case isLost && s.LastSeenS == nil && h == nil:
		return because(NoToken, nil, "there is no token yet: no member that answers has one; this member makes the first %s", due)
	case isLost:
		return because(Replacing, nil, "the token is lost: no member that answers has it; a replacement is due %s%s", due, last(h))
	}
	switch {
	case s.Search != nil:
		return because(Searching, nil, "the token is missing, and this member asks the others for it%s", last(h))
	case h != nil && s.Long != nil:
		return because(RunsLong, &s.Long.TookS, "%s; %s: no prediction", holding(h), usual(s.Long))
	case h != nil:
		return because(place(s), &h.AgeS, "%s%s", holding(h), turn(s.Eta))
	case s.LastSeenS == nil && s.Founding:
		return because(NoToken, nil, "there is no token yet: the members are agreeing which one makes the first")
	case s.LastSeenS == nil:
		return because(NoToken, nil, "no token has come here yet: there may be none%s", alone(st))
	}
	return because(NoNews, s.LastSeenS, "the token is with another member; it was here %s ago, and nobody has told since where it is%s", text(*s.LastSeenS), turn(s.Eta))
}

// place is where a member is in the order of those that wait, if that is known.
func place(s *api.SlotStatus) api.Cause {
	switch {
	case s.Holder.AwayS != nil:
		return HolderAway
	case s.Eta != nil && s.Eta.Basis == "order" && s.Eta.Before == 0:
		return Next
	case s.Eta != nil && s.Eta.Basis == "order":
		return Queued
	case s.Holder.ProgramEndsS != nil:
		return RunsElsewhere
	}
	return Elsewhere
}

func holding(h *api.HolderStatus) string {
	if h.AwayS != nil {
		return fmt.Sprintf("%s is away while its machine restarts (%s), for %s more at most", h.Name, source(h), text(*h.AwayS))
	}
	if h.ProgramEndsS != nil {
		return fmt.Sprintf("%s runs its program%s (%s), for %s more at most", h.Name, ran(h), source(h), text(*h.ProgramEndsS))
	}
	return fmt.Sprintf("token with %s%s (%s)", h.Name, stayed(h), source(h))
}

func alone(st *api.Status) string {
	if st.Link.Others == 0 {
		return ", and this member knows no other one"
	}
	return ""
}

// source is who says that a member has the token, and when.
func source(h *api.HolderStatus) string {
	age := text(h.AgeS) + " ago"
	switch h.How {
	case api.Said:
		return age + ", says " + h.Name + " itself"
	case api.Proved:
		return age + ", by its receipt"
	}
	return age + ", says " + h.ByName
}

func last(h *api.HolderStatus) string {
	if h == nil {
		return ""
	}
	return fmt.Sprintf("; last with %s (%s)", h.Name, source(h))
}

// turn is when this member's turn comes.
func turn(e *api.EtaStatus) string {
	if e == nil {
		return ""
	}
	after := "about " + text(e.P50S)
	if e.P50S == 0 { // the present turn has taken as long as those of late
		after = "later than predicted"
	}
	if e.Overdue {
		after += " after the present turn, which takes longer than usual"
	}
	switch {
	case e.Basis == "order" && e.Before == 0 && e.Overdue:
		return ", you are next; the present turn takes longer than usual"
	case e.Basis == "order" && e.Before == 0:
		return ", you are next, " + after
	case e.Basis == "order" && e.Before == 1:
		return ", 1 waits before you, " + after
	case e.Basis == "order":
		return fmt.Sprintf(", %d wait before you, %s", e.Before, after)
	case e.P50S == 0:
		return ", " + after
	}
	return ", back in " + after
}

func waiting(r *api.ResourceStatus) string {
	if r.Waiting == 1 {
		return "1 program waits"
	}
	return fmt.Sprintf("%d programs wait", r.Waiting)
}

// text is a time as people read it.
func text(s float64) string {
	d := time.Duration(max(0, s) * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return duration.Format(duration.About(d))
}
