package member

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
)

// Hindrance is why a gate lets no program in here, as far as it has said; empty if it does.
type Hindrance string

// What hinders at a gate.
const (
	GateUnanswered Hindrance = "unanswered" // it was asked, and has said nothing yet
	GateBusy       Hindrance = "busy"       // another session is there
	GateStuck      Hindrance = "stuck"      // it cannot end the session before
	GateRefuses    Hindrance = "refused"
	GateUseless    Hindrance = "useless" // it has opened for too short a time or against its rules, or ended the wait
)

// lastNotBefore is the last millisecond of the year 9999: later times have no text by RFC 3339, and a status that
// contains one none at all.
const lastNotBefore = 253_402_300_799_999

// gateWord is what a gate has said last about a slot.
type gateWord struct {
	text      string
	session   uint64
	notBefore uint64 // ms since 1970; 0: time changes nothing
	hinders   Hindrance
}

// wordOf is what an answer says to a member that waits.
func wordOf(a gate.Answer) (w gateWord) {
	switch a := a.(type) {
	case gate.OpenAnswer:
		w = gateWord{text: "open", session: a.Session}
	case gate.BusyAnswer:
		w = gateWord{text: "busy", session: a.Session, hinders: GateBusy}
		if a.Stuck {
			w.text, w.hinders = "stuck", GateStuck
		}
	case gate.RefuseAnswer:
		w = gateWord{text: "refused: " + a.Code.String(), notBefore: min(a.NotBefore, lastNotBefore), hinders: GateRefuses}
	case gate.ClosedAnswer:
		w = gateWord{text: "closed: " + a.Reason.String()}
	}
	return w
}

// GateWord is why the gate of a resource lets no program in here, as far as is known; empty if it does, or if there is none.
func GateWord(m *Member, resource string) string {
	for _, s := range m.circ.slots.order {
		if s.key.resource != resource {
			continue
		}
		switch g := m.circ.entries.status(s); {
		case !g.Gated, g.Observes:
		case !g.Reached:
			return "cannot be reached"
		case g.Hinders == GateUnanswered:
			return "has not answered"
		case g.Hinders == "":
		case g.NotBefore > 0:
			return "has " + g.Said + ", not before " + clock.FromMillis(g.NotBefore).UTC().Format(time.RFC3339)
		case g.Session > 0:
			return fmt.Sprintf("has said: %s, session %d", g.Said, g.Session)
		default:
			return "has said: " + g.Said
		}
	}
	return ""
}
