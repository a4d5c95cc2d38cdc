/*
 * Two makers that back off from each other: P-69, 5, 7 and 8 of spec/policy/keeper.md.
 *
 * A and B back off from each other for longer than is looked at: each has made a token while the other one's lived, as a
 * liar had them do. Each refuses the other's newborn token. A has a token of its own, and B has one, too, or none. The
 * token of B is the later one. Each offers what it has to the other one in each tick, and passes it on HOLD ticks after
 * that accepts it. Two tokens that change places do so once. A member makes another token when it has waited for long, and the other one keeps its own.
 * Either token may go to a third member, which takes it, also when its maker has just accepted the other one.
 * A member that gets a newborn token asks its maker about its own token, which that may have. B drops the earlier token
 * at any time, as it knows of the later one that it has made. A, which passed it there, asks B when the later one comes.
 *
 * With LIAR, A makes tokens all the time. B has the real token now and then, and passes it on.
 *
 *   HOLD=2     longest program, in ticks
 *   O=4        ticks after which a token is overdue
 *   SPAN=40    LIAR: ticks that are looked at
 *   LOSSES=1   LIAR: how often the real token is lost
 *   BUG_NO_MEET      A member refuses a newborn token while it has its own one.
 *   BUG_DROP         It accepts one, and drops it when it comes.
 *   BUG_HERE_ONLY    It takes none when its own one has gone to that member.
 *   BUG_AT_ARRIVAL   What it takes is decided when the token comes, and not when it is offered.
 *   BUG_MAKER_HAS    It drops the later token, too, if its maker has the earlier one.
 *   BUG_NO_MAKER     B cannot say that it has made the later one itself: A bars it.
 *   BUG_NO_PARDON    It does not take one after O either.
 *   BUG_EACH_MEET    LIAR: Each own token meets any number.
 *   BUG_EACH_PARDON  LIAR: A member takes one each O.
 */

#ifndef HOLD
#define HOLD 2
#endif
#ifndef O
#define O (HOLD + 2)
#endif

#define NONE 0		/* of pardons */
#define OPEN 1
#define SPENT 2

#ifndef LIAR

#define A 0
#define B 1
#define GONE 2
#define AWAY 3			/* with a third member */
#define TO(m) (4 + (m))		/* on its way */
#define MOST (2 * HOLD + 1)		/* ticks in which both may have one */
#define LONGEST (O + HOLD + 1)	/* that a member waits */
#define SHORT (HOLD + 1)	/* that it waits for an answer to the token that it has sent to the other member */

byte at[2];		/* where the token is that this member has made */
bit moved[2];		/* it is not at hop 0 any more */
bit tried[2];		/* it was offered in this tick */
bit accepted[2];	/* the other member takes it */
byte held[2];		/* ticks since it came, or was accepted */
bit met[2];		/* this member's own token meets one of the other member, or has met it */
bit let[2];		/* the one that this member has accepted for that, and that has not come yet */
bit knows;		/* B knows that the later token is on its way, or with another member */
bit swapped[2];		/* this member's own token has gone to the other one, and none has come since */
byte pardon[2];
byte wait[2];		/* ticks without a token */
byte both;		/* ticks in which both have one */
byte t, to;
bit lost;		/* B has dropped the token that A passed to it */
bit one_soon, served, kept, none_made, taken, soon, no_bar;

mtype = { OFFER, SEND, LEAVE, ARRIVE, DROP, PASS, TICK };
#define SAY(m, what) printf("member %d hop %d: %e\n", m, t, what)
#define HAS(m) (at[A] == (m) || at[B] == (m))
#define OWN(m) (at[m] == (m) && !moved[m])

#ifdef BUG_NO_MEET
#define MEETS(m) 0
#elif defined(BUG_HERE_ONLY)
#define MEETS(m) (!met[m] && OWN(m))
#else
#define MEETS(m) (!met[m] && (OWN(m) || swapped[m]))
#endif
#ifdef BUG_DROP
#define TAKES(m) 0
#elif defined(BUG_AT_ARRIVAL)
#define TAKES(m) (MEETS(m) || pardon[m] == OPEN)
#else
#define TAKES(m) (let[m] || MEETS(m) || pardon[m] == OPEN)
#endif

