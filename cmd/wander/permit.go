package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/token"
)

// permitProves and permitLacks are what a permit that verifies shows, and what it does not.
const (
	permitProves = "the CA certified everybody named here; the generator, each sender and whoever declined signed that part"
	permitLacks  = "that the holder took the token or still had it later, that no second token lives, when anything was signed, or who brings this file"
)

type verifyPermitFlags struct{ group, at, output string }

// permitVerdict is what `wander permit verify --output json` prints of one file.
type permitVerdict struct {
	V          int          `json:"v"`
	File       string       `json:"file"`
	GroupFile  string       `json:"group_file"` // that it was verified with
	Verifies   bool         `json:"verifies"`
	Reason     string       `json:"reason,omitempty"` // why it does not
	At         time.Time    `json:"at"`
	Group      *ident.Group `json:"group,omitempty"`
	Resource   string       `json:"resource,omitempty"`
	Slot       uint64       `json:"slot"`
	Token      *ident.Token `json:"token,omitempty"`
	Hop        uint64       `json:"hop"`
	Holder     *person      `json:"holder,omitempty"`
	Serial     uint64       `json:"serial,omitempty"` // of the holder's certificate
	Generator  *person      `json:"generator,omitempty"`
	From       *person      `json:"from,omitempty"`        // who signed the transfer that the permit ends with
	DeclinedBy *person      `json:"declined_by,omitempty"` // who was to have the token, and gave it back
	Before     *person      `json:"before,omitempty"`      // who signed the transfer before it
	Title      *ident.Hash  `json:"title,omitempty"`
	Proves     string       `json:"proves,omitempty"`
	DoesNot    string       `json:"does_not_prove,omitempty"`

	unread error  // why there is nothing to judge
	hint   string // what to do about Reason
}

// person is a member in a verdict.
type person struct {
	Member ident.Member `json:"member"`
	Name   string       `json:"name"`
}

func (p *person) String() string { return fmt.Sprintf("%s (member %s)", p.Name, p.Member.Short()) }

func newPermitCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permit",
		Short: "Verify permits: what names the holder of a token by signatures",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newVerifyPermitCommand(env))
	return cmd
}

func newVerifyPermitCommand(env *environment) *cobra.Command {
	var f verifyPermitFlags
	cmd := &cobra.Command{
		Use:   "verify FILE…",
		Short: "Verify saved permits, and show whom they name as holder, and by whose word",
		Long: `Verify files of permits, such as a program under a grant finds in the file that
WANDER_PERMIT_FILE names: that the CA certified all who signed, that each signature
holds, that the token's chain leads to the holder, and that neither the holder nor a
signer was revoked as far as the group file tells. The CA's keys are those that are in
force by the group file. No daemon and no network are needed.

A permit is evidence and opens nothing: it holds no secret, and others on the token's
way can build it too. It does not prove that the holder took the token or still has it,
nor that no second token lives.

The exit code is 0 if every file verifies, 1 if one does not, and otherwise 78: one
cannot be read.`,
		Example: "  wander permit verify --group group.crt permit.pem\n" +
			"  wander run ftp -c 'cp \"$WANDER_PERMIT_FILE\" permit.pem; lftp -f upload.lftp'",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runVerifyPermit(env, f, args) },
	}
	cmd.Flags().StringVarP(&f.group, "group", "g", "", "verify with this group file (default group.crt found beside the first file, or here)")
	cmd.Flags().StringVar(&f.at, "at", "", "when the holder's certificate has to be valid, RFC 3339 (default now)")
	cli.AddLineOutputFlag(cmd, &f.output)
	return cmd
}

var errNotAllPermits = errors.New("not every file is a permit that verifies")

