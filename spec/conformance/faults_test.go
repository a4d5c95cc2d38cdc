package conformance

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// performance is a run of some checks against a subject, which goes on while the
// test does something else.
type performance struct {
	report *Report
	err    error
	over   chan struct{}
}

func play(t *testing.T, f faults, checks []Check) *performance {
	return playWith(t, f, checks, func(*Options) {})
}

func playWith(t *testing.T, f faults, checks []Check, change func(*Options)) *performance {
	a := newAuthority(t)
	revoked := a.issue(t, "revoked", time.Hour)
	o := a.options(t, newSubject(t, a, revoked.Certificate.Member(), f).l.Addr().String(), revoked)
	change(&o)
	for _, c := range checks {
		if c.Name != "late-preamble" && c.Name != "transfer-lapsed" { // they wait
			o.Only = append(o.Only, c.Name)
		}
	}
	p := &performance{over: make(chan struct{})}
	go func() {
		defer close(p.over)
		p.report, p.err = Run(context.Background(), o)
	}()
	return p
}

// playInTime is a run of one check that takes the whole of its time: it has little, and
// twice as much again while the machine is too busy for what comes before.
func playInTime(t *testing.T, f faults, c Check, slack time.Duration, want Verdict) (last Result) {
	for timeout := 10 * time.Second; timeout < 2*time.Minute && last.Verdict != want; timeout *= 2 {
		p := playWith(t, f, []Check{c}, func(o *Options) { o.Timeout, o.slack = timeout, slack })
		<-p.over
		if !errors.Is(p.err, ErrUnreachable) {
			require.NoError(t, p.err)
			last = p.report.Results[0]
			require.NotEqual(t, Pass, last.Verdict, "no machine is too busy for that")
		}
	}
	require.Equal(t, want, last.Verdict, last.Detail)
	return last
}

// failed are the names of the checks that have failed.
func (p *performance) failed(t *testing.T) (names []string) {
	<-p.over
	require.NoError(t, p.err)
	for _, r := range p.report.Results {
		assert.NotEqual(t, Skipped, r.Verdict, "%s: %s", r.Name, r.Detail)
		if r.Verdict == Fail {
			names = append(names, r.Name)
			t.Log(r.Name, r.Detail)
		}
	}
	return names
}

// The subject of these tests is right until it is broken.
func TestSubject_AllChecks_Conforms(t *testing.T) {
	t.Parallel()
	assert.Empty(t, play(t, faults{}, Checks()).failed(t))
}

// only hands messages of one type to a fault, and lets all others pass.
func only[M wire.Message](change func(*pipe, M) []wire.Message) func(*pipe, wire.Message) []wire.Message {
	return func(p *pipe, m wire.Message) []wire.Message {
		if m, ok := m.(M); ok {
			return change(p, m)
		}
		return []wire.Message{m}
	}
}

// heard hands messages of one type that come in to a fault, which says whether
// the machine hears of them.
func heard[M wire.Message](hear func(*pipe, M) bool) func(*pipe, []byte) [][]byte {
	return func(p *pipe, body []byte) [][]byte {
		m, err := wire.Decode(body)
		if m, ok := m.(M); err == nil && ok && !hear(p, m) {
			return nil
		}
		return [][]byte{body}
	}
}

// forgive lets one refusal of a handshake pass.
func forgive(wrong error) func(error) error {
	return func(err error) error {
		if errors.Is(err, wrong) {
			return nil
		}
		return err
	}
}

// normally closes with code 0 what is to be closed with another.
func normally(wrong quic.ApplicationErrorCode) func(quic.ApplicationErrorCode) quic.ApplicationErrorCode {
	return func(code quic.ApplicationErrorCode) quic.ApplicationErrorCode {
		if code == wrong {
			return codeNormal
		}
		return code
	}
}

// keyOf names one custody in the notes of a fault.
func keyOf(kind string, id ident.Token, hop uint64) string { return fmt.Sprint(kind, id, hop) }

