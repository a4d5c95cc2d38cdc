package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/node/forecast"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// Acquire waits for the resource as the request says: it is the daemon behind
// the local API, and may be called by a program that has a node of its own.
func (n *Node) Acquire(ctx context.Context, r api.AcquireRequest) (api.HeldGrant, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	l, err := n.programs.acquire(ctx, r)
	if err != nil {
		return nil, n.ended(err)
	}
	return l, nil
}

// ended says of a request that the end of the node has ended that the daemon is not
// available, whatever ended it: a full disk, too. A refusal stays as it is.
func (n *Node) ended(err error) error {
	if err == nil || refusal(err) || !errors.Is(err, n.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", api.ErrUnavailable, err)
}

// Release reports the end of a grant, also of one from before a restart. The
// token is kept for the rest of min_hold.
func (n *Node) Release(r api.ReleaseRequest) error {
	n.programs.release(r)
	return nil
}

// Back ends the grants of a resource that last across a restart of the machine.
func (n *Node) Back(resource string) (int, error) {
	if _, known := n.currentGroup().Config().Resource(resource); !known {
		return 0, fmt.Errorf("%w: %w", api.ErrRefused, member.ErrResource)
	}
	var list []member.Across
	n.engine.look(func(m *member.Member) { list = member.AcrossOf(m, resource) })
	for _, g := range list {
		n.programs.release(api.ReleaseRequest{Grant: g.Grant, Operated: true})
	}
	n.engine.do(member.Tick{}) // behind the releases: who leaves next finds the grants ended
	return len(list), nil
}

// Status is what this member knows.
func (n *Node) Status() api.Status {
	var s member.Status
	peers, resources := []api.PeerStatus{}, []api.ResourceStatus{}
	now := boottime.Now()
	n.engine.look(func(m *member.Member) {
		s = m.Status()
		for i := range s.Slots {
			resources = appendSlot(resources, s.Slots[i])
			slots := resources[len(resources)-1].Slots
			slots[len(slots)-1].Gate = gateStatus(s.Slots[i].Gate, now)
			whereabouts(n, m, &s.Slots[i], now, &slots[len(slots)-1])
		}
		for _, id := range s.Peers {
			if c, known := m.Certificate(id); known {
				peers = append(peers, api.PeerStatus{Member: id, Name: c.Body().Name, Connected: true})
			}
		}
	})
	kept := n.journal.status()
	kept.Recalling, kept.WentBack = s.Recalling, s.Rollbacks
	st := api.Status{
		Member: n.self, Name: n.cfg.Certificate.Body().Name, Group: n.cfg.Group.ID(),
		GroupName: n.cfg.Group.Name(), ConfigurationVersion: s.Configuration,
		Incarnation: s.Incarnation, Mode: n.cfg.Mode.String(),
		UptimeS: time.Since(n.started).Seconds(), Address: n.Address(),
		Handoffs: api.HandoffCounts{
			OK: s.Handoffs.Delivered, Retried: s.Handoffs.Retried, Reselected: s.Handoffs.Reselected,
			InDoubt: uint64(s.InDoubt), InDoubtResolved: s.Handoffs.InDoubtResolved,
		},
		Tokens:   api.TokenCounts{Generated: s.Generated, Dropped: s.Dropped},
		Rejected: s.Rejected, CertificateExpires: n.authority.certificate().Body().NotAfter,
		Journal: kept, Peers: peers, Resources: resources,
		Link: link(n, s, now), Stopping: s.Stopping, KeyRetired: n.authority.keyUse() == keyRetired, Invalid: invalidity(n, s), Renewing: n.authority.renewal(n.cfg.Now()),
	}
	n.showWindows(&st, s)
	unreached := n.gates.unreached()
	for i := range st.Resources {
		st.Resources[i].NoPlace = s.NoPlace && st.Resources[i].Policy == catalog.Ring
		for _, slot := range st.Resources[i].Slots {
			if slot.Gate != nil && !slot.Gate.Reachable {
				slot.Gate.Unreached = unreached[st.Resources[i].Name]
			}
		}
	}
	st.Membership, st.Evidence = membershipStatus(s), n.evidence.status()
	st.Warnings = n.warnings(s)
	for class, count := range n.transport.Stats().Refused {
		if count > 0 {
			st.Rejected["transport: "+class] = count
		}
	}
	explain.Status(&st, n.cfg.Now())
	return st
}

// Waiting is why a program that waits for a resource does not run yet.
func (n desk) Waiting(resource string) (w api.Waiting) {
	st := n.Status()
	if why, known := explain.OfProgram(&st, resource); known {
		w.Cause, w.Sentence = why.Cause, why.Sentence
	}
	for i := range st.Resources {
		for _, s := range st.Resources[i].Slots {
			if e := s.Eta; st.Resources[i].Name == resource && e != nil && (w.P50S == nil || e.P50S < *w.P50S) {
				w.P50S, w.P95S, w.Before = &e.P50S, &e.P95S, nil
				if e.Basis == string(forecast.Order) {
					w.Before = &e.Before
				}
			}
		}
	}
	return w
}

// appendSlot adds a slot to its resource; slots come grouped by resource.
func appendSlot(list []api.ResourceStatus, s member.SlotStatus) []api.ResourceStatus {
	if len(list) == 0 || list[len(list)-1].Name != s.Resource {
		list = append(list, api.ResourceStatus{
			Name: s.Resource, Policy: s.Policy, Preset: s.Preset, Weight: s.Weight, Waiting: s.Waiting, MaxHoldS: s.MaxHold.Seconds(),
		})
	}
	r := &list[len(list)-1]
	var gauges map[string]float64
	if len(s.Gauges) > 0 {
		gauges = make(map[string]float64)
	}
	for _, g := range s.Gauges {
		gauges[g.Name] = g.Value
	}
	r.Slots = append(r.Slots, api.SlotStatus{
		Slot: int(s.Slot), Leaving: s.Leaving, Held: s.Held, Executing: s.Executing, Token: s.Token, Hop: s.Hop,
		TokensSeen: s.Seen, LastSeenS: age(s.LastSeen), LastOperationS: age(s.LastOperation),
		Operations: s.Operations, ReturnS: s.Returned.Seconds(), Gauges: gauges,
		IsolatedS: s.Isolated.Seconds(), Missing: s.Missing, Asker: askerStatus(s.Asker),
	})
	return list
}

// askerStatus is the process that asked for what runs, nil if that is not known.
func askerStatus(a *journal.Asker) *api.Asker {
	if a == nil {
		return nil
	}
	return &api.Asker{User: uint32(a.User), Group: uint32(a.Group), Process: int32(a.Process)}
}

// askerRecord is the same for the journal.
func askerRecord(a *api.Asker) *journal.Asker {
	if a == nil {
		return nil
	}
	return &journal.Asker{User: uint64(a.User), Group: uint64(a.Group), Process: uint64(max(0, a.Process))}
}

// gateStatus is what is known of a slot's gate, nil if it has none.
func gateStatus(g member.GateStatus, now clock.Instant) *api.GateStatus {
	if !g.Gated {
		return nil
	}
	s := &api.GateStatus{Reachable: g.Reached, Observes: g.Observes, Said: g.Said, Hinders: string(g.Hinders), Session: g.Session}
	if g.NotBefore > 0 {
		s.NotBefore = clock.FromMillis(g.NotBefore).UTC()
	}
	s.SaidS, s.AskedS = since(g.Heard, now), since(g.Asked, now)
	return s
}

// since is how long ago an instant was; nil for 0.
func since(at, now clock.Instant) *float64 {
	if at == 0 {
		return nil
	}
	s := now.Sub(at).Seconds()
	return &s
}

// age is how long ago a wall time, in µs since 1970, was; nil for never.
func age(micros uint64) *float64 {
	if micros == 0 {
		return nil
	}
	s := max(0, time.Since(time.UnixMicro(int64(micros))).Seconds())
	return &s
}

// Members are the members that this one knows.
func (n *Node) Members() []api.MemberInfo {
	list := []api.MemberInfo{}
	n.engine.look(func(m *member.Member) {
		for k := range m.Members() {
			c := k.Certificate.Body()
			list = append(list, api.MemberInfo{
				Member: k.Certificate.Member(), Name: c.Name, Class: c.Class, State: stateOf(k.Eligible),
				Self: k.Certificate.Member() == n.self, Connected: k.Connected, Suspected: k.Suspected, Sequence: k.Sequence,
				Addresses: append([]string{}, k.Addresses...), Expires: c.NotAfter,
			})
		}
	})
	return list
}
