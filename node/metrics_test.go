package node_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// scraped is the samples of one scrape: histograms by their counts.
type scraped struct {
	kinds  map[string]string // of each metric, with its labels: "counter{reason}"
	values map[string]float64
}

// of is the value of a sample such as wander_held{resource="ftp"}.
func (s scraped) of(sample string) float64 { return s.values[sample] }

// scrape reads a node's metrics as Prometheus does.
func scrape(t testing.TB, n *node.Node) scraped {
	t.Helper()
	reply, err := http.Get("http://" + n.MetricsAddress() + "/metrics")
	require.NoError(t, err)
	defer reply.Body.Close()
	require.Equal(t, http.StatusOK, reply.StatusCode)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(reply.Body)
	require.NoError(t, err)
	s := scraped{kinds: make(map[string]string), values: make(map[string]float64)}
	for name, f := range families {
		if !strings.HasPrefix(name, "wander_") {
			continue
		}
		for _, m := range f.Metric {
			var labels, pairs []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName())
				pairs = append(pairs, l.GetName()+`="`+l.GetValue()+`"`)
			}
			s.kinds[name] = strings.ToLower(f.GetType().String()) + "{" + strings.Join(labels, ",") + "}"
			if len(pairs) > 0 {
				name += "{" + strings.Join(pairs, ",") + "}"
			}
			s.values[name] = m.Counter.GetValue() + m.Gauge.GetValue() + float64(m.Histogram.GetSampleCount())
			name = f.GetName()
		}
	}
	return s
}

// documentedMetrics are the metrics in the tables of docs/metrics.md.
func documentedMetrics(t testing.TB) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../docs/metrics.md")
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| `(wander_[a-z_]+)(\\{[a-z,]+\\})?` \\| (counter|gauge|histogram) \\| .{20}")
	list := make(map[string]string)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		labels := m[2]
		if labels == "" {
			labels = "{}"
		}
		require.NotContains(t, list, m[1], "documented twice")
		list[m[1]] = m[3] + labels
	}
	return list
}

var ftp = group.Resource{Name: "ftp", MaxHold: time.Minute, Params: policy.Params{
	Preset: wandering.Paper, OperationTime: 50 * time.Millisecond, MembersMax: 3, SkipDelay: time.Millisecond, MinInterval: time.Millisecond,
	RegenerationMean: time.Hour,
}}.WithDefaults()

// Two members pass a token to and fro, and one of them shows what happens: every
// metric that is documented, no other, and the right values.
func TestMetrics_LiveMember_Documented(t *testing.T) {
	a := newAuthority(t, ftp)
	n, _ := openNode(t, a.issue(t, "watched"), func(c *node.Config) { c.Metrics, c.Found = "127.0.0.1:0", true })
	other, _ := openNode(t, a.issue(t, "other"), func(c *node.Config) { c.Bootstrap = []string{n.Address()} })
	assert.Empty(t, other.MetricsAddress(), "off unless asked for")
	await.Until(t, "they have met", func() bool { return len(n.Status().Peers) == 1 })
	ctx := context.Background()
	for range 2 {
		require.NoError(t, wander.Of(n).Do(ctx, "ftp", func(context.Context, wander.Grant) error { return nil }))
	}
	wait := int64(0)
	_, err := n.Acquire(ctx, api.AcquireRequest{Resource: "nothing", WaitMS: &wait})
	require.ErrorIs(t, err, api.ErrRefused)

	var s scraped
	var received, sent, delivered float64
	await.Until(t, "tokens come back, both members are counted, and the counts of the token's hops agree", func() bool {
		s = scrape(t, n) // one metric after the other, while the token moves
		received, sent = s.of(`wander_tokens_received_total{resource="ftp"}`), s.of(`wander_tokens_sent_total{resource="ftp"}`)
		delivered = s.of(`wander_handoff_duration_seconds{result="delivered"}`)
		return s.of(`wander_token_return_seconds{resource="ftp"}`) > 3 && s.of(`wander_members{state="valid"}`) == 2 &&
			math.Abs(received-sent) <= 2 && math.Abs(sent-delivered) <= 2
	})
	assert.Equal(t, documentedMetrics(t), s.kinds)
	for sample, want := range map[string]float64{
		`wander_requests_total{outcome="granted",resource="ftp"}`:           2,
		`wander_operations_total{outcome="ok",resource="ftp"}`:              2,
		`wander_wait_seconds{resource="ftp"}`:                               2,
		`wander_hold_seconds{resource="ftp"}`:                               2,
		`wander_regenerations_total{resource="ftp"}`:                        0,
		`wander_duplicates_detected_total{resource="ftp"}`:                  0,
		`wander_overlap_seconds_total{resource="ftp"}`:                      0,
		`wander_evidence_total{kind="void_and_receipt"}`:                    0,
		`wander_members{state="revoked"}`:                                   0,
		`wander_group_config_version`:                                       1,
		`wander_revocation_version`:                                         0,
		`wander_isolated`:                                                   0,
		`wander_messages_rejected_total{reason="transport_no_certificate"}`: 0,
	} {
		assert.Contains(t, s.values, sample)
		assert.Equal(t, want, s.of(sample), sample)
	}
	assert.Positive(t, s.of(`wander_journal_fsync_duration_seconds`))
	now := float64(time.Now().Unix())
	assert.InDelta(t, now, s.of(`wander_token_last_seen_timestamp_seconds{resource="ftp"}`), 60)
	assert.InDelta(t, now+3600, s.of(`wander_certificate_expiry_timestamp_seconds`), 60)
	for sample := range s.values {
		assert.NotContains(t, sample, "nothing", "who asks for a resource makes no label")
	}
}

