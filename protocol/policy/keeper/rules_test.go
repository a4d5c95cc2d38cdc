package keeper

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// lone is a keeper whose peers are what the test says. It is the first one in the order,
// where the test does not say otherwise.
type lone struct {
	*Keeper
	now     clock.Instant
	order   fixed
	did     []policy.Action
	waiting map[ident.Member]clock.Instant // since when members wait, as they say when they are asked; clock.Never: not any more
}

// fixed is a group in an order.
type fixed []ident.Member

// Draw draws nobody: a keeper asks also those that its member passes nothing to.
func (f *fixed) Draw(_ int, to []ident.Member) []ident.Member { return to }

func (f *fixed) Witnesses(_ ident.Member, n int, to []ident.Member) []ident.Member {
	return append(to, (*f)[:min(len(*f), n)]...)
}

func (f *fixed) Others(n int, to []ident.Member) []ident.Member {
	for _, m := range *f {
		if m != at(theSelf) && n > 0 {
			to, n = append(to, m), n-1
		}
	}
	return to
}

func (f *fixed) Size() int { return len(*f) - 1 }

// idlePolicy does nothing with its tokens.
type idlePolicy struct{ policytest.Untimed }

func (idlePolicy) Step(_ clock.Instant, _ policy.Event, actions []policy.Action) []policy.Action {
	return actions
}

const (
	theSelf = iota
	theHolder
	thePasser
	theDead
)

func at(i int) ident.Member { return ident.Member{byte(i + 1)} }

// longHold is far longer than any question takes.
const longHold = 2 * time.Minute

func newLone(exclusive bool) *lone {
	return newLoneIn(exclusive, policy.Surroundings{})
}

func newLoneIn(exclusive bool, in policy.Surroundings) *lone {
	p := testParams
	p.MaxHold = longHold
	l := &lone{waiting: make(map[ident.Member]clock.Instant), order: fixed{at(theSelf), at(theHolder), at(thePasser), at(theDead)}}
	in.Self, in.Roster, in.Slot = at(theSelf), &l.order, ident.Member{255}
	l.Keeper = Around(idlePolicy{}, p, in, exclusive)
	l.after(time.Hour)
	return l
}

func (l *lone) step(e policy.Event) {
	var asked []ident.Member
	for _, a := range l.Step(l.now, e, nil) {
		a.Field = slices.Clone(a.Field)
		if a.Kind == policy.Tell && kind(a.Field[0]) == lasts {
			asked = append(asked, a.To)
			continue
		}
		l.did = append(l.did, a)
	}
	for _, m := range asked {
		if since, waits := l.waiting[m]; waits {
			answer := message{kind: lasting}
			if since != clock.Never {
				answer.span = max(1, millis(l.now.Sub(since)))
			}
			l.step(policy.Event{Kind: policy.Message, From: m, Body: answer.append(nil)})
		}
	}
}

// anew begins a step, for a test that calls parts of the keeper.
func (l *lone) anew() { l.Begin(l.Keeper.Now, &policy.Event{Kind: policy.Timer}, nil) }

// after lets time pass.
func (l *lone) after(d time.Duration) {
	for end := l.now.Add(d); ; l.step(policy.Event{Kind: policy.Timer}) {
		if l.now = min(end, l.Deadline()); l.now == end {
			break
		}
	}
	l.step(policy.Event{Kind: policy.Timer})
}

func (l *lone) says(from int, m message) {
	if _, waits := l.waiting[at(from)]; m.kind == want && !waits {
		l.waiting[at(from)] = l.now
	}
	l.step(policy.Event{Kind: policy.Message, From: at(from), Body: m.append(nil)})
}

func (l *lone) done(kind policy.ActionKind) bool {
	return slices.ContainsFunc(l.did, func(a policy.Action) bool { return a.Kind == kind })
}

// asked reports whether a member was asked, and forgets what was done until now.
func (l *lone) asked(i int) bool { return l.told(i, ask).kind == ask }

// told is what a member was told last of a kind, and forgets what was done until now.
func (l *lone) told(i int, kind kind) (last message) {
	for _, a := range l.did {
		var m message
		if a.Kind == policy.Tell && a.To == at(i) && parse(a.Field, &m) && m.kind == kind {
			last = m
		}
	}
	l.did = nil
	return last
}

var token = ident.Token{1}

