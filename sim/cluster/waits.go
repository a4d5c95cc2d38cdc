package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/keeper"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/token"
)

const (
	// waitStep is how often it is looked at who waits and what runs.
	waitStep = 250 * time.Millisecond
	// settlingTime is after the faults, until tokens that are lost are replaced and of two
	// that circulate one is gone.
	settlingTime = time.Minute
	// waitingTime is how long members want after that, and after the deaths.
	waitingTime = time.Minute

	// stallSilences and deathSilences bound, in silences of a member, for how long somebody
	// waits and nobody runs: where nothing fails, and how much longer after deaths, beside
	// the longest program. Keepers and holders that died together are noticed one after the
	// other.
	stallSilences, deathSilences = 2, 3

	// tooMany is how many tokens to a member are too many to judge by silences: a policy without a
	// bound on tokens has made them, and all wait for the disks, for seconds a handoff.
	tooMany = 16
)

// offersTime is how long a holder offers a token to a peer that does not answer.
func (w *waits) offersTime() (all time.Duration) {
	for n := range w.tuning.OffersPerPeer {
		all += w.tuning.OfferTimeout << n
	}
	return all
}

// wish is a member's demand for a resource.
type wish struct {
	node     *node
	resource string
}

// waits are what members wait for, when the faults are over, and how long nobody ran
// anything meanwhile.
type waits struct {
	*cluster
	kept    []group.Resource         // whose lost tokens are replaced by a keeper
	wishes  map[wish]bool            // that are not granted yet
	vain    map[string]time.Duration // by resource: for how long somebody has waited and nobody has run
	longest map[string]time.Duration
	tokens  map[string]int // made
}

// drivesRecovery judges that waiting drives recovery: when the faults are over, all want to
// run, again and again. Then nobody makes a token, and somebody always runs soon. Then some
// members die permanently, and again somebody runs soon.
func drivesRecovery(c *cluster) {
	w := &waits{cluster: c, wishes: make(map[wish]bool), vain: make(map[string]time.Duration), longest: make(map[string]time.Duration), tokens: make(map[string]int)}
	for _, r := range c.nodes[0].member.Settings().Resources {
		if preset, err := catalog.Find(r.Policy, r.Preset); err == nil && preset.Kept {
			w.kept = append(w.kept, r)
		}
	}
	if len(w.kept) == 0 {
		return
	}
	c.waiting = w
	defer func() { c.waiting = nil }()
	w.wantFor(settlingTime)
	made := w.made()
	clear(w.longest)
	w.wantFor(waitingTime)
	for id, n := range w.made() {
		if n != made[id] {
			c.violate(Waiting, "tokens made while nothing failed", fmt.Sprintf("%d tokens of %s made while nothing failed", n-made[id], id))
		}
	}
	w.judge(0)
	clear(w.longest)
	dead := 0
	for _, n := range c.nodes {
		if n.member != nil && dead < len(c.nodes)-1 && c.chance(0.5) {
			c.log(n, "dies for ever")
			w.kill(n)
			dead++
		}
	}
	w.wantFor(waitingTime)
	w.judge(dead)
}

func (w *waits) kill(n *node) {
	n.discard(true)
	n.end(silent)
	for _, r := range w.kept {
		delete(w.wishes, wish{n, r.Name})
	}
}

// made is how many tokens have been made of each resource with one token.
func (w *waits) made() map[string]int {
	counts := make(map[string]int)
	for _, r := range w.kept {
		if r.Policy == catalog.Wandering && (r.Preset == wandering.Fair || r.Preset == wandering.Light) {
			counts[r.Name] = 0
		}
	}
	for name := range counts {
		counts[name] = w.tokens[name]
	}
	return counts
}

// wantFor lets all members want all the time.
func (w *waits) wantFor(span time.Duration) {
	for until := w.now + span; w.now < until && len(w.violations) == 0; {
		for _, n := range w.nodes {
			for _, r := range w.kept {
				w.want(n, r)
			}
		}
		w.runFor(waitStep)
		w.look()
	}
}

func (w *waits) want(n *node, r group.Resource) {
	k := wish{n, r.Name}
	if n.member == nil || w.wishes[k] || !w.chance(0.2) {
		return
	}
	w.wishes[k] = true
	n.requests++
	n.put(member.Demand{Request: n.requests, Resource: r.Name, MaxHold: r.MaxHold})
}

// record counts a token.
func (w *waits) record(r journal.Record) {
	if g, is := r.(*journal.Generated); is {
		body, _, err := token.PeekGenesis(w.group.ID(), g.Genesis)
		must(err)
		w.tokens[body.Resource]++
	}
}

