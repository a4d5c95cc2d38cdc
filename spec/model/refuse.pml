/*
 * A member that wants turns, and takes no token, and members that answer offers late: P-80, 1 to 3 of
 * spec/policy/keeper.md, and H-22 of spec/protocol.md. A tick is L.
 *
 * A holder has the token for one program. Then it passes it to the member whose turn it is: R
 * if it does not avoid R, else X, else another honest member, which is always there. R refuses. X is honest, and away for a
 * while: it takes nothing. A pass that fails takes a tick. Then the token is back. The holder avoids that member for O,
 * and twice as long each time until that one takes a token from it.
 * A holder that has the token for LIMIT ticks is struck: L before it is told that it is
 * asked, O, and 2 L in which it says that it still has it.
 *
 *   H=2 DMIN=1   longest program, min_interval
 *   AWAY=12      ticks for which X is away, at most
 *   TIMES=2      how often
 *   TRIES=5      passes to R that fail, of one holder, in SPAN=100 ticks
 *   UNTAKEN=3    passes that came back, in one custody, after which the holder runs another program
 *   ALONE        only R wants the token. When R has not taken it, the holder runs another program, or passes it to X or the
 *                other one, which want nothing
 *   COY          the same, and R tells the holder that it wants none: it gets no offer
 *   RING         the same, and the holder passes the token on in turn. It learns in its program that R waits
 *   SLOW         each honest member answers an offer when another one was asked, a tick later, as where disks are slow. What it
 *                accepts then counts (H-22)
 *   REST=8       ticks after which the holder passes on a token that nobody wants (ALONE)
 *   BUG_AGAIN      the holder runs another program as soon as the token is back
 *   BUG_NO_AVOID   the holder offers it to R again
 *   BUG_SAME       it avoids it for O each time
 *   BUG_NOT_BACK   what X has not taken counts after it has taken a token
 *   BUG_CAME_BACK  the holder counts only REST, and a pass that came back begins that anew (ALONE)
 *   BUG_UNTOLD     it counts only REST where no pass has come back (COY)
 *   BUG_LAST_ONLY  only what the member accepts that was asked last counts (SLOW)
 *   BUG_LEARNS_LATE  it learns that after its program, when it has begun another one (RING)
 */

#ifndef H
#define H 2
#endif
#ifndef DMIN
#define DMIN 1
#endif
#ifndef AWAY
#define AWAY 12
#endif
#ifdef SLOW
#define TIMES 0
#endif
#ifndef TIMES
#define TIMES 2
#endif
#ifndef TRIES
#define TRIES 5
#endif
#ifndef SPAN
#define SPAN 100
#endif

#ifndef UNTAKEN
#define UNTAKEN 3
#endif

#ifndef REST
#define REST 8
#endif
#ifdef COY
#define ALONE
#define R_OUT 1
#elif defined(RING)
#define ALONE
#define R_OUT (avoids[R] > 0 || kept == H)	/* it has not run twice */
#else
#define R_OUT (avoids[R] > 0)
#endif
/* Whether the holder may run again with ALONE. */
#ifdef BUG_CAME_BACK
#define MAY_RUN (stays < REST)
#else
#if defined(BUG_LEARNS_LATE)
#define MAY_RUN (kept == H || untaken >= UNTAKEN)
#elif defined(RING)
#define MAY_RUN (untaken >= UNTAKEN)
#elif defined(BUG_UNTOLD)
#define MAY_RUN (untaken == 0 && stays < REST || kept + H <= O || untaken >= UNTAKEN)
#else
#define MAY_RUN (kept + H <= O || untaken >= UNTAKEN)
#endif
#endif

#define O (DMIN + H + 2)
#define LIMIT (1 + O + 2)
#define R 0
#define X 1
#define OTHER 2
#define HOLDER 3

