package driver

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	core "github.com/wandertoken/wander/protocol/gate"
)

// gatherTimeout bounds how long a scrape waits for the engine.
const gatherTimeout = 8 * time.Second

// collector makes metrics of a gate's status. The values of labels are this program's own words and slot numbers.
type collector struct{ gate *Gate }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("wander_gate_"+name, help, labels, nil)
}

var (
	descState       = desc("slot_state", "1 for the state that the slot is in, and 0 for the others.", "slot", "state")
	descConnections = desc("connections", "Open connections of members.")
	descSignIns     = desc("sign_ins", "Sign-ins that live: open, or waiting.")
	descStreams     = desc("streams", "Open connections to the target.")
	descSignInsAll  = desc("sign_ins_total", "Sign-ins whose permit and statement have verified.")
	descSessions    = desc("sessions_total", "Sessions that were begun.")
	descAnswers     = desc("answers_total", "Answers by what they say: open, busy, refuse with its reason, closed with its reason.", "answer")
	descAlarms      = desc("alarms_total", "Alarms by kind.", "kind")
	descBroken      = desc("broken_connections_total", "Connections of members that broke the protocol, or whose permit or statement was forged.")
	descEvicted     = desc("evicted_connections_total", "Connections that were closed or refused because there were too many.")
	descObserved    = desc("observed_streams_total", "Connections to the target that would have been refused, in mode observe.")
	descTarget      = desc("target_failures_total", "Times that the target could not be reached.")
	descBytes       = desc("tunnel_bytes_total", "Bytes through the tunnel, to the target (in) and from it (out).", "direction")
	descHooks       = desc("hooks_total", "Hooks that have ended, by how.", "hook", "result")
	descHookTime    = desc("hook_seconds_total", "Time that hooks have taken.", "hook")
	descHandshakes  = desc("refused_handshakes_total", "Handshakes and other events that were turned away, by reason.", "reason")
	descExpires     = desc("certificate_expires_seconds", "When the gate's certificate expires, as Unix time.")
)

// Describe names no metrics: those of labels come and go.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the gate's status. A gate that has ended has no metrics.
func (c collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), gatherTimeout)
	defer cancel()
	s, err := c.gate.Status(ctx)
	if err != nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	for _, slot := range s.Slots {
		for state := core.Idle; state <= core.Stuck; state++ {
			is := 0.0
			if state.String() == slot.State {
				is = 1
			}
			gauge(descState, is, strconv.Itoa(slot.Slot), state.String())
		}
	}
	gauge(descConnections, float64(s.Connections))
	gauge(descSignIns, float64(s.SignIns))
	gauge(descStreams, float64(s.Streams))
	gauge(descExpires, float64(c.gate.certificate().Body().NotAfter.Unix()))
	for name, d := range map[string]*prometheus.Desc{
		"sign_ins": descSignInsAll, "sessions": descSessions, "broken": descBroken, "evicted": descEvicted, "observed": descObserved,
		"target_failures": descTarget,
	} {
		count(d, float64(s.Counts[name]))
	}
	count(descBytes, float64(s.Counts["bytes_in"]), "in")
	count(descBytes, float64(s.Counts["bytes_out"]), "out")
	for answer, n := range s.Answers {
		count(descAnswers, float64(n), answer)
	}
	for _, kind := range []string{core.AlarmStuck, core.AlarmSlowClose, core.AlarmOpenFailed, core.AlarmConfiguration, core.AlarmClock, core.AlarmRevocations} {
		count(descAlarms, float64(s.Alarms[kind]), kind)
	}
	for _, hook := range []string{"open", "close"} {
		h := s.hooks[hook]
		count(descHooks, float64(h.succeeded), hook, "succeeded")
		count(descHooks, float64(h.failed), hook, "failed")
		count(descHooks, float64(h.timedOut), hook, "timed out")
		count(descHookTime, h.spent.Seconds(), hook)
	}
	for reason, n := range s.Refused {
		count(descHandshakes, float64(n), reason)
	}
}

// NewMetrics serves GET /metrics.
func (g *Gate) NewMetrics(log *slog.Logger) *http.Server {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{g})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: gatherTimeout}))
	return &http.Server{
		Handler: mux, ReadTimeout: controlTimeout, WriteTimeout: gatherTimeout + controlTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxControlHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
