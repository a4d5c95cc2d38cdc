package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// specimens are a bench with one of everything that can be inspected.
type specimens struct {
	*caBench
	group    *group.Group
	a, b     certificate.Certificate
	genesis  token.Genesis
	transfer token.Transfer
}

func newSpecimens(t *testing.T) *specimens {
	s := &specimens{caBench: started(t)}
	s.must("ca", "issue", "--name", "a", "--out", "a")
	s.must("ca", "issue", "--name", "b", "--out", "b")
	s.group, _ = s.caBench.group()
	s.a, s.b = s.certificate("a.crt"), s.certificate("b.crt")
	body := token.GenesisBody{Resource: "ftp", Generator: s.a.Member(), Sequence: 1, Time: uint64(s.now.UnixMilli())}
	var err error
	s.genesis, err = body.Sign(s.group.ID(), s.key("a"))
	require.NoError(t, err)
	next := token.Title{Genesis: s.genesis}.Next(s.b.Member(), ident.Reservation{Incarnation: ident.Incarnation{1}, Number: 7})
	s.transfer, err = next.Sign(s.group.ID(), s.key("a"))
	require.NoError(t, err)
	s.write("genesis", string(s.genesis.Raw()))
	s.write("transfer", string(s.transfer.Raw()))
	return s
}

func (s *specimens) key(name string) *signature.PrivateKey {
	text, err := os.ReadFile(name + ".key")
	require.NoError(s.t, err)
	key, err := keyfile.DecodePrivateKey(text, nil)
	require.NoError(s.t, err)
	return key
}

// message writes the body of a message, framed or not.
func (s *specimens) message(name string, framed bool, messages ...wire.Message) {
	var all []byte
	for _, m := range messages {
		body, err := wire.Encode(m)
		require.NoError(s.t, err)
		if framed {
			body = wire.AppendFrame(nil, body)
		}
		all = append(all, body...)
	}
	s.write(name, string(all))
}

// journal makes a journal of a few records and returns its only segment.
func (s *specimens) journal() string {
	st, _, err := store.Open("journal", store.Options{Group: s.group.ID(), Member: s.a.Member()})
	require.NoError(s.t, err)
	for _, r := range []journal.Record{
		&journal.Incarnation{Incarnation: ident.Incarnation{9}, Member: s.a.Member(), Durable: true, Machine: "here"},
		&journal.Known{What: journal.KnownCertificate, Object: s.a.Raw()},
		&journal.Generated{Genesis: s.genesis.Raw(), Founding: true},
		&journal.Sent{Transfer: s.transfer.Raw()},
	} {
		body, err := journal.Encode(uint64(s.now.UnixMicro()), r)
		require.NoError(s.t, err)
		_, err = st.Append(body)
		require.NoError(s.t, err)
	}
	require.NoError(s.t, st.Close())
	return filepath.Join("journal", journal.SegmentName(1))
}

