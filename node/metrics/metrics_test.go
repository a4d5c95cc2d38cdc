package metrics

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

// bench is metrics with a clock of their own.
type bench struct {
	*Metrics
	t   *testing.T
	now clock.Instant
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t}
	b.Metrics = New(func() clock.Instant { return b.now })
	return b
}

func (b *bench) scrape() string {
	w := httptest.NewRecorder()
	b.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	require.Equal(b.t, http.StatusOK, w.Code)
	return w.Body.String()
}

// values are the samples of this program that are not 0, without the prefix:
// histograms as their count and sum.
func (b *bench) values() map[string]string {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(b.scrape()))
	require.NoError(b.t, err)
	values := make(map[string]string)
	for _, f := range families {
		name, ours := strings.CutPrefix(f.GetName(), prefix)
		if !ours || name == "build_info" {
			continue
		}
		for _, m := range f.Metric {
			key := name
			for _, l := range m.Label {
				key += " " + l.GetValue()
			}
			value := fmt.Sprint(m.Counter.GetValue() + m.Gauge.GetValue())
			if h := m.Histogram; h != nil {
				value = fmt.Sprintf("%d %gs", h.GetSampleCount(), h.GetSampleSum())
			}
			if value != "0" && value != "0 0s" {
				values[key] = value
			}
		}
	}
	return values
}

// token is a token by a letter: of an age that says nothing, since clocks differ.
func token(name byte, hop uint64) policy.Token {
	return policy.Token{ID: ident.Token{name}, Hop: hop}
}

// story is what a policy is told and answers, one word a second:
//
//	+a3 arrival of token a at hop 3     *a generated     .a resumed     ~a recalled
//	>a pass    xa drop (superseded)     ? generate
//	=a3 delivered    <a4 returned with hop 4    0a3 abandoned    ! a message
func (b *bench) story(words string) {
	o := b.Watch(nil)
	o.PolicyMade("r", 0, "wandering", policy.Params{}, [32]byte{})
	kinds := map[byte]policy.EventKind{
		'+': policy.Arrival, '*': policy.Generated, '.': policy.Resumed, '~': policy.Recalled,
		'!': policy.Message, '=': policy.PassEnded, '<': policy.PassEnded, '0': policy.PassEnded,
	}
	outcomes := map[byte]policy.Outcome{'=': policy.Delivered, '<': policy.Returned, '0': policy.Abandoned}
	for word := range strings.FieldsSeq(words) {
		b.now = b.now.Add(time.Second)
		var t policy.Token
		if len(word) > 1 {
			hop := uint64(0)
			_, _ = fmt.Sscan(word[2:], &hop)
			t = token(word[1], hop)
		}
		var answer []policy.Action
		switch word[0] {
		case '>':
			answer = []policy.Action{{Kind: policy.Pass, Token: t.ID}}
		case 'x':
			answer = []policy.Action{{Kind: policy.Drop, Token: t.ID, Reason: policy.Superseded}}
		case '?':
			answer = []policy.Action{{Kind: policy.Generate}}
		}
		event := policy.Event{Kind: policy.Timer}
		if kind, ok := kinds[word[0]]; ok {
			event = policy.Event{Kind: kind, Outcome: outcomes[word[0]], Token: t}
		}
		o.PolicyStepped("r", 0, b.now, event, answer)
	}
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		name, story string
		want        map[string]string
	}{
		{"one token comes twice", "+a1 >a =a1 +a5", map[string]string{
			"tokens_received_total r": "2", "tokens_sent_total r": "1",
			"handoff_duration_seconds delivered": "1 1s", "token_return_seconds r": "1 3s",
		}},
		{"letting go twice is one handoff", "+a1 >a >a =a1", map[string]string{
			"tokens_received_total r": "1", "tokens_sent_total r": "1", "handoff_duration_seconds delivered": "1 2s",
		}},
		{"declined, then taken", "+a1 >a <a2 >a =a2", map[string]string{
			"tokens_received_total r": "1", "tokens_sent_total r": "1",
			"handoff_duration_seconds returned": "1 1s", "handoff_duration_seconds delivered": "1 1s",
		}},
		{"nobody knows", "+a1 >a 0a1", map[string]string{
			"tokens_received_total r": "1", "handoff_duration_seconds abandoned": "1 1s",
		}},
		{"back before its receipt", "+a1 >a +a5", map[string]string{
			"tokens_received_total r": "2", "tokens_sent_total r": "1", "token_return_seconds r": "1 2s",
		}},
		{"an old receipt says nothing of the new hop", "+a1 >a +a5 >a =a1 =a5", map[string]string{
			"tokens_received_total r": "2", "tokens_sent_total r": "2",
			"token_return_seconds r": "1 2s", "handoff_duration_seconds delivered": "1 2s",
		}},
		{"made because none came", "? *a >a =a0", map[string]string{
			"regenerations_total r": "1", "tokens_sent_total r": "1", "handoff_duration_seconds delivered": "1 1s",
		}},
		{"the group's first token", "*a", map[string]string{}},
		{"held since before a restart", ".a >a =a0", map[string]string{
			"tokens_sent_total r": "1", "handoff_duration_seconds delivered": "1 1s",
		}},
		{"dropped once", "+a1 xa xa", map[string]string{
			"tokens_received_total r": "1", "tokens_dropped_total superseded r": "1",
		}},
		{"what other policies say", "! ! +a1", map[string]string{
			"policy_messages_total received r": "2", "tokens_received_total r": "1",
		}},
		{"of a token that is not here nothing is believed", "xb >b =b7", map[string]string{}},
		{"another one while one is here", "+a1 +b1", map[string]string{
			"tokens_received_total r": "2", "token_return_seconds r": "1 1s", "duplicates_detected_total r": "1",
		}},
		{"another one after one has gone proves nothing", "+a1 >a =a1 +b1", map[string]string{
			"tokens_received_total r": "2", "tokens_sent_total r": "1",
			"token_return_seconds r": "1 3s", "handoff_duration_seconds delivered": "1 1s",
		}},
		{"but the first one's return does", "+a1 >a =a1 +b1 >b =b1 +a9", map[string]string{
			"tokens_received_total r": "3", "tokens_sent_total r": "2", "token_return_seconds r": "2 6s",
			"handoff_duration_seconds delivered": "2 2s", "duplicates_detected_total r": "1",
		}},
		{"also when it was here before a restart", "~a ~b +a9", map[string]string{
			"tokens_received_total r": "1", "duplicates_detected_total r": "1",
		}},
		{"a token that was dropped is not one that is here", "+a1 xa +b1", map[string]string{
			"tokens_received_total r": "2", "token_return_seconds r": "1 2s", "tokens_dropped_total superseded r": "1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.story(c.story)
			assert.Equal(t, c.want, b.values())
		})
	}
}

