package doctor

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/duration"
)

const (
	// clockWarn and clockFail are from when on a clock is wrong: a time service keeps it within a fraction of a second, and a
	// minute is what certificates and audits begin to suffer from (explain names that, too).
	clockWarn = 2 * time.Second
	clockFail = time.Minute

	// greeting is how long a peer's greeting may have waited beside the round trip: it is handled with all else that has come.
	greeting = 50 * time.Millisecond

	// leastMTU is the smallest packet that QUIC needs: 1200 bytes and the headers of IPv6 and UDP (RFC 9000 §14).
	leastMTU = 1248

	// wantedBuffer is what quic-go asks the kernel for, in bytes, for bulk transfers. leastBuffer is enough for this program: 64
	// members that send two packets each at once, with the kernel's bookkeeping.
	wantedBuffer = 7 << 20
	leastBuffer  = 256 << 10

	// inboundAfter is for how long a member has to be up before it says something that nobody has dialled it: gossip
	// meets a member a few times in it.
	inboundAfter = 10 * time.Minute

	// slowSync is from when on a sync of the disk holds up a handoff, which waits for two of them, by more than the
	// network does; stuckSync is a good part of the time after which others suspect a member.
	slowSync  = 100 * time.Millisecond
	stuckSync = 2 * time.Second
)

// Facts are what the daemon knows. A field's zero value is that nothing is known.
type Facts struct {
	Status     api.Status
	Others     int            // members that take part, without this one
	Suspected  int            // of these, that do not answer
	Absent     map[string]int // members that take no part, by their state, as wander members has it
	Dialled    uint64
	Failed     uint64 // dials
	Accepted   uint64 // connections that others have dialled
	LongestRTT time.Duration
	Listens    bool
	Advertised []string // where others dial this member
	Own        []string // addresses of this machine
	MTU        int      // the smallest to a member that is connected
	Buffer     int      // of the socket, in bytes
	Renewal    string   // what the certificate's schedule warns of
	Version    string
	Protocol   string
	Now        time.Time
	Back       *Back // nil: nobody was asked, or nobody has answered
}

// Back is what another member has seen that was asked to dial this one.
type Back struct {
	By       string   // its name
	Seen     string   // from where this member's packets come, as address:port
	Answered []string // addresses of this member where it has answered that one
	Failed   []string // addresses where it has not, each with what was met
}

func check(name string, r api.Result, finding, advice string) api.Check {
	return api.Check{Name: name, Result: r, Finding: finding, Advice: advice}
}

// HasFailed is the state of a member that the others found gone, and that comes back when it runs again.
const HasFailed = "failed"

// Judge is the checkup of a running daemon.
func Judge(f *Facts) []api.Check {
	list := []api.Check{daemon(f), peers(f), outbound(f), inbound(f), nat(f), Clock("clock", "the median of its peers' clocks, by their greetings", f.clock(), f.LongestRTT+greeting, len(f.Status.Peers) > 0)}
	list = append(list, certificate(f), MTU(f.MTU), buffer(f))
	for _, r := range f.Status.Resources {
		if c, has := gate(r, f.Now); has {
			list = append(list, c)
		}
	}
	list = append(list, check("version", api.Fine, fmt.Sprintf("wander %s; members that connect speak %s. They do not tell each other their versions", f.Version, f.Protocol), ""))
	for _, w := range f.Status.Warnings {
		list = append(list, check("warning", api.Warn, w.Sentence, explain.Section(w.Cause)))
	}
	return list
}

func (f *Facts) clock() time.Duration {
	return time.Duration(f.Status.Link.ClockAheadS * float64(time.Second))
}

func daemon(f *Facts) api.Check {
	st := &f.Status
	finding := fmt.Sprintf("%s of group %s, up %s: %s", st.Name, st.GroupName, about(st.UptimeS), st.Sentence)
	holds := slices.ContainsFunc(st.Resources, func(r api.ResourceStatus) bool { return explain.Holds(&r) })
	switch {
	case st.Cause == explain.OK:
		return check("daemon", api.Fine, finding, "")
	case explain.IsDown(st.Cause, holds):
		return check("daemon", api.Fail, finding, explain.Section(st.Cause))
	}
	return check("daemon", api.Warn, finding, explain.Section(st.Cause))
}