func runVerifyPermit(env *environment, f verifyPermitFlags, files []string) error {
	if err := cli.CheckOutput(f.output); err != nil {
		return err
	}
	at := env.Now()
	if f.at != "" {
		micros, err := instant("at", f.at)
		if err != nil {
			return err
		}
		at = time.UnixMicro(int64(micros))
	}
	name, conditions, err := f.conditions(env, files)
	if err != nil {
		return err
	}
	conditions.At = at.UTC()
	all, unread, hint := true, error(nil), ""
	for _, file := range files {
		v := permitIn(env, file, conditions)
		v.GroupFile = name
		switch {
		case v.unread != nil:
			if unread == nil {
				unread = v.unread
			}
		case !v.Verifies && all:
			all, hint = false, v.hint
		}
		if err := cli.PrintLine(env.Out, f.output, v); err != nil {
			return err
		}
	}
	switch {
	case !all:
		return &cli.Error{Code: cli.ExitFailure, Err: errNotAllPermits, Hint: hint}
	case unread != nil:
		return cli.ConfigError(unread, "give files that WANDER_PERMIT_FILE named; all that could be read verify")
	}
	return nil
}

// besidePermit is the group file in the first permit's folder, or in the current one, and nowhere else: whoever
// can write into a folder above must not choose the CA.
func besidePermit(first string) (string, error) {
	places := []string{"."}
	if first != "-" {
		places = []string{filepath.Dir(first), "."}
	}
	for _, dir := range places {
		name := filepath.Join(dir, ca.GroupFile)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name, nil
		}
	}
	return "", cli.ConfigError(fmt.Errorf("no %s beside the permit or in the current folder", ca.GroupFile),
		"give --group the group.crt from the CA's folder or from any member")
}

// conditions are those of the group file, which it names. A CA key that was retired counts for nothing: a permit has no
// time by which it could be older than the theft of that key.
func (f verifyPermitFlags) conditions(env *environment, files []string) (name string, c permit.Conditions, err error) {
	if name = f.group; name == "" {
		if name, err = besidePermit(files[0]); err != nil {
			return "", c, err
		}
	}
	g, extra, err := cli.ReadGroup(name)
	if err != nil {
		return "", c, cli.ConfigError(err, "give group.crt from the CA's folder or from any member")
	}
	if f.group == "" {
		cli.Warn(env.Err, "verifying with %s, CA key %s; give --group a file that you trust", name, certificate.Fingerprint(g.Authorities()[0].Key()))
	}
	revoked := revokedIn(g, extra)
	return name, permit.Conditions{
		Group: g.ID(), Authorities: g, Settings: g.Config().Settings(),
		Revoked: func(m ident.Member) bool { return revoked[m] },
	}, nil
}

// revokedIn are the members whose revocations a group file has.
func revokedIn(g *group.Group, extra group.Extra) map[ident.Member]bool {
	revoked := make(map[ident.Member]bool)
	for _, raw := range extra.Revocations {
		if r, err := certificate.ParseRevocation(g.ID(), raw, g.History()); err == nil {
			revoked[r.Body().Member] = true
		}
	}
	return revoked
}

func permitIn(env *environment, file string, c permit.Conditions) permitVerdict {
	v := permitVerdict{V: 1, File: file, At: c.At}
	text, err := cli.ReadLimited(env.In, file, permit.MaxText)
	if err != nil {
		v.Reason = err.Error()
		if errors.As(err, new(*fs.PathError)) {
			v.unread = err
		}
		v.hint = permitHint(permit.ErrText)
		return v
	}
	form, err := permit.ParseText(text)
	var p permit.Permit
	if err == nil {
		v.Group = &form.Group
		p, err = permit.Verify(form, c)
	}
	if err != nil {
		v.Reason, v.hint = err.Error(), permitHint(err)
		return v
	}
	v.tell(p)
	return v
}

// tell fills in what a permit says.
func (v *permitVerdict) tell(p permit.Permit) {
	t, before := p.Title(), p.Before()
	of := func(m ident.Member) *person { return &person{m, p.Name(m)} }
	g, id, hash := t.Genesis.Body(), t.Token(), t.Hash()
	v.Verifies, v.Resource, v.Slot, v.Token, v.Hop, v.Title = true, g.Resource, g.Slot, &id, t.Hop(), &hash
	v.Holder, v.Serial, v.Generator = of(t.Holder()), p.Holder().Body().Serial, of(g.Generator)
	if !t.Transfer.IsZero() {
		v.From = of(t.Transfer.Body().From)
	}
	if !t.Void.IsZero() {
		v.DeclinedBy = of(t.Void.Body().Signer)
	}
	if !before.Transfer.IsZero() {
		v.Before = of(before.Transfer.Body().From)
	}
	v.Proves, v.DoesNot = permitProves, permitLacks
}