// What a policy says counts when it is given to the transport, of resources that
// there are, and on nil metrics not at all.
func TestPolicyMessageSent_Configured_Counted(t *testing.T) {
	b := newBench(t)
	b.story("!")
	b.PolicyMessageSent("r")
	b.PolicyMessageSent("r")
	b.PolicyMessageSent("unknown")
	assert.Equal(t, map[string]string{"policy_messages_total received r": "1", "policy_messages_total sent r": "2"}, b.values())
	(*Metrics)(nil).PolicyMessageSent("r")
}

// However many tokens come, what is remembered of them is bounded.
func TestTokens_TooMany_Forgotten(t *testing.T) {
	b := newBench(t)
	for name := range byte(100) {
		b.story("+" + string('!'+name) + "1")
	}
	assert.Len(t, b.slots[slotKey{"r", 0}].seen, maxObservations)
}

// Another observer is told everything, whether or not metrics are kept.
func TestWatch_Events_PassedOn(t *testing.T) {
	var off *Metrics
	o := &echo{}
	assert.Same(t, o, off.Watch(o))
	w := New(func() clock.Instant { return 0 }).Watch(o)
	w.PolicyMade("r", 2, "ring", policy.Params{}, [32]byte{1})
	w.PolicyStepped("r", 2, 7, policy.Event{Kind: policy.Timer}, nil)
	w.PolicyAsked("r", 2, policy.Asked{N: 3})
	assert.Equal(t, []string{"r 2 ring", "r 2 7", "r 2 3"}, o.told)
}

type echo struct{ told []string }

func (e *echo) PolicyMade(resource string, slot uint64, name string, _ policy.Params, _ [32]byte) {
	e.told = append(e.told, fmt.Sprint(resource, " ", slot, " ", name))
}

func (e *echo) PolicyStepped(resource string, slot uint64, now clock.Instant, _ policy.Event, _ []policy.Action) {
	e.told = append(e.told, fmt.Sprint(resource, " ", slot, " ", int64(now)))
}

func (e *echo) Dropped(string, uint64, ident.Token, policy.DropReason) {}

func (e *echo) PolicyAsked(resource string, slot uint64, asked policy.Asked) {
	e.told = append(e.told, fmt.Sprint(resource, " ", slot, " ", asked.N))
}

// What is off counts nothing, and costs no more than a call.
func TestMetrics_Off_NothingCounted(t *testing.T) {
	var off *Metrics
	off.Synced(time.Second)
	off.Evidence("void and receipt", 1)
	off.Waited("r", RequestGranted, time.Second)
	off.Granted("r")
	off.Ended("r", OperationOK, time.Second, "")
}