// TestSearch_HolderPassedOnAndGotBack_EndNoLongerCounts: P-58. The holder has said when its
// program ends, passed the token on, got it back and died. What it runs under the later
// custody, nobody has told.
func TestSearch_HolderPassedOnAndGotBack_EndNoLongerCounts(t *testing.T) {
	l := newLone(true)
	l.says(theHolder, message{kind: have, custody: custody{token, 5}, span: 2000})
	l.says(thePasser, message{kind: want})
	var made time.Duration
	for made = 0; !l.done(policy.Generate); made += time.Second / 4 {
		require.Less(t, made, 2*longHold)
		l.after(time.Second / 4)
		if l.search.stage >= everybody {
			l.says(thePasser, message{kind: went, custody: custody{token, 6}, member: at(theHolder)})
			l.says(theDead, message{kind: none, span: 3_600_000})
		}
	}
	assert.GreaterOrEqual(t, made, longHold, "since it was asked first")
}

// TestSearch_AnotherOneLeftToo_EndDoesNotCount: P-58. The holder has said when its program
// ends, and died. Another one has left the directory since: it may have had the token.
func TestSearch_AnotherOneLeftToo_EndDoesNotCount(t *testing.T) {
	for _, left := range []bool{false, true} {
		l := newLone(true)
		l.says(theHolder, message{kind: have, custody: custody{token, 5}, span: 2000})
		l.says(thePasser, message{kind: want})
		if left {
			l.order = l.order[:theDead]
		}
		var made time.Duration
		for made = 0; !l.done(policy.Generate); made += time.Second / 4 {
			require.Less(t, made, 2*longHold)
			l.after(time.Second / 4)
			l.says(thePasser, message{kind: none, span: 3_600_000})
			if !left {
				l.says(theDead, message{kind: none, span: 3_600_000})
			}
		}
		assert.Equal(t, left, made >= longHold, made)
	}
}

// TestFound_OldPromiseAfterRelease_DoesNotCount: P-54. A promise that was given back is read
// once more, after the program has begun.
func TestFound_OldPromiseAfterRelease_DoesNotCount(t *testing.T) {
	l := newLone(true)
	h := custody{token, 5}
	l.says(theHolder, message{kind: rest, custody: h, promise: promise{7, 1}})
	l.says(theHolder, message{kind: release, custody: h, promise: promise{7, 2}})
	l.says(theHolder, message{kind: have, custody: h, span: 6000})
	l.says(theHolder, message{kind: rest, custody: h, promise: promise{7, 1}})
	assert.False(t, l.search.last.promised)
}

// TestArrival_SeveralTokensAndOneInUse_Kept: P-55 is about exclusive presets. Under others
// several tokens are right.
func TestArrival_SeveralTokensAndOneInUse_Kept(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		l := newLone(exclusive)
		l.step(policy.Event{Kind: policy.Running, Token: policy.Token{ID: ident.Token{2}, Born: 2}})
		l.step(policy.Event{Kind: policy.Arrival, Token: policy.Token{ID: token, Born: 1}})
		assert.Equal(t, exclusive, l.done(policy.Drop))
	}
}

// TestSearch_TokenOnItsWayAndOneIsDead_Followed: P-57. One member that does not answer does
// not hide where a token is that moves.
func TestSearch_TokenOnItsWayAndOneIsDead_Followed(t *testing.T) {
	l := newLone(true)
	l.says(thePasser, message{kind: want})
	require.Equal(t, everybody, l.search.stage)
	l.says(theHolder, message{kind: none, span: 3_600_000})
	l.after(DefaultSilence - time.Second/2)
	l.says(thePasser, message{kind: went, custody: custody{token, 6}, member: at(theHolder), span: 10})
	require.True(t, l.asked(theDead))
	l.after(time.Second)
	assert.Equal(t, following, l.search.stage)
	assert.True(t, l.asked(thePasser), "it knows where the token comes to be")
}

// TestResumed_MoreThanAreKept_DroppedAndNotForgotten: a group that has made many tokens may get a policy
// with one. What is withheld from the policy, nobody but the keeper knows of.
func TestResumed_MoreThanAreKept_DroppedAndNotForgotten(t *testing.T) {
	const tokens = 3 * maxHeld
	l := newLone(true)
	left := make(map[ident.Token]bool)
	for i := range tokens {
		id := ident.Token{byte(i + 1)}
		left[id] = true
		l.step(policy.Event{Kind: policy.Resumed, Token: policy.Token{ID: id, Born: uint64(i), Hop: 5}})
	}
	for _, a := range l.did {
		if a.Kind == policy.Drop {
			delete(left, a.Token)
		}
	}
	require.Len(t, left, maxHeld)
	for id := range left {
		assert.NotNil(t, l.holder.held.find(&id))
	}
}

