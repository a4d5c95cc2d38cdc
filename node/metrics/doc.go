// Package metrics counts what a member does and shows it to Prometheus.
//
//	m := metrics.New(boottime.Now)
//	cfg.Observer = m.Watch(cfg.Observer) // tokens: from what policies are told
//	m.Waited(…), m.Granted(…), m.Synced(…) // where things happen
//	m.Expose(source)                     // what is only looked at, at each scrape
//	m.NewServer(log).Serve(listener)     // GET /metrics
//
// What happens is counted where it happens, with atomic operations: nothing
// waits for a scrape. What a member is at one moment (Snapshot) is asked for at
// most once in snapshotAge, however many scrape. docs/metrics.md says what each
// metric means and which to alert on.
//
// "resource" is the only label whose values are not fixed here; it takes those
// of the group configuration, which bounds them. Nothing that a peer sends
// becomes a label.
package metrics
