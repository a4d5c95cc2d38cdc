package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/undone"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/member"
)

// entryRules are rules of a member before a gate, each undone in one place of the code.
var entryRules = []struct{ rule, old, new string }{
	{"a gate that only observes is no condition", "return ok && (!g.observes || l.reached[s.key.resource])", "return ok && (true || g.observes)"},
	{"a custody is barred after a failure", "(!l.reached[s.key.resource] || l.bars.at(s))", "!l.reached[s.key.resource]"},
	{"programs wait while the gate cannot be reached", "\ts.closed = l.isClosed(s)\n", "\ts.closed = l.isClosed(s) && l.reached[s.key.resource]\n"},
	{"a knock over a lost connection is taken back", "\t\tif e.state == knocking { // SIGN-IN may", "\t\tif false { // SIGN-IN may"},
	{"sessions end with the connection", "\t\tl.lost(e, \"the gate cannot be reached\")\n", ""},
	{"the policy hears of the gate", "\t\tif s.key.resource == in.Resource {\n\t\t\tl.refresh(s)", "\t\tif false {\n\t\t\tl.refresh(s)"},
	{"knocking leaves time for the program", "knocking: span - out - program", "knocking: span - out"},
	{"a short program leaves more time for knocking", "program, length = min(program, asked), ", "program, length = program, "},
	{"a session is no longer than asked for", "min(span, asked+opening+out)", "max(span, asked+opening+out)"},
	{"an OPEN that comes too late is signed out", "\t\tif _, ok := in.Answer.(gate.OpenAnswer); ok { // it has", "\t\tif false { // it has"},
	{"a session ends with the time for the token", "end := min(e.ends, l.now.Boot.Add(between(at, a.Until)))", "end := l.now.Boot.Add(between(at, a.Until))"},
	{"a program ends before its session", "\tend = end.Add(-signOutSpan(end.Sub(l.now.Boot)))\n", ""},
	{"a session that is too short is of no use", "case end.Sub(l.now.Boot) < shortestProgram(s.resource.MaxHold, d.maxHold): //", "case end.Sub(l.now.Boot) < 0: //"},
	{"the program of such a session waits again", "\t\tl.bar(e, pause)\n\t\tl.signOut(e, false)\n\t\tl.demands.putBack(d)\n", "\t\tl.bar(e, pause)\n\t\tl.signOut(e, false)\n"},
	{"such a session bars the custody", "\t\tl.bar(e, pause)\n", "\t\t_ = pause\n"},
	{"a second OPEN changes nothing", "\tif e.state != knocking {\n\t\treturn\n\t}\n\ts := e.grant.hold.slot\n\ts.word = wordOf(a)", "\tif e.state == closing {\n\t\treturn\n\t}\n\ts := e.grant.hold.slot\n\ts.word = wordOf(a)"},
	{"a stuck session is over", "\t\tif a.Stuck { // nothing", "\t\tif false { // nothing"},
	{"nobody waits at a stuck slot", "\tif a.Stuck {\n\t\tl.report(\"gate stuck\"", "\tif a.Stuck && false {\n\t\tl.report(\"gate stuck\""},
	{"BUSY is waited out with settle and keep", ".Add(times.settle+times.keep))", ".Add(0*times.keep))"},
	{"nobody waits for longer than the token may be kept", "e.gives = min(e.knocks, l.now.Boot.Add(between(at, a.Until)).", "e.gives = max(e.knocks, l.now.Boot.Add(between(at, a.Until))."},
	{"a refused session is over", "\t\tl.lost(e, \"refused: \"+a.Code.String())\n", ""},
	{"a refusal bars for a minute", "max(refusePause, between(at, a.NotBefore))", "max(knockPause, between(at, a.NotBefore))"},
	{"a refusal bars until its time", "max(refusePause, between(at, a.NotBefore))", "refusePause"},
	{"closed windows bar until the gate's time", "\tif a.Code == gate.Shut {\n", "\tif false {\n"},
	{"a grant across a restart outlives its session", "\t\tif e.grant.isAcross() {\n", "\t\tif false {\n"},
	{"closed windows bar each custody", "byGate.until > now }", "byGate.until > now && false }"},
	{"closed windows bar for a second", "max(opensIn, shutPause)", "opensIn"},
	{"closed windows bar for a minute at most", "min(max(opensIn, shutPause), refusePause)", "max(opensIn, shutPause)"},
	{"windows open again", "\t\ts.byGate = gateHours{}\n\t\tif !s.leaving {\n\t\t\tl.demands.notify(s)\n\t\t}\n", ""},
	{"another configuration has other windows", "s.hours, s.byGate = h, gateHours{}", "s.hours = h"},
	{"a lost knock passes the token on", "\t\ts.word.hinders = GateUseless\n\t\tl.fail(e, l.now.Boot.Add(knockPause), false)\n", ""},
	{"a lost session kills its program", "\t\tl.emit(effect.Lose{Grant: e.grant.id, Reason: why})\n", ""},
	{"what is said of another gate counts for nothing", "\tif in.Address != \"\" && !l.names(in) {\n\t\treturn\n\t}\n", ""},
	{"a gate that observes kills nothing", "if g, ok := gateOf(s.resource); e.watched || !ok || g.observes {", "if false {"},
	{"nobody is asked about the end at a gate that observes", "\tif e.watched {\n\t\tl.unask(e)\n", "\tif false {\n\t\tl.unask(e)\n"},
	{"a program at a gate that observes does not wait", "\tif observes(s) {\n\t\tl.goOn(e)\n\t}\n", ""},
	{"a gate that begins to observe lets go what knocks", "\t\tcase e.state == knocking && observes(h.slot): // by a newer configuration\n\t\t\tl.goOn(e)\n", ""},
	{"nobody waits longer than the gate says", "\t\tcase e.gives > l.now.Boot:\n\t\tcase e.state == knocking:\n", "\t\tcase e.gives > l.now.Boot, e.state == knocking:\n\t\tcase e.watched:\n"},
	{"a wait that is given up is signed out", "\tif waits {\n\t\tl.emit(effect.SignOut{Entry: e.id})\n\t}\n", ""},
	{"a close without an answer releases the token", "\t\t\tl.remove(e)\n\t\t\tl.grants.over(e.grant, e.operated)\n\t\t}\n\t}\n}\n\n// lift", "\t\t}\n\t}\n}\n\n// lift"},
	{"the next program takes the place of one that is withdrawn", "\t\t\te.demand = d\n\t\tcase e.gives", "\t\t\tl.cancel(e)\n\t\tcase e.gives"},
	{"a session too short for the next program is asked for anew", "\t\t\tl.signIn(e.grant, d, e.ends)\n", ""},
	{"a knock that nobody waits for is signed out", "\tl.unask(e)\n\tl.emit(effect.SignOut{Entry: e.id})\n\tl.remove(e)\n\tl.grants.over(e.grant, false)\n", "\tl.unask(e)\n\tl.remove(e)\n\tl.grants.over(e.grant, false)\n"},
}