// TestResumed_OneDiesAfterOthersHaveAnswered_AllAskedAgain: P-55. Who does not answer may have
// had the other token, and passed it to one that has answered before it died.
func TestResumed_OneDiesAfterOthersHaveAnswered_AllAskedAgain(t *testing.T) {
	l := newLone(true)
	l.step(policy.Event{Kind: policy.Resumed, Token: policy.Token{ID: token, Born: 1, Hop: 5}})
	m := l.told(thePasser, returned)
	require.Equal(t, returned, m.kind)
	m.kind = released
	l.says(thePasser, m)
	l.after(DefaultSilence - time.Second/2)
	assert.NotEqual(t, returned, l.told(thePasser, returned).kind)
	l.after(time.Second)
	again := l.told(thePasser, returned)
	require.Equal(t, returned, again.kind)
	again.kind, again.member = other, at(thePasser)
	l.says(thePasser, again)
	require.True(t, l.done(policy.Pass))
	for _, a := range l.did {
		assert.Equal(t, a.Kind == policy.Pass, a.Firm, "no other member gets it, although it accepts it late")
	}
}

// eagerPolicy runs the operation under each token that comes, and writes down what it is told.
type eagerPolicy struct {
	policytest.Untimed
	told []policy.EventKind
}

func (p *eagerPolicy) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	p.told = append(p.told, e.Kind)
	if e.Kind == policy.Arrival {
		actions = append(actions, policy.Action{Kind: policy.Run, Token: e.Token.ID})
	}
	return actions
}

// TestRun_ProgramFromBeforeRestartRuns_Waits: P-55. A later token comes while a program runs of
// which the policy does not know: the next program begins when that one has ended.
func TestRun_ProgramFromBeforeRestartRuns_Waits(t *testing.T) {
	for _, removed := range []bool{false, true} {
		l, p := newLone(true), &eagerPolicy{}
		l.holder.inner = p
		before, later := policy.Token{ID: ident.Token{2}, Born: 1}, policy.Token{ID: token, Born: 2}
		l.step(policy.Event{Kind: policy.Running, Token: before})
		l.step(policy.Event{Kind: policy.Arrival, Token: later})
		l.after(time.Minute)
		require.False(t, l.done(policy.Run))
		if removed {
			l.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, Token: later})
			assert.Equal(t, []policy.EventKind{policy.OperationEnded, policy.PassEnded}, p.told[len(p.told)-2:])
		}
		l.step(policy.Event{Kind: policy.OperationEnded, Token: before})
		assert.Equal(t, !removed, l.done(policy.Run))
	}
}

// TestReturned_YoungKeeperSearches_NothingMade: P-54. A keeper that has just begun looks for the
// token, and a member asks whether it may use one: that one is not lost.
func TestReturned_YoungKeeperSearches_NothingMade(t *testing.T) {
	l := newLoneIn(true, policy.Surroundings{Young: true})
	for range 2 * longHold / time.Second {
		l.says(thePasser, message{kind: want})
		for _, m := range []int{thePasser, theDead} {
			if slices.ContainsFunc(l.did, func(a policy.Action) bool { return a.Kind == policy.Tell && a.To == at(m) && kind(a.Field[0]) == ask }) {
				l.says(m, message{kind: none, span: 3_600_000})
			}
		}
		l.says(theHolder, message{kind: returned, custody: custody{token, 5}, born: 1, promise: promise{7, 1}})
		require.False(t, l.done(policy.Generate))
		l.did = nil
		l.after(time.Second)
	}
}

// TestReturned_KeeperMayHaveMadeOne_NothingMade: P-54 and P-60. A keeper that remembers nothing of an earlier life gives no promise
// back before the programs of that life have ended. A holder that asks meanwhile ends no search, so that it does not count as one
// that has ended too many.
func TestReturned_KeeperMayHaveMadeOne_NothingMade(t *testing.T) {
	l, given := newLoneIn(true, policy.Surroundings{Forgetful: true}), false
	for n := range uint32(longHold/time.Second) + 2 {
		l.says(thePasser, message{kind: want})
		for _, m := range []int{thePasser, theDead} {
			if slices.ContainsFunc(l.did, func(a policy.Action) bool { return a.Kind == policy.Tell && a.To == at(m) && kind(a.Field[0]) == ask }) {
				l.says(m, message{kind: none, span: 3_600_000})
			}
		}
		l.says(theHolder, message{kind: returned, custody: custody{token, 5}, born: 1, promise: promise{7, n + 1}})
		require.False(t, l.done(policy.Generate))
		given = given || l.told(theHolder, released).kind == released
		l.after(time.Second)
	}
	assert.True(t, given)
}

