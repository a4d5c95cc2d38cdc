package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// View says what of a trace a diagram shows. The zero value shows all of it.
type View struct {
	Token    string        // its name in the trace, as t1; "": all
	Members  []string      // by their names; none: all
	From, To time.Duration // To zero: to the end
}

// ErrNothingShown says that nothing of a trace is in a View.
var ErrNothingShown = errors.New("nothing of the run is in this view")

// maxArrows bounds a diagram: nobody reads a longer one.
const maxArrows = 400

// Diagram draws the trace of a run, or of a script, as a sequence diagram in
// Mermaid: an arrow for each message that arrives, a cross for one that is lost, and
// a note for what is written, synced, started or ended. The same trace gives the same
// diagram. Errors: ErrNothingShown, and those of the reader and the writer.
func Diagram(w io.Writer, trace io.Reader, v View) error {
	var d diagram
	in := bufio.NewScanner(trace)
	in.Buffer(nil, maxLine)
	for in.Scan() && len(d.lines) < maxArrows {
		if at, who, what, ok := parseLine(in.Text()); ok && v.shows(at, who, what) {
			d.add(who, what)
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	if len(d.lines) == 0 {
		return ErrNothingShown
	}
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	slices.Sort(d.members)
	for _, m := range d.members {
		fmt.Fprintf(&b, "    participant %s\n", m)
	}
	for _, l := range d.lines {
		fmt.Fprintf(&b, "    %s\n", l)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// parseLine reads what tracer.line writes.
func parseLine(line string) (at time.Duration, who, what string, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return 0, "", "", false
	}
	at, err := time.ParseDuration(fields[0] + "s")
	return at, fields[1], strings.Join(fields[2:], " "), err == nil
}

func (v View) shows(at time.Duration, who, what string) bool {
	switch {
	case at < v.From || v.To > 0 && at > v.To:
		return false
	case v.Token != "" && !names(what, v.Token):
		return false
	}
	return len(v.Members) == 0 || slices.Contains(v.Members, who) && (!strings.HasPrefix(what, "recv ") ||
		slices.Contains(v.Members, lastWord(what)))
}

// names reports whether a text names a token, at any hop.
func names(text, token string) bool {
	for word := range strings.FieldsSeq(text) {
		if name, _, _ := strings.Cut(strings.Trim(word, ",:"), "/"); name == token {
			return true
		}
	}
	return false
}

func lastWord(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }

// diagram is what has been drawn.
type diagram struct {
	members, lines []string
}

// noted are the first words of what is drawn as a note.
var noted = []string{"append", "sync", "program", "CRASH", "starts", "PROBLEM", "is", "wakes", "ends", "demand", "LIES", "checkpoint"}

func (d *diagram) add(who, what string) {
	word, rest, _ := strings.Cut(what, " ")
	switch {
	case who == "-":
	case word == "recv":
		text, from, _ := cutLast(rest, " from ")
		d.meet(from, who)
		d.lines = append(d.lines, fmt.Sprintf("%s->>%s: %s", from, who, plain(text)))
	case word == "LOST":
		text, to, _ := cutLast(rest, " to ")
		d.meet(who, to)
		d.lines = append(d.lines, fmt.Sprintf("%s-x%s: %s", who, to, plain(text)))
	case slices.Contains(noted, word):
		d.meet(who)
		d.lines = append(d.lines, fmt.Sprintf("Note over %s: %s", who, plain(what)))
	}
}

func cutLast(text, by string) (before, after string, found bool) {
	i := strings.LastIndex(text, by)
	if i < 0 {
		return text, "?", false
	}
	return text[:i], text[i+len(by):], true
}

func (d *diagram) meet(members ...string) {
	for _, m := range members {
		if !slices.Contains(d.members, m) {
			d.members = append(d.members, m)
		}
	}
}

// plain replaces what means something to Mermaid.
func plain(text string) string {
	return strings.NewReplacer(";", ",", "#", "no. ", ">", "→", ":", "").Replace(text)
}
