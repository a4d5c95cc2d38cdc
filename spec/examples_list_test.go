package spec_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/invite"
	"github.com/wandertoken/wander/protocol/journal"
	updates "github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
	"github.com/wandertoken/wander/spec/form"
)

// examples is what examples.md shows.
func examples(t *testing.T) *table {
	g := newGallery(t)
	g.all()
	g.lines = g.lines[:len(g.lines)-1]
	return g.table
}

func (g *gallery) all() {
	g.heading("Keys and identifiers")
	g.keys()
	g.heading("Signed objects")
	c := newCouple(g.t)
	g.aboutMembers(c)
	w := newWalk(g.t, nil, noExtension)
	g.aboutTokens(w)
	g.heading("Frames and messages")
	told := g.updates(c)
	g.handoff(w, told)
	g.directory(c, told)
	g.heading("Fields and bodies of policies")
	walkerExamples(g.t, g)
	ringExamples(g.t, g)
	keeperExamples(g.t, g)
	g.heading("Journal")
	g.journal(w)
	g.heading("Files")
	g.files()
	g.heading("Enrolment")
	g.enrolment(c)
}

func (g *gallery) keys() {
	for _, p := range []struct {
		name string
		party
	}{{"The CA's public key", authority}, {"Ada's", ada}, {"Ben's", ben}, {"Cleo's", cleo}} {
		raw := p.key.Public().Bytes()
		g.plain(p.name, raw[:])
	}
	g.plain("Group id", groupID[:])
	id := certificate.AuthorityID(authority.key.Public())
	g.plain("The CA's key id", id[:])
	g.block("The member ids of Ada, Ben and Cleo:", hexLines(ada.id[:]), hexLines(ben.id[:]), hexLines(cleo.id[:]))
}

func (g *gallery) aboutMembers(c couple) {
	t := g.t
	g.signed(of("signed-authority", envelope.Authority, statement(t, authority, authority, noExtension)), "the first key")
	g.signed(of("signed-authority", envelope.Authority, statement(t, secondAuthority, authority, noExtension)), "a later key")
	g.signed(of("signed-configuration", envelope.Configuration, configuration(t, 1, noExtension)), "")
	g.signed(hashed(t, "signed-certificate", envelope.Certificate, c.ada), "Ada's")
	g.signed(hashed(t, "signed-certificate", envelope.Certificate, c.ben), "Ben's")
	g.signed(hashed(t, "signed-endpoint", envelope.Endpoint, c.endpoint), "reachable")
	g.signed(of("signed-endpoint", envelope.Endpoint, endpoint(t, certificate.Endpoint{
		Mode: certificate.DialsOut, Attached: []ident.Member{ben.id, cleo.id},
	})), "dials out only")
	g.signed(of("signed-revocation", envelope.Revocation, revocation(t, "stolen", noExtension)), "")
	g.signed(of("signed-leave", envelope.Leave, leave(t, noExtension)), "")
	g.signed(hashed(t, "signed-failure", envelope.Failure, c.failed), "")
	g.signed(of("signed-request", envelope.Request, request(t, noExtension)), "")
	g.signed(of("signed-certificate", envelope.Certificate, gateCertificate(t, noExtension)), "a gate's")
	g.signed(of("signed-certificate", envelope.Certificate, classCertificate(t, noExtension)), "a member's of class backup")
	g.signed(of("signed-configuration", envelope.Configuration, gatedConfiguration(t, noExtension)), "with gates before two resources of three, and weights of the third")
}

// hashed is a signed object that is there as bytes only.
func hashed(t *testing.T, rule string, kind envelope.Kind, raw []byte) signed {
	o := signed{rule: rule, kind: kind, raw: raw}
	o.hash = ident.Hash(sha256.Sum256(sigStructure(t, o)))
	return o
}

