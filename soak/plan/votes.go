package plan

import "time"

// Times of the plan votes.
const (
	// minVoteCut and maxVoteCut bound a fault: long enough for the others to replace the
	// token of a holder whose program may run on. votePause is between two of them, longer
	// than a voter that has restarted gives no vote.
	minVoteCut, maxVoteCut, votePause = 12 * time.Second, 30 * time.Second, 8 * time.Second
	// voteCalm is the share without faults in the end of a short run, in which two faults
	// have room: one whose faults take less than shortVotes.
	voteCalm   = 4
	shortVotes = time.Minute
)

// voteKinds are the faults of the plan votes. Those that name nobody hit who runs a program.
// Of two that part machines in one direction, the first one named is not heard.
var voteKinds = []Step{
	{Fault: Cut},
	{Fault: Pause},
	{Fault: Part, Voter: Apart},
	{Fault: OneWay},
	{Fault: Split, Voter: Apart},
	{Fault: PartOneWay, Voter: Apart},
	{Fault: Pause, Voter: Hit},
	{Fault: Deaf},
	{Fault: Split, Voter: Along},
	{Fault: PartOneWay, Voter: Unheard},
	{Fault: Kill},
	{Fault: Kill, Voter: Hit},
}

// votes is a group in which holders are parted from those that vote, in each way that votes
// hold for, and their daemons are frozen and killed. Where programs need votes, no two run
// at once; where they need none, the same faults make two run.
func (m *maker) votes() {
	const operation, interval = 600 * time.Millisecond, 200 * time.Millisecond
	m.plan.Calm = min(m.plan.Calm, m.plan.For/voteCalm)
	n, last, hold := len(m.plan.Members), m.plan.For-m.plan.Calm, 3*time.Second
	short := last < shortVotes
	m.plan.Long = true
	if short {
		hold = 2 * time.Second // so that both sides of a cut have a token soon
	}
	of := exclusive(operation, hold, interval)
	fair, light, ring := of[0], of[1], of[2]
	for _, x := range []struct {
		Resource
		onIsolated string
	}{
		{fair, "continue"}, {fair, "stop"}, {fair, "majority"}, {light, "majority"}, {ring, "stop"},
	} {
		r := x.Resource
		r.Name, r.OnIsolated = r.Name+"-"+x.onIsolated, x.onIsolated
		r.Alone = r.needsVotes()
		r.Beside = !r.Alone
		// A vote and a program of the other side last for a grant each.
		r.MaxSide = 2*hold + max(m.plan.Silence, leastDial) + detection + answers
		m.plan.Resources = append(m.plan.Resources, r)
	}
	for i := range m.plan.Members {
		for _, r := range m.plan.Resources {
			m.plan.Members[i].Demands = append(m.plan.Members[i].Demands, Demand{Resource: r.Name})
		}
	}
	at, gap, shortest, longest := m.early(settle), votePause, minVoteCut, maxVoteCut
	if short {
		at, gap, shortest, longest = time.Second, last/10, last*2/5, last*2/5
	}
	for i, splits := 0, 0; ; i++ {
		s := voteKinds[i%len(voteKinds)]
		s.At, s.For, s.Holder = at, m.between(shortest, longest), m.plan.Resources[i%len(m.plan.Resources)].Name
		if at += s.For + gap; s.At+s.For > last {
			return
		}
		switch victims := m.rng.Perm(n); s.Fault {
		case Split: // by turns less than half, half, and more
			s.Member = victims[:max(1, min(n-1, n/2-1+splits%3))]
			splits++
		case Part, PartOneWay:
			s.Member = victims[:2]
		default:
			s.Member = victims[:1]
		}
		m.plan.Steps = append(m.plan.Steps, s)
	}
}

// needsVotes reports whether programs of the resource need votes.
func (r Resource) needsVotes() bool { return r.OnIsolated == "stop" || r.OnIsolated == "majority" }
