package member

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// tellPause is how often news of one member's certificate or endpoint record
// are passed on at most. It can sign as many as it likes; what is left out,
// the exchange of directories brings.
const tellPause = 2 * time.Second

// maxTold bounds the matters whose last news are timed. When there are more, all
// may be told of again.
const maxTold = 4096

// spreadExtra is how many more peers than ln N urgent news go to. With ln N
// + c random receivers each, a rumour misses somebody in a group of any size
// with a probability of about e^-c (Kermarrec, Massoulié, Ganesh, 2003).
const spreadExtra = 3

// dissemination tells others of updates: on the tokens and receipts to come, or at once.
type dissemination struct {
	*core
	list   *update.List
	urgent [][]byte // updates that go out at the end of the step
	heard  [][]byte // updates that came in this step
	passes bool     // the object at hand is passed on if it is news
	passed pacer    // what was passed on
}

// asNews calls f, in which news are passed on: what an update or a greeting says.
// What a page of a directory says may be old, and is passed on by nobody; nor are
// the operator's files.
func (n *dissemination) asNews(f func()) {
	before := n.passes
	n.passes = true
	f()
	n.passes = before
}

// attach puts updates on what moves custody and on what answers it, so that each
// handoff tells both sides what the other has heard.
func (n *dissemination) attach(e effect.Effect) {
	s, ok := e.(effect.Send)
	if !ok || !n.peers.has(s.To) { // perhaps nobody is there to hear it
		return
	}
	switch msg := s.Message.(type) {
	case *wire.Transfer:
		msg.Updates = n.take()
	case *wire.Receipt:
		msg.Updates = n.take()
	}
}

func (n *dissemination) take() [][]byte {
	return n.list.Take(n.settings.UpdateCapacity, n.dir.Candidates()+1, n.heard...)
}

// disseminate tells others of an update: on the tokens and receipts to come.
func (n *dissemination) disseminate(key update.Key, u update.Update) { n.enlist(key, u) }

func (n *dissemination) enlist(key update.Key, u update.Update) (raw []byte, ok bool) {
	raw, err := u.Encode()
	if err != nil {
		n.reject("update not encoded")
		return nil, false
	}
	n.list.Add(key, raw)
	return raw, true
}

// disseminateNow tells others of an update that cannot wait for a token: a member joined,
// left, failed, or is alive after all.
func (n *dissemination) disseminateNow(key update.Key, u update.Update) {
	if raw, ok := n.enlist(key, u); ok {
		n.urgent = append(n.urgent, raw)
	}
}

// flush sends at the end of a step what cannot wait.
func (n *dissemination) flush() {
	n.sendUrgent()
	n.heard = n.heard[:0]
}

// sendUrgent sends the urgent updates to a few random peers, which do the same if these
// are news to them.
func (n *dissemination) sendUrgent() {
	if len(n.urgent) == 0 {
		return
	}
	urgent := n.urgent
	n.urgent = nil
	peers := n.peers.list()
	random := rand.New(n.sources.member)
	random.Shuffle(len(peers), func(i, j int) { peers[i], peers[j] = peers[j], peers[i] })
	fanout := spreadExtra + int(math.Ceil(math.Log(float64(n.dir.Candidates()+2))))
	for _, id := range peers[:min(len(peers), fanout)] {
		for _, news := range bundles(urgent) {
			n.send(id, &wire.News{Updates: news})
		}
	}
}

// bundles are updates in lists that each fit a message.
func bundles(list [][]byte) (out [][][]byte) {
	if len(list) == 0 {
		return nil
	}
	size, begin := 0, 0
	for i, raw := range list {
		if i > begin && (i-begin == wire.MaxUpdates || size+len(raw) > pageBytes) {
			out = append(out, list[begin:i])
			size, begin = 0, i
		}
		size += len(raw) + entryHead
	}
	return append(out, list[begin:])
}

// entryHead is what one byte string costs beside its bytes.
const entryHead = 3

// passLocation passes on where a member is, if that was heard as news.
func (n *dissemination) passLocation(id ident.Member) { n.pass(id, n.disseminate) }

// passLocationNow is passLocation at once, for a member that was not known: tokens may come
// seldom, and until it is known it gets none of them.
func (n *dissemination) passLocationNow(id ident.Member) { n.pass(id, n.disseminateNow) }

func (n *dissemination) pass(id ident.Member, announce func(update.Key, update.Update)) {
	if !n.passes {
		return
	}
	key := update.Key{Kind: update.KindJoin, Subject: id}
	if u, ok := n.joinOf(id); ok && n.passed.may(n.now.Boot, key) {
		announce(key, u)
	}
}

// passFailure passes a failure statement on at once, if it was heard as news.
func (n *dissemination) passFailure(f certificate.Failure, raw []byte) {
	key := update.Key{Kind: update.KindFailure, Subject: f.Subject, Witness: f.Witness}
	c := n.dir.RawCertificate(f.Witness)
	if c != "" && (n.passes || f.Witness == n.self) && n.passed.may(n.now.Boot, key) {
		n.disseminateNow(key, update.Failure(raw, []byte(c)))
	}
}

// announceAlive passes on at once where a member is that others may suspect, if
// that was not done just before: those who state its failure again and again may
// be its friends.
func (n *dissemination) announceAlive(id ident.Member) {
	if n.passed.may(n.now.Boot, update.Key{Kind: update.KindJoin, Subject: id, Witness: id}) {
		n.announceLocation(id)
	}
}

// announceLocation passes on at once where a member is.
func (n *dissemination) announceLocation(id ident.Member) {
	if u, ok := n.joinOf(id); ok {
		n.disseminateNow(update.Key{Kind: update.KindJoin, Subject: id}, u)
	}
}

// joinOf is the update that says where a member is.
func (n *dissemination) joinOf(id ident.Member) (update.Update, bool) {
	c := n.dir.RawCertificate(id)
	e, located := n.dir.Endpoint(id)
	if c == "" || !located {
		return update.Update{}, false
	}
	return update.Join([]byte(c), e), true
}
