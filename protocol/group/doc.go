// Package group implements the two kinds of signed objects about a group as a
// whole: statements about its CA keys, and the configuration that all members
// share.
//
//	Statement ── Sign ──▶ Authority    this key belongs to the group's CA
//	Settings  ── Sign ──▶ Config       what holds for all members
//	[]Authority + Config ── New ──▶ Group
//
// Package certificate has the signed objects about single members. In both
// packages a verified object and its unsigned contents are different types: an
// Authority or a Config has been verified, and is immutable; a Statement or
// Settings has not.
//
//	blocks, err := keyfile.DecodeBlocks(text)  // the group file
//	g, extra, err := group.Load(blocks)        // extra: not verified yet
//	c, err := certificate.Parse(g.ID(), extra.Certificates[0], g)
//	tape, ok := g.Config().Resource("tape")
//
// # Identity and keys
//
// The id of a group is the hash of its first CA key. The statement about that key is
// signed with the key itself, so the id is enough to verify it. The statement about any
// later key is signed by a key that the group had before:
//
//	group id ──names──▶ key 1 ──vouches for──▶ key 2 ──vouches for──▶ key 3
//
// So a group keeps its id, and members their membership, while its CA keys change.
// ParseChain verifies such a chain from the id alone; a group has at most MaxAuthorities
// keys, retired ones that vouch for others included.
//
// A configuration lists the CA keys in force, its signer's among them. A key
// that it no longer lists has been retired: what that key signed no longer
// counts, and a thief cannot bring the key back (Statement.Version). Two
// lookups serve two questions:
//
//	Group.Key       is this key in force? For everything that is to count now.
//	Group.History   was it ever? For journals, which are of the past.
//
// # Rotation
//
// A Group is immutable. Each step returns another one:
//
//	g2, err := g.WithAuthority(statement)         // key 2 counts, beside key 1
//	g3, err := g2.WithConfig(config)              // lists key 2 only: key 1 is retired
//	g4, err := g.Update(rawConfig, statements)    // both, as they come from a peer
//
// The new key counts before a configuration lists it, so that the CA can renew
// certificates under it while some members still have the old configuration.
// Vouched takes in statements from a stranger, as in a TLS handshake, at the
// cost of verifying one forged signature at most.
//
// # Configuration
//
// Of two configurations the one with the higher version is in force (ErrOlder).
// Members pass it on among themselves, so that the CA need not reach each of
// them. It has the resources, each with its policy and parameters, and the
// constants of the group, such as gossip_interval and silence.
// Settings.WithDefaults replaces zeros by defaults, and Settings.Validate names
// a setting that is out of range as the group's file spells it.
//
// Settings that a policy needs reach it as policy.Params
// (Settings.PolicyParams). The parameters of policies are a table,
// policy.Parameters, so that a new one needs no code here. Package catalog
// checks that a policy knows its preset and uses its parameters. A member does
// not adopt a configuration that names a policy which it does not know.
package group
