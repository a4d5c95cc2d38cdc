package vector

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/evidence"
	gatewire "github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/invite"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy/keeper"
	"github.com/wandertoken/wander/protocol/policy/quorum"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// reader reads one input as what it is to be, and gives the hash of a signed
// object (nil for others) or the reason why it is refused.
type reader func(w *world, v *Vector) (hash []byte, err error)

// readers are the objects that a vector can be of. Those of signed objects are
// in signed.go.
var readers = map[string]reader{
	"authority": readAuthority, "configuration": readConfiguration, "certificate": readCertificate, "gate-certificate": readGateCertificate,
	"revocation": readRevocation, "endpoint": readEndpoint, "leave": readLeave, "failure": readFailure,
	"request": readRequest, "genesis": readGenesis, "transfer": readTransfer,
	"receipt": readAnswer, "void": readAnswer, "unknown": readAnswer, "succession": readSuccession, "complaint": readComplaint,
	"statement": readStatement, "permit": readPermit, "presentation": readPresentation, "gate-answer": readGateAnswer,

	"cbor":       unsigned(readCBOR),
	"public-key": unsigned(readPublicKey),
	"signature":  unsigned(readSignature),
	"frame":      unsigned(readFrame),
	"preamble":   unsigned(readPreamble),
	"gate-frame": unsigned(readGateFrame),
	"message":    unsigned(readMessage),
	"update":     unsigned(readUpdate),
	"invite":     unsigned(readInvite),
	"segment":    unsigned(readSegment),
	"record":     unsigned(readRecord),
	"tls":        readTLS,
	"evidence":   readEvidence,

	"connection-new": unsigned(func(v *Vector) error { return readConnections(v, true) }),
	"connection-old": unsigned(func(v *Vector) error { return readConnections(v, false) }),

	"walk-field": unsigned(func(v *Vector) error { return wandering.CheckField(v.Input) }),
	"walk-body":  unsigned(func(v *Vector) error { return wandering.CheckBody(v.Input) }),
	"ring-field": unsigned(readRingField),
	"ring-body":  unsigned(func(v *Vector) error { return ring.CheckBody(v.Input) }),

	"keeper-body": unsigned(func(v *Vector) error { return keeper.CheckBody(v.Input) }),
	"vote-body":   unsigned(func(v *Vector) error { return quorum.CheckBody(v.Input) }),

	"enrol-request":    unsigned(readEnrolment[enrolment.EnrolRequest]),
	"enrol-answer":     unsigned(readEnrolment[enrolment.EnrolAnswer]),
	"renew-answer":     unsigned(readEnrolment[enrolment.RenewAnswer]),
	"sync-request":     unsigned(readEnrolment[enrolment.SyncRequest]),
	"sync-answer":      unsigned(readEnrolment[enrolment.SyncAnswer]),
	"leave-request":    unsigned(readEnrolment[enrolment.LeaveRequest]),
	"evidence-request": unsigned(readEnrolment[enrolment.EvidenceRequest]),
	"refusal":          unsigned(readEnrolment[enrolment.Refusal]),
}

// Objects are the names of all objects, in order.
func Objects() []string { return slices.Sorted(maps.Keys(readers)) }

func unsigned(read func(v *Vector) error) reader {
	return func(_ *world, v *Vector) ([]byte, error) { return nil, read(v) }
}

// limits are what readCBOR permits: those of the payload of a token's object.
var limits = canonical.Limits{MaxBytes: 4096, MaxDepth: 16, MaxItems: 4096}

func readCBOR(v *Vector) error { return canonical.Check(v.Input, limits) }

func readPublicKey(v *Vector) error {
	_, err := signature.ParsePublicKey(v.Input)
	return err
}

// readSignature verifies a signature alone, and in a batch with a good one: the
// verdict has to be the same (S-4).
func readSignature(v *Vector) error {
	key, err := signature.ParsePublicKey(v.With["key"])
	if err != nil {
		return err
	}
	err = key.Verify(v.With["message"], v.Input)
	if inBatch := verifyInBatch(key, v.With["message"], v.Input); (inBatch == nil) != (err == nil) {
		return fmt.Errorf("alone: %w, in a batch: %w", err, inBatch)
	}
	return err
}

// companySize is how many good signatures stand beside the one in a batch: with
// so many of one key the common equation is cheaper, and used.
const companySize = 15

// company is who signs those.
var company = func() *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{9}, signature.SeedSize))
	if err != nil {
		panic(err) // the seed has its size
	}
	return key
}()

func verifyInBatch(key *signature.PublicKey, message, sig []byte) error {
	var b signature.Batch
	for i := range byte(companySize) {
		b.Add(company.Public(), []byte{i}, company.Sign([]byte{i}))
	}
	b.Add(key, message, sig)
	if verdicts := b.Verify(nil); verdicts != nil {
		return verdicts[companySize]
	}
	return nil
}

// readFrame reads a frame and the message in it.
func readFrame(v *Vector) error {
	r := bytes.NewReader(v.Input)
	body, err := wire.ReadFrame(r, nil)
	if err != nil {
		return err
	}
	_, err = wire.Decode(body)
	return err
}