func (g *gallery) aboutTokens(w walk) {
	genesis := of("signed-genesis", envelope.Genesis, w.genesis)
	g.signed(genesis, "")
	aad, err := cddl.Decode(sigStructure(g.t, genesis))
	require.NoError(g.t, err)
	g.item("wire.cddl", "external-aad", "of the genesis", aad.Items[2].Data)
	g.checked("wire.cddl", "sig-of-genesis", "sig-structure", "of the genesis: what is signed, and of which H is the SHA-256",
		sigStructure(g.t, genesis))
	g.signed(of("signed-transfer", envelope.Transfer, w.first), "hop 1, Ada to Ben")
	g.signed(of("signed-answer", envelope.Receipt, w.receipt), "receipt of hop 1")
	g.signed(of("signed-transfer", envelope.Transfer, w.second), "hop 2, Ben to Cleo")
	g.signed(of("signed-answer", envelope.Void, w.void), "void of hop 2")
	g.signed(of("signed-answer", envelope.Unknown, w.unknown), "unknown, for hop 2")
	g.signed(of("signed-transfer", envelope.Transfer, w.third), "hop 3, Ben to Ada, after the void")
	g.signed(of("signed-complaint", envelope.Complaint, complaint(g.t, noExtension)), "Ada about Ben")
	g.item("wire.cddl", "permit", "Ada's at hop 3, after the void", permitOf(g.t))
	g.signed(of("signed-statement", envelope.Statement, permitStatement(g.t, noExtension)), "Ada to a gate, at hop 3")
	g.signed(of("signed-gate-answer", envelope.GateAnswer, gateAnswer(g.t, noExtension)), "the gate opens for Ada")
}

// updates shows one of each kind, and returns the join.
func (g *gallery) updates(c couple) []byte {
	var join []byte
	for _, u := range []struct {
		what string
		updates.Update
	}{
		{"failure", updates.Failure(c.failed, c.ben)}, {"leave", updates.Leave(leave(g.t, noExtension).Raw(), c.ada)},
		{"revocation", updates.Revocation(revocation(g.t, "stolen", noExtension).Raw())}, {"join", updates.Join(c.ada, c.endpoint)},
	} {
		raw, err := u.Encode()
		require.NoError(g.t, err)
		g.item("wire.cddl", "update", u.what, raw)
		join = raw
	}
	return join
}

