package permit_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/token"
)

// bench is a group of four, and a token of it that has gone some way.
type bench struct {
	*audittest.World
	ada, ben, cleo, dan *audittest.Author
	steps               []step // title by title, from hop 0 on
}

// step is a title with the one before it.
type step struct{ title, before token.Title }

// newBench has a token that ada generates. It goes to ben and to cleo; dan declines it twice, cleo gives it
// to ada, and ada to ben.
func newBench() *bench {
	w := audittest.New("ada", "ben", "cleo", "dan")
	b := &bench{World: w, ada: w.List[0], ben: w.List[1], cleo: w.List[2], dan: w.List[3]}
	b.steps = []step{{title: b.ada.Generate()}}
	b.goes(b.ada, b.ben, false)
	b.goes(b.ben, b.cleo, false)
	b.goes(b.cleo, b.dan, true)
	b.goes(b.cleo, b.dan, true)
	b.goes(b.cleo, b.ada, false)
	b.goes(b.ada, b.ben, false)
	return b
}

func (b *bench) last() step { return b.steps[len(b.steps)-1] }

// goes is one more hop.
func (b *bench) goes(from, to *audittest.Author, declined bool) {
	before := b.last().title
	next := token.Title{Genesis: before.Genesis, Transfer: from.Sign(before, to)}
	if declined {
		next.Void = to.Answer(token.Void, next.Transfer)
	}
	b.steps = append(b.steps, step{next, before})
}

// certificateOf is the certificate of a member.
func (b *bench) certificateOf(m ident.Member) []byte {
	for _, a := range b.List {
		if a.ID == m {
			return b.Certify(a, audittest.Start.AddDate(0, 0, 90)).Raw()
		}
	}
	return nil
}

func (b *bench) form(hop int) permit.Form {
	return permit.New(b.Group.ID(), b.steps[hop].title, b.steps[hop].before, b.certificateOf)
}

func (b *bench) conditions() permit.Conditions {
	return permit.Conditions{
		Group: b.Group.ID(), Authorities: b.Group, Settings: b.Group.Config().Settings(), At: audittest.Start.Add(time.Hour),
	}
}

// verified is the permit of a hop.
func (b *bench) verified(t require.TestingT, hop int) permit.Permit {
	p, err := permit.Verify(b.form(hop), b.conditions())
	require.NoError(t, err)
	return p
}

// At each hop a permit verifies and says who holds the token: at hop 0, after transfers, and when the token
// came back. It goes through bytes and through a file.
func TestVerify_EveryHop_SaysWhoHolds(t *testing.T) {
	b := newBench()
	holders := []*audittest.Author{b.ada, b.ben, b.cleo, b.cleo, b.cleo, b.ada, b.ben}
	for hop, s := range b.steps {
		form := b.form(hop)
		raw, err := form.Encode()
		require.NoError(t, err)
		decoded, err := permit.Decode(raw)
		require.NoError(t, err)
		text, err := form.Text()
		require.NoError(t, err)
		assert.Less(t, len(text), 4<<10)
		parsed, err := permit.ParseText(append([]byte("# of a test\n\n"), text...))
		require.NoError(t, err)
		assert.Equal(t, decoded, parsed)

		p, err := permit.Verify(decoded, b.conditions())
		require.NoError(t, err, "hop %d", hop)
		assert.Equal(t, holders[hop].ID, p.Title().Holder(), "hop %d", hop)
		assert.Equal(t, holders[hop].Name, p.Holder().Name())
		assert.Equal(t, uint64(p.Holder().Body().NotAfter.UnixMilli()), p.Expires(p.Title().Holder()))
		assert.EqualValues(t, hop, p.Title().Hop())
		assert.Equal(t, s.title.Hash(), p.Title().Hash())
		if hop > 0 {
			assert.Equal(t, s.before.Hash(), p.Before().Hash())
			assert.Equal(t, "ada", p.Name(p.Title().Genesis.Body().Generator))
		}
		assert.Empty(t, p.Name(ident.Member{}))
		assert.Zero(t, p.Expires(ident.Member{}))
	}
}

