package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// defaultCADir is where an authority is when nobody says.
const defaultCADir = "ca"

// caFlags are the flags that all subcommands of ca share.
type caFlags struct {
	dir            string
	passphraseFile string
}

func newCACommand(env *environment) *cobra.Command {
	var f caFlags
	cmd := &cobra.Command{
		Use:   "ca",
		Short: "Be a group's certificate authority",
		Long: `A group is the members under one authority. It signs the group configuration,
issues certificates and revokes members; tokens move without it. It is a folder
with plain files, which can be kept on a machine without a network.

DIR/group.crt is what members need to know of the group: copy it to them. The
passphrase of the authority's key comes from --passphrase-file, from
WANDER_CA_PASSPHRASE, or from the terminal.`,
		Example: `  wander ca init --dir ca --name demo
  wander ca config --dir ca group.toml
  wander ca issue --dir ca --name ftp-03
  wander ca revoke --dir ca ftp-03 --reason "stolen"
  wander ca list --dir ca`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.dir, "dir", "", "the authority's folder (default WANDER_CA_DIR, or "+defaultCADir+")")
	flags.StringVar(&f.passphraseFile, "passphrase-file", "", "file whose first line is the passphrase; - is standard input")
	cmd.AddCommand(
		newCAInitCommand(env, &f), newCAConfigCommand(env, &f), newCAIssueCommand(env, &f),
		newCARevokeCommand(env, &f), newCAListCommand(env, &f), newCARotateCommand(env, &f),
		newCAInviteCommand(env, &f), newCAServeCommand(env, &f),
	)
	return cmd
}

// folder is the authority's.
func (f *caFlags) folder(env *environment) string {
	for _, dir := range []string{f.dir, env.Getenv("WANDER_CA_DIR")} {
		if dir != "" {
			return dir
		}
	}
	return defaultCADir
}

func (f *caFlags) groupFile(env *environment) string {
	return filepath.Join(f.folder(env), ca.GroupFile)
}

// sayPublish says how members get what was signed.
func (f *caFlags) sayPublish(env *environment) {
	fmt.Fprintf(env.Out, "copy %s to the members, or let wander ca serve publish it\n", f.groupFile(env))
}

// open opens the authority. The passphrase is asked for when it is needed.
func (f *caFlags) open(env *environment) (*ca.Authority, error) {
	dir := f.folder(env)
	source := passphraseSource{env: env, file: f.passphraseFile, what: filepath.Join(dir, ca.KeyFile)}
	a, err := ca.Open(dir, ca.Options{Now: env.Now, Passphrase: source.ask, WorkFactor: env.workFactor})
	return a, caError(err)
}

// caFailures say how the program ends for a reason, and what to do about it.
var caFailures = []struct {
	err  error
	code int
	hint string
}{
	{ca.ErrNoAuthority, cli.ExitConfiguration, "name the folder with --dir, or make an authority: wander ca init --dir DIR --name GROUP"},
	{ca.ErrExists, cli.ExitUsage, "an authority is never overwritten: choose another folder with --dir"},
	{ca.ErrDamaged, cli.ExitConfiguration, "bring the folder back from a backup; revoke again what was revoked since"},
	{ca.ErrKeyMismatch, cli.ExitConfiguration, "put back the private key that belongs to this folder"},
	{ca.ErrNoKey, cli.ExitConfiguration, "put the private key there, with mode 0600; wander ca rotate says which one signs"},
	{ca.ErrNoConfiguration, cli.ExitConfiguration, "sign one first: wander ca config"},
	{ca.ErrRotating, cli.ExitUsage, "wander ca rotate says what the next step is"},
	{ca.ErrNotRotating, cli.ExitUsage, "wander ca rotate says what the next step is"},
	{ca.ErrPending, cli.ExitFailure, "wander ca rotate lists them; let them renew, or cut them off with --force"},
	{group.ErrTooManyAuthorities, cli.ExitFailure, "the statements about a group's CA keys form a chain, and it is full: make a new group"},
	{keyfile.ErrMode, cli.ExitConfiguration, "take away what others may do: chmod 600 FILE"},
	{keyfile.ErrPassphraseNeeded, cli.ExitUsage, passphraseHint},
	{keyfile.ErrPassphrase, cli.ExitNoPermission, ""},
	{ca.ErrRevoked, cli.ExitNoPermission, "a revoked key is permanently dead: make a new one by leaving --key away"},
	{ca.ErrLeft, cli.ExitNoPermission, "who has left needs a new key to come back: make one by leaving --key away"},
	{ca.ErrExpired, cli.ExitNoPermission, "replace the CA key: wander ca rotate"},
	{ca.ErrNoInvite, cli.ExitUsage, "wander ca list shows the invites"},
	{ca.ErrInviteUsed, cli.ExitUsage, "that member goes with wander ca revoke"},
	{ca.ErrNameInUse, cli.ExitUsage, "choose another name, renew that member with --key, or revoke it first"},
	{ca.ErrAmbiguous, cli.ExitUsage, "name the member by its id, as wander ca list shows it"},
	{ca.ErrUnknown, cli.ExitUsage, "wander ca list shows the members"},
	{ca.ErrLifetime, cli.ExitUsage, "certificate_lifetime in the group configuration is the longest"},
	{ca.ErrOwnKey, cli.ExitUsage, "make a key for the member by leaving --key away"},
	{ca.ErrLocked, cli.ExitFailure, "try again when the other process is done"},
	{certificate.ErrName, cli.ExitUsage, "for example ftp-03 or ftp-03.example.org"},
	{certificate.ErrReason, cli.ExitUsage, ""},
	{group.ErrName, cli.ExitUsage, "for example demo"},
	{fs.ErrPermission, cli.ExitConfiguration, "the authority's folder belongs to another user: run this as its owner"},
	{syscall.ENOTDIR, cli.ExitConfiguration, "name the authority's folder with --dir"},
}

