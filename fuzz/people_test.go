package fuzz

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	wandergroup "github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
	updates "github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// person is somebody with a key. The first of people is the member under test; the
// last two have a certificate that has expired, and none of this group.
type person struct {
	key         *signature.PrivateKey
	id          ident.Member
	certificate certificate.Certificate
	incarnation ident.Incarnation
}

var people = makePeople()

// renewed is a later certificate of the first.
var renewed = people[0].certified(group, ca, 50, 100)

func makePeople() (list []*person) {
	for i := range byte(7) {
		p := &person{key: newKey(20 + i), incarnation: ident.Incarnation{20 + i}}
		in, by, days := group, ca, 90
		switch i {
		case 5:
			days = 0
		case 6:
			by = ben
			in = ident.GroupOf(publicBytes(ben))
		}
		p.certificate = p.certified(in, by, uint64(i+1), days)
		p.id = ident.MemberOf(group, publicBytes(p.key))
		list = append(list, p)
	}
	return list
}

func (p *person) certified(in ident.Group, by *signature.PrivateKey, serial uint64, days int) certificate.Certificate {
	return must(certificate.Claims{
		Name: fmt.Sprintf("p%d", serial), Serial: serial, NotBefore: epoch.Add(-time.Hour), NotAfter: epoch.Add(time.Minute).AddDate(0, 0, days),
		IssuedAt: epoch, Key: p.key.Public().Bytes(), Group: in, ConfigVersion: 1, RevocationVersion: 1,
	}.Sign(by))
}

// memberGroup is the group of all targets with a resource for each policy.
var memberGroup = must(wandergroup.New([]wandergroup.Authority{authority()}, memberConfiguration(1)))

func memberConfiguration(version uint64) wandergroup.Config {
	s := wandergroup.Settings{Version: version, Name: "example", Issued: epoch}
	for i, name := range catalog.Names() {
		presets := catalog.Presets(name)
		p := policy.Params{
			Preset: presets[(i+int(version))%len(presets)].Name, OperationTime: time.Second, MembersMax: 10, SkipDelay: 10 * time.Millisecond,
		}
		if name == catalog.Multitoken {
			p.TargetInterval = 10 * time.Second
		}
		s.Resources = append(s.Resources, wandergroup.Resource{Name: fmt.Sprintf("r%d", i), Policy: name, Params: p}.WithDefaults())
	}
	return must(s.WithDefaults().Sign(group, ca))
}

func (p *person) endpoint(sequence uint64, attached ...ident.Member) []byte {
	e := certificate.Endpoint{Member: p.id, Sequence: sequence, Mode: certificate.DialsOut, Attached: attached}
	if len(attached) == 0 {
		e.Mode, e.Addresses = certificate.Reachable, []string{"p.example.org:1"}
	}
	return must(e.Sign(group, p.key)).Raw()
}

func (p *person) leave() []byte {
	return must(certificate.Leave{Member: p.id, Time: millis}.Sign(group, p.key)).Raw()
}

func (p *person) failure(of *person, sequence uint64) []byte {
	return must(certificate.Failure{Witness: p.id, Subject: of.id, Sequence: sequence, Time: millis}.Sign(group, p.key)).Raw()
}

func (p *person) revocation(version uint64) []byte {
	return must(certificate.Revocation{Version: version, Member: p.id}.Sign(group, ca)).Raw()
}

// mint makes a token of this person's own.
func (p *person) mint(resource string, sequence uint64) token.Title {
	return token.Title{Genesis: must(token.GenesisBody{
		Resource: resource, Generator: p.id, Incarnation: p.incarnation, Sequence: sequence, Time: millis,
	}.Sign(group, p.key))}
}

// memberObjects are those that an operator may hand over, or a peer.
var memberObjects = makeObjects()

