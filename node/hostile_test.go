package node_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// exchange is a token that a hostile peer got from a node and gave back to it,
// by the book, so that everything that can be replayed, altered or forged is at
// hand.
type exchange struct {
	*peer
	t        *testing.T
	a        *authority
	n        *node.Node
	dir      string
	keys     keyring
	verifier *token.Verifier

	genesis token.Genesis
	out     *wire.Transfer // from the node, hop 1
	back    *wire.Transfer // to the node, hop 2, which it took
	receipt []byte         // for back
	accept  *wire.Accept   // of hop 2
}

// keyring is token.Keys of a few members.
type keyring map[ident.Member]*signature.PublicKey

func (k keyring) Key(m ident.Member) *signature.PublicKey { return k[m] }

func newExchange(t *testing.T) *exchange {
	a := newAuthority(t, quick)
	x := &exchange{t: t, a: a, dir: t.TempDir(), keys: keyring{}}
	honest := a.issue(t, "honest")
	x.peer = a.openPeer(t, a.issue(t, "hostile"))
	for _, id := range []node.Identity{honest, x.id} {
		x.keys[id.Certificate.Member()] = id.Certificate.Key()
	}
	x.verifier = token.NewVerifier(a.group.ID(), x.keys)
	x.n, _ = openNode(t, honest, func(c *node.Config) { c.StateDir, c.Found = x.dir, true })
	x.meet(x.n)

	offer := hear[*wire.Offer](x.peer)
	x.say(x.n, &wire.Accept{Token: offer.Token, Hop: offer.Hop, Incarnation: x.incarnation, Accept: 1, Lifetime: 30_000})
	x.out = hear[*wire.Transfer](x.peer)
	x.genesis = x.verified(x.verifier.Genesis(x.out.Genesis))
	first := x.receive(x.out)
	require.EqualValues(t, 1, first.Body().Hop)

	title := token.Title{Genesis: x.genesis, Transfer: first}
	x.accept = x.offer(title)
	x.back = x.transfer(title, title.Next(x.n.ID(), x.accept.Reservation()), x.id)
	x.say(x.n, x.back)
	x.receipt = hear[*wire.Receipt](x.peer).Receipt
	return x
}

// receive answers a transfer from the node with its receipt.
func (x *exchange) receive(m *wire.Transfer) token.Transfer {
	t, err := x.verifier.Transfer(m.Transfer)
	require.NoError(x.t, err)
	receipt, err := token.AnswerTo(t, x.Self(), x.incarnation).Sign(x.a.group.ID(), token.Receipt, x.id.Key)
	require.NoError(x.t, err)
	x.say(x.n, &wire.Receipt{Receipt: receipt.Raw()})
	return t
}

func (x *exchange) verified(g token.Genesis, err error) token.Genesis {
	require.NoError(x.t, err)
	return g
}

// offer offers a token and waits for its reservation.
func (x *exchange) offer(title token.Title) *wire.Accept {
	x.say(x.n, &wire.Offer{
		Token: title.Token(), Hop: title.Hop() + 1, Genesis: title.Genesis.Raw(), Signers: title.Signers(),
	})
	return hear[*wire.Accept](x.peer)
}

// transfer signs a transfer that follows from a title, as somebody.
func (x *exchange) transfer(title token.Title, body token.TransferBody, as node.Identity) *wire.Transfer {
	next, err := body.Sign(x.a.group.ID(), as.Key)
	require.NoError(x.t, err)
	return &wire.Transfer{
		Transfer: next.Raw(), Genesis: title.Genesis.Raw(), Previous: title.Transfer.Raw(), Void: title.Void.Raw(),
	}
}

// mint makes a token of the hostile peer's own.
func (x *exchange) mint(sequence uint64) token.Title {
	g, err := token.GenesisBody{
		Resource: resource, Generator: x.Self(), Incarnation: x.incarnation, Sequence: sequence,
		Time: uint64(time.Now().UnixMilli()),
	}.Sign(x.a.group.ID(), x.id.Key)
	require.NoError(x.t, err)
	return token.Title{Genesis: g}
}

// state is what must not change: custody on disk and in the status.
func (x *exchange) state() string {
	c := readJournals(x.t, map[string]string{"honest": filepath.Join(x.dir, "journal")}, map[ident.Member]string{x.Self(): "hostile"})
	var lines []string
	for id, hops := range c.tokens {
		for hop, list := range hops {
			for _, one := range list {
				lines = append(lines, fmt.Sprintf("%v hop %d: %+v", id, hop, *one))
			}
		}
	}
	slices.Sort(lines)
	slot := x.n.Status().Resources[0].Slots[0]
	return fmt.Sprintf("%s\nheld %v %v hop %d, %d seen", strings.Join(lines, "\n"), slot.Held, slot.Token, slot.Hop, slot.TokensSeen)
}

