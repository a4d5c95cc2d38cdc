package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
)

type verifyEvidenceFlags struct{ group, output string }

// evidenceVerdict is what `wander audit verify-evidence --output json` prints of one
// file.
type evidenceVerdict struct {
	V       int           `json:"v"`
	File    string        `json:"file"`
	Proof   bool          `json:"proof"`
	Reason  string        `json:"reason,omitempty"` // why it is none
	Group   *ident.Group  `json:"group,omitempty"`
	Trusted bool          `json:"group_given"` // and not only named by the file
	Member  *ident.Member `json:"member,omitempty"`
	Name    string        `json:"name,omitempty"`
	Serial  uint64        `json:"serial,omitempty"`
	Kind    string        `json:"kind,omitempty"`
	Token   *ident.Token  `json:"token,omitempty"`
	Hop     uint64        `json:"hop"`
	Account string        `json:"account,omitempty"`
	ID      *ident.Hash   `json:"id,omitempty"`

	isGate  bool   // the accused is a gate
	unread  error  // why there is nothing to judge
	encoded []byte // of the evidence
}

func newVerifyEvidenceCommand(env *environment) *cobra.Command {
	var f verifyEvidenceFlags
	cmd := &cobra.Command{
		Use:   "verify-evidence FILE…",
		Short: "Verify evidence files, and show the member or gate, and the broken rule",
		Long: `Verify files of evidence: that the CA certified the accused member or gate, that the accused
signed both objects, and that the rules forbid signing both. This needs only the
group: its file or its id. Without --group the command trusts the group that the
evidence names; a forger can have forged that group too.

Evidence comes from wander audit --evidence, from the folder evidence in a
member's state folder, and from the folder evidence of an authority.
The exit code is 0 if every file is proof, 1 if one is not, and 78 if one cannot be
read.`,
		Example: "  wander audit verify-evidence --group group.crt evidence/*\n  wander ca revoke --dir ca --evidence FILE    # what to do with it",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runVerifyEvidence(env, f, args) },
	}
	cmd.Flags().StringVarP(&f.group, "group", "g", "", "accept only evidence of this group: its file or its id")
	cli.AddLineOutputFlag(cmd, &f.output)
	return cmd
}

var errNotAllProof = errors.New("not every file is proof")

func runVerifyEvidence(env *environment, f verifyEvidenceFlags, files []string) error {
	if err := cli.CheckOutput(f.output); err != nil {
		return err
	}
	g, given, err := f.groupID()
	if err != nil {
		return err
	}
	all, unread := true, error(nil)
	for _, file := range files {
		v := verdictOn(env, file, g, given)
		all = all && v.Proof
		if unread == nil {
			unread = v.unread
		}
		if err := cli.PrintLine(env.Out, f.output, v); err != nil {
			return err
		}
	}
	if !given && f.output == "text" {
		cli.Warn(env.Err, "the group is unverified, taken from the evidence; give --group one that you trust")
	}
	if unread != nil {
		return cli.ConfigError(unread, "the others were checked")
	}
	if !all {
		return &cli.Error{Code: cli.ExitFailure, Err: errNotAllProof}
	}
	return nil
}

// groupID is the group that the evidence has to be of, if it was given.
func (f verifyEvidenceFlags) groupID() (g ident.Group, given bool, err error) {
	if f.group == "" {
		return g, false, nil
	}
	if !exists(f.group) && g.UnmarshalText([]byte(f.group)) == nil {
		return g, true, nil
	}
	loaded, err := cli.LoadGroup(f.group)
	if err != nil {
		return g, false, cli.ConfigError(err, "give --group the CA's group.crt or a group id")
	}
	return loaded.ID(), true, nil
}

func verdictOn(env *environment, file string, g ident.Group, given bool) evidenceVerdict {
	v := evidenceVerdict{V: 1, File: file, Trusted: given}
	text, err := cli.ReadLimited(env.In, file, evidence.MaxText)
	if err != nil {
		v.Reason = err.Error()
		if errors.As(err, new(*fs.PathError)) {
			v.unread = err
		}
		return v
	}
	e, err := evidence.ParseText(text)
	var p evidence.Proof
	if err == nil {
		v.Group = &e.Group
		if !given {
			g = e.Group
		}
		p, err = e.Verify(g)
	}
	if err == nil {
		v.encoded, err = e.Encode()
	}
	if err != nil {
		v.Reason = err.Error()
		return v
	}
	v.Proof, v.Member, v.Name, v.Serial = true, &p.Accused, p.Name, p.Serial
	v.Kind, v.Account, v.ID = p.Kind.String(), p.Account, &p.ID
	v.isGate = p.Kind.AgainstGate()
	if p.Token != (ident.Token{}) {
		v.Token, v.Hop = &p.Token, p.Hop
	}
	return v
}

// Print shows a person what the command found of the evidence.
func (v evidenceVerdict) Print(w io.Writer) {
	if !v.Proof {
		fmt.Fprintf(w, "%s: no proof: %s\n", v.File, cli.OneLine(v.Reason))
		return
	}
	role := certificate.MemberRole
	if v.isGate {
		role = certificate.GateRole
	}
	fmt.Fprintf(w, "%s: proof against %s, %v %v, certificate %d\n", v.File, v.Name, role, v.Member, v.Serial)
	fmt.Fprintf(w, "  %s: it %s\n", v.Kind, v.Account)
	fmt.Fprintf(w, "  evidence %v in group %v\n", v.ID, v.Group)
}