// TestSearch_AnotherHasLookedSincePromise_ProgramWaitedFor: P-58. Who had promised that the token rests has died. A second keeper
// has looked for the token since, and has died, too: it may have made another one, and a program may run under that. What the first
// holder says after the question ends the doubt.
func TestSearch_AnotherHasLookedSincePromise_ProgramWaitedFor(t *testing.T) {
	for _, test := range []struct {
		name   string
		asks   int // that asks for the token; 0: nobody
		again  bool
		waits  bool
		struck bool // it
	}{
		{"nobody", 0, false, false, false},
		{"the second keeper", theDead, false, true, false},
		{"it, before the promise is said again", theDead, true, false, false},
		{"the holder itself", theHolder, false, false, false},
		{"the second keeper, struck", theDead, false, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLone(true)
			if test.struck {
				l.common.struck.takeUp(at(theDead), l.now, l.now.Add(time.Hour), time.Hour)
				require.True(t, l.isStruck(at(theDead)))
			}
			l.says(theHolder, message{kind: rest, custody: custody{token, 5}, promise: promise{1, 1}})
			if test.asks > 0 {
				l.says(test.asks, message{kind: ask})
			}
			if test.again {
				l.says(theHolder, message{kind: rest, custody: custody{token, 5}, promise: promise{1, 2}})
			}
			l.after(time.Second)
			l.did = nil
			begun := l.now
			for !l.done(policy.Generate) {
				l.says(thePasser, message{kind: want})
				l.says(thePasser, knowsNone)
				l.after(time.Second / 4)
				require.Less(t, l.now.Sub(begun), 2*longHold)
			}
			if test.waits {
				assert.GreaterOrEqual(t, l.now.Sub(begun), longHold)
			} else {
				assert.LessOrEqual(t, l.now.Sub(begun), 4*DefaultSilence)
			}
		})
	}
}

// searching is a keeper that looks for a token which nobody has. The members of answers answer, and the others do not.
type searching struct {
	*lone
	answers map[int]bool
}

func newSearching(hold time.Duration) *searching {
	s := &searching{lone: newLone(true), answers: map[int]bool{theHolder: true, thePasser: true}}
	s.hold = hold
	return s
}

// search goes on to the next question to all, or until a token is made, and reports whether all are asked.
func (s *searching) search() (asks bool) {
	s.did = nil
	for since := s.Keeper.search.poll.since; s.Keeper.search.poll.since == since && !s.done(policy.Generate); {
		s.after(s.retry / 4)
		s.answer()
	}
	s.answer()
	return !s.done(policy.Generate)
}

func (s *searching) answer() {
	for _, m := range []int{theHolder, thePasser} {
		if s.answers[m] && s.Keeper.search.poll.asked.has(at(m)) {
			s.says(m, message{kind: none, span: 3_600_000})
		}
	}
}

// TestSearch_FailsReturnsAndFailsAgain_ProgramWaitedFor: P-58. A member fails while a token is looked for, and is still away when
// another one fails. It returns, and fails once more, maybe under a program. That is its second failure, however often
// all were asked meanwhile.
func TestSearch_FailsReturnsAndFailsAgain_ProgramWaitedFor(t *testing.T) {
	s := newSearching(longHold)
	s.says(thePasser, message{kind: want})
	s.says(theDead, message{kind: want})
	require.True(t, s.search())
	s.says(theHolder, message{kind: want})
	s.answers[theHolder] = false
	s.search()
	require.False(t, s.done(policy.Generate))
	s.after(longHold / 2)
	s.says(theDead, message{kind: want})
	s.answers[theHolder] = true
	require.True(t, s.search())
	last := s.now
	for s.search() {
	}
	assert.GreaterOrEqual(t, s.now.Sub(last), longHold-s.retry)
}

// TestSearch_OneFailure_CountedOnce: P-58. A program is shorter than L, so that a keeper asks all several times until
// it may make a token. A member that failed once is not taken for mute in the next search.
func TestSearch_OneFailure_CountedOnce(t *testing.T) {
	s := newSearching(time.Second)
	for range 2 {
		s.says(thePasser, message{kind: want})
		s.says(theDead, message{kind: want})
		for s.search() {
			assert.False(t, s.Keeper.search.poll.mute.from(at(theDead), s.now))
		}
		s.after(DefaultSilence)
	}
}

// TestSearch_SpeaksAndNeverAnswers_TokenMade: P-58. Each such member delays a search by maxFailures programs.
func TestSearch_SpeaksAndNeverAnswers_TokenMade(t *testing.T) {
	s := newSearching(longHold)
	s.says(thePasser, message{kind: want})
	s.says(theDead, message{kind: want})
	begun := s.now
	for s.search() {
		s.says(theDead, message{kind: want})
		require.Less(t, s.now.Sub(begun), (maxFailures+2)*longHold)
	}
	assert.GreaterOrEqual(t, s.now.Sub(begun), (maxFailures+1)*(longHold-s.retry))
}

