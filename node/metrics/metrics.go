package metrics

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/wandertoken/wander/internal/version"
	"github.com/wandertoken/wander/node/hooks"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/member"
)

// prefix begins the name of every metric of this program.
const prefix = "wander_"

// maxKinds bounds the kinds of evidence that are told apart. The code has six;
// the bound is for the day when one of them carries something from outside.
const maxKinds = 32

var (
	// spans are the buckets of what may take from milliseconds to a day, in
	// seconds: half decades, as operations of milliseconds and of hours share
	// one metric.
	spans = []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10e3, 30e3, 100e3}
	// handoffs are the buckets of a handoff, in seconds: from a local network to
	// a receiver that had to be asked again for a minute.
	handoffs = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	// syncs are the buckets of a disk sync, in seconds: from a drive with its own
	// power supply to one that is about to fail.
	syncs = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
)

// knownEvidence are the words for evidence of which a member can have some, and
// for what is only suspicion. A series that exists from the start lets an alert
// see the first increase.
func knownEvidence() []string {
	list := []string{handoff.GiversOfOneHop}
	for _, k := range evidence.Kinds() {
		if !k.AgainstGate() { // an audit finds those
			list = append(list, k.String())
		}
	}
	return list
}

// Metrics counts what one member does. The methods that count are safe for
// concurrent use and do nothing on a nil Metrics: what is off costs nothing.
type Metrics struct {
	registry *prometheus.Registry
	now      func() clock.Instant

	received, sent, regenerated, dropped, duplicates *prometheus.CounterVec
	requests, operations, lost, evidence, messages   *prometheus.CounterVec
	returned, waited, held, handoff                  *prometheus.HistogramVec
	fsync                                            prometheus.Histogram
	hooks, hooksDropped                              *prometheus.CounterVec // of the operator
	said                                             *prometheus.CounterVec // by gates
	reachable                                        *prometheus.GaugeVec   // gates

	mu        sync.Mutex
	resources map[string]*resource
	kinds     map[string]bool // of evidence

	next  member.Observer        // who else watches the policies
	slots map[slotKey]*slotWatch // by who steps the member
}

// New makes metrics that show nothing of a member yet. now reads the clock by
// which times are measured: one that counts suspended time.
func New(now func() clock.Instant) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), now: now,
		resources: make(map[string]*resource), kinds: make(map[string]bool), slots: make(map[slotKey]*slotWatch),
	}
	m.received = m.counter("tokens_received_total", "Tokens that this member accepted from other members.", "resource")
	m.sent = m.counter("tokens_sent_total", "Tokens that other members accepted from this member.", "resource")
	m.regenerated = m.counter("regenerations_total", "Replacement tokens that this member generated.", "resource")
	m.dropped = m.counter("tokens_dropped_total", "Tokens that this member dropped from circulation.", "resource", "reason")
	m.duplicates = m.counter("duplicates_detected_total", "Tokens that arrived while another token of their slot provably circulated.", "resource")
	m.requests = m.counter("requests_total", "Requests of programs for a resource, counted when answered.", "resource", "outcome")
	m.operations = m.counter("operations_total", "Grants that have ended, by outcome.", "resource", "outcome")
	m.lost = m.counter("grants_lost_total", "Grants revoked before their deadline.", "resource", "reason")
	m.messages = m.counter("policy_messages_total", "Messages between policies, not counting tokens.", "resource", "direction")
	m.evidence = m.counter("evidence_total", "Signed proofs in the journal that a member broke the rules.", "kind")
	m.hooks = m.counter("hook_runs_total", "Runs of the operator's hooks, counted when they have ended.", "hook", "outcome")
	m.hooksDropped = m.counter("hook_events_dropped_total", "Events without a run of their hook, because too many waited for it.", "hook")
	m.said = m.counter("gate_answers_total", "Answers of the resource's gate to sign-ins of this member, and lost connections with it.", "resource", "answer")
	m.reachable = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: prefix + "gate_reachable", Help: "1 while this member has a connection with the resource's gate; 0 without a gate, too.",
	}, []string{"resource"})
	m.registry.MustRegister(m.reachable)
	m.returned = m.histogram("token_return_seconds", "Time between two arrivals of a token of the same slot.", spans, "resource")
	m.waited = m.histogram("wait_seconds", "Time that programs waited for a grant that they received.", spans, "resource")
	m.held = m.histogram("hold_seconds", "Duration of grants.", spans, "resource")
	m.handoff = m.histogram("handoff_duration_seconds", "Time from releasing a token to the end of its handoff.", handoffs, "result")
	m.fsync = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: prefix + "journal_fsync_duration_seconds", Buckets: syncs,
		Help: "Time to write a batch of records, and on a durable member to sync it.",
	})
	m.registry.MustRegister(m.fsync, buildInfo(), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, result := range results {
		m.handoff.WithLabelValues(result)
	}
	for _, kind := range knownEvidence() {
		m.Evidence(kind, 0)
	}
	for _, kind := range hooks.Kinds {
		for _, outcome := range hooks.Outcomes {
			m.hooks.WithLabelValues(string(kind), string(outcome))
		}
		m.hooksDropped.WithLabelValues(string(kind))
	}
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(v)
	return v
}

func buildInfo() prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: prefix + "build_info", Help: "Always 1; the labels identify the program.",
		ConstLabels: prometheus.Labels{
			"version": version.Of().Version, "goversion": runtime.Version(), "protocol": strconv.Itoa(member.ProtocolVersion),
		},
	})
	g.Set(1)
	return g
}

// Synced notes how long a batch of records took to write and sync. It is what
// store.Options.ObserveSync calls.
func (m *Metrics) Synced(took time.Duration) {
	if m != nil {
		m.fsync.Observe(took.Seconds())
	}
}

// Evidence notes proofs against a member that went into the journal. what names
// their kind, as in journal.Evidence.
func (m *Metrics) Evidence(what string, proofs int) {
	if m == nil {
		return
	}
	kind := label(what)
	m.mu.Lock()
	if !m.kinds[kind] && len(m.kinds) >= maxKinds {
		kind = "other"
	}
	m.kinds[kind] = true
	m.mu.Unlock()
	m.evidence.WithLabelValues(kind).Add(float64(proofs))
}

// HookRan counts a run of a hook.
func (m *Metrics) HookRan(hook hooks.Kind, outcome hooks.Outcome) {
	if m != nil {
		m.hooks.WithLabelValues(string(hook), string(outcome)).Inc()
	}
}

// HookDropped counts an event that found no room before its hook.
func (m *Metrics) HookDropped(hook hooks.Kind) {
	if m != nil {
		m.hooksDropped.WithLabelValues(string(hook)).Inc()
	}
}

// label is stable words as the value of a label: "hello rate" is hello_rate.
func label(words string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		case r == '\'':
			return -1
		}
		return '_'
	}, words)
}