func makeObjects() (list [][]byte) {
	list = append(list, memberConfiguration(2).Raw(), authority().Raw())
	for i, p := range people {
		next := people[(i+1)%len(people)]
		list = append(list, p.certificate.Raw(), p.endpoint(1), p.endpoint(3, next.id), p.leave(), p.revocation(uint64(i+1)),
			p.failure(next, 1), p.failure(people[(i+2)%len(people)], 1))
	}
	return list
}

// messageHello is the number of the first HELLO among the messages: that of the
// first peer; the others follow.
const messageHello = 0

// messageOffer is the number of the first offer, by the first peer. A CANCEL follows it,
// and the TRANSFER when it was the first to be accepted.
const messageOffer = 6

// memberMessages are the bodies that peers may send, whoever sends them.
var memberMessages = makeMessages()

func makeMessages() (bodies [][]byte) {
	add := func(m wire.Message) { bodies = append(bodies, must(wire.Encode(m))) }
	for _, p := range people[1:] {
		add(&wire.Hello{Versions: [2]uint64{1, 1}, Incarnation: p.incarnation, MaxFrame: wire.MaxFrame, Configuration: 1, Endpoint: p.endpoint(2)})
	}
	for _, p := range people[1:4] {
		for i := range catalog.Names() {
			offerOf(p, fmt.Sprintf("r%d", i), add)
		}
	}
	add(&wire.Hello{Versions: [2]uint64{2, 3}, Incarnation: ident.Incarnation{1}})
	add(&wire.Gossip{Configuration: 2, Revocations: 3, Members: 4, Fingerprint: wire.Fingerprint{1}})
	add(&wire.Gossip{Configuration: 1, Members: 500, Answer: true})
	for topic := wire.WantMembers; topic <= wire.WantSummary; topic++ {
		add(&wire.Want{Topic: topic, Through: ident.LastMember()})
	}
	for i, p := range people[1:] {
		entry := wire.Entry{Certificate: p.certificate.Raw(), Endpoint: p.endpoint(4)}
		if i%2 == 1 {
			entry.Failures = [][]byte{people[(i+3)%len(people)].failure(p, 4)}
		}
		add(&wire.Members{Entries: []wire.Entry{entry}, Through: ident.LastMember()})
		join := must(updates.Join(p.certificate.Raw(), p.endpoint(5)).Encode())
		gone := must(updates.Leave(p.leave(), p.certificate.Raw()).Encode())
		silent := must(updates.Failure(p.failure(people[i], 2), p.certificate.Raw()).Encode())
		out := must(updates.Revocation(p.revocation(uint64(i + 1))).Encode())
		add(&wire.News{Updates: [][]byte{join}})
		add(&wire.News{Updates: [][]byte{silent, join}})
		add(&wire.News{Updates: [][]byte{gone}})
		add(&wire.Revocations{Revocations: [][]byte{p.revocation(uint64(i + 1))}})
		add(&wire.News{Updates: [][]byte{out}})
		add(&wire.Probe{Subject: p.id, Sequence: 2})
	}
	add(&wire.Members{Through: ident.LastMember()})
	add(&wire.Summary{Parts: []wire.Part{{Through: ident.Member{0x80}, Members: 2, Fingerprint: wire.Fingerprint{1}}, {Through: ident.LastMember(), Members: 500}}})
	add(&wire.Configuration{Configuration: memberConfiguration(2).Raw()})
	for i, name := range catalog.Names() {
		add(&wire.Policy{Resource: fmt.Sprintf("r%d", i), Policy: name, Configuration: 1, Body: []byte{1, 0, 0, 0, 1, 0, 0, 0, 9}})
	}
	return bodies
}

// offerOf adds an OFFER of a token of this person's own, and the TRANSFER that
// follows when it is the first to be accepted.
func offerOf(p *person, resource string, add func(wire.Message)) {
	title := p.mint(resource, 1)
	self := people[0]
	add(&wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers(), Certificates: [][]byte{p.certificate.Raw()}})
	add(&wire.Cancel{Token: title.Token(), Hop: 1, Incarnation: memberIncarnation(), Accept: 1})
	for accept := range uint64(3) {
		body := title.Next(self.id, ident.Reservation{
			Incarnation: memberIncarnation(), Number: accept + 1,
			MAC: handoff.AcceptMAC(self.key, memberIncarnation(), p.id, title.Token(), 1, accept+1),
		})
		body.Time = millis
		add(&wire.Transfer{Transfer: must(body.Sign(group, p.key)).Raw(), Genesis: title.Genesis.Raw()})
	}
}

