package node

import (
	"errors"
	"fmt"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// carryOut does what a batch of steps asks for, in its order: first every
// record reaches the journal, with one sync if any of them needs it, and then
// everything else happens. Nothing can leave before what it depends on is
// durable; that later records become durable earlier than they must does no
// harm.
func (n *Node) carryOut(effects []effect.Effect) error {
	if err := n.write(effects); err != nil {
		return err
	}
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Send:
			n.sendMessage(e.To, e.Message)
		case effect.Grant:
			n.granted(e)
		case effect.Refuse:
			n.refused(e)
		case effect.Expel:
			n.transport.Expel(e.Member, revocationFrame(e.Revocation)) // which logs it
		case effect.Reconfigure:
			n.reconfigured(e.Version)
		case effect.Watch:
			n.transport.Watch(e.Peer, e.On)
		case effect.Report:
			n.report(e)
		case effect.Evidence:
			n.evidence.put(e)
		case effect.Stop:
			n.fail(stopError(e.Reason))
		}
	}
	n.transport.Flush()
	return nil
}

// maxLazy bounds the records that wait for a sync that none of them needs, in
// bytes: a member that hears of a large group may have no token meanwhile.
const maxLazy = 1 << 20

func (n *Node) write(effects []effect.Effect) error {
	sync := false
	for _, e := range effects {
		p, ok := e.(effect.Persist)
		if !ok {
			continue
		}
		body, err := journal.Append(n.scratch[:0], p.At, p.Record)
		if err == nil {
			n.scratch = body
			_, err = n.store.Append(body)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
		if r, ok := p.Record.(*journal.Evidence); ok {
			n.metrics.Evidence(r.What, 1)
		}
		sync = sync || p.Sync
		if n.lazy += len(body); n.lazy >= maxLazy {
			if err := n.sync(); err != nil {
				return err
			}
		}
	}
	if !sync {
		return nil
	}
	return n.sync()
}

// sync makes everything written so far durable. Earlier than need be does no
// harm.
func (n *Node) sync() error {
	n.lazy = 0
	if err := n.store.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	n.syncs.Add(1)
	return nil
}

// waits reports whether carrying the effects out waits for the disk.
func (n *Node) waits(effects []effect.Effect) bool {
	if n.cfg.Mode != store.Durable {
		return false
	}
	for _, e := range effects {
		if p, ok := e.(effect.Persist); ok && p.Sync {
			return true
		}
	}
	return false
}

// checkpoint puts the live records in the place of all earlier ones.
func (n *Node) checkpoint(now clock.Reading, records []journal.Record) error {
	bodies := make([][]byte, 0, len(records))
	for _, r := range records {
		body, err := journal.Encode(now.Micros(), r)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
		bodies = append(bodies, body)
	}
	if err := n.store.Checkpoint(bodies); err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	n.log.Info("journal segment begun", "records", len(records))
	return nil
}

func (n *Node) sendMessage(to ident.Member, m wire.Message) {
	body, err := wire.Append(n.scratch[:0], m)
	if err != nil {
		// Every message is made within its limits: only a bug gets here, and
		// a message may get lost.
		n.report(effect.Report{Kind: "internal", About: to, Detail: err.Error()})
		return
	}
	n.scratch = body
	n.sent.note(m)
	if p, ok := m.(*wire.Policy); ok {
		n.metrics.PolicyMessageSent(p.Resource)
	}
	n.transport.Queue(to, classOf(m), body)
}

// classOf says which messages go first: those that move custody.
func classOf(m wire.Message) transport.Class {
	switch m.Type() {
	case wire.TypePolicy, wire.TypeWant, wire.TypeMembers, wire.TypeConfiguration,
		wire.TypeGossip, wire.TypeSummary, wire.TypeProbe, wire.TypeNews:
		return transport.Rest
	}
	return transport.Custody
}

func revocationFrame(raw []byte) []byte {
	body, err := wire.Encode(&wire.Revocations{Revocations: [][]byte{raw}})
	if err != nil {
		return nil // a revocation that was learned fits a message
	}
	return body
}

// granted gives a grant to the program that waits for it. One that nobody
// waits for any more starts nothing; nor does one whose deadline the sync has
// outlasted, and the program waits on.
func (n *Node) granted(g effect.Grant) {
	w := n.waiters.take(g.Request)
	if w != nil && boottime.Now().Before(g.Deadline) {
		w.grant(n.leases.open(n, w, g))
		return
	}
	n.end(api.ReleaseRequest{Grant: g.Grant})
	if w == nil {
		return
	}
	if demand, ok := n.waiters.again(w); ok {
		n.engine.put(item{input: demand})
		return
	}
	w.refuse(ErrNotGranted)
}

func (n *Node) refused(r effect.Refuse) {
	if w := n.waiters.take(r.Request); w != nil {
		w.refuse(apiError(r.Reason))
	}
}

func (n *Node) report(r effect.Report) {
	if n.reports.allow(r.Kind) {
		n.log.Warn(r.Kind, "member", r.About, "detail", r.Detail)
	}
}

// stopError is why a member that is told to stop for good ends.
func stopError(reason error) error {
	if errors.Is(reason, member.ErrLeft) {
		return ErrLeft
	}
	return fmt.Errorf("%w: %w", ErrRevoked, reason)
}
