package main

import (
	"bytes"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// script is what the straw man says: the four messages of a handoff between
// two members, with the contents that they have in the middle of a token's life.
type script struct {
	offer    wire.Offer
	accept   wire.Accept
	transfer wire.Transfer
	receipt  wire.Receipt
}

// hops is how far the token of the script has come: its numbers have their usual
// lengths.
const hops = 300

// newScript lets a token go back and forth, and tells its last handoff.
func newScript() (*script, error) {
	var keys [2]*signature.PrivateKey
	var members [2]ident.Member
	group := ident.Group{1}
	for i := range keys {
		key, err := signature.NewPrivateKey(seedOf(i))
		if err != nil {
			return nil, err
		}
		public := key.Public().Bytes()
		keys[i], members[i] = key, ident.MemberOf(group, public[:])
	}
	now, incarnation := uint64(time.Now().UnixMilli()), ident.Incarnation{1}
	genesis, err := token.GenesisBody{
		Resource: resource, Slot: 1, Generator: members[0], Incarnation: incarnation, Sequence: 1, Time: now,
	}.Sign(group, keys[0])
	if err != nil {
		return nil, err
	}
	title := token.Title{Genesis: genesis}
	var last token.Transfer
	for hop := range hops {
		title.Transfer = last
		from, to := hop%2, 1-hop%2
		body := title.Next(members[to], ident.Reservation{Incarnation: incarnation, Number: 1000 * hops})
		body.Time = now
		if last, err = body.Sign(group, keys[from]); err != nil {
			return nil, err
		}
	}
	receipt, err := token.AnswerTo(last, last.Body().To, incarnation).Sign(group, token.Receipt, keys[hops%2])
	if err != nil {
		return nil, err
	}
	return tell(title, last, receipt), nil
}

// tell puts a handoff into messages.
func tell(title token.Title, transfer token.Transfer, receipt token.Answer) *script {
	b := transfer.Body()
	return &script{
		offer: wire.Offer{
			Token: b.Token, Hop: b.Hop, Genesis: title.Genesis.Raw(), Signers: title.Signers(),
			Settled: &wire.Settled{Incarnation: b.Incarnation, Below: b.Accept},
		},
		accept: wire.Accept{Token: b.Token, Hop: b.Hop, Incarnation: b.Incarnation, Accept: b.Accept, MAC: b.MAC, Lifetime: 30_000},
		transfer: wire.Transfer{
			Transfer: bytes.Clone(transfer.Raw()), Genesis: title.Genesis.Raw(), Previous: title.Transfer.Raw(),
		},
		receipt: wire.Receipt{Receipt: bytes.Clone(receipt.Raw())},
	}
}

// seedOf is the secret of one of the two straw men, which both know.
func seedOf(i int) []byte {
	return bytes.Repeat([]byte{byte(i + 1)}, signature.SeedSize)
}

// codec writes the same bytes as a member does, without looking at them again.
var codec = func() cbor.EncMode {
	mode, err := cbor.EncOptions{
		ByteArray: cbor.ByteArrayToByteSlice, NilContainers: cbor.NilContainerAsEmpty,
		TextMarshaler: cbor.TextMarshalerNone,
	}.EncMode()
	if err != nil {
		panic(err) // the options are constant
	}
	return mode
}()

// appendMessage appends the frame of a message to dst.
func appendMessage(dst []byte, m wire.Message) ([]byte, error) {
	fields, err := codec.Marshal(m)
	if err != nil {
		return nil, err
	}
	const pairHead = 0x82 // of the array [type, fields]
	return wire.AppendFrame(dst, append([]byte{pairHead, byte(m.Type())}, fields...)), nil
}