// readGateFrame reads a frame between a member and a gate, whose encoding has to give the same bytes.
func readGateFrame(v *Vector) error {
	f, err := gatewire.Read(bytes.NewReader(v.Input), nil)
	if errors.Is(err, gatewire.ErrFrameSize) {
		err = fmt.Errorf("%w: %w", wire.ErrFrameSize, err) // both are called so
	}
	if err != nil {
		return err
	}
	return same(v.Input, func() ([]byte, error) { return gatewire.Append(nil, f) })
}

func readPreamble(v *Vector) error { return transport.CheckPreamble(v.Input) }

// readConnections reports whether the newer of two connections stays open, or the
// older one: nil or transport.ErrReplaced.
func readConnections(v *Vector, newer bool) error {
	var links [2]transport.Link
	for i, end := range []struct{ dialler, preamble Bytes }{{v.With["old_dialler"], v.With["old"]}, {v.With["new_dialler"], v.Input}} {
		links[i].Dialled = bytes.Equal(end.dialler, v.With["self"])
		if len(end.preamble) == 0 {
			continue
		}
		if err := links[i].Confirm(end.preamble); err != nil {
			return err
		}
	}
	choice := transport.Choose(bytes.Compare(v.With["self"], v.With["peer"]) < 0, links[0], links[1])
	stays := choice != transport.KeepOld
	if !newer {
		stays = choice != transport.TakeNew
	}
	if !stays {
		return transport.ErrReplaced
	}
	return nil
}

// readMessage decodes a message, whose encoding has to give the same bytes.
func readMessage(v *Vector) error {
	m, err := wire.Decode(v.Input)
	if err != nil {
		return err
	}
	return same(v.Input, func() ([]byte, error) { return wire.Encode(m) })
}

func readUpdate(v *Vector) error {
	u, err := update.Parse(v.Input)
	if err != nil {
		return err
	}
	return same(v.Input, u.Encode)
}

// readRingField reads what travels on the token of a ring, whose encoding has to give
// the same bytes.
func readRingField(v *Vector) error {
	b, err := ring.ParseBaton(v.Input)
	if err != nil {
		return err
	}
	return same(v.Input, func() ([]byte, error) { return ring.AppendBaton(nil, b), nil })
}

// readInvite reads the text of an invite.
func readInvite(v *Vector) error {
	i, err := invite.Parse(string(v.Input))
	if err != nil {
		return err
	}
	_, err = i.Format()
	return err
}

// readSegment reads all frames of a journal's segment.
func readSegment(v *Vector) error {
	r, err := journal.NewReader("segment", v.Input)
	for err == nil {
		_, err = r.Next()
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func readRecord(v *Vector) error {
	at, r, err := journal.Decode(v.Input)
	if err != nil {
		return err
	}
	return same(v.Input, func() ([]byte, error) { return journal.Encode(at, r) })
}

func readEnrolment[M enrolment.Message](v *Vector) error {
	m, err := enrolment.Decode[M](v.Input)
	if err != nil {
		return err
	}
	return same(v.Input, func() ([]byte, error) { return enrolment.Encode(m) })
}

// readEvidence reads and verifies evidence, with nothing but the group id.
func readEvidence(w *world, v *Vector) ([]byte, error) {
	e, err := evidence.Parse(v.Input)
	if err != nil {
		return nil, err
	}
	if _, err := e.Verify(w.group); err != nil {
		return nil, err
	}
	return nil, same(v.Input, e.Encode)
}

// same says that what was read is written as it stood.
func same(input []byte, encode func() ([]byte, error)) error {
	again, err := encode()
	if err == nil && !bytes.Equal(again, input) {
		return fmt.Errorf("encoded again it is %x", again)
	}
	return err
}

// readTLS reads the certificate that a peer shows in the TLS handshake, at the
// time that the vector names, in milliseconds since 1970.
func readTLS(w *world, v *Vector) ([]byte, error) {
	var chain []*x509.Certificate
	if len(v.Input) > 0 {
		c, err := x509.ParseCertificate(v.Input)
		if err != nil {
			return nil, err
		}
		chain = append(chain, c)
	}
	var at uint64
	for _, b := range v.With["time"] {
		at = at<<8 | uint64(b)
	}
	cert, err := transport.Identify(w.group, w.cas(), chain, clock.FromMillis(at))
	if err != nil {
		return nil, err
	}
	hash := cert.Hash()
	return hash[:], nil
}

// signerKey is the key of the member that an object claims to be of.
func (w *world) signerKey(id ident.Member, err error) (*signature.PublicKey, error) {
	if err != nil {
		return nil, err
	}
	key := w.members[id]
	if key == nil {
		return nil, fmt.Errorf("%w: %v", directory.ErrUnknown, id)
	}
	return key, nil
}

// kinds are the envelope's kinds by their names.
var kinds = func() map[string]envelope.Kind {
	named := make(map[string]envelope.Kind)
	for k := envelope.Certificate; k <= envelope.GateAnswer; k++ {
		named[k.String()] = k
	}
	return named
}()