// Each fault makes its own checks fail, and no others of its chapter.
func TestFaults_Each_Found(t *testing.T) {
	t.Parallel()
	list := map[string]struct {
		fails  []string
		among  [][]Check
		faults faults
	}{
		"speaks another protocol, too": {[]string{"alpn"}, early, faults{tls: func(c *tls.Config) { c.NextProtos = append(c.NextProtos, "wander/0") }}},
		"gives session tickets":        {[]string{"session-tickets"}, early, faults{tls: func(c *tls.Config) { c.SessionTicketsDisabled = false }}},
		"exchanges keys over P-256":    {[]string{"tls"}, early, faults{tls: func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.CurveP256} }}},
		"lets the expired in":          {[]string{"expired-certificate"}, early, faults{identify: forgive(certificate.ErrExpired)}},
		"does not compare keys":        {[]string{"other-key"}, early, faults{identify: forgive(errOtherKey)}},
		"does not know its CA": {[]string{"forged-certificate", "own-ca"}, early, faults{identify: func(err error) error {
			return forgive(certificate.ErrSignature)(forgive(certificate.ErrUnknownCA)(err))
		}}},
		"takes two certificates":    {[]string{"no-certificate", "two-certificates", "other-key-type"}, early, faults{identify: forgive(errOneCertificate)}},
		"takes a second stream":     {[]string{"streams"}, early, faults{quic: func(c *quic.Config) { c.MaxIncomingStreams = 2 }}},
		"takes datagrams":           {[]string{"streams"}, early, faults{quic: func(c *quic.Config) { c.EnableDatagrams = true }}},
		"forgives any frame":        {[]string{"bad-preamble", "frame-size"}, early, faults{code: normally(codeProtocol)}},
		"has no word for the many":  {[]string{"unready-connections"}, early, faults{code: normally(codeOverload)}},
		"has no word for the dead":  {[]string{"revoked-member"}, early, faults{code: normally(codeRevoked)}},
		"knows no ordinals":         {[]string{"older-connection"}, early, faults{stays: func(_, _ preamble) bool { return true }}},
		"knows no processes":        {[]string{"restarted-peer"}, early, faults{stays: func(old, next preamble) bool { return old.Ordinal < next.Ordinal }}},
		"talks before it greets":    {[]string{"hello"}, talk, faults{out: only(talksFirst)}},
		"answers before HELLO":      {[]string{"before-hello", "hello-version"}, talk, faults{in: heard(answersStrangers)}},
		"speaks any version":        {[]string{"hello-version"}, talk, faults{in: heard(speaksAny)}},
		"ignores what trails":       {[]string{"encoding", "shape"}, talk, faults{in: ignoresTrailing}},
		"reads any topic":           {[]string{"want-bounds"}, talk, faults{in: readsAnyTopic}},
		"answers answers":           {[]string{"gossip"}, talk, faults{in: heard(answersAnswers)}},
		"reads on and on":           {[]string{"page-without-end"}, talk, faults{in: heard(readsOn)}},
		"sums wrongly":              {[]string{"fingerprint"}, talk, faults{out: only(sumsWrongly)}},
		"skips malformed updates":   {[]string{"malformed-update"}, talk, faults{in: heard(skipsMalformed)}},
		"says more than is asked":   {[]string{"keeper-ask"}, talk, faults{out: only(saysMore)}},
		"answers any WANT":          {[]string{"want-rate"}, rates, faults{in: heard(answersAny)}},
		"draws another number":      {[]string{"offer-repeated"}, handoffs, faults{out: only(drawsAnother)}},
		"has no clock":              {[]string{"genesis-time", "transfer-forged"}, handoffs, faults{out: only(refusal(wire.RefuseClock))}},
		"looks at no genesis":       {[]string{"bad-genesis", "offer-extension"}, handoffs, faults{out: only(refusal(wire.RefuseTitle))}},
		"floor too high":            {[]string{"offer", "floor"}, handoffs, faults{out: only(floorTooHigh)}},
		"declines what it forgot":   {[]string{"floor", "transfer-unreserved", "transfer-forged"}, handoffs, faults{out: only(declinesUnknown)}},
		"takes what it forgot":      {[]string{"floor", "transfer-unreserved", "transfer-forged"}, handoffs, faults{out: only(takesUnknown)}},
		"declines what lapsed":      {[]string{"transfer-cancelled"}, handoffs, faults{in: declinesLapsed}},
		"another receipt each time": {[]string{"transfer-repeated", "second-transfer"}, handoffs, faults{out: only(anotherReceipt)}},
		"takes a hop twice":         {[]string{"second-transfer"}, handoffs, faults{in: takesTwice}},
		"lacks nobody's papers":     {[]string{"need", "transfer-need"}, handoffs, faults{out: only(lacksNothing)}},
		"names no other signers":    {[]string{"own-offer"}, handoffs, faults{out: only(namesItself)}},
		"carries no certificates":   {[]string{"own-offer-need"}, handoffs, faults{out: only(carriesNothing)}},
		"signs a hop twice":         {[]string{"retransmission", "reconnected", "unknown"}, handoffs, faults{out: only(signsTwice)}},
		"gives up after UNKNOWN":    {[]string{"unknown"}, handoffs, faults{in: heard(reclaimsUnknown)}},
		"uses the burned hop":       {[]string{"void"}, handoffs, faults{in: heard(burnsNothing), out: only(sameHop)}},
	}
	plays := make(map[string]*performance)
	for name, c := range list {
		plays[name] = play(t, c.faults, slices.Concat(c.among...))
	}
	for name, p := range plays {
		t.Run(name, func(t *testing.T) { assert.ElementsMatch(t, list[name].fails, p.failed(t)) })
	}
}