// Each thing that can be wrong with a permit has its error.
func TestVerify_EachMistake_HasItsError(t *testing.T) {
	b := newBench()
	other := newBench()
	other.steps = []step{{title: other.ada.Generate()}}
	other.steps[0].title = token.Title{Genesis: other.ada.Genesis(7, 7, audittest.Resource)} // another token
	other.goes(other.ada, other.ben, false)
	other.goes(other.ben, other.cleo, false)
	stranger := audittest.New("a", "b", "c", "d", "eve").List[4]
	forged := bytes.Clone(b.steps[2].title.Transfer.Raw())
	forged[len(forged)-1] ^= 1
	revoked := func(who *audittest.Author) func(*permit.Form, *permit.Conditions) {
		return func(_ *permit.Form, c *permit.Conditions) {
			c.Revoked = func(m ident.Member) bool { return m == who.ID }
		}
	}
	gate := func(who *audittest.Author) func(*permit.Form, *permit.Conditions) {
		claims := b.Certify(who, audittest.Start.AddDate(0, 0, 90)).Body()
		claims.Role = certificate.GateRole
		asGate, err := claims.Sign(b.CA)
		require.NoError(t, err)
		return func(f *permit.Form, _ *permit.Conditions) {
			f.Certificates = append(f.Certificates[:0:0], f.Certificates...)
			f.Certificates[slices.IndexFunc(f.Certificates, func(raw []byte) bool { return bytes.Equal(raw, b.certificateOf(who.ID)) })] = asGate.Raw()
		}
	}
	// cleo has seen the title of hop 1 and signs a hop over it, as if she had been given the token at that hop.
	invented := func() token.Transfer {
		body := b.steps[2].title.Next(b.dan.ID, ident.Reservation{Number: 1})
		body.Hop = 1 << 40
		tr, err := body.Sign(b.Group.ID(), b.cleo.Key)
		require.NoError(t, err)
		return tr
	}()
	for name, c := range map[string]struct {
		hop    int
		change func(*permit.Form, *permit.Conditions)
		want   error
	}{
		"no genesis":               {2, func(f *permit.Form, _ *permit.Conditions) { f.Genesis = nil }, permit.ErrMalformed},
		"a void at hop 0":          {0, func(f *permit.Form, _ *permit.Conditions) { f.Void = b.form(3).Void }, permit.ErrMalformed},
		"previous at hop 0":        {0, func(f *permit.Form, _ *permit.Conditions) { f.Previous = b.form(2).Previous }, permit.ErrMalformed},
		"a void of nothing":        {1, func(f *permit.Form, _ *permit.Conditions) { f.PreviousVoid = b.form(3).Void }, permit.ErrMalformed},
		"no certificates":          {2, func(f *permit.Form, _ *permit.Conditions) { f.Certificates = nil }, permit.ErrMalformed},
		"five certificates":        {3, func(f *permit.Form, _ *permit.Conditions) { f.Certificates = append(f.Certificates, f.Certificates[0]) }, permit.ErrMalformed},
		"a large object":           {2, func(f *permit.Form, _ *permit.Conditions) { f.Transfer = make([]byte, 5<<10) }, permit.ErrMalformed},
		"another group":            {2, func(_ *permit.Form, c *permit.Conditions) { c.Group[0] ^= 1 }, permit.ErrGroup},
		"another group inside":     {2, func(f *permit.Form, c *permit.Conditions) { f.Group[0] ^= 1; c.Group[0] ^= 1 }, certificate.ErrGroup},
		"another CA":               {2, func(_ *permit.Form, c *permit.Conditions) { c.Authorities = nobody{} }, certificate.ErrUnknownCA},
		"a certificate is cut":     {2, func(f *permit.Form, _ *permit.Conditions) { f.Certificates[0] = f.Certificates[0][1:] }, certificate.ErrMalformed},
		"a certificate is missing": {2, func(f *permit.Form, _ *permit.Conditions) { f.Certificates = f.Certificates[:2] }, permit.ErrCertificates},
		"a signer's is missing":    {2, func(f *permit.Form, _ *permit.Conditions) { f.Certificates = f.Certificates[1:] }, token.ErrUnknownSigner},
		"one too many":             {1, func(f *permit.Form, _ *permit.Conditions) { f.Certificates = b.form(2).Certificates }, permit.ErrCertificates},
		"in another order":         {1, func(f *permit.Form, _ *permit.Conditions) { c := f.Certificates; c[0], c[1] = c[1], c[0] }, permit.ErrCertificates},
		"one twice":                {1, func(f *permit.Form, _ *permit.Conditions) { f.Certificates = append(f.Certificates, f.Certificates[1]) }, permit.ErrCertificates},
		"forged transfer":          {2, func(f *permit.Form, _ *permit.Conditions) { f.Transfer = forged }, token.ErrSignature},
		"forged previous":          {3, func(f *permit.Form, _ *permit.Conditions) { f.Previous = forged }, token.ErrSignature},
		"a transfer as genesis":    {2, func(f *permit.Form, _ *permit.Conditions) { f.Genesis = f.Transfer }, token.ErrMalformed},
		"foreign genesis":          {2, func(f *permit.Form, _ *permit.Conditions) { f.Genesis = other.form(2).Genesis }, token.ErrChain},
		"foreign previous":         {2, func(f *permit.Form, _ *permit.Conditions) { f.Previous = other.form(2).Previous }, token.ErrChain},
		"no previous":              {2, func(f *permit.Form, _ *permit.Conditions) { f.Previous = nil }, token.ErrChain},
		"a previous at hop 1":      {1, func(f *permit.Form, _ *permit.Conditions) { f.Previous = f.Transfer }, token.ErrChain},
		"the void left out":        {4, func(f *permit.Form, _ *permit.Conditions) { f.PreviousVoid = nil }, token.ErrChain},
		"the void of another":      {4, func(f *permit.Form, _ *permit.Conditions) { f.Void = b.form(3).Void }, token.ErrChain},
		"a receipt as void": {3, func(f *permit.Form, _ *permit.Conditions) {
			f.Void = b.dan.Answer(token.Receipt, b.steps[3].title.Transfer).Raw()
		}, token.ErrSignature},
		"a void by the holder": {3, func(f *permit.Form, _ *permit.Conditions) {
			f.Void = b.cleo.Answer(token.Void, b.steps[3].title.Transfer).Raw()
		}, token.ErrChain},
		"a skipped hop": {5, func(f *permit.Form, _ *permit.Conditions) {
			f.Previous, f.PreviousVoid = b.form(3).Transfer, b.form(3).Void
		}, token.ErrChain},
		"an invented hop": {3, func(f *permit.Form, _ *permit.Conditions) { f.Transfer, f.Void = invented.Raw(), nil }, token.ErrChain},
		"a stranger's genesis": {0, func(f *permit.Form, _ *permit.Conditions) {
			f.Genesis = stranger.Genesis(1, 1, audittest.Resource).Raw()
		}, token.ErrUnknownSigner},
		"the holder is a gate":       {2, gate(b.cleo), certificate.ErrRole},
		"who gave it is a gate":      {2, gate(b.ben), certificate.ErrRole},
		"the generator is a gate":    {4, gate(b.ada), certificate.ErrRole},
		"a resource that is no more": {2, func(_ *permit.Form, c *permit.Conditions) { c.Settings.Resources = nil }, permit.ErrResource},
		"fewer slots":                {2, func(_ *permit.Form, c *permit.Conditions) { c.Settings.Resources[0].Slots = 0 }, permit.ErrSlot},
		"the holder is revoked":      {2, revoked(b.cleo), permit.ErrHolder},
		"who gave it is revoked":     {2, revoked(b.ben), permit.ErrSigner},
		"the generator is revoked":   {4, revoked(b.ada), permit.ErrSigner},
		"somebody else is revoked":   {2, revoked(b.dan), nil},
		"the holder's has expired":   {2, func(_ *permit.Form, c *permit.Conditions) { c.At = audittest.Start.AddDate(1, 0, 0) }, certificate.ErrExpired},
		"the holder's begins later":  {2, func(_ *permit.Form, c *permit.Conditions) { c.At = audittest.Start.AddDate(-1, 0, 0) }, certificate.ErrNotYetValid},
		"known before the revocation": {2, func(f *permit.Form, c *permit.Conditions) {
			revoked(b.ben)(f, c)
			c.Known = is(b.steps[0].title.Token())
		}, nil},
		"another is known": {2, func(f *permit.Form, c *permit.Conditions) { revoked(b.ben)(f, c); c.Known = is(ident.Token{1}) }, permit.ErrSigner},
		"known, the holder revoked": {2, func(f *permit.Form, c *permit.Conditions) {
			revoked(b.cleo)(f, c)
			c.Known = is(b.steps[0].title.Token())
		}, permit.ErrHolder},
	} {
		t.Run(name, func(t *testing.T) {
			seen := token.NewMemory(b.Group.ID())
			for hop := range b.steps {
				all := b.conditions()
				all.Memory = seen
				_, err := permit.Verify(b.form(hop), all)
				require.NoError(t, err)
			}
			f, conditions := b.form(c.hop), b.conditions()
			conditions.Settings.Resources = append(conditions.Settings.Resources[:0:0], conditions.Settings.Resources...)
			c.change(&f, &conditions)
			p, err := permit.Verify(f, conditions)
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				assert.Zero(t, p, "nothing is learned from what does not verify")
			}
			conditions.Memory = seen // changes no verdict
			_, err = permit.Verify(f, conditions)
			assert.Equal(t, c.want == nil, err == nil, "%v", err)

			if c.want == permit.ErrMalformed {
				_, err := f.Encode()
				assert.ErrorIs(t, err, c.want)
				_, err = f.Text()
				assert.ErrorIs(t, err, c.want)
			}
		})
	}
}

