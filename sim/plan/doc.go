// Package plan answers what to expect of a policy in one's own group, from
// short simulations (sim/circulation): waits, overlap, recovery, traffic.
//
// It takes seconds, whatever the group: what is simulated is bounded by its
// cost, and the [Report] says how long that was. No run is short against the
// time between two operations of a member, unless even one costs too much. Reports are deterministic by
// the [Request].
package plan
