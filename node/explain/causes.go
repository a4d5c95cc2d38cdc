package explain

import "github.com/wandertoken/wander/node/api"

// The causes that keep a member from all of its resources, in the order in which they are named.
const (
	NoDaemon      api.Cause = "no_daemon"      // said by the command: nobody answers on the socket
	DaemonSilent  api.Cause = "daemon_silent"  // said by the command: the socket is there, and no status comes from it
	DiskFull      api.Cause = "disk_full"      // said by the command: the daemon has ended for want of room
	JournalFailed api.Cause = "journal_failed" // said by the command: the daemon has ended as its disk failed
	Revoked       api.Cause = "revoked"
	Left          api.Cause = "left" // said by the command
	Expired       api.Cause = "expired"
	RetiredKey    api.Cause = "retired_key"
	Stopping      api.Cause = "stopping"
	Recalling     api.Cause = "recalling"
	NoAddresses   api.Cause = "no_addresses"
	UDPBlocked    api.Cause = "udp_blocked"
	Isolated      api.Cause = "isolated"
	Late          api.Cause = "late"
	NoAnswer      api.Cause = "no_answer"
	Clock         api.Cause = "clock"
	Behind        api.Cause = "behind"
	OK            api.Cause = "ok"
)

// The causes that keep a resource from this member's programs, in the order in which they are named.
const (
	NotConfigured   api.Cause = "not_configured" // said by the command
	Leaving         api.Cause = "leaving"
	RunsLong        api.Cause = "runs_long"
	Running         api.Cause = "running" // no trouble: a program runs here
	WindowClosed    api.Cause = "window_closed"
	VotesMissing    api.Cause = "votes_missing"
	GateUnreachable api.Cause = "gate_unreachable"
	GateStuck       api.Cause = "gate_stuck"
	GateRefuses     api.Cause = "gate_refuses"
	GateBusy        api.Cause = "gate_busy"
	TokenHere       api.Cause = "token_here"
	NoPlace         api.Cause = "no_place"
	Replacing       api.Cause = "replacing"
	Searching       api.Cause = "searching"
	HolderAway      api.Cause = "holder_away"
	Next            api.Cause = "next"
	Queued          api.Cause = "queued"
	RunsElsewhere   api.Cause = "runs_elsewhere"
	Elsewhere       api.Cause = "elsewhere"
	NoToken         api.Cause = "no_token"
	NoNews          api.Cause = "no_news"
	Idle            api.Cause = "idle" // no trouble: nobody here waits
)

// The warnings: an operator should look at them although nothing keeps programs from running. A warning may also have the word of a cause above.
const (
	CertificateEnds api.Cause = "certificate_ends"
	WentBack        api.Cause = "went_back"
	CopyRuns        api.Cause = "copy_runs"
	FaultyMember    api.Cause = "faulty_member"
	Overran         api.Cause = "overran"
)

// Row is one cause, and what it means in a few words.
type Row struct {
	Cause   api.Cause
	Meaning string
}

// OfMember are the causes of a member, OfResource those of a resource, and OfWarning those of warnings alone.
var (
	OfMember = []Row{
		{NoDaemon, "no daemon answers on the socket (said by the command)"},
		{DaemonSilent, "the socket is there, and no status comes from it (said by the command)"},
		{DiskFull, "the daemon has ended, as its disk is full (said by the command)"},
		{JournalFailed, "the daemon has ended, as it could not write or read its journal (said by the command)"},
		{Revoked, "the authority has revoked this member"},
		{Left, "this member has left the group (said by the command)"},
		{Expired, "this member's certificate does not count now"},
		{RetiredKey, "the key that signed this member's certificate is retired"},
		{Stopping, "the daemon is stopping"},
		{Recalling, "the daemon has restarted, and waits for its peers"},
		{NoAddresses, "no member can be dialled"},
		{UDPBlocked, "dials go out, and nothing has ever come back"},
		{Isolated, "no peer answers"},
		{Late, "the daemon was not scheduled in time"},
		{NoAnswer, "no peer has answered for two seconds or more, though this member asks"},
		{Clock, "this machine's clock is a minute or more away from its peers' clocks"},
		{Behind, "the authority has published what this member does not know yet"},
		{OK, "nothing keeps this member from its resources"},
	}
	OfResource = []Row{
		{NotConfigured, "the configuration has no such resource (said by the command)"},
		{Leaving, "the configuration lacks the resource, and a program still runs"},
		{RunsLong, "a program has run for much longer than those of late, here or at another member: it may hang"},
		{Running, "a program runs here"},
		{WindowClosed, "the resource's windows are closed (`windows`)"},
		{VotesMissing, "too few members vote for a program to begin (`on_isolated`)"},
		{GateUnreachable, "the gate cannot be reached"},
		{GateStuck, "the gate cannot end the session before"},
		{GateRefuses, "the gate refuses, or has given no session that a program can use"},
		{GateBusy, "the gate has not answered yet, or waits for the end of the session before"},
		{TokenHere, "the token is here"},
		{NoPlace, "this member has no place on the ring"},
		{Replacing, "the token is lost, and is replaced"},
		{Searching, "the token is missing, and this member asks for it"},
		{HolderAway, "the holder's machine restarts, and its token is not replaced before the deadline"},
		{Next, "another member has the token, and this one is next"},
		{Queued, "another member has the token, and others are before this one"},
		{RunsElsewhere, "another member's program runs"},
		{Elsewhere, "another member has the token"},
		{NoToken, "no token has come here yet"},
		{NoNews, "the token is elsewhere, and nobody has told where"},
		{Idle, "no program waits here"},
	}
	OfWarning = []Row{
		{CertificateEnds, "this member's certificate expires soon, or has expired"},
		{WentBack, "the journal was restored to an earlier state, or a copy of this member runs"},
		{CopyRuns, "another process runs, or ran, with this member's key"},
		{FaultyMember, "another member has sent faulty objects"},
		{Overran, "a program had not ended at its deadline"},
	}
)

// Page is where people read more.
const Page = "docs/troubleshooting.md"

// Section is the section about a cause.
func Section(c api.Cause) string { return Page + "#" + string(c) }
