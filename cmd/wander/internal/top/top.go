package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/duration"
)

// State is what is known of the daemon.
type State struct {
	Status  api.Status
	Members []api.MemberInfo
	History []api.ResourceHistory
	Trouble string // why there is nothing newer; empty: there is
	At      time.Time
	ASCII   bool // the terminal has no other letters
}

// Size is that of a page.
type Size struct{ Columns, Rows int }

// Style is how a line stands out.
type Style uint8

// The styles.
const (
	Plain  Style = iota
	Head         // the names of columns
	Chosen       // what the person has chosen
	Alarm        // somebody should look
)

// Line is one line of a page, as wide as that or shorter.
type Line struct {
	Text  string
	Style Style
}

// Key is what a person does.
type Key uint8

// The keys.
const (
	Up Key = iota + 1
	Down
	Left
	Right
	PageUp
	PageDown
)

// Choice is what the person looks at. The zero value is ready.
type Choice struct {
	Filter   string // members whose names have it
	Typing   bool   // the filter is being written
	resource int
	begun    bool // a resource has been chosen, by the person or as the first that needs a look
	member   int  // the first that is shown
}

// Press moves.
func (c *Choice) Press(k Key) {
	const page = 10
	switch k {
	case Up:
		c.member--
	case Down:
		c.member++
	case PageUp:
		c.member -= page
	case PageDown:
		c.member += page
	case Left:
		c.resource, c.begun = c.resource-1, true
	case Right:
		c.resource, c.begun = c.resource+1, true
	}
}

// SetFilter shows only members whose names have a text, from the first on.
func (c *Choice) SetFilter(text string) { c.Filter, c.member = text, 0 }

// The least that a page has: below, lines are cut.
const (
	minColumns = 40
	minRows    = 10
)

// Draw is the page. It puts the choice right where there is not so much to choose.
func Draw(s *State, c *Choice, size Size) []Line {
	size.Columns, size.Rows = max(size.Columns, minColumns), max(size.Rows, minRows)
	resources := s.Status.Resources
	if !c.begun && len(resources) > 0 {
		c.resource, c.begun = first(resources), true
	}
	c.resource = clamp(c.resource, len(resources))
	p := page{s: s, size: size}
	p.heading()
	if len(resources) == 0 {
		p.add(Plain, "the group's configuration has no resources")
		return p.end(footer(0, 0, 0, c))
	}
	p.resources(c)
	r := &resources[c.resource]
	p.add(Plain, "")
	p.wrapped(r.Name + ": " + r.Sentence + " [" + string(r.Cause) + "]")
	p.add(Plain, "")
	first, last, all := p.members(r, c)
	return p.end(footer(first, last, all, c))
}

// first is the resource to begin with: the first one for which a program waits here, or else whose token needs a look.
func first(list []api.ResourceStatus) int {
	if i := slices.IndexFunc(list, func(r api.ResourceStatus) bool { return r.Waiting > 0 }); i >= 0 {
		return i
	}
	return max(0, slices.IndexFunc(list, func(r api.ResourceStatus) bool { return slices.ContainsFunc(r.Slots, alarms) }))
}

func alarms(s api.SlotStatus) bool {
	_, _, alarm := tokenOf(&s)
	return alarm
}

func clamp(i, n int) int { return max(0, min(i, n-1)) }

// page is one that is being drawn.
type page struct {
	s     *State
	size  Size
	lines []Line
	most  float64 // turns of one member in a minute
}

func (p *page) add(style Style, text string) {
	p.lines = append(p.lines, Line{fit(strings.TrimRight(cli.OneLine(text), " "), p.size.Columns), style})
}

// wrapped adds a sentence, in two lines at most.
func (p *page) wrapped(text string) {
	r := []rune(cli.OneLine(text))
	if len(r) <= p.size.Columns {
		p.add(Plain, string(r))
		return
	}
	cut := p.size.Columns
	for i := cut; i > cut/2; i-- {
		if r[i] == ' ' {
			cut = i
			break
		}
	}
	p.add(Plain, string(r[:cut]))
	p.add(Plain, "  "+strings.TrimSpace(string(r[cut:])))
}

