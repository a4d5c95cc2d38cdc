package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/member"
)

// snapshotAge is how old a snapshot may be that a scrape is given. It is below
// any sensible scrape interval, and bounds what scrapes cost the member however
// many there are.
const snapshotAge = time.Second

// Snapshot is what a member is at one moment, as far as metrics show it.
type Snapshot struct {
	Status             member.Status
	CertificateExpires time.Time
	CertificateWarning int // enrolment.Warning
	Isolated           bool
	Refused            map[string]uint64 // connections turned away, by the transport's words
	Hints              map[string]uint64 // that watched members' ports are unreachable, by what became of them
	Members            map[string]int    // known members, by one of States; nil: not counted yet
}

// States are what a known member can be, as values of the label state. Each
// member is one of them, the first that applies in the order revoked, left,
// failed, expired.
var States = []string{"valid", "failed", "left", "revoked", "retired_key", "expired", "not_yet_valid"}

// states shows snapshots.
type states struct {
	m      *Metrics
	source func() Snapshot

	mu   sync.Mutex
	ever bool // asked for
	last Snapshot
	at   clock.Instant
}

// Expose adds what source says to what is shown. source is called by who
// scrapes, at most once in snapshotAge, and never twice at a time.
func (m *Metrics) Expose(source func() Snapshot) {
	m.registry.MustRegister(&states{m: m, source: source})
}

// snapshot is the member as it is, or was a moment ago.
func (s *states) snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.m.now(); !s.ever || now.Sub(s.at) >= snapshotAge {
		s.last, s.at, s.ever = s.source(), now, true
	}
	return s.last
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prefix+name, help, labels, nil)
}

var (
	descHeld        = desc("held", "Tokens in this member's custody.", "resource")
	descLeaving     = desc("slots_leaving", "Slots missing from the group configuration in which local programs still run.", "resource")
	descMissing     = desc("votes_missing", "Members whose votes were missing when a local program last requested a start; 0 if it could begin.", "resource")
	descClosed      = desc("window_closed", "1 while the resource's windows are closed by this member's clock.", "resource")
	descWaiting     = desc("waiting", "Local programs that wait for the resource.", "resource")
	descLastSeen    = desc("token_last_seen_timestamp_seconds", "When this member last observed a token; 0 if never.", "resource")
	descOverlap     = desc("overlap_seconds_total", "Time during which more local grants were in force than the resource has slots.", "resource")
	descFailures    = desc("handoff_failures_total", "Problems in handoffs, by kind.", "reason")
	descRejected    = desc("messages_rejected_total", "Messages and connections that were rejected without effect, by reason.", "reason")
	descHints       = desc("unreachable_hints_total", "Reports of hosts that no process listens on a watched member's port, by outcome.", "outcome")
	descMembers     = desc("members", "Members known to this member, by state.", "state")
	descExpiry      = desc("certificate_expiry_timestamp_seconds", "When this member's certificate expires.")
	descWarning     = desc("certificate_warning", "How close the certificate is to expiry: 0 not close, 1 to 3 closer, 4 expired.")
	descConfig      = desc("group_config_version", "Version of the group configuration in force at this member.")
	descRevocations = desc("revocation_version", "Version of the revocation list up to which this member knows every revocation.")
	descPending     = desc("updates_pending", "Membership updates that this member still has to disseminate.")
	descGossip      = desc("gossip_exchanges_total", "Anti-entropy exchanges that this member started.")
	descLate        = desc("late_seconds", "Recent lateness of this member, as far as it counts; 0 if punctual.")
	descRecalling   = desc("recalling", "1 while this member waits after a restart for its peers to confirm its journal.")
	descWentBack    = desc("journal_went_back_total", "Custody memories discarded because a peer showed records that the journal has lost.")
	descIsolated    = desc("isolated", "1 while this member is isolated from every other member.")
)

// Describe implements prometheus.Collector.
func (s *states) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descHeld, descLeaving, descMissing, descClosed, descWaiting, descLastSeen, descOverlap, descFailures, descRejected, descHints, descMembers, descExpiry, descWarning,
		descConfig, descRevocations, descPending, descGossip, descLate, descRecalling, descWentBack, descIsolated,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (s *states) Collect(out chan<- prometheus.Metric) {
	snap := s.snapshot()
	put := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		put(d, prometheus.GaugeValue, value, labels...)
	}
	count := func(d *prometheus.Desc, value uint64, labels ...string) {
		put(d, prometheus.CounterValue, float64(value), labels...)
	}
	collectSlots(snap.Status.Slots, gauge)
	s.m.overlaps(func(name string, overlap time.Duration) {
		put(descOverlap, prometheus.CounterValue, overlap.Seconds(), name)
	})
	h := snap.Status.Handoffs
	count(descFailures, h.Retried, "unanswered")
	count(descFailures, h.Reselected, "reselected")
	count(descFailures, h.InDoubt, "in_doubt")
	count(descFailures, h.Returned, "returned")
	count(descFailures, h.Abandoned, "abandoned")
	collectRejected(snap, count)
	for outcome, n := range snap.Hints {
		count(descHints, n, outcome)
	}
	if snap.Members != nil {
		for _, state := range States {
			gauge(descMembers, float64(snap.Members[state]), state)
		}
	}
	gauge(descExpiry, float64(snap.CertificateExpires.Unix()))
	gauge(descWarning, float64(snap.CertificateWarning))
	gauge(descConfig, float64(snap.Status.Configuration))
	gauge(descRevocations, float64(snap.Status.Revocations))
	gauge(descPending, float64(snap.Status.UpdatesPending))
	count(descGossip, snap.Status.GossipExchanges)
	gauge(descLate, snap.Status.Late.Seconds())
	count(descWentBack, snap.Status.Rollbacks)
	gauge(descRecalling, oneIf(snap.Status.Recalling))
	gauge(descIsolated, oneIf(snap.Isolated))
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// collectSlots shows each resource's slots together. Those of one resource
// follow each other.
func collectSlots(slots []member.SlotStatus, gauge func(d *prometheus.Desc, value float64, labels ...string)) {
	for i := 0; i < len(slots); {
		name, held, leaving, seen, waiting := slots[i].Resource, 0, 0, uint64(0), slots[i].Waiting
		missing, closed := 0, 0.0
		for ; i < len(slots) && slots[i].Resource == name; i++ {
			if slots[i].Held {
				held++
			}
			if slots[i].Leaving {
				leaving++
			}
			seen = max(seen, slots[i].LastSeen)
			missing = max(missing, len(slots[i].Missing))
			if slots[i].Hours.Closed {
				closed = 1
			}
		}
		gauge(descHeld, float64(held), name)
		gauge(descLeaving, float64(leaving), name)
		gauge(descMissing, float64(missing), name)
		gauge(descClosed, closed, name)
		gauge(descWaiting, float64(waiting), name)
		gauge(descLastSeen, float64(seen)/1e6, name)
	}
}

// collectRejected shows what the member rejected and what its transport did.
// Two words that are one label are added up.
func collectRejected(snap Snapshot, count func(d *prometheus.Desc, value uint64, labels ...string)) {
	sum := make(map[string]uint64)
	for reason, n := range snap.Status.Rejected {
		sum[label(reason)] += n
	}
	for class, n := range snap.Refused {
		sum["transport_"+label(class)] += n
	}
	for reason, n := range sum {
		count(descRejected, n, reason)
	}
}