// TestSearch_BeginsAnewAtEachQuestion_TokenMade: P-58, 1. A member answers each time that it has just begun its work. What it may
// have left running is waited for maxFailures times.
func TestSearch_BeginsAnewAtEachQuestion_TokenMade(t *testing.T) {
	s := newSearching(longHold)
	s.says(thePasser, message{kind: want})
	begun := s.now
	for s.search() {
		s.says(theDead, message{kind: none})
		require.Less(t, s.now.Sub(begun), (maxFailures+2)*longHold)
	}
	assert.GreaterOrEqual(t, s.now.Sub(begun), longHold-s.retry)
}

// TestSearch_RestartsTwice_ProgramsWaitedFor: P-58, 1. A member restarts while the token is looked for, and does so once more.
// Answers about one beginning differ by less than L, and count once.
func TestSearch_RestartsTwice_ProgramsWaitedFor(t *testing.T) {
	s := newSearching(longHold)
	s.says(thePasser, message{kind: want})
	restarts := []clock.Instant{s.now, s.now.Add(longHold / 2)}
	for s.search() {
		began := restarts[0]
		if s.now >= restarts[1] {
			began = restarts[1]
		}
		s.says(theDead, message{kind: none, span: uint32(s.now.Sub(began).Milliseconds())})
	}
	assert.GreaterOrEqual(t, s.now.Sub(restarts[1]), longHold-time.Millisecond)
}

// TestSearch_EarlierKeeperLeavesTokenLost_TokenMade: P-58, 1 and P-60. The first keeper says something each time, and makes no
// token. That the others have none, as they have known for longer than programs take, does not begin the wait for it anew.
func TestSearch_EarlierKeeperLeavesTokenLost_TokenMade(t *testing.T) {
	s := newSearching(longHold)
	s.order = fixed{at(theDead), at(theSelf), at(theHolder), at(thePasser)}
	s.says(thePasser, message{kind: want})
	begun := s.now
	for s.search() {
		s.says(theDead, message{kind: noted, span: 4000})
		require.Less(t, s.now.Sub(begun), (maxFailures+3)*longHold+foundingTime)
	}
}

// TestSearch_EarlierKeeperTellsOfAnotherTokenEachTime_TokenMade: P-60. The first keeper says at each question that it has passed
// another token on since. That counts as often as failures do.
func TestSearch_EarlierKeeperTellsOfAnotherTokenEachTime_TokenMade(t *testing.T) {
	s := newSearching(longHold)
	s.order = fixed{at(theDead), at(theSelf), at(theHolder), at(thePasser)}
	s.says(thePasser, message{kind: want})
	begun := s.now
	for n := byte(2); s.search(); n++ {
		s.says(theDead, message{kind: went, custody: custody{ident.Token{n}, 5}, member: at(theHolder)})
		require.Less(t, s.now.Sub(begun), (maxFailures+1)*(2*longHold+4*s.silence+foundingTime))
	}
	assert.GreaterOrEqual(t, s.now.Sub(begun), maxFailures*(longHold-s.retry))
}

// TestSearch_PromiseAskedBackEachTime_TokenMade: P-60. A member asks the promise of a token back of which nobody else hears,
// each time that the keeper asks all members. That counts as often as failures do.
func TestSearch_PromiseAskedBackEachTime_TokenMade(t *testing.T) {
	s := newSearching(longHold)
	s.says(thePasser, message{kind: want})
	begun, given, serial := s.now, 0, uint32(0)
	for s.search() {
		if s.Keeper.search.stage >= everybody {
			serial++
			s.says(theDead, message{kind: release, custody: custody{secondToken, 5}, born: 1, promise: promise{1, serial}})
			if s.told(theDead, released).kind == released {
				given++
			}
		}
		s.says(theDead, knowsNone)
		s.says(thePasser, message{kind: want})
		require.Less(t, s.now.Sub(begun), (maxFailures+3)*longHold+foundingTime)
	}
	assert.Equal(t, maxFailures, given)
}

