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
		Short: "Manage a group's certificate authority",
		Long: `Manage the authority of a group. The authority signs the group configuration, issues
certificates and revokes members; tokens move without it. It is a folder of plain
files, which may be on a machine without a network.

Every member needs a copy of DIR/group.crt. The passphrase of the authority's key
comes from --passphrase-file, from WANDER_CA_PASSPHRASE, or from the terminal.`,
		Example: `  wander ca init --dir ca --name demo
  wander ca config --dir ca group.toml
  wander ca issue --dir ca --name ftp-03
  wander ca revoke --dir ca ftp-03 --reason "stolen"
  wander ca list --dir ca`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.dir, "dir", "", "use the authority in this folder (default WANDER_CA_DIR, or "+defaultCADir+")")
	flags.StringVar(&f.passphraseFile, "passphrase-file", "", "read the passphrase from the first line of this file; - is standard input")
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
	if err := checkOwner(dir); err != nil {
		return nil, err
	}
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
	{ca.ErrNoAuthority, cli.ExitConfiguration, "name the folder with --dir (a package has it in /var/lib/wander-ca), or make an authority: wander ca init --dir DIR --name GROUP"},
	{ca.ErrExists, cli.ExitUsage, "choose another folder with --dir: an authority is never overwritten"},
	{ca.ErrDamaged, cli.ExitConfiguration, "restore the folder from a backup; repeat every revocation made since then"},
	{ca.ErrKeyMismatch, cli.ExitConfiguration, "restore the private key that belongs to this folder"},
	{ca.ErrNoKey, cli.ExitConfiguration, "put the private key there, with mode 0600; wander ca rotate says which one signs"},
	{ca.ErrNoConfiguration, cli.ExitConfiguration, "sign one first: wander ca config"},
	{ca.ErrRotating, cli.ExitUsage, "wander ca rotate says what the next step is"},
	{ca.ErrNotRotating, cli.ExitUsage, "wander ca rotate says what the next step is"},
	{ca.ErrPending, cli.ExitFailure, "wander ca rotate lists them; wait until they renew, or exclude them with --force"},
	{group.ErrTooManyAuthorities, cli.ExitFailure, "make a new group: the chain of statements about this group's CA keys is full"},
	{keyfile.ErrMode, cli.ExitConfiguration, "remove the permissions of other users: chmod 600 FILE"},
	{keyfile.ErrPassphraseNeeded, cli.ExitUsage, passphraseHint},
	{keyfile.ErrPassphrase, cli.ExitNoPermission, ""},
	{ca.ErrNotGate, cli.ExitConfiguration, "give the id of a gate, as wander ca list shows it; wander ca invite --gate makes one"}, // before what it wraps
	{ca.ErrRevoked, cli.ExitNoPermission, "leave out --key to make a new key: a revoked key is never certified again"},
	{ca.ErrLeft, cli.ExitNoPermission, "leave out --key to make a new key: a member that has left rejoins with a new key only"},
	{ca.ErrExpired, cli.ExitNoPermission, "replace the CA key: wander ca rotate"},
	{ca.ErrNoInvite, cli.ExitUsage, "wander ca list shows the invites"},
	{ca.ErrInviteUsed, cli.ExitUsage, "the invite made it a member: revoke the member with wander ca revoke"},
	{ca.ErrNameInUse, cli.ExitUsage, "choose another name, renew that member with --key, or revoke it first"},
	{ca.ErrAmbiguous, cli.ExitUsage, "name the member by its id, as wander ca list shows it"},
	{ca.ErrRole, cli.ExitUsage, "leave out --key to make another key, or renew that key with its own role: --gate for a gate"},
	{ca.ErrUnknown, cli.ExitUsage, "wander ca list shows the members"},
	{ca.ErrLifetime, cli.ExitUsage, "specify at most the certificate_lifetime of the group configuration"},
	{ca.ErrOwnKey, cli.ExitUsage, "leave out --key to make a key for the member"},
	{ca.ErrLocked, cli.ExitFailure, "try again after the other process ends"},
	{certificate.ErrName, cli.ExitUsage, "for example ftp-03 or ftp-03.example.org"},
	{certificate.ErrReason, cli.ExitUsage, ""},
	{group.ErrName, cli.ExitUsage, "for example demo"},
	{fs.ErrPermission, cli.ExitConfiguration, "run this as the owner of the authority's folder"},
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
		Short: "Create a new authority, and with it a new group",
		Long: `Create a new authority, and with it a new group, in its own folder. A passphrase
encrypts its key unless --no-passphrase is given. The key permits impersonating every
member of the group.`,
		Example: "  wander ca init --dir ca --name demo\n  wander ca init --dir ca --name demo --no-passphrase    # to try it out",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runCAInit(env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "the group's name: a-z, 0-9, '.', '_' and '-'")
	flags.BoolVar(&f.noPassphrase, "no-passphrase", false, "do not encrypt the key")
	flags.Var(cli.PositiveSpan(&f.lifetime), "lifetime", "lifetime of the authority (default 3650d)")
	return cmd
}

func runCAInit(env *environment, f caInitFlags) error {
	if f.name == "" {
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("no group name specified"), Hint: "add --name, for example --name demo"}
	}
	secret, err := f.secret(env)
	if err != nil {
		return caError(err)
	}
	dir := f.folder(env)
	if err := checkOwner(dir); err != nil {
		return err
	}
	a, err := ca.Create(dir, ca.CreateOptions{
		Options: ca.Options{Now: env.Now, WorkFactor: env.workFactor}, Name: f.name, Secret: secret, Lifetime: f.lifetime.Duration,
	})
	if err != nil {
		return caInitError(err)
	}
	s := a.Certificate().Body()
	fmt.Fprintf(env.Out, "created the authority of group %s in %s, valid until %s\n", s.Name, dir, s.NotAfter.Format(time.DateOnly))
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
		return nil, cli.UsageError("--no-passphrase and --passphrase-file cannot be combined")
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
