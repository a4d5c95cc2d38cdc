package transport_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/wire"
)

// TestClassOf_Handoff_GoesFirst: custody waits behind nothing, and a message that is not known
// overtakes nothing.
func TestClassOf_Handoff_GoesFirst(t *testing.T) {
	for kind, class := range map[wire.Type]transport.Class{
		wire.TypeTransfer: transport.Custody, wire.TypeRevocations: transport.Custody,
		wire.TypePolicy: transport.Rest, wire.TypeNews: transport.Rest, 0: transport.Rest, 23: transport.Rest, 255: transport.Rest,
	} {
		assert.Equal(t, class, transport.ClassOf(kind), kind)
	}
}