// TestSearch_LastHolderSpeaksAndDoesNotAnswer_AskedForAccount: P-72, 1. It is asked once in a search, and so is told each other member.
func TestSearch_LastHolderSpeaksAndDoesNotAnswer_AskedForAccount(t *testing.T) {
	c := newCourt()
	c.says(thePasser, message{kind: want})
	c.says(theHolder, message{kind: have, custody: blamedFrom})
	c.did = nil
	told := 0
	for end := c.now.Add(longHold); c.now < end; c.after(time.Second) {
		if c.told(thePasser, blame).kind == blame {
			told++
		}
		c.says(theHolder, message{kind: want})
		for i := thePasser; i <= theFourth; i++ {
			c.says(i, knowsNone)
		}
	}
	assert.Equal(t, 1, told)
	assert.GreaterOrEqual(t, c.Keeper.inquests.open.find(at(theHolder), blamedFrom), 0)
}

// TestSearch_HolderDiesWhileProgramMayRun_AllAskedAtOnce: P-57. The holder has told of a
// program, which may have ended: the token may have left since, and come back. How long a
// program of that custody may run counts from when all are asked.
func TestSearch_HolderDiesWhileProgramMayRun_AllAskedAtOnce(t *testing.T) {
	l := newLone(true)
	l.says(theHolder, message{kind: have, custody: custody{token, 5}, span: 60_000})
	require.False(t, l.done(policy.Watch), "nobody waits")
	l.says(thePasser, message{kind: want})
	require.True(t, l.done(policy.Watch))
	l.step(policy.Event{Kind: policy.Silent, From: at(theHolder)})
	assert.True(t, l.asked(thePasser))
}

// TestSearch_TokenIsSaidToGoToTheDead_FollowedOnceInL: P-57. Who passes a token to a member that
// has fallen silent tells the keeper, which may wait for the end of an earlier program. A liar
// has it look no more often than that.
func TestSearch_TokenIsSaidToGoToTheDead_FollowedOnceInL(t *testing.T) {
	l := newLone(true)
	l.says(theHolder, message{kind: have, custody: custody{token, 5}, span: 60_000})
	l.says(theHolder, message{kind: want, member: at(thePasser)})
	l.says(thePasser, message{kind: went, custody: custody{token, 4}, member: at(theDead), span: 4000})
	require.False(t, l.asked(theDead), "of an earlier custody")
	l.says(thePasser, message{kind: went, custody: custody{token, 6}, member: at(theDead), span: 4000})
	require.True(t, l.asked(theDead))
	l.says(theDead, message{kind: have, custody: custody{token, 7}, span: 60_000})
	l.says(thePasser, message{kind: went, custody: custody{token, 8}, member: at(theHolder), span: 4000})
	assert.False(t, l.asked(theHolder))
	l.after(DefaultSilence)
	l.says(theHolder, message{kind: want, member: at(thePasser)})
	l.says(thePasser, message{kind: went, custody: custody{token, 8}, member: at(theHolder), span: 4000})
	assert.True(t, l.asked(theHolder))
}

// TestPass_ReceiverFallsSilent_KeeperTold: P-57.
func TestPass_ReceiverFallsSilent_KeeperTold(t *testing.T) {
	l := newLone(true)
	l.holder.inner = passingPolicy{}
	l.step(policy.Event{Kind: policy.Arrival, Token: policy.Token{ID: token, Hop: 5}})
	require.True(t, l.done(policy.Pass))
	l.after(nextPause)
	require.True(t, l.done(policy.Watch), "though nobody waits")
	l.step(policy.Event{Kind: policy.Silent, From: at(theDead)})
	require.Zero(t, l.told(theHolder, went).kind, "nobody has been sent the token")
	l.step(policy.Event{Kind: policy.Parted, From: at(theDead), Token: policy.Token{ID: token, Hop: 5}})
	l.after(nextPause)
	l.step(policy.Event{Kind: policy.Silent, From: at(theDead)})
	m := l.told(theHolder, went)
	assert.Equal(t, custody{token, 5}, m.custody)
	assert.Equal(t, at(theDead), m.member)
	assert.GreaterOrEqual(t, span(m.span), DefaultSilence)
}

// passingPolicy passes each token on to a member that has died.
type passingPolicy struct{ policytest.Untimed }

func (passingPolicy) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	if e.Kind == policy.Arrival {
		actions = append(actions, policy.Action{Kind: policy.Pass, Token: e.Token.ID, To: at(theDead)})
	}
	return actions
}

// runPolicy runs a program under its token when its member wants one.
type runPolicy struct{ policytest.Untimed }

func (runPolicy) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	if e.Kind == policy.DemandChanged && e.Demand {
		return append(actions, policy.Action{Kind: policy.Run, Token: token})
	}
	return actions
}

// newResting is a member with a token, which it has promised to theHolder that it rests.
func newResting(t *testing.T) *lone {
	t.Helper()
	l := newLone(true)
	l.holder.inner = runPolicy{}
	l.comes(5)
	require.Equal(t, rest, l.told(theHolder, rest).kind)
	return l
}

