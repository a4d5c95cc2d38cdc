package spec_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/wire"
)

// refusalRow is one line of the table of refusals.md: what is refused, by which
// errors, what a peer or a client is told, the code with which its connection is
// closed, and what follows here.
type refusalRow struct{ what, errors, told, code, follows string }

// closes is the code of the transport, as the table has it.
func closes(c transport.Code) string { return fmt.Sprint(uint64(c)) }

// quiet is what has no answer and leaves the connection as it is.
func quiet(what, follows string, errors ...string) refusalRow {
	return refusalRow{what, quotedList(errors), "nothing", "", follows}
}

// local is what no peer sees.
func local(what, follows string, errors ...string) refusalRow {
	return refusalRow{what, quotedList(errors), "", "", follows}
}

func quotedList(names []string) string {
	for i, name := range names {
		names[i] = "`" + name + "`"
	}
	return strings.Join(names, ", ")
}

// refusalRows are those without a number on the wire.
func refusalRows() []refusalRow {
	return []refusalRow{
		quiet("encoding (**C-1** to **C-5**)", "the error of the layer above wraps it",
			"canonical.ErrTooLarge", "canonical.ErrTooDeep", "canonical.ErrTooMany", "canonical.ErrTruncated", "canonical.ErrTrailing", "canonical.ErrIndefinite", "canonical.ErrNotShortest", "canonical.ErrUnsorted", "canonical.ErrUTF8", "canonical.ErrTag", "canonical.ErrType", "canonical.ErrNotCanonical", "canonical.ErrExtension"),
		quiet("public key (**S-1**)", "the object is refused",
			"signature.ErrKeyEncoding", "signature.ErrSmallOrder"),
		local("seed of a private key", "`keyfile.ErrKey`",
			"signature.ErrSeed"),
		quiet("signature (**S-2**, **S-3**)", "`envelope.ErrSignature`",
			"signature.ErrEncoding", "signature.ErrMismatch"),
		quiet("envelope (**E-1**)", "the object is refused as malformed",
			"envelope.ErrTag", "envelope.ErrHeader", "envelope.ErrPayload", "envelope.ErrTooLarge", "envelope.ErrTruncated", "envelope.ErrTrailing", "envelope.ErrSignatureSize", "envelope.ErrKind"),
		quiet("signature of an envelope", "`certificate.ErrSignature`, `token.ErrSignature`",
			"envelope.ErrSignature"),
		quiet("object about a member (protocol.md, 6.4 to 6.6, 6.11 and 6.12; `request`)", "not taken; a fault (**D-30**) unless it is `certificate.ErrUnknownCA`",
			"certificate.ErrMalformed", "certificate.ErrTooLarge", "certificate.ErrGroup", "certificate.ErrUnknownCA", "certificate.ErrSignature", "certificate.ErrSigner", "certificate.ErrSelf", "certificate.ErrName", "certificate.ErrSerial", "certificate.ErrKey", "certificate.ErrRole", "certificate.ErrValidity", "certificate.ErrMode", "certificate.ErrAddress", "certificate.ErrTooMany", "certificate.ErrAttached", "certificate.ErrReason", "certificate.ErrVersion"),
		local("certificate of the gate that a member dials (gate.md)", "no session", "certificate.ErrOtherGate"),
		{"certificate not valid now", quotedList([]string{"certificate.ErrExpired", "certificate.ErrNotYetValid"}), "in the handshake, TLS alert 42", "", "not eligible (**D-4**); no handshake (**T-4**)"},
		quiet("object about the group (protocol.md, 6.2, 6.3)", "the configuration that holds stays (**D-29**); counted and reported. `group.ErrOlder` is outdated; `group.ErrMalformed` and a signature that does not hold are faults",
			"group.ErrMalformed", "group.ErrGroup", "group.ErrKey", "group.ErrValidity", "group.ErrVersion", "group.ErrOlder", "group.ErrSameVersion", "group.ErrName", "group.ErrOutOfRange", "group.ErrFraction", "group.ErrResources", "group.ErrParameter", "group.ErrWindows", "group.ErrGate", "policy.ErrOutOfRange", "policy.ErrPreset", "policy.ErrUnused", "catalog.ErrUnknownPolicy"),
		local("group file (**K-3**)", "the member does not start",
			"group.ErrNoAuthority", "group.ErrNoConfiguration", "group.ErrTwice", "group.ErrTooManyAuthorities", "group.ErrBlock"),
		local("key file or block (**K-1**, **K-2**)", "the member does not start",
			"keyfile.ErrFormat", "keyfile.ErrTooLarge", "keyfile.ErrTooMany", "keyfile.ErrType", "keyfile.ErrNoKey", "keyfile.ErrKey", "keyfile.ErrPassphraseNeeded", "keyfile.ErrPassphrase", "keyfile.ErrWork", "keyfile.ErrMode"),
		quiet("field of a `ring` token (**P-18**)", "the token goes round once",
			"ring.ErrBaton"),
		quiet("field of a walking token (**P-33**)", "as none: the token has just been made",
			"wandering.ErrField"),
		quiet("body of a POLICY (**P-19**, **P-34**, **P-59**, **P-68**)", "ignored",
			"keeper.ErrBody", "quorum.ErrBody", "ring.ErrBody", "wandering.ErrBody"),
		quiet("object of a token (protocol.md, 6.7 to 6.9)", "dropped; counted as `malformed object`, `signature`, `signer`, `policy field`",
			"token.ErrMalformed", "token.ErrSignature", "token.ErrSigner", "token.ErrField"),
		{"its signer's certificate is missing", "`token.ErrUnknownSigner`", "NEED, to OFFER and TRANSFER", "", "dropped otherwise; counted as `unknown signer`"},
		quiet("parts that do not belong together (**O-10**, **O-11**)", "dropped; counted as `chain`",
			"token.ErrChain"),
		local("permit (**V-1** to **V-10**)", "nothing opens for it; `wander permit verify` says why",
			"permit.ErrMalformed", "permit.ErrGroup", "permit.ErrCertificates", "permit.ErrResource", "permit.ErrSlot", "permit.ErrHolder", "permit.ErrSigner"),
		local("file of a permit (**V-12**)", "the same",
			"permit.ErrText"),
		local("statement (**V-13** to **V-16**)", "the session is refused",
			"permit.ErrStatement", "permit.ErrSignature", "permit.ErrPresenter", "permit.ErrTitle", "permit.ErrGate", "permit.ErrExporter", "permit.ErrNumber"),
		{"frame or answer of a gate (**W-3**, **W-12**)", "`wire.ErrFrameSize`, `wire.ErrFrame`, `wire.ErrFrameType`, `wire.ErrAnswer`, `wire.ErrAnswerKey`, `wire.ErrSignature`", "nothing", closes(transport.CodeProtocol), "the connection is gone"},
		quiet("transfer that is not the sender's, or not for this member (**H-43**)", "dropped; counted as `address`",
			"handoff.ErrAddress"),
		quiet("transfer on a forgotten reservation of a peer that has left twice the bound of unsettled transfers behind (**H-58**)", "dropped; counted as `unsettled`",
			"handoff.ErrUnsettled"),
		quiet("transfer while a member waits for greetings (**H-72**)", "dropped, and asked for by a HELLO later; counted as `recalling`",
			"handoff.ErrPaused"),
		{"frame (**F-1**)", "`wire.ErrFrameSize`, `transport.ErrProtocol`", "nothing", closes(transport.CodeProtocol), "the connection is gone"},
		quiet("message (**F-3**)", "dropped; counted as `malformed`",
			"wire.ErrMalformed", "wire.ErrMessageType", "wire.ErrLimit"),
		quiet("membership update (**M-10**)", "ends the list, and is a fault; one of an unknown kind is skipped",
			"update.ErrMalformed", "update.ErrKind", "update.ErrTooLarge"),
		quiet("member in a directory", "no part in anything new (**D-4**); what is about it is not kept",
			"directory.ErrUnknown", "directory.ErrRevoked", "directory.ErrLeft", "directory.ErrFailed", "directory.ErrRetired", "directory.ErrFull", "directory.ErrForgotten"),
		quiet("entry of a page (**D-18**)", "the object is skipped, and it is a fault",
			"directory.ErrEntry"),
		{"TLS peer (**T-4**)", quotedList([]string{"transport.ErrNoCertificate", "transport.ErrNotMember", "transport.ErrCertificate", "transport.ErrOtherGroup", "transport.ErrExpired", "transport.ErrNotYetValid", "transport.ErrKeyMismatch", "transport.ErrSelf", "transport.ErrWrongMember", "transport.ErrHandshake"}), "TLS alert 42 (bad_certificate), QUIC error 0x12a", "", "no connection"},
		local("connection ended without a code, or did not come about", "offers to the peer have failed; transfers wait",
			"transport.ErrUnresponsive", "transport.ErrRestarted", "transport.ErrRefused", "transport.ErrLost", "transport.ErrNoAddress", "transport.ErrBackOff", "transport.ErrBusy", "transport.ErrClosed"),
		local("settings of the transport", "the member does not start",
			"transport.ErrConfig"),
		local("journal (**J-6**, **J-7**)", "the member does not start; `journal.ErrDamaged` with one of the others",
			"journal.ErrDamaged", "journal.ErrMagic", "journal.ErrVersion", "journal.ErrSegmentHeader", "journal.ErrFrameHeader", "journal.ErrFrameBody", "journal.ErrFrameType", "journal.ErrFrameSize", "journal.ErrSequence", "journal.ErrCheckpoint", "journal.ErrTruncated", "journal.ErrForeign"),
		local("torn tail (**J-6**)", "cut, and reported",
			"journal.ErrTorn"),
		local("record (journal.md)", "the member does not start",
			"journal.ErrRecord", "journal.ErrRecordKind"),
		local("replay (**J-11**, **J-12**)", "the member does not start",
			"handoff.ErrReplay", "member.ErrNotMember", "member.ErrKey"),
		{"local demand", quotedList([]string{"member.ErrResource", "member.ErrWaiters", "member.ErrRevoked", "member.ErrExpired", "member.ErrHeld", "member.ErrVolatile", "member.ErrNotDue", "member.ErrStopping"}), "a code of **A-3**, below", "", "no grant"},
		local("departed (**D-39**)", "the member ends, with exit code 79", "member.ErrRevoked", "member.ErrLeft"),
		local("identifier as text (protocol.md, chapter 2)", "the request, file or flag with it is refused", "ident.ErrMalformed"),
		local("invite (enrolment.md, **N-1**, **N-2**)", "nothing is sent",
			"invite.ErrNotInvite", "invite.ErrVersion", "invite.ErrMangled", "invite.ErrTooLong", "invite.ErrMalformed"),
		local("enrolment service (enrolment.md, **N-4**)", "nothing is sent; the client tries the next address",
			"enrolment.ErrUnreachable", "enrolment.ErrImpostor", "enrolment.ErrClock"),
		{"request for enrolment that is none", quotedList([]string{"enrolment.ErrMalformed", "enrolment.ErrVersion"}), "HTTP 403, reason 1", "", ""},
		local("answer of the enrolment service (enrolment.md, **N-9**)", "nothing of it is used", "enrolment.ErrAnswer"),
		local("answer of the daemon (**A-2**), or none", "the client gives up", "api.ErrReply", "api.ErrNoDaemon"),
		local("grant that was lost (**A-4**)", "the program is stopped", "api.ErrLost"),
		local("socket of the local API", "the member does not start", "api.ErrInUse", "api.ErrNotSocket", "api.ErrPathTooLong"),
		local("socket for other users", "the member does not start", "api.ErrMode", "api.ErrGroup", "api.ErrNotInGroup", "api.ErrFolder", "api.ErrFolderChanged", "api.ErrNoAsker"),
	}
}