func (g *gallery) handoff(w walk, told []byte) {
	process := cddl.Item{Major: cddl.Bytes, Data: bytes.Repeat([]byte{6}, 16)}
	preamble := cddl.Item{Major: cddl.Array, Items: []cddl.Item{{}, {Major: cddl.Array, Items: []cddl.Item{
		process, {Arg: 1}, {Major: cddl.Simple, Arg: 20},
	}}}}.Append(nil)
	g.item("wire.cddl", "preamble", "", preamble)
	g.plain("The frame with it", wire.AppendFrame(nil, preamble))
	text := func(s string) cddl.Item { return cddl.Item{Major: cddl.Text, Data: []byte(s)} }
	g.item("wire.cddl", "dialled-back", "", cddl.Item{Major: cddl.Array, Items: []cddl.Item{text("198.51.100.9:4133"), {Major: cddl.Array, Items: []cddl.Item{
		{Major: cddl.Array, Items: []cddl.Item{text("m1.example.org:4133"), {Arg: 1}}},
	}}}}.Append(nil))

	for _, x := range []struct {
		what  string
		id    asn1.ObjectIdentifier
		value any
	}{
		{"Ada's certificate (**T-3**)", transport.CertificateOID, newCouple(g.t).ada},
		{"the statement about the second CA key (**T-21**)", transport.VouchersOID, [][]byte{statement(g.t, secondAuthority, authority, noExtension).Raw()}},
	} {
		value, err := asn1.Marshal(x.value)
		require.NoError(g.t, err)
		der, err := asn1.Marshal(pkix.Extension{Id: x.id, Value: value})
		require.NoError(g.t, err)
		g.plain("The X.509 extension with "+x.what, der)
	}

	tok, settled := w.genesis.ID(), &wire.Settled{Incarnation: incarnation, Below: 1009}
	cert := certified(g.t, ada, "ada", 1)
	g.message("", &wire.Hello{
		Versions: [2]uint64{1, 1}, Incarnation: incarnation, MaxFrame: wire.MaxFrame, Configuration: 7, Revocations: 3,
		Floor: 1009, Settled: settled, Endpoint: newCouple(g.t).endpoint, Time: millis,
		Shown: &wire.Shown{Kind: wire.ShownReceipt, Object: w.receipt.Raw()},
	})
	offer := &wire.Offer{Token: tok, Hop: 1, Genesis: w.genesis.Raw(), Signers: []ident.Member{ada.id}}
	g.message("the first to a member", offer)
	g.message("", &wire.Need{Token: tok, Hop: 1, Members: []ident.Member{ada.id}})
	offer.Certificates, offer.Settled = [][]byte{cert}, settled
	g.message("after that NEED, with a promise", offer)
	g.plain("The frame with the ACCEPT that follows",
		wire.AppendFrame(nil, g.message("", &wire.Accept{Token: tok, Hop: 1, Incarnation: incarnation, Accept: 1025, Lifetime: 30000})))
	g.message("", &wire.Refuse{Token: tok, Hop: 1, Reason: wire.RefuseBusy})
	g.message("", &wire.Cancel{Token: tok, Hop: 1, Incarnation: incarnation, Accept: 1025})
	g.message("hop 1", &wire.Transfer{Transfer: w.first.Raw(), Genesis: w.genesis.Raw(), Updates: [][]byte{told}})
	g.message("hop 3, sent again", &wire.Transfer{
		Transfer: w.third.Raw(), Genesis: w.genesis.Raw(), Previous: w.second.Raw(), Void: w.void.Raw(),
		Certificates: [][]byte{cert, certified(g.t, ben, "ben", 2)},
	})
	g.message("", &wire.Receipt{Receipt: w.receipt.Raw()})
	g.message("", &wire.Void{Void: w.void.Raw()})
	g.message("", &wire.Unknown{Unknown: w.unknown.Raw()})
	g.message("", &wire.Policy{
		Resource: "ftp", Slot: 1, Policy: "ring", Configuration: 7, Body: []byte{1, 0, 0, 0, 1, 0, 0, 0, 12},
	})
}

func (g *gallery) directory(c couple, told []byte) {
	g.text("Cleo's directory has Ada, whom Ben does not reach, and Ben.")
	g.message("for all of the directory", &wire.Want{Topic: wire.WantMembers, Through: ident.LastMember()})
	entries, through, more := c.directory.Page(ident.Member{}, ident.LastMember(), wire.MaxPage, wire.MaxFrame)
	g.message("", &wire.Members{Entries: entries, Through: through, More: more})
	for _, p := range []struct {
		name string
		id   ident.Member
	}{{"Ada", ada.id}, {"Ben", ben.id}} {
		_, one := c.directory.Range(p.id, p.id)
		g.plain(p.name+"'s fingerprint", one[:])
	}
	members, all := c.directory.Fingerprint()
	g.message("", &wire.Gossip{Configuration: 7, Revocations: 3, Members: members, Fingerprint: all})
	g.message("", &wire.Summary{Parts: c.directory.Split(ident.Member{}, ident.LastMember(), wire.MaxParts)})
	g.message("", &wire.Configuration{
		Configuration: configuration(g.t, 1, noExtension).Raw(), Authorities: [][]byte{statement(g.t, secondAuthority, authority, noExtension).Raw()},
	})
	g.message("", &wire.Revocations{Revocations: [][]byte{revocation(g.t, "stolen", noExtension).Raw()}})
	g.message("", &wire.Probe{Subject: ada.id, Sequence: 12})
	g.message("", &wire.News{Updates: [][]byte{told}})
	g.drawn("wire.cddl", "message", form.Messages())
}

