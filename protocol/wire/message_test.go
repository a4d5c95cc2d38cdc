package wire_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

func TestEveryTypeIsSampled(t *testing.T) {
	messages, small := samples(), smallest()
	require.Len(t, small, len(messages))
	require.Len(t, makers, len(messages))
	for i, m := range messages {
		assert.Equal(t, wire.Type(i+1), m.Type())
		assert.Equal(t, m.Type(), small[i].Type())
	}
	_, err := wire.PeekType([]byte{0x82, byte(len(messages) + 1), 0x80})
	assert.ErrorIs(t, err, wire.ErrMessageType, "a type without a sample")
}

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	for _, m := range samples() {
		body, err := wire.Encode(m)
		require.NoError(t, err, m.Type())
		peeked, err := wire.PeekType(body)
		require.NoError(t, err)
		assert.Equal(t, m.Type(), peeked)
		got, err := wire.Decode(body)
		require.NoError(t, err, m.Type())
		assert.Equal(t, m, got)
	}
}

// Append is Encode behind what is there already, and changes nothing when it
// fails.
func TestAppend(t *testing.T) {
	body := []byte("before")
	for _, m := range samples() {
		encoded, err := wire.Encode(m)
		require.NoError(t, err)
		longer, err := wire.Append(body, m)
		require.NoError(t, err)
		assert.Equal(t, append([]byte("before"), encoded...), longer)
	}
	same, err := wire.Append(body, &wire.Accept{})
	assert.ErrorIs(t, err, wire.ErrMalformed)
	assert.Equal(t, body, same)
}

// What may be left out may be nil or empty: the bytes are the same.
func TestNilIsEmpty(t *testing.T) {
	for _, c := range []struct{ absent, empty wire.Message }{
		{
			&wire.Hello{Versions: [2]uint64{1, 1}},
			&wire.Hello{Versions: [2]uint64{1, 1}, Endpoint: []byte{}},
		}, {
			&wire.Offer{Hop: 1, Genesis: object(1), Signers: []ident.Member{{}}},
			&wire.Offer{Hop: 1, Genesis: object(1), Signers: []ident.Member{{}}, Certificates: [][]byte{}},
		}, {
			&wire.Transfer{Transfer: object(1), Genesis: object(1)},
			&wire.Transfer{
				Transfer: object(1), Genesis: object(1), Previous: []byte{}, Void: []byte{},
				Certificates: [][]byte{}, Updates: [][]byte{},
			},
		},
		{&wire.Receipt{Receipt: object(1)}, &wire.Receipt{Receipt: object(1), Updates: [][]byte{}}},
		{&wire.Policy{Resource: "r", Policy: "p"}, &wire.Policy{Resource: "r", Policy: "p", Body: []byte{}}},
		{&wire.Members{}, &wire.Members{Entries: []wire.Entry{}}},
		{
			&wire.Members{Entries: []wire.Entry{{Certificate: object(1)}}},
			&wire.Members{Entries: []wire.Entry{{Certificate: object(1), Endpoint: []byte{}, Leave: []byte{}, Failures: [][]byte{}}}},
		},
		{&wire.Summary{}, &wire.Summary{Parts: []wire.Part{}}},
		{&wire.Revocations{}, &wire.Revocations{Revocations: [][]byte{}}},
	} {
		want, err := wire.Encode(c.empty)
		require.NoError(t, err)
		got, err := wire.Encode(c.absent)
		require.NoError(t, err)
		assert.Equal(t, want, got, c.empty.Type())
		decoded, err := wire.Decode(got)
		require.NoError(t, err)
		again, err := wire.Encode(decoded)
		require.NoError(t, err)
		assert.Equal(t, want, again, c.empty.Type())
	}
}

func TestDecodedMessageDoesNotReferToTheBody(t *testing.T) {
	for _, m := range samples() {
		body, err := wire.Encode(m)
		require.NoError(t, err)
		got, err := wire.Decode(body)
		require.NoError(t, err)
		clear(body)
		assert.Equal(t, m, got)
	}
}

