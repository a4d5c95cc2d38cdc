package demo

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wandertoken/wander/node/api"
)

// View is what a screen shows.
type View struct {
	Elapsed, Total time.Duration
	Rows           []Row
}

// Row is one member.
type Row struct {
	Name           string
	Down           bool
	Holds, Running bool
	Token          string
	Hop            uint64
	Seen           uint64 // tokens, in this life of the member
	Handoffs       uint64
	Operations     uint64
	Return         float64 // seconds between the last two operations
	Crashes        int
}

func viewOf(members []*process, elapsed, total time.Duration) View {
	v := View{Elapsed: elapsed, Total: total}
	for _, p := range members {
		now, sum, crashes := p.seen()
		r := Row{Name: p.name, Down: now.V == 0, Handoffs: sum.Handoffs.OK, Crashes: crashes}
		for _, res := range now.Resources {
			for _, s := range res.Slots {
				r.take(s)
			}
		}
		v.Rows = append(v.Rows, r)
	}
	return v
}

func (r *Row) take(s api.SlotStatus) {
	r.Seen += s.TokensSeen
	r.Operations += s.Operations
	r.Return = s.ReturnS
	if s.Held {
		r.Holds, r.Running, r.Token, r.Hop = true, s.Executing, s.Token.Short(), s.Hop
	}
}

// Table draws the view on a terminal, over the one before.
type Table struct {
	Out   io.Writer
	lines int
}

// Show draws the view.
func (t *Table) Show(v View) {
	var b strings.Builder
	if t.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", t.lines)
	}
	fmt.Fprintf(&b, "\x1b[K%v of %v\n\x1b[Kmember  token     hop      seen   passed  operations  return   crashes\n",
		v.Elapsed.Truncate(time.Second), v.Total)
	for _, r := range v.Rows {
		b.WriteString("\x1b[K" + r.line() + "\n")
	}
	t.lines = len(v.Rows) + 2
	_, _ = io.WriteString(t.Out, b.String())
}

// Close ends the drawing.
func (t *Table) Close() { t.lines = 0 }

func (r Row) line() string {
	holding := ""
	hop := ""
	switch {
	case r.Down:
		holding = "down"
	case r.Holds:
		holding, hop = r.Token, fmt.Sprint(r.Hop)
		if r.Running {
			hop += " *"
		}
	}
	back := "-"
	if r.Return > 0 {
		back = fmt.Sprintf("%.2f s", r.Return)
	}
	return fmt.Sprintf("%-6s  %-8s  %-7s  %5d  %6d  %10d  %-7s  %7d", r.Name, holding, hop, r.Seen, r.Handoffs, r.Operations, back, r.Crashes)
}

// Quiet shows nothing.
type Quiet struct{}

// Show shows nothing.
func (Quiet) Show(View) {}

// Close does nothing.
func (Quiet) Close() {}
