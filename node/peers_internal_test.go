package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
)

func TestCutOff(t *testing.T) {
	at := func(s int) clock.Instant { return clock.Instant(s) * clock.Instant(time.Second) }
	for name, c := range map[string]struct {
		contact, failed, now int
		want                 bool
	}{
		"nobody was ever heard of":                  {0, 0, 100, true},
		"connections were closed when idle":         {50, 0, 100, false},
		"a failure was followed by contact":         {50, 40, 100, false},
		"nobody answers any more":                   {50, 70, 100, true},
		"one peer is away, others were here lately": {90, 95, 100, false},
	} {
		assert.Equal(t, c.want, cutOff(at(c.contact), at(c.failed), at(c.now)), name)
	}
}