// TestMetrics_CertificateWarning_FitsTheLifetime: a certificate of a day is not about
// to end from its first minute on.
func TestMetrics_CertificateWarning_FitsTheLifetime(t *testing.T) {
	a := newAuthority(t, ftp)
	const day = 24 * time.Hour
	for _, c := range []struct {
		life, left time.Duration
		want       float64
	}{
		{day, day, 0}, {day, 9 * time.Hour, 0}, {day, 7 * time.Hour, 1}, {day, time.Hour, 2}, {day, 10 * time.Minute, 3},
		{90 * day, 31 * day, 0}, {90 * day, 28 * day, 1}, {90 * day, 6 * day, 2}, {90 * day, 20 * time.Hour, 3},
	} {
		id := a.issueAs(t, "m", func(claims *certificate.Claims) {
			claims.NotAfter = claims.IssuedAt.Add(c.left)
			claims.IssuedAt = claims.NotAfter.Add(-c.life)
			claims.NotBefore = claims.IssuedAt
		})
		n, _ := openNode(t, id, func(c *node.Config) { c.Metrics = "127.0.0.1:0" })
		assert.Equal(t, c.want, scrape(t, n).of(`wander_certificate_warning`), "%v left of %v", c.left, c.life)
	}
}

// What policies tell each other is counted on both sides, as the node's traffic has
// it.
func TestPolicyMessages_LiveMembers_CountedBothWays(t *testing.T) {
	talks := ftp
	talks.Params.Preset, talks.Params.RegenerationMean = wandering.Light, 0
	a := newAuthority(t, talks)
	n, _ := openNode(t, a.issue(t, "watched"), func(c *node.Config) { c.Metrics, c.Found = "127.0.0.1:0", true })
	other, _ := openNode(t, a.issue(t, "other"), func(c *node.Config) { c.Bootstrap = []string{n.Address()} })
	for _, waits := range []*node.Node{n, other} { // one of them waits for the other one, and says so
		go func() { _, _ = waits.Acquire(t.Context(), request(ftp.Name)) }()
	}
	var s scraped
	var after uint64
	var sent float64
	await.Until(t, "both have said something, and all of it is counted", func() bool {
		before := n.Traffic().PolicyMessages // where a message counts first
		s, after = scrape(t, n), n.Traffic().PolicyMessages
		sent = s.of(`wander_policy_messages_total{direction="sent",resource="ftp"}`)
		return sent > 0 && sent >= float64(before) && s.of(`wander_policy_messages_total{direction="received",resource="ftp"}`) > 0
	})
	assert.LessOrEqual(t, sent, float64(after))
}