// reply is one of four answers to a message of the member under test, or nil.
func (p *person) reply(to wire.Message, how int) wire.Message {
	switch m := to.(type) {
	case *wire.Offer:
		if how == 3 {
			return &wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseClock, RetryAfter: 250}
		}
		if how == 2 {
			return &wire.Need{Token: m.Token, Hop: m.Hop, Members: []ident.Member{people[0].id}}
		}
		return &wire.Accept{Token: m.Token, Hop: m.Hop, Incarnation: p.incarnation, Accept: uint64(how + 1), MAC: ident.MAC{byte(how)}, Lifetime: 60000}
	case *wire.Transfer:
		return p.verdict(m, how)
	case *wire.Want:
		return p.tell(m, how)
	case *wire.Gossip:
		return &wire.Gossip{Configuration: m.Configuration, Revocations: m.Revocations, Members: m.Members, Fingerprint: m.Fingerprint, Answer: how > 1}
	case *wire.Hello:
		return &wire.Hello{Versions: [2]uint64{1, 1}, Incarnation: p.incarnation, MaxFrame: wire.MaxFrame, Configuration: uint64(how)}
	}
	return nil
}

// verdict answers a transfer.
func (p *person) verdict(m *wire.Transfer, how int) wire.Message {
	body, hash, err := token.PeekTransfer(group, m.Transfer)
	if err != nil {
		return nil
	}
	a := token.AnswerBody{Transfer: hash, Token: body.Token, Hop: body.Hop, Signer: p.id, Incarnation: p.incarnation}
	switch how {
	case 1:
		return &wire.Void{Void: must(a.Sign(group, token.Void, p.key)).Raw()}
	case 2:
		return &wire.Unknown{Unknown: must(a.Sign(group, token.Unknown, p.key)).Raw()}
	case 3:
		return &wire.Need{Token: body.Token, Hop: body.Hop, Members: []ident.Member{people[0].id}}
	}
	return &wire.Receipt{Receipt: must(a.Sign(group, token.Receipt, p.key)).Raw()}
}

// tell answers a question.
func (p *person) tell(m *wire.Want, how int) wire.Message {
	switch m.Topic {
	case wire.WantConfiguration:
		return &wire.Configuration{Configuration: memberObjects[0]}
	case wire.WantRevocations:
		return &wire.Revocations{Revocations: [][]byte{memberObjects[2+7*(3+how)+4]}, More: how == 3}
	case wire.WantSummary:
		return &wire.Summary{From: m.From, Parts: []wire.Part{{Through: m.Through, Members: uint64(200 * how), Fingerprint: wire.Fingerprint{byte(how)}}}}
	}
	entry := wire.Entry{Certificate: people[how+1].certificate.Raw(), Endpoint: memberEndpoints[how+1]}
	return &wire.Members{Entries: []wire.Entry{entry}, Through: m.Through, More: how == 3}
}

// memberEndpoints are records of everybody, signed beforehand.
var memberEndpoints = func() (list [][]byte) {
	for _, p := range people {
		list = append(list, p.endpoint(6))
	}
	return list
}()

// memberIncarnation is that of the member under test: its seed decides it.
func memberIncarnation() ident.Incarnation {
	m, _, err := member.New(member.Config{
		Group: memberGroup, Certificate: people[0].certificate, Key: people[0].key, Durable: true, Machine: "here", Boot: "boot", Seed: [32]byte{1},
	}, clock.Reading{Boot: clock.Instant(time.Hour), Wall: epoch.Add(time.Hour)})
	if err != nil {
		panic(err)
	}
	return m.Status().Incarnation
}