func is(t ident.Token) func(ident.Token) bool {
	return func(other ident.Token) bool { return other == t }
}

// A permit whose signer was revoked names the member.
func TestRevokedError_Text_NamesTheMember(t *testing.T) {
	assert.EqualError(t, &permit.RevokedError{Member: ident.Member{1}, Holder: true}, "holder of the permit was revoked: 01000000000000000000000000000000")
	assert.EqualError(t, &permit.RevokedError{Member: ident.Member{1}}, "signer of the permit was revoked: 01000000000000000000000000000000")
}

// No byte of a permit can be changed: all that it says is signed, or compared.
func TestVerify_AnyByteChanged_Fails(t *testing.T) {
	b := newBench()
	raw, err := b.form(4).Encode()
	require.NoError(t, err)
	for i := 0; i < len(raw); i += 5 {
		changed := bytes.Clone(raw)
		changed[i] ^= 1 << (i % 8)
		f, err := permit.Decode(changed)
		if err == nil {
			_, err = permit.Verify(f, b.conditions())
		}
		assert.Error(t, err, "byte %d", i)
	}
}

// A file has one block, of a permit, and is bounded.
func TestParseText_OtherFiles_Refused(t *testing.T) {
	b := newBench()
	text, err := b.form(2).Text()
	require.NoError(t, err)
	certificate, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: []byte{1}})
	require.NoError(t, err)
	for name, text := range map[string][]byte{
		"empty":         nil,
		"two":           append(bytes.Clone(text), text...),
		"another block": certificate,
		"cut":           text[:len(text)/2],
		"no text":       {0, 1, 2},
		"long":          append(bytes.Repeat([]byte("#\n"), permit.MaxText), text...),
	} {
		_, err := permit.ParseText(text)
		assert.ErrorIs(t, err, permit.ErrText, name)
	}
	damaged, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Permit, Bytes: []byte{0x87}})
	require.NoError(t, err)
	_, err = permit.ParseText(damaged)
	assert.ErrorIs(t, err, permit.ErrMalformed)
}