// comes has the token come at a hop, and rest.
func (l *lone) comes(hop uint64) {
	l.step(policy.Event{Kind: policy.Arrival, From: at(theDead), Token: policy.Token{ID: token, Hop: hop, Born: 1, Generator: at(theDead)}})
	l.after(2 * restAfter)
}

// TestPromise_KeeperDoesNotGiveItBack_NextOneHasTheNext: P-53, 5. The keeper lives, and answers no release.
func TestPromise_KeeperDoesNotGiveItBack_NextOneHasTheNext(t *testing.T) {
	l := newResting(t)
	l.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
	l.after(l.silence + l.retry)
	asked := l.told(thePasser, release)
	require.Equal(t, release, asked.kind)
	l.says(thePasser, message{kind: released, custody: asked.custody, promise: asked.promise})
	require.True(t, l.done(policy.Run))
	assert.Equal(t, have, l.told(theHolder, have).kind, "it counts on the promise, or may do so")
	l.says(theHolder, message{kind: want}) // it is not mute
	l.step(policy.Event{Kind: policy.DemandChanged})
	l.step(policy.Event{Kind: policy.OperationEnded, Token: policy.Token{ID: token, Hop: 5, Born: 1}})
	l.after(2 * restAfter)
	assert.Equal(t, rest, l.told(thePasser, rest).kind)
	l.after(2 * muteTime)
	l.comes(7)
	assert.Equal(t, rest, l.told(theHolder, rest).kind, "a while later it is asked again")
}

// TestPromise_KeeperIsSilent_ToldOfEachProgram: P-52, 2. The first keeper has the promise, and is asleep: the next one gets it,
// and gives it back. The first one counts on the promise when it is back, and later on the end of the program that it was told of.
func TestPromise_KeeperIsSilent_ToldOfEachProgram(t *testing.T) {
	l := newResting(t)
	l.step(policy.Event{Kind: policy.Silent, From: at(theHolder)})
	l.after(2 * restAfter)
	require.Equal(t, rest, l.told(thePasser, rest).kind)
	for range 2 {
		l.did = nil
		l.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
		asked := l.told(thePasser, release)
		require.Equal(t, release, asked.kind)
		l.says(thePasser, message{kind: released, custody: asked.custody, promise: asked.promise})
		require.True(t, l.done(policy.Run))
		assert.Equal(t, have, l.told(theHolder, have).kind)
		l.step(policy.Event{Kind: policy.DemandChanged})
		l.step(policy.Event{Kind: policy.OperationEnded, Token: policy.Token{ID: token, Hop: 5, Born: 1}})
		l.after(2 * restAfter)
	}
}

// TestProgram_SeveralAskDuringIt_EachToldOfTheNext: P-52, 2. Each of them may be the keeper that finds its holder dead, and counts on
// the end of the program that it was told of. Who asks while none runs counts on nothing, but the last one.
func TestProgram_SeveralAskDuringIt_EachToldOfTheNext(t *testing.T) {
	l := newResting(t)
	runs := func() {
		l.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
		asked := l.told(theHolder, release)
		l.says(theHolder, message{kind: released, custody: asked.custody, promise: asked.promise})
		require.True(t, l.done(policy.Run))
		l.step(policy.Event{Kind: policy.DemandChanged})
	}
	asks := func(i int) { l.says(i, message{kind: ask, custody: custody{token, 5}}) }
	told := func(i int) bool { did := l.did; defer func() { l.did = did }(); return l.told(i, have).kind == have }
	asks(theBlamer)
	asks(thePasser)
	runs()
	require.False(t, told(theBlamer))
	for _, i := range []int{theDead, theThird, theFourth} {
		asks(i)
	}
	l.step(policy.Event{Kind: policy.OperationEnded, Token: policy.Token{ID: token, Hop: 5, Born: 1}})
	l.after(2 * restAfter)
	did := l.did
	l.did = slices.DeleteFunc(did, func(a policy.Action) bool { return a.Kind == policy.Tell && kind(a.Field[0]) == have })
	runs()
	for _, i := range []int{theHolder, thePasser, theDead, theThird, theFourth} {
		assert.True(t, told(i), i)
	}
	assert.False(t, told(theBlamer))
}

// passPolicy is a runPolicy that passes its token to a member that waits.
type passPolicy struct{ runPolicy }

func (p passPolicy) Step(now clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	if e.Kind == policy.Wanted {
		return append(actions, policy.Action{Kind: policy.Pass, Token: token, To: e.From})
	}
	return p.runPolicy.Step(now, e, actions)
}