// granted notes that a member waits no more. Its program may be late for its grant, on a
// slow disk.
func (w *waits) granted(n *node, resource string) {
	delete(w.wishes, wish{n, resource})
	w.vain[resource] = 0
}

// look adds up for how long somebody has waited in vain.
func (w *waits) look() {
	for _, r := range w.kept {
		if w.isWanted(r.Name) && !w.runs(r.Name) {
			w.vain[r.Name] += waitStep
		} else {
			w.vain[r.Name] = 0
		}
		w.longest[r.Name] = max(w.longest[r.Name], w.vain[r.Name])
	}
}

func (w *waits) isWanted(resource string) bool {
	for k := range w.wishes {
		if k.resource == resource {
			return true
		}
	}
	return false
}

func (w *waits) runs(resource string) bool {
	for _, p := range w.running {
		if p.resource == resource {
			return true
		}
	}
	return false
}

// judge holds the longest stalls against the bounds.
func (w *waits) judge(dead int) {
	if len(w.stand().hops) > tooMany*len(w.nodes) {
		return
	}
	for _, r := range w.kept {
		if took, most := w.longest[r.Name], w.most(r, dead); took > most {
			w.violate(Waiting, "somebody waits and nobody runs", fmt.Sprintf(
				"somebody waited for %s (%s %s) and nobody ran for %v, more than %v, with %d of %d members dead",
				r.Name, r.Policy, r.Preset, took, most, dead, len(w.nodes)))
		}
	}
}

// most is for how long somebody may wait and nobody run: so many silences, what the policy lets a token rest or
// repeats a request after, and where some have died the longest program, as theirs may go on, and a walk to the dead.
func (w *waits) most(r group.Resource, dead int) time.Duration {
	most := stallSilences * keeper.DefaultSilence
	if r.Policy == catalog.Ring { // it repeats a request that was lost after a round
		most = max(most, ring.Round(r.OperationTime, r.SkipDelay, r.MembersMax)+keeper.DefaultSilence)
	}
	if r.Policy == catalog.Multitoken { // P-30: a token that is alone rests, to meet its target
		most += r.TargetInterval
	}
	if dead == 0 {
		return most
	}
	most += max(r.MaxHold, r.OperationTime) + deathSilences*keeper.DefaultSilence
	alone := dead == len(w.nodes)-1
	switch {
	case r.Policy != catalog.Ring: // a walking token tries each of the dead
		most += time.Duration(dead) * w.offersTime()
	case !alone: // one that is alone runs before it passes the token on
		most += w.ringTime(r, dead)
	}
	if alone {
		most = max(most, w.returnTime(r, dead))
	}
	return most
}

// tryTime is how long a holder tries one of the dead: until its offers are not answered, or it cannot be dialled. What it hears
// waits for its disk.
func (w *waits) tryTime() time.Duration { return min(w.offersTime(), dialTime) + w.syncTime }

// passedOverFirst and passedOverMost are for how long a ring passes over a member that could not be reached: twice as long each time
// (P-17, 3).
const passedOverFirst, passedOverMost = 5 * time.Second, 5 * time.Minute

// ringTime is for how long a token walks in a ring to so many dead members that follow each other, until its holder passes over
// all of them. Who was dead a moment ago is tried again (P-17, 3); the token rests in between. Where one of them is in an inquest,
// the token goes to any member, and tries each of the dead once (P-80), which takes no longer.
func (w *waits) ringTime(r group.Resource, dead int) time.Duration {
	type absence struct{ until, pause time.Duration }
	gone, now := make([]absence, dead), time.Duration(0)
	for {
		next := slices.IndexFunc(gone, func(a absence) bool { return a.until <= now })
		if next < 0 {
			return w.net.notice + now
		}
		now += w.tryTime() + r.SkipDelay
		pause := min(max(2*gone[next].pause, passedOverFirst), passedOverMost)
		gone[next] = absence{now + pause, pause}
	}
}

// returnTime is for how long the only member that lives has no token which it passed on before the others had died, or before it
// waited itself. Where the pass names nobody, or one that is in an inquest (P-80), it tries each of them twice, with a wait between,
// before its policy has the token again (protocol.md, §3 of the handoff). That is later than L, so that it asks all of them
// whether the token was replaced (P-55, 2).
func (w *waits) returnTime(r group.Resource, dead int) time.Duration {
	pause := w.tuning.NobodyPause + w.tuning.NobodyPause/4 // as they are spread
	walk := w.net.notice + 2*time.Duration(dead)*w.tryTime() + pause
	if r.Policy == catalog.Multitoken { // split is not exclusive: nobody is asked
		return walk
	}
	return walk + max(r.MaxHold, r.OperationTime) + keeper.DefaultSilence
}
