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
	o.transport.Queue(to, transport.ClassOf(m.Type()), body)
	return nil
}