func TestRefusedMessages(t *testing.T) {
	large := object(wire.MaxObject + 1)
	for name, c := range map[string]struct {
		want   error
		broken wire.Message
	}{
		"hello with version 0":       {wire.ErrMalformed, &wire.Hello{Versions: [2]uint64{0, 1}}},
		"hello with versions down":   {wire.ErrMalformed, &wire.Hello{Versions: [2]uint64{2, 1}}},
		"hello with large endpoint":  {wire.ErrLimit, edit(func(m *wire.Hello) { m.Endpoint = large })},
		"offer of hop 0":             {wire.ErrMalformed, edit(func(m *wire.Offer) { m.Hop = 0 })},
		"offer without genesis":      {wire.ErrLimit, edit(func(m *wire.Offer) { m.Genesis = nil })},
		"offer with large genesis":   {wire.ErrLimit, edit(func(m *wire.Offer) { m.Genesis = large })},
		"offer without signers":      {wire.ErrLimit, edit(func(m *wire.Offer) { m.Signers = nil })},
		"offer with many signers":    {wire.ErrLimit, edit(func(m *wire.Offer) { m.Signers = make([]ident.Member, wire.MaxSigners+1) })},
		"offer with many certs":      {wire.ErrLimit, edit(func(m *wire.Offer) { m.Certificates = repeat(wire.MaxSigners+1, object(1)) })},
		"offer with empty cert":      {wire.ErrLimit, edit(func(m *wire.Offer) { m.Certificates = [][]byte{{}} })},
		"offer with large cert":      {wire.ErrLimit, edit(func(m *wire.Offer) { m.Certificates = [][]byte{large} })},
		"need of hop 0":              {wire.ErrMalformed, edit(func(m *wire.Need) { m.Hop = 0 })},
		"need of nobody":             {wire.ErrLimit, edit(func(m *wire.Need) { m.Members = nil })},
		"need of many":               {wire.ErrLimit, edit(func(m *wire.Need) { m.Members = make([]ident.Member, wire.MaxSigners+1) })},
		"accept of hop 0":            {wire.ErrMalformed, edit(func(m *wire.Accept) { m.Hop = 0 })},
		"refuse of hop 0":            {wire.ErrMalformed, edit(func(m *wire.Refuse) { m.Hop = 0 })},
		"refuse without reason":      {wire.ErrMalformed, edit(func(m *wire.Refuse) { m.Reason = 0 })},
		"cancel of hop 0":            {wire.ErrMalformed, edit(func(m *wire.Cancel) { m.Hop = 0 })},
		"transfer of nothing":        {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Transfer = nil })},
		"transfer too large":         {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Transfer = large })},
		"transfer without genesis":   {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Genesis = nil })},
		"transfer, large genesis":    {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Genesis = large })},
		"transfer, large previous":   {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Previous = large })},
		"transfer, large void":       {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Void = large })},
		"transfer with many certs":   {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Certificates = repeat(wire.MaxSigners+1, object(1)) })},
		"transfer with empty cert":   {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Certificates = [][]byte{{}} })},
		"transfer with many updates": {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Updates = repeat(wire.MaxUpdates+1, object(1)) })},
		"transfer with empty update": {wire.ErrLimit, edit(func(m *wire.Transfer) { m.Updates = [][]byte{{}} })},
		"receipt of nothing":         {wire.ErrLimit, edit(func(m *wire.Receipt) { m.Receipt = nil })},
		"receipt too large":          {wire.ErrLimit, edit(func(m *wire.Receipt) { m.Receipt = large })},
		"receipt with many updates":  {wire.ErrLimit, edit(func(m *wire.Receipt) { m.Updates = repeat(wire.MaxUpdates+1, object(1)) })},
		"void of nothing":            {wire.ErrLimit, &wire.Void{}},
		"void too large":             {wire.ErrLimit, &wire.Void{Void: large}},
		"unknown of nothing":         {wire.ErrLimit, &wire.Unknown{}},
		"unknown too large":          {wire.ErrLimit, &wire.Unknown{Unknown: large}},
		"policy without resource":    {wire.ErrLimit, edit(func(m *wire.Policy) { m.Resource = "" })},
		"policy, long resource":      {wire.ErrLimit, edit(func(m *wire.Policy) { m.Resource = strings.Repeat("r", wire.MaxName+1) })},
		"policy without name":        {wire.ErrLimit, edit(func(m *wire.Policy) { m.Policy = "" })},
		"policy, long name":          {wire.ErrLimit, edit(func(m *wire.Policy) { m.Policy = strings.Repeat("p", wire.MaxName+1) })},
		"policy, large body":         {wire.ErrLimit, edit(func(m *wire.Policy) { m.Body = object(wire.MaxPolicyBody + 1) })},
		"want of nothing":            {wire.ErrMalformed, edit(func(m *wire.Want) { m.Topic = 0 })},
		"want of an unknown topic":   {wire.ErrMalformed, edit(func(m *wire.Want) { m.Topic = wire.WantSummary + 1 })},
		"want backwards":             {wire.ErrMalformed, edit(func(m *wire.Want) { m.From = ident.Member{2, 1} })},
		"members, many entries":      {wire.ErrLimit, &wire.Members{Entries: repeat(wire.MaxPage+1, wire.Entry{Certificate: object(1)})}},
		"members without cert":       {wire.ErrLimit, &wire.Members{Entries: []wire.Entry{{Endpoint: object(1)}}}},
		"members, large cert":        {wire.ErrLimit, &wire.Members{Entries: []wire.Entry{{Certificate: large}}}},
		"members, large endpoint":    {wire.ErrLimit, &wire.Members{Entries: []wire.Entry{{Certificate: object(1), Endpoint: large}}}},
		"members, second one bad":    {wire.ErrLimit, &wire.Members{Entries: []wire.Entry{{Certificate: object(1)}, {}}}},
		"members, large leave":       {wire.ErrLimit, &wire.Members{Entries: []wire.Entry{{Certificate: object(1), Leave: large}}}},
		"members, many failures":     {wire.ErrLimit, &wire.Members{Entries: []wire.Entry{{Certificate: object(1), Failures: repeat(wire.MaxFailures+1, object(1))}}}},
		"members, empty failure":     {wire.ErrLimit, &wire.Members{Entries: []wire.Entry{{Certificate: object(1), Failures: [][]byte{{}}}}}},
		"revocations, second bad":    {wire.ErrLimit, &wire.Revocations{Revocations: [][]byte{object(1), large}}},
		"configuration of nothing":   {wire.ErrLimit, &wire.Configuration{}},
		"configuration too large":    {wire.ErrLimit, &wire.Configuration{Configuration: object(wire.MaxConfiguration + 1)}},
		"configuration, many keys":   {wire.ErrLimit, edit(func(m *wire.Configuration) { m.Authorities = repeat(wire.MaxVouchers+1, object(1)) })},
		"configuration, empty key":   {wire.ErrLimit, edit(func(m *wire.Configuration) { m.Authorities = [][]byte{{}} })},
		"summary, many parts":        {wire.ErrLimit, &wire.Summary{Parts: partsOf(wire.MaxParts + 1)}},
		"summary, part before from":  {wire.ErrMalformed, &wire.Summary{From: ident.Member{2}, Parts: []wire.Part{{Through: ident.Member{1}}}}},
		"summary, two parts alike":   {wire.ErrMalformed, &wire.Summary{Parts: []wire.Part{{Through: ident.Member{1}}, {Through: ident.Member{1}}}}},
		"summary, parts backwards":   {wire.ErrMalformed, &wire.Summary{Parts: []wire.Part{{Through: ident.Member{2}}, {Through: ident.Member{1}}}}},
		"news of nothing":            {wire.ErrLimit, &wire.News{}},
		"news, too many":             {wire.ErrLimit, &wire.News{Updates: repeat(wire.MaxUpdates+1, object(1))}},
		"news, empty one":            {wire.ErrLimit, &wire.News{Updates: [][]byte{{}}}},
		"news, large one":            {wire.ErrLimit, &wire.News{Updates: [][]byte{large}}},
		"revocations, too many":      {wire.ErrLimit, &wire.Revocations{Revocations: repeat(wire.MaxPage+1, object(1))}},
		"revocations, empty one":     {wire.ErrLimit, &wire.Revocations{Revocations: [][]byte{{}}}},
		"revocations, large one":     {wire.ErrLimit, &wire.Revocations{Revocations: [][]byte{large}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wire.Encode(c.broken)
			require.ErrorIs(t, err, c.want)
			assert.ErrorContains(t, err, c.broken.Type().String())
			_, err = wire.Decode(unchecked(t, c.broken))
			require.ErrorIs(t, err, c.want)
		})
	}
}

