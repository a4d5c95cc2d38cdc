package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// maxKeyFile bounds a file with a key, in bytes.
const maxKeyFile = 64 << 10

type caIssueFlags struct {
	*caFlags
	name, key, request, out string
	lifetime                cli.Span
	gate                    bool
	class                   string
	classGiven              bool
}

func newCAIssueCommand(env *environment, shared *caFlags) *cobra.Command {
	f := caIssueFlags{caFlags: shared}
	cmd := &cobra.Command{
		Use:   "issue",
		Short: "Issue a member's certificate, with a new key or for an existing one",
		Long: `Issue a certificate. Without --key the command makes a new private key and writes
NAME.key, which only its owner can read and which never replaces a file, and
NAME.crt. With --key it reads the key from a file (a private key, a public key or an
earlier certificate) and writes only NAME.crt: a renewed certificate is for the same
member. After a crash, run the same command again to complete it.

With --request the name and the key come from the file that wander join --request
wrote on the machine, which proves that the machine has the key. Compare the
displayed fingerprint with the one on the machine.

With --gate the certificate is that of a gate, also when it is renewed. It is valid
for 7 days unless --lifetime says otherwise.

With --class the member has a class, which a resource may give a weight. A renewed
certificate keeps its class unless --class gives another; --class "" removes it.`,
		Example: `  wander ca issue --dir ca --name ftp-03
  wander ca issue --dir ca --request ftp-03.req
  wander ca issue --dir ca --name ftp-03 --key ftp-03.crt    # renew`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.classGiven = cmd.Flags().Changed("class")
			return runCAIssue(env, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "the member's name: a-z, 0-9, '.' and '-'")
	flags.StringVar(&f.key, "key", "", "certify the key in this file")
	flags.StringVar(&f.request, "request", "", "certify the request that wander join --request wrote; - is standard input")
	flags.StringVar(&f.out, "out", "", "write to this folder, or to this path with .key and .crt appended (default NAME)")
	flags.Var(cli.PositiveSpan(&f.lifetime), "lifetime", "lifetime of the certificate, for example 30d (default the longest that the configuration permits)")
	flags.StringVar(&f.class, "class", "", "the member's class: a-z, 0-9 and '-'; a resource may give it a weight")
	flags.BoolVar(&f.gate, "gate", false, "issue the certificate of a gate in place of a member's")
	return cmd
}

// role is that of the certificate.
func (f caIssueFlags) role() certificate.Role {
	if f.gate {
		return certificate.GateRole
	}
	return certificate.MemberRole
}

// classOf is the class that was asked for, nil if none was.
func (f caIssueFlags) classOf() *string {
	if !f.classGiven {
		return nil
	}
	return &f.class
}

func runCAIssue(env *environment, f caIssueFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := f.checkFolder(cmp.Or(f.name, "member")); err != nil {
		return err
	}
	a, err := f.open(env)
	if err != nil {
		return err
	}
	atomicfile.Sweep(filepath.Dir(f.prefix(f.name)))
	var cert certificate.Certificate
	switch {
	case f.request != "":
		cert, err = f.issueRequested(env, a)
	case f.key != "":
		cert, err = f.issueFor(env, a)
	default:
		cert, err = f.issueWithNewKey(a)
	}
	if err != nil {
		return caError(err)
	}
	f.report(env, a, cert)
	return nil
}

func (f caIssueFlags) check() error {
	switch {
	case f.request != "" && f.key != "":
		return cli.UsageError("--request and --key cannot be combined")
	case f.request != "" && f.name == "":
		return checkClass(f.class, f.gate) // the request has a name
	case f.name == "":
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("no member name specified"), Hint: "add --name, for example --name ftp-03"}
	}
	return cmp.Or(caError(certificate.CheckName(f.name)), checkClass(f.class, f.gate))
}

// checkClass refuses what cannot be a member's class. An empty one is none.
func checkClass(class string, gate bool) error {
	switch {
	case class == "":
		return nil
	case gate:
		return cli.UsageError("--class and --gate cannot be combined: a gate has no turns")
	}
	if err := ident.CheckClass(class); err != nil {
		return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("--class: %w", err), Hint: "for example --class backup"}
	}
	return nil
}

// checkFolder refuses to sign for files that cannot be written.
func (f caIssueFlags) checkFolder(name string) error {
	dir := filepath.Dir(f.prefix(name))
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", dir)
	}
	if err != nil {
		return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("--out %s: %w", f.out, err), Hint: "make the folder first, or name another with --out"}
	}
	return nil
}