// drawn shows what is in the CDDL and has no example above: as full as it can be.
func (g *gallery) drawn(file, rule string, objects []form.Object) {
	rules := g.alternatives(file, rule)
	for _, o := range objects {
		if name := rules[fmt.Sprint(o.Number)]; !g.shown[file][name] {
			g.checked(file, rule, name, "drawn", o.Sample(form.Full()))
		}
	}
}

func (g *gallery) journal(w walk) {
	header := journal.SegmentHeader{Number: 1, FirstSeq: 1, Created: millis, Group: groupID, Member: ada.id}.Append(nil)
	g.plain("The header of a segment", header)
	g.plain("The checkpoint of a new journal: its begin and its end", journal.Frame{Type: journal.FrameCheckpointEnd, Seq: 2}.Append(
		journal.Frame{Type: journal.FrameCheckpointBegin, OpensBatch: true, Seq: 1}.Append(nil)))
	var first []byte
	defer g.drawn("journal.cddl", "record", form.Records())
	for _, r := range g.records(w) {
		body := g.record(r.detail, r.Record)
		if first == nil {
			first = body
			g.plain("Its frame, the first of a batch", journal.Frame{Type: journal.FrameRecord, OpensBatch: true, Seq: 3, Body: body}.Append(nil))
		}
	}
}

// detailed is a record and what tells it from others of its kind.
type detailed struct {
	detail string
	journal.Record
}

func (g *gallery) records(w walk) []detailed {
	tok, grant := w.genesis.ID(), ident.Grant{4}
	return []detailed{
		{"", &journal.Incarnation{Incarnation: incarnation, Member: ada.id, Durable: true, Machine: "4f6e65 17"}},
		{"", &journal.Counters{Accepts: 1025, Sequence: 1025}},
		{"", &journal.Floor{Offerer: ben.id, Floor: 17}},
		{"", &journal.Settled{Receiver: ben.id, Incarnation: incarnation, Below: 33}},
		{"", &journal.Generated{Genesis: w.genesis.Raw(), Founding: true}},
		{"", &journal.Held{Transfer: w.third.Raw(), Genesis: w.genesis.Raw(), Previous: w.second.Raw(), PreviousVoid: w.void.Raw()}},
		{"", &journal.Sent{Transfer: w.second.Raw()}},
		{"with a receipt", &journal.Closed{Token: tok, Hop: 0, Receipt: w.receipt.Raw()}},
		{"given up", &journal.Closed{Token: tok, Hop: 0}},
		{"", &journal.Reclaimed{Token: tok, Hop: 2, Void: w.void.Raw()}},
		{"", &journal.Voided{Transfer: w.second.Raw(), Void: w.void.Raw()}},
		{"", &journal.Dropped{Token: tok, Hop: 1, Reason: 1}},
		{"", &journal.Taken{Token: tok, Hop: 1, Transfer: w.first.Hash(), From: ada.id, Accept: 1025}},
		{"", &journal.Started{
			Grant: grant, Token: tok, Hop: 1, Resource: "ftp", Deadline: 3_600_000_000_000, Length: 20_250_000_000,
			Boot: "0f8e7b1c-7c1d-4c39-9a3e-0d7d2c6a1f55", Machine: "4f6e65 17",
			Asker: &journal.Asker{User: 1000, Group: 100, Process: 4711},
		}},
		{"reported", &journal.Ended{
			Grant: grant, Operated: true, Cause: journal.EndReported, SeenFrom: millis*1000 + 100_000, SeenTo: millis*1000 + 2_100_000,
		}},
		{"at a restart", &journal.Ended{Grant: grant, Operated: true, Cause: journal.EndRestarted}},
		{"", &journal.Known{What: journal.KnownCertificate, Object: certified(g.t, ada, "ada", 1)}},
		{"", &journal.Evidence{What: "void and receipt", Accused: cleo.id, Objects: [][]byte{w.second.Raw(), w.void.Raw()}}},
		{"", &journal.Founded{Resource: "ftp", Slot: 1}},
		{"", &journal.Visited{Resource: "ftp", Slot: 1, Token: tok, Born: millis, Generator: ada.id, At: millis * 1000, Operated: true}},
		{"", &journal.Opened{Opening: millis, Tag: [8]byte{7, 7, 7, 7, 7, 7, 7, 7}, Serial: 12}},
		{"", &journal.Complained{Complaint: complaint(g.t, noExtension).Raw()}},
		{"", &journal.Told{Answer: gateAnswer(g.t, noExtension).Raw()}},
	}
}