// permitHint says what to do about a permit that does not verify.
func permitHint(err error) string {
	switch {
	case errors.Is(err, permit.ErrText), errors.Is(err, permit.ErrMalformed):
		return "give the file that WANDER_PERMIT_FILE named, whole and as it was"
	case errors.Is(err, permit.ErrGroup):
		return "give --group the group file of the permit's group"
	case errors.Is(err, certificate.ErrUnknownCA):
		return "the group file has no such CA key in force: give --group a newer one, or one of the permit's time if the key was retired since"
	case errors.Is(err, certificate.ErrExpired), errors.Is(err, certificate.ErrNotYetValid):
		return "the certificate is judged by this machine's clock: --at names another time"
	case errors.Is(err, permit.ErrResource), errors.Is(err, permit.ErrSlot):
		return "give --group the group file of the time of the permit, if the group has given up the resource since"
	case errors.Is(err, permit.ErrHolder), errors.Is(err, permit.ErrSigner):
		return "a member that was revoked vouches for nothing any more: whether the permit is older than that, it does not show"
	case errors.Is(err, certificate.ErrSignature), errors.Is(err, token.ErrSignature), errors.Is(err, token.ErrChain):
		return "the file was changed, or somebody has forged it"
	}
	return ""
}

// Print shows a person what the command found of the permit.
func (v permitVerdict) Print(w io.Writer) {
	if !v.Verifies {
		fmt.Fprintf(w, "%s: does not verify: %s\n", cli.OneLine(v.File), cli.OneLine(v.Reason))
		return
	}
	fmt.Fprintf(w, "%s: names %v as holder of a token of %s, slot %d, at hop %d\n", cli.OneLine(v.File), v.Holder, v.Resource, v.Slot, v.Hop)
	fmt.Fprintf(w, "  token %v, generated by %v\n", v.Token, v.Generator)
	switch {
	case v.DeclinedBy != nil:
		fmt.Fprintf(w, "  offered by the holder to %v, who has declined it\n", v.DeclinedBy)
	case v.From != nil:
		fmt.Fprintf(w, "  given by %v\n", v.From)
	default:
		fmt.Fprintf(w, "  by its own word alone: the holder generated the token, and nobody had it before\n")
	}
	if v.Before != nil {
		fmt.Fprintf(w, "  the transfer before that is by %v\n", v.Before)
	}
	fmt.Fprintf(w, "  the holder's certificate %d is valid at %s\n", v.Serial, v.At.Format(time.RFC3339))
	fmt.Fprintf(w, "  proves: %s\n", v.Proves)
	fmt.Fprintf(w, "  does not prove: %s\n", v.DoesNot)
}

// permitVariable names the file in which a command finds the permit of its grant.
const permitVariable = "WANDER_PERMIT_FILE"

// permitFile is the file of a grant's permit, in a folder of its own. The zero value is none.
type permitFile struct{ name string }

// writePermit writes the file for a command under a grant, for this user alone. There is none if the daemon gave
// no permit. Nobody knows the name of the folder before the file is whole.
func writePermit(raw []byte) (f permitFile, err error) {
	if len(raw) == 0 {
		return permitFile{}, nil
	}
	form, err := permit.Decode(raw)
	if err != nil {
		return permitFile{}, err
	}
	text, err := form.Text()
	if err != nil {
		return permitFile{}, err
	}
	dir, err := os.MkdirTemp("", "wander-permit-") // mode 0700
	if err != nil {
		return permitFile{}, err
	}
	f.name = filepath.Join(dir, "permit.pem")
	if err := os.WriteFile(f.name, text, 0o600); err != nil {
		f.remove()
		return permitFile{}, err
	}
	return f, nil
}

// environ is what a command learns of the file.
func (f permitFile) environ() []string {
	if f.name == "" {
		return nil
	}
	return []string{permitVariable + "=" + f.name}
}

// remove removes the file with its folder: what the command has put there, too.
func (f permitFile) remove() {
	if f.name != "" {
		os.RemoveAll(filepath.Dir(f.name))
	}
}