// edit spoils the sample of type *M.
func edit[M any, P interface {
	*M
	wire.Message
}](spoil func(P)) wire.Message {
	m := sample[P]()
	spoil(m)
	return m
}

// partsOf is n parts of a SUMMARY, in order.
func partsOf(n int) []wire.Part {
	parts := make([]wire.Part, n)
	for i := range parts {
		parts[i].Through[0] = byte(i)
	}
	return parts
}

// unchecked encodes a message that Encode would refuse.
func unchecked(t require.TestingT, m wire.Message) []byte {
	fields, err := canonical.Marshal(m)
	require.NoError(t, err)
	return append([]byte{0x82, byte(m.Type())}, fields...)
}

// The limits themselves are permitted.
func TestLargestMessages(t *testing.T) {
	full := object(wire.MaxObject)
	for name, m := range map[string]wire.Message{
		"hello":    edit(func(m *wire.Hello) { m.Endpoint = full; m.Versions[1] = math.MaxUint64 }),
		"offer":    edit(func(m *wire.Offer) { m.Genesis = full; m.Certificates = repeat(wire.MaxSigners, full) }),
		"transfer": &wire.Transfer{Transfer: full, Genesis: full, Previous: full, Void: full, Certificates: repeat(wire.MaxSigners, full)},
		"updates":  &wire.Receipt{Receipt: full, Updates: repeat(wire.MaxUpdates, object(1024))},
		"policy": edit(func(m *wire.Policy) {
			m.Resource = strings.Repeat("r", wire.MaxName)
			m.Body = object(wire.MaxPolicyBody)
		}),
		"members": &wire.Members{Entries: repeat(wire.MaxPage, wire.Entry{Certificate: object(500), Endpoint: object(500)})},
		"failures": &wire.Members{Entries: repeat(wire.MaxPage, wire.Entry{
			Certificate: object(300), Leave: object(50), Failures: repeat(wire.MaxFailures, object(30)),
		})},
		"summary":     &wire.Summary{Parts: partsOf(wire.MaxParts)},
		"news":        &wire.News{Updates: repeat(wire.MaxUpdates, object(1024))},
		"revocations": &wire.Revocations{Revocations: repeat(wire.MaxPage, object(500))},
		"config":      &wire.Configuration{Configuration: object(wire.MaxConfiguration)},
	} {
		body, err := wire.Encode(m)
		require.NoError(t, err, name)
		require.LessOrEqual(t, len(body), wire.MaxFrame)
		got, err := wire.Decode(body)
		require.NoError(t, err, name)
		again, err := wire.Encode(got)
		require.NoError(t, err)
		assert.Equal(t, body, again, name)
	}
}