// numbered are the refusals that have a number on the wire, or a word.
func numbered(t *testing.T) (rows []refusalRow) {
	for r := wire.Refusal(1); !strings.HasPrefix(r.String(), "refusal "); r++ {
		rows = append(rows, refusalRow{
			"OFFER (**H-40**)", nameOf(t, r.Err()), fmt.Sprintf("REFUSE, reason %d", uint64(r)), "", "counted by its sender, who asks another member",
		})
	}
	for c := transport.Code(0); c.String() != transport.ErrLost.Error(); c++ {
		rows = append(rows, refusalRow{"a connection (**T-18**)", nameOf(t, (&transport.CloseError{Code: c}).Unwrap()), "the code", closes(c), "**T-18**"})
	}
	rows = append(rows, refusalRow{
		"too many handshakes (**T-19**)", "`transport.ErrOverload`", "QUIC error 0x2 (CONNECTION_REFUSED)", "", "no connection",
	})
	for r := enrolment.Refused; !unknownReason(r); r++ {
		rows = append(rows, refusalRow{
			"request for enrolment (enrolment.md, chapter 5)", nameOf(t, r.Err()), fmt.Sprintf("HTTP %d, reason %d", r.Status(), uint64(r)), "", "",
		})
	}
	for _, a := range apiRefusals {
		code, status := answered(t, a.err)
		rows = append(rows, refusalRow{
			"request of a local program (**A-3**)", "`" + a.name + "`", fmt.Sprintf("HTTP %d, `%s`", status, code), "", "",
		})
	}
	return rows
}

