package spec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	updates "github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// messages has every message twice: as it usually is, and with everything left
// out that may be.
func messages(t *testing.T) []wire.Message {
	w := newWalk(t, []byte("field"), noExtension)
	cert := memberCertificate(t, ada, noExtension).Raw()
	revoked := revocation(t, "stolen", noExtension).Raw()
	config := configuration(t, 2, noExtension).Raw()
	tok, four := w.genesis.ID(), []ident.Member{ada.id, ben.id, cleo.id, authority.id}
	settled := &wire.Settled{Incarnation: incarnation, Below: 1000}
	return []wire.Message{
		&wire.Hello{
			Versions: [2]uint64{1, 1}, Incarnation: incarnation, Features: 1 << 40, MaxFrame: wire.MaxFrame,
			Configuration: 7, Revocations: 3, Floor: 900, Settled: settled, Endpoint: cert, Time: millis,
			Shown: &wire.Shown{Kind: wire.ShownTransfer, Object: w.first.Raw()},
		},
		&wire.Hello{Versions: [2]uint64{1, 9}},
		&wire.Offer{
			Token: tok, Hop: 4, Genesis: w.genesis.Raw(), Signers: four,
			Certificates: [][]byte{cert, cert, cert, cert}, Settled: settled,
		},
		&wire.Offer{Token: tok, Hop: 1, Genesis: w.genesis.Raw(), Signers: four[:1]},
		&wire.Need{Token: tok, Hop: 4, Members: four},
		&wire.Need{Token: tok, Hop: 1, Members: four[:1]},
		&wire.Accept{Token: tok, Hop: 4, Incarnation: incarnation, Accept: 1025, Lifetime: 30000},
		&wire.Refuse{Token: tok, Hop: 4, Reason: wire.RefuseClock, RetryAfter: 1 << 40},
		&wire.Refuse{Token: tok, Hop: 1, Reason: 99},
		&wire.Cancel{Token: tok, Hop: 4, Incarnation: incarnation, Accept: 1025},
		&wire.Transfer{
			Transfer: w.third.Raw(), Genesis: w.genesis.Raw(), Previous: w.second.Raw(), Void: w.void.Raw(),
			Certificates: [][]byte{cert, cert, cert, cert}, Updates: [][]byte{revoked},
		},
		&wire.Transfer{Transfer: w.first.Raw(), Genesis: w.genesis.Raw()},
		&wire.Receipt{Receipt: w.receipt.Raw(), Updates: [][]byte{revoked}},
		&wire.Receipt{Receipt: w.receipt.Raw()},
		&wire.Void{Void: w.void.Raw()},
		&wire.Unknown{Unknown: w.unknown.Raw()},
		&wire.Policy{Resource: "ftp", Slot: 1, Policy: "ring", Configuration: 7, Body: make([]byte, wire.MaxPolicyBody)},
		&wire.Policy{Resource: "f", Policy: "r"},
		&wire.Want{Topic: wire.WantMembers, From: ada.id, Through: ident.LastMember()},
		&wire.Want{Topic: wire.WantRevocations, Version: 3},
		&wire.Members{
			Entries: []wire.Entry{
				{Certificate: cert, Endpoint: cert, Leave: cert, Failures: [][]byte{cert}}, {Certificate: cert},
			},
			Through: ada.id, More: true,
		},
		&wire.Members{},
		&wire.Configuration{Configuration: config, Authorities: [][]byte{cert}},
		&wire.Configuration{Configuration: make([]byte, wire.ConfigurationPart), Rest: 1},
		&wire.Configuration{Configuration: config, Before: wire.ConfigurationPart},
		&wire.Configuration{Configuration: config},
		&wire.Revocations{Revocations: [][]byte{revoked}, More: true},
		&wire.Revocations{},
		&wire.Gossip{Configuration: 7, Revocations: 3, Members: 191, Fingerprint: wire.Fingerprint{1}, Answer: true},
		&wire.Summary{Parts: []wire.Part{{Through: ada.id, Members: 2, Fingerprint: wire.Fingerprint{1}}, {Through: ident.LastMember()}}},
		&wire.Summary{},
		&wire.Probe{Subject: ada.id, Sequence: 3},
		&wire.News{Updates: [][]byte{revoked}},
	}
}

