package top_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/cmd/wander/internal/top"
	"github.com/wandertoken/wander/internal/golden"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func s(v float64) *float64 { return &v }

// group is a state with so many members, of which the second one has the token and runs.
func group(members int) *top.State {
	st := &top.State{At: noon}
	st.Status = api.Status{Name: "m001", GroupName: "crew", UptimeS: 7300, Why: api.Why{Cause: explain.OK}, Resources: []api.ResourceStatus{{
		Name: "tape", Waiting: 2, Slots: []api.SlotStatus{{
			Holder: &api.HolderStatus{Name: "m002", How: api.Said, AgeS: 12, ProgramEndsS: s(18)},
			Eta:    &api.EtaStatus{P50S: 40, P95S: 90, Basis: "order", Before: 4}, LastSeenS: s(80),
		}},
	}}}
	h := api.ResourceHistory{Name: "tape"}
	for i := range members {
		m := api.MemberInfo{Name: fmt.Sprintf("m%03d", i+1), State: "valid", Self: i == 0, Connected: i%3 == 1, Suspected: i%97 == 3}
		st.Members = append(st.Members, m)
		turns := api.MemberHistory{Name: m.Name, Turns: make([]uint16, 60)}
		for j := range turns.Turns {
			turns.Turns[j] = uint16((j * (i + 3) / 7) % 9)
		}
		if i < 20 {
			h.Members = append(h.Members, turns)
		}
		if m.Connected {
			st.Status.Peers = append(st.Status.Peers, api.PeerStatus{Name: m.Name, Connected: true})
		}
	}
	for j := range 60 {
		h.Waits = append(h.Waits, api.WaitHistory{Count: j % 3, MeanS: float64(j % 7), LongestS: float64(j % 11)})
	}
	st.History = []api.ResourceHistory{h}
	explain.Status(&st.Status, noon)
	return st
}

// several is a group with two tokens, a gate, no token, a lost one, and an overlap.
func several() *top.State {
	st := group(5)
	st.Status.Resources = append(st.Status.Resources,
		api.ResourceStatus{Name: "board", Slots: []api.SlotStatus{
			{Held: true, Executing: true, Holder: &api.HolderStatus{Name: "m001", How: api.Here, ProgramS: s(7), ProgramEndsS: s(53)}},
			{Slot: 1, Holder: &api.HolderStatus{Name: "m004", How: api.Told, ByName: "m003", AgeS: 3}},
		}},
		api.ResourceStatus{Name: "files", Waiting: 1, Slots: []api.SlotStatus{{Gate: &api.GateStatus{}}}},
		api.ResourceStatus{Name: "fresh", Waiting: 1, Slots: []api.SlotStatus{{}}},
		api.ResourceStatus{Name: "gone", Waiting: 1, Slots: []api.SlotStatus{{LastSeenS: s(60), Search: &api.SearchStatus{Stage: "lost", DueS: s(14)}, Holder: &api.HolderStatus{Name: "m003", How: api.Proved, AgeS: 60}}}},
	)
	st.History[0].OverlapS = 2.5
	st.History[0].Members = append(st.History[0].Members, api.MemberHistory{Name: api.NotHeard, Turns: []uint16{4, 4, 4}})
	explain.Status(&st.Status, noon)
	return st
}

func isolated() *top.State {
	st := group(3)
	st.Status.Link = api.LinkStatus{Isolated: true, LastHeardS: s(31)}
	st.Status.Peers = nil
	explain.Status(&st.Status, noon)
	return st
}

