package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/top"
	"github.com/wandertoken/wander/node/api"
)

const (
	// topEvery is how often the daemon is asked: as often as people look.
	topEvery = time.Second
	// topSeldom is after how many of these the members and the last hour are asked for, which change little.
	topSeldom = 5
	// topLook is how often the size of the terminal is looked at.
	topLook = 100 * time.Millisecond
)

func newTopCommand(env *environment) *cobra.Command {
	var pages int
	cmd := daemonCommand(env, &cobra.Command{
		Use:   "top",
		Short: "Watch resources, members, waits and shares",
		Long: `Watch which member has each token, who waits, what is being recovered, and the shares and waits of the
last hour, as far as the local member knows.

  q             quit
  /             show only members whose names have what is typed; Enter ends that, Esc shows all
  up, down      move through the members
  left, right   choose the resource

Where the output is no terminal, or with TERM=dumb, it prints a page each second. NO_COLOR leaves out
all colours.`,
		Example: "  wander top\n  wander top --pages 1 | mail -s wander root",
	}, func(socket string) error { return runTop(env, socket, pages) })
	cmd.Flags().IntVar(&pages, "pages", 0, "print so many pages, one each second, and end (default: until a signal, or q)")
	return cmd
}

func runTop(env *environment, socket string, pages int) error {
	if pages < 0 {
		return cli.UsageError("--pages %d: must not be negative", pages)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	w := &watcher{env: env, socket: socket, client: api.Dial(socket)}
	w.state.ASCII = !isUTF8(env.Getenv)
	if err := w.ask(ctx); err != nil {
		return err
	}
	out, isFile := env.Out.(*os.File)
	in, inIsFile := env.In.(*os.File)
	if pages > 0 || !isFile || !inIsFile || env.Getenv("TERM") == "dumb" || !term.IsTerminal(int(out.Fd())) || !term.IsTerminal(int(in.Fd())) {
		return w.print(ctx, pages)
	}
	return w.watch(ctx, in, out)
}

// isUTF8 reports whether the locale has the letters of a curve.
func isUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// watcher asks the daemon again and again.
type watcher struct {
	env    *environment
	socket string
	client *api.Client
	asked  int
	state  top.State
	choice top.Choice
}

// ask asks the daemon what is new, and takes that in.
func (w *watcher) ask(ctx context.Context) error { return w.take(w.look(ctx, w.asked%topSeldom == 0)) }

// looked is what the daemon has answered.
type looked struct {
	at      time.Time
	status  api.Status
	all     bool // with what follows
	members []api.MemberInfo
	history []api.ResourceHistory
	err     error
}

// look asks the daemon; all asks also for what changes little. It changes nothing of the watcher.
func (w *watcher) look(ctx context.Context, all bool) looked {
	l := looked{at: w.env.Now(), all: all}
	ctx, cancel := patiently(ctx)
	defer cancel()
	l.status, l.err = w.client.Status(ctx)
	if l.err == nil && all {
		l.members, l.err = w.client.Members(ctx)
	}
	if l.err == nil && all {
		l.history, l.err = w.client.History(ctx)
	}
	return l
}

// take takes in an answer. When the daemon has not answered, the last state stays, with that word; the first time that is an error.
func (w *watcher) take(l looked) error {
	w.state.At = l.at
	if l.err != nil {
		if w.asked == 0 {
			return &cli.Error{Code: cli.ExitUnavailable, Err: l.err, Hint: unansweredHint(w.socket, l.err)}
		}
		why := unanswered(w.env, w.socket, l.err)
		w.state.Trouble, w.asked = fmt.Sprintf("%s [%s]", why.Sentence, why.Cause), topSeldom // which asks for all, when it is back
		return nil
	}
	if l.all {
		w.state.Members, w.state.History = l.members, l.history
	}
	w.asked++
	w.state.Status, w.state.Trouble = l.status, ""
	return nil
}

// print prints pages, one each second.
func (w *watcher) print(ctx context.Context, pages int) error {
	const columns, rows = 80, 24
	for n := 1; ; n++ {
		lines := top.Draw(&w.state, &w.choice, top.Size{Columns: columns, Rows: rows + len(w.state.Members)}) // paper has no end
		lines = lines[:len(lines)-1]                                                                          // of the keys
		for len(lines) > 0 && lines[len(lines)-1].Text == "" {
			lines = lines[:len(lines)-1]
		}
		for _, l := range lines {
			if _, err := fmt.Fprintln(w.env.Out, l.Text); err != nil {
				return err
			}
		}
		if n == pages {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(topEvery):
		}
		_ = w.ask(ctx) // which is shown
		fmt.Fprintln(w.env.Out)
	}
}

// The sequences that every terminal of the last decades knows.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	endLine     = "\x1b[K"
	endScreen   = "\x1b[J"
)

