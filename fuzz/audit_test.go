package fuzz

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/gate"
	gatewire "github.com/wandertoken/wander/protocol/gate/wire"
	wandergroup "github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// FuzzAudit: an audit of journals that hold any records in any order, some altered.
// It ends, its findings stand where it says, and verifying signatures one by one or
// in batches makes no difference.
//
//fuzz:of protocol/audit protocol/token protocol/journal
func FuzzAudit(f *testing.F) { targets["FuzzAudit"].Fuzz(f) }

const (
	auditJournals = 3
	auditRecords  = 24
	auditTimes    = 4 // moments at which a record may have been written
)

// auditBodies are the records that journals may hold, at each moment.
var auditBodies = makeBodies()

func makeBodies() (bodies [][]byte) {
	for at := range uint64(auditTimes) {
		for _, r := range auditPool() {
			bodies = append(bodies, must(journal.Encode((millis+1000*at)*1000, r)))
		}
	}
	return bodies
}

// auditPool is what three members may write about one token of each of two, and
// about each other.
func auditPool() (pool []journal.Record) {
	for i, p := range people[1:4] {
		pool = append(pool,
			&journal.Incarnation{Incarnation: p.incarnation, Member: p.id, Durable: i < 2, Machine: "machine"},
			&journal.Known{What: journal.KnownCertificate, Object: p.certificate.Raw()},
			&journal.Known{What: journal.KnownRevocation, Object: p.revocation(uint64(i + 1))},
		)
	}
	for i, p := range people[1:3] {
		q, r := people[1+(i+1)%3], people[1+(i+2)%3]
		title := p.mint("r0", 7)
		given := auditTransfer(title, p, q)
		other := auditTransfer(title, p, r)
		receipt := must(token.AnswerTo(given, q.id, q.incarnation).Sign(group, token.Receipt, q.key))
		void := must(token.AnswerTo(given, q.id, q.incarnation).Sign(group, token.Void, q.key))
		back := auditTransfer(token.Title{Genesis: title.Genesis, Transfer: given}, q, r)
		pool = append(pool,
			&journal.Generated{Genesis: title.Genesis.Raw()},
			&journal.Generated{Genesis: p.mint("r1", 7).Genesis.Raw()},
			&journal.Sent{Transfer: given.Raw()},
			&journal.Sent{Transfer: other.Raw()},
			&journal.Held{Transfer: given.Raw(), Genesis: title.Genesis.Raw()},
			&journal.Held{Transfer: back.Raw(), Genesis: title.Genesis.Raw(), Previous: given.Raw()},
			&journal.Sent{Transfer: back.Raw()},
			&journal.Closed{Token: title.Token(), Hop: 0, Receipt: receipt.Raw()},
			&journal.Closed{Token: title.Token(), Hop: 1},
			&journal.Voided{Transfer: given.Raw(), Void: void.Raw()},
			&journal.Reclaimed{Token: title.Token(), Hop: 1, Void: void.Raw()},
			&journal.Dropped{Token: title.Token(), Hop: 1, Reason: 1},
			&journal.Taken{Token: title.Token(), Hop: 1, Transfer: given.Hash(), From: p.id, Accept: 1},
			&journal.Started{Grant: ident.Grant{byte(i + 1)}, Token: title.Token(), Hop: 1, Resource: "r0", Deadline: 1 << 40, Length: 1 << 34, Boot: "boot", Machine: "machine"},
			&journal.Ended{Grant: ident.Grant{byte(i + 1)}, Operated: true, Cause: journal.EndReported, SeenFrom: millis * 1000, SeenTo: millis*1000 + 5},
			&journal.Visited{Resource: "r0", Token: title.Token(), Born: millis, Generator: p.id, At: millis * 1000, Operated: true},
			&journal.Evidence{What: "two transfers", Accused: p.id, Objects: [][]byte{given.Raw(), other.Raw()}},
		)
	}
	for i, p := range people[1:3] {
		c := must(token.ComplaintBody{
			Resource: "r0", Signer: p.id, Accused: people[2-i].id, Token: p.mint("r0", 7).Token(), Hop: 1, Measure: uint64(i + 1), Cause: 1, Time: millis,
		}.Sign(group, p.key))
		pool = append(pool, &journal.Complained{Complaint: c.Raw()})
	}
	return append(pool, auditTold()...)
}

// gateKey is the key of a gate that the CA has certified.
var gateKey = newKey(40)

func gateCertificate() []byte { return gateCertificateOf(gateKey, "gate").Raw() }

// gateCertificateOf is the certificate of a gate's key.
func gateCertificateOf(key *signature.PrivateKey, name string) certificate.Certificate {
	c := certificateOf(key, name).Body()
	c.Role = certificate.GateRole
	return must(c.Sign(ca))
}

