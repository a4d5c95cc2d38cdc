package token_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

func TestTitle_EachHop_Verified(t *testing.T) {
	fresh, first, second, declined := titles(t)
	for _, c := range []struct {
		name    string
		title   token.Title
		hop     uint64
		holder  party
		hash    ident.Hash
		signers []ident.Member
	}{
		{"generated", fresh, 0, ada, fresh.Genesis.Hash(), []ident.Member{ada.id}},
		{"one hop", first, 1, ben, first.Transfer.Hash(), []ident.Member{ada.id, ben.id}},
		{"two hops", second, 2, cleo, second.Transfer.Hash(), []ident.Member{ada.id, ben.id, cleo.id}},
		{"declined", declined, 2, ben, second.Transfer.Hash(), []ident.Member{ada.id, ben.id, cleo.id}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, c.title.Check())
			assert.Equal(t, fresh.Genesis.ID(), c.title.Token())
			assert.Equal(t, c.hop, c.title.Hop())
			assert.Equal(t, c.holder.id, c.title.Holder())
			assert.Equal(t, c.hash, c.title.Hash())
			assert.ElementsMatch(t, c.signers, c.title.Signers())
			next := pass(t, c.title, c.holder, dan)
			assert.NoError(t, c.title.Admits(next))
			assert.Equal(t, c.hop+1, next.Body().Hop)
		})
	}
}

// A title that goes home again names nobody twice.
func TestTitle_Signers_Distinct(t *testing.T) {
	_, first, _, _ := titles(t)
	home := token.Title{Genesis: first.Genesis, Transfer: pass(t, first, ben, ada)}
	assert.Equal(t, []ident.Member{ada.id, ben.id}, home.Signers())
}

// Who gave the holder its custody: nobody at the generator, and nobody who is named after a void.
func TestTitle_Giver_NamedUntilDeclined(t *testing.T) {
	fresh, first, second, declined := titles(t)
	assert.Zero(t, fresh.Giver())
	assert.Equal(t, ada.id, first.Giver())
	assert.Equal(t, first.Holder(), second.Giver())
	assert.Zero(t, declined.Giver())
}

// From a declined transfer the chain goes on past the burned hop.
func TestTitle_AfterVoid_GoesOn(t *testing.T) {
	_, _, _, declined := titles(t)
	next := pass(t, declined, ben, dan)
	require.NotNil(t, next.Body().Void)
	assert.Equal(t, declined.Void.Hash(), *next.Body().Void)
	title := token.Title{Genesis: declined.Genesis, Transfer: next}
	require.NoError(t, title.Check())
	assert.Equal(t, uint64(3), title.Hop())
	assert.NoError(t, title.Admits(pass(t, title, dan, ada)))
}

// handoff rules §4.1: each part of a title that does not belong.
func TestTitle_PartsOfAnother_Refused(t *testing.T) {
	fresh, first, second, declined := titles(t)
	other := genesisBody()
	other.Sequence++
	stranger, err := other.Sign(group, ada.key)
	require.NoError(t, err)
	otherTransfer := pass(t, first, ben, dan)
	first1 := func(spoil func(*token.TransferBody), by party) token.Transfer {
		body := fresh.Next(ben.id, ident.Reservation{Number: 1})
		spoil(&body)
		signed, err := body.Sign(group, by.key)
		require.NoError(t, err)
		return signed
	}
	voided := func(spoil func(*token.AnswerBody), v token.Verdict, by party) token.Answer {
		body := token.AnswerTo(second.Transfer, cleo.id, ident.Incarnation{})
		spoil(&body)
		signed, err := body.Sign(group, v, by.key)
		require.NoError(t, err)
		return signed
	}
	same := func(*token.AnswerBody) {}
	for name, title := range map[string]token.Title{
		"nothing":                      {},
		"no genesis":                   {Transfer: first.Transfer},
		"genesis of another token":     {Genesis: stranger, Transfer: first.Transfer},
		"genesis of another, later":    {Genesis: stranger, Transfer: second.Transfer},
		"hop 1 and void of hop 2":      {Genesis: fresh.Genesis, Transfer: first.Transfer, Void: declined.Void},
		"void without transfer":        {Genesis: fresh.Genesis, Void: declined.Void},
		"void of another transfer":     {Genesis: fresh.Genesis, Transfer: otherTransfer, Void: declined.Void},
		"receipt in place of the void": {Genesis: fresh.Genesis, Transfer: second.Transfer, Void: voided(same, token.Receipt, cleo)},
		"unknown in place of the void": {Genesis: fresh.Genesis, Transfer: second.Transfer, Void: voided(same, token.Unknown, cleo)},
		"void by the sender":           {Genesis: fresh.Genesis, Transfer: second.Transfer, Void: voided(func(b *token.AnswerBody) { b.Signer = ben.id }, token.Void, ben)},
		"void by a third member":       {Genesis: fresh.Genesis, Transfer: second.Transfer, Void: voided(func(b *token.AnswerBody) { b.Signer = dan.id }, token.Void, dan)},
		"void with another hop":        {Genesis: fresh.Genesis, Transfer: second.Transfer, Void: voided(func(b *token.AnswerBody) { b.Hop++ }, token.Void, cleo)},
		"void with another token":      {Genesis: fresh.Genesis, Transfer: second.Transfer, Void: voided(func(b *token.AnswerBody) { b.Token[0]++ }, token.Void, cleo)},
		"void with another hash":       {Genesis: fresh.Genesis, Transfer: second.Transfer, Void: voided(func(b *token.AnswerBody) { b.Transfer[0]++ }, token.Void, cleo)},
		"hop 1 not by the generator":   {Genesis: fresh.Genesis, Transfer: first1(func(b *token.TransferBody) { b.From = cleo.id }, cleo)},
		"hop 1 not after the genesis":  {Genesis: fresh.Genesis, Transfer: first1(func(b *token.TransferBody) { b.Previous[0]++ }, ada)},
		"hop 1 after a void":           {Genesis: fresh.Genesis, Transfer: first1(func(b *token.TransferBody) { b.Void = new(ident.Hash) }, ada)},
	} {
		assert.ErrorIs(t, title.Check(), token.ErrChain, name)
	}
}