func peers(f *Facts) api.Check {
	finding := fmt.Sprintf("%d of %d other members connected, %d do not answer", len(f.Status.Peers), f.Others, f.Suspected)
	var absent []string
	for _, state := range slices.Sorted(maps.Keys(f.Absent)) {
		absent = append(absent, fmt.Sprintf("%d %s", f.Absent[state], state))
	}
	if len(absent) > 0 {
		finding += "; take no part: " + strings.Join(absent, ", ")
	}
	switch {
	case f.Others == 0 && len(absent) > 0:
		return check("peers", api.Warn, "no other member takes part: "+strings.Join(absent, ", "), "wander members names them; wander ca list on the CA's machine says why they were revoked")
	case f.Others == 0:
		return check("peers", api.Warn, "this member knows no other one", "name the address of another member in bootstrap.peers")
	case f.Suspected == f.Others:
		return check("peers", api.Fail, finding, "see whether this machine's network works, and whether the others run")
	case len(f.Status.Peers) == 0:
		return check("peers", api.Warn, finding, "no connection stands: see whether this machine's network works; wander doctor NAME dials one member")
	case f.Suspected > 0:
		return check("peers", api.Warn, finding, "wander members names them; wander doctor NAME dials one")
	case f.Absent[HasFailed] > 0:
		return check("peers", api.Warn, finding, "wander members names them; start those that failed, or revoke those that are gone for good")
	}
	return check("peers", api.Fine, finding, "")
}

func outbound(f *Facts) api.Check {
	finding := fmt.Sprintf("%s that this member dialled came about, %s reached nobody", counted.Of(f.Dialled, "connection"), counted.Of(f.Failed, "dial"))
	switch {
	case f.Dialled > 0 && f.Failed > 0 && len(f.Status.Peers) == 0:
		return check("udp out", api.Warn, finding+", and no connection stands now", "see whether this machine's network is up (on Linux: ip -br addr), and whether a firewall, here or there, has begun to drop UDP")
	case f.Dialled > 0:
		return check("udp out", api.Fine, finding, "")
	case f.Failed > 0 && f.Accepted == 0:
		return check("udp out", api.Fail, finding, "let UDP to and from the port in listen.address pass, and check bootstrap.peers")
	case f.Failed > 0:
		return check("udp out", api.Warn, finding, "let UDP to the other members' ports pass")
	}
	return check("udp out", api.Skipped, "this member has dialled nobody yet", "")
}

func inbound(f *Facts) api.Check {
	finding := counted.Of(f.Accepted, "connection") + " that other members dialled came about"
	const advice = "let UDP to the port in listen.address pass, or correct listen.advertise"
	switch up := time.Duration(f.Status.UptimeS * float64(time.Second)); {
	case !f.Listens:
		return check("udp in", api.Skipped, "this member only dials out (listen.address is empty)", "")
	case f.Back != nil && len(f.Back.Failed) == 0 && len(f.Back.Answered) > 0:
		return check("udp in", api.Fine, f.Back.text()+"; "+finding, "")
	case f.Back != nil && len(f.Back.Answered) > 0, f.Back != nil && len(f.Back.Failed) > 0 && f.Accepted > 0: // the way from that one may be closed, and others get in
		return check("udp in", api.Warn, f.Back.text()+"; "+finding, advice)
	case f.Back != nil && len(f.Back.Failed) > 0:
		return check("udp in", api.Fail, f.Back.text(), advice)
	case f.Accepted > 0:
		return check("udp in", api.Fine, finding, "")
	case f.Others > 0 && up > inboundAfter:
		return check("udp in", api.Warn, "no other member has dialled this one in "+duration.Format(duration.About(up)),
			"on another member: wander doctor "+f.Status.Name+"; if it gets no answer, let UDP to listen.address pass, or correct listen.advertise")
	}
	return check("udp in", api.Skipped, "no other member has dialled this one yet", "")
}

// text is where a member was dialled.
func (b *Back) text() string {
	var parts []string
	if len(b.Answered) > 0 {
		parts = append(parts, "was answered at "+strings.Join(b.Answered, ", "))
	}
	if len(b.Failed) > 0 {
		parts = append(parts, "was not answered at "+strings.Join(b.Failed, ", "))
	}
	return b.By + " was asked to dial this member, and " + strings.Join(parts, ", and ")
}