// A fault that shows in silence alone takes its check the whole of its time.
func TestFault_ConfigurationKept_FoundAtTheTimeout(t *testing.T) {
	t.Parallel()
	r := playInTime(t, faults{in: heard(keepsConfiguration)}, newerChecks[0], 0, Fail)
	assert.Equal(t, "no GOSSIP with the newer version", r.Detail)
}

// Five connections that take longer to open than a member waits for a preamble are not there at once: they show nothing.
func TestUnready_OpenedSlowly_OpenedAgain(t *testing.T) {
	t.Parallel()
	var handshakes atomic.Int32
	slow := faults{tls: func(c *tls.Config) {
		c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			if handshakes.Add(1) <= 2*maxUnready {
				time.Sleep(preambleTimeout / maxUnready)
			}
			return nil, nil
		}
	}}
	unready := slices.DeleteFunc(slices.Clone(streamChecks), func(c Check) bool { return c.Name != "unready-connections" })
	assert.Empty(t, play(t, slow, unready).failed(t))
	assert.Greater(t, handshakes.Load(), int32(2*(maxUnready+1)), "twice five")
}

// keepsDeclined is the fault of a member that offers no token again that was declined.
func keepsDeclined() faults {
	return faults{in: heard(burnsNothing), out: only(func(p *pipe, m *wire.Offer) []wire.Message {
		if p.notes["void"] > 0 {
			return nil
		}
		return []wire.Message{m}
	})}
}

// Silence after VOID is a fault only if the policy has had the time that it takes.
func TestVoid_NoSecondOffer_SkippedOrFailed(t *testing.T) {
	t.Parallel()
	void := senderChecks[len(senderChecks)-1]
	t.Run("short", func(t *testing.T) {
		t.Parallel()
		r := playInTime(t, keepsDeclined(), void, time.Hour, Skipped)
		assert.Regexp(t, `^the first offer of the token took \S+; for the second one after VOID the check needs a timeout above \S+$`, r.Detail)
	})
	t.Run("long", func(t *testing.T) {
		t.Parallel()
		r := playInTime(t, keepsDeclined(), void, time.Millisecond, Fail)
		assert.Equal(t, "no OFFER of the token that came back by VOID", r.Detail)
	})
}

// The chapters among which a fault is looked for.
var (
	early    = [][]Check{handshakeChecks, streamChecks, connectionChecks}
	talk     = [][]Check{messageChecks, directoryChecks, newsChecks}
	rates    = [][]Check{rateChecks}
	handoffs = [][]Check{offerChecks, transferChecks, senderChecks, liarChecks}
)