// rejected is how many messages the node has dropped for this reason.
func (x *exchange) rejected(reason string) uint64 { return x.n.Status().Rejected[reason] }

// TestTransfer_Invalid_Ignored: replayed, altered, wrongly addressed,
// stale and forged transfers from a member with a valid certificate are
// answered or counted, and custody stays what it was.
func TestTransfer_Invalid_Ignored(t *testing.T) {
	x := newExchange(t)
	before := x.state()
	require.Contains(t, before, "held true")
	first, err := x.verifier.Transfer(x.out.Transfer)
	require.NoError(t, err)
	title := token.Title{Genesis: x.genesis, Transfer: first}
	other := x.a.issue(t, "other")

	dropped := func(name, reason string, m *wire.Transfer) {
		t.Run(name, func(t *testing.T) {
			count := x.rejected(reason)
			x.say(x.n, m)
			await.Until(t, "it is counted as "+reason, func() bool { return x.rejected(reason) == count+1 })
			require.Equal(t, before, x.state())
		})
	}
	unknown := func(name string, m *wire.Transfer) {
		t.Run(name, func(t *testing.T) {
			x.say(x.n, m)
			answer, err := x.verifier.Answer(token.Unknown, hear[*wire.Unknown](x.peer).Unknown)
			require.NoError(t, err)
			sent, err := x.verifier.Transfer(m.Transfer)
			require.NoError(t, err)
			require.True(t, answer.Answers(sent))
			require.Equal(t, before, x.state())
		})
	}

	t.Run("replayed", func(t *testing.T) {
		for range 3 {
			x.say(x.n, x.back)
			require.Equal(t, x.receipt, hear[*wire.Receipt](x.peer).Receipt, "the same receipt")
		}
		require.Equal(t, before, x.state())
	})
	dropped("the node's own, replayed to itself", "address", x.out)

	body := title.Next(other.Certificate.Member(), x.accept.Reservation())
	dropped("to another member", "address", x.transfer(title, body, x.id))

	x.keys[other.Certificate.Member()] = other.Certificate.Key()
	body = title.Next(x.n.ID(), x.accept.Reservation())
	body.From = other.Certificate.Member()
	stolen := x.transfer(title, body, other)
	stolen.Certificates = [][]byte{other.Certificate.Raw()}
	dropped("from another member", "address", stolen)

	body = title.Next(x.n.ID(), x.accept.Reservation())
	forged := x.transfer(title, body, other)
	dropped("signed by another member", "signature", forged)

	body.Previous[0] ^= 1
	dropped("not following from its previous", "chain", x.transfer(title, body, x.id))

	body = title.Next(x.n.ID(), x.accept.Reservation())
	body.Hop = 7
	dropped("of a later hop", "chain", x.transfer(title, body, x.id))

	mine := x.mint(1)
	never := x.accept.Accept + 100
	unknown("with a number that was never given", x.transfer(mine, mine.Next(x.n.ID(), ident.Reservation{Incarnation: x.accept.Incarnation, Number: never}), x.id))
	unknown("with number 0", x.transfer(mine, mine.Next(x.n.ID(), ident.Reservation{Incarnation: x.accept.Incarnation, Number: 0}), x.id))
	unknown("with the number of another token", x.transfer(mine, mine.Next(x.n.ID(), x.accept.Reservation()), x.id))
	unknown("to an incarnation of another time", x.transfer(mine, mine.Next(x.n.ID(), ident.Reservation{Incarnation: x.incarnation, Number: x.accept.Accept, MAC: x.accept.MAC}), x.id))

	stale := x.mint(2)
	number := x.offer(stale).Accept
	x.settle()
	unknown("with a number that is settled", x.transfer(stale, stale.Next(x.n.ID(), ident.Reservation{Incarnation: x.accept.Incarnation, Number: number}), x.id))

	t.Run("altered anywhere", func(t *testing.T) {
		flip := func(raw *[]byte) {
			whole := *raw
			for i := range whole {
				*raw = bytes.Clone(whole)
				(*raw)[i] ^= 1 << (i % 8)
				x.say(x.n, x.back)
			}
			*raw = whole
		}
		flip(&x.back.Transfer)
		flip(&x.back.Genesis)
		flip(&x.back.Previous)
		require.Zero(t, x.Stats().DroppedCustody, "everything has left")
		for _, m := range x.marked() {
			switch m.(type) {
			case *wire.Receipt, *wire.Void, *wire.Unknown:
				require.Fail(t, "answered: "+m.Type().String())
			}
		}
		require.Equal(t, before, x.state())
	})

	t.Run("a void after the receipt", func(t *testing.T) {
		void, err := token.AnswerTo(first, x.Self(), x.incarnation).Sign(x.a.group.ID(), token.Void, x.id.Key)
		require.NoError(t, err)
		x.say(x.n, &wire.Void{Void: void.Raw()})
		x.marked()
		require.Equal(t, before, x.state())
	})

	t.Run("a second one of the same hop", func(t *testing.T) {
		body := title.Next(x.n.ID(), x.accept.Reservation())
		body.Field = []byte("another")
		x.say(x.n, x.transfer(title, body, x.id))
		for _, m := range x.marked() {
			require.NotEqual(t, wire.TypeReceipt, m.Type())
		}
		require.Equal(t, before, x.state())
		require.Contains(t, x.evidence(), "two transfers of one hop", "it convicts its signer")
	})
}