// prefix is what the names of the files for a member begin with.
func (f caIssueFlags) prefix(name string) string {
	if f.out == "" {
		return name
	}
	info, err := os.Stat(f.out)
	if err == nil && info.IsDir() || os.IsPathSeparator(f.out[len(f.out)-1]) {
		return filepath.Join(f.out, name)
	}
	return f.out
}

func (f caIssueFlags) report(env *environment, a *ca.Authority, cert certificate.Certificate) {
	prefix := f.prefix(cert.Name())
	c := cert.Body()
	fmt.Fprintf(env.Out, "issued certificate %d to %s, valid until %s\n", c.Serial, c.Name, c.NotAfter.Format(time.DateTime+" MST"))
	fmt.Fprintf(env.Out, "%v %v\n", cert.Role(), cert.Member())
	files := []string{prefix + ".crt"}
	if f.key == "" && f.request == "" {
		files = append(files, prefix+".key")
	}
	fmt.Fprintf(env.Out, "wrote %s; the %v needs %s too\n", strings.Join(files, " and "), cert.Role(), f.groupFile(env))
	if a.Config().IsZero() {
		cli.Warn(env.Err, "the group has no configuration yet, and members need one to start: wander ca config")
	}
}

// issueFor certifies the key in a file.
func (f caIssueFlags) issueFor(env *environment, a *ca.Authority) (certificate.Certificate, error) {
	text, err := cli.ReadLimited(env.In, f.key, maxKeyFile)
	if err != nil {
		return certificate.Certificate{}, cli.ConfigError(err, "")
	}
	key, err := publicKeyIn(text, a)
	if err != nil {
		return certificate.Certificate{}, cli.ConfigError(fmt.Errorf("%s: %w", f.key, err), "give --key a private key, a public key or a certificate of this group")
	}
	cert, err := a.Issue(ca.Request{Name: f.name, Key: key, Role: f.role(), Class: f.classOf(), Lifetime: f.lifetime.Duration})
	if err != nil {
		return certificate.Certificate{}, err
	}
	return cert, putCertificate(f.prefix(f.name)+".crt", cert)
}

// issueRequested certifies the key of a request, and shows whose it is.
func (f caIssueFlags) issueRequested(env *environment, a *ca.Authority) (certificate.Certificate, error) {
	text, err := cli.ReadLimited(env.In, f.request, maxKeyFile)
	if err != nil {
		return certificate.Certificate{}, cli.ConfigError(err, "")
	}
	r, err := requestIn(text, a)
	if err != nil {
		return certificate.Certificate{}, cli.ConfigError(fmt.Errorf("%s: %w", f.request, err), "give --request the file that wander join --request wrote for this group")
	}
	name := r.Body().Name
	if f.name != "" && f.name != name {
		return certificate.Certificate{}, cli.UsageError("%s requests the name %s, but --name is %s", f.request, name, f.name)
	}
	fmt.Fprintf(env.Out, "key %s, which %s has: the machine has to show the same\n", certificate.Fingerprint(r.Key()), name)
	cert, err := a.Issue(ca.Request{Name: name, Key: r.Key(), Role: f.role(), Class: f.classOf(), Lifetime: f.lifetime.Duration})
	if err != nil {
		return certificate.Certificate{}, err
	}
	return cert, putCertificate(f.prefix(name)+".crt", cert)
}

// requestIn is the request in a text with one block.
func requestIn(text []byte, a *ca.Authority) (certificate.SignedRequest, error) {
	b, err := oneBlock(text, keyfile.CertificateRequest)
	if err != nil {
		return certificate.SignedRequest{}, err
	}
	return certificate.ParseRequest(a.Group(), b.Bytes)
}

// publicKeyIn is the key in a text with one block.
func publicKeyIn(text []byte, a *ca.Authority) (*signature.PublicKey, error) {
	b, err := oneBlock(text, keyfile.PublicKey, keyfile.Certificate, keyfile.PrivateKey, keyfile.EncryptedPrivateKey)
	if err != nil {
		return nil, err
	}
	switch b.Type {
	case keyfile.PublicKey:
		return keyfile.DecodePublicKey(b)
	case keyfile.Certificate:
		c, err := a.Parse(b.Bytes)
		return c.Key(), err
	}
	key, err := keyfile.DecodePrivateKey(text, nil)
	if err != nil {
		return nil, err
	}
	return key.Public(), nil
}
