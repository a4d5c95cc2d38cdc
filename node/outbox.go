package node

import (
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// outbox encodes messages, counts them and gives them to the transport. Whoever carries
// effects out sends.
type outbox struct {
	transport *transport.Transport
	metrics   *metrics.Metrics
	sent      sent
	scratch   []byte // for encodings, which the transport copies
}

// send queues a message. Every message is made within its limits, so only a bug makes it
// return an error.
func (o *outbox) send(to ident.Member, m wire.Message) error {
	body, err := wire.Append(o.scratch[:0], m)
	if err != nil {
		return err // the message is lost, as any may be
	}
	o.scratch = body
	o.sent.note(m)
	if p, ok := m.(*wire.Policy); ok {
		o.metrics.PolicyMessageSent(p.Resource)
	}
	o.transport.Queue(to, classOf(m.Type()), body)
	return nil
}

// classes says of each message which row it waits in. Custody holds HELLO and the
// revocations, which decide whether a peer is listened to, and the handoff.
var classes = map[wire.Type]transport.Class{
	wire.TypeHello:       transport.Custody,
	wire.TypeOffer:       transport.Custody,
	wire.TypeNeed:        transport.Custody,
	wire.TypeAccept:      transport.Custody,
	wire.TypeRefuse:      transport.Custody,
	wire.TypeCancel:      transport.Custody,
	wire.TypeTransfer:    transport.Custody,
	wire.TypeReceipt:     transport.Custody,
	wire.TypeVoid:        transport.Custody,
	wire.TypeUnknown:     transport.Custody,
	wire.TypeRevocations: transport.Custody,

	wire.TypePolicy:        transport.Rest,
	wire.TypeWant:          transport.Rest,
	wire.TypeMembers:       transport.Rest,
	wire.TypeConfiguration: transport.Rest,
	wire.TypeGossip:        transport.Rest,
	wire.TypeSummary:       transport.Rest,
	wire.TypeProbe:         transport.Rest,
	wire.TypeNews:          transport.Rest,
}

// classOf is the row that a message of this type waits in. One that the table lacks is
// Rest, and overtakes nothing.
func classOf(t wire.Type) transport.Class { return classes[t] }
