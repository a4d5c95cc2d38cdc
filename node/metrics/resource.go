package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
)

// Request is how a program's request for a resource was answered.
type Request string

// The answers, as values of the label outcome.
const (
	RequestGranted   Request = "granted"
	RequestTimeout   Request = "timeout"   // no token came in time
	RequestIsolated  Request = "isolated"  // none could come: this member is cut off
	RequestRefused   Request = "refused"   // by certificate, configuration, once_per or held
	RequestWithdrawn Request = "withdrawn" // the program waits no more
)

// Operation is how a grant ended.
type Operation string

// The ends of a grant, as values of the label outcome.
const (
	OperationOK     Operation = "ok"      // given back, exit code 0
	OperationFailed Operation = "failed"  // given back, another exit code
	OperationUnused Operation = "unused"  // given back, the resource was not used
	OperationOver   Operation = "expired" // the deadline came first
	OperationLost   Operation = "lost"    // taken away: see grants_lost_total
)

var (
	requests   = []Request{RequestGranted, RequestTimeout, RequestIsolated, RequestRefused, RequestWithdrawn}
	operations = []Operation{OperationOK, OperationFailed, OperationUnused, OperationOver, OperationLost}
	// losses are the reasons of package api, which may grow.
	losses = []string{"revoked", "expired", "configuration", "stopped", "gate"}
	// gateAnswers are what a gate says, and the loss of its connection.
	gateAnswers = []string{"open", "busy", "stuck", "refused", "closed", "lost"}
	drops       = []policy.DropReason{policy.Superseded, policy.Overflow, policy.Spent, policy.Forked, policy.Unconfigured}
)

// The ways of a message between policies, as values of the label direction.
const (
	directionReceived = "received"
	directionSent     = "sent"
)

// resource is the metrics of one resource.
type resource struct {
	received, sent, regenerated, duplicates prometheus.Counter
	heard, told                             prometheus.Counter // messages between policies
	returned, waited, held                  prometheus.Observer

	// By Metrics.mu.
	slots   int
	granted int           // grants in force at this member
	since   clock.Instant // when that last changed
	overlap time.Duration // during which there were more of them than slots
}

// configured makes the metrics of a resource that is in the configuration, all
// of them at once: a series that exists from the start lets an alert see the
// first increase.
func (m *Metrics) configured(name string, slot uint64) *resource {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.resources[name]
	if r == nil {
		r = &resource{
			received: m.received.WithLabelValues(name), sent: m.sent.WithLabelValues(name),
			regenerated: m.regenerated.WithLabelValues(name), duplicates: m.duplicates.WithLabelValues(name),
			returned: m.returned.WithLabelValues(name), waited: m.waited.WithLabelValues(name),
			held:  m.held.WithLabelValues(name),
			heard: m.messages.WithLabelValues(name, directionReceived), told: m.messages.WithLabelValues(name, directionSent),
		}
		m.resources[name] = r
		for _, o := range requests {
			m.requests.WithLabelValues(name, string(o))
		}
		for _, o := range operations {
			m.operations.WithLabelValues(name, string(o))
		}
		for _, reason := range losses {
			m.lost.WithLabelValues(name, reason)
		}
		m.reachable.WithLabelValues(name)
		for _, answer := range gateAnswers {
			m.said.WithLabelValues(name, answer)
		}
		for _, reason := range drops {
			m.dropped.WithLabelValues(name, reason.String())
		}
	}
	r.slots = max(r.slots, int(slot)+1)
	return r
}

// Shared notes how many slots each resource has by the group configuration that is in
// force now; one that is not among them has none.
func (m *Metrics) Shared(resources []group.Resource) {
	if m == nil {
		return
	}
	slots := make(map[string]int)
	for _, r := range resources {
		slots[r.Name] = r.Slots
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, r := range m.resources {
		r.settle(m.now())
		r.slots = slots[name]
	}
}

// of is the metrics of a resource, nil when it is not configured: programs may
// ask for any name.
func (m *Metrics) of(name string) *resource {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.resources[name]
}

// Waited notes that a program's request was answered, and after how long.
func (m *Metrics) Waited(name string, answer Request, took time.Duration) {
	r := m.of(name)
	if r == nil {
		return
	}
	m.requests.WithLabelValues(name, string(answer)).Inc()
	if answer == RequestGranted {
		r.waited.Observe(took.Seconds())
	}
}

// PolicyMessageSent notes a message that a policy here has for another member's,
// when it is given to the transport.
func (m *Metrics) PolicyMessageSent(name string) {
	if r := m.of(name); r != nil {
		r.told.Inc()
	}
}

// GateReachable notes whether the resource's gate has a connection.
func (m *Metrics) GateReachable(name string, is bool) {
	if m.of(name) == nil {
		return
	}
	value := 0.0
	if is {
		value = 1
	}
	m.reachable.WithLabelValues(name).Set(value)
}

// GateSaid notes an answer of the resource's gate to a sign-in, or that its connection was lost.
func (m *Metrics) GateSaid(name, answer string) {
	if m.of(name) != nil {
		m.said.WithLabelValues(name, answer).Inc()
	}
}

// Granted notes that a grant came into force. Each is followed by one Ended.
func (m *Metrics) Granted(name string) {
	if r := m.of(name); r != nil {
		m.count(r, 1)
	}
}

// Ended notes the end of a grant: how, how long it lasted, and for what reason
// it was taken away, if it was.
func (m *Metrics) Ended(name string, how Operation, lasted time.Duration, reason string) {
	r := m.of(name)
	if r == nil {
		return
	}
	m.count(r, -1)
	r.held.Observe(lasted.Seconds())
	m.operations.WithLabelValues(name, string(how)).Inc()
	if how == OperationLost {
		m.lost.WithLabelValues(name, reason).Inc()
	}
}

// count changes how many grants are in force.
func (m *Metrics) count(r *resource, change int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.settle(m.now())
	r.granted += change
}

// settle brings the overlap up to date.
func (r *resource) settle(now clock.Instant) {
	if excess := r.granted - r.slots; excess > 0 {
		r.overlap += time.Duration(excess) * now.Sub(r.since)
	}
	r.since = now
}

// overlaps calls f with each resource's overlap until now.
func (m *Metrics) overlaps(f func(name string, overlap time.Duration)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for name, r := range m.resources {
		r.settle(now)
		f(name, r.overlap)
	}
}
