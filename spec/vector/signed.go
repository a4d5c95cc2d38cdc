package vector

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
)

// hashed is every signed object.
type hashed interface{ Hash() ident.Hash }

// hashOf is the hash of an object that was accepted.
func hashOf[O hashed](o O, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	h := o.Hash()
	return h[:], nil
}

func readAuthority(w *world, v *Vector) ([]byte, error) {
	return hashOf(group.ParseAuthority(w.group, v.Input, w.cas()))
}

// readConfiguration looks also whether a member could adopt it (O-5).
func readConfiguration(w *world, v *Vector) ([]byte, error) {
	c, err := group.ParseConfig(w.group, v.Input, w.cas())
	if err != nil {
		return nil, err
	}
	for _, r := range c.Settings().Resources {
		if err := catalog.Check(r.Policy, r.Params); err != nil {
			return nil, err
		}
	}
	return hashOf(c, nil)
}

func readCertificate(w *world, v *Vector) ([]byte, error) {
	return hashOf(certificate.Parse(w.group, v.Input, w.cas()))
}

func readGateCertificate(w *world, v *Vector) ([]byte, error) {
	return hashOf(certificate.ParseGate(w.group, v.Input, w.cas()))
}

func readRevocation(w *world, v *Vector) ([]byte, error) {
	return hashOf(certificate.ParseRevocation(w.group, v.Input, w.cas()))
}

// bySigner reads an object of a member, whose key the key id of the envelope
// names.
func bySigner[O hashed](w *world, raw []byte,
	signer func(ident.Group, []byte) (ident.Member, error),
	parse func(ident.Group, []byte, *signature.PublicKey) (O, error),
) ([]byte, error) {
	key, err := w.signerKey(signer(w.group, raw))
	if err != nil {
		return nil, err
	}
	return hashOf(parse(w.group, raw, key))
}

func readEndpoint(w *world, v *Vector) ([]byte, error) {
	return bySigner(w, v.Input, certificate.EndpointSigner, certificate.ParseEndpoint)
}

func readLeave(w *world, v *Vector) ([]byte, error) {
	return bySigner(w, v.Input, certificate.LeaveSigner, certificate.ParseLeave)
}

func readFailure(w *world, v *Vector) ([]byte, error) {
	return bySigner(w, v.Input, certificate.FailureSigner, certificate.ParseFailure)
}

func readRequest(w *world, v *Vector) ([]byte, error) {
	return hashOf(certificate.ParseRequest(w.group, v.Input))
}

// readGateAnswer reads an answer on a connection with a gate that has Ben's key.
func readGateAnswer(w *world, v *Vector) ([]byte, error) {
	gate := w.parties["ben"]
	if gate == nil {
		return nil, fmt.Errorf("%w: nobody is called ben", ErrParties)
	}
	return hashOf(wire.ParseAnswer(w.group, v.Input, gate.private.Public()))
}

func (w *world) verifier() *token.Verifier { return token.NewVerifier(w.group, w) }

func readGenesis(w *world, v *Vector) ([]byte, error) { return hashOf(w.verifier().Genesis(v.Input)) }

func readTransfer(w *world, v *Vector) ([]byte, error) { return hashOf(w.verifier().Transfer(v.Input)) }

func readComplaint(w *world, v *Vector) ([]byte, error) {
	return hashOf(w.verifier().Complaint(v.Input))
}

func readAnswer(w *world, v *Vector) ([]byte, error) {
	return hashOf(w.verifier().Answer(verdicts[v.Object], v.Input))
}

func readStatement(w *world, v *Vector) ([]byte, error) {
	return hashOf(permit.ParseStatement(w.group, v.Input, w))
}

// permitTime is when permits of vectors are verified: within the certificates' first minute.
var permitTime = time.Unix(1772366460, 0)

// permit verifies one, in a group that has one slot of "ftp".
func (w *world) permit(raw []byte) (permit.Permit, error) {
	f, err := permit.Decode(raw)
	if err != nil {
		return permit.Permit{}, err
	}
	return permit.Verify(f, permit.Conditions{
		Group: w.group, Authorities: w.cas(), At: permitTime,
		Settings: group.Settings{Resources: []group.Resource{{Name: "ftp", Slots: 1}}},
	})
}

func readPermit(w *world, v *Vector) ([]byte, error) {
	_, err := w.permit(v.Input)
	return nil, err
}

// readPresentation reads a statement that comes with a permit, for a session.
func readPresentation(w *world, v *Vector) ([]byte, error) {
	p, err := w.permit(v.With["permit"])
	if err != nil {
		return nil, err
	}
	s := permit.Session{Gate: [envelope.KeyIDSize]byte(v.With["gate"]), Exporter: [permit.ExporterSize]byte(v.With["exporter"])}
	for _, b := range v.With["number"] {
		s.Number = s.Number<<8 | uint64(b)
	}
	return hashOf(p.Statement(v.Input, s))
}

var verdicts = map[string]token.Verdict{"receipt": token.Receipt, "void": token.Void, "unknown": token.Unknown}

// readSuccession reads a transfer that is to follow from the title of genesis,
// previous transfer and void that come with it (O-10, O-11).
func readSuccession(w *world, v *Vector) ([]byte, error) {
	verifier := w.verifier()
	var title token.Title
	var err error
	if title.Genesis, err = verifier.Genesis(v.With["genesis"]); err != nil {
		return nil, err
	}
	if raw := v.With["previous"]; len(raw) > 0 {
		if title.Transfer, err = verifier.Transfer(raw); err != nil {
			return nil, err
		}
	}
	if raw := v.With["void"]; len(raw) > 0 {
		if title.Void, err = verifier.Answer(token.Void, raw); err != nil {
			return nil, err
		}
	}
	next, err := verifier.Transfer(v.Input)
	if err != nil {
		return nil, err
	}
	if err := title.Check(); err != nil {
		return nil, err
	}
	return hashOf(next, title.Admits(next))
}
