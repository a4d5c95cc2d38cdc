package enrolment

import (
	"cmp"
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/invite"
	"github.com/wandertoken/wander/protocol/wire"
)

// messageVersion is that of the messages. The paths have it too.
const messageVersion = 1

// Where a service takes requests: POST with a body of one message, answered
// with 200 and a message, with 204 where there is nothing to say, or with a
// Refusal.
const (
	PathEnrol = "/v1/enrol" // EnrolRequest, EnrolAnswer; needs no certificate
	PathRenew = "/v1/renew" // no body, RenewAnswer
	PathSync  = "/v1/sync"  // SyncRequest, SyncAnswer
	PathLeave = "/v1/leave" // LeaveRequest, 204

	PathEvidence = "/v1/evidence" // EvidenceRequest, 204
)

// ContentType is the media type of the messages (RFC 8949 §9.5).
const ContentType = "application/cbor"

// Limits of the messages.
const (
	// MaxEnrolRequest bounds what a stranger can make the service read, in
	// bytes: one signed object and a few fixed fields.
	MaxEnrolRequest = wire.MaxObject + 128
	// MaxRequest bounds what a member can: its endpoint record and MaxLeaves
	// statements of the usual size, about 250 bytes.
	MaxRequest = 32 << 10
	// MaxEvidenceRequest bounds a request with evidence, in bytes: the largest
	// there is, and the heads around it.
	MaxEvidenceRequest = evidence.MaxSize + 16
	// MaxAnswer bounds an answer, in bytes: what a service can make a client
	// hold.
	MaxAnswer = 4 << 20
	// MaxRevocations bounds the revocations of one answer. With those of the
	// largest size it stays below MaxAnswer; the rest comes with the next Sync.
	MaxRevocations = 4096
	// MaxLeaves bounds the leaves of one message. Leaves travel among the
	// members; the authority only has to hear of each once.
	MaxLeaves = 64
	// MaxPeers bounds the members that an answer names. A newcomer meets the
	// others through any one of them, so a few that do not all fail together
	// are enough.
	MaxPeers = 8
)

// Publication is what the authority has made known about the group, as far as
// it is new to whoever asked. Nothing in it is verified here but by Enrol and
// Client, which verify the keys and the configuration.
type Publication struct {
	_             struct{} `cbor:",toarray"`
	Authorities   [][]byte // statements about the CA keys, each vouched for by one before it, the first by itself
	Configuration []byte   // empty: no newer one
	Revocations   [][]byte // ascending by version
	Leaves        [][]byte
	More          bool // there are more revocations: ask again
}

func (p Publication) validate() error {
	return cmp.Or(
		count("authorities", len(p.Authorities), 1, group.MaxAuthorities),
		objects("authority", p.Authorities),
		size("configuration", p.Configuration, 0, envelope.MaxSize),
		count("revocations", len(p.Revocations), 0, MaxRevocations),
		objects("revocation", p.Revocations),
		count("leaves", len(p.Leaves), 0, MaxLeaves),
		objects("leave", p.Leaves),
	)
}

// Peer is a member that was heard of lately.
type Peer struct {
	_           struct{} `cbor:",toarray"`
	Certificate []byte
	Endpoint    []byte
}

func validatePeers(peers []Peer) error {
	err := count("peers", len(peers), 0, MaxPeers)
	for _, p := range peers {
		err = cmp.Or(err, object("certificate", p.Certificate), object("endpoint", p.Endpoint))
	}
	return err
}

// EnrolRequest asks for a first certificate.
type EnrolRequest struct {
	_       struct{}            `cbor:",toarray"`
	ID      [invite.IDSize]byte // of the invite
	Secret  [invite.SecretSize]byte
	Request []byte // a certificate.SignedRequest
}

func (r EnrolRequest) validate() error { return object("request", r.Request) }
func (EnrolRequest) limits() canonical.Limits {
	return canonical.Limits{MaxBytes: MaxEnrolRequest, MaxDepth: 2, MaxItems: 8}
}

// EnrolAnswer is all that a newcomer needs.
type EnrolAnswer struct {
	_           struct{} `cbor:",toarray"`
	Certificate []byte
	Publication Publication // always with a configuration
	Peers       []Peer
	Others      uint64 // how many other members have a valid certificate
}

func (a EnrolAnswer) validate() error {
	return cmp.Or(
		object("certificate", a.Certificate), a.Publication.validate(),
		size("configuration", a.Publication.Configuration, 1, envelope.MaxSize), validatePeers(a.Peers),
	)
}
func (EnrolAnswer) limits() canonical.Limits { return answerLimits }

// answerLimits leave room for the lists of the longest answer.
var answerLimits = canonical.Limits{
	MaxBytes: MaxAnswer, MaxDepth: 5,
	MaxItems: 32 + group.MaxAuthorities + MaxRevocations + MaxLeaves + 3*MaxPeers,
}