// stayRules are those that are undone in stay.go.
var stayRules = map[string]bool{
	"knocking leaves time for the program": true, "a short program leaves more time for knocking": true, "a session is no longer than asked for": true,
}

// hoursRules are those that are undone in schedule.go.
var hoursRules = map[string]bool{
	"closed windows bar each custody": true, "closed windows bar for a second": true, "closed windows bar for a minute at most": true, "windows open again": true,
	"another configuration has other windows": true,
}

// Each rule that is undone makes a test fail.
func TestEntries_EachRuleUndone_ATestFails(t *testing.T) {
	for _, u := range entryRules {
		file := "entries.go"
		switch {
		case stayRules[u.rule]:
			file = "stay.go"
		case hoursRules[u.rule]:
			file = "schedule.go"
		}
		t.Run(u.rule, func(t *testing.T) { undone.Try(t, file, u.old, u.new, "TestGate", "FAIL") })
	}
}

// TestGate_RefusedThenReconnected_StaysBarred: another connection with the gate is no reason to knock again in the same custody.
func TestGate_RefusedThenReconnected_StaysBarred(t *testing.T) {
	v := visits(t, true)
	v.says(v.demand(1).Entry, gate.RefuseAnswer{Code: gate.TooSoon})
	v.step(member.GateReachable{Resource: resource})
	v.step(member.GateReachable{Resource: resource, Is: true})
	assert.Nil(t, v.knocks(50*time.Second))
	assert.NotNil(t, v.knocks(15*time.Second), "after a minute")
}

// TestGate_LostBefore_DemandWaits: a gate that was there, and is not any more, has no program wait for it.
func TestGate_LostBefore_DemandWaits(t *testing.T) {
	v := visits(t, true)
	v.step(member.GateReachable{Resource: resource})
	require.Nil(t, v.demand(1))
	assert.Nil(t, v.knocks(time.Second))
	v.meet(v.taker)
	assert.True(t, v.passes(5*time.Second), "as far as the policy knows, nobody wants the token here")
	v.step(member.GateReachable{Resource: resource, Is: true})
	assert.Nil(t, last[effect.SignIn](v.box), "the token is not here")
}

// TestGate_Stuck_TokenGoesAtOnce: nobody waits at a slot that needs its operator.
func TestGate_Stuck_TokenGoesAtOnce(t *testing.T) {
	v := visits(t, true)
	v.meet(v.taker)
	v.says(v.demand(1).Entry, gate.BusyAnswer{Session: 6, Stuck: true})
	assert.True(t, v.passes(time.Second))
}
