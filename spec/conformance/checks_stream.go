package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/protocol/wire"
)

// streamChecks are about chapters 7.1 and 11.2 to 11.4: streams, frames and preambles.
var streamChecks = []Check{
	{"streams", []string{"T-7"}, "The member lets its peer open no second stream, no unidirectional stream and no datagrams, and opens no stream itself.", oneStream},
	{"preamble", []string{"T-11"}, "The preamble is answered by one. Of two connections, both have one process, and the second a higher ordinal.", preambles},
	{"bad-preamble", []string{"T-11", "T-18", "F-1"}, "A first frame that is no preamble ends the connection with code 4.", badPreambles},
	{"late-preamble", []string{"T-13"}, "A connection without preamble is closed with code 4 after 5 seconds.", latePreamble},
	{"quiet-connection", []string{"T-15"}, "A connection with keep-alives and no frames is still there after 8.5 seconds.", quietConnection},
	{"unready-connections", []string{"T-13"}, "Of five connections without preamble one is closed with code 6.", unready},
	{"frame-size", []string{"F-1", "T-18"}, "A frame of 0, 65537 or 4294967295 bytes ends the connection with code 4.", frameSizes},
	{"largest-frame", []string{"F-1", "F-3"}, "A frame of 65536 bytes that is no message is read and dropped; the connection stays.", largestFrame},
}

// connectionChecks are about chapters 11.3 and 11.4: which connection stays, and how one ends.
var connectionChecks = []Check{
	{"newer-connection", []string{"T-12"}, "A second connection with a higher ordinal takes the place of the first, which is closed with code 2.", newerStays},
	{"older-connection", []string{"T-12"}, "A second connection with a lower ordinal is closed with code 2, and the first one goes on.", olderGoes},
	{"restarted-peer", []string{"T-12"}, "A connection of another process takes the place of the former one, whatever its ordinal.", restarted},
	{"orderly-end", []string{"T-18"}, "When this side has ended its half of the stream, the member ends its own and closes with code 0.", orderlyEnd},
	{"unknown-codes", []string{"T-18"}, "After a close with a code that the protocol does not have, the member accepts the next connection.", unknownCodes},
}

func oneStream(t *trial) {
	s := t.greet()
	_, err := s.quic.OpenStream()
	t.check(err != nil, "a second stream can be opened")
	_, err = s.quic.OpenUniStream()
	t.check(err != nil, "a unidirectional stream can be opened")
	t.check(!s.quic.ConnectionState().SupportsDatagrams.Remote, "it takes datagrams")
	s.fence()
	now, cancel := context.WithTimeout(t.ctx, max(t.Quiet, time.Millisecond))
	defer cancel()
	_, err = s.quic.AcceptStream(now)
	t.check(err != nil, "it opens a stream")
	now, cancel = context.WithTimeout(t.ctx, time.Millisecond)
	defer cancel()
	_, err = s.quic.AcceptUniStream(now)
	t.check(err != nil, "it opens a unidirectional stream")
}

func preambles(t *trial) {
	var answers [2]preamble
	for i := range answers {
		s := t.dial()
		answers[i] = t.exchange(s, s.preamble())
		s.say(s.greeting())
		s.awaitHello()
		s.close()
	}
	t.check(answers[0].Process == answers[1].Process, "two processes, %x and %x", answers[0].Process, answers[1].Process)
	t.check(answers[0].Ordinal >= 1, "ordinals count from 1, not from %d", answers[0].Ordinal)
	t.check(answers[0].Ordinal < answers[1].Ordinal, "ordinal %d comes after %d", answers[1].Ordinal, answers[0].Ordinal)
}

func badPreambles(t *trial) {
	good := preamble{Process: t.process, Ordinal: 1}.encode()
	frame := func(body []byte) []byte { return wire.AppendFrame(nil, body) }
	for _, c := range []struct {
		what  string
		bytes []byte
	}{
		{"an empty frame", make([]byte, 4)},
		{"a frame of 2 GiB", []byte{0x7f, 0, 0, 0}},
		{"text", frame([]byte("GET / HTTP/1.1"))},
		{"another message type", frame(append([]byte{0x82, 1}, good[2:]...))},
		{"a byte behind it", frame(append(bytes.Clone(good), 0))},
		{"a type that is not in shortest form", frame(append([]byte{0x82, 0x18, 0}, good[2:]...))},
		{"a preamble of 33 bytes", frame(make([]byte, 33))},
	} {
		s := t.dial()
		s.write(c.bytes)
		s.closed(codeProtocol, c.what)
	}
}