// TestInspect_EachFile_Shown: everything is recognised, what can be verified is, and what
// cannot is said.
func TestInspect_EachFile_Shown(t *testing.T) {
	s := newSpecimens(t)
	s.message("offer", false, &wire.Offer{
		Token: s.genesis.ID(), Hop: 1, Genesis: s.genesis.Raw(), Signers: []ident.Member{s.a.Member()},
	})
	s.message("frames", true, &wire.Want{Topic: wire.WantMembers}, &wire.Transfer{Transfer: s.transfer.Raw(), Genesis: s.genesis.Raw()})
	s.journal()
	withMembers, err := os.ReadFile("ca/group.crt")
	require.NoError(t, err)
	for _, name := range []string{"a.crt", "b.crt"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		withMembers = append(withMembers, text...)
	}
	s.write("known.crt", string(withMembers))

	for _, c := range []struct {
		name string
		args []string
		says []string
	}{
		{"a certificate", []string{"a.crt", "-g", "ca/group.crt"},
			[]string{"certificate of member " + s.a.Member().String() + " (verified)", "  name: a\n"}},
		{"a certificate without the group", []string{"a.crt"},
			[]string{"CERTIFICATE by its label (not verified: no group file was given)", `"a"`}},
		{"a group file", []string{"ca/group.crt", "-g", "ca/group.crt"},
			[]string{"CA certificate (verified)", "group configuration (verified)", "name: ftp", "operation_time: 4s", "certificate_lifetime: 90d\n"}},
		{"a private key", []string{"a.key"}, []string{"WANDER PRIVATE KEY\n  secret: not shown\n"}},
		{"a genesis", []string{"genesis", "-g", "known.crt"},
			[]string{"genesis of token " + s.genesis.ID().String() + " (verified)", "resource: ftp"}},
		{"a genesis of an unknown member", []string{"genesis", "-g", "ca/group.crt"},
			[]string{"genesis (not verified: no key at hand verifies it)", "resource: ftp"}},
		{"a genesis without the group", []string{"genesis"},
			[]string{"genesis (not verified: no group file was given)", "resource: ftp"}},
		{"a transfer", []string{"transfer", "-g", "known.crt"}, []string{"transfer (verified)", "hop: 1", "accept: 7"}},
		{"a message", []string{"offer", "-g", "known.crt"},
			[]string{"OFFER\n", "genesis: genesis of token " + s.genesis.ID().String() + " (verified)"}},
		{"frames", []string{"frames", "-g", "known.crt"}, []string{"WANT\n", "TRANSFER\n", "transfer: transfer (verified)"}},
		{"a journal", []string{"journal", "-g", "ca/group.crt"},
			[]string{" incarnation\n", "machine: here", "genesis of token", "transfer: transfer (verified)", "accept: 7"}},
		{"a segment", []string{"journal/" + journal.SegmentName(1), "-g", "ca/group.crt"},
			[]string{"journal segment\n", "checkpoint begin", "transfer: transfer (verified)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := s.must(append([]string{"inspect"}, c.args...)...)
			for _, text := range c.says {
				assert.Contains(t, out, text)
			}
			s.checkJSON(s.must(append([]string{"inspect", "-o", "json"}, c.args...)...))
		})
	}
}

// checkJSON checks that every line is one object of the schema.
func (s *specimens) checkJSON(out string) {
	for line := range strings.Lines(out) {
		var o struct {
			V      int            `json:"v"`
			Object map[string]any `json:"object"`
		}
		require.NoError(s.t, json.Unmarshal([]byte(line), &o), line)
		assert.Equal(s.t, 1, o.V)
		assert.NotEmpty(s.t, o.Object["what"])
	}
}

// TestInspect_Secret_NeverShown, not even in part.
func TestInspect_Secret_NeverShown(t *testing.T) {
	s := newSpecimens(t)
	seed := s.key("a").Seed()
	for _, output := range []string{"text", "json"} {
		out := s.must("inspect", "-o", output, "-g", "ca/group.crt", "a.key")
		assert.NotContains(t, out, string(seed))
		for i := 0; i+4 <= len(seed); i++ {
			assert.NotContains(t, out, hex.EncodeToString(seed[i:i+4]))
		}
	}
}

// TestInspectAltered: an object of which one byte was changed is never shown as
// verified.
func TestInspectAltered(t *testing.T) {
	s := newSpecimens(t)
	for name, raw := range map[string][]byte{"certificate": s.a.Raw(), "genesis": s.genesis.Raw(), "transfer": s.transfer.Raw()} {
		for i := range raw {
			raw := bytes.Clone(raw)
			raw[i] ^= 1
			s.write("altered", string(raw))
			s.wander("inspect", "-g", "ca/group.crt", "altered")
			require.NotContains(t, s.out.String(), "(verified)", "%s, byte %d", name, i)
		}
	}
}

