package token_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

func TestVerifier_Signed_Accepted(t *testing.T) {
	v := token.NewVerifier(group, everybody())
	for _, o := range objects(t) {
		hash, err := o.verify(v, o.raw)
		require.NoError(t, err, o.kind)
		assert.Equal(t, o.hash, hash, o.kind)
	}
}

func TestVerifier_Signed_SameBody(t *testing.T) {
	_, _, second, declined := titles(t)
	v := token.NewVerifier(group, everybody())

	g, err := v.Genesis(second.Genesis.Raw())
	require.NoError(t, err)
	assert.Equal(t, genesisBody(), g.Body())
	assert.Equal(t, ident.Token(g.Hash()), g.ID())
	assert.Equal(t, second.Genesis.Raw(), g.Raw())

	tr, err := v.Transfer(second.Transfer.Raw())
	require.NoError(t, err)
	assert.Equal(t, second.Transfer.Body(), tr.Body())
	assert.Equal(t, second.Transfer.Raw(), tr.Raw())

	a, err := v.Answer(token.Void, declined.Void.Raw())
	require.NoError(t, err)
	assert.Equal(t, declined.Void.Body(), a.Body())
	assert.Equal(t, token.Void, a.Verdict())
	assert.Equal(t, declined.Void.Raw(), a.Raw())
}

// What one verifier has verified, another one with the same memory knows, whoever's keys that has; and nothing else.
func TestMemory_Shared_VerifiedOnce(t *testing.T) {
	m := token.NewMemory(group)
	for _, o := range objects(t) {
		_, err := o.verify(m.Verifier(keysOf()), o.raw)
		require.ErrorIs(t, err, token.ErrUnknownSigner, o.kind)
		_, err = o.verify(m.Verifier(everybody()), o.raw)
		require.NoError(t, err)
		hash, err := o.verify(m.Verifier(keysOf()), o.raw)
		require.NoError(t, err, "known")
		assert.Equal(t, o.hash, hash)
		altered := slices.Clone(o.raw)
		altered[len(altered)-1] ^= 1
		_, err = o.verify(m.Verifier(keysOf()), altered)
		require.Error(t, err)
		_, err = o.verify(token.NewMemory(group).Verifier(keysOf()), o.raw)
		require.ErrorIs(t, err, token.ErrUnknownSigner, "another memory")
	}
}

func TestVerifier_AnyByteAltered_Refused(t *testing.T) {
	for _, o := range objects(t) {
		v := token.NewVerifier(group, everybody())
		_, err := o.verify(v, o.raw)
		require.NoError(t, err)
		for i := range o.raw {
			for _, flip := range []byte{0x01, 0x80} {
				altered := slices.Clone(o.raw)
				altered[i] ^= flip
				_, err := o.verify(v, altered)
				require.Error(t, err, "%v with byte %d altered", o.kind, i)
			}
		}
		for n := range o.raw {
			_, err := o.verify(v, o.raw[:n])
			require.ErrorIs(t, err, token.ErrMalformed, "%v cut to %d", o.kind, n)
		}
		_, err = o.verify(v, append(slices.Clone(o.raw), 0))
		require.ErrorIs(t, err, token.ErrMalformed)
	}
}

// The kind is signed, and what has verified as one is not remembered as
// another.
func TestVerifier_OtherKind_Refused(t *testing.T) {
	for _, o := range objects(t) {
		v := token.NewVerifier(group, everybody())
		for range 2 { // the second time round it is remembered
			for kind, verify := range verifiers {
				_, err := verify(v, o.raw)
				if kind == o.kind {
					require.NoError(t, err)
					continue
				}
				require.Error(t, err, "%v taken for %v", o.kind, kind)
			}
		}
	}
}

func TestVerifier_ReceiptAsVoid_Refused(t *testing.T) {
	_, _, second, _ := titles(t)
	receipt := answer(t, token.Receipt, second.Transfer, cleo)
	v := token.NewVerifier(group, everybody())
	v.Trust(receipt)
	_, err := v.Answer(token.Receipt, receipt.Raw())
	require.NoError(t, err)
	_, err = v.Answer(token.Void, receipt.Raw())
	assert.ErrorIs(t, err, token.ErrSignature)
}