func unknownReason(r enrolment.Reason) bool {
	return strings.Contains(r.Err().Error(), fmt.Sprint(uint64(r)))
}

// sentinels are the errors with a number, by name.
var sentinels = map[string]error{
	"wire.ErrBusy": wire.ErrBusy, "wire.ErrStopping": wire.ErrStopping, "wire.ErrResource": wire.ErrResource,
	"wire.ErrClock": wire.ErrClock, "wire.ErrSigner": wire.ErrSigner, "wire.ErrTitle": wire.ErrTitle, "wire.ErrRecalling": wire.ErrRecalling, "wire.ErrHop": wire.ErrHop, "wire.ErrNewborn": wire.ErrNewborn,

	"transport.ErrNormal": transport.ErrNormal, "transport.ErrIdle": transport.ErrIdle,
	"transport.ErrReplaced": transport.ErrReplaced, "transport.ErrShuttingDown": transport.ErrShuttingDown,
	"transport.ErrProtocol": transport.ErrProtocol, "transport.ErrRevoked": transport.ErrRevoked,
	"transport.ErrOverload": transport.ErrOverload, "transport.ErrInternal": transport.ErrInternal,

	"enrolment.ErrRefused": enrolment.ErrRefused, "enrolment.ErrRevoked": enrolment.ErrRevoked,
	"enrolment.ErrLeft": enrolment.ErrLeft, "enrolment.ErrExpired": enrolment.ErrExpired,
	"enrolment.ErrNotYetValid": enrolment.ErrNotYetValid, "enrolment.ErrBusy": enrolment.ErrBusy,
	"enrolment.ErrFailed": enrolment.ErrFailed,
}

func nameOf(t *testing.T, err error) string {
	for name, e := range sentinels {
		if e == err {
			return "`" + name + "`"
		}
	}
	require.Fail(t, "an error without a name here", "%v", err)
	return ""
}

// refusedTable is the first one of refusals.md.
func refusedTable(t *testing.T) *table {
	out := newTable("refused", "error", "the other side is told", "close code", "what follows")
	for _, r := range slices.Concat(refusalRows(), numbered(t)) {
		out.row(r.what, r.errors, r.told, r.code, r.follows)
	}
	return out
}

// Each number on the wire has one error, and no error has two of one kind.
func TestRefusals_NumbersAndErrors_Agree(t *testing.T) {
	digits := regexp.MustCompile(`[0-9]+$|^[0-9]+|` + "`[a-z_]+`$")
	seen := make(map[string]string)
	for _, r := range numbered(t) {
		number := r.what + " " + digits.FindString(r.told+r.code)
		assert.Empty(t, seen[number], number)
		assert.Empty(t, seen[r.what+r.errors], "two numbers of %s", r.errors)
		seen[number], seen[r.what+r.errors] = r.errors, number
	}
	require.Len(t, seen, 2*(9+8+1+7+10))
}