// TestInspect_Invalid_Refused what is no object, with a code and a reason.
func TestInspect_Invalid_Refused(t *testing.T) {
	s := newSpecimens(t)
	segment := s.journal()
	whole, err := os.ReadFile(segment)
	require.NoError(t, err)
	s.write("empty", "")
	s.write("noise", "neither this nor that")
	s.write("half.crt", "-----BEGIN WANDER CERTIFICATE-----\nAAAA\n")
	s.message("frames", true, &wire.Want{Topic: wire.WantMembers}, &wire.Want{Topic: wire.WantMembers})
	frames, err := os.ReadFile("frames")
	require.NoError(t, err)
	s.write("cut", string(frames[:len(frames)-1]))
	s.write("nonsense", string(append(frames, 0, 0, 0, 2, 0x82, 0x17)))
	require.NoError(t, os.Mkdir("damaged", 0o700))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	s.write(filepath.Join("damaged", journal.SegmentName(1)), string(flipped))
	s.write(journal.SegmentName(5), string(whole[:journal.SegmentHeaderSize-1]))
	s.write("bad.crt", "nothing")

	for _, c := range []struct {
		name, says string
		code       int
		args       []string
	}{
		{"nothing there", "no such file", 1, []string{"nowhere"}},
		{"an empty file", "error: empty: file is empty\nhint: give a key, a certificate", 1, []string{"empty"}},
		{"a folder without a journal", "no journal segments with records in this folder\nhint: give a member's journal", 1, []string{"ca"}},
		{"noise", "error: noise: not recognised: no PEM block, signed object, message, frame or journal segment\nhint: give a key, a certificate", 1, []string{"noise"}},
		{"half a block", "half.crt", 1, []string{"half.crt"}},
		{"frames that are cut", "frame 2", 1, []string{"cut"}},
		{"a frame that is no message", "frame 3", 1, []string{"nonsense"}},
		{"a damaged journal", "journal is damaged: damaged/" + journal.SegmentName(1) + ", offset", 1, []string{"damaged"}},
		{"what is left of a header", "not a journal segment\nhint: give a member's journal", 1, []string{journal.SegmentName(5)}},
		{"a group file that is none", "bad.crt", 78, []string{"a.crt", "--group", "bad.crt"}},
		{"no group file", "no such file", 78, []string{"a.crt", "--group", "nowhere"}},
		{"an output that is none", `"yaml"`, 64, []string{"a.crt", "-o", "yaml"}},
		{"nothing named", "an argument is missing", 64, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.fails(c.code, c.says, append([]string{"inspect"}, c.args...)...)
		})
	}
}

// TestInspect_TornJournal_Reported: the end of a journal beside a running member, or
// after a crash, is no damage. Everything before it is shown.
func TestInspect_TornJournal_Reported(t *testing.T) {
	s := newSpecimens(t)
	segment := s.journal()
	whole, err := os.ReadFile(segment)
	require.NoError(t, err)
	for cut := 1; cut < 200; cut += 13 {
		s.write(segment, string(whole[:len(whole)-cut]))
		for _, name := range []string{"journal", segment} {
			out := s.must("inspect", "-g", "ca/group.crt", name)
			assert.Contains(t, out, " generated\n")
			assert.NotContains(t, out, " sent\n")
			assert.True(t, strings.HasPrefix(s.err.String(), "warning: journal ends in the middle of a write"), s.err.String())
		}
	}
}

// TestInspect_StandardInput_Read reads what is piped in.
func TestInspect_StandardInput_Read(t *testing.T) {
	s := newSpecimens(t)
	s.in = string(s.genesis.Raw())
	assert.Contains(t, s.must("inspect", "-"), "resource: ftp")
}