// auditTold is what a gate has signed to two members: one session number for both of them.
func auditTold() (pool []journal.Record) {
	pool = append(pool, &journal.Known{What: journal.KnownGate, Object: gateCertificate()})
	for i, p := range people[1:3] {
		for _, a := range []gate.Answer{
			gate.OpenAnswer{Session: 7, Hop: 1}, gate.BusyAnswer{Session: 7, Holder: p.id}, gate.RefuseAnswer{Code: gate.Stale},
			gate.ClosedAnswer{Session: 7, Reason: gate.BySignOut},
		} {
			b := gatewire.AnswerBody{Resource: "r0", Member: p.id, Title: ident.Hash{byte(i)}, Number: 1, Time: millis + uint64(i), Answer: a}
			pool = append(pool, &journal.Told{Answer: must(b.Sign(group, gateKey)).Raw()})
		}
	}
	return pool
}

func auditTransfer(title token.Title, from, to *person) token.Transfer {
	body := title.Next(to.id, ident.Reservation{Incarnation: to.incarnation, Number: 1})
	body.Time = millis
	return must(body.Sign(group, from.key))
}

// checkAudit: each record is four bytes: journal, record, place and change. A
// journal above the last one is a gap in the first.
func checkAudit(t require.TestingT, data []byte) bool {
	if len(data) == 0 || len(data) > 4*auditRecords || len(data)%4 != 0 {
		return false
	}
	var frames [auditJournals][]journal.Frame
	for four := range slices.Chunk(data, 4) {
		if int(four[0]) > auditJournals || int(four[1]) >= len(auditBodies) {
			return false
		}
		j := int(four[0]) % auditJournals
		seq := uint64(len(frames[j]) + 1)
		if int(four[0]) == auditJournals {
			seq += 5
		}
		body := auditBodies[four[1]]
		if four[3] != 0 {
			body = slices.Clone(body)
			body[int(four[2])*len(body)/256] ^= four[3]
		}
		if n := len(frames[j]); n > 0 {
			seq = max(seq, frames[j][n-1].Seq+1)
		}
		frames[j] = append(frames[j], journal.Frame{Type: journal.FrameRecord, Seq: seq, Body: body})
	}
	report := auditOf(frames, false)
	again := auditOf(frames, true)
	require.Equal(t, report.Findings, again.Findings, "another finding one by one")
	require.Equal(t, report.Custodies, again.Custodies)
	require.Equal(t, report.Complaints, again.Complaints)
	for _, f := range report.Findings {
		require.NotEmpty(t, f.String())
		for _, e := range f.Exhibits {
			shown(t, frames, e)
		}
	}
	return true
}

// shown checks that an exhibit stands where the finding says.
func shown(t require.TestingT, frames [auditJournals][]journal.Frame, e audit.Exhibit) {
	if e.Seq == 0 {
		return
	}
	list := frames[e.Journal]
	n := slices.IndexFunc(list, func(f journal.Frame) bool { return f.Seq == e.Seq })
	require.GreaterOrEqual(t, n, 0)
	_, err := audit.Extract(list[n].Body, e)
	require.NoError(t, err)
}

func auditOf(frames [auditJournals][]journal.Frame, oneByOne bool) *audit.Report {
	trust := audit.NewTrust(memberGroup, wandergroup.Extra{})
	for _, list := range frames {
		for _, f := range list {
			trust.Learn(f.Body)
		}
	}
	a := audit.New(group, audit.Options{Trust: trust, OneByOne: oneByOne, Random: rand.NewChaCha8([32]byte{})})
	for i, list := range frames {
		r := a.Journal(people[1+i].id)
		r.Segment(true)
		for _, f := range list {
			r.Frame(f)
		}
	}
	return a.Report()
}

func auditSeeds() map[string][]byte {
	seeds := map[string][]byte{
		"bad-empty": {}, "bad-journal": {4, 0, 0, 0}, "bad-record": {0, 255, 0, 0}, "bad-part": {0, 0, 0}, "bad-many": make([]byte, 4*auditRecords+4),
	}
	size := byte(len(auditBodies) / auditTimes)
	life := []byte{0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 1, 3, 0, 0, 1, 7, 0, 0, 2, 6, 0, 0, 0, 9, 0, 0, 0, 11, 0, 0, 1, 13 + size, 0, 0}
	seeds["good-honest"] = life
	seeds["good-fork"] = slices.Concat(life, []byte{0, 12, 0, 0, 0, 18, 0, 0, 1, 24, 0, 0})
	seeds["good-altered"] = slices.Concat(life[:16], []byte{1, 13, 128, 1, 1, 14, 20, 9})
	seeds["good-gap"] = slices.Concat(life[:12], []byte{3, 11, 0, 0, 3, 12, 0, 0})
	for from := range 4 {
		var all []byte
		for n := range byte(20) {
			all = append(all, n%3, (byte(from)*20+n*3)%byte(len(auditBodies)), 0, 0)
		}
		seeds["good-mixed-"+modeName(byte(from))] = all
	}
	return seeds
}
