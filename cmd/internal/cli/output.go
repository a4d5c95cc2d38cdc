package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// AddOutputFlag adds the flag --output to a command that checks it with CheckOutput.
func AddOutputFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "text", "output format: text or json")
}

// AddLineOutputFlag is AddOutputFlag for a command that prints any number of objects.
func AddLineOutputFlag(cmd *cobra.Command, output *string) {
	AddOutputFlag(cmd, output)
	cmd.Flags().Lookup("output").Usage += " (one object per line)"
}

// Printer is an object that can show itself to a person.
type Printer interface{ Print(w io.Writer) }

// PrintLine prints one object in a form that CheckOutput has accepted.
func PrintLine(w io.Writer, output string, o Printer) error {
	if output == "json" {
		return json.NewEncoder(w).Encode(o)
	}
	o.Print(w)
	return nil
}

// CheckOutput refuses an unknown form of output.
func CheckOutput(output string) error {
	if output != "text" && output != "json" {
		return UsageError("--output %q: must be text or json", output)
	}
	return nil
}

// WriteJSON writes a value in lines that people can read.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// ReadLimited reads a file, or in for "-".
func ReadLimited(in io.Reader, file string, limit int64) ([]byte, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s: more than %d bytes", file, limit)
	}
	return text, err
}

// Interruptible returns a context that ends at Ctrl-C; a second one kills the
// program as usual.
func Interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Interrupted returns the error of a command that a signal ended.
func Interrupted() error { return interrupted("interrupted") }

// InterruptedWriting is Interrupted for a command that was to write files.
func InterruptedWriting() error { return interrupted("interrupted before anything was written") }

func interrupted(text string) error {
	return &Error{Code: ExitSignal + int(syscall.SIGINT), Err: errors.New(text)}
}

// ProgressLine shows one line that changes, on a terminal only.
func ProgressLine(w io.Writer) (show func(format string, args ...any), clear func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(string, ...any) {}, func() {}
	}
	shown := false
	show = func(format string, args ...any) {
		shown = true
		fmt.Fprintf(f, "\r\x1b[K"+format, args...)
	}
	return show, func() {
		if shown { // what else is on the line is another program's
			fmt.Fprint(f, "\r\x1b[K")
		}
		shown = false
	}
}