// TestInspect_ControlCharacters_Escaped: names that somebody made up cannot act on a
// terminal.
func TestInspect_ControlCharacters_Escaped(t *testing.T) {
	s := newSpecimens(t)
	body := token.GenesisBody{Resource: "x\x1b]0;owned\x07\n\u202eevil", Generator: s.a.Member()}
	g, err := body.Sign(s.group.ID(), s.key("a"))
	require.NoError(t, err)
	s.write("evil", string(g.Raw()))
	s.message("evil-message", false, &wire.Policy{Resource: body.Resource, Policy: "p\x1b[2J", Configuration: 1})
	for _, name := range []string{"evil", "evil-message"} {
		for _, output := range []string{"text", "json"} {
			out := s.must("inspect", "-o", output, name)
			assert.NotContains(t, out, "\x1b")
			assert.NotContains(t, out, "\x07")
			if output == "text" {
				assert.NotContains(t, out, "\u202e")
				assert.NotContains(t, out, "\n\u202e")
			}
		}
	}
}

// A group file can be read before anybody has one to verify with, and what was
// signed is there as it was written. Alone it does not count as verified:
// anybody can make a group file.
func TestInspect_GroupFile_Shown(t *testing.T) {
	s := started(t)
	s.write("group.toml", smallGroup+"policy = \"multitoken\"\npreset = \"jittered\"\ntarget_interval = \"2m\"\ninterval_factor = 2.5\n")
	s.must("ca", "config", "group.toml")
	alone := s.must("inspect", "ca/group.crt")
	for _, want := range []string{
		"group configuration (not verified: the group file agrees with itself; give one that you trust)\n",
		"operation_time: 4s\n", "members_max: 100\n", "target_interval: 2m\n", "interval_factor: 2.5\n", "preset: jittered\n",
	} {
		assert.Contains(t, alone, want)
	}
	assert.NotContains(t, alone, "(verified)")
	assert.NotContains(t, alone, "payload")
	verified := s.must("inspect", "--group", "ca/group.crt", "ca/group.crt")
	assert.Contains(t, verified, "group configuration (verified)\n")
	assert.Contains(t, verified, "interval_factor: 2.5\n")
}

// TestInspect_Complaint_InWords: by itself and in a journal, verified where the certificate of its signer is shown before.
func TestInspect_Complaint_InWords(t *testing.T) {
	s := newSpecimens(t)
	c, err := token.ComplaintBody{
		Resource: "ftp", Signer: s.a.Member(), Accused: s.b.Member(), Token: s.genesis.ID(), Hop: 1, Measure: 1, Cause: 4, Time: uint64(s.now.UnixMilli()),
	}.Sign(s.group.ID(), s.key("a"))
	require.NoError(t, err)
	s.write("complaint", string(c.Raw()))
	known, err := os.ReadFile("ca/group.crt")
	require.NoError(t, err)
	mine, err := os.ReadFile("a.crt")
	require.NoError(t, err)
	s.write("known.crt", string(append(known, mine...)))
	for _, args := range [][]string{{"complaint"}, {"complaint", "-g", "known.crt"}} {
		out := s.must(append([]string{"inspect"}, args...)...)
		assert.Contains(t, out, "complaint (")
		assert.Contains(t, out, "accused: "+s.b.Member().String())
		assert.Contains(t, out, "measure: struck\n")
		assert.Contains(t, out, "cause: denied a token against its receipt\n")
		assert.Equal(t, len(args) > 1, strings.Contains(out, "complaint (verified)"), out)
	}

	st, _, err := store.Open("complaints", store.Options{Group: s.group.ID(), Member: s.a.Member()})
	require.NoError(t, err)
	body, err := journal.Encode(uint64(s.now.UnixMicro()), &journal.Complained{Complaint: c.Raw()})
	require.NoError(t, err)
	_, err = st.Append(body)
	require.NoError(t, err)
	require.NoError(t, st.Close())
	out := s.must("inspect", "-g", "known.crt", "complaints")
	assert.Contains(t, out, "complained")
	assert.Contains(t, out, "complaint: complaint (verified)")
}