// settle promises that everything so far is settled, after enough reservations
// for the node to raise its floor.
func (x *exchange) settle() {
	var last *wire.Accept
	for i := range uint64(20) {
		last = x.offer(x.mint(100 + i))
	}
	more := x.mint(200)
	x.say(x.n, &wire.Offer{
		Token: more.Token(), Hop: 1, Genesis: more.Genesis.Raw(), Signers: more.Signers(),
		Settled: &wire.Settled{Incarnation: last.Incarnation, Below: last.Accept + 1},
	})
	require.Greater(x.t, hear[*wire.Accept](x.peer).Accept, last.Accept)
}

// marked waits until the node has handled everything so far, and returns what
// it has said meanwhile.
func (x *exchange) marked() (said []wire.Message) {
	x.say(x.n, &wire.Want{Topic: wire.WantConfiguration})
	for {
		m := await.Next(x.t, "an answer", x.messages)
		if _, ok := m.(*wire.Configuration); ok {
			return said
		}
		said = append(said, m)
	}
}

// evidence is what the node's journal accuses others of. Such records are not
// synced at once: the node ends first.
func (x *exchange) evidence() (what []string) {
	closeNow(x.n)
	var g ident.Group
	for _, s := range readJournal(x.t, filepath.Join(x.dir, "journal"), &g) {
		if r, ok := s.Record.(*journal.Evidence); ok {
			require.Equal(x.t, x.Self(), r.Accused)
			what = append(what, r.What)
		}
	}
	return what
}

// usage is what this process holds, after a garbage collection.
func usage() (heap uint64, goroutines int) {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}

// TestFrames_HundredThousandMalformed_Ignored from a member with a valid certificate
// leave memory and goroutines of a node where they were: garbage, messages cut
// short, and whole messages that say nonsense.
func TestFrames_HundredThousandMalformed_Ignored(t *testing.T) {
	const inFlight = 500
	frames := 100_000
	if raceDetector {
		frames /= 10 // it makes this ten times as slow
	}
	x := newExchange(t)
	before := x.state()
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := []func() []byte{
		func() []byte { return noise(rng, 1+rng.IntN(200)) },
		func() []byte { return append([]byte{0x82, byte(rng.IntN(24))}, noise(rng, rng.IntN(100))...) },
		func() []byte { m := x.encoded(x.back); return m[:1+rng.IntN(len(m)-1)] },
		func() []byte { m := x.encoded(x.back); m[rng.IntN(len(m))] ^= 1 << rng.IntN(8); return m },
		func() []byte {
			return x.encoded(&wire.Offer{Token: ident.Token(noise(rng, 32)), Hop: 1 + rng.Uint64N(ident.MaxHop),
				Genesis: noise(rng, 100), Signers: []ident.Member{ident.Member(noise(rng, 16))}})
		},
		func() []byte {
			return x.encoded(&wire.Members{Entries: []wire.Entry{{Certificate: noise(rng, 200), Endpoint: noise(rng, 200)}}})
		},
		func() []byte {
			return x.encoded(&wire.Policy{Resource: fmt.Sprint("r", rng.Uint64()), Policy: "wandering", Configuration: 1})
		},
		func() []byte {
			return x.encoded(&wire.Accept{Token: ident.Token(noise(rng, 32)), Hop: 1, Accept: rng.Uint64()})
		},
	}
	send := func(n int) {
		for i := range n {
			x.Send(x.n.ID(), transport.Custody, kinds[i%len(kinds)]())
			if i%inFlight == inFlight-1 {
				x.marked() // not more at once than the sender's queue takes
			}
		}
		x.marked()
	}
	send(frames / 10) // what grows to a bound has grown
	heap, goroutines := usage()
	send(frames)
	require.Zero(t, x.Stats().DroppedCustody, "everything has left")
	const slack = 1 << 20
	await.Until(t, "goroutines and memory are back", func() bool {
		h, g := usage()
		return g <= goroutines && h <= heap+slack
	})
	require.Equal(t, before, x.state())
	require.Greater(t, x.rejected("malformed"), uint64(frames)/4)
}

func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func (x *exchange) encoded(m wire.Message) []byte {
	body, err := wire.Encode(m)
	require.NoError(x.t, err)
	return body
}
