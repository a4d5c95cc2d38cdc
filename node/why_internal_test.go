package node

import (
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/ident"
)

func TestNobodyLeft_OneTakesPart_False(t *testing.T) {
	gone := errors.New("revoked")
	for name, c := range map[string]struct {
		states map[ident.Member]error
		want   bool
	}{
		"this one alone":   {map[ident.Member]error{{1}: nil}, true},
		"all others gone":  {map[ident.Member]error{{1}: nil, {2}: gone, {3}: gone}, true},
		"one takes part":   {map[ident.Member]error{{1}: nil, {2}: gone, {3}: nil}, false},
		"this one is gone": {map[ident.Member]error{{1}: gone, {2}: nil}, false},
	} {
		assert.Equal(t, c.want, nobodyLeft(ident.Member{1}, maps.All(c.states)), name)
	}
}
