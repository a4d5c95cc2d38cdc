package node

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/wandertoken/wander/internal/version"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/doctor"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

// desk is the node as the local API has it: beside what a program may ask of its own node, it has what people ask.
type desk struct{ *Node }

// Checkup looks at what an operator can mend.
func (n desk) Checkup(ctx context.Context) []api.Check {
	t := n.transport.Stats()
	f := doctor.Facts{
		Status: n.Status(), Dialled: t.Dialled, Failed: t.DialFailures, Accepted: t.Accepted,
		Listens: n.cfg.Listen != "", Buffer: n.transport.ReceiveBuffer(), Renewal: n.authority.warning(n.now().Wall),
		Version: version.Of().Version, Protocol: transport.ALPN, Now: n.cfg.Now(), Absent: make(map[string]int),
	}
	n.engine.look(func(m *member.Member) {
		for k := range m.Members() {
			switch {
			case k.Certificate.Member() == n.self:
				f.Advertised = k.Addresses
			case k.Eligible == nil:
				f.Others++
				if k.Suspected {
					f.Suspected++
				}
			default:
				f.Absent[stateOf(k.Eligible)]++
			}
		}
	})
	for _, p := range n.transport.Neighbours() {
		f.LongestRTT = max(f.LongestRTT, p.RTT)
		if mtu := transport.PathMTU(p.Remote); mtu > 0 && (f.MTU == 0 || mtu < f.MTU) {
			f.MTU = mtu
		}
	}
	if list, err := n.lookout.addresses(); err == nil {
		for _, a := range list {
			f.Own = append(f.Own, a.String())
		}
	}
	f.Back = n.dialledBack(ctx)
	return doctor.Judge(&f)
}

const (
	// maxAsked is how many members are asked to dial this one, one after the other until one answers: more that do not are no news.
	maxAsked = 3
	// askedWithin bounds that as a whole: whoever looks waits for it.
	askedWithin = 6 * time.Second
)

// dialledBack asks members that are connected, and have addresses themselves, to dial this one.
func (n desk) dialledBack(ctx context.Context) *doctor.Back {
	if n.cfg.Listen == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askedWithin)
	defer cancel()
	asked := 0
	for _, p := range n.transport.Neighbours() {
		addresses := n.addressesOf(p.Member)
		if len(addresses) == 0 {
			continue
		}
		if b := n.askBack(ctx, addresses, p.Member); b != nil {
			return b
		}
		if asked++; asked == maxAsked || ctx.Err() != nil {
			break
		}
	}
	return nil
}

// addressesOf are where a member is dialled.
func (n desk) addressesOf(id ident.Member) (list []string) {
	n.engine.look(func(m *member.Member) {
		for k := range m.Members() {
			if k.Certificate.Member() == id {
				list = slices.Clone(k.Addresses)
			}
		}
	})
	return list
}

// askBack asks one member to dial this one; nil: it has not answered.
func (n desk) askBack(ctx context.Context, addresses []string, id ident.Member) *doctor.Back {
	a, err := n.transport.DialBack(ctx, addresses, id)
	if err != nil {
		n.log.Debug("a member was asked to dial back, and has not answered", "member", id, "error", err)
		return nil
	}
	b := &doctor.Back{By: a.By.Body().Name, Seen: a.Seen.String()}
	for _, d := range a.Dialled {
		switch d.Outcome {
		case transport.DialAnswered:
			b.Answered = append(b.Answered, d.Address)
		case transport.DialRefused:
			b.Failed = append(b.Failed, d.Address+" (by another member, or refused)")
		default:
			b.Failed = append(b.Failed, d.Address+" (nobody answers)")
		}
	}
	return b
}

// probed is who is dialled by a probe.
type probed struct {
	name      string
	id        *ident.Member // nil: whoever answers
	addresses []string
}

// find is the member of a name or an id, or an address.
func (n desk) find(who string) (p probed, err error) {
	p.name = who
	if _, _, err := net.SplitHostPort(who); err == nil {
		p.addresses = []string{who}
		return p, nil
	}
	var id ident.Member
	isID := encoding.TextUnmarshaler(&id).UnmarshalText([]byte(who)) == nil
	n.engine.look(func(m *member.Member) {
		for k := range m.Members() {
			c := k.Certificate
			if (isID && c.Member() == id || c.Body().Name == who) && (p.id == nil || k.Eligible == nil) {
				found := c.Member()
				p.id, p.addresses = &found, append([]string{}, k.Addresses...)
			}
		}
	})
	switch {
	case p.id == nil:
		return p, fmt.Errorf("%w: no member %q is known here: wander members lists them", api.ErrBadRequest, who)
	case *p.id == n.self:
		return p, fmt.Errorf("%w: %q is this member itself", api.ErrBadRequest, who)
	}
	return p, nil
}