#ifdef BUG_NO_MAKER
#define EXPLAINED 0
#else
#define EXPLAINED 1
#endif
#ifdef BUG_MAKER_HAS
#define MAKER_HAS (at[1 - t] == t)
#else
#define MAKER_HAS (t == A && at[B] == A)
#endif

/* Member 1 - x is offered the token that x has made. */
inline offers(x)
{
	t = x; SAY(x, OFFER);
	tried[x] = 1; held[x] = 0;
	accepted[x] = let[1 - x] || MEETS(1 - x) || pardon[1 - x] == OPEN;
#ifndef BUG_AT_ARRIVAL
	if
	:: MEETS(1 - x) -> met[1 - x] = 1; let[1 - x] = 1
	:: else
	fi
#endif
}

/* Token t has come to member m, which takes it. */
inline comes(m)
{
	at[t] = m; moved[t] = 1; held[t] = 0; swapped[m] = 0; wait[m] = 0;
	if
	:: at[1 - t] == m ->		/* the later one stays */
		at[A] = GONE; accepted[A] = 0;
		lost = (m == B)
	:: else
	fi;
	if
	:: t == B && m == A && lost ->	/* A has passed the other one to B, and asks what became of that */
		no_bar = EXPLAINED;
		assert(no_bar);
		lost = 0; no_bar = 0
	:: else
	fi
}

/* The newborn token t comes to member m. */
inline arrives(m)
{
	taken = TAKES(m);
	assert(taken);		/* it has accepted it */
	if
	:: !taken -> SAY(m, DROP); at[t] = GONE
	:: else ->
		SAY(m, ARRIVE);
		if
		:: let[m] -> let[m] = 0
		:: !let[m] && MEETS(m) -> met[m] = 1
		:: else ->
			if
			:: at[1 - t] == GONE -> pardon[m] = NONE	/* it is the only one */
			:: else -> pardon[m] = SPENT
			fi
		fi;
		if
		:: MAKER_HAS -> SAY(m, DROP); at[t] = GONE; swapped[m] = 0
		:: else -> comes(m)
		fi
	fi;
	taken = 0
}

/* A token that is with the third member comes from there in time. */
inline waits(m)
{
	if
	:: !HAS(m) && at[A] != TO(m) && at[B] != TO(m) && at[A] != AWAY && at[B] != AWAY ->
		wait[m]++;
		soon = !swapped[m] || wait[m] <= SHORT;
		assert(soon);
		served = wait[m] <= LONGEST;
		assert(served);
#ifndef BUG_NO_PARDON
		if
		:: wait[m] == O && OWN(1 - m) && pardon[m] == NONE -> pardon[m] = OPEN
		:: else
		fi;
#endif
		none_made = !(wait[m] > O && pardon[m] != OPEN && OWN(1 - m) && !accepted[1 - m]);
		assert(none_made)
	:: else
	fi
}

#define DUE(x) (at[x] > B || (moved[x] || accepted[x]) && held[x] < HOLD || !moved[x] && !accepted[x] && tried[x])

