package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

func TestOverruns_Warnings_ForAnHour(t *testing.T) {
	var list overruns
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	list.note(overrun{"tape", 12354, at, 5 * time.Minute})
	assert.Equal(t, []api.Warning{{Cause: explain.Overran, Sentence: "a program of tape, asked for by process 12354, had not ended at its deadline at 2026-01-02T03:04:05Z, 5m after it began: it was killed, or its grant is over"}}, list.warnings(at.Add(59*time.Minute)))
	assert.Empty(t, list.warnings(at.Add(time.Hour)))
	for range 3 * maxOverruns {
		list.note(overrun{resource: "db", at: at})
	}
	assert.Len(t, list.warnings(at), maxOverruns)
	assert.Contains(t, list.warnings(at)[0].Sentence, "a program of db had not ended")
}