// end cuts the page to its rows, with the last line at the bottom.
func (p *page) end(last string) []Line {
	for len(p.lines) < p.size.Rows-1 {
		p.lines = append(p.lines, Line{})
	}
	p.lines = p.lines[:p.size.Rows-1]
	p.add(Head, last)
	for i := range p.lines {
		if p.s.ASCII {
			p.lines[i].Text = strings.ReplaceAll(p.lines[i].Text, "…", "~")
		}
	}
	return p.lines
}

func footer(first, last, all int, c *Choice) string {
	switch {
	case c.Typing:
		return "members with: " + c.Filter + "_   Enter: done, Esc: all"
	case c.Filter != "":
		return fmt.Sprintf("q quit  / filter (%s)  up/down members  left/right resource   %d-%d of %d", c.Filter, first, last, all)
	}
	return fmt.Sprintf("q quit  / filter  up/down members  left/right resource   %d-%d of %d", first, last, all)
}

// fit cuts a text that is too wide.
func fit(text string, columns int) string {
	if r := []rune(text); len(r) > columns {
		return string(r[:max(0, columns-1)]) + "…"
	}
	return text
}

// column is a text of exactly so many columns.
func column(text string, columns int) string {
	text = fit(text, columns)
	return text + strings.Repeat(" ", max(0, columns-len([]rune(text))))
}

func (p *page) heading() {
	st := &p.s.Status
	left := fmt.Sprintf("%s of %s, up %s, %d connected", st.Name, st.GroupName, span(st.UptimeS), len(st.Peers))
	right := p.s.At.UTC().Format("15:04:05Z")
	p.add(Head, column(left, p.size.Columns-len(right)-1)+" "+right)
	switch {
	case p.s.Trouble != "":
		p.add(Alarm, p.s.Trouble)
	case st.Cause != explain.OK && st.Cause != "":
		p.add(Alarm, fmt.Sprintf("%s: %s [%s]", st.Name, st.Sentence, st.Cause))
	}
}

// span is a time in few letters.
func span(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return duration.Format(duration.About(d))
}

// slotRow is one token.
type slotRow struct {
	resource int
	name     string
	token    string
	since    string
	here     string
	alarm    bool
}

