package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/wire"
)

func TestClasses_EveryMessage_HasOne(t *testing.T) {
	for number := range 256 {
		kind := wire.Type(number)
		_, classified := classes[kind]
		known := !strings.HasPrefix(kind.String(), "message type ")
		assert.Equal(t, known, classified, "%v", kind)
	}
}

func TestClassOf_UnknownMessage_OvertakesNothing(t *testing.T) {
	assert.Equal(t, transport.Rest, classOf(wire.Type(255)))
}