// A list within its own bounds can still be more than a frame holds. The
// receiver has the same bound as the sender, to the byte.
func TestMessageAndFrameHaveOneLimit(t *testing.T) {
	page := func(last int) *wire.Members {
		entries := repeat(16, wire.Entry{Certificate: object(wire.MaxObject - 4)})
		entries[15].Certificate = object(last)
		return &wire.Members{Entries: entries}
	}
	const most = 4022 // makes the body MaxFrame bytes
	body, err := wire.Encode(page(most))
	require.NoError(t, err)
	require.Equal(t, wire.MaxFrame, len(body))
	_, err = wire.Decode(body)
	require.NoError(t, err)

	_, err = wire.Encode(page(most + 1))
	require.ErrorIs(t, err, wire.ErrLimit)
	_, err = wire.Decode(unchecked(t, page(most+1)))
	require.ErrorIs(t, err, canonical.ErrTooLarge)
}

func TestTokenAndWireAgreeOnSizes(t *testing.T) {
	assert.Equal(t, policy.MaxField, wire.MaxPolicyBody)
	assert.Equal(t, policy.MaxField, token.MaxField)
	assert.Equal(t, token.MaxResourceName, wire.MaxName)
}

// hex bodies that no message encodes to, and the first reason that applies.
func TestMalformedBodies(t *testing.T) {
	void := func(fields string) string { return "\x82\x09" + fields }
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"nothing":                  {"", wire.ErrMalformed},
		"one byte":                 {"\x82", wire.ErrMalformed},
		"type without fields":      {"\x82\x09", wire.ErrMalformed},
		"array of three":           {"\x83\x09\x81\x41\x00\x00", wire.ErrMalformed},
		"a map":                    {"\xa1\x09\x81\x41\x00", wire.ErrMalformed},
		"indefinite array":         {"\x9f\x09\x81\x41\x00\xff", wire.ErrMalformed},
		"type as text":             {"\x82\x61\x09\x81\x41\x00", wire.ErrMalformed},
		"negative type":            {"\x82\x20\x81\x41\x00", wire.ErrMalformed},
		"type in two bytes":        {"\x82\x18\x09\x81\x41\x00", wire.ErrMalformed},
		"type 0":                   {"\x82\x00\x80", wire.ErrMessageType},
		"type of a later version":  {"\x82\x17\x80", wire.ErrMessageType},
		"no field":                 {void("\x80"), canonical.ErrType},
		"a field too many":         {void("\x82\x41\x00\x00"), canonical.ErrType},
		"fields as a map":          {void("\xa1\x01\x41\x00"), canonical.ErrType},
		"text for bytes":           {void("\x81\x61\x61"), canonical.ErrType},
		"number for bytes":         {void("\x81\x05"), canonical.ErrType},
		"null for bytes":           {void("\x81\xf6"), canonical.ErrNotCanonical},
		"numbers for bytes":        {void("\x81\x81\x05"), canonical.ErrNotCanonical},
		"length in two bytes":      {void("\x81\x58\x01\x00"), canonical.ErrNotShortest},
		"indefinite bytes":         {void("\x81\x5f\x41\x00\xff"), canonical.ErrIndefinite},
		"tagged bytes":             {void("\x81\xc1\x41\x00"), canonical.ErrTag},
		"cut off":                  {void("\x81\x43\x00"), canonical.ErrTruncated},
		"bytes behind":             {void("\x81\x41\x00\x00"), canonical.ErrTrailing},
		"floating point":           {void("\x81\xf9\x00\x00"), canonical.ErrType},
		"nested too deeply":        {void("\x81\x81\x81\x81\x81\x81\x00"), canonical.ErrTooDeep},
		"member id of 15 bytes":    {"\x82\x12\x82\x4f" + strings.Repeat("m", 15) + "\x00", canonical.ErrNotCanonical},
		"member id of 17 bytes":    {"\x82\x12\x82\x51" + strings.Repeat("m", 17) + "\x00", canonical.ErrNotCanonical},
		"member id as text":        {"\x82\x12\x82\x70" + strings.Repeat("m", 16) + "\x00", canonical.ErrType},
		"negative number":          {"\x82\x12\x82\x50" + strings.Repeat("m", 16) + "\x20", canonical.ErrType},
		"flag of another kind":     {"\x82\x0f\x82\x80\x01", canonical.ErrType},
		"flag null":                {"\x82\x0f\x82\x80\xf6", canonical.ErrNotCanonical},
		"name that is not UTF-8":   {"\x82\x0b\x85\x61\xff\x00\x61p\x00\x40", canonical.ErrUTF8},
		"settled of one field":     {helloWith("\x81\x50" + strings.Repeat("i", 16)), canonical.ErrType},
		"settled as an empty list": {helloWith("\x80"), canonical.ErrType},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wire.Decode([]byte(c.body))
			require.ErrorIs(t, err, c.want)
			if c.want != wire.ErrMessageType {
				assert.ErrorIs(t, err, wire.ErrMalformed)
			}
		})
	}
}