func (p *page) rows() (rows []slotRow) {
	for i := range p.s.Status.Resources {
		r := &p.s.Status.Resources[i]
		for j := range r.Slots {
			s := &r.Slots[j]
			row := slotRow{resource: i, name: r.Name}
			if len(r.Slots) > 1 {
				row.name = fmt.Sprintf("%s/%d", r.Name, s.Slot)
			}
			row.token, row.since, row.alarm = tokenOf(s)
			switch {
			case r.Waiting == 1 && j == 0:
				row.here = "1 waits"
			case r.Waiting > 0 && j == 0:
				row.here = fmt.Sprintf("%d wait", r.Waiting)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// tokenOf is where a token is, or what becomes of it.
func tokenOf(s *api.SlotStatus) (text, since string, alarm bool) {
	if g := s.Gate; g != nil && !g.Reachable && !g.Observes {
		return "gate unreachable", "", true
	}
	if q := s.Search; q != nil {
		if q.Stage == "lost" && q.DueS != nil {
			return "lost, replaced in " + span(*q.DueS), "", true
		}
		return "missing, asking", "", true
	}
	h := s.Holder
	switch {
	case h == nil && s.Founding:
		return "is being made", "", false
	case h == nil && s.LastSeenS == nil:
		return "none yet", "", true
	case h == nil:
		return "elsewhere", span(*s.LastSeenS), false
	}
	name, since := h.Name, span(h.AgeS)
	if h.How == api.Here {
		name, since = "here", ""
	}
	if known := cmp.Or(h.ProgramS, h.SinceS); known != nil {
		since = span(*known)
	}
	if h.ProgramEndsS != nil {
		return fmt.Sprintf("%s runs, %s left", name, span(*h.ProgramEndsS)), since, s.Long != nil
	}
	return name, since, s.Long != nil
}

// widths of the columns that do not grow.
const (
	nameWidth  = 14
	sinceWidth = 8
	hereWidth  = 9
	shareWidth = 7
)

// resources shows the tokens: a part of them around the chosen one, if there are many.
func (p *page) resources(c *Choice) {
	rows := p.rows()
	most := max(3, (p.size.Rows-8)/3)
	from := 0
	if chosen := slices.IndexFunc(rows, func(r slotRow) bool { return r.resource == c.resource }); chosen >= most {
		from = chosen - most + 1
	}
	wide := p.size.Columns - 2 - nameWidth - 1 - sinceWidth - 1 - hereWidth - 1
	token := clampWidth(wide/2, 16, 30)
	spark := wide - token - 1
	p.add(Head, "  "+column("RESOURCE", nameWidth)+" "+column("TOKEN", token)+" "+column("SINCE", sinceWidth)+" "+column("HERE", hereWidth)+" "+fit("WAITS HERE, LAST HOUR", spark))
	for i := from; i < min(len(rows), from+most); i++ {
		r := &rows[i]
		mark, style := "  ", Plain
		if r.resource == c.resource {
			mark, style = "> ", Chosen
		}
		if r.alarm {
			style = Alarm
		}
		line := mark + column(r.name, nameWidth) + " " + column(r.token, token) + " " + column(r.since, sinceWidth) + " " + column(r.here, hereWidth) + " "
		if i == 0 || rows[i-1].resource != r.resource {
			line += p.waits(p.s.Status.Resources[r.resource].Name, spark)
		}
		p.add(style, line)
	}
	if hidden := len(rows) - most; hidden > 0 {
		p.add(Plain, fmt.Sprintf("  and %d more", hidden))
	}
}

func clampWidth(w, least, most int) int { return max(least, min(w, most)) }

// waits is how long programs here have waited, with the longest.
func (p *page) waits(resource string, columns int) string {
	h := p.history(resource)
	if h == nil {
		return ""
	}
	list := make([]float64, len(h.Waits))
	most := 0.0
	for i, w := range h.Waits {
		list[i] = w.MeanS
		most = max(most, w.LongestS)
	}
	if most == 0 {
		return "none"
	}
	tail := " max " + span(most)
	return p.spark(list, 0, max(4, columns-len(tail))) + tail
}

func (p *page) history(name string) *api.ResourceHistory {
	if i := slices.IndexFunc(p.s.History, func(h api.ResourceHistory) bool { return h.Name == name }); i >= 0 {
		return &p.s.History[i]
	}
	return nil
}

// levels are the letters of a curve, from little to much.
const (
	levels      = "▁▂▃▄▅▆▇█"
	asciiLevels = ".:-=+*%#"
)

// spark draws a curve of at most so many columns, up to most, or up to its highest value. A value of 0 is blank.
func (p *page) spark(list []float64, most float64, columns int) string {
	letters := []rune(levels)
	if p.s.ASCII {
		letters = []rune(asciiLevels)
	}
	columns = min(columns, len(list))
	if columns <= 0 {
		return ""
	}
	each := make([]float64, columns)
	for i, v := range list {
		j := i * columns / len(list)
		each[j] = max(each[j], v)
	}
	if most <= 0 {
		most = slices.Max(each)
	}
	text := make([]rune, columns)
	for i, v := range each {
		text[i] = ' '
		if v > 0 && most > 0 {
			text[i] = letters[min(len(letters)-1, int(v/most*float64(len(letters))))]
		}
	}
	return string(text)
}

// memberRow is one member at the chosen resource.
type memberRow struct {
	name, state, does string
	self              bool
	share             float64
	turns             []float64
}

// members shows the members, and returns which of how many.
func (p *page) members(r *api.ResourceStatus, c *Choice) (first, last, all int) {
	rows := p.memberRows(r, c.Filter)
	room := p.size.Rows - 1 - len(p.lines) - 1
	if h := p.history(r.Name); h != nil && h.OverlapS > 0 {
		p.add(Alarm, fmt.Sprintf("more programs than slots ran at once for %s in the last hour, as far as is known here", span(h.OverlapS)))
		room--
	}
	c.member = max(0, min(c.member, len(rows)-room))
	state, does := 16, clampWidth(p.size.Columns/8, 9, 14)
	spark := p.size.Columns - 2 - nameWidth - 1 - state - 1 - does - 1 - shareWidth - 1
	p.add(Head, "  "+column("MEMBER", nameWidth)+" "+column("STATE", state)+" "+column(r.Name, does)+" "+column("SHARE", shareWidth)+" "+fit("TURNS, LAST HOUR", spark))
	end := min(len(rows), c.member+room)
	for i := c.member; i < end; i++ {
		m := &rows[i]
		mark := "  "
		if m.self {
			mark = "* "
		}
		style, share := Plain, ""
		if strings.Contains(m.state, "no answer") {
			style = Alarm
		}
		if m.share > 0 {
			share = fmt.Sprintf("%4.0f %%", 100*m.share)
		}
		p.add(style, mark+column(m.name, nameWidth)+" "+column(m.state, state)+" "+column(m.does, does)+" "+column(share, shareWidth)+" "+p.spark(m.turns, p.most, spark))
	}
	return min(c.member+1, end), end, len(rows)
}

// memberRows are the members: who has the token first, then this one, then by their shares, then by name.
func (p *page) memberRows(r *api.ResourceStatus, filter string) (rows []memberRow) {
	turns := make(map[string][]float64)
	total := 0.0
	if h := p.history(r.Name); h != nil {
		for _, m := range h.Members {
			list := make([]float64, len(m.Turns))
			for j, v := range m.Turns {
				list[j] = float64(v)
				total += float64(v)
				p.most = max(p.most, float64(v))
			}
			turns[m.Name] = list
		}
	}
	rank := make(map[string]int)
	does := make(map[string]string)
	for i := range r.Slots {
		if h := r.Slots[i].Holder; h != nil && r.Slots[i].Search == nil {
			does[h.Name], rank[h.Name] = "has token", 2
			if h.ProgramEndsS != nil {
				does[h.Name], rank[h.Name] = "runs", 3
			}
		}
	}
	for _, m := range p.s.Members {
		if !strings.Contains(m.Name, filter) {
			continue
		}
		row := memberRow{name: m.Name, state: stateOf(&m), does: does[m.Name], self: m.Self, turns: turns[m.Name]}
		if m.Self && row.does == "" && r.Waiting > 0 {
			row.does = "waits"
		}
		for _, v := range row.turns {
			row.share += v
		}
		if total > 0 {
			row.share /= total
		}
		if m.Self {
			rank[m.Name] = max(rank[m.Name], 1)
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b memberRow) int {
		return cmp.Or(cmp.Compare(rank[b.name], rank[a.name]), cmp.Compare(b.share, a.share), cmp.Compare(a.name, b.name))
	})
	if list := turns[api.NotHeard]; list != nil && filter == "" {
		row := memberRow{name: "(not heard of)", turns: list}
		for _, v := range list {
			row.share += v / total
		}
		rows = append(rows, row)
	}
	return rows
}

func stateOf(m *api.MemberInfo) string {
	switch {
	case m.Self:
		return "this one"
	case m.State == "valid" && m.Suspected:
		return "no answer"
	case m.State == "valid" && m.Connected:
		return "connected"
	case m.State == "valid":
		return "not connected"
	}
	return m.State
}
