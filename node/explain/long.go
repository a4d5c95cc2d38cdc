package explain

import (
	"fmt"

	"github.com/wandertoken/wander/node/api"
)

// staysFrom is by how many seconds a stay has to be older than the news of it for people to be told: otherwise the one says the other.
const staysFrom = 1

// usual compares with a turn that takes long.
func usual(l *api.LongStatus) string { return "turns of late took " + text(l.UsualS) }

// ran is for how long a program has run at another member. The first news of it may have come late.
func ran(h *api.HolderStatus) string {
	if h.ProgramS == nil || *h.ProgramS < h.AgeS+staysFrom {
		return ""
	}
	return ", for " + text(*h.ProgramS) + " or more"
}

// stayed is for how long another member has had a token.
func stayed(h *api.HolderStatus) string {
	if h.SinceS == nil || *h.SinceS < h.AgeS+staysFrom {
		return ""
	}
	return " for " + text(*h.SinceS) + " or more"
}

// longTurns are a warning for each turn that takes much longer than those of late, for members that do not wait, too.
func longTurns(st *api.Status) (list []api.Warning) {
	for i := range st.Resources {
		r := &st.Resources[i]
		for j := range r.Slots {
			s := &r.Slots[j]
			h := s.Holder
			if s.Long == nil || h == nil {
				continue
			}
			what, where := fmt.Sprintf("%s's turn has taken %s", h.Name, text(s.Long.TookS)), "look on "+h.Name+": wander status"
			switch {
			case h.How == api.Here:
				what, where = "a program has run here for "+text(s.Long.TookS), "wander status names the process"
			case h.ProgramEndsS != nil:
				what = fmt.Sprintf("%s's program has run for %s", h.Name, text(s.Long.TookS))
			}
			list = append(list, api.Warning{Cause: RunsLong, Sentence: fmt.Sprintf("%s: %s, and %s: it may hang; %s", r.Name, what, usual(s.Long), where)})
		}
	}
	return list
}