func saysMore(_ *pipe, m *wire.Policy) []wire.Message {
	m.Body = append(bytes.Clone(m.Body), 0)
	return []wire.Message{m}
}

func talksFirst(p *pipe, m *wire.Hello) []wire.Message {
	return []wire.Message{&wire.Want{Topic: wire.WantRevocations}, m}
}

func answersStrangers(p *pipe, m *wire.Want) bool {
	if !p.greeted && m.Topic == wire.WantRevocations {
		p.write(&wire.Revocations{})
	}
	return true
}

func speaksAny(p *pipe, m *wire.Hello) bool {
	if m.Versions[0] == 1 {
		return true
	}
	m.Versions[0] = 1
	body, _ := wire.Encode(m)
	p.s.handle(received(p, body))
	return false
}

func ignoresTrailing(_ *pipe, body []byte) [][]byte {
	w := wanted()
	if len(body) > len(w) && bytes.Equal(body[:len(w)], w) {
		body = w
	}
	if bytes.HasPrefix(body, []byte{0x83}) {
		body = w
	}
	return [][]byte{body}
}

func readsAnyTopic(_ *pipe, body []byte) [][]byte {
	if w := wanted(); len(body) == len(w) && body[3] > 4 {
		body = w
	}
	return [][]byte{body}
}

func answersAnswers(p *pipe, m *wire.Gossip) bool {
	if m.Answer {
		p.write(&wire.Gossip{Configuration: m.Configuration, Answer: true})
	}
	return true
}

func readsOn(p *pipe, m *wire.Members) bool {
	if m.More {
		p.write(&wire.Want{Topic: wire.WantMembers, From: m.Through.Next(), Through: ident.LastMember()})
	}
	return true
}

func sumsWrongly(_ *pipe, m *wire.Summary) []wire.Message {
	out := *m
	out.Parts = slices.Clone(m.Parts)
	if out.Parts[0].Members > 0 {
		out.Parts[0].Fingerprint[3] ^= 1
	}
	return []wire.Message{&out}
}

func skipsMalformed(p *pipe, m *wire.News) bool {
	if i := slices.IndexFunc(m.Updates, func(u []byte) bool { return bytes.Equal(u, malformed) }); i >= 0 {
		m.Updates = slices.Delete(m.Updates, i, i+1)
		body, _ := wire.Encode(m)
		p.s.handle(received(p, body))
		return false
	}
	return true
}

func answersAny(p *pipe, m *wire.Want) bool {
	if m.Topic != wire.WantRevocations || !p.greeted || m.Version == 0 {
		return true
	}
	p.write(&wire.Revocations{})
	return false
}

func drawsAnother(p *pipe, m *wire.Accept) []wire.Message {
	k := keyOf("accept", m.Token, m.Hop)
	out := *m
	out.Accept += uint64(p.notes[k])
	p.notes[k]++
	return []wire.Message{&out}
}

// refusal is the fault of a member that accepts what it has to refuse.
func refusal(reason wire.Refusal) func(*pipe, *wire.Refuse) []wire.Message {
	return func(p *pipe, m *wire.Refuse) []wire.Message {
		if m.Reason != reason {
			return []wire.Message{m}
		}
		return []wire.Message{&wire.Accept{Token: m.Token, Hop: m.Hop, Incarnation: p.s.incarnation, Accept: 1, Lifetime: 1000}}
	}
}

func floorTooHigh(_ *pipe, m *wire.Hello) []wire.Message {
	out := *m
	out.Floor = 1 << 40
	return []wire.Message{&out}
}

func declinesUnknown(p *pipe, m *wire.Unknown) []wire.Message {
	return []wire.Message{&wire.Void{Void: insteadOfUnknown(p, m, token.Void)}}
}

func takesUnknown(p *pipe, m *wire.Unknown) []wire.Message {
	return []wire.Message{&wire.Receipt{Receipt: insteadOfUnknown(p, m, token.Receipt)}}
}