// RenewAnswer is a member's newest certificate.
type RenewAnswer struct {
	_           struct{} `cbor:",toarray"`
	Certificate []byte
	Authorities [][]byte // as in a Publication: the key that signed it may be new
}

func (a RenewAnswer) validate() error {
	return cmp.Or(
		object("certificate", a.Certificate), objects("authority", a.Authorities),
		count("authorities", len(a.Authorities), 1, group.MaxAuthorities),
	)
}
func (RenewAnswer) limits() canonical.Limits { return answerLimits }

// SyncRequest says what a member has, and where it is.
type SyncRequest struct {
	_             struct{} `cbor:",toarray"`
	Configuration uint64   // the version that it has; 0 for none
	Revocations   uint64   // it has all up to this version
	Endpoint      []byte   // its own endpoint record, or empty
	Leaves        [][]byte // that it knows of
}

func (r SyncRequest) validate() error {
	return cmp.Or(
		size("endpoint", r.Endpoint, 0, wire.MaxObject),
		count("leaves", len(r.Leaves), 0, MaxLeaves), objects("leave", r.Leaves),
	)
}
func (SyncRequest) limits() canonical.Limits {
	return canonical.Limits{MaxBytes: MaxRequest, MaxDepth: 3, MaxItems: 16 + MaxLeaves}
}

// SyncAnswer is what is newer.
type SyncAnswer struct {
	_           struct{} `cbor:",toarray"`
	Publication Publication
	Peers       []Peer
}

func (a SyncAnswer) validate() error        { return cmp.Or(a.Publication.validate(), validatePeers(a.Peers)) }
func (SyncAnswer) limits() canonical.Limits { return answerLimits }

// LeaveRequest takes a member out of the group. Who brings it does not matter:
// the leaver signed it.
type LeaveRequest struct {
	_     struct{} `cbor:",toarray"`
	Leave []byte
}

func (r LeaveRequest) validate() error { return object("leave", r.Leave) }
func (LeaveRequest) limits() canonical.Limits {
	return canonical.Limits{MaxBytes: MaxRequest, MaxDepth: 2, MaxItems: 4}
}

// EvidenceRequest brings proof against some member. Who brings it does not
// matter: it proves itself. See package evidence.
type EvidenceRequest struct {
	_        struct{} `cbor:",toarray"`
	Evidence []byte
}

func (r EvidenceRequest) validate() error { return size("evidence", r.Evidence, 1, evidence.MaxSize) }
func (EvidenceRequest) limits() canonical.Limits {
	return canonical.Limits{MaxBytes: MaxEvidenceRequest, MaxDepth: 2, MaxItems: 4}
}

// Message is one of the messages of this package.
type Message interface {
	EnrolRequest | EnrolAnswer | RenewAnswer | SyncRequest | SyncAnswer | LeaveRequest | EvidenceRequest | Refusal
	validate() error
	limits() canonical.Limits
}

// message is what travels: the version apart from what it is the version of.
type message struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	Body    canonical.Raw
}

// Encode is the message as it travels. Error: ErrMalformed when a limit is
// exceeded.
func Encode[M Message](m M) ([]byte, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	body, err := canonical.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	raw, err := canonical.Marshal(message{Version: messageVersion, Body: body})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if most := m.limits().MaxBytes; len(raw) > most {
		return nil, fmt.Errorf("%w: %d bytes, must be at most %d", ErrMalformed, len(raw), most)
	}
	return raw, nil
}

// Decode reads what Encode wrote, and verifies no signature. Errors:
// ErrVersion, ErrMalformed.
func Decode[M Message](raw []byte) (M, error) {
	var (
		m, none M
		outer   message
		limits  = m.limits()
	)
	if err := canonical.Unmarshal(raw, &outer, limits); err != nil {
		return none, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if outer.Version != messageVersion {
		return none, fmt.Errorf("%w: %d", ErrVersion, outer.Version)
	}
	if err := canonical.Unmarshal(outer.Body, &m, limits); err != nil {
		return none, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := m.validate(); err != nil {
		return none, err
	}
	return m, nil
}

func object(name string, raw []byte) error { return size(name, raw, 1, wire.MaxObject) }

func objects(name string, list [][]byte) error {
	for _, raw := range list {
		if err := object(name, raw); err != nil {
			return err
		}
	}
	return nil
}

func size(name string, raw []byte, least, most int) error {
	if len(raw) < least || len(raw) > most {
		return fmt.Errorf("%w: %s of %d bytes, must have %d to %d", ErrMalformed, name, len(raw), least, most)
	}
	return nil
}

func count(name string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%w: %d %s, must be %d to %d", ErrMalformed, n, name, least, most)
	}
	return nil
}
