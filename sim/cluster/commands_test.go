package cluster

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/wire"
)

// commands are what a script can say.
var commands map[string]func(*script, []string)

func init() {
	commands = map[string]func(*script, []string){
		"members": (*script).cmdMembers, "start": (*script).cmdStart, "connect": (*script).cmdConnect,
		"break": (*script).cmdBreak, "pending": (*script).cmdPending, "deliver": (*script).cmdDeliver,
		"drop": (*script).cmdDrop, "keep": (*script).cmdKeep, "replay": (*script).cmdReplay,
		"tick": (*script).cmdTick, "stabilize": (*script).cmdStabilize, "circulate": (*script).cmdCirculate,
		"crash": (*script).cmdCrash, "demand": (*script).cmdDemand, "end": (*script).cmdEnd,
		"shutdown": (*script).cmdShutdown, "checkpoint": (*script).cmdCheckpoint,
		"save-journal": (*script).cmdSave, "restore-journal": (*script).cmdRestore, "clone": (*script).cmdClone,
		"mark": (*script).cmdMark, "expect": (*script).cmdExpect,
	}
}

// cmdMembers makes the group: names, or NAME=volatile; found=NAME; seed=N;
// skew=NAME:DURATION, of its wall clock; no-pre-offer; recall, to wait for greetings after a restart;
// hide-shown, so that nobody is shown what it has signed.
func (s *script) cmdMembers(words []string) {
	set := setting{
		seed: 1, manual: true, tuning: handoff.DefaultTuning,
		resources: []group.Resource{group.Resource{Name: "r", MaxHold: 10 * time.Second, Params: policy.Params{
			Preset: wandering.Paper, OperationTime: 10 * time.Second, MembersMax: 4, SkipDelay: time.Second, MinInterval: time.Millisecond,
			RegenerationMean: 10000 * time.Hour,
		}}.WithDefaults()},
	}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch {
		case name == "hide-shown":
			set.bug = HideShown
		case name == "recall":
			set.recall = true
		case name == "no-pre-offer":
			set.noPreOffer = true
		case name == "seed":
			set.seed, _ = strconv.ParseUint(value, 10, 64)
		case name == "skew":
			who, by, _ := strings.Cut(value, ":")
			d, err := time.ParseDuration(by)
			require.NoError(s.t, err)
			set.members[who[0]-'a'].skew = d
		case name == "found":
			set.members[value[0]-'a'].found = true
		default:
			require.Equal(s.t, memberName(len(set.members)), name, "members are a, b, c, …")
			set.members = append(set.members, memberSetting{durable: value != "volatile"})
		}
	}
	c, err := newCluster(set, &s.out)
	require.NoError(s.t, err)
	c.tracer.terse = true
	s.c = c
}

// cmdStart starts members: after a crash from what their disk holds. With
// fresh they begin a new incarnation.
func (s *script) cmdStart(words []string) {
	fresh := slices.Contains(words, "fresh")
	for _, w := range words {
		if w != "fresh" {
			s.node(w).start(fresh)
		}
	}
}

// cmdConnect connects two members; HELLO and what they tell each other of the
// group arrive at once, the latter not with the word strangers.
func (s *script) cmdConnect(words []string) {
	s.c.connect(s.node(words[0]), s.node(words[1]))
	for range 10 {
		for _, l := range s.take(func(l *letter) bool { return l.kind == wire.TypeHello || s.c.tracer.hides(l.kind) }) {
			if l.kind != wire.TypeMembers || !slices.Contains(words, "strangers") {
				s.c.arrive(l)
			}
		}
	}
}

// cmdBreak breaks the connection of two members, and both know it. After a
// crash the other end knows nothing until then, or until there is a new one.
func (s *script) cmdBreak(words []string) {
	a, b := s.node(words[0]), s.node(words[1])
	k := a.conns[b.id]
	s.c.breakOff(k, silent)
	a.detach(k, silent)
	b.detach(k, silent)
}