active proctype Group()
{
	at[A] = A;
	if
	:: at[B] = B
	:: at[B] = GONE
	fi;
	do
	:: d_step { at[A] == A && !moved[A] && !accepted[A] && !tried[A] -> offers(A) }
	:: d_step { at[B] == B && !moved[B] && !accepted[B] && !tried[B] -> offers(B) }
	:: d_step { OWN(A) && !accepted[A] -> t = A; SAY(A, LEAVE); at[A] = AWAY; moved[A] = 1 }
	:: d_step { OWN(B) && !accepted[B] -> t = B; SAY(B, LEAVE); at[B] = AWAY; moved[B] = 1; knows = 1 }
	:: d_step { at[A] == A && accepted[A] -> t = A; SAY(A, SEND); accepted[A] = 0; at[A] = TO(B); swapped[A] = 1 }
	:: d_step { at[B] == B && accepted[B] -> t = B; SAY(B, SEND); accepted[B] = 0; at[B] = TO(A); swapped[B] = 1; knows = 1 }
	:: d_step { at[A] == TO(B) && !moved[A] -> t = A; arrives(B); kept = at[A] != GONE || at[B] != GONE; assert(kept) }
	:: d_step { at[B] == TO(A) && !moved[B] -> t = B; arrives(A); kept = at[A] != GONE || at[B] != GONE; assert(kept) }
	:: d_step { at[A] == B && knows -> t = A; SAY(B, DROP); at[A] = GONE; accepted[A] = 0; lost = 1; kept = at[B] != GONE; assert(kept) }
	/* A later hop is never refused. */
	:: d_step { at[A] <= B && moved[A] && at[B] <= AWAY -> t = A; SAY(at[A], PASS); at[A] = TO(1 - at[A]) }
	:: d_step { at[B] <= B && moved[B] && at[A] <= AWAY -> t = B; SAY(at[B], PASS); at[B] = TO(1 - at[B]) }
	:: d_step { at[A] > AWAY && moved[A] -> t = A; to = at[A] - 4; SAY(to, ARRIVE); comes(to); to = 0 }
	:: d_step { at[B] > AWAY && moved[B] -> t = B; to = at[B] - 4; SAY(to, ARRIVE); comes(to); to = 0 }
	:: d_step { at[A] <= AWAY && at[B] <= AWAY && DUE(A) && DUE(B) ->
		t = 0;
		SAY(A, TICK);
		if
		:: HAS(A) && HAS(B) -> both++
		:: else
		fi;
		one_soon = both <= MOST;
		assert(one_soon);
		waits(A); waits(B);
		tried[A] = 0; tried[B] = 0;
		if
		:: held[A] < HOLD -> held[A]++
		:: else
		fi;
		if
		:: held[B] < HOLD -> held[B]++
		:: else
		fi }
	od
}

#else

#ifndef SPAN
#define SPAN 40
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#define FIRST (HOLD + 1)	/* the first back-off */
#define FEW (2 * 5)		/* back-offs of 3, 6, 12 and 24 ticks, and the next one: each has one cause, and one pardon */

#define HERE 0
#define ELSEWHERE 1
#define LOST 2
byte real = ELSEWHERE;
bit own;		/* B has made it, and it is still at hop 0 */
bit met;		/* this own one meets one of A, or has met it */
bit let;		/* B has accepted one for that, which has not come yet */
byte left, span;	/* of the back-off */
byte pardon;
byte wait;		/* ticks that B is without a token */
byte taken;		/* tokens of A, beside another one */
byte made;		/* by B */
byte losses, now;
bit few_taken;

mtype = { OFFER, MINT, MOVE, LOSE, MAKE, TICK };
#define SAY(what) printf("member 1 hop 0: %e\n", what)

#ifdef BUG_EACH_MEET
#define MEETS (real == HERE && own)
#else
#define MEETS (real == HERE && own && !met)
#endif
#ifdef BUG_EACH_PARDON
#define GRANTS (pardon != OPEN)
#else
#define GRANTS (pardon == NONE)
#endif

/* A's token is contested, unless the real one is lost. */
inline checks()
{
	if
	:: real == LOST -> real = HERE; own = 0; wait = 0; pardon = NONE
	:: else ->
		taken++;
		few_taken = taken <= FEW + made;
		assert(few_taken);
		if
		:: left == 0 -> span = (span == 0 -> FIRST : 2 * span); left = span; pardon = NONE
		:: else
		fi
	fi
}

active proctype Group()
{
	do
	:: now == SPAN -> break
	:: d_step { now < SPAN && left > 0 && MEETS && !let -> SAY(OFFER); met = 1; let = 1 }
	:: d_step { now < SPAN && (left == 0 || let || pardon == OPEN) -> SAY(MINT);
		if
		:: left > 0 && let -> let = 0
		:: left > 0 && !let -> pardon = SPENT
		:: else
		fi;
		checks() }
	:: d_step { now < SPAN && real != LOST -> SAY(MOVE); real = 1 - real; wait = 0; own = 0 }
	:: d_step { now < SPAN && real != LOST && losses < LOSSES -> SAY(LOSE); real = LOST; own = 0; losses++ }
	:: d_step { now < SPAN && real == LOST && wait >= O -> SAY(MAKE); real = HERE; own = 1; met = 0; made++; wait = 0 }
	:: d_step { now < SPAN -> SAY(TICK);
		now++;
		if
		:: left > 0 -> left--
		:: else
		fi;
		if
		:: real == HERE -> wait = 0
		:: real != HERE && wait < O -> wait++
		:: else
		fi;
		if
		:: wait == O && left > 0 && GRANTS -> pardon = OPEN; wait = 0
		:: else
		fi }
	od
}

#endif
