package vector

import (
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/evidence"
	gatewire "github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/invite"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/keeper"
	"github.com/wandertoken/wander/protocol/policy/quorum"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// names are the errors that can be outcomes or causes, as refusals.md
// and enrolment.md call them. The last one is that of a stream
// which ends within a frame.
var names = map[string]error{
	"canonical.ErrTooLarge": canonical.ErrTooLarge, "canonical.ErrTooDeep": canonical.ErrTooDeep,
	"canonical.ErrTooMany": canonical.ErrTooMany, "canonical.ErrTruncated": canonical.ErrTruncated,
	"canonical.ErrTrailing": canonical.ErrTrailing, "canonical.ErrIndefinite": canonical.ErrIndefinite,
	"canonical.ErrNotShortest": canonical.ErrNotShortest, "canonical.ErrUnsorted": canonical.ErrUnsorted,
	"canonical.ErrUTF8": canonical.ErrUTF8, "canonical.ErrTag": canonical.ErrTag,
	"canonical.ErrType": canonical.ErrType, "canonical.ErrNotCanonical": canonical.ErrNotCanonical,
	"canonical.ErrExtension": canonical.ErrExtension,

	"signature.ErrKeyEncoding": signature.ErrKeyEncoding, "signature.ErrSmallOrder": signature.ErrSmallOrder,
	"signature.ErrEncoding": signature.ErrEncoding,
	"signature.ErrMismatch": signature.ErrMismatch,

	"envelope.ErrTag": envelope.ErrTag, "envelope.ErrHeader": envelope.ErrHeader,
	"envelope.ErrPayload": envelope.ErrPayload, "envelope.ErrTooLarge": envelope.ErrTooLarge,
	"envelope.ErrTruncated": envelope.ErrTruncated, "envelope.ErrTrailing": envelope.ErrTrailing,
	"envelope.ErrSignatureSize": envelope.ErrSignatureSize,

	"certificate.ErrMalformed": certificate.ErrMalformed, "certificate.ErrGroup": certificate.ErrGroup,
	"certificate.ErrUnknownCA": certificate.ErrUnknownCA, "certificate.ErrSignature": certificate.ErrSignature,
	"certificate.ErrSigner": certificate.ErrSigner, "certificate.ErrSelf": certificate.ErrSelf,
	"certificate.ErrName": certificate.ErrName, "certificate.ErrSerial": certificate.ErrSerial,
	"certificate.ErrKey": certificate.ErrKey, "certificate.ErrRole": certificate.ErrRole, "certificate.ErrValidity": certificate.ErrValidity,
	"certificate.ErrMode": certificate.ErrMode, "certificate.ErrAddress": certificate.ErrAddress,
	"certificate.ErrTooMany": certificate.ErrTooMany, "certificate.ErrAttached": certificate.ErrAttached,
	"ident.ErrClass": ident.ErrClass, "certificate.ErrReason": certificate.ErrReason, "certificate.ErrVersion": certificate.ErrVersion,

	"group.ErrMalformed": group.ErrMalformed, "group.ErrGroup": group.ErrGroup, "group.ErrKey": group.ErrKey,
	"group.ErrValidity": group.ErrValidity, "group.ErrVersion": group.ErrVersion, "group.ErrName": group.ErrName,
	"group.ErrOutOfRange": group.ErrOutOfRange, "group.ErrResources": group.ErrResources,
	"group.ErrParameter": group.ErrParameter, "group.ErrWindows": group.ErrWindows, "group.ErrGate": group.ErrGate, "group.ErrAuthorities": group.ErrAuthorities,
	"policy.ErrOutOfRange": policy.ErrOutOfRange, "policy.ErrPreset": policy.ErrPreset,
	"policy.ErrUnused": policy.ErrUnused, "catalog.ErrUnknownPolicy": catalog.ErrUnknownPolicy,

	"ring.ErrBaton": ring.ErrBaton, "ring.ErrBody": ring.ErrBody,
	"wandering.ErrField": wandering.ErrField, "wandering.ErrBody": wandering.ErrBody,
	"keeper.ErrBody": keeper.ErrBody,
	"quorum.ErrBody": quorum.ErrBody,

	"token.ErrMalformed": token.ErrMalformed, "token.ErrSignature": token.ErrSignature,
	"token.ErrUnknownSigner": token.ErrUnknownSigner, "token.ErrSigner": token.ErrSigner,
	"token.ErrField": token.ErrField, "token.ErrChain": token.ErrChain,

	"permit.ErrMalformed": permit.ErrMalformed, "permit.ErrGroup": permit.ErrGroup,
	"permit.ErrCertificates": permit.ErrCertificates, "permit.ErrResource": permit.ErrResource, "permit.ErrSlot": permit.ErrSlot,
	"permit.ErrStatement": permit.ErrStatement, "permit.ErrSignature": permit.ErrSignature,
	"permit.ErrPresenter": permit.ErrPresenter, "permit.ErrTitle": permit.ErrTitle, "permit.ErrGate": permit.ErrGate,
	"permit.ErrExporter": permit.ErrExporter, "permit.ErrNumber": permit.ErrNumber,

	"directory.ErrUnknown": directory.ErrUnknown,

	"wire.ErrFrame": gatewire.ErrFrame, "wire.ErrFrameType": gatewire.ErrFrameType, "wire.ErrAnswer": gatewire.ErrAnswer,
	"wire.ErrAnswerKey": gatewire.ErrAnswerKey, "wire.ErrSignature": gatewire.ErrSignature,
	"wire.ErrFrameSize": wire.ErrFrameSize, "wire.ErrMalformed": wire.ErrMalformed,
	"wire.ErrMessageType": wire.ErrMessageType, "wire.ErrLimit": wire.ErrLimit,
	"update.ErrMalformed": update.ErrMalformed, "update.ErrKind": update.ErrKind, "update.ErrTooLarge": update.ErrTooLarge,

	"transport.ErrProtocol": transport.ErrProtocol, "transport.ErrReplaced": transport.ErrReplaced, "transport.ErrNoCertificate": transport.ErrNoCertificate,
	"transport.ErrNotMember": transport.ErrNotMember, "transport.ErrCertificate": transport.ErrCertificate,
	"transport.ErrOtherGroup": transport.ErrOtherGroup, "transport.ErrExpired": transport.ErrExpired,
	"transport.ErrNotYetValid": transport.ErrNotYetValid, "transport.ErrKeyMismatch": transport.ErrKeyMismatch,

	"invite.ErrNotInvite": invite.ErrNotInvite, "invite.ErrVersion": invite.ErrVersion,
	"invite.ErrMangled": invite.ErrMangled, "invite.ErrTooLong": invite.ErrTooLong, "invite.ErrMalformed": invite.ErrMalformed,
	"enrolment.ErrMalformed": enrolment.ErrMalformed, "enrolment.ErrVersion": enrolment.ErrVersion,

	"journal.ErrDamaged": journal.ErrDamaged, "journal.ErrTorn": journal.ErrTorn, "journal.ErrMagic": journal.ErrMagic,
	"journal.ErrVersion": journal.ErrVersion, "journal.ErrSegmentHeader": journal.ErrSegmentHeader,
	"journal.ErrFrameHeader": journal.ErrFrameHeader, "journal.ErrFrameBody": journal.ErrFrameBody,
	"journal.ErrFrameType": journal.ErrFrameType, "journal.ErrFrameSize": journal.ErrFrameSize,
	"journal.ErrSequence": journal.ErrSequence, "journal.ErrCheckpoint": journal.ErrCheckpoint,
	"journal.ErrRecord": journal.ErrRecord, "journal.ErrRecordKind": journal.ErrRecordKind,

	"evidence.ErrMalformed": evidence.ErrMalformed, "evidence.ErrKind": evidence.ErrKind, "evidence.ErrGroup": evidence.ErrGroup,
	"evidence.ErrAuthority": evidence.ErrAuthority, "evidence.ErrCertificate": evidence.ErrCertificate,
	"evidence.ErrAccused": evidence.ErrAccused, "evidence.ErrObject": evidence.ErrObject,
	"evidence.ErrOrder": evidence.ErrOrder, "evidence.ErrNoProof": evidence.ErrNoProof,

	"io.ErrUnexpectedEOF": io.ErrUnexpectedEOF,
}

// nameOf is how each error of names is called.
var nameOf = func() map[error]string {
	inverse := make(map[error]string, len(names))
	for name, err := range names {
		inverse[err] = name
	}
	return inverse
}()

// Names are all errors that an outcome or a cause can name, in order.
func Names() []string { return slices.Sorted(maps.Keys(names)) }

// outcome is what an error is called, and what it wraps: the first error of
// names that is found in its tree, and the last one if that is another. An error
// without a name has the outcome "".
func outcome(err error) (name, cause string) {
	if err == nil {
		return Valid, ""
	}
	var found []string
	walk(err, func(e error) {
		if n := nameOf[e]; n != "" {
			found = append(found, n)
		}
	})
	if len(found) == 0 {
		return "", ""
	}
	if last := found[len(found)-1]; last != found[0] {
		cause = last
	}
	return found[0], cause
}

// walk visits an error and all that it wraps, the wrapping one first.
func walk(err error, visit func(error)) {
	if hashable(err) {
		visit(err)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			walk(inner, visit)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			walk(inner, visit)
		}
	}
}

// hashable says whether an error can be looked up: some libraries' are
// structures that cannot.
func hashable(err error) bool { return reflect.TypeOf(err).Comparable() }