func TestGrants(t *testing.T) {
	b := newBench(t)
	b.story("")
	b.Waited("r", RequestGranted, 2*time.Second)
	b.Waited("r", RequestTimeout, time.Second)
	b.Waited("r", RequestGranted, time.Second)
	b.Granted("r")
	b.Ended("r", OperationLost, time.Second, "revoked")
	b.Granted("r")
	b.Ended("r", OperationFailed, 4*time.Second, "")
	b.Synced(time.Millisecond)
	b.Evidence("void and receipt", 2)
	assert.Equal(t, map[string]string{
		"requests_total granted r": "2", "requests_total timeout r": "1", "wait_seconds r": "2 3s",
		"operations_total lost r": "1", "operations_total failed r": "1", "hold_seconds r": "2 5s",
		"grants_lost_total revoked r": "1", "journal_fsync_duration_seconds": "1 0.001s",
		"evidence_total void_and_receipt": "2",
	}, b.values())
}

// More grants than slots overlap, for as long as they do, and a scrape in the
// middle sees what has passed.
func TestOverlap(t *testing.T) {
	b := newBench(t)
	b.Expose(func() Snapshot { return Snapshot{} })
	b.story("")
	overlap := func() string { return b.values()["overlap_seconds_total r"] }
	for _, step := range []struct {
		change int
		want   string
	}{
		{+1, ""}, {0, ""}, {+1, ""}, {0, "1"}, {+1, "2"}, {0, "4"}, {-1, "6"}, {-1, "7"}, {0, "7"}, {-1, "7"},
	} {
		b.now = b.now.Add(time.Second)
		switch step.change {
		case +1:
			b.Granted("r")
		case -1:
			b.Ended("r", OperationOK, 0, "")
		}
		assert.Equal(t, step.want, overlap())
	}
}

// Neither programs nor other members can make labels.
func TestLabels_ManyValues_Bounded(t *testing.T) {
	b := newBench(t)
	b.story("")
	was := strings.Count(b.scrape(), "\nwander_")
	for i := range 1000 {
		name := fmt.Sprint("made up ", i)
		b.Waited(name, RequestTimeout, 0)
		b.Granted(name)
		b.Ended(name, OperationLost, 0, "stopped")
		b.Evidence(name, 1)
	}
	assert.LessOrEqual(t, strings.Count(b.scrape(), "\nwander_"), was+maxKinds)
	assert.Equal(t, fmt.Sprint(1000-(maxKinds-len(knownEvidence()))), b.values()["evidence_total other"])
}

func TestSnapshot(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.Expose(func() Snapshot {
		asked++
		return Snapshot{
			Status: member.Status{
				Configuration: 3, Revocations: 4, UpdatesPending: 5, GossipExchanges: 6, Recalling: true, Rollbacks: 7, Late: 1500 * time.Millisecond,
				Slots: []member.SlotStatus{
					{Resource: "a", Held: true, LastSeen: 2e6, Waiting: 7}, {Resource: "a", Slot: 1, Held: true, LastSeen: 1e6, Waiting: 7},
					{Resource: "b"}, {Resource: "c", Held: true, Executing: true, Leaving: true},
				},
				Handoffs: handoff.Stats{Retried: 1, Reselected: 2, InDoubt: 3, Returned: 4, Abandoned: 5},
				Rejected: map[string]uint64{"hello rate": 8, "hello_rate": 1, "peer's fault": 2},
			},
			CertificateExpires: time.Unix(1e9, 0), CertificateWarning: 2, Isolated: true,
			Refused: map[string]uint64{"no certificate": 9}, Hints: map[string]uint64{"confirmed": 13, "refuted": 14},
			Members: map[string]int{"valid": 10, "failed": 11, "something new": 12},
		}
	})
	want := map[string]string{
		"held a": "2", "held c": "1", "slots_leaving c": "1", "waiting a": "7", "token_last_seen_timestamp_seconds a": "2",
		"handoff_failures_total unanswered": "1", "handoff_failures_total reselected": "2",
		"handoff_failures_total in_doubt": "3", "handoff_failures_total returned": "4", "handoff_failures_total abandoned": "5",
		"messages_rejected_total hello_rate": "9", "messages_rejected_total peers_fault": "2",
		"messages_rejected_total transport_no_certificate": "9",
		"unreachable_hints_total confirmed":                "13", "unreachable_hints_total refuted": "14",
		"members valid": "10", "members failed": "11",
		"certificate_expiry_timestamp_seconds": "1e+09", "certificate_warning": "2", "isolated": "1",
		"group_config_version": "3", "revocation_version": "4", "updates_pending": "5", "gossip_exchanges_total": "6", "late_seconds": "1.5", "recalling": "1", "journal_went_back_total": "7",
	}
	assert.Equal(t, want, b.values())
	for range 100 {
		b.now = b.now.Add(100 * time.Millisecond)
		b.scrape()
	}
	assert.Equal(t, 11, asked, "once a second")
}

// Names and units are what Prometheus asks for.
func TestLint(t *testing.T) {
	b := newBench(t)
	b.story("")
	b.Expose(func() Snapshot {
		return Snapshot{
			Status:  member.Status{Slots: []member.SlotStatus{{Resource: "r"}}, Rejected: map[string]uint64{"a": 1}},
			Members: map[string]int{},
		}
	})
	problems, err := promlint.New(bytes.NewBufferString(b.scrape())).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)
}
