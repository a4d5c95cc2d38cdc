package member

import (
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// helloRate and helloBurst bound the greetings of one peer, per second and
	// at once. One opens a connection, and what waits for the peer is sent
	// again.
	helloRate  = 1
	helloBurst = 10

	// gossipRate and gossipBurst bound the GOSSIP of one peer, per second and at
	// once. Each costs an answer and perhaps a repair; MinGossipInterval is a
	// tenth of a second.
	gossipRate  = 12
	gossipBurst = 30

	// askedWorkRate and askedWorkBurst bound the pages and summaries that one
	// peer is given, per second and at once. A page costs 50 µs and 30 kB, so
	// that a joiner gets a directory of a million members in some minutes, and
	// nobody more than a few megabytes a second.
	askedWorkRate  = 100
	askedWorkBurst = 1000

	// probeRate and probeBurst bound the PROBE of one peer, per second and at
	// once: each may cost a dial.
	probeRate  = 1
	probeBurst = 20

	// newsRate and newsBurst bound the NEWS of one peer, per second and at once.
	// It sends one when somebody leaves, fails or comes back: rarely, or in
	// bursts when a network breaks.
	newsRate  = 10
	newsBurst = 100

	// updateRate and updateBurst bound the updates of one peer that are looked at,
	// per second and at once: each costs up to two signature checks. Only news
	// travel, so that more come when very many join, and those the comparison of
	// directories brings.
	updateRate  = 100
	updateBurst = 2000

	// configurationRate and configurationBurst bound the CONFIGURATION of one
	// peer, per second and at once. There is a new one now and then; an older one
	// costs an answer of up to 290 kB.
	configurationRate  = 1
	configurationBurst = 10

	// questionRate and questionBurst bound the questions about its directory that
	// one peer is asked, per second and at once: a liar's directory has no end.
	// Each answer costs up to a few milliseconds. A page with a certificate that
	// was not known gives back questionReward, so that a joiner asks on: only the
	// CA can make those up.
	questionRate   = 20
	questionBurst  = 500
	questionReward = 4

	// policyRate and policyBurst bound the POLICY messages of one share between two
	// members, per second and at once, each way: what a member handles, and so what it sends. A
	// policy tells a peer a few things for each operation, and none is needed for
	// safety; the shortest operations of the demo need 70 a second between three
	// members. One costs about 10 µs, so that a peer can take four
	// thousandths of a core. What makes a policy look up witnesses costs more in groups
	// of thousands (Directory.Witnesses); policies bound that themselves: fair does it a few
	// times a second at most for one peer.
	policyRate  = 200
	policyBurst = 400

	// policyPerSlot is how many of them there may be each second for each slot, where
	// that is more: tokens move independently, and light tells of each hop twice.
	// maxPolicyRate bounds it: a peer can take a twenty-fifth of a core.
	policyPerSlot = 2
	maxPolicyRate = 4000
)

// share is what POLICY messages are counted against. Each has a ration of its own with each
// peer, so that a policy with much to say, or a liar, does not keep a keeper from being heard.
type share uint8

const (
	ofKeepers share = iota
	ofPolicies
)

func shareOf(body []byte) share {
	if len(body) > 0 && body[0] >= policy.KeeperKind {
		return ofKeepers
	}
	return ofPolicies
}

// limited is what is counted for each peer.
type limited uint8

const (
	helloMessages limited = iota
	gossipMessages
	wantMessages
	probeMessages
	newsMessages
	configurationMessages
	keeperMessages // POLICY
	policyMessages
	updatesHeard   // on tokens and in NEWS
	questionsAsked // about its directory, of the peer
	keeperSends    // POLICY, to the peer
	policySends
	kindsOfLimits
)

// rate is how much there may be.
type rate struct {
	perSecond, burst float64
	exceeded         error // why a message is dropped; nil where the limit is not one of messages
}

// limits are the bounds on what one peer may have this member do. Each peer has a budget
// for each of them. Messages of a handoff need none: an answer to them costs the peer as
// much, and the handoff bounds what it remembers of one peer.
type limits [kindsOfLimits]rate

func newLimits(slots int) limits {
	perSecond, burst := policyLimits(slots)
	return limits{
		helloMessages:         {helloRate, helloBurst, rejection("hello rate")},
		gossipMessages:        {gossipRate, gossipBurst, rejection("gossip rate")},
		wantMessages:          {askedWorkRate, askedWorkBurst, rejection("want rate")},
		probeMessages:         {probeRate, probeBurst, rejection("probe rate")},
		newsMessages:          {newsRate, newsBurst, rejection("news rate")},
		configurationMessages: {configurationRate, configurationBurst, rejection("configuration rate")},
		keeperMessages:        {perSecond, burst, rejection("keeper rate")},
		policyMessages:        {perSecond, burst, rejection("policy rate")},
		updatesHeard:          {updateRate, updateBurst, nil},
		questionsAsked:        {questionRate, questionBurst, nil},
		keeperSends:           {perSecond, burst, nil},
		policySends:           {perSecond, burst, nil},
	}
}

// policyLimits are how many POLICY messages may go between two members, per second and
// at once, in a group with so many slots.
func policyLimits(slots int) (rate, burst float64) {
	rate = max(policyRate, min(policyPerSlot*float64(slots), maxPolicyRate))
	return rate, rate * policyBurst / policyRate
}

// limitOf is the limit that a message counts for, if there is one.
func limitOf(msg wire.Message) (kind limited, is bool) {
	switch msg := msg.(type) {
	case *wire.Hello:
		return helloMessages, true
	case *wire.Gossip:
		return gossipMessages, true
	case *wire.Want:
		return wantMessages, true
	case *wire.Probe:
		return probeMessages, true
	case *wire.News:
		return newsMessages, true
	case *wire.Configuration:
		return configurationMessages, msg.Before == 0 // the first part counts for all
	case *wire.Policy:
		return keeperMessages + limited(shareOf(msg.Body)), true
	}
	return 0, false
}

// allows spends one of what a peer may still have this member do, or be sent by it, if
// there is one left.
func (c *core) allows(p *peer, kind limited) bool {
	r := &c.limits[kind]
	return p.budgets[kind].spend(c.now.Boot, r.perSecond, r.burst)
}

// newPeer is a peer with full budgets.
func (c *core) newPeer() *peer {
	p := new(peer)
	for kind := range p.budgets {
		p.budgets[kind] = budget{c.limits[kind].burst, c.now.Boot}
	}
	return p
}
