package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// runJoinRequest makes the key and writes a request for a CA that is elsewhere.
func runJoinRequest(env *environment, f joinFlags) error {
	if err := checkName(f.name); err != nil {
		return err
	}
	id, err := f.groupOrID()
	if err != nil {
		return err
	}
	home := memberHome{dir: f.dir}
	if _, err := home.check(env, id, f.name); err != nil {
		return err
	}
	key, err := home.key()
	if err != nil {
		return err
	}
	signed, err := signRequest(env, id, f.name, key)
	if err != nil {
		return err
	}
	text, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.CertificateRequest, Bytes: signed.Raw()})
	if err != nil {
		return err
	}
	if err := atomicfile.Replace(home.request(), text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "key    %s (the CA's operator has to see the same)\n", certificate.Fingerprint(key.Public()))
	fmt.Fprintf(env.Out, "wrote  %s, %s\n", home.keyFile(), home.request())
	fmt.Fprintf(env.Out, "next: bring %s to the CA: wander ca issue --request %s; then here: wander join --install FILE.crt --group group.crt --dir %s\n",
		home.request(), home.request(), f.dir)
	return nil
}

var errNoGroup = errors.New("no group specified")

// groupOrID is the group that --group names, by its file or its id.
func (f joinFlags) groupOrID() (ident.Group, error) {
	if f.groupName == "" {
		return ident.Group{}, &cli.Error{Code: cli.ExitUsage, Err: errNoGroup, Hint: "add --group with the CA's group.crt, or with the group's id as wander ca list shows it"}
	}
	if id, err := groupID(f.groupName); err == nil {
		return id, nil
	}
	g, err := cli.LoadGroup(f.groupName)
	if err != nil {
		return ident.Group{}, cli.ConfigError(err, "give --group the CA's group.crt or the group's id")
	}
	return g.ID(), nil
}

// runJoinInstall takes in a certificate that was signed elsewhere.
func runJoinInstall(env *environment, f joinFlags) error {
	home := memberHome{dir: f.dir}
	if f.groupName == "" {
		f.groupName = home.group()
	}
	g, extra, err := cli.ReadGroup(f.groupName)
	if err != nil {
		return cli.ConfigError(err, "add --group with the CA's group.crt")
	}
	cert, err := readCertificate(f.install, g)
	if err != nil {
		return cli.ConfigError(err, "give --install the certificate that wander ca issue --request wrote")
	}
	if _, err := home.check(env, g.ID(), cert.Name()); err != nil {
		return err
	}
	if !exists(home.keyFile()) {
		return cli.ConfigError(fmt.Errorf("%s does not exist", home.keyFile()), "the key is made by wander join --request, and stays where it was made")
	}
	key, err := home.key()
	if err != nil {
		return err
	}
	if !key.Public().Equal(cert.Key()) {
		return cli.ConfigError(fmt.Errorf("%s is for key %s, and %s is %s", f.install, certificate.Fingerprint(cert.Key()),
			home.keyFile(), certificate.Fingerprint(key.Public())), "is it the answer to another machine's request?")
	}
	e := enrolment.Enrolled{Group: g, Certificate: cert, Revocations: extra.Revocations, Leaves: extra.Leaves}
	if err := f.finish(env, home, e, g.Config().Signer()); err != nil {
		return err
	}
	if cert.Role() == certificate.GateRole {
		f.adviseGate(env, home, cert)
		return nil
	}
	fmt.Fprintf(env.Out, "next: put addresses of members into %s, under [bootstrap] peers; then wander node --config %s (the first member: --found, once)\n",
		home.config(), home.config())
	return nil
}

// readCertificate reads a file with one certificate, of a member or a gate.
func readCertificate(name string, g *group.Group) (certificate.Certificate, error) {
	var none certificate.Certificate
	text, err := cli.ReadSmall(name, maxKeyFile)
	if err != nil {
		return none, err
	}
	b, err := oneBlock(text, keyfile.Certificate)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	c, err := certificate.ParseAny(g.ID(), b.Bytes, g)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// oneBlock is the block of a text that has no other one. It is of one of the types.
func oneBlock(text []byte, types ...string) (keyfile.Block, error) {
	blocks, err := keyfile.DecodeBlocks(text)
	if err == nil && (len(blocks) != 1 || !slices.Contains(types, blocks[0].Type)) {
		err = fmt.Errorf("%w: must be exactly one %s", keyfile.ErrFormat, strings.Join(types, " or "))
	}
	if err != nil {
		return keyfile.Block{}, err
	}
	return blocks[0], nil
}
