package audit

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// object is one signed object of a record on its way through the audit.
type object struct {
	kind  envelope.Kind
	raw   []byte
	print print

	// What reading it has given. known is a transfer that was read before with
	// the very same bytes; then nothing else is filled in.
	known     *transfer
	form      envelope.Unverified
	genesis   token.GenesisBody
	transfer  token.TransferBody
	answer    token.AnswerBody
	complaint token.ComplaintBody
	word      wire.AnswerBody
	err       error // why it is none

	verdict verdict
	// perhaps: nobody says of which kind it is. If it does not verify, it is of
	// another.
	perhaps bool
}

// verdict is what became of a signature.
type verdict uint8

const (
	unchecked verdict = iota // nobody asked
	strange                  // the certificate of its signer was not seen
	forged
	genuine
)

// hash is H of a token's object that was read.
func (o *object) hash() ident.Hash { return o.form.Hash() }

// signed are the objects in a record, in the order of its fields; empty ones are
// left out.
func signed(r journal.Record) []object {
	var list []object
	add := func(k envelope.Kind, raw []byte) {
		if len(raw) > 0 {
			list = append(list, object{kind: k, raw: raw})
		}
	}
	switch r := r.(type) {
	case *journal.Generated:
		add(envelope.Genesis, r.Genesis)
	case *journal.Held:
		add(envelope.Transfer, r.Transfer)
		add(envelope.Genesis, r.Genesis)
		add(envelope.Void, r.Void)
	case *journal.Sent:
		add(envelope.Transfer, r.Transfer)
	case *journal.Closed:
		add(envelope.Receipt, r.Receipt)
	case *journal.Reclaimed:
		add(envelope.Void, r.Void)
	case *journal.Voided:
		add(envelope.Transfer, r.Transfer)
		add(envelope.Void, r.Void)
	case *journal.Known:
		add(knownKinds[r.What], r.Object)
	case *journal.Complained:
		add(envelope.Complaint, r.Complaint)
	case *journal.Told:
		add(envelope.GateAnswer, r.Answer)
	case *journal.Evidence:
		list = exhibited(r.Objects)
	}
	return list
}

// maxExhibited is how many objects of an evidence record are looked at: as many
// as evidence has.
const maxExhibited = 2

// exhibited are objects of a token, of whatever kind they are.
func exhibited(raws [][]byte) (list []object) {
	for _, raw := range raws[:min(len(raws), maxExhibited)] {
		for _, k := range []envelope.Kind{envelope.Genesis, envelope.Transfer, envelope.Void, envelope.Receipt} {
			list = append(list, object{kind: k, raw: raw, perhaps: true})
		}
	}
	return list
}

// knownKinds are what a Known record's object is signed as; 0 for what this
// version does not know.
var knownKinds = map[journal.Knowledge]envelope.Kind{
	journal.KnownCertificate: envelope.Certificate, journal.KnownEndpoint: envelope.Endpoint,
	journal.KnownRevocation: envelope.Revocation, journal.KnownConfiguration: envelope.Configuration,
	journal.KnownLeave: envelope.Leave, journal.KnownFailure: envelope.Failure,
	journal.KnownAuthority: envelope.Authority, journal.KnownGate: envelope.Certificate,
}

// readObject fills in what the object says. It only reads the auditor, so that many
// objects can be read at once.
func (in *intake) readObject(o *object) {
	o.print = printOf(o.kind, o.raw)
	switch o.kind {
	case envelope.Transfer:
		if o.known = in.prints[o.print]; o.known == nil {
			o.open(in.group)
		}
	case envelope.Genesis:
		if _, seen := in.geneses[o.print]; seen {
			o.verdict = genuine
		} else {
			o.open(in.group)
		}
	case envelope.Receipt, envelope.Void:
		o.open(in.group)
	case envelope.Complaint:
		if in.others[o.print] {
			o.verdict = genuine
		} else {
			o.open(in.group)
		}
	case envelope.GateAnswer:
		o.word, o.form, o.err = wire.ReadAnswer(in.group, o.raw)
	case envelope.Endpoint, envelope.Failure:
		if in.others[o.print] {
			o.verdict = genuine
			return
		}
		o.form, o.err = envelope.Parse(envelope.Domain{Version: certificate.Version, Group: in.group, Kind: o.kind}, o.raw)
	default: // what the survey has verified, or not
		in.readSurveyed(o)
	}
}

func (o *object) open(g ident.Group) {
	if o.form, o.err = token.Open(g, o.kind, o.raw); o.err != nil {
		return
	}
	switch o.kind {
	case envelope.Genesis:
		o.genesis, o.err = token.ReadGenesis(o.form)
	case envelope.Transfer:
		o.transfer, o.err = token.ReadTransfer(o.form)
	case envelope.Complaint:
		o.complaint, o.err = token.ReadComplaint(o.form)
	default:
		o.answer, o.err = token.ReadAnswer(o.form)
	}
}

// readSurveyed judges what Trust has seen already.
func (in *intake) readSurveyed(o *object) {
	if in.trust.good[o.print] {
		o.verdict = genuine
		return
	}
	o.form, o.err = envelope.Parse(envelope.Domain{Version: certificate.Version, Group: in.group, Kind: o.kind}, o.raw)
	switch {
	case o.err != nil:
	case o.kind == envelope.Leave && in.trust.Key(o.form.KeyID()) == nil,
		o.kind != envelope.Leave && in.trust.cas.Key(o.form.KeyID()) == nil && !ownKey(o):
		o.verdict = strange
	default:
		o.verdict = forged
	}
}

// ownKey reports whether a statement about a CA key is said to prove itself.
func ownKey(o *object) bool { return o.kind == envelope.Authority }

// signer is the key that the object has to verify with, or nil.
func (in *intake) signer(o *object) *signature.PublicKey {
	if o.kind == envelope.GateAnswer {
		return in.trust.gates[o.form.KeyID()].Key()
	}
	return in.trust.Key(o.form.KeyID())
}

// Extract finds in the body of a frame the object that an exhibit is about.
func Extract(body []byte, e Exhibit) ([]byte, error) {
	_, r, err := journal.Decode(body)
	if err != nil {
		return nil, err
	}
	for _, o := range signed(r) {
		if o.kind == e.Kind && printOf(o.kind, o.raw) == e.print {
			return o.raw, nil
		}
	}
	return nil, fmt.Errorf("%w: %v in record %d", ErrGone, e.Kind, e.Seq)
}
