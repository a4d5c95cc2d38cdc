package node

import (
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/member"
)

// awakenAfter is how late a beat is after which all connections are tried out: the
// machine slept, and peers may have given them up.
const awakenAfter = transport.MaxRest

// lookout looks at each beat at what has become of this process and its machine: whether
// it runs late, whether it is quiet, and whether it has other addresses.
type lookout struct {
	pulse     pulse
	quietness quietness // by beat
	paths     paths     // by start, then by beat

	engine    *engine
	historian *historian
	transport *transport.Transport
	address   string                     // listened on, or empty
	addresses func() ([]net.Addr, error) // of this machine
	tellQuiet func(quiet bool)           // or nil
	reports   *limiter
	log       *slog.Logger
}

// start has the next beat look at all. Earlier ones do nothing: the node is not open yet.
// news says that the system tells of other addresses.
func (l *lookout) start(news bool) {
	if news {
		l.paths.news = listenForAddresses()
	}
	l.lookAtPaths()
	l.pulse.beat(boottime.Now(), firstBeat)
}

// beat is called each time that the transport has looked at its connections. What the
// node looks at periodically shares the wake-up. It returns false before start.
func (l *lookout) beat(next time.Duration) bool {
	if l.pulse.due.Load() == 0 {
		return false
	}
	now := boottime.Now()
	l.lookAtPulse(now, next)
	l.lookAtQuiet(now)
	l.historian.look(now)
	if l.paths.due(now) {
		l.lookAtPaths()
	}
	return true
}

// lookAtPulse is one beat. When it was late, the engine steps, and by that tells the
// member.
func (l *lookout) lookAtPulse(now clock.Instant, next time.Duration) {
	l.pulse.beat(now, next)
	if time.Duration(l.pulse.was.Load()) >= awakenAfter {
		l.transport.Recheck()
	}
	by := l.pulse.late(now)
	if by < member.LateFrom {
		return
	}
	l.engine.put(item{input: member.Tick{}})
	if l.reports.allow("late") {
		l.log.Warn("this member runs late: its processor is overloaded, or it was stopped; it waits longer before it suspects other members",
			"by", by.Round(time.Millisecond))
	}
}

// lookAtQuiet tells the program when the member has become quiet, and when it is no
// more.
func (l *lookout) lookAtQuiet(now clock.Instant) {
	if l.tellQuiet == nil {
		return
	}
	s := l.transport.Stats()
	if l.quietness.changed(now, s.FramesReceived+s.FramesSent) {
		l.tellQuiet(l.quietness.quiet)
	}
}

// lookAtPaths tries out every connection when this machine has other addresses.
func (l *lookout) lookAtPaths() {
	list, err := l.addresses()
	if err != nil {
		return // until the next look
	}
	if !l.paths.changed(list) {
		return
	}
	l.log.Info("this machine's addresses changed: testing connections", "addresses", l.paths.addresses)
	l.transport.Recheck()
	host, _, _ := net.SplitHostPort(l.address)
	if ip := net.ParseIP(host); ip != nil && ip.IsGlobalUnicast() && !slices.Contains(l.paths.addresses, ip.String()) {
		l.log.Warn("this machine does not have listen.address any more: listen on [::] with listen.advertise, or restart with another address",
			"listen", l.address)
	}
}
