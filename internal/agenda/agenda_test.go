package agenda_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/agenda"
)

func TestOrder(t *testing.T) {
	var a agenda.Agenda[int, string]
	for i, what := range []string{"c", "a", "d", "b", "e"} {
		a.Plan([]int{2, 1, 2, 1, 3}[i], what)
	}
	assert.Equal(t, 5, a.Len())
	var got string
	for {
		at, what, ok := a.Next(2)
		if !ok {
			break
		}
		assert.LessOrEqual(t, at, 2)
		got += what
	}
	assert.Equal(t, "abcd", got, "by instant, then as planned")
	assert.Equal(t, 1, a.Len())
}