// nobody knows no CA key.
type nobody struct{ certificate.Authorities }

func (nobody) Key([envelope.KeyIDSize]byte) *signature.PublicKey { return nil }

// By a permit a gate sees that a title was given away by its own holder, one hop and two hops later, and by no other
// permit. Two members that have only seen the genesis can invent what they like: it follows from nobody's title.
func TestFollows_OtherPermits_OnlySuccessors(t *testing.T) {
	b := newBench()
	for later := range b.steps {
		p := b.verified(t, later)
		for hop, s := range b.steps {
			assert.Equal(t, later-hop == 1 || later-hop == 2, p.Follows(s.title), "hop %d by the permit of hop %d", hop, later)
		}
		assert.False(t, p.Follows(token.Title{}))
	}
	// Ben and dan know the genesis. They sign hops far beyond the others, over an invented transfer.
	invent := func(from, to *audittest.Author, hop uint64, previous ident.Hash) token.Transfer {
		body := b.steps[0].title.Next(to.ID, ident.Reservation{Number: 1})
		body.From, body.Hop, body.Previous = from.ID, hop, previous
		tr, err := body.Sign(b.Group.ID(), from.Key)
		require.NoError(t, err)
		return tr
	}
	genesis := b.steps[0].title.Genesis
	first := invent(b.dan, b.ben, 1<<40, ident.Hash{1})
	before := token.Title{Genesis: genesis, Transfer: first}
	p, err := permit.Verify(permit.New(b.Group.ID(), token.Title{Genesis: genesis, Transfer: invent(b.ben, b.dan, 1<<40+1, first.Hash())},
		before, b.certificateOf), b.conditions())
	require.NoError(t, err, "it cannot be told from a true one")
	for hop, s := range b.steps {
		assert.False(t, p.Follows(s.title), "hop %d", hop)
		assert.False(t, p.Declines(s.title), "hop %d", hop)
	}
}

// By a permit a gate sees that a title's holder has declined the transfer that names it.
func TestDeclines_OtherPermits_OnlyWithItsVoid(t *testing.T) {
	b := newBench()
	taken := token.Title{Genesis: b.steps[3].title.Genesis, Transfer: b.steps[3].title.Transfer} // as if dan had taken hop 3
	for later := range b.steps {
		p := b.verified(t, later)
		assert.Equal(t, later == 3 || later == 4, p.Declines(taken), "by the permit of hop %d", later)
		for hop, s := range b.steps {
			assert.False(t, p.Declines(s.title), "hop %d by the permit of hop %d", hop, later)
		}
	}
}