// handoff rules §4.1: each part of a transfer that does not follow, at every
// form of title.
func TestTransfer_DoesNotFollow_Refused(t *testing.T) {
	fresh, first, second, declined := titles(t)
	otherVoid := answer(t, token.Void, pass(t, first, ben, dan), dan).Hash()
	for name, c := range map[string]struct {
		title  token.Title
		holder party
	}{
		"generated": {fresh, ada}, "one hop": {first, ben}, "two hops": {second, cleo}, "declined": {declined, ben},
	} {
		spoiled := map[string]func(*token.TransferBody){
			"another token":      func(b *token.TransferBody) { b.Token[0]++ },
			"the same hop":       func(b *token.TransferBody) { b.Hop-- },
			"a hop too far":      func(b *token.TransferBody) { b.Hop++ },
			"by somebody else":   func(b *token.TransferBody) { b.From = dan.id },
			"another previous":   func(b *token.TransferBody) { b.Previous[0]++ },
			"genesis' own token": func(b *token.TransferBody) { b.Previous = ident.Hash{} },
		}
		if c.title.Void.IsZero() {
			spoiled["a void for nothing"] = func(b *token.TransferBody) { b.Void = &otherVoid }
		} else {
			spoiled["the void not named"] = func(b *token.TransferBody) { b.Void = nil }
			spoiled["another void"] = func(b *token.TransferBody) { b.Void = &otherVoid }
			spoiled["by who declined it"] = func(b *token.TransferBody) { b.From = cleo.id }
		}
		for what, spoil := range spoiled {
			body := c.title.Next(newParty(5).id, ident.Reservation{Number: 1})
			spoil(&body)
			if body.Hop == 0 {
				continue // cannot be signed at all
			}
			signer := map[ident.Member]party{ada.id: ada, ben.id: ben, cleo.id: cleo, dan.id: dan}[body.From]
			transfer, err := body.Sign(group, signer.key)
			require.NoError(t, err)
			assert.ErrorIs(t, c.title.Admits(transfer), token.ErrChain, "%s: %s", name, what)
		}
	}
}

// A title whose transfer came back admits nothing that the receiver signs, and
// one that was taken nothing that the sender signs.
func TestVoid_RightToSign_Moves(t *testing.T) {
	_, _, second, declined := titles(t)
	byCleo, byBen := pass(t, second, cleo, dan), pass(t, declined, ben, dan)
	assert.NoError(t, second.Admits(byCleo))
	assert.NoError(t, declined.Admits(byBen))
	assert.ErrorIs(t, second.Admits(byBen), token.ErrChain)
	assert.ErrorIs(t, declined.Admits(byCleo), token.ErrChain)
}

func TestHop_Last_Refused(t *testing.T) {
	_, first, _, _ := titles(t)
	body := first.Next(cleo.id, ident.Reservation{Number: 1})
	body.Hop = ident.MaxHop
	last, err := body.Sign(group, ben.key)
	require.NoError(t, err)
	title := token.Title{Genesis: first.Genesis, Transfer: last}
	_, err = title.Next(dan.id, ident.Reservation{Number: 1}).Sign(group, cleo.key)
	assert.ErrorIs(t, err, token.ErrMalformed)
	assert.ErrorIs(t, title.Admits(pass(t, first, ben, cleo)), token.ErrChain)
}

func TestAnswers(t *testing.T) {
	_, _, second, declined := titles(t)
	assert.True(t, declined.Void.Answers(second.Transfer))
	assert.False(t, declined.Void.Answers(token.Transfer{}))
	assert.False(t, token.Answer{}.Answers(second.Transfer))
	assert.False(t, token.Answer{}.Answers(token.Transfer{}))
}

func TestVerdictNames(t *testing.T) {
	assert.Equal(t, "receipt", token.Receipt.String())
	assert.Equal(t, "void", token.Void.String())
	assert.Equal(t, "unknown", token.Unknown.String())
	assert.Equal(t, "verdict 0", token.Verdict(0).String())
}