func TestAnswer_NoVerdict_Refused(t *testing.T) {
	_, _, second, _ := titles(t)
	unknown := answer(t, token.Unknown, second.Transfer, cleo)
	for _, none := range []token.Verdict{0, token.Unknown + 1, 255} {
		v := token.NewVerifier(group, everybody())
		_, err := v.Answer(none, unknown.Raw())
		require.ErrorIs(t, err, token.ErrMalformed, none)
		got, err := v.Answer(token.Unknown, unknown.Raw())
		require.NoError(t, err)
		assert.Equal(t, token.Unknown, got.Verdict())
		_, err = unknown.Body().Sign(group, none, cleo.key)
		require.ErrorIs(t, err, envelope.ErrKind, none)
	}
}

func TestVerifier_SignatureOfAnother_Refused(t *testing.T) {
	g := genesisBody()
	tr := token.TransferBody{Token: ident.Token{1}, Hop: 1, From: ada.id, To: ben.id}
	a, c := token.AnswerBody{Token: ident.Token{1}, Hop: 1, Signer: ada.id}, complaintBody()
	c.Accused = cleo.id
	for kind, body := range map[envelope.Kind]any{
		envelope.Genesis: &g, envelope.Transfer: &tr,
		envelope.Receipt: &a, envelope.Void: &a, envelope.Unknown: &a, envelope.Complaint: &c,
	} {
		verify, v := verifiers[kind], token.NewVerifier(group, everybody())
		_, err := verify(v, forge(t, kind, ada.id, body, ada.key))
		require.NoError(t, err, "%v as it should be", kind)
		_, err = verify(v, forge(t, kind, ada.id, body, ben.key))
		require.ErrorIs(t, err, token.ErrSignature, "%v signed with another key", kind)
		_, err = verify(v, forge(t, kind, ben.id, body, ben.key))
		require.ErrorIs(t, err, token.ErrSigner, "%v signed by a member that it does not name", kind)
		_, err = verify(v, forge(t, kind, ben.id, body, ada.key))
		require.ErrorIs(t, err, token.ErrSigner, "%v with another key id", kind)
	}
}

func TestVerifier_UnknownSigner_Named(t *testing.T) {
	for _, o := range objects(t) {
		known := everybody()
		delete(known.known, o.signer.id)
		v := token.NewVerifier(group, known)
		_, err := o.verify(v, o.raw)
		require.ErrorIs(t, err, token.ErrUnknownSigner, o.kind)
		var unknown *token.UnknownSignerError
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, o.signer.id, unknown.Member)
		assert.ErrorContains(t, err, o.signer.id.String())

		known.known[o.signer.id] = o.signer.key.Public()
		_, err = o.verify(v, o.raw)
		require.NoError(t, err, "once the certificate is there")
	}
}

func TestVerifier_OtherGroupOrVersion_Refused(t *testing.T) {
	body := genesisBody()
	payload, err := canonical.Marshal(&body)
	require.NoError(t, err)
	v := token.NewVerifier(group, everybody())
	for name, d := range map[string]envelope.Domain{
		"group":   {Version: token.Version, Group: ident.Group{8}, Kind: envelope.Genesis},
		"version": {Version: token.Version + 1, Group: group, Kind: envelope.Genesis},
	} {
		_, err := v.Genesis(forgeRaw(t, d, ada.id, payload, ada.key))
		assert.ErrorIs(t, err, token.ErrSignature, name)
	}
}