// DialsBack judges what a member has met that was asked to dial this one, whose name is self; nil: it was not asked, or has not answered.
func DialsBack(b *Back, self string) api.Check {
	switch {
	case b == nil:
		return check("dials back", api.Skipped, "it was not asked to dial this member, or has not answered; on that machine: wander doctor "+self, "")
	case len(b.Answered)+len(b.Failed) == 0:
		return check("dials back", api.Skipped, b.By+" knows no address of this member, and sees it at "+b.Seen, "")
	case len(b.Failed) == 0:
		return check("dials back", api.Fine, b.text()+"; it sees this member at "+b.Seen, "")
	}
	r := api.Warn
	if len(b.Answered) == 0 {
		r = api.Fail
	}
	return check("dials back", r, b.text()+"; it sees this member at "+b.Seen, "let UDP to the port in listen.address pass, or correct listen.advertise")
}

// seen is from where this member's packets come, as far as another one has said.
func (f *Facts) seen(own []string) (text string, isForeign bool) {
	if f.Back == nil {
		return "", false
	}
	host, _, err := net.SplitHostPort(f.Back.Seen)
	ip := net.ParseIP(host)
	isForeign = err == nil && ip != nil && len(own) > 0 && !ip.IsLoopback() && !slices.Contains(own, ip.String())
	return fmt.Sprintf("; %s sees it at %s", f.Back.By, f.Back.Seen), isForeign
}

// nat compares where others dial this member with what addresses its machine has.
func nat(f *Facts) api.Check {
	if !f.Listens {
		return check("address", api.Skipped, "this member only dials out", "")
	}
	if len(f.Advertised) == 0 {
		return check("address", api.Fail, "other members are told no address of this one", "set listen.advertise")
	}
	own := make([]string, 0, len(f.Own))
	for _, a := range f.Own {
		host, _, _ := strings.Cut(a, "/")
		own = append(own, host)
	}
	var foreign []string
	for _, a := range f.Advertised {
		host, _, err := net.SplitHostPort(a)
		if ip := net.ParseIP(host); err == nil && ip != nil && len(own) > 0 && !ip.IsLoopback() && !slices.Contains(own, ip.String()) {
			foreign = append(foreign, a)
		}
	}
	seen, isForeign := f.seen(own)
	finding := "others dial " + strings.Join(f.Advertised, ", ") + seen
	getsIn := f.Accepted > 0 || f.Back != nil && len(f.Back.Answered) > 0
	switch {
	case len(foreign) == 0 && isForeign && getsIn:
		return check("address", api.Fine, finding+", which this machine does not have: it is behind NAT, and others get in", "")
	case len(foreign) == 0 && isForeign:
		return check("address", api.Warn, finding+", which this machine does not have: it is behind NAT, and advertises an address that is not the NAT's",
			"set listen.advertise to the NAT's address, and forward its UDP port to listen.address; or let the member only dial out (listen.address = \"\")")
	case len(foreign) == 0:
		return check("address", api.Fine, finding, "")
	}
	finding += "; this machine does not have " + strings.Join(foreign, ", ") + ": it is behind NAT"
	if getsIn {
		return check("address", api.Fine, finding+", and others get in", "")
	}
	return check("address", api.Warn, finding, "forward that UDP port to listen.address, or let the member only dial out (listen.address = \"\")")
}

// PeerClock judges by how much this machine's clock is ahead of one peer's, as that has greeted.
func PeerClock(ahead, rtt time.Duration, known bool) api.Check {
	return Clock("clock", "its clock, by its last greeting", ahead, rtt+greeting, known)
}

// Clock judges by how much this machine's clock is ahead of another one, which is known within an error.
func Clock(name, of string, ahead, within time.Duration, known bool) api.Check {
	if !known {
		return check(name, api.Skipped, "no clock to compare with", "")
	}
	word := "ahead of "
	if ahead < 0 {
		word = "behind "
	}
	finding := fmt.Sprintf("%v %s%s, within %v", ahead.Abs().Round(time.Millisecond), word, of, max(time.Millisecond, within.Round(time.Millisecond)))
	switch off := ahead.Abs() - within; {
	case off >= clockFail:
		return check(name, api.Fail, finding, "let a time service set the clocks (timedatectl, chronyc tracking)")
	case off >= clockWarn:
		return check(name, api.Warn, finding, "let a time service set the clocks (timedatectl, chronyc tracking)")
	}
	return check(name, api.Fine, finding, "")
}

