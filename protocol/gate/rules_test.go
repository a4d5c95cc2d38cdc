package gate_test

import (
	"testing"

	"github.com/wandertoken/wander/internal/undone"
)

// undoings are rules of the gate, each undone in one place of the code, and what a test says then.
var undoings = []struct{ rule, file, old, new, test, says string }{
	{"the session member's own signature cuts", "permit.go", "m.By == t.Holder && m.Title == t.Hash", "m.Title == t.Hash", "LyingMembers", "honest sessions cut"},
	{
		"the presenter's own signature makes stale", "memory.go", "		m.title(move.By, move.Title).moved = true\n",
		"		for _, id := range sortedMembers(m.members) {\n			m.title(id, move.Title).moved = true\n		}\n", "LyingMembers", "refused at first use",
	},
	{
		"the member served longest ago opens", "waiters.go", "fits(w) && (first < 0 || m.served(w.permit.Title.Holder) < m.served(q[first].permit.Title.Holder))",
		"fits(w) && first < 0", "LiarKnocks", "is not less than or equal to",
	},
	{"nothing opens before close has confirmed", "closing.go", "		g.slots[i].session.reason = why\n		g.runClose(i)\n", "		g.slots[i].session.reason = why\n		g.runClose(i)\n		g.confirmed(i)\n", "LyingMembers", "two sessions at once"},
	{"a close that failed is stuck", "closing.go", "		case s.state == Closing:\n			g.stuck(i)\n", "		case s.state == Closing:\n			g.confirmed(i)\n", "LyingMembers", "two sessions at once"},
	{"a session is journalled first", "machine.go", "	g.write(r, g.fence-g.durable > MaxAhead)\n	g.runs++\n", "	defer g.write(r, g.fence-g.durable > MaxAhead)\n	g.runs++\n", "LyingMembers", "two sessions at once"},
	{"a restart closes everything", "restore.go", "		case !p.known || p.open.number > 0:\n", "		case !p.known:\n", "LyingMembers", "journal that contradicts itself"},
	{"numbers survive", "restore.go", "	r.g.fence = one.Session\n", "", "LyingMembers", "journal that contradicts itself"},
	{"a start passes over numbers", "restore.go", "	g.fence = min(g.fence+MaxAhead, MaxNumber) //", "	//", "NoEvidence", "session number for two sessions"},
	{"numbers passed over are not durable", "machine.go", "g.durable = g.written //", "g.durable = g.fence //", "NoEvidence", "session number for two sessions"},
	{"the first session after a start is durable first", "machine.go", "g.write(r, g.fence-g.durable > MaxAhead)", "g.write(r, false)", "NoEvidence", "session number for two sessions"},
	{"a second waiter of a member makes room", "waiters.go", "	if second >= 0 {\n", "	if second >= len(q) {\n", "TestWaiters_", "FAIL"},
	{"a deadline holds while a session opens", "machine.go", "s.wake = hook{run: g.runs}, min(g.now.Boot.Add(g.settings.OpenTimeout), deadline)", "s.wake = hook{run: g.runs}, g.now.Boot.Add(g.settings.OpenTimeout)", "TestSlot_", "FAIL"},
	{"a lost journal shuts the gate", "restore.go", "		s.shut = g.now.Boot.Add(max(g.settings.MaxHold, g.settings.OpenTimeout) + g.settings.Settle)\n", "", "TestBegin_", "FAIL"},
	{"new tokens are rationed", "entry.go", "at > g.now.Boot && !known {\n		return Rationed, at", "at > g.now.Boot && !known && false {\n		return Rationed, at", "TestSignIn_", "FAIL"},
	{"the slot is kept for the successor", "closing.go", "s.wake = g.now.Boot.Add(g.settings.Keep)", "s.wake = g.now.Boot", "TestSlot_", "FAIL"},
	{"a member that replaces its session hears why it ended", "entry.go", "g.cut(i, ByReplacing)", "g.cut(i, BySuccessor)", "TestSignIn_Itself", "FAIL"},
	{"those that wait hear BUSY once", "entry.go", "if w.arrived == g.arrivals {", "if w.arrived > 0 {", "TestSignIn_Others", "FAIL"},
	{"nobody is its own successor", "slot.go", "w.permit.Title.Holder != s.last.title.Holder && w.permit", "w.permit", "TestSlot_", "FAIL"},
	{"a session waits for the minimal interval", "entry.go", "at > g.now.Boot {\n		return TooSoon", "at > g.now.Boot && false {\n		return TooSoon", "TestSignIn_", "FAIL"},
	{"a sign-out ends its own sign-in", "machine.go", "return r == request{in.Connection, in.Number} })", "return r.connection == in.Connection })", "TestSignOut_", "FAIL"},
	{"a member has one turn, of those that wait", "machine.go", "q.remove(w.sameMember)", "q.remove(func(waiter) bool { return false })", "LiarKnocks", "FAIL"},
	{"a member has one turn, of its sign-ins", "entry.go", "s.occupies(title.Holder) && s.session.permit.Title.Token != title.Token {", "s.occupies(title.Holder) && false {", "TestSignIn_SecondToken", "FAIL"},
	{"one session of a member, over all slots", "machine.go", "return !g.slots.haveSession(w.permit.Title.Holder) }", "return true }", "Slots_One", "journal that contradicts itself"},
	{"a stuck slot keeps no member out", "slot.go", "s.session.number > 0 && !s.session.abandoned &&", "s.session.number > 0 &&", "TestSlot_", "FAIL"},
	{"a pause gives a hook its time again", "slot.go", "now.Sub(s.wake) >= minPause", "false", "TestSlot_", "FAIL"},
	{"a pause does so once", "slot.go", "s.hook.run != 0 && !s.hook.extended &&", "s.hook.run != 0 &&", "TestSlot_", "FAIL"},
	{"a slot stays stuck", "closing.go", "\t\tg.write(&StuckRecord{Session: s.session.number, Slot: uint64(i)}, true)\n", "", "TestRestore_", "FAIL"},
	{"revocations survive", "machine.go", "\t\tg.write(&RevokedRecord{Members: added[:n:n]}, true)\n", "", "RevokedKeys", "of the revoked"},
	{"a checkpoint has an end", "restore.go", "\tif r.checkpoint {\n\t\treturn nil, nil, ErrCheckpoint\n\t}\n", "", "TestRestore_", "FAIL"},
	{"an idle slot keeps its last title", "restore.go", "\t\tg.slots[i].last = p.last\n", "", "TestRestore_", "FAIL"},
	{"a revoked signer signs nothing new", "entry.go", "case !g.revoked[m.By] && !expired, g", "case !g.revoked[m.By] && !expired, known, g", "RevokedKeys", "of the revoked"},
	{"nor one whose certificate has expired", "entry.go", "expired := m.Expires > 0 &&", "expired := false &&", "TestSignIn_", "FAIL"},
	{"nor a generator's that has", "entry.go", "\tcase p.Expires > 0 && p.Born >= p.Expires:\n", "\tcase false:\n", "TestSignIn_", "FAIL"},
	{"a revoked member is out", "entry.go", "	case g.revoked[p.Title.Holder]:\n", "	case false:\n", "RevokedKeys", "of the revoked"},
	{"too many revocations shut the gate", "views.go", "return v.overflow || age > 0", "return age > 0", "TestRevocations_", "FAIL"},
	{"presenters have a ration, too", "memory.go", "return min(made, presents)", "return made + 0*presents", "TestSignIn_", "FAIL"},
	{"generators keep theirs", "memory.go", "return min(made, presents)", "return presents + 0*made", "TestSignIn_", "FAIL"},
	{"fetches and copies are bounded", "views.go", "\tif at := p[id]; at > now {\n", "\tif at := p[id]; at > now && false {\n", "TestSignIn_", "FAIL"},
	{"one member alone alarms nobody", "views.go", "c.at > 0 && c.member != id &&", "c.at > 0 &&", "TestSignIn_", "FAIL"},
	{"a configuration that cannot be used alarms", "machine.go", "\t\t\tg.do(Alarm{Kind: AlarmConfiguration})\n", "", "TestConfigured_", "FAIL"},
	{"a place takes one session", "machine.go", "s := &g.slots[i]; s.state == Idle && (", "s := &g.slots[i]; (s.state == Idle || s.state == Closing) && (", "TestPlaces_", "FAIL"},
	{"a member has one turn, over all places", "entry.go", "\tfor i := range g.settings.of(in.Slot) {\n\t\tif s := &g.slots[i]; s.occ", "\tfor i := range in.Slot + 1 {\n\t\tif s := &g.slots[i]; s.occ", "TestPlaces_", "FAIL"},
	{"a slot is stuck when all its places are", "entry.go", "stuck >= max(1, g.settings.Sessions)", "stuck >= 1", "TestPlaces_", "FAIL"},
	{"a place that is gone counts as long as work is there", "machine.go", "all >= max(1, g.settings.Sessions) {", "all < 0 {", "TestPlaces_", "FAIL"},
	{"a used title is not before a later one of its token", "slot.go", "mine > 0 && mine == latest", "mine > 0", "TestPlaces_", "FAIL"},
	{"a place that is gone takes nobody in", "settings.go", "i < s.places() && yield(i)", "i < MaxSlots && yield(i)", "TestPlaces_", "FAIL"},
	{"a place is kept for its own successor", "machine.go", "s.wake <= g.now.Boot || s.linked(q))", "true || s.linked(q))", "TestPlaces_", "FAIL"},
	{"a title is the last one at any place", "slot.go", "if last.title == t && i%of == slot {", "if last.title == t && i == slot {", "TestPlaces_", "FAIL"},
	{"a slow close alarms", "closing.go", "\tg.do(Alarm{Kind: AlarmSlowClose, Slot: i, Session: s.session.number})\n", "", "TestSlot_Slow", "FAIL"},
	{"once", "closing.go", "\ts.slow = 0\n\tg.do(Alarm{Kind: AlarmSlowClose", "\ts.slow = g.now.Boot.Add(SlowClose)\n\tg.do(Alarm{Kind: AlarmSlowClose", "TestSlot_Slow", "FAIL"},
	{"a pause is none twice", "closing.go", "!s.hook.excused && g", "g", "TestSlot_CloseInTime", "FAIL"},
	{"a pause is no slow close", "closing.go", "g.now.Boot.Sub(s.slow) >= minPause", "false", "TestSlot_CloseInTime", "FAIL"},
	{"slots follow the configuration", "entry.go", "in.Slot >= g.settings.Slots", "in.Slot >= len(g.slots)", "TestConfigured_", "FAIL"},
	{"nothing opens outside the windows", "entry.go", "\tcase g.hours.Closed:\n\t\treturn Shut, g.hours.opens(g.now)\n", "", "TestWindows_", "FAIL"},
	{"a session is no longer than its window", "machine.go", "min(g.now.Boot.Add(clock.Millis(w.length)), g.hours.turn(g.now))", "g.now.Boot.Add(clock.Millis(w.length))", "TestWindows_", "FAIL"},
	{"a session ends as the windows close", "hours.go", "\t\tg.cut(i, ByWindows)\n", "\t\t_ = i\n", "TestWindows_", "FAIL"},
	{"those that wait hear that they close", "hours.go", "\t\tg.purge(slot)\n", "\t\t_ = slot\n", "TestWindows_", "FAIL"},
	{"a gate looks at its clock", "machine.go", "min(g.hours.turn(g.now), g.now.Boot.Add(clockLook))", "g.hours.turn(g.now)", "TestWindows_", "FAIL"},
	{"also at one that was set back", "hours.go", "!g.hours.Hold(g.now.Wall)", "!g.hours.Until.IsZero() && !g.now.Wall.Before(g.hours.Until)", "TestWindows_", "FAIL"},
	{"a newer configuration's windows hold at once", "machine.go", "\tg.setHours()\n", "", "TestWindows_", "FAIL"},
	{"a start goes by the windows", "views.go", ", hours: hoursOf(s.Windows, now)", "", "TestWindows_", "FAIL"},
	{"a refusal says when they open", "hours.go", "\treturn h.turn(now)\n", "\treturn 0\n", "TestWindows_", "FAIL"},
	{"a new slot is closed first", "machine.go", "\t\tg.recover(i, session{})\n", "", "TestConfigured_", "FAIL"},
}

// Each rule that is undone makes a test fail.
func TestRules_EachUndone_ATestFails(t *testing.T) {
	for _, u := range undoings {
		t.Run(u.rule, func(t *testing.T) { undone.Try(t, u.file, u.old, u.new, u.test, u.says) })
	}
}