// selection reads [TYPE] [from NAME] [to NAME].
func (s *script) selection(words []string) func(*letter) bool {
	var kind, from, to string
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "from":
			i++
			from = words[i]
		case "to":
			i++
			to = words[i]
		default:
			kind = words[i]
		}
	}
	return func(l *letter) bool {
		return (kind == "" || l.kind.String() == kind) && (from == "" || l.from.label() == from) && (to == "" || l.to.label() == to)
	}
}

// take removes the messages in transit that are selected.
func (s *script) take(selected func(*letter) bool) []*letter {
	var taken, left []*letter
	for _, l := range s.c.mail {
		if selected(l) {
			taken = append(taken, l)
		} else {
			left = append(left, l)
		}
	}
	s.c.mail = left
	return taken
}

func (s *script) show(l *letter) {
	m, err := wire.Decode(l.body)
	require.NoError(s.t, err)
	s.printf("%s > %s: %s", l.from.label(), l.to.label(), s.c.tracer.message(m))
}

// cmdPending lists the messages in transit.
func (s *script) cmdPending(words []string) {
	for _, l := range s.c.mail {
		if !s.c.tracer.hides(l.kind) {
			s.show(l)
		}
	}
}

// cmdDeliver delivers the messages that are selected, of those in transit now.
func (s *script) cmdDeliver(words []string) {
	for _, l := range s.take(s.selection(words)) {
		s.c.arrive(l)
	}
}

// cmdDrop loses the messages that are selected.
func (s *script) cmdDrop(words []string) {
	for _, l := range s.take(s.selection(words)) {
		s.show(l)
	}
}

// cmdKeep NAME …: keeps a copy of the first message that is selected.
func (s *script) cmdKeep(words []string) {
	selected := s.selection(words[1:])
	for _, l := range s.c.mail {
		if selected(l) {
			s.saved[words[0]] = l
			s.show(l)
			return
		}
	}
	s.printf("FAILED: nothing to keep")
	s.t.Errorf("keep %s: nothing is in transit", strings.Join(words, " "))
}

// cmdReplay NAME [to MEMBER] [as MEMBER] [flip BIT] delivers a kept message
// again: to somebody else, as if somebody else had sent it, with one bit of the
// transfer flipped.
func (s *script) cmdReplay(words []string) {
	l := *s.saved[words[0]]
	l.late = true
	for i := 1; i+1 < len(words); i += 2 {
		switch words[i] {
		case "to":
			l.to = s.node(words[i+1])
		case "as":
			l.from = s.node(words[i+1])
		case "flip":
			bit, err := strconv.Atoi(words[i+1])
			require.NoError(s.t, err)
			l.body = flip(s.t, l.body, bit)
		}
	}
	s.c.arrive(&l)
}

// flip flips a bit of the transfer inside a TRANSFER message, so that the
// message is well formed and its contents are not.
func flip(t require.TestingT, body []byte, bit int) []byte {
	m, err := wire.Decode(body)
	require.NoError(t, err)
	transfer := m.(*wire.Transfer)
	transfer.Transfer = slices.Clone(transfer.Transfer)
	transfer.Transfer[bit/8] ^= 1 << (bit % 8)
	changed, err := wire.Encode(transfer)
	require.NoError(t, err)
	return changed
}

// cmdTick lets time pass. Nothing is delivered.
func (s *script) cmdTick(words []string) {
	d, err := time.ParseDuration(words[0])
	require.NoError(s.t, err)
	s.c.runFor(d)
}

// cmdStabilize delivers what is in transit, and what that leads to.
func (s *script) cmdStabilize(words []string) {
	for range 100 {
		for _, l := range s.take(func(*letter) bool { return true }) {
			s.c.arrive(l)
		}
	}
	require.Empty(s.t, s.c.mail, "does not come to rest")
}