// Probe dials one member, and says what has answered.
func (n desk) Probe(ctx context.Context, r api.ProbeRequest) ([]api.Check, error) {
	p, err := n.find(r.Peer)
	if err != nil {
		return nil, err
	}
	var linked *transport.Neighbour
	for _, l := range n.transport.Neighbours() {
		if p.id != nil && l.Member == *p.id {
			linked = &l
		}
	}
	if p.id != nil && len(p.addresses) == 0 {
		if linked == nil {
			return []api.Check{{Name: "reach", Result: api.Warn, Finding: p.name + " only dials out, and is not connected now", Advice: "on that machine: wander doctor " + n.cfg.Certificate.Body().Name}}, nil
		}
		list := []api.Check{{Name: "reach", Result: api.Fine, Finding: fmt.Sprintf("%s only dials out, and is connected from %v; round trip %v", p.name, linked.Remote, linked.RTT.Round(10*time.Microsecond))}}
		return append(list, n.clockOf(*p.id, linked.RTT), doctor.MTU(transport.PathMTU(linked.Remote))), nil
	}
	a, err := n.transport.Probe(ctx, p.addresses, p.id)
	if err != nil {
		return []api.Check{{Name: "reach", Result: api.Fail, Finding: fmt.Sprintf("%s: %v", p.name, err), Advice: probeAdvice(err)}}, nil
	}
	c := a.Certificate.Body()
	list := []api.Check{
		{Name: "reach", Result: api.Fine, Finding: fmt.Sprintf("%s answers at %v: handshake %v, round trip %v; packets of 1200 bytes pass both ways", c.Name, a.Remote, a.Took.Round(10*time.Microsecond), a.RTT.Round(10*time.Microsecond))},
		{Name: "certificate", Result: api.Fine, Finding: fmt.Sprintf("%s (%v), serial %d, until %s", c.Name, a.Certificate.Member(), c.Serial, c.NotAfter.UTC().Format(time.RFC3339))},
		n.clockOf(a.Certificate.Member(), a.RTT), doctor.MTU(transport.PathMTU(a.Remote)),
		{Name: "version", Result: api.Fine, Finding: "speaks " + transport.ALPN},
	}
	var back *doctor.Back
	if n.cfg.Listen != "" {
		back = n.askBack(ctx, []string{a.Remote.String()}, a.Certificate.Member())
	}
	if back == nil && linked != nil && !linked.Dialled {
		return append(list, api.Check{Name: "dials back", Result: api.Fine, Finding: fmt.Sprintf("the connection in use was dialled by %s, from %v", c.Name, linked.Remote)}), nil
	}
	return append(list, doctor.DialsBack(back, n.cfg.Certificate.Body().Name)), nil
}

// clockOf compares with a peer's clock, as it has greeted.
func (n desk) clockOf(peer ident.Member, rtt time.Duration) api.Check {
	var ahead time.Duration
	known := false
	n.engine.look(func(m *member.Member) { ahead, known = member.PeerClock(m, peer) })
	return doctor.PeerClock(ahead, rtt, known)
}

// probeAdvice is what to do about a dial that failed.
func probeAdvice(err error) string {
	switch {
	case errors.Is(err, transport.ErrAbsent):
		return "the machine is up, and nobody listens there: start its daemon, or correct its listen.advertise"
	case errors.Is(err, transport.ErrSelf):
		return "this is the address of this member itself: correct listen.advertise there"
	case errors.Is(err, transport.ErrWrongMember):
		return "two members are told of under one address: correct listen.advertise of one of them"
	case errors.Is(err, transport.ErrExpired), errors.Is(err, transport.ErrNotYetValid), errors.Is(err, transport.ErrCertificate):
		return "on that machine: wander doctor; compare both clocks"
	case errors.Is(err, transport.ErrOtherGroup), errors.Is(err, transport.ErrNotMember), errors.Is(err, transport.ErrNoCertificate), errors.Is(err, transport.ErrHandshake):
		return "no member of this group listens there: check the address"
	case errors.Is(err, transport.ErrRefused), errors.Is(err, transport.ErrOverload):
		return "it refuses this member: look at its log"
	case errors.Is(err, transport.ErrBusy):
		return "this member dials too many at once: ask again in some seconds"
	case errors.Is(err, transport.ErrNoAddress):
		return "check the name and the port"
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return "this machine forbids the packet: look at its own firewall, for outgoing UDP"
	}
	return "its machine or daemon may be down, or a firewall drops UDP between the two"
}

// LastHour is what has happened in the last hour by minutes, with names.
func (n desk) LastHour() []api.ResourceHistory {
	names, slots := map[ident.Member]string{}, map[string]int{}
	n.engine.look(func(m *member.Member) {
		for k := range m.Members() {
			names[k.Certificate.Member()] = k.Certificate.Body().Name
		}
	})
	for _, r := range n.currentGroup().Config().Settings().Resources {
		slots[r.Name] = int(max(1, r.Slots))
	}
	list := []api.ResourceHistory{}
	for _, s := range n.History().Summaries(boottime.Now(), func(name string) int { return slots[name] }) {
		r := api.ResourceHistory{Name: s.Resource, OverlapS: s.Overlap.Seconds(), Members: []api.MemberHistory{}}
		for _, m := range s.Members {
			name, known := names[m.Member]
			switch {
			case m.Member.IsZero():
				name = api.NotHeard
			case !known:
				name = m.Member.String()
			}
			r.Members = append(r.Members, api.MemberHistory{Name: name, Turns: m.Turns[:]})
		}
		for _, w := range s.Waits {
			h := api.WaitHistory{Count: w.Count, LongestS: w.Longest.Seconds()}
			if w.Count > 0 {
				h.MeanS = w.Sum.Seconds() / float64(w.Count)
			}
			r.Waits = append(r.Waits, h)
		}
		list = append(list, r)
	}
	return list
}