// TestPass_ComesBack_KeeperToldOfNextProgram: P-52, 2. The first keeper was told of a program, and is asleep. No member takes
// the token afterwards, and it counts on the end of that program still, as does the member that has asked for the token.
func TestPass_ComesBack_KeeperToldOfNextProgram(t *testing.T) {
	l := newResting(t)
	l.holder.inner = passPolicy{}
	l.step(policy.Event{Kind: policy.Silent, From: at(theHolder)})
	l.after(2 * restAfter)
	require.Equal(t, rest, l.told(thePasser, rest).kind)
	givesBack := func() {
		asked := l.told(thePasser, release)
		require.Equal(t, release, asked.kind)
		l.says(thePasser, message{kind: released, custody: asked.custody, promise: asked.promise})
	}
	runs := func() {
		l.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
		givesBack()
		require.True(t, l.done(policy.Run))
		did := l.did
		assert.Equal(t, have, l.told(theHolder, have).kind)
		l.did = did
		assert.Equal(t, have, l.told(theFourth, have).kind)
		l.step(policy.Event{Kind: policy.DemandChanged})
		l.step(policy.Event{Kind: policy.OperationEnded, Token: policy.Token{ID: token, Hop: 5, Born: 1}})
		l.after(2 * restAfter)
	}
	l.says(theFourth, message{kind: ask, custody: custody{token, 5}})
	runs()
	l.step(policy.Event{Kind: policy.Wanted, From: at(theDead)})
	givesBack()
	require.True(t, l.done(policy.Pass))
	l.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: policy.Token{ID: token, Hop: 5, Born: 1}})
	l.after(2 * restAfter)
	runs()
}

// TestPromise_KeeperGetsNoToken_NextOneHasTheNext: P-53, 5. Who has a promise can have the token sent to itself.
func TestPromise_KeeperGetsNoToken_NextOneHasTheNext(t *testing.T) {
	l := newResting(t)
	l.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
	asked := l.told(theHolder, release)
	l.says(theHolder, message{kind: released, custody: asked.custody, promise: asked.promise})
	l.step(policy.Event{Kind: policy.DemandChanged})
	l.step(policy.Event{Kind: policy.OperationEnded, Token: policy.Token{ID: token, Hop: 5, Born: 1}})
	l.after(2 * restAfter)
	require.Equal(t, rest, l.told(theHolder, rest).kind)
	l.barred.note(at(theHolder), l.now, muteTime)
	l.after(restAgain)
	assert.Equal(t, rest, l.told(thePasser, rest).kind)
	l.after(2 * muteTime)
	l.comes(7)
	assert.Equal(t, rest, l.told(theHolder, rest).kind, "a while later it is promised something again")
}

// TestPromise_TokenSentAwayComesBack_NextOneHasTheNext: P-53, 5. The keeper says that another token circulates, and none
// takes the place of the one that is sent there.
func TestPromise_TokenSentAwayComesBack_NextOneHasTheNext(t *testing.T) {
	l := newResting(t)
	l.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
	asked := l.told(theHolder, release)
	l.says(theHolder, message{kind: other, custody: asked.custody, promise: asked.promise, member: at(theDead)})
	require.True(t, l.done(policy.Pass))
	l.step(policy.Event{Kind: policy.PassEnded, From: at(theDead), Outcome: policy.Delivered, Token: policy.Token{ID: token, Hop: 5, Born: 1}})
	l.did = nil
	l.comes(9)
	assert.Equal(t, rest, l.told(thePasser, rest).kind)
}

// TestWaiting_KeeperIsSilent_NextOneMayAnswer: P-51, 2. Two keepers are told within nextPause, and a watch tells then that the first one is
// silent. The third one is told only if the second one does not answer: two that search at once wait for each other's programs (P-58).
func TestWaiting_KeeperIsSilent_NextOneMayAnswer(t *testing.T) {
	for _, answers := range []bool{true, false} {
		l := newLone(true)
		l.order = fixed{at(theHolder), at(thePasser), at(theDead), at(theSelf)}
		l.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
		require.Equal(t, want, l.told(theHolder, want).kind)
		l.after(nextPause)
		require.Equal(t, want, l.told(thePasser, want).kind)
		l.after(nextPause / 10)
		l.step(policy.Event{Kind: policy.Silent, From: at(theHolder)})
		require.False(t, l.done(policy.Tell))
		if answers {
			l.says(thePasser, message{kind: noted, span: 5000})
		}
		l.after(nextPause)
		assert.Equal(t, !answers, l.told(theDead, want).kind == want)
	}
}