func (g *gallery) files() {
	private, public := keyBlocks(g.t)
	g.item("wire.cddl", "private-key", "Ada's", private)
	g.item("wire.cddl", "evidence-file", "two transfers of one hop", evidenceFile(g.t))
	g.item("wire.cddl", "public-key", "Ada's", public)
	block, err := keyfile.EncodePublicKey(ada.key.Public())
	require.NoError(g.t, err)
	text, err := keyfile.EncodeBlocks(block)
	require.NoError(g.t, err)
	g.block("The file with her public key:", strings.Split(strings.TrimSpace(string(text)), "\n"))
}

func (g *gallery) enrolment(c couple) {
	t := g.t
	text, err := invite.Invite{
		Group: groupID, Authority: certificate.AuthorityID(authority.key.Public()), Addresses: []string{"ca.example.org:4134"},
		ID: [8]byte{1, 2}, Secret: [16]byte{3, 4}, Name: "ftp-03.example.org", Expires: day,
	}.Format()
	require.NoError(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, "wander1-"))
	require.NoError(t, err)
	g.item("enrolment.cddl", "invite", "", raw[:len(raw)-4])
	g.block("Its text, in lines of 96:", chunked(text, 96))
	publication := enrolment.Publication{
		Authorities: [][]byte{statement(t, authority, authority, noExtension).Raw()}, Configuration: configuration(t, 1, noExtension).Raw(),
		Revocations: [][]byte{revocation(t, "stolen", noExtension).Raw()},
	}
	peers := []enrolment.Peer{{Certificate: c.ada, Endpoint: c.endpoint}}
	for _, s := range []sample{
		encoded(t, "enrol-request", enrolment.EnrolRequest{ID: [8]byte{1, 2}, Secret: [16]byte{3, 4}, Request: request(t, noExtension).Raw()}),
		encoded(t, "enrol-answer", enrolment.EnrolAnswer{Certificate: c.ben, Publication: publication, Peers: peers, Others: 1}),
		encoded(t, "renew-answer", enrolment.RenewAnswer{Certificate: c.ben, Authorities: publication.Authorities}),
		encoded(t, "sync-request", enrolment.SyncRequest{Configuration: 7, Revocations: 3, Endpoint: c.endpoint, Leaves: [][]byte{leave(t, noExtension).Raw()}}),
		encoded(t, "sync-answer", enrolment.SyncAnswer{Publication: enrolment.Publication{Authorities: publication.Authorities}, Peers: peers}),
		encoded(t, "leave-request", enrolment.LeaveRequest{Leave: leave(t, noExtension).Raw()}),
		encoded(t, "evidence-request", enrolment.EvidenceRequest{Evidence: evidenceFile(t)}),
		encoded(t, "refusal", enrolment.Refusal{Reason: enrolment.Revoked, Object: revocation(t, "stolen", noExtension).Raw()}),
	} {
		g.checked("enrolment.cddl", s.rule, strings.TrimPrefix(s.rule, "travelling-"), "", s.data)
	}
}

func chunked(text string, size int) (lines []string) {
	for len(text) > size {
		lines, text = append(lines, text[:size]), text[size:]
	}
	return append(lines, text)
}
