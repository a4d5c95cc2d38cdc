package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

// unanswered is why no daemon answers, for people: the daemon's own last word, if there is one.
func unanswered(env *environment, socket string, err error) api.Why {
	if !errors.Is(err, api.ErrNoDaemon) || errors.Is(err, fs.ErrPermission) {
		return api.Why{Cause: explain.DaemonSilent, Sentence: err.Error()}
	}
	why := api.Why{Cause: explain.NoDaemon, Sentence: err.Error()}
	if w, ok := lastWord(env, socket); ok {
		message := cli.OneLine(w.Message)
		if w.Cause == explain.DiskFull {
			message = "the disk of its journal is full: " + message
		}
		why = api.Why{Cause: w.Cause, Sentence: fmt.Sprintf("the daemon ended at %s: %s", w.At.UTC().Format("2006-01-02T15:04:05Z"), message)}
	}
	return why
}

// lastWord is what the daemon of a socket said last. That its member has left or was revoked counts no longer once the machine
// has joined again, as another member.
func lastWord(env *environment, socket string) (node.LastWord, bool) {
	w, ok := node.ReadLastWord(stateFolder(env, socket))
	s, err := socketSettings(env)
	if !ok || err != nil || s.socket() != socket {
		return w, ok
	}
	id, err := node.LoadCertificate(s.Identity.Certificate, s.Identity.Group)
	return w, err != nil || !w.Gone(w.Member) || w.Gone(id.Certificate.Member())
}

// stateFolder is where the daemon of a socket keeps its state: as its settings say, or beside the socket if that has the
// name that a daemon gives it there. It is empty if that is not known.
func stateFolder(env *environment, socket string) string {
	if s, err := socketSettings(env); err == nil && s.socket() == socket {
		return s.StateDir
	}
	if filepath.Base(socket) == api.SocketName {
		return filepath.Dir(socket)
	}
	return ""
}

// printWhy is one line: a sentence, and the word of its section.
func printWhy(w io.Writer, subject string, why api.Why) { fmt.Fprintln(w, whyLine(subject, why)) }

func whyLine(subject string, why api.Why) string {
	return fmt.Sprintf("%s: %s [%s]", subject, cli.OneLine(why.Sentence), why.Cause)
}

// printReasons begins a status: why nothing runs, the member first if it is to blame, then each resource.
func printReasons(w io.Writer, st api.Status) {
	if st.Cause != explain.OK || len(st.Resources) == 0 {
		printWhy(w, st.Name, st.Why)
	}
	for _, r := range st.Resources {
		printWhy(w, r.Name, r.Why)
	}
	fmt.Fprintf(w, "(wander help WORD explains a word in brackets, and so does %s)\n\n", explain.Page)
}

// unreached ends a command that has shown that this member takes part in nothing.
func unreached(st *api.Status) error {
	if !isUnreached(st) {
		return nil
	}
	return &cli.Error{Code: cli.ExitUnavailable, Err: errors.New("")}
}

func isUnreached(st *api.Status) bool {
	holds := false
	for i := range st.Resources {
		holds = holds || explain.Holds(&st.Resources[i])
	}
	return explain.IsDown(st.Cause, holds)
}

// resourceView is what `wander who` and `wander eta` show of a resource.
type resourceView struct {
	V        int    `json:"v"`
	Resource string `json:"resource"`
	api.Why
	Waiting  int               `json:"waiting"`
	MaxHoldS float64           `json:"max_hold_s"`
	Windows  *api.WindowStatus `json:"windows,omitempty"`
	Slots    []slotView        `json:"slots"`
}

type slotView struct {
	Slot   int               `json:"slot"`
	Holder *api.HolderStatus `json:"holder"`
	Search *api.SearchStatus `json:"search,omitempty"`
	Eta    *api.EtaStatus    `json:"eta"`
	Long   *api.LongStatus   `json:"long,omitempty"`
}

func viewOf(r *api.ResourceStatus) resourceView {
	v := resourceView{V: api.Version, Resource: r.Name, Why: r.Why, Waiting: r.Waiting, MaxHoldS: r.MaxHoldS, Windows: r.Windows}
	for _, s := range r.Slots {
		v.Slots = append(v.Slots, slotView{s.Slot, s.Holder, s.Search, s.Eta, s.Long})
	}
	return v
}

// resourceCommand is a command that shows one resource.
func resourceCommand(env *environment, cmd *cobra.Command, show func(io.Writer, resourceView)) *cobra.Command {
	var output, socket string
	cli.AddOutputFlag(cmd, &output)
	addSocketFlag(cmd.Flags(), &socket)
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := cli.CheckOutput(output); err != nil {
			return err
		}
		path, err := socketPath(env, socket)
		if err != nil {
			return err
		}
		st, err := askStatus(env, path)
		if err != nil {
			return hintAtLastWord(env, path, err)
		}
		i := slices.IndexFunc(st.Resources, func(r api.ResourceStatus) bool { return r.Name == args[0] })
		if i < 0 {
			return noResource(st, args[0])
		}
		v := viewOf(&st.Resources[i])
		if output == "json" {
			return cli.WriteJSON(env.Out, v)
		}
		show(env.Out, v)
		return nil
	}
	return cmd
}

func noResource(st api.Status, name string) error {
	return &cli.Error{Code: cli.ExitNoPermission, Err: fmt.Errorf("%s [%s]", explain.NoResource(name).Sentence, explain.NotConfigured), Hint: resourceHint(st, name)}
}

// resourceHint is about a name that is no resource's, or is one's that is refused.
func resourceHint(st api.Status, name string) string {
	known := make([]string, len(st.Resources))
	for i, r := range st.Resources {
		known[i] = r.Name
	}
	if hint := cli.DidYouMean(name, known); hint != "" && !slices.Contains(known, name) {
		return hint
	}
	return "wander status shows the resources of the group"
}

func askStatus(env *environment, socket string) (st api.Status, err error) {
	err = inquire(env, socket, func(ctx context.Context, c *api.Client) (err error) {
		st, err = c.Status(ctx)
		return err
	})
	return st, err
}
