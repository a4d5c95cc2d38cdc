package transition_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/transition"
)

type state uint8

type event uint8

type row transition.Row[state, event]

func TestTable_After_FollowsTheRows(t *testing.T) {
	var table transition.Table[state, event] = transition.NewTable(state(3), event(2), []row{{0, 1, 2}, {2, 0, 0}})
	for s := range state(3) {
		for e := range event(2) {
			to, ok := table.After(s, e)
			switch {
			case s == 0 && e == 1:
				assert.Equal(t, state(2), to)
				assert.True(t, ok)
			case s == 2 && e == 0:
				assert.Equal(t, state(0), to)
				assert.True(t, ok)
			default:
				assert.Equal(t, s, to)
				assert.False(t, ok)
			}
		}
	}
}

func TestName_NoName_Number(t *testing.T) {
	assert.Equal(t, "b", transition.Name([]string{"a", "b"}, "state", 1))
	assert.Equal(t, "state 2", transition.Name([]string{"a", "b"}, "state", 2))
}