// insteadOfUnknown is another verdict on the transfer that a member cannot say
// anything of.
func insteadOfUnknown(p *pipe, m *wire.Unknown, v token.Verdict) []byte {
	a, err := p.s.verifierOf(p).Answer(token.Unknown, m.Unknown)
	if err != nil {
		panic(err)
	}
	b, err := a.Body().Sign(p.s.Group.ID(), v, p.s.key)
	if err != nil {
		panic(err)
	}
	return b.Raw()
}

func declinesLapsed(p *pipe, body []byte) [][]byte {
	m, err := wire.Decode(body)
	if err != nil {
		return [][]byte{body}
	}
	switch m := m.(type) {
	case *wire.Cancel:
		p.notes[keyOf("cancel", m.Token, m.Hop)]++
	case *wire.Offer:
		delete(p.notes, keyOf("cancel", m.Token, m.Hop))
	case *wire.Transfer:
		b, _, err := token.PeekTransfer(p.s.Group.ID(), m.Transfer)
		if err == nil && p.notes[keyOf("cancel", b.Token, b.Hop)] > 0 {
			p.write(&wire.Void{Void: p.sign(m.Transfer, token.Void, canonical.Extensions{})})
			return nil
		}
	}
	return [][]byte{body}
}

func anotherReceipt(p *pipe, m *wire.Receipt) []wire.Message {
	a, err := p.s.verifierOf(p).Answer(token.Receipt, m.Receipt)
	if err != nil {
		panic(err)
	}
	p.notes["receipts"]++
	b := a.Body()
	b.Extensions = canonical.Extensions{}.With(oddKey, canonical.Raw{byte(p.notes["receipts"])})
	again, err := b.Sign(p.s.Group.ID(), token.Receipt, p.s.key)
	if err != nil {
		panic(err)
	}
	return []wire.Message{&wire.Receipt{Receipt: again.Raw()}}
}

func takesTwice(p *pipe, body []byte) [][]byte {
	m, err := wire.Decode(body)
	x, ok := m.(*wire.Transfer)
	if err != nil || !ok {
		return [][]byte{body}
	}
	if b, _, err := token.PeekTransfer(p.s.Group.ID(), x.Transfer); err == nil && string(b.Field) == "another" {
		p.write(&wire.Receipt{Receipt: p.sign(x.Transfer, token.Receipt, canonical.Extensions{})})
	}
	return [][]byte{body}
}

func keepsConfiguration(_ *pipe, _ *wire.Configuration) bool { return false }

func lacksNothing(p *pipe, m *wire.Need) []wire.Message {
	return []wire.Message{&wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseTitle}, &wire.Need{Token: m.Token, Hop: m.Hop, Members: []ident.Member{{1}}}}
}

func namesItself(p *pipe, m *wire.Offer) []wire.Message {
	out := *m
	out.Signers = m.Signers[len(m.Signers)-1:]
	return []wire.Message{&out}
}

func carriesNothing(_ *pipe, m *wire.Offer) []wire.Message {
	out := *m
	out.Certificates = nil
	return []wire.Message{&out}
}

func signsTwice(p *pipe, m *wire.Transfer) []wire.Message {
	b, _, err := token.PeekTransfer(p.s.Group.ID(), m.Transfer)
	if err != nil {
		panic(err)
	}
	k := custody{b.Token, b.Hop}
	b.Time += p.s.reservations[k]
	p.s.reservations[k]++
	x, err := b.Sign(p.s.Group.ID(), p.s.key)
	if err != nil {
		panic(err)
	}
	out := *m
	out.Transfer = x.Raw()
	return []wire.Message{&out}
}

func reclaimsUnknown(p *pipe, m *wire.Unknown) bool {
	a, err := p.s.verifierOf(p).Answer(token.Unknown, m.Unknown)
	if err != nil {
		panic(err)
	}
	b := a.Body()
	p.write(&wire.Offer{Token: b.Token, Hop: b.Hop + 1, Genesis: []byte{1}, Signers: []ident.Member{b.Signer}})
	return true
}

func burnsNothing(p *pipe, m *wire.Void) bool {
	p.notes["void"]++
	return true
}

func sameHop(p *pipe, m *wire.Offer) []wire.Message {
	out := *m
	if p.notes["void"] > 0 {
		out.Hop--
	}
	return []wire.Message{&out}
}