// Members are counted by what they are.
func TestMetrics_Members_Counted(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, ftp)
	dead := a.issue(t, "dead")
	const extra = 2500 // more than two pieces of the counts
	n, _ := openNode(t, a.issue(t, "watched"), func(c *node.Config) {
		c.Metrics = "127.0.0.1:0"
		c.Extra.Certificates = [][]byte{dead.Certificate.Raw()}
		for range extra {
			c.Extra.Certificates = append(c.Extra.Certificates, a.issue(t, "more").Certificate.Raw())
		}
		c.Extra.Revocations = [][]byte{a.revoke(t, dead.Certificate.Member())}
	})
	var s scraped
	await.Until(t, "members are counted", func() bool {
		s = scrape(t, n)
		return s.of(`wander_members{state="valid"}`) > 0
	})
	assert.EqualValues(t, extra+1, s.of(`wander_members{state="valid"}`))
	assert.EqualValues(t, 1, s.of(`wander_members{state="revoked"}`))
	assert.EqualValues(t, 1, s.of(`wander_revocation_version`))
	assert.EqualValues(t, 1, s.of(`wander_isolated`), "it never heard of anybody")
}

// What is not GET /metrics is refused, and many connections that do nothing
// hold up neither the node nor, for longer than a moment, who scrapes.
func TestMetrics_OtherPath_NotFound(t *testing.T) {
	a := newAuthority(t, ftp)
	n, _ := openNode(t, a.issue(t, "watched"), func(c *node.Config) { c.Metrics, c.Found = "127.0.0.1:0", true })
	for path, want := range map[string]int{"/": 404, "/debug/pprof/": 404, "/metrics/": 404} {
		reply, err := http.Get("http://" + n.MetricsAddress() + path)
		require.NoError(t, err)
		_ = reply.Body.Close()
		assert.Equal(t, want, reply.StatusCode, path)
	}
	for _, method := range []string{"POST", "HEAD", "PUT", "DELETE"} {
		request, err := http.NewRequest(method, "http://"+n.MetricsAddress()+"/metrics", nil)
		require.NoError(t, err)
		reply, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_ = reply.Body.Close()
		assert.Equal(t, http.StatusMethodNotAllowed, reply.StatusCode, method)
	}
	http.DefaultClient.CloseIdleConnections()

	var idle []net.Conn
	for range 100 {
		c, err := net.Dial("tcp", n.MetricsAddress())
		require.NoError(t, err)
		idle = append(idle, c)
	}
	// All places are taken: who comes next is sent away at once.
	last := idle[len(idle)-1]
	require.NoError(t, last.SetReadDeadline(time.Now().Add(patience)))
	_, err := last.Read(make([]byte, 1))
	require.Error(t, err)
	assert.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, wander.Of(n).Do(context.Background(), "ftp", func(context.Context, wander.Grant) error { return nil }))
	for _, c := range idle {
		require.NoError(t, c.Close())
	}
	await.Until(t, "places are free again", func() bool {
		reply, err := http.Get("http://" + n.MetricsAddress() + "/metrics")
		if err != nil {
			return false
		}
		defer reply.Body.Close()
		_, err = io.Copy(io.Discard, reply.Body)
		return err == nil && reply.StatusCode == http.StatusOK
	})
}

// An address that is taken, or is none, ends the start with a word on which
// setting is wrong.
func TestMetrics_InvalidAddress_Refused(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, ftp)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, address := range []string{taken.Addr().String(), "9464", "127.0.0.1:http:1"} {
		_, err := node.Open(context.Background(), node.Config{
			Identity: a.issue(t, "m"), StateDir: t.TempDir(), Listen: "127.0.0.1:0", Socket: "-", Metrics: address,
		})
		require.ErrorIs(t, err, node.ErrConfig, address)
		assert.ErrorContains(t, err, "metrics.listen")
	}
}

// Who opens the metrics to other machines reads in the log that this is so.
func TestMetrics_PublicAddress_Logged(t *testing.T) {
	a := newAuthority(t, ftp)
	for address, warnings := range map[string]int{"127.0.0.1:0": 0, "0.0.0.0:0": 1} {
		_, book := openNode(t, a.issue(t, "m"), func(c *node.Config) { c.Metrics = address })
		assert.Equal(t, warnings, book.lines("metrics are readable from other machines"), address)
	}
}

