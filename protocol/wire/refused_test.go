package wire_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

func TestRefusedMessages(t *testing.T) {
	large := object(wire.MaxObject + 1)
	for name, c := range map[string]struct {
		want   error
		broken wire.Message
	}{
		"hello with version 0":       {wire.ErrMalformed, &wire.Hello{Versions: [2]uint64{0, 1}}},
		"hello that shows no kind":   {wire.ErrMalformed, &wire.Hello{Versions: [2]uint64{1, 1}, Shown: &wire.Shown{Object: object(1)}}},
		"hello that shows a fifth":   {wire.ErrMalformed, &wire.Hello{Versions: [2]uint64{1, 1}, Shown: &wire.Shown{Kind: 5, Object: object(1)}}},
		"hello that shows nothing":   {wire.ErrLimit, &wire.Hello{Versions: [2]uint64{1, 1}, Shown: &wire.Shown{Kind: 1}}},
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
		"configuration too large":    {wire.ErrLimit, &wire.Configuration{Configuration: object(wire.ConfigurationPart + 1)}},
		"configuration of too many":  {wire.ErrLimit, &wire.Configuration{Configuration: object(wire.ConfigurationPart), Rest: wire.MaxConfiguration - wire.ConfigurationPart + 1}},
		"configuration, endless":     {wire.ErrLimit, &wire.Configuration{Configuration: object(wire.ConfigurationPart), Rest: math.MaxUint64}},
		"configuration, long before": {wire.ErrLimit, &wire.Configuration{Configuration: object(1), Before: 17 * wire.ConfigurationPart}},
		"configuration, long in all": {wire.ErrLimit, &wire.Configuration{Configuration: object(wire.ConfigurationPart), Before: 15 * wire.ConfigurationPart, Rest: 1025}},
		"configuration, overflow":    {wire.ErrLimit, &wire.Configuration{Configuration: object(1), Before: math.MaxUint64}},
		"configuration, odd place":   {wire.ErrMalformed, &wire.Configuration{Configuration: object(1), Before: 1}},
		"configuration, small part":  {wire.ErrMalformed, &wire.Configuration{Configuration: object(wire.ConfigurationPart - 1), Rest: 1}},
		"configuration, key early":   {wire.ErrMalformed, &wire.Configuration{Configuration: object(wire.ConfigurationPart), Rest: 1, Authorities: [][]byte{{1}}}},
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

func TestEncode_NotUTF8_Refused(t *testing.T) {
	_, err := wire.Encode(edit(func(m *wire.Policy) { m.Resource = "\xff" }))
	assert.ErrorIs(t, err, wire.ErrMalformed)
}

func TestMessage_Cut_Refused(t *testing.T) {
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
