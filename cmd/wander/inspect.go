package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/inspect"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
)

func newInspectCommand(env *environment) *cobra.Command {
	var groupFile, output string
	cmd := &cobra.Command{
		Use:   "inspect FILE|FOLDER|-",
		Short: "Show and verify any object, journal or certificate",
		Long: `Show what a file holds: keys (never the secret), certificates, a group file,
signed objects, evidence, messages, a journal segment or, for a folder, a whole journal.
With --group the command verifies everything that it can, and marks the rest. A group
file needs no --group. A journal can be read while its member writes it.`,
		Example: "  wander inspect --group group.crt member.crt\n  wander inspect --group group.crt /var/lib/wander/journal | less",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return runInspect(env, args[0], groupFile, output)
		},
	}
	cmd.Flags().StringVarP(&groupFile, "group", "g", "", "verify with this group file")
	cli.AddLineOutputFlag(cmd, &output)
	return cmd
}

func runInspect(env *environment, name, groupFile, output string) error {
	if err := cli.CheckOutput(output); err != nil {
		return err
	}
	i, err := inspectorFor(groupFile)
	if err != nil {
		return err
	}
	objects, err := objectsIn(env, i, name)
	if err != nil {
		return err
	}
	var text []byte
	for o, err := range objects {
		if err == nil {
			if text = appendObject(text, o, output); len(text) < outputBlock {
				continue
			}
		}
		if _, failed := env.Out.Write(text); failed != nil {
			return failed
		}
		text = text[:0]
		switch {
		case errors.Is(err, journal.ErrTorn):
			cli.Warn(env.Err, "%v: an unfinished write, in progress or cut off by a crash", err)
			return nil
		case err != nil:
			return inspectError(name, err)
		}
	}
	_, err = env.Out.Write(text)
	return err
}

// outputBlock is how much is written at once, in bytes: a system call for each object would cost more than the object.
const outputBlock = 64 << 10

const inspectHint = "give a key, a certificate, a group file, evidence, or a member's journal, the folder journal in its state_dir"

func inspectError(name string, err error) error {
	err = fmt.Errorf("%s: %w", name, err)
	switch {
	case errors.Is(err, inspect.ErrNoJournal):
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: journalHint}
	case errors.Is(err, journal.ErrVersion):
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: versionHint}
	case errors.Is(err, inspect.ErrUnknown):
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: inspectHint + "; settings, invites and files of vectors are text: read them as they are"}
	case errors.Is(err, journal.ErrMagic):
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: journalHint}
	}
	return err
}

// appendObject appends an object in a form that cli.CheckOutput has accepted.
func appendObject(to []byte, o inspect.Object, output string) []byte {
	if output == "text" {
		return o.AppendText(to)
	}
	return append(o.AppendJSON(append(to, `{"v":1,"object":`...)), "}\n"...)
}

func inspectorFor(groupFile string) (*inspect.Inspector, error) {
	if groupFile == "" {
		return inspect.New(nil), nil
	}
	text, err := os.ReadFile(groupFile)
	if err != nil {
		return nil, cli.ConfigError(err, "")
	}
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil {
		return nil, cli.ConfigError(fmt.Errorf("%s: %w", groupFile, err), "")
	}
	g, extra, err := group.Load(blocks)
	if err != nil {
		return nil, cli.ConfigError(fmt.Errorf("%s: %w", groupFile, err), "it is the file group.crt in the CA's folder")
	}
	i := inspect.New(g)
	for _, raw := range extra.Certificates {
		i.Learn(raw)
	}
	return i, nil
}

// objectsIn opens a file, a folder, or standard input.
func objectsIn(env *environment, i *inspect.Inspector, name string) (iter.Seq2[inspect.Object, error], error) {
	in := env.In
	if name != "-" {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return i.Journal(name), nil
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, inspect.MaxInput+1))
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, &cli.Error{Code: cli.ExitFailure, Err: fmt.Errorf("%s: file is empty", name), Hint: inspectHint}
	}
	if len(data) > inspect.MaxInput {
		return nil, &cli.Error{
			Code: cli.ExitFailure, Err: fmt.Errorf("%s: too large to be an object of this program", name), Hint: inspectHint,
		}
	}
	return i.Objects(name, data), nil
}