// Each rule about a single object, broken by a signer who does not mind. Sign
// keeps to the same rules.
func TestRefusedBodies(t *testing.T) {
	genesis := func(spoil func(*token.GenesisBody)) any {
		b := genesisBody()
		spoil(&b)
		return &b
	}
	transfer := func(spoil func(*token.TransferBody)) any {
		b := token.TransferBody{Token: ident.Token{1}, Hop: 1, From: ada.id, To: ben.id}
		spoil(&b)
		return &b
	}
	complaint := func(spoil func(*token.ComplaintBody)) any {
		b := complaintBody()
		spoil(&b)
		return &b
	}
	critical := canonical.Extensions{}.With(1, canonical.Raw{0x00}).With(2, canonical.Raw{0x00})
	for name, c := range map[string]struct {
		want error
		kind envelope.Kind
		body any
	}{
		"resource without a name":  {token.ErrMalformed, envelope.Genesis, genesis(func(b *token.GenesisBody) { b.Resource = "" })},
		"resource with a long one": {token.ErrMalformed, envelope.Genesis, genesis(func(b *token.GenesisBody) { b.Resource = strings.Repeat("r", token.MaxResourceName+1) })},
		"transfer to hop 0":        {token.ErrMalformed, envelope.Transfer, transfer(func(b *token.TransferBody) { b.Hop = 0 })},
		"transfer to oneself":      {token.ErrMalformed, envelope.Transfer, transfer(func(b *token.TransferBody) { b.To = b.From })},
		"transfer, large field":    {token.ErrField, envelope.Transfer, transfer(func(b *token.TransferBody) { b.Field = make([]byte, token.MaxField+1) })},
		"receipt for hop 0":        {token.ErrMalformed, envelope.Receipt, &token.AnswerBody{Signer: ada.id}},
		"void for hop 0":           {token.ErrMalformed, envelope.Void, &token.AnswerBody{Signer: ada.id}},

		"complaint of no resource":     {token.ErrMalformed, envelope.Complaint, complaint(func(b *token.ComplaintBody) { b.Resource = "" })},
		"complaint of a long resource": {token.ErrMalformed, envelope.Complaint, complaint(func(b *token.ComplaintBody) { b.Resource = strings.Repeat("r", token.MaxResourceName+1) })},
		"complaint about nobody":       {token.ErrMalformed, envelope.Complaint, complaint(func(b *token.ComplaintBody) { b.Accused = ident.Member{} })},
		"complaint about oneself":      {token.ErrMalformed, envelope.Complaint, complaint(func(b *token.ComplaintBody) { b.Accused = b.Signer })},
		"complaint, hop too high":      {token.ErrMalformed, envelope.Complaint, complaint(func(b *token.ComplaintBody) { b.Hop = ident.MaxHop + 1 })},
		"complaint, no measure":        {token.ErrMalformed, envelope.Complaint, complaint(func(b *token.ComplaintBody) { b.Measure = 0 })},
		"complaint, unknown measure":   {token.ErrMalformed, envelope.Complaint, complaint(func(b *token.ComplaintBody) { b.Measure = token.MaxMeasure + 1 })},
		"complaint, no cause":          {token.ErrMalformed, envelope.Complaint, complaint(func(b *token.ComplaintBody) { b.Cause = 0 })},
		"complaint, unknown cause":     {token.ErrMalformed, envelope.Complaint, complaint(func(b *token.ComplaintBody) { b.Cause = token.MaxCause + 1 })},
	} {
		t.Run(name, func(t *testing.T) {
			v := token.NewVerifier(group, everybody())
			_, err := verifiers[c.kind](v, forge(t, c.kind, ada.id, c.body, ada.key))
			require.ErrorIs(t, err, c.want)
			require.ErrorIs(t, sign(c.kind, c.body), c.want)
		})
	}
	for kind, body := range map[envelope.Kind]any{
		envelope.Genesis:  genesis(func(b *token.GenesisBody) { b.Extensions = critical }),
		envelope.Transfer: transfer(func(b *token.TransferBody) { b.Extensions = critical }),
		envelope.Unknown:  &token.AnswerBody{Signer: ada.id, Hop: 1, Extensions: critical},

		envelope.Complaint: complaint(func(b *token.ComplaintBody) { b.Extensions = critical }),
	} {
		err := sign(kind, body)
		require.ErrorIs(t, err, token.ErrMalformed, kind)
		require.ErrorIs(t, err, canonical.ErrExtension, kind)
	}
}

// sign is the Sign of any body, by ada.
func sign(kind envelope.Kind, body any) (err error) {
	switch b := body.(type) {
	case *token.GenesisBody:
		_, err = b.Sign(group, ada.key)
	case *token.TransferBody:
		_, err = b.Sign(group, ada.key)
	case *token.AnswerBody:
		verdicts := map[envelope.Kind]token.Verdict{
			envelope.Receipt: token.Receipt, envelope.Void: token.Void, envelope.Unknown: token.Unknown,
		}
		_, err = b.Sign(group, verdicts[kind], ada.key)
	case *token.ComplaintBody:
		_, err = b.Sign(group, ada.key)
	}
	return err
}

