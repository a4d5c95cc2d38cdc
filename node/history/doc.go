// Package history keeps what a member has heard of its tokens in the last hour, for people: where they were,
// whose programs ran, and how long programs here waited. It is pure: instants come in as arguments, and what it keeps has bounds.
//
//	l := history.New(self)
//	l.Saw(history.Sighting{…})           // a token is with a member, as far as is known
//	l.Began(…); l.Ended(…); l.Waited(…)  // programs of this member
//	news := l.Since(seq, now)            // what is new after seq: the page
//	sums := l.Summaries(now)             // shares and waits by minutes: wander top
//
// Of this member all is exact. Of others it is what messages have said, and when: an operation of another member
// begins when this one first heard of it, and ends when the token was heard of further on, or at the latest when
// the holder's program is killed. So what two members show of a third one differs.
//
// A Log is safe for concurrent use. Noting an event takes a lock and allocates nothing once the lists are full.
package history