// cmdCirculate lets time pass and delivers everything at once; only the
// number of handoffs is shown.
func (s *script) cmdCirculate(words []string) {
	d, err := time.ParseDuration(words[0])
	require.NoError(s.t, err)
	before, shown := s.c.handoffs(), s.out.Len()
	for until := s.c.now + d; s.c.now < until; {
		s.cmdStabilize(nil)
		s.c.runFor(10 * time.Millisecond)
	}
	s.out.Truncate(shown)
	s.printf("%d handoffs", s.c.handoffs()-before)
}

// cmdCrash NAME [power]: at once; NAME after append|sync KIND or after send
// TYPE: when the next record of that kind is written, or durable, or when the
// next such message has left.
func (s *script) cmdCrash(words []string) {
	n := s.node(words[0])
	if len(words) < 4 {
		n.crash(slices.Contains(words, "power"))
		return
	}
	n.trap = trapAfter(words[2], words[3])
}

func trapAfter(what, kind string) func(op) bool {
	appended := false
	return func(o op) bool {
		switch {
		case o.kind == opAppend && o.record.Record.Kind().String() == kind:
			appended = true
			return what == "append"
		case o.kind == opSync:
			return what == "sync" && appended
		case o.kind == opOther && what == "send":
			return isSend(o, kind)
		}
		return false
	}
}

// cmdDemand NAME: a program asks for the resource.
func (s *script) cmdDemand(words []string) {
	n := s.node(words[0])
	n.requests++
	n.put(member.Demand{Request: n.requests, Resource: "r"})
}

// cmdEnd NAME: the program that runs at a member ends.
func (s *script) cmdEnd(words []string) {
	for _, p := range s.c.running {
		if p.node == s.node(words[0]) {
			s.c.finish(p, false)
			return
		}
	}
	s.t.Errorf("nothing runs at %s", words[0])
}

func (s *script) cmdShutdown(words []string) { s.node(words[0]).put(member.Shutdown{}) }

func (s *script) cmdCheckpoint(words []string) { s.node(words[0]).compact() }

// cmdSave keeps a copy of a member's disk, as a backup does.
func (s *script) cmdSave(words []string) {
	n := s.node(words[0])
	n.synced()
	d := n.disk
	d.live = slices.Clone(d.live)
	s.disks[words[0]] = d
}

// cmdRestore puts the saved journal in the place of a member's own. What was
// written since stays in its history: others have seen its effects.
func (s *script) cmdRestore(words []string) {
	n, d := s.node(words[0]), s.disks[words[0]]
	n.disk.live, n.disk.carried = slices.Clone(d.live), d.carried
}

// cmdClone NAME as PLACE: a second member with the same key and a copy of the
// journal, elsewhere.
func (s *script) cmdClone(words []string) {
	n := s.node(words[0])
	clone := s.c.add(n.identity, n.memberSetting)
	clone.place = words[2]
	clone.disk.live, clone.disk.carried = slices.Clone(n.disk.live), len(n.disk.live)
}

// cmdMark remembers how long every journal is, for expect unchanged.
func (s *script) cmdMark([]string) {
	s.mark = make(map[string]int)
	for _, n := range s.c.nodes {
		s.mark[n.label()] = len(n.disk.history)
	}
}

// cmdExpect checks something and prints ok.
func (s *script) cmdExpect(words []string) {
	if why := s.expect(words); why != "" {
		s.printf("FAILED: %s", why)
		s.t.Errorf("expect %s: %s", strings.Join(words, " "), why)
		return
	}
	s.printf("ok")
}

// fate is what the journals say of the token with this name.
func (s *script) fate(name string) (audit.Token, *audit.Report) {
	report := audit.Check(s.c.group.ID(), s.c.journals(), audit.Options{})
	for _, t := range report.Tokens {
		if s.c.tracer.token(t.ID) == name {
			return t, report
		}
	}
	s.t.Fatalf("unknown token %q", name)
	return audit.Token{}, nil
}
