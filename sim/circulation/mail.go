package circulation

import "github.com/wandertoken/wander/protocol/policy"

// mail is the messages between policies.
type mail struct {
	*group
	table[message]
	network *network
	roster  *roster
	watches *watches
	agents  *agents
}

// message is one between policies, on its way.
type message struct {
	from int32
	body []byte // reused
}

// tell sends a message.
func (l *mail) tell(m int32, a *policy.Action) {
	l.stats.Messages++
	l.network.traffic.told(a.Field)
	to := memberIndex(a.To)
	if to < 0 || to >= len(l.sites) || len(a.Field) > policy.MaxField {
		return // to a stranger, or longer than the wire permits
	}
	l.roster.try(m, int32(to))
	if l.watches.parted(m, int32(to)) {
		return
	}
	if l.cfg.TellLoss > 0 && l.rng.Float64() < l.cfg.TellLoss {
		return
	}
	i := l.place()
	l.list[i].from = m
	l.list[i].body = append(l.list[i].body[:0], a.Field...)
	at := l.network.carry(m, int32(to), l.now, l.cfg.Telling.draw(l.rng))
	l.scheduleAt(at, told, int32(to), i, 0)
}

// deliver hands a message over, if its receiver is up.
func (l *mail) deliver(e event) {
	msg := l.list[e.ref]
	if l.sites[e.member].place >= 0 {
		l.agents.step(e.member, &policy.Event{Kind: policy.Message, From: MemberID(int(msg.from)), Body: msg.body})
	}
	// What the policy answers may have sent messages, and moved the table.
	l.release(e.ref)
}
