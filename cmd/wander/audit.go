package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/auditing"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/journal"
)

// defaultSkew is how far apart clocks are taken to be where the journals do not
// tell: more than members that keep their clocks by NTP ever are.
const defaultSkew = 5 * time.Second

const (
	journalHint = "give a member's journal: the folder journal in its state_dir"
	versionHint = "read it with the version of wander that wrote it"
)

// auditFlags are what `wander audit` is given.
type auditFlags struct {
	group, evidence, output string
	since, until            string
	resource                string
	skew                    cli.Span
	oneByOne                bool
}

func newAuditCommand(env *environment) *cobra.Command {
	f := auditFlags{skew: cli.Span{Duration: defaultSkew}}
	cmd := &cobra.Command{
		Use:   "audit JOURNAL…",
		Short: "Audit members' journals for lost tokens, overlaps and broken rules",
		Long: `Read the journals of many members, whole or in part, verify every signature and
compare them: which member held each token and when, what became of each token, and
which member signed objects that the rules forbid. A JOURNAL is a member's journal
folder, a folder that contains several of them at any depth, or one segment file.
Members may continue to write meanwhile.

A finding is proof if two signed objects show it: anybody can verify them, and
--evidence writes them to a file for wander ca revoke --evidence. All other findings
are suspicions, which depend on one member's records or on clocks. The output also
lists lost tokens, overlapping operations and each member's share.

The result is only as trustworthy as the group file: give one that you trust.
The exit code is 0 without findings, 65 if all findings are suspicions, and 70 if a
broken rule is proved.`,
		Example: "  wander audit --group group.crt /var/lib/wander/journal\n" +
			"  wander audit --group group.crt --evidence evidence journals/\n" +
			"  wander audit --since 2026-11-01T00:00:00Z --resource ftp --output json journals/ > audit.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runAudit(env, args, f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.group, "group", "g", "", "verify with this group file (default group.crt found beside the journals)")
	flags.StringVar(&f.evidence, "evidence", "", "write one evidence file for each proof to this folder")
	flags.StringVar(&f.since, "since", "", "report only what happened at or after this time (RFC 3339)")
	flags.StringVar(&f.until, "until", "", "report only what happened before this time (RFC 3339)")
	flags.StringVar(&f.resource, "resource", "", "report only on this resource")
	flags.Var(&f.skew, "skew", "assume clocks at most this far apart where the journals do not show it")
	flags.BoolVar(&f.oneByOne, "one-by-one", false, "verify each signature separately: slower, with the same result")
	cli.AddOutputFlag(cmd, &f.output)
	cmd.AddCommand(newVerifyEvidenceCommand(env))
	return cmd
}

func runAudit(env *environment, paths []string, f auditFlags) error {
	in, err := f.input(env, paths)
	if err != nil {
		return err
	}
	show, clear := cli.ProgressLine(env.Err)
	in.Progress = func(done, total int64) { show("reading %d of %d MB", done>>20, total>>20) }
	a, err := auditing.Run(in)
	clear()
	if errors.Is(err, auditing.ErrGroup) {
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "audit each group with its own group file"}
	}
	if errors.Is(err, auditing.ErrResource) {
		return &cli.Error{Code: cli.ExitNoPermission, Err: err, Hint: "check the name, or leave out --resource to see all resources"}
	}
	if err != nil {
		return err
	}
	var files []string
	var unwritten error // the report comes first: a full disk does not hide what was found
	if f.evidence != "" {
		files, unwritten = a.WriteEvidence(f.evidence)
	}
	v := a.View(files)
	if f.output == "json" {
		err = cli.WriteJSON(env.Out, v)
	} else {
		err = v.Text(env.Out)
	}
	if err = cmp.Or(err, unwritten); err != nil {
		return err
	}
	switch v.Verdict {
	case "proof":
		return &cli.Error{Code: cli.ExitBug, Err: errors.New("the journals prove broken rules")}
	case "suspicion":
		return &cli.Error{
			Code: cli.ExitSuspicion, Err: errors.New("the journals raise suspicions; nothing is proved"),
			Hint: "see docs/audit.md for the possible causes of each",
		}
	}
	return nil
}

// input checks the flags and loads the group file.
func (f auditFlags) input(env *environment, paths []string) (in auditing.Input, err error) {
	in.Paths = paths
	if err := cli.CheckOutput(f.output); err != nil {
		return in, err
	}
	if f.skew.Duration < 0 {
		return in, cli.UsageError("--skew %s: must not be negative", f.skew)
	}
	in.Options = audit.Options{
		Skew: uint64(f.skew.Microseconds()), OneByOne: f.oneByOne, Resource: f.resource,
	}
	if in.Options.From, err = instant("since", f.since); err != nil {
		return in, err
	}
	if in.Options.To, err = instant("until", f.until); err != nil {
		return in, err
	}
	if in.Options.From > 0 && in.Options.To > 0 && in.Options.From >= in.Options.To {
		return in, cli.UsageError("--since %s --until %s: --since must be before --until", f.since, f.until)
	}
	if err := auditing.Check(paths); err != nil {
		return in, pathError(err)
	}
	if info, err := os.Stat(f.evidence); f.evidence != "" && err == nil && !info.IsDir() {
		return in, cli.UsageError("--evidence %s: must be a folder", f.evidence)
	}
	name := f.group
	if name == "" {
		if name, err = groupBeside(paths); err != nil {
			return in, err
		}
	}
	if in.Group, in.Extra, err = cli.ReadGroup(name); err != nil {
		return in, cli.ConfigError(err, "give group.crt from the CA's folder or from any member")
	}
	if f.group == "" {
		cli.Warn(env.Err, "verifying with %s, CA key %s, which comes from the same place as the journals; give --group a file that you trust",
			name, certificate.Fingerprint(in.Group.Authorities()[0].Key()))
	}
	return in, nil
}

// pathError is for paths that cannot be audited.
func pathError(err error) error {
	hint := ""
	switch {
	case errors.Is(err, journal.ErrVersion):
		hint = versionHint
	case errors.Is(err, auditing.ErrNotOne), errors.Is(err, auditing.ErrTooLarge):
		hint = journalHint + "; wander inspect shows other files"
	case errors.Is(err, auditing.ErrNoJournal), errors.Is(err, auditing.ErrNotFile), errors.Is(err, fs.ErrNotExist):
		hint = journalHint
	}
	return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: hint}
}

func instant(flag, text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.UnixMicro() <= 0 {
		return 0, cli.UsageError("--%s %q: must be a time, for example 2026-11-21T03:00:00Z", flag, text)
	}
	return uint64(t.UnixMicro()), nil
}

// groupBeside looks for a group file in the folders that are given, in the CA's
// folder within them, and up to three levels above: a journal is in the state
// folder of a member, whose group file is in the folder above.
func groupBeside(paths []string) (string, error) {
	for _, p := range paths {
		dir, err := filepath.Abs(p)
		if err != nil {
			return "", err
		}
		for range 4 {
			for _, name := range []string{filepath.Join(dir, ca.GroupFile), filepath.Join(dir, "ca", ca.GroupFile)} {
				if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
					return name, nil
				}
			}
			dir = filepath.Dir(dir)
		}
	}
	return "", &cli.Error{
		Code: cli.ExitConfiguration, Err: fmt.Errorf("no %s beside the journals", ca.GroupFile),
		Hint: "give --group the group.crt from the CA's folder or from any member",
	}
}