func text(lines []top.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestDraw_EachState_AsBefore(t *testing.T) {
	ascii, noNews := group(3), group(3)
	ascii.ASCII = true
	noNews.Trouble = "no daemon answers on /run/wander.sock [no_daemon]"
	for name, c := range map[string]struct {
		state  *top.State
		choice top.Choice
	}{
		"three": {group(3), top.Choice{}}, "many": {group(300), top.Choice{}}, "several": {several(), top.Choice{}},
		"isolated": {isolated(), top.Choice{}}, "ascii": {ascii, top.Choice{}}, "no_daemon": {noNews, top.Choice{}},
		"filter": {group(300), top.Choice{Filter: "m29", Typing: true}}, "empty": {&top.State{At: noon}, top.Choice{}},
	} {
		for _, size := range []top.Size{{Columns: 80, Rows: 24}, {Columns: 120, Rows: 40}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.Columns, size.Rows), func(t *testing.T) {
				lines := top.Draw(c.state, &c.choice, size)
				assert.Len(t, lines, size.Rows)
				for _, l := range lines {
					assert.LessOrEqual(t, len([]rune(l.Text)), size.Columns, l.Text)
				}
				golden.File(t, fmt.Sprintf("testdata/%s_%dx%d.txt", name, size.Columns, size.Rows), []byte(text(lines)))
			})
		}
	}
}

// A page keeps to any size, whatever is pressed.
func TestDraw_AnySize_Fits(t *testing.T) {
	for _, st := range []*top.State{group(1), group(300), several(), isolated()} {
		c := top.Choice{}
		for columns := 40; columns < 200; columns += 7 {
			for rows := 10; rows < 60; rows += 7 {
				for _, k := range []top.Key{top.Down, top.Right, top.PageDown, top.Up, top.Left, top.PageUp} {
					c.Press(k)
					lines := top.Draw(st, &c, top.Size{Columns: columns, Rows: rows})
					assert.Len(t, lines, rows)
					for _, l := range lines {
						assert.LessOrEqual(t, len([]rune(l.Text)), columns)
					}
				}
			}
		}
	}
}

func TestChoice_Keys_Move(t *testing.T) {
	st, c, size := several(), top.Choice{}, top.Size{Columns: 80, Rows: 24}
	c.Press(top.Right)
	assert.Contains(t, text(top.Draw(st, &c, size)), "> board/0")
	for range 9 {
		c.Press(top.Right)
	}
	assert.Contains(t, text(top.Draw(st, &c, size)), "> gone")
	c.Press(top.Left)
	assert.Contains(t, text(top.Draw(st, &c, size)), "> fresh", "beyond the last there is nothing to come back from")

	st, c = group(300), top.Choice{}
	c.Press(top.PageDown)
	assert.Contains(t, text(top.Draw(st, &c, size)), "11-")
	for range 99 {
		c.Press(top.PageDown)
	}
	assert.Regexp(t, `m300 .*(\n.*)*-300 of 300`, text(top.Draw(st, &c, size)))
	c.SetFilter("m2")
	assert.Contains(t, text(top.Draw(st, &c, size)), "of 100")
	c.SetFilter("nobody")
	assert.Contains(t, text(top.Draw(st, &c, size)), "0-0 of 0")
}

// The view begins at the resource for which a program waits, and then follows the keys.
func TestDraw_Begun_WhereAProgramWaits(t *testing.T) {
	lost := []api.SlotStatus{{Search: &api.SearchStatus{Stage: "asking"}}}
	calm := []api.SlotStatus{{Holder: &api.HolderStatus{Name: "m1"}}}
	list := []api.ResourceStatus{{Name: "a", Slots: calm}, {Name: "b", Slots: lost}, {Name: "c", Slots: calm, Waiting: 1}}
	size := top.Size{Columns: 80, Rows: 24}
	var c top.Choice
	draw := func() string {
		return text(top.Draw(&top.State{Status: api.Status{Resources: list}}, &c, size))
	}
	assert.Contains(t, draw(), "> c")
	c.Press(top.Left)
	assert.Contains(t, draw(), "> b")
	c, list[2].Waiting = top.Choice{}, 0
	assert.Contains(t, draw(), "> b", "nobody waits, and one token is missing")
	c, list[1].Slots = top.Choice{}, calm
	assert.Contains(t, draw(), "> a")
}

// Text of other members cannot move the cursor.
func TestDraw_ControlCharacters_Replaced(t *testing.T) {
	st := group(3)
	st.Members[1].Name = "m\x1b[2J\n2"
	st.Status.Resources[0].Sentence = "a\x1bb\r\nc"
	assert.NotRegexp(t, `[\x00-\x09\x0b-\x1f]`, text(top.Draw(st, &top.Choice{}, top.Size{Columns: 80, Rows: 24})))
}
