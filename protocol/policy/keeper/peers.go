package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// peers is what this member knows of the others: which of them can be the keeper, which do not
// answer, which it has struck or barred, and since when it is connected with them.
type peers struct {
	setting
	roster   policy.Roster
	silent   roll     // members that have fallen silent, and until when they are not asked again
	struck   backoffs // members that this one does not believe: it takes them for silent
	barred   backoffs // members that this one passes nothing to, but believes
	amiss    backoffs // keepers that did not give a promise back as they should: this member promises them nothing
	refusers backoffs // members that took no token that was for them
	greeted  map[ident.Member]clock.Instant
	order    members // scratch
}

// keepers are the members that can be the keeper, the first one first: no silent ones, as far as
// this member knows.
func (p *peers) keepers() members { return p.firstOf(ranks) }

// firstOf are the first n members of the slot's order that are not silent. The roster names at
// most policy.MaxWitnesses, silent ones included.
func (p *peers) firstOf(n int) members {
	if p.order = p.order[:0]; p.slot.IsZero() {
		return nil
	}
	p.order = p.roster.Witnesses(p.slot, n+len(p.silent), p.order)
	p.order = slices.DeleteFunc(p.order, p.isSilent)
	p.order = p.order[:min(len(p.order), n)]
	return p.order
}

// others are the members that can be the keeper of a token that is here. This member is not: if
// it fails together with the token, no other member knows.
func (p *peers) others() members {
	list := p.keepers()
	list.remove(p.self)
	return list
}

// firstOther is the first of the others, or this member if there are none.
func (p *peers) firstOther() ident.Member { return p.first(p.others()) }

// first is the first one of a list, or this member if that is empty.
func (p *peers) first(list members) ident.Member {
	if len(list) > 0 {
		return list[0]
	}
	return p.self
}

// earlier are the keepers before this member: all of them, if it is none.
func (p *peers) earlier() members {
	list := p.keepers()
	if rank := slices.Index(list, p.self); rank >= 0 {
		list = list[:rank]
	}
	return list
}

// everyone appends all other members that may have a token. Those that this member passes nothing
// to are among them. Struck ones are not.
func (p *peers) everyone(to members) members {
	return slices.DeleteFunc(p.roster.Others(maxMembers, to), p.isStruck)
}

// isSilent reports whether this member asks m nothing: m has not answered lately, or is struck.
func (p *peers) isSilent(m ident.Member) bool {
	until, listed := p.silent.find(m)
	return p.isStruck(m) || listed && p.Now < until
}

// isStruck reports whether m does not pass tokens on, so that this member takes it for silent although it lives.
func (p *peers) isStruck(m ident.Member) bool { return p.struck.from(m, p.Now) }

// fellSilent notes that m has failed, or seems so.
func (p *peers) fellSilent(m ident.Member) {
	if m != p.self {
		p.silent.put(m, p.Now.Add(muteTime), maxMutes)
	}
}

// isSteady reports whether m has been connected since before an instant, as far as this member
// has seen: neither a cut nor a restart explains what m says.
func (p *peers) isSteady(m ident.Member, since clock.Instant) bool {
	greeted, known := p.greeted[m]
	return known && greeted <= since
}

// isBack reports whether m has connected since an instant, and not long ago.
func (p *peers) isBack(m ident.Member, since clock.Instant) bool {
	greeted, known := p.greeted[m]
	return known && greeted > since && p.Now < greeted.Add(p.overdue())
}

// greets notes that m has greeted: its process may be another one.
func (p *peers) greets(m ident.Member) {
	if p.greeted == nil || len(p.greeted) >= maxGreetings {
		p.greeted = make(map[ident.Member]clock.Instant)
	}
	p.greeted[m] = p.Now
}

// turns is how far apart waiting members send their wants, and how long all members take for that.
func (p *peers) turns() (turn, all time.Duration) {
	count := min(p.roster.Size()+1, maxMembers)
	turn = min(max(p.silence*time.Duration(count)/crowd, p.half), 2*p.silence)
	return turn, min(turn*time.Duration(count), maxAgain)
}
