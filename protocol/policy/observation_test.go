package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

func TestObservation_TwoTold_LaterKept(t *testing.T) {
	a, b, one, two := ident.Member{1}, ident.Member{2}, ident.Token{1}, ident.Token{2}
	old := policy.Observation{Holder: a, By: a, Token: one, Born: 7, Hop: 3, At: 10, Ahead: 4, Known: 1}
	for name, c := range map[string]struct {
		told policy.Observation
		want ident.Member
	}{
		"nothing":                       {policy.Observation{}, a},
		"later hop, heard before":       {policy.Observation{Holder: b, Token: one, Hop: 4, At: 9}, b},
		"earlier hop, heard later":      {policy.Observation{Holder: b, Token: one, Hop: 2, At: 11}, a},
		"the same hop, heard later":     {policy.Observation{Holder: b, Token: one, Hop: 3, At: 11}, b},
		"the same hop, heard before":    {policy.Observation{Holder: b, Token: one, Hop: 3, At: 9}, a},
		"another token, heard later":    {policy.Observation{Holder: b, Token: two, Hop: 1, At: 11}, b},
		"another token, heard before":   {policy.Observation{Holder: b, Token: two, Hop: 9, At: 9}, a},
		"earlier hop, a minute later":   {policy.Observation{Holder: b, Token: one, Hop: 2, At: 11 + clock.Instant(time.Minute)}, b},
		"a holder where none was known": {policy.Observation{Holder: b, Token: two, At: 12}, b},
	} {
		got := old.Later(c.told)
		assert.Equal(t, c.want, got.Holder, name)
		assert.Equal(t, 4, got.Ahead, "%s: what is about this member stays", name)
		if got.Token == one {
			assert.EqualValues(t, 7, got.Born, "%s: a token is made once", name)
		}
	}
}
