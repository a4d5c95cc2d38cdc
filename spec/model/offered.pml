/*
 * A holder that passes its token by name, and nobody takes it: what it answers meanwhile (P-56 of
 * spec/policy/keeper.md).
 *
 * A and B are honest. The one that has the token passes it to the other one, or to X, which takes none: it keeps
 * silent for GIVE ticks, which is longer than L. As long as no TRANSFER is signed the holder has custody, and says so.
 * When the other one has accepted it signs, at any time. From then on the token is on its way, for TRIP ticks at most. The
 * other one takes it, or declines it: then it is back. Either of the two may die, at any time, with a program that goes
 * on for HOLD ticks, and of which nobody was told. The dead one may come back without its program, and
 * decline the TRANSFER that was for it.
 *
 * K asks all whether they have the token. They answer one after the other, while the token moves. A member that is dead is
 * waited for until it is so for L. K follows the latest custody that it is told of, and asks all again. If
 * nobody has the token, and none says that it is on its way for less than L, it is lost. K asks all once more where some have answered
 * some time ago. Then it makes another one: at once where all answer, and HOLD after it has found that first where one does not.
 *
 *   L=2       silence, in ticks        HOLD=3    longest program
 *   GIVE=4    offers to one member     TRIP=1    a TRANSFER
 *   PASSES=3  hops                     DEATHS=2
 *   RETURNS=0 dead members that come back
 *   BUG_PASSING   the holder says that the token is on its way as soon as it offers it
 *   BUG_SINCE     it counts for how long that is so from when it offered it
 *   BUG_HAVE_ON   it says that it has the token until the receipt comes
 *   BUG_RELIES    K takes that word for a promise that no program begins
 *   BUG_NO_ASK    a token that comes back is used at once, however long ago its TRANSFER was signed
 */

#ifndef L
#define L 2
#endif
#ifndef HOLD
#define HOLD 3
#endif
#ifndef GIVE
#define GIVE 4
#endif
#ifndef TRIP
#define TRIP 1
#endif
#ifndef PASSES
#define PASSES 3
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef RETURNS
#define RETURNS 0
#endif

#define A 0
#define B 1
#define X 2
#define K 3
#define OTHER(m) (1 - m)
#define STALL ((L + HOLD + 2) * (DEATHS + 1))	/* ticks in which a lost token is replaced */

#define NONE 0		/* it has not had the token, */
#define HAS 1		/* has it, */
#define OFFERS 2	/* offers it, */
#define SIGNED 3	/* has signed a TRANSFER, and no answer, */
#define PASSED 4	/* or the receipt */
byte mode[2];
byte to[2];		/* to whom it passes the token */
byte offered[2];	/* ticks since it began to */
byte onWay[2];		/* ticks since it signed */
byte hop[2];		/* of its last custody */
byte program[2];	/* ticks that its program may still last */
bit dead[2];
byte silent[2];		/* ticks since it died */

byte deaths, returns;
byte answered;		/* since K asked all last: a bit each */
bit asking;		/* they are asked */
bit found;		/* one has the token, or will in a moment */
bit missing;		/* one did not answer */
byte latest, followed;	/* the latest custody that one has passed on, as it says, and the last one that K has followed */
bit lost;		/* K has found nobody that has it */
byte waited;		/* ticks since K has found that first, or a member has failed since */
byte spoke;		/* members that have answered since K began to look: a bit each */
bit polled;		/* K has asked all in this tick */
bit stale;		/* some have answered in an earlier one */
bit heard;		/* the last holder said that it has the token, and that no program runs */
bit made;
byte idle;		/* ticks for which nobody that lives has the token */

bit living_kept, one_program, one_token, replaced;
mtype = { OFFER, BACK, SIGN, TAKES, DECLINES, START, END, DEATH, RETURN, ASK, ANSWER, MISSING, AGAIN, LOST, MAKE, TICK };
#define SAY(m, what) printf("member %d hop %d: %e\n", m, (m < 2 -> hop[m] : 0), what)

