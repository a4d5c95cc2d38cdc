package node

import (
	"errors"
	"fmt"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// perform does what a batch of steps asks for, in its order: first every
// record reaches the journal, with one sync if any of them needs it, and then
// everything else happens. Nothing can leave before what it depends on is
// durable; that later records become durable earlier than they must does no
// harm.
func (n *Node) perform(effects []effect.Effect) error {
	if err := n.journal.write(effects); err != nil {
		return err
	}
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Persist:
			n.hooks.recorded(e.Record)
		case effect.Send:
			if err := n.outbox.send(e.To, e.Message); err != nil {
				n.report(effect.Report{Kind: "internal", About: e.To, Detail: err.Error()})
			}
		case effect.Grant:
			n.gates.granted(e)
			n.programs.granted(e)
		case effect.SignIn:
			n.gates.signIn(e)
		case effect.SignOut:
			n.gates.signOut(e)
		case effect.Lose:
			n.programs.lost(e)
		case effect.Refuse:
			n.programs.refused(e)
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

func revocationFrame(raw []byte) []byte {
	body, err := wire.Encode(&wire.Revocations{Revocations: [][]byte{raw}})
	if err != nil {
		return nil // a revocation that was learned fits a message
	}
	return body
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