// preambleTimeout is what T-13 gives a peer.
const preambleTimeout = 5 * time.Second

func latePreamble(t *trial) {
	t.needsTime(preambleTimeout+time.Second, "it takes 5 seconds")
	began := time.Now()
	s := t.dial()
	s.closed(codeProtocol, "no preamble")
	t.check(time.Since(began) > preambleTimeout-time.Second/10, "closed after %v already", time.Since(began))
}

// quietConnection waits for longer than QUIC's own timeout, in which only keep-alives
// come.
func quietConnection(t *trial) {
	const quiet = maxSilence + time.Second
	t.needsTime(quiet+time.Second/2, "it takes 8.5 seconds")
	s := t.greet()
	s.listen(quiet)
	s.say(s.gossip(false))
	expect(s, "answer to GOSSIP", isAnswer)
}

// maxUnready is how many connections without preamble T-13 permits.
const maxUnready = 4

func unready(t *trial) {
	for unreadyAtOnce(t) {
	}
}

// unreadyAtOnce opens one connection too many without preamble, and looks how one of them ends. It is to be called again
// if they took so long that the member may have closed the first ones for their age, before the last one came.
func unreadyAtOnce(t *trial) (again bool) {
	over := make(chan *session, maxUnready+1)
	var list []*session
	var refusal error
	began := time.Now()
	for range maxUnready + 1 {
		s, err := t.handshake(t.own())
		if err != nil {
			refusal = err
			over <- nil
			break
		}
		context.AfterFunc(s.quic.Context(), func() { over <- s })
		list = append(list, s)
	}
	again = refusal == nil && time.Since(began) >= preambleTimeout
	var first *session
	select {
	case first = <-over:
	case <-t.ctx.Done():
		t.fail("five connections without preamble stay")
	}
	for _, s := range list {
		s.close()
	}
	t.reconnect() // whatever the verdict is: the checks that follow need room
	if again {
		return true
	}
	t.check(refusal == nil || isOverload(refusal), "a fifth connection without preamble: %v", refusal)
	if first != nil {
		first.closed(codeOverload, "a fifth connection without preamble")
	}
	return false
}

func isOverload(err error) bool {
	var app *quic.ApplicationError
	return errors.As(err, &app) && app.Remote && app.ErrorCode == codeOverload
}

// reconnect waits until the member answers a preamble again: it has room for one more
// connection from then on. Until then the member may close with any code.
func (t *trial) reconnect() {
	for {
		if s, err := t.handshake(t.own()); err == nil {
			_, err := s.readPreamble(s.preamble())
			s.close()
			if err == nil {
				return
			}
		}
		t.wait(10 * time.Millisecond)
	}
}

func frameSizes(t *trial) {
	for _, size := range []uint32{0, wire.MaxFrame + 1, 1<<32 - 1} {
		s := t.greet()
		s.write(append(binary.BigEndian.AppendUint32(nil, size), 1, 2, 3))
		s.closed(codeProtocol, "a frame of a length that none has")
	}
}

func largestFrame(t *trial) {
	s := t.greet()
	s.body(make([]byte, wire.MaxFrame))
	s.stays()
}

func newerStays(t *trial) {
	first := t.greet()
	second := t.greet()
	first.closed(codeReplaced, "the first connection")
	second.stays()
}

func olderGoes(t *trial) {
	low := preamble{Process: t.process, Ordinal: t.ordinal + 1}
	t.ordinal += 2
	first := t.greet()
	second := t.dial()
	_, err := second.readPreamble(low)
	t.check(err != nil, "a connection with a lower ordinal is answered")
	second.closed(codeReplaced, "a connection with a lower ordinal")
	first.stays()
}

func restarted(t *trial) {
	first := t.greet()
	second := t.dial()
	other := t.process
	other[0] ^= 1
	t.exchange(second, preamble{Process: other, Ordinal: 1})
	first.closed(codeReplaced, "the connection of the process before")
	second.say(second.greeting())
	second.awaitHello()
	second.stays()
}

func orderlyEnd(t *trial) {
	s := t.greet()
	s.fence()
	s.finish()
	s.closed(codeNormal, "after the end of the stream")
}

func unknownCodes(t *trial) {
	t.greet().quic.CloseWithError(4242, "")
	t.greet().stays()
}
