// Package metrics counts what a member does and shows it to Prometheus.
//
//	m := metrics.New(boottime.Now)
//	cfg.Observer = m.Watch(cfg.Observer) // tokens: from what policies are told
//	m.Waited(…), m.Granted(…), m.Synced(…) // where things happen
//	m.Expose(source)                     // what is only looked at, at each scrape
//	m.NewServer(log).Serve(listener)     // GET /metrics
//
// Package node does all of this, if the daemon's settings ask for metrics. Without them its Metrics is nil,
// and each counting method of a nil Metrics does nothing: what is off costs nothing.
//
//	$ curl -s localhost:9464/metrics | grep ^wander_tokens_received
//	wander_tokens_received_total{resource="ftp"} 1204
//
// docs/metrics.md says what each metric means and which to alert on.
//
// # Three sources
//
//	what happens in policies   Watch       tokens.go    arrivals, handoffs, drops, duplicates
//	what happens in the node   Waited, Granted, Ended, Synced, Evidence, HookRan, PolicyMessageSent
//	                                       resource.go  requests, grants, overlap; metrics.go
//	what is, at a moment       Expose      snapshot.go  counts and versions: states collects them
//
// What happens is counted where it happens, with atomic operations or a short lock: nothing
// waits for a scrape. What a member is at one moment (Snapshot) is asked for at
// most once in snapshotAge, however many scrape.
//
// # The walk of a token
//
// The member tells its Observer of each step of a policy. watch finds the slot (slotWatch), which remembers up to
// maxObservations tokens: where each is and since when it is being passed.
//
//	Arrival     received, and the time since the last one; duplicates, if another token provably
//	            circulates: one is here, or came since this one was here last
//	Generated   regenerated, if the policy had asked for it
//	Pass        the handoff begins
//	PassEnded   the handoff's duration, by result; sent, if it was delivered
//	Drop        dropped, by reason
//
// Each call goes on to the next Observer, so that a test can watch, too.
//
// # Types
//
// Metrics has the registry and the vectors. A resource has the counters of one resource, made all at once when
// a policy is made for it (configured): a series that exists from the start lets an alert see the first
// increase. Request and Operation are how a request was answered and how a grant ended, as values of the label
// outcome. Snapshot is what states shows. A Server answers GET /metrics, and nothing else.
//
// # What holds
//
// "resource" is the only label whose values come from outside; it takes those of the group configuration,
// which bounds them: `of` returns nil for any other name, and nothing is counted. Other labels are words of
// the code, and kinds of evidence beyond maxKinds are "other". Nothing that a peer sends becomes a label.
// Names end in their base unit (TestLint holds them to that).
//
// The server bears strangers, as people may open it to a network: at most maxConnections, maxGathering answers
// at a time, and a timeout on everything. An answer is put together before its first byte is sent, so that a
// slow reader holds up nobody.
//
// # What belongs elsewhere
//
// Metrics decide nothing and are read by nothing in the program: `wander status` asks the member. Figures of a
// policy's own are its Gauges, in the status. CONTRIBUTING.md lists what a new metric needs.
//
// The counting methods are safe for concurrent use. The observer is called by who steps the member, and by nobody
// else at the same time.
package metrics
