package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/wire"
)

// straw plays a role with the work that no handoff can do without: four CBOR
// messages on one long-lived QUIC stream, the transfer signed and verified,
// the receipt signed and verified. Nobody checks what the messages say, and
// nothing is remembered. Tokens go back and forth between the two.
type straw struct {
	*script
	sign   func(message []byte) []byte
	verify func(message, sig []byte) error

	rest     time.Duration // how long a token stays before it is offered
	udp      *net.UDPConn
	quic     *quic.Transport
	stream   *quic.Stream
	serial   uint64 // makes every signed message another one
	handoffs atomic.Uint64

	mu  sync.Mutex // guards the end of the stream that is written to
	out []byte
}

// playStraw makes straw men that sign and verify with one of the two libraries,
// and let tokens rest for so long.
func playStraw(keys func(*straw, role) error, rest time.Duration) func(role) (player, error) {
	return func(r role) (player, error) {
		s := &straw{rest: rest}
		var err error
		if s.script, err = newScript(); err != nil {
			return nil, err
		}
		if err := keys(s, r); err != nil {
			return nil, err
		}
		if s.udp, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			return nil, err
		}
		s.quic = &quic.Transport{Conn: s.udp}
		conf, err := throwAwayTLS()
		if err != nil {
			return nil, err
		}
		if r.Peer == "" {
			return s, s.listen(conf)
		}
		return s, s.dial(conf, r)
	}
}

// ownSide is which of the two straw men a role is.
func (r role) ownSide() int {
	if r.Peer == "" {
		return 1
	}
	return 0
}

// projectKeys are of the library that members use.
func projectKeys(s *straw, r role) error {
	own, err := signature.NewPrivateKey(seedOf(r.ownSide()))
	if err != nil {
		return err
	}
	other, err := signature.NewPrivateKey(seedOf(1 - r.ownSide()))
	if err != nil {
		return err
	}
	s.sign, s.verify = own.Sign, other.Public().Verify
	return nil
}

// standardKeys are of the standard library, whose verification accepts more.
func standardKeys(s *straw, r role) error {
	own := ed25519.NewKeyFromSeed(seedOf(r.ownSide()))
	other := ed25519.NewKeyFromSeed(seedOf(1 - r.ownSide())).Public().(ed25519.PublicKey)
	s.sign = func(message []byte) []byte { return ed25519.Sign(own, message) }
	s.verify = func(message, sig []byte) error {
		if !ed25519.Verify(other, message, sig) {
			return errors.New("bad signature")
		}
		return nil
	}
	return nil
}

// throwAwayTLS is for both ends, which do not look at each other's certificate.
func throwAwayTLS() (*tls.Config, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates:       []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		NextProtos:         []string{"straw"},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true,
	}, nil
}

func (s *straw) listen(conf *tls.Config) error {
	l, err := s.quic.Listen(conf, &quic.Config{})
	if err != nil {
		return err
	}
	go s.end(func() error {
		c, err := l.Accept(context.Background())
		if err != nil {
			return err
		}
		if s.stream, err = c.AcceptStream(context.Background()); err != nil {
			return err
		}
		return s.serve()
	})
	return nil
}

// dial opens the stream and offers every token once. From then on each receipt
// is followed by the next offer.
func (s *straw) dial(conf *tls.Config, r role) error {
	address, err := net.ResolveUDPAddr("udp", r.Peer)
	if err != nil {
		return err
	}
	c, err := s.quic.Dial(context.Background(), address, conf, &quic.Config{})
	if err != nil {
		return err
	}
	if s.stream, err = c.OpenStream(); err != nil {
		return err
	}
	for range r.Tokens {
		if err := s.say(&s.offer); err != nil {
			return err
		}
	}
	go s.end(s.serve)
	return nil
}

// end reports why the straw man has stopped, unless it was told to.
func (s *straw) end(work func() error) {
	err := work()
	var closed *quic.ApplicationError
	if !errors.As(err, &closed) && !errors.Is(err, quic.ErrTransportClosed) && !errors.Is(err, net.ErrClosed) {
		fmt.Fprintln(os.Stderr, "straw man:", err)
	}
}

func (s *straw) serve() error {
	in := bufio.NewReaderSize(s.stream, 16<<10)
	buf := make([]byte, wire.MaxFrame)
	for {
		body, err := wire.ReadFrame(in, buf)
		if err != nil {
			return err
		}
		if err := s.hear(body); err != nil {
			return err
		}
	}
}

// hear answers a message.
func (s *straw) hear(body []byte) error {
	t, err := wire.PeekType(body)
	if err != nil {
		return err
	}
	fields := body[2:]
	switch t {
	case wire.TypeOffer:
		var m wire.Offer
		if err := cbor.Unmarshal(fields, &m); err != nil {
			return err
		}
		return s.say(&s.accept)
	case wire.TypeAccept:
		var m wire.Accept
		if err := cbor.Unmarshal(fields, &m); err != nil {
			return err
		}
		s.seal(s.transfer.Transfer)
		return s.say(&s.transfer)
	case wire.TypeTransfer:
		var m wire.Transfer
		if err := cbor.Unmarshal(fields, &m); err != nil {
			return err
		}
		if err := s.check(m.Transfer); err != nil {
			return err
		}
		s.seal(s.receipt.Receipt)
		if s.rest == 0 {
			return s.say(&s.receipt, &s.offer)
		}
		time.AfterFunc(s.rest, func() { _ = s.say(&s.offer) }) // the reader sees why it fails
		return s.say(&s.receipt)
	case wire.TypeReceipt:
		var m wire.Receipt
		if err := cbor.Unmarshal(fields, &m); err != nil {
			return err
		}
		s.handoffs.Add(1)
		return s.check(m.Receipt)
	}
	return fmt.Errorf("unexpected %v", t)
}

// serialAt is where a signed object has the straw man's serial number: in its
// payload.
const serialAt = 64

// seal signs an object anew: its last bytes are the signature of those before.
func (s *straw) seal(object []byte) {
	s.serial++
	binary.BigEndian.PutUint64(object[serialAt:], s.serial)
	message := object[:len(object)-signature.SignatureSize]
	copy(object[len(message):], s.sign(message))
}

func (s *straw) check(object []byte) error {
	end := len(object) - signature.SignatureSize
	if end < 0 {
		return errors.New("object without signature")
	}
	return s.verify(object[:end], object[end:])
}

// say writes messages, together.
func (s *straw) say(messages ...wire.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = s.out[:0]
	var err error
	for _, m := range messages {
		if s.out, err = appendMessage(s.out, m); err != nil {
			return err
		}
	}
	_, err = s.stream.Write(s.out)
	return err
}

// Address is where the straw man listens.
func (s *straw) Address() string { return s.udp.LocalAddr().String() }

// Count counts receipts.
func (s *straw) Count() (handoffs, syncs uint64) { return s.handoffs.Load(), 0 }

// Close ends the connection.
func (s *straw) Close() {
	_ = s.quic.Close()
	_ = s.udp.Close()
}
