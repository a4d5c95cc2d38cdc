package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/certificate"
)

// blockFile writes a file with some blocks.
func (s *specimens) blockFile(name string, blocks ...keyfile.Block) {
	text, err := keyfile.EncodeBlocks(blocks...)
	require.NoError(s.t, err)
	s.write(name, string(text))
}

// TestInspect_MemberStatements_Shown: about themselves and each other.
func TestInspect_MemberStatements_Shown(t *testing.T) {
	s := newSpecimens(t)
	leave, err := certificate.Leave{Member: s.a.Member(), Time: 1}.Sign(s.group.ID(), s.key("a"))
	require.NoError(t, err)
	failure, err := certificate.Failure{Witness: s.a.Member(), Subject: s.b.Member(), Sequence: 12}.Sign(s.group.ID(), s.key("a"))
	require.NoError(t, err)
	key := s.request("request", "ftp-09", s.group.ID())
	s.blockFile("leave", s.blocks("a.crt")[0], keyfile.Block{Type: keyfile.Leave, Bytes: leave.Raw()})
	s.blockFile("leave alone", keyfile.Block{Type: keyfile.Leave, Bytes: leave.Raw()})
	s.write("failure", string(failure.Raw()))
	s.blockFile("known.crt", append(s.blocks("ca/group.crt"), s.blocks("a.crt")...)...)
	assert.Contains(t, s.must("inspect", "leave", "-g", "ca/group.crt"), "leave (verified)")
	assert.Contains(t, s.must("inspect", "leave alone", "-g", "ca/group.crt"), "no key at hand verifies it")
	out := s.must("inspect", "failure", "-g", "known.crt")
	assert.Contains(t, out, "failure statement (verified)")
	assert.Contains(t, out, "sequence: 12")
	out = s.must("inspect", "request", "-g", "ca/group.crt")
	assert.Contains(t, out, "certificate request (verified)")
	assert.Contains(t, out, "name: ftp-09")
	assert.Contains(t, out, key.Public().String())
}

// TestInspect_AfterRotation_Verified: what the retired key has signed can still be read.
func TestInspect_AfterRotation_Verified(t *testing.T) {
	s := newSpecimens(t)
	s.journal()
	for _, step := range []string{"begin", "switch", "retire"} {
		s.must("ca", "rotate", step, "--force")
	}
	assert.Contains(t, s.must("inspect", "a.crt", "-g", "ca/group.crt"), "certificate of member "+s.a.Member().String()+" (verified)")
	assert.Contains(t, s.must("inspect", "journal", "-g", "ca/group.crt"), "transfer: transfer (verified)")
	out := s.must("inspect", "ca/group.crt", "-g", "ca/group.crt")
	assert.Contains(t, out, "version: 2")
	assert.NotContains(t, out, "not verified")
}