#define HOLDS(m) (!dead[m] && (mode[m] == HAS || mode[m] == OFFERS))
#define COMES(m) (!dead[m] && mode[OTHER(m)] == SIGNED && !dead[OTHER(m)] && onWay[OTHER(m)] <= TRIP)
#define LIVES (HOLDS(A) || HOLDS(B) || COMES(A) || COMES(B))

#ifdef BUG_PASSING
#define SAYS_HAVE(m) (mode[m] == HAS)
#define SAYS_MOVING(m) (mode[m] == OFFERS && offered[m] < L || mode[m] == SIGNED && offered[m] < L)
#elif defined(BUG_HAVE_ON)
#define SAYS_HAVE(m) (mode[m] == HAS || mode[m] == OFFERS || mode[m] == SIGNED)
#define SAYS_MOVING(m) 0
#elif defined(BUG_SINCE)
#define SAYS_HAVE(m) (mode[m] == HAS || mode[m] == OFFERS)
#define SAYS_MOVING(m) (mode[m] == SIGNED && offered[m] < L)
#else
#define SAYS_HAVE(m) (mode[m] == HAS || mode[m] == OFFERS)
#define SAYS_MOVING(m) (mode[m] == SIGNED && onWay[m] < L)
#endif
#ifdef BUG_RELIES
#define MAY_MAKE (!missing || waited >= HOLD || heard)
#else
#define MAY_MAKE (!missing || waited >= HOLD)
#endif

inline again()
{
	answered = 0; found = 0; missing = 0; latest = 0; stale = 0
}

/* K has asked all, and knows where the token is. */
inline calm()
{
	asking = 0; again(); followed = 0; lost = 0; waited = 0; spoke = 0; polled = 1
}

/* A member answers, or does not. */
inline answer(m)
{
	answered = answered | (1 << m);
	if
	:: dead[m] ->
		SAY(m, MISSING);
		missing = 1; waited = (spoke & (1 << m) -> 0 : waited); spoke = spoke & ~(1 << m)	/* it may have failed just now */
	:: else ->
		SAY(m, ANSWER);
		spoke = spoke | (1 << m);
		if
		:: SAYS_HAVE(m) -> found = 1; heard = program[m] == 0
		:: SAYS_MOVING(m) -> found = 1
		:: mode[m] == PASSED && hop[m] > latest -> latest = hop[m]
		:: else
		fi
	fi
}

/* The token is at a member, by a custody. */
inline comes(m, h)
{
	mode[m] = HAS; hop[m] = h; offered[m] = 0; onWay[m] = 0; to[m] = 0
}

inline ticks(m)
{
	offered[m] = (mode[m] == OFFERS || mode[m] == SIGNED && offered[m] < GIVE -> offered[m] + 1 : offered[m]);
	onWay[m] = (mode[m] == SIGNED && onWay[m] < L + TRIP -> onWay[m] + 1 : onWay[m]);
	silent[m] = (dead[m] && silent[m] < L -> silent[m] + 1 : silent[m]);
	program[m] = (program[m] > 0 -> program[m] - 1 : 0)
}