// Each name of the contract with the user is there.
func TestMetrics_Contract_Present(t *testing.T) {
	documented := slices.Collect(maps.Keys(documentedMetrics(t)))
	for _, name := range strings.Fields(`build_info tokens_received_total tokens_sent_total
		handoff_duration_seconds handoff_failures_total token_return_seconds token_last_seen_timestamp_seconds
		wait_seconds hold_seconds operations_total held regenerations_total tokens_dropped_total
		duplicates_detected_total overlap_seconds_total grants_lost_total messages_rejected_total evidence_total
		members certificate_expiry_timestamp_seconds group_config_version journal_fsync_duration_seconds isolated
		revocation_version updates_pending gossip_exchanges_total`) {
		assert.Contains(t, documented, "wander_"+name)
	}
}

// Every alert of the text is a rule of the file and the other way round, and
// rules and the dashboard speak of metrics and label values that there are.
func TestMetricsAlerts(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	prose, rules := read("../docs/metrics.md"), read("../release/prometheus/wander.rules.yml")
	names := func(pattern, of string) (list []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(of, -1) {
			list = append(list, m[1])
		}
		slices.Sort(list)
		return list
	}
	alerts := names("(?m)^ +- alert: (\\w+)$", rules)
	require.Len(t, alerts, 17)
	assert.Equal(t, names("(?m)^\\| `(Wander\\w+)` \\|", prose), alerts)

	// Certificates may live for less than any fixed time.
	assert.NotRegexp(t, `certificate_expiry\w* - time\(\) <`, rules)

	documented := documentedMetrics(t)
	expressions := rules + "\n" + strings.Join(dashboardExpressions(t, read("../release/grafana/wander.json")), "\n")
	for _, m := range regexp.MustCompile(`(wander_[a-z_]+)((?:\{[^}]*\})?)`).FindAllStringSubmatch(expressions, -1) {
		kind := documented[histogramPart.ReplaceAllString(m[1], "")]
		require.NotEmpty(t, kind, m[1])
		assert.Equal(t, strings.HasPrefix(kind, "histogram"), histogramPart.MatchString(m[1]), m[1])
		for _, label := range regexp.MustCompile(`([a-z]+)[=!~]+"([^"]+)"`).FindAllStringSubmatch(m[2], -1) {
			if strings.HasPrefix(label[2], "$") { // a variable of the dashboard
				assert.Contains(t, []string{"job", "instance", "resource"}, label[1], m[0])
				continue
			}
			assert.Contains(t, kind, label[1], m[0])
			value := "`" + strings.TrimSuffix(label[2], ".*") // as in the tables, maybe with an ellipsis
			assert.Contains(t, prose, value, m[0])
		}
	}
}

var histogramPart = regexp.MustCompile(`_(bucket|sum|count)$`)

// dashboardExpressions are what the panels and variables of a dashboard of Grafana ask Prometheus for.
func dashboardExpressions(t *testing.T, text string) (list []string) {
	t.Helper()
	type query struct{ Query string }
	var board struct {
		UID, Title string
		Panels     []struct {
			ID          int
			Title, Type string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr, RefID string }
		}
		Templating struct {
			List []struct {
				Name, Type string
				Query      json.RawMessage
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &board))
	require.NotEmpty(t, board.UID)
	ids := map[int]bool{}
	for _, p := range board.Panels {
		require.False(t, ids[p.ID], "panel %d twice", p.ID)
		ids[p.ID] = true
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		require.Positive(t, p.GridPos.H, p.Title)
		if p.Type == "row" {
			continue
		}
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			require.NotEmpty(t, target.Expr, p.Title)
			list = append(list, target.Expr)
		}
	}
	require.NotEmpty(t, list)
	for _, v := range board.Templating.List {
		var q query
		if json.Unmarshal(v.Query, &q) == nil && q.Query != "" {
			list = append(list, q.Query)
		}
	}
	return list
}