// caError gives an error of package ca its exit code and hint.
func caError(err error) error {
	var exit *cli.Error
	if err == nil || errors.As(err, &exit) {
		return err
	}
	for _, f := range caFailures {
		if errors.Is(err, f.err) {
			return &cli.Error{Code: f.code, Err: err, Hint: f.hint}
		}
	}
	return err
}

type caInitFlags struct {
	*caFlags
	name         string
	noPassphrase bool
	lifetime     cli.Span
}

func newCAInitCommand(env *environment, shared *caFlags) *cobra.Command {
	f := caInitFlags{caFlags: shared}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make a new authority, and with it a new group",
		Long: `Make a new authority, and with it a new group, in a folder of its own. Its key
is encrypted with a passphrase unless --no-passphrase is given: whoever has the
key can be anybody in the group.`,
		Example: "  wander ca init --dir ca --name demo\n  wander ca init --dir ca --name demo --no-passphrase    # to try it out",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runCAInit(env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "the group's name: a-z, 0-9, '.', '_' and '-'")
	flags.BoolVar(&f.noPassphrase, "no-passphrase", false, "leave the key in the clear")
	flags.Var(cli.PositiveSpan(&f.lifetime), "lifetime", "how long the authority lives (default 3650d)")
	return cmd
}

func runCAInit(env *environment, f caInitFlags) error {
	if f.name == "" {
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("the group needs a name"), Hint: "add --name, for example --name demo"}
	}
	secret, err := f.secret(env)
	if err != nil {
		return caError(err)
	}
	dir := f.folder(env)
	a, err := ca.Create(dir, ca.CreateOptions{
		Options: ca.Options{Now: env.Now, WorkFactor: env.workFactor}, Name: f.name, Secret: secret, Lifetime: f.lifetime.Duration,
	})
	if err != nil {
		return caInitError(err)
	}
	s := a.Certificate().Statement()
	fmt.Fprintf(env.Out, "made the authority of group %s in %s, valid until %s\n", s.Name, dir, s.NotAfter.Format(time.DateOnly))
	fmt.Fprintf(env.Out, "group %v\n", s.Group)
	if f.noPassphrase {
		cli.Warn(env.Err, "%s is not encrypted", filepath.Join(dir, ca.KeyFile))
	}
	return nil
}

// secret is the passphrase for the new key, empty to leave it in the clear.
func (f caInitFlags) secret(env *environment) ([]byte, error) {
	key := filepath.Join(f.folder(env), ca.KeyFile)
	switch _, err := os.Lstat(key); {
	case err == nil:
		return nil, fmt.Errorf("%w: %s", ca.ErrExists, key) // before anybody types a passphrase
	case f.noPassphrase && f.passphraseFile != "":
		return nil, cli.UsageError("--no-passphrase and --passphrase-file exclude each other")
	case f.noPassphrase:
		return nil, nil
	}
	return passphraseSource{env: env, file: f.passphraseFile, what: key}.choose()
}

// caInitError knows that a name or lifetime was given on the command line.
func caInitError(err error) error {
	if errors.Is(err, ca.ErrLifetime) {
		return &cli.Error{Code: cli.ExitUsage, Err: err}
	}
	return caError(err)
}