// helloWith is a HELLO whose settled field is spelled by hand.
func helloWith(settled string) string {
	return "\x82\x01\x8a\x82\x01\x01\x50" + strings.Repeat("i", 16) + "\x00\x00\x00\x00\x00" + settled + "\x40\x00"
}

func TestEncodeRefusesTextThatIsNotUTF8(t *testing.T) {
	_, err := wire.Encode(edit(func(m *wire.Policy) { m.Resource = "\xff" }))
	assert.ErrorIs(t, err, wire.ErrMalformed)
}

func TestPropertyEncodeThenDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage.Draw(t, "message")
		body, err := wire.Encode(m)
		require.NoError(t, err)
		got, err := wire.Decode(body)
		require.NoError(t, err)
		again, err := wire.Encode(got)
		require.NoError(t, err)
		require.Equal(t, body, again)
		require.Equal(t, m.Type(), got.Type())
	})
}

// Whatever Decode accepts is what Encode would have sent: no message has two
// spellings, and none is cut short, or carries on, unnoticed.
func TestPropertyAcceptedBytesEncodeToThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body, err := wire.Encode(anyMessage.Draw(t, "message"))
		require.NoError(t, err)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			body = mutate(t, body)
		}
		m, err := wire.Decode(body)
		if err != nil {
			known := isAny(err, wire.ErrMalformed, wire.ErrLimit, wire.ErrMessageType)
			require.True(t, known, "%v", err)
			return
		}
		again, err := wire.Encode(m)
		require.NoError(t, err)
		require.Equal(t, body, again)
	})
}

func TestNoMessageSurvivesBeingCut(t *testing.T) {
	for _, m := range append(samples(), smallest()...) {
		body, err := wire.Encode(m)
		require.NoError(t, err)
		for n := range body {
			_, err := wire.Decode(body[:n])
			require.ErrorIs(t, err, wire.ErrMalformed, "%v cut to %d", m.Type(), n)
		}
		_, err = wire.Decode(append(body, 0))
		require.ErrorIs(t, err, wire.ErrMalformed)
	}
}

func TestNames(t *testing.T) {
	for _, m := range samples() {
		assert.NotContains(t, m.Type().String(), "type")
	}
	assert.Equal(t, "TRANSFER", wire.TypeTransfer.String())
	assert.Equal(t, "message type 0", wire.Type(0).String())
	assert.Equal(t, "message type 20", (wire.TypeNews + 1).String())
	assert.Equal(t, "message type 99", wire.Type(99).String())
	for r := wire.RefuseBusy; r <= wire.RefuseTitle; r++ {
		assert.NotEmpty(t, r.String())
		assert.NotContains(t, r.String(), "refusal")
	}
	assert.Equal(t, "refusal 0", wire.Refusal(0).String())
	assert.Equal(t, "refusal 7", wire.Refusal(7).String())
}