byte kept;			/* ticks for which the holder has the token */
byte stays;			/* ticks since it came there, or came back */
byte avoids[2];			/* ticks for which it avoids R, X */
byte span[2];			/* the last such time */
byte away;			/* ticks for which X is still away */
byte gone;			/* ticks for which it was away; 0: it has taken a token since */
byte back;			/* ticks since it is back, and has got none */
byte times;
byte tries;
byte ticks;
byte untaken;			/* passes that came back since the holder's last program */
bit late;			/* an honest member was asked, and accepts while another one is (SLOW) */
bit no_false, few_tries, soon_back;

mtype = { AGAIN, REFUSED, ABSENT, ASKED, TAKES, LEAVES };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)
#define LESS(v, n) v = (v > n -> v - n : 0)

inline lasts(n)
{
	kept = kept + n;
#ifdef ALONE
	stays = stays + n;
#endif
	ticks = (ticks + n < SPAN -> ticks + n : SPAN);
	back = (away < n && gone > 0 -> back + n - away : back);
	LESS(avoids[R], n); LESS(avoids[X], n); LESS(away, n);
	no_false = kept < LIMIT;
	assert(no_false);
#ifndef ALONE	/* As soon as a failing member would be, and one custody and O later. */
	soon_back = back <= gone + O + LIMIT;
	assert(soon_back);
#endif
	no_false = 0; soon_back = 0
}

/* Another one takes it, and the token comes back to this holder. */
inline passes()
{
	kept = 0; untaken = 0; stays = 0; late = 0;
	lasts(H)
}

/* A pass has come back. */
inline returns()
{
	untaken++; stays = 0;
#ifndef ALONE
	if
	:: untaken == UNTAKEN -> untaken = 0; lasts(H)
	:: else
	fi
#endif
}

inline fails(m)
{
	lasts(1);
#ifndef BUG_NO_AVOID
#ifdef BUG_SAME
	span[m] = O;
#else
	span[m] = (span[m] == 0 -> O : 2 * span[m]);
#endif
	avoids[m] = span[m];
#endif
#ifdef BUG_AGAIN
	lasts(H)
#elif defined(SLOW) && !defined(BUG_LAST_ONLY)
	if
	:: late -> passes()
	:: else -> returns()
	fi
#else
	returns()
#endif
}

active proctype Group()
{
	d_step { lasts(H) }
	do
	:: ticks == SPAN -> break
#ifndef COY
	:: d_step { ticks < SPAN && avoids[R] == 0 ->
		SAY(R, REFUSED);
		tries++;
#ifndef BUG_NO_AVOID
		few_tries = tries <= TRIES;
		assert(few_tries);
		few_tries = 0;
#endif
		fails(R) }
#endif
#ifdef SLOW
	:: d_step { ticks < SPAN ->
		SAY(OTHER, ASKED);
		lasts(1);
		if
#ifndef BUG_LAST_ONLY
		:: late -> passes()
#endif
		:: else -> late = 1; returns()
		fi }
#else
	:: d_step { ticks < SPAN && R_OUT && avoids[X] == 0 && away > 0 -> SAY(X, ABSENT); fails(X) }
	:: d_step { ticks < SPAN && R_OUT && avoids[X] == 0 && away == 0 ->
		SAY(X, TAKES); gone = 0; back = 0;
#ifndef BUG_NOT_BACK
		span[X] = 0;
#endif
		passes() }
#ifdef ALONE
	:: d_step { ticks < SPAN && R_OUT && MAY_RUN -> SAY(HOLDER, AGAIN); untaken = 0; lasts(H) }
	:: d_step { ticks < SPAN && R_OUT && !MAY_RUN -> SAY(OTHER, TAKES); passes() }
#else
	:: d_step { ticks < SPAN && avoids[R] > 0 && avoids[X] > 0 -> SAY(OTHER, TAKES); passes() }
#endif
#endif
	:: atomic { ticks < SPAN && away == 0 && gone == 0 && times < TIMES ->
		SAY(X, LEAVES); times++; select(away : 1 .. AWAY); gone = away; back = 0 }
	od
}
