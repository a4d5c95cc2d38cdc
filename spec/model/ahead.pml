/*
 * What a gate says before it is durable.
 *
 * A session's record is written, OPEN leaves with the session's number, and only then the
 * record is made durable. Nothing reaches the resource before. A crash loses any records that
 * are not durable, from the last one backwards. A start passes over as many numbers as
 * can have left, AHEAD, and says none behind them before one is durable. What works at the
 * resource is in "work": the gate does not see it.
 *
 *   PLACES=2  AHEAD=2  SESSIONS=4  in all  CRASHES=3
 *   BUG_...   see docs/exclusion.md
 */

#ifndef PLACES
#define PLACES 2
#endif
#ifndef AHEAD
#define AHEAD 2
#endif
#ifndef SESSIONS
#define SESSIONS 4
#endif
#ifndef CRASHES
#define CRASHES 3
#endif
#define NUMBERS (SESSIONS + (CRASHES + 1) * AHEAD + 2)

/* truth */
bit out[NUMBERS];			/* this number has left */
bit work[PLACES];

/* the gate's memory */
bit up = 1;
byte fence, written, durable;
bit inside[PLACES];			/* a session */
byte number[PLACES];			/* its number */
bit told[PLACES];			/* OPEN was said */

/* its journal: of each place the session that has not ended, and whether that is durable */
byte jnumber[PLACES];			/* 0: none */
byte jlast;				/* the last number that is durable */

byte sessions, crashes;
byte i, n;				/* scratch */
bit once, closed_first, restart_closes;

mtype = { CHOSEN, SAID, SYNC, STREAM, CLOSED, CRASH, RESTART };
#define SAY(p, what) printf("place %d number %d: %e\n", p, number[p], what)

/* the record of the session at p is not durable */
#define PENDING(p) (inside[p] && jnumber[p] != number[p])

/* All records become durable. */
inline sync()
{
	i = 0;
	do
	:: i == PLACES -> break
	:: else -> if :: inside[i] -> jnumber[i] = number[i] :: else fi; i++
	od;
	i = 0;
	jlast = written;
#ifdef BUG_PASSED_OVER
	durable = fence
#else
	durable = written
#endif
}

inline choose(p)
{
	closed_first = !work[p];
	assert(closed_first);
	fence++; sessions++;
	written = fence;
	inside[p] = 1; number[p] = fence; told[p] = 0;
	SAY(p, CHOSEN);
	if
#ifndef BUG_ANY_AHEAD
	:: fence - durable > AHEAD -> sync()
#endif
	:: else
	fi
}

inline begin()
{
	i = 0;
	do
	:: i == PLACES -> break
	:: else ->
		/* what the journal has open is closed, and that is confirmed; nothing else is at the resource */
		restart_closes = (jnumber[i] != 0 || !work[i]);
		assert(restart_closes);
		work[i] = 0; jnumber[i] = 0; i++
	od;
	i = 0;
	written = jlast; durable = jlast;
#ifdef BUG_NO_NUMBERS
	fence = jlast;
#else
	fence = jlast + AHEAD;
#endif
	up = 1
}

/* What a crash leaves: any number of the records that were on their way, from the first one on. */
inline crash()
{
	do
	:: n = 0; i = 0;
		do	/* the one with the lowest number */
		:: i == PLACES -> break
		:: else -> if :: PENDING(i) && (n == 0 || number[i] < number[n - 1]) -> n = i + 1 :: else fi; i++
		od;
		i = 0;
		if
		:: n == 0 -> break
		:: n > 0 -> jnumber[n - 1] = number[n - 1]; jlast = number[n - 1]
		:: n > 0 -> break
		fi
	od;
	n = 0; i = 0;
	do
	:: i == PLACES -> break
	:: else -> inside[i] = 0; number[i] = 0; told[i] = 0; i++
	od;
	i = 0;
	up = 0
}

proctype Place(byte p)
{
end:	do
	:: d_step { up && !inside[p] && sessions < SESSIONS -> choose(p) }
	:: d_step { up && inside[p] && !told[p] ->
		once = !out[number[p]];
		assert(once);
		out[number[p]] = 1; told[p] = 1; SAY(p, SAID) }
	/* the first stream */
#ifdef BUG_STREAM_FIRST
	:: d_step { up && inside[p] && told[p] && !work[p] ->
#else
	:: d_step { up && inside[p] && told[p] && !PENDING(p) && !work[p] ->
#endif
		work[p] = 1;
		SAY(p, STREAM) }
	/* the close has confirmed: that is durable, with all before it */
	:: d_step { up && inside[p] && told[p] -> sync(); work[p] = 0; inside[p] = 0; jnumber[p] = 0; SAY(p, CLOSED); number[p] = 0; told[p] = 0 }
	od
}

proctype Gate()
{
end:	do
	:: d_step { up -> sync() }
	:: atomic { up && crashes < CRASHES -> crashes++; crash(); printf("%e\n", CRASH) }
	:: d_step { !up -> begin(); printf("%e\n", RESTART) }
	od
}

init
{
	atomic {
		i = 0;
		do
		:: i == PLACES -> break
		:: else -> run Place(i); i++
		od;
		i = 0;
		run Gate()
	}
}
