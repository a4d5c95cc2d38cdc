package explain_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

// A member without waiting programs is warned of a long turn, too.
func TestStatus_TurnTakesLong_Warned(t *testing.T) {
	long := &api.LongStatus{TookS: 76, UsualS: 1}
	for words, slot := range map[string]api.SlotStatus{
		"tape: m3's program has run for 76 s, and turns of late took 1.0 s: it may hang; look on m3: wander status":         {Long: long, Holder: &api.HolderStatus{Name: "m3", How: api.Said, ProgramEndsS: s(5)}},
		"tape: m3's turn has taken 76 s, and turns of late took 1.0 s: it may hang; look on m3: wander status":              {Long: long, Holder: m3(api.Told)},
		"tape: a program has run here for 76 s, and turns of late took 1.0 s: it may hang; wander status names the process": {Long: long, Held: true, Executing: true, Holder: &api.HolderStatus{Name: "m1", How: api.Here}},
	} {
		st := api.Status{Resources: []api.ResourceStatus{{Name: "tape", Slots: []api.SlotStatus{slot, {}}}}}
		explain.Status(&st, noon)
		assert.Equal(t, []api.Warning{{Cause: explain.RunsLong, Sentence: words}}, st.Warnings)
	}
	st := api.Status{Resources: []api.ResourceStatus{{Name: "tape", Slots: []api.SlotStatus{{Holder: m3(api.Said)}}}}}
	explain.Status(&st, noon)
	assert.Empty(t, st.Warnings)
}