// Payloads that are signed well and spelled wrong. The good one is
// [token, 1, member] of an answer, cut open between its fields.
func TestMalformedPayloads(t *testing.T) {
	const bytes32 = "\x58\x20" + "0123456789abcdef0123456789abcdef"
	member := "\x50" + string(ada.id[:])
	const memory = "\x50" + "0123456789abcdef"
	head := "\x86" + bytes32 + bytes32
	for name, c := range map[string]struct {
		payload string
		want    error
	}{
		"as it should be":         {head + "\x01" + member + memory + "\xa0", nil},
		"an odd extension":        {head + "\x01" + member + memory + "\xa1\x01\x82\x01\xf6", nil},
		"an even extension":       {head + "\x01" + member + memory + "\xa1\x02\x01", canonical.ErrExtension},
		"extension twice":         {head + "\x01" + member + memory + "\xa2\x01\x01\x01\x01", canonical.ErrUnsorted},
		"extensions out of order": {head + "\x01" + member + memory + "\xa2\x03\x01\x01\x01", canonical.ErrUnsorted},
		"extensions null":         {head + "\x01" + member + memory + "\xf6", canonical.ErrNotCanonical},
		"extensions missing":      {"\x85" + bytes32 + bytes32 + "\x01" + member + memory, canonical.ErrType},
		"a field too many":        {"\x87" + bytes32 + bytes32 + "\x01" + member + memory + "\xa0\x00", canonical.ErrType},
		"hop in two bytes":        {head + "\x18\x01" + member + memory + "\xa0", canonical.ErrNotShortest},
		"hop as float":            {head + "\xf9\x3c\x00" + member + memory + "\xa0", canonical.ErrType},
		"negative hop":            {head + "\x20" + member + memory + "\xa0", canonical.ErrType},
		"hop null":                {head + "\xf6" + member + memory + "\xa0", canonical.ErrNotCanonical},
		"hop tagged":              {head + "\xc1\x01" + member + memory + "\xa0", canonical.ErrTag},
		"short hash":              {"\x86\x58\x1f" + bytes32[3:] + bytes32 + "\x01" + member + memory + "\xa0", canonical.ErrNotCanonical},
		"signer as text":          {head + "\x01" + "\x70" + "0123456789abcdef" + memory + "\xa0", canonical.ErrType},
		"indefinite array":        {"\x9f" + bytes32 + bytes32 + "\x01" + member + memory + "\xa0\xff", canonical.ErrIndefinite},
		"bytes behind":            {head + "\x01" + member + memory + "\xa0\x00", canonical.ErrTrailing},
		"cut off":                 {head + "\x01" + member, canonical.ErrTruncated},
		"nothing":                 {"", canonical.ErrTruncated},
		"claims 2^32 extensions":  {head + "\x01" + member + memory + "\xba\xff\xff\xff\xff", canonical.ErrTruncated},
		"above its limit":         {head + "\x01" + member + memory + "\xa1\x01\x59\x10\x00" + strings.Repeat("x", 4096), canonical.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			d := envelope.Domain{Version: token.Version, Group: group, Kind: envelope.Receipt}
			raw := forgeRaw(t, d, ada.id, []byte(c.payload), ada.key)
			_, err := token.NewVerifier(group, everybody()).Answer(token.Receipt, raw)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, token.ErrMalformed)
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestVerifier_SeenBefore_NoSignatureCheck(t *testing.T) {
	for _, o := range objects(t) {
		known := everybody()
		v := token.NewVerifier(group, known)
		for range 3 {
			hash, err := o.verify(v, o.raw)
			require.NoError(t, err)
			assert.Equal(t, o.hash, hash)
		}
		assert.Equal(t, 1, known.asked, o.kind)
	}
}

func TestVerifier_Trusted_NoKeyNeeded(t *testing.T) {
	_, _, second, declined := titles(t)
	v := token.NewVerifier(group, keysOf())
	v.Trust(second.Genesis)
	v.Trust(second.Transfer)
	v.Trust(declined.Void)
	_, err := v.Genesis(second.Genesis.Raw())
	require.NoError(t, err)
	_, err = v.Transfer(second.Transfer.Raw())
	require.NoError(t, err)
	_, err = v.Answer(token.Void, declined.Void.Raw())
	require.NoError(t, err)
}

func TestVerifier_Nothing_NotTrusted(t *testing.T) {
	v := token.NewVerifier(group, everybody())
	for _, nothing := range []any{token.Genesis{}, token.Transfer{}, token.Answer{}, nil} {
		v.Trust(nothing)
	}
	for kind, verify := range verifiers {
		_, err := verify(v, nil)
		assert.ErrorIs(t, err, token.ErrMalformed, kind)
	}
}

// The memory is bounded: what is shown again and again stays, the last objects
// are there, and what has not been shown for long verifies anew.
func TestVerifier_NotShown_Forgotten(t *testing.T) {
	const kept = 1024
	known := everybody()
	v := token.NewVerifier(group, known)
	signed := make([]token.Answer, 3*kept)
	for i := range signed {
		var err error
		signed[i], err = token.AnswerBody{Hop: uint64(i + 1), Signer: ada.id}.Sign(group, token.Receipt, ada.key)
		require.NoError(t, err)
	}
	verify := func(some ...token.Answer) (checked int) {
		before := known.asked
		for _, a := range some {
			_, err := v.Answer(token.Receipt, a.Raw())
			require.NoError(t, err)
		}
		return known.asked - before
	}
	for i, a := range signed {
		v.Trust(a)
		require.Zero(t, verify(signed[0]), "shown again after %d others", i)
	}
	last := len(signed) - 1
	require.Zero(t, verify(signed[last-kept/2+2:]...), "the last half")
	require.NotZero(t, verify(signed[1:last-kept]...), "forgotten")
	require.Equal(t, kept/2, verify(signed[1:1+kept/2]...), "all that were not shown for long")
}

func TestVerifier_Refused_NotRemembered(t *testing.T) {
	body := genesisBody()
	raw := forge(t, envelope.Genesis, ada.id, &body, ben.key)
	v := token.NewVerifier(group, everybody())
	for range 2 {
		_, err := v.Genesis(raw)
		require.ErrorIs(t, err, token.ErrSignature)
	}
}

func TestLargestBodies(t *testing.T) {
	g := genesisBody()
	g.Resource = strings.Repeat("r", token.MaxResourceName)
	require.NoError(t, sign(envelope.Genesis, &g))
	tr := token.TransferBody{Hop: 1, From: ada.id, To: ben.id, Field: make([]byte, token.MaxField)}
	require.NoError(t, sign(envelope.Transfer, &tr))
}

// A member reads its own journal without verifying, but as strictly.
func TestPeek(t *testing.T) {
	_, _, second, _ := titles(t)
	g, hash, err := token.PeekGenesis(group, second.Genesis.Raw())
	require.NoError(t, err)
	assert.Equal(t, second.Genesis.Body(), g)
	assert.Equal(t, second.Genesis.Hash(), hash)
	tr, hash, err := token.PeekTransfer(group, second.Transfer.Raw())
	require.NoError(t, err)
	assert.Equal(t, second.Transfer.Body(), tr)
	assert.Equal(t, second.Transfer.Hash(), hash)

	_, _, err = token.PeekGenesis(group, second.Genesis.Raw()[1:])
	assert.ErrorIs(t, err, envelope.ErrTag)
	_, _, err = token.PeekGenesis(group, second.Transfer.Raw())
	assert.ErrorIs(t, err, canonical.ErrType, "the payload of another kind")
}

// What was signed must not change under whoever holds it.
func TestSign_Body_Copied(t *testing.T) {
	void := ident.Hash{1}
	body := token.TransferBody{
		Token: ident.Token{1}, Hop: 1, From: ada.id, To: ben.id, Void: &void,
		Field: []byte("field"), Extensions: canonical.Extensions{}.With(1, canonical.Raw{0x01}),
	}
	signed, err := body.Sign(group, ada.key)
	require.NoError(t, err)
	raw := bytes.Clone(signed.Raw())
	void, body.Field[0] = ident.Hash{2}, 'F'
	assert.Equal(t, ident.Hash{1}, *signed.Body().Void)
	assert.Equal(t, "field", string(signed.Body().Field))
	assert.Equal(t, raw, signed.Raw())
}