proctype Member(byte m)
{
end:	do
	:: d_step { !made && !dead[m] && mode[m] == HAS && program[m] == 0 && hop[m] < PASSES ->
		SAY(m, OFFER); mode[m] = OFFERS; to[m] = X; offered[m] = 0 }
	:: d_step { !made && !dead[m] && mode[m] == HAS && program[m] == 0 && hop[m] < PASSES ->
		SAY(m, OFFER); mode[m] = OFFERS; to[m] = OTHER(m); offered[m] = 0 }
	:: d_step { !dead[m] && mode[m] == OFFERS && (offered[m] >= GIVE || to[m] != X) -> SAY(m, BACK); mode[m] = HAS; to[m] = 0; offered[m] = 0 }
	:: d_step { !dead[m] && mode[m] == OFFERS && to[m] == OTHER(m) && !dead[OTHER(m)] ->
		SAY(m, SIGN); mode[m] = SIGNED; onWay[m] = 0 }
	/* The TRANSFER comes. */
	:: d_step { !made && !dead[m] && COMES(m) && mode[m] != SIGNED ->
		SAY(m, TAKES); comes(m, hop[OTHER(m)] + 1); mode[OTHER(m)] = PASSED }
	:: d_step { !dead[m] && mode[OTHER(m)] == SIGNED && !dead[OTHER(m)] && mode[m] != SIGNED ->
		SAY(m, DECLINES);
#ifdef BUG_NO_ASK
		one_token = !made;
#else
		one_token = !made || onWay[OTHER(m)] >= L;	/* it asks, and drops it */
#endif
		assert(one_token);
		one_token = 0;
		if
		:: made -> mode[OTHER(m)] = PASSED
		:: !made && onWay[OTHER(m)] >= L -> comes(OTHER(m), hop[OTHER(m)] + 1); calm()	/* it asks K, which knows of no other one */
		:: else -> comes(OTHER(m), hop[OTHER(m)] + 1)
		fi }
	:: d_step { !made && !dead[m] && mode[m] == HAS && program[m] == 0 -> SAY(m, START); program[m] = HOLD }
	:: d_step { program[m] > 0 -> SAY(m, END); program[m] = 0 }
	:: d_step { !made && !dead[m] && deaths < DEATHS -> SAY(m, DEATH); deaths++; dead[m] = 1; silent[m] = 0 }
	/* It has lost its memory. */
	:: d_step { dead[m] && returns < RETURNS && program[m] == 0 && silent[m] >= L -> SAY(m, RETURN);
		returns++; dead[m] = 0; silent[m] = 0; mode[m] = NONE; to[m] = 0; offered[m] = 0; onWay[m] = 0 }
	od
}

proctype Keeper()
{
	do
	:: made -> break
	:: d_step { !made && !asking -> SAY(K, ASK); asking = 1 }
	:: d_step { asking && !(answered & 1) && (!dead[A] || silent[A] >= L) -> answer(A) }
	:: d_step { asking && !(answered & 2) && (!dead[B] || silent[B] >= L) -> answer(B) }
	:: d_step { asking && answered == 3 && found -> calm() }
	:: d_step { asking && answered == 3 && !found && latest > followed -> SAY(K, AGAIN); followed = latest; again() }
	:: d_step { asking && answered == 3 && !found && latest <= followed && MAY_MAKE && stale -> SAY(K, AGAIN); again() }
	:: d_step { asking && answered == 3 && !found && latest <= followed && MAY_MAKE && !stale ->
		SAY(K, MAKE);
		made = 1; asking = 0;
		living_kept = !LIVES;
		assert(living_kept);
		living_kept = 0;
		one_program = program[A] == 0 && program[B] == 0;
		assert(one_program);
		one_program = 0 }
	/* It waits, and asks all again. */
	:: d_step { asking && answered == 3 && !found && latest <= followed && !MAY_MAKE && !lost -> SAY(K, LOST); lost = 1 }
	od
}

proctype Time()
{
	do
	:: made -> break
	/* A TRANSFER to a member that lives has come by then, and an answer to K. */
	:: d_step { !made && !(COMES(A) && onWay[B] == TRIP && mode[A] != SIGNED) && !(COMES(B) && onWay[A] == TRIP && mode[B] != SIGNED) &&
		!(mode[A] == OFFERS && offered[A] == GIVE && !dead[A]) && !(mode[B] == OFFERS && offered[B] == GIVE && !dead[B]) &&
		(!asking && polled ||
		asking && (!(answered & 1) && dead[A] && silent[A] < L && ((answered & 2) || dead[B] && silent[B] < L) ||
			!(answered & 2) && dead[B] && silent[B] < L && ((answered & 1) || dead[A] && silent[A] < L) ||
			answered == 3 && lost && !MAY_MAKE)) ->
		SAY(K, TICK);
		polled = 0; stale = asking;
		if
		:: lost && answered == 3 -> waited = (waited < HOLD -> waited + 1 : HOLD); again()
		:: else
		fi;
		ticks(A); ticks(B);
		idle = (LIVES -> 0 : idle + 1);
		replaced = idle <= STALL;
		assert(replaced);
		replaced = 0 }
	od
}

init {
	atomic { comes(A, 1); run Member(A); run Member(B); run Keeper(); run Time() }
}
