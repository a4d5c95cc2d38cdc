/*
 * A member that wants turns, and takes no token: P-80, 1 and 2 of spec/policy/keeper.md. A tick is L.
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
 *   BUG_AGAIN      the holder runs another program as soon as the token is back
 *   BUG_NO_AVOID   the holder offers it to R again
 *   BUG_SAME       it avoids it for O each time
 *   BUG_NOT_BACK   what X has not taken counts after it has taken a token
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

#define O (DMIN + H + 2)
#define LIMIT (1 + O + 2)
#define R 0
#define X 1
#define OTHER 2
#define HOLDER 3

byte kept;			/* ticks for which the holder has the token */
byte avoids[2];			/* ticks for which it avoids R, X */
byte span[2];			/* the last such time */
byte away;			/* ticks for which X is still away */
byte gone;			/* ticks for which it was away; 0: it has taken a token since */
byte back;			/* ticks since it is back, and has got none */
byte times;
byte tries;
byte ticks;
byte untaken;			/* passes that came back since the holder's last program */
bit no_false, few_tries, soon_back;

mtype = { RUN, REFUSED, ABSENT, TAKES, LEAVES };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)
#define LESS(v, n) v = (v > n -> v - n : 0)

inline lasts(n)
{
	kept = kept + n;
	ticks = (ticks + n < SPAN -> ticks + n : SPAN);
	back = (away < n && gone > 0 -> back + n - away : back);
	LESS(avoids[R], n); LESS(avoids[X], n); LESS(away, n);
	no_false = kept < LIMIT;
	assert(no_false);
	/* As soon as a failing member would be, and one custody and O later. */
	soon_back = back <= gone + O + LIMIT;
	assert(soon_back);
	no_false = 0; soon_back = 0
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
#else
	untaken++;
	if
	:: untaken == UNTAKEN -> untaken = 0; lasts(H)
	:: else
	fi
#endif
}

/* Another one takes it, and the token comes back to this holder. */
inline passes()
{
	kept = 0; untaken = 0;
	lasts(H)
}

active proctype Group()
{
	d_step { lasts(H) }
	do
	:: ticks == SPAN -> break
	:: d_step { ticks < SPAN && avoids[R] == 0 ->
		SAY(R, REFUSED);
		tries++;
#ifndef BUG_NO_AVOID
		few_tries = tries <= TRIES;
		assert(few_tries);
		few_tries = 0;
#endif
		fails(R) }
	:: d_step { ticks < SPAN && avoids[R] > 0 && avoids[X] == 0 && away > 0 -> SAY(X, ABSENT); fails(X) }
	:: d_step { ticks < SPAN && avoids[R] > 0 && avoids[X] == 0 && away == 0 ->
		SAY(X, TAKES); gone = 0; back = 0;
#ifndef BUG_NOT_BACK
		span[X] = 0;
#endif
		passes() }
	:: d_step { ticks < SPAN && avoids[R] > 0 && avoids[X] > 0 -> SAY(OTHER, TAKES); passes() }
	:: atomic { ticks < SPAN && away == 0 && gone == 0 && times < TIMES ->
		SAY(X, LEAVES); times++; select(away : 1 .. AWAY); gone = away; back = 0 }
	od
}