// styles are those of lines; the keys are the numbers of SGR.
var styles = map[top.Style]string{top.Head: "1", top.Chosen: "7", top.Alarm: "1;31"}

// watch shows a page that changes, until q or a signal.
func (w *watcher) watch(ctx context.Context, in, out *os.File) error {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(in.Fd()), before)
	fmt.Fprint(out, enterScreen)
	defer fmt.Fprint(out, leaveScreen)
	keys := make(chan string)
	go readKeys(ctx, bufio.NewReader(in), keys)
	ask, look := time.NewTicker(topEvery), time.NewTicker(topLook)
	defer ask.Stop()
	defer look.Stop()
	asking, answers := false, make(chan looked, 1) // room for one that comes after the end
	var shown top.Size
	for {
		size := top.Size{}
		if size.Columns, size.Rows, err = term.GetSize(int(out.Fd())); err != nil {
			return err
		}
		if size != shown {
			shown = size
			w.draw(out, size)
		}
		select {
		case <-ctx.Done():
			return nil
		case key, open := <-keys:
			if !open || w.press(key) {
				return nil
			}
			shown = top.Size{}
		case <-ask.C:
			if !asking { // one at a time: a daemon that hangs keeps nobody from quitting
				asking = true
				go func(all bool) { answers <- w.look(ctx, all) }(w.asked%topSeldom == 0)
			}
		case l := <-answers:
			asking = false
			_ = w.take(l) // an error is shown
			shown = top.Size{}
		case <-look.C:
		}
	}
}

// draw writes a page over the last one.
func (w *watcher) draw(out io.Writer, size top.Size) {
	var b strings.Builder
	b.WriteString(home)
	lines := top.Draw(&w.state, &w.choice, size)
	lines = lines[:min(len(lines), max(1, size.Rows))]
	for i, l := range lines {
		text := l.Text
		if r := []rune(text); len(r) > size.Columns {
			text = string(r[:size.Columns])
		}
		if sgr := styles[l.Style]; sgr != "" && w.env.Getenv("NO_COLOR") == "" {
			text = "\x1b[" + sgr + "m" + text + "\x1b[0m"
		}
		b.WriteString(text + endLine)
		if i < len(lines)-1 {
			b.WriteString("\r\n")
		}
	}
	b.WriteString(endScreen)
	fmt.Fprint(out, b.String())
}

// moves are what terminals send for the keys that move.
var moves = map[string]top.Key{
	"\x1b[A": top.Up, "\x1bOA": top.Up, "\x1b[B": top.Down, "\x1bOB": top.Down, "\x1b[C": top.Right, "\x1bOC": top.Right,
	"\x1b[D": top.Left, "\x1bOD": top.Left, "\x1b[5~": top.PageUp, "\x1b[6~": top.PageDown, "k": top.Up, "j": top.Down, "h": top.Left, "l": top.Right,
}

// press does what a key says, and reports whether that is to quit.
func (w *watcher) press(key string) (quit bool) {
	const interrupt, enter, escape, erase, backspace = "\x03", "\r", "\x1b", "\x7f", "\b"
	c := &w.choice
	switch {
	case key == interrupt:
		return true
	case c.Typing && key == enter:
		c.Typing = false
	case key == escape:
		c.Typing = false
		c.SetFilter("")
	case c.Typing && (key == erase || key == backspace):
		if r := []rune(c.Filter); len(r) > 0 {
			c.SetFilter(string(r[:len(r)-1]))
		}
	case c.Typing && len(key) >= 1 && key[0] >= ' ' && key != erase:
		c.SetFilter(c.Filter + key)
	case c.Typing:
	case key == "q":
		return true
	case key == "/":
		c.Typing = true
	default:
		c.Press(moves[key])
	}
	return false
}

// readKeys reads keys, each with the sequence that a terminal sends for it, until the input or ctx ends.
func readKeys(ctx context.Context, in *bufio.Reader, keys chan<- string) {
	defer close(keys)
	for {
		r, _, err := in.ReadRune()
		if err != nil {
			return
		}
		key := string(r)
		if r == '\x1b' && in.Buffered() > 0 { // what follows came with it: Esc itself comes alone
			for in.Buffered() > 0 {
				b, err := in.ReadByte()
				if err != nil {
					return
				}
				key += string(rune(b))
				if len(key) > 2 && b >= '@' && b <= '~' {
					break
				}
			}
		}
		select {
		case keys <- key:
		case <-ctx.Done():
			return
		}
	}
}