func certificate(f *Facts) api.Check {
	st := &f.Status
	finding := fmt.Sprintf("valid until %s, for %s", st.CertificateExpires.UTC().Format(time.RFC3339), duration.Format(duration.About(max(0, st.CertificateExpires.Sub(f.Now)))))
	switch {
	case st.Renewing != "":
		return check("certificate", api.Fail, st.Renewing, "wander doctor CA, if it lasts")
	case st.Invalid != "":
		return check("certificate", api.Fail, "it does not count: "+st.Invalid, "wander cert renew, or have the CA make an invite")
	case f.Renewal != "":
		return check("certificate", api.Warn, f.Renewal, "wander doctor CA; wander cert renew")
	case st.KeyRetired:
		return check("certificate", api.Warn, "the CA key that signed it is retired", "wander cert renew")
	}
	return check("certificate", api.Fine, finding, "")
}

// MTU judges the largest packet that the way to a member carries.
func MTU(bytes int) api.Check {
	switch {
	case bytes == 0:
		return check("path mtu", api.Skipped, "the kernel does not say", "")
	case bytes < leastMTU:
		return check("path mtu", api.Fail, fmt.Sprintf("%d bytes, QUIC needs %d", bytes, leastMTU), "raise the MTU of the interface or the tunnel")
	}
	return check("path mtu", api.Fine, fmt.Sprintf("%d bytes, QUIC needs %d", bytes, leastMTU), "")
}

func buffer(f *Facts) api.Check {
	finding := fmt.Sprintf("%d KiB; quic-go asks for %d KiB, this program needs %d KiB", f.Buffer>>10, wantedBuffer>>10, leastBuffer>>10)
	switch {
	case f.Buffer == 0:
		return check("udp buffer", api.Skipped, "the kernel does not say", "")
	case f.Buffer < leastBuffer:
		return check("udp buffer", api.Warn, finding, fmt.Sprintf("sysctl -w net.core.rmem_max=%d, and start the daemon again", wantedBuffer))
	}
	return check("udp buffer", api.Fine, finding, "")
}

// gate is the check of a resource's gate, if it has one.
func gate(r api.ResourceStatus, now time.Time) (c api.Check, has bool) {
	for _, s := range r.Slots {
		if s.Gate == nil {
			continue
		}
		name := "gate of " + r.Name
		why, keepsOut := explain.AtGate(&s, now)
		switch {
		case s.Gate.Reachable && keepsOut && why.Cause == explain.GateStuck:
			return check(name, api.Fail, why.Sentence, explain.Section(why.Cause)), true
		case s.Gate.Reachable && keepsOut && why.Cause == explain.GateRefuses:
			return check(name, api.Warn, why.Sentence, explain.Section(why.Cause)), true
		case s.Gate.Reachable:
			return check(name, api.Fine, "connected; it has said "+quoted(s.Gate.Said), ""), true
		case s.Gate.Observes:
			return check(name, api.Warn, "no connection; it only observes, and programs run", "docs/gate.md"), true
		}
		return check(name, api.Fail, "no connection: no program runs", explain.Section(explain.GateUnreachable)), true
	}
	return c, false
}

func quoted(said string) string {
	switch said {
	case "":
		return "nothing yet"
	case "closed: sign-out":
		return "that the last session ended normally (sign-out)"
	}
	return fmt.Sprintf("%q", said)
}

// Syncs judges how long syncs of the disk have taken.
func Syncs(took []time.Duration) api.Check {
	slices.Sort(took)
	p50, most := took[len(took)/2], took[len(took)-1]
	finding := fmt.Sprintf("%s: half within %v, the longest %v", counted.Of(len(took), "sync"), max(p50.Round(10*time.Microsecond), time.Microsecond), max(most.Round(10*time.Microsecond), time.Microsecond))
	switch {
	case most >= stuckSync:
		return check("disk", api.Fail, finding, "put state_dir on a faster disk: each handoff waits for syncs")
	case p50 >= slowSync:
		return check("disk", api.Warn, finding, "put state_dir on a faster disk: each handoff waits for syncs")
	}
	return check("disk", api.Fine, finding, "")
}

// Failed reports whether a check has failed.
func Failed(list []api.Check) bool {
	return slices.ContainsFunc(list, func(c api.Check) bool { return c.Result == api.Fail })
}

func about(seconds float64) string {
	return duration.Format(duration.About(time.Duration(seconds) * time.Second))
}