// membershipUpdates has every kind of update, and a join without endpoint
// record.
func membershipUpdates(t *testing.T) (raws [][]byte) {
	cert := memberCertificate(t, ada, noExtension).Raw()
	for _, u := range []updates.Update{
		updates.Join(cert, cert), updates.Join(cert, nil), updates.Leave(cert, cert), updates.Failure(cert, cert),
		updates.Revocation(revocation(t, "stolen", noExtension).Raw()),
	} {
		raw, err := u.Encode()
		require.NoError(t, err)
		raws = append(raws, raw)
	}
	return raws
}

// records has every record of a journal.
func records(t *testing.T) []journal.Record {
	w := newWalk(t, []byte("field"), noExtension)
	tok, grant := w.genesis.ID(), ident.Grant{4}
	return []journal.Record{
		&journal.Incarnation{Incarnation: incarnation, Member: ada.id, Durable: true, Machine: "4f6e65 17"},
		&journal.Incarnation{Incarnation: incarnation, Member: ada.id},
		&journal.Counters{Accepts: 1025, Sequence: 1025},
		&journal.Floor{Offerer: ben.id, Floor: 17},
		&journal.Settled{Receiver: ben.id, Incarnation: incarnation, Below: 33},
		&journal.Generated{Genesis: w.genesis.Raw(), Founding: true},
		&journal.Held{Transfer: w.first.Raw(), Genesis: w.genesis.Raw()},
		&journal.Held{Transfer: w.second.Raw(), Genesis: w.genesis.Raw(), Void: w.void.Raw()},
		&journal.Sent{Transfer: w.second.Raw()},
		&journal.Closed{Token: tok, Hop: 1, Receipt: w.receipt.Raw()},
		&journal.Closed{Token: tok, Hop: 1},
		&journal.Reclaimed{Token: tok, Hop: 2, Void: w.void.Raw()},
		&journal.Voided{Transfer: w.second.Raw(), Void: w.void.Raw()},
		&journal.Dropped{Token: tok, Hop: 1, Reason: 1},
		&journal.Taken{Token: tok, Hop: 1, Transfer: w.first.Hash(), From: ada.id, Accept: 5, Declined: true},
		&journal.Started{Grant: grant, Token: tok, Hop: 1, Resource: "ftp", Deadline: 1 << 40, Length: 1 << 30, Boot: "b", Machine: "m"},
		&journal.Ended{Grant: grant, Operated: true, Cause: journal.EndReported, SeenFrom: millis, SeenTo: millis + 1},
		&journal.Known{What: journal.KnownCertificate, Object: memberCertificate(t, ada, noExtension).Raw()},
		&journal.Evidence{What: "void and receipt", Accused: cleo.id, Objects: [][]byte{w.second.Raw(), w.void.Raw()}},
		&journal.Evidence{What: "x"},
		&journal.Founded{Resource: "ftp", Slot: 1},
		&journal.Visited{Resource: "ftp", Slot: 1, Token: tok, Born: millis, Generator: ada.id, At: millis * 1000, Operated: true},
		&journal.Opened{Opening: millis, Tag: [8]byte{7}, Serial: 12},
		&journal.Complained{Complaint: complaint(t, noExtension).Raw()},
	}
}

// evidenceFile is evidence that Ada gave one hop away twice.
func evidenceFile(t *testing.T) []byte {
	w := newWalk(t, nil, noExtension)
	again := w.first.Body()
	again.Accept++
	second, err := again.Sign(groupID, ada.key)
	require.NoError(t, err)
	e, err := evidence.New(groupID, [][]byte{statement(t, authority, authority, noExtension).Raw()}, memberCertificate(t, ada, noExtension).Raw(),
		evidence.Object{Kind: envelope.Transfer, Raw: w.first.Raw()}, evidence.Object{Kind: envelope.Transfer, Raw: second.Raw()})
	require.NoError(t, err)
	raw, err := e.Encode()
	require.NoError(t, err)
	return raw
}

// keyBlocks has the content of the two blocks for keys.
func keyBlocks(t *testing.T) (private, public []byte) {
	text, err := keyfile.EncodePrivateKey(ada.key)
	require.NoError(t, err)
	blocks, err := keyfile.DecodeBlocks(text)
	require.NoError(t, err)
	block, err := keyfile.EncodePublicKey(ada.key.Public())
	require.NoError(t, err)
	return blocks[0].Bytes, block.Bytes
}
