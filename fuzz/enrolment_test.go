package fuzz

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/invite"
)

// FuzzInvite: the line that a person pastes. White space in it is free, so that
// what is accepted has one spelling but for that. Nothing of it is repeated in
// an error.
//
//fuzz:of protocol/invite node/enrolment protocol/certificate crypto/canonical
func FuzzInvite(f *testing.F) { targets["FuzzInvite"].Fuzz(f) }

func checkInvite(t require.TestingT, text []byte) bool {
	i, err := invite.Parse(string(text))
	if err != nil {
		isOneOf(t, err, invite.ErrTooLong, invite.ErrNotInvite, invite.ErrVersion, invite.ErrMangled, invite.ErrMalformed)
		return false
	}
	again, err := i.Format()
	require.NoError(t, err)
	require.Equal(t, strings.Join(strings.Fields(string(text)), ""), again)
	return true
}

func sampleInvite() invite.Invite {
	return invite.Invite{
		Group: group, Authority: caID, Addresses: []string{"ca.example.org:4134", "[2001:db8::1]:4134"},
		ID: [8]byte{1}, Secret: [16]byte{2}, Name: "ada", Expires: epoch,
	}
}

// worded is content with a sum that holds, as the text of an invite.
func worded(content []byte) []byte {
	sum := sha256.Sum256(content)
	return []byte(invite.Prefix + base64.RawURLEncoding.EncodeToString(append(bytes.Clone(content), sum[:4]...)))
}

func inviteSeeds() map[string][]byte {
	good := []byte(must(sampleInvite().Format()))
	least := sampleInvite()
	least.Addresses, least.Name = []string{"a:1"}, "a"
	fields := []any{group, caID, []string{}, [8]byte{}, [16]byte{}, 1, "ada"}
	seeds := map[string][]byte{
		"good-usual":        good,
		"good-least":        []byte(must(least.Format())),
		"good-wrapped":      bytes.Join([][]byte{[]byte("  "), good[:40], []byte("\r\n\t"), good[40:], []byte("\n")}, nil),
		"bad-version":       append([]byte("wander2-"), good[8:]...),
		"bad-something":     []byte("ssh-ed25519 AAAA"),
		"bad-empty":         []byte(invite.Prefix),
		"bad-content":       worded([]byte("hello")),
		"bad-addresses":     worded(must(canonical.Marshal(fields))),
		"bad-spare-bits":    append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]+1),
		"bad-too-long":      append(bytes.Clone(good), bytes.Repeat([]byte(" "), invite.MaxText)...),
		"bad-other-letters": bytes.ReplaceAll(good, []byte("-"), []byte("+")),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

// FuzzEnrolment: the body of each request and answer, told by the first byte.
//
//fuzz:of protocol/invite node/enrolment protocol/certificate crypto/canonical
func FuzzEnrolment(f *testing.F) { targets["FuzzEnrolment"].Fuzz(f) }

// enrolmentMessages decode and encode again, one for each message.
var enrolmentMessages = []func(require.TestingT, []byte) bool{
	roundTrip[enrolment.EnrolRequest], roundTrip[enrolment.EnrolAnswer], roundTrip[enrolment.RenewAnswer],
	roundTrip[enrolment.SyncRequest], roundTrip[enrolment.SyncAnswer], roundTrip[enrolment.LeaveRequest],
	roundTrip[enrolment.Refusal], roundTrip[enrolment.EvidenceRequest],
}

func checkEnrolment(t require.TestingT, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	return enrolmentMessages[int(data[0])%len(enrolmentMessages)](t, data[1:])
}

func roundTrip[M enrolment.Message](t require.TestingT, body []byte) bool {
	m, err := enrolment.Decode[M](body)
	if err != nil {
		isOneOf(t, err, enrolment.ErrMalformed, enrolment.ErrVersion)
		return false
	}
	again, err := enrolment.Encode(m)
	require.NoError(t, err)
	require.Equal(t, body, again)
	return true
}

func enrolmentSeeds() map[string][]byte {
	published := enrolment.Publication{
		Authorities: [][]byte{authority().Raw()}, Configuration: configuration().Raw(), Revocations: [][]byte{revocation().Raw()},
		Leaves: [][]byte{{1}}, More: true,
	}
	peers := []enrolment.Peer{{Certificate: certificateOf(ada, "ada").Raw(), Endpoint: endpoint().Raw()}}
	request := must(certificate.Request{Name: "ada", Key: ada.Public().Bytes()}.Sign(group, ada))
	seeds := map[string][]byte{
		"good-enrol-request": body(0, enrolment.EnrolRequest{ID: [8]byte{1}, Secret: [16]byte{2}, Request: request.Raw()}),
		"good-enrol-answer":  body(1, enrolment.EnrolAnswer{Certificate: peers[0].Certificate, Publication: published, Peers: peers, Others: 1}),
		"good-renew-answer":  body(2, enrolment.RenewAnswer{Certificate: peers[0].Certificate, Authorities: published.Authorities}),
		"good-sync-request":  body(3, enrolment.SyncRequest{Configuration: 7, Revocations: 1, Endpoint: peers[0].Endpoint, Leaves: published.Leaves}),
		"good-sync-answer":   body(4, enrolment.SyncAnswer{Publication: published, Peers: peers}),
		"good-leave-request": body(5, enrolment.LeaveRequest{Leave: []byte{1}}),
		"good-evidence":      body(7, enrolment.EvidenceRequest{Evidence: []byte{1}}),
		"bad-no-evidence":    {7, 0x82, 0x01, 0x81, 0x40},
		"good-refusal":       body(6, enrolment.Refusal{Reason: enrolment.Refused}),
		"bad-nothing":        {},
		"bad-version":        {6, 0x82, 0x02, 0x82, 0x01, 0x40},
		"bad-empty-object":   {5, 0x82, 0x01, 0x81, 0x40},
		"bad-no-keys":        {2, 0x82, 0x01, 0x82, 0x41, 0x01, 0x80},
	}
	corpus.Spoil(seeds, "good-enrol-request")
	corpus.Spoil(seeds, "good-sync-answer")
	return seeds
}

// body is a message behind the byte that says which it is.
func body[M enrolment.Message](which byte, m M) []byte {
	return append([]byte{which}, must(enrolment.Encode(m))...)
}
