/*
 * A gate with several places at a slot (gate_sessions), each for one session.
 *
 * Three members sign in as often as they like. A place has its own state and its own hooks, and
 * its sessions are journalled with its number. The members wait in one queue. The gate may crash
 * between any two of its steps, and the group may change how many places there are. What
 * really works at the resource is in "work", one bit for a member at a place: the gate does not see it.
 *
 *   PLACES=2  SESSIONS=4  CRASHES=1  FAILS=1  of closes  CHANGES=1  of the number of places
 *   BUG_...   see docs/exclusion.md
 */

#ifndef PLACES
#define PLACES 2
#endif
#ifndef SESSIONS
#define SESSIONS 4
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FAILS
#define FAILS 1
#endif
#ifndef CHANGES
#define CHANGES 1
#endif
#define N 3
#define NOBODY 3
#define AT(m, p) (m * PLACES + p)

mtype = { IDLE, JOURNAL, OPENING, OPEN, CLOSING, STUCK, DOWN };

/* truth */
bit work[N * PLACES];
bit opener[N * PLACES];			/* an open hook for m runs at p */

/* the gate's memory */
mtype st[PLACES] = IDLE;
byte who[PLACES] = NOBODY;
bit waits[N];
bit up = 1;

/* its journal, and the configuration */
bit jopen[PLACES], jstuck[PLACES];
byte jwho[PLACES] = NOBODY;
byte most = PLACES;			/* places of the configuration */

byte sessions, crashes, fails, changes;
byte i, n;				/* scratch */
bit one_each, closed_first, configured, restart_closes, few, no_stall;

mtype = { SIGN_IN, CHOSEN, RECORD, HOOK, OPENED, CUT, CONFIRMED, FAILED, CLEARED, CRASH, RESTART, MORE, FEWER };
#define SAY(m, p, what) printf("member %d place %d: %e\n", m, p, what)

/* m has a session at place q that counts: at a stuck place it does not */
#ifdef BUG_EACH_PLACE
#define HAS(m, q) 0
#else
#define HAS(m, q) (who[q] == m && st[q] != IDLE && st[q] != STUCK)
#endif
/* a session may begin at p */
#ifdef BUG_GONE_PLACE
#define HAS_PLACE(p) 1
#else
#define HAS_PLACE(p) (p < most)
#endif
#if PLACES == 2
#define FREE(m) (!HAS(m, 0) && !HAS(m, 1))
#else
#define FREE(m) (!HAS(m, 0) && !HAS(m, 1) && !HAS(m, 2))
#endif
/* the places that are not idle: those that the configuration has taken away, too */
#if PLACES == 2
#define TAKEN ((st[0] != IDLE) + (st[1] != IDLE))
#define BUSY (USED(0) + USED(1))
#else
#define TAKEN ((st[0] != IDLE) + (st[1] != IDLE) + (st[2] != IDLE))
#define BUSY (USED(0) + USED(1) + USED(2))
#endif
#ifdef BUG_GONE_FREE
#define ROOM 1
#else
#define ROOM (TAKEN < most)
#endif
#define USED(p) (work[AT(0, p)] || work[AT(1, p)] || work[AT(2, p)] || opener[AT(0, p)] || opener[AT(1, p)] || opener[AT(2, p)])
#define EMPTY(p) !(work[AT(0, p)] || work[AT(1, p)] || work[AT(2, p)])

/* Close begins with the end of what is left of the open hook. */
inline killed(p) { opener[AT(0, p)] = 0; opener[AT(1, p)] = 0; opener[AT(2, p)] = 0 }

proctype Member(byte m)
{
end:	do
	:: d_step { up && !waits[m] && sessions < SESSIONS -> waits[m] = 1; SAY(m, 0, SIGN_IN) }
	od
}

proctype Place(byte p)
{
	byte m;
end:	do
	/* the queue is one, and each place takes from it */
	:: atomic { up && st[p] == IDLE && HAS_PLACE(p) && ROOM && sessions < SESSIONS ->
		m = 0;
		do
		:: m < N - 1 -> m++
		:: break
		od;
		if
		:: waits[m] && FREE(m) -> few = (BUSY - USED(p) < most); assert(few); sessions++; waits[m] = 0; who[p] = m; st[p] = JOURNAL; SAY(m, p, CHOSEN);
			configured = (p < most); assert(configured)
		:: else
		fi;
		m = 0 }
	:: d_step { up && st[p] == JOURNAL ->
#ifdef BUG_ONE_RECORD		/* the place is not in the record */
		jopen[0] = 1; jwho[0] = who[p];
#else
		jopen[p] = 1; jwho[p] = who[p];
#endif
		st[p] = OPENING; opener[AT(who[p], p)] = 1; SAY(who[p], p, HOOK);
		closed_first = EMPTY(p); assert(closed_first) }
	:: d_step { up && st[p] == OPENING && work[AT(who[p], p)] -> st[p] = OPEN; SAY(who[p], p, OPENED) }
	/* sign-out, loss, deadline, successor, or an open hook that fails */
	:: d_step { up && (st[p] == OPENING || st[p] == OPEN) -> st[p] = CLOSING; SAY(who[p], p, CUT)
#ifdef BUG_CLOSING_FREE		/* a place counts as free when its session has been cut */
		; st[p] = IDLE
#endif
		}
	:: d_step { up && st[p] == CLOSING ->
		killed(p);
		work[AT(0, p)] = 0; work[AT(1, p)] = 0; work[AT(2, p)] = 0;
		jopen[p] = 0; jstuck[p] = 0; st[p] = IDLE; SAY(who[p], p, CONFIRMED) }
	:: d_step { up && st[p] == CLOSING && fails < FAILS -> killed(p); fails++; jstuck[p] = 1; st[p] = STUCK; SAY(who[p], p, FAILED) }
	:: d_step { up && st[p] == STUCK -> st[p] = CLOSING; SAY(who[p], p, CLEARED) }
	od
}

/* What an open hook that was begun does, whether the gate is up or not. */
inline starts(m)
{
	opener[AT(m, p)] = 0; work[AT(m, p)] = 1;
	closed_first = (work[AT(0, p)] + work[AT(1, p)] + work[AT(2, p)] == 1);
	assert(closed_first);
	n = 0; i = 0;
	do	/* what is left at a stuck place does not count */
	:: i == PLACES -> break
	:: else -> if :: work[AT(m, i)] && !jstuck[i] && i != p -> n++ :: else fi; i++
	od;
	one_each = (n == 0);
	assert(one_each);
	i = 0; n = 0
}

proctype Hook(byte p)
{
end:	do
	:: d_step { opener[AT(0, p)] -> starts(0) }
	:: d_step { opener[AT(1, p)] -> starts(1) }
	:: d_step { opener[AT(2, p)] -> starts(2) }
	od
}

proctype Group()
{
end:	do
	:: d_step { up && crashes < CRASHES -> crashes++; up = 0;
		waits[0] = 0; waits[1] = 0; waits[2] = 0; i = 0;
		do
		:: i == PLACES -> break
		:: else -> st[i] = DOWN; who[i] = jwho[i]; i++
		od;
		i = 0; SAY(NOBODY, 0, CRASH) }
	:: d_step { !up -> up = 1; i = 0;
		do
		:: i == PLACES -> break
		:: else ->
			if
			:: jstuck[i] -> st[i] = STUCK
#ifdef BUG_RESTART_FEWER	/* the restart looks at the places of the configuration only */
			:: !jstuck[i] && jopen[i] && i < most -> st[i] = CLOSING
#else
			:: !jstuck[i] && jopen[i] -> st[i] = CLOSING
#endif
			:: else -> st[i] = IDLE;
				restart_closes = EMPTY(i) && !(opener[AT(0, i)] || opener[AT(1, i)] || opener[AT(2, i)]);
				assert(restart_closes)
			fi;
			i++
		od;
		i = 0; SAY(NOBODY, 0, RESTART) }
	/* the group changes the number; what is open goes on */
	:: d_step { changes < CHANGES && most == PLACES -> changes++; most = PLACES - 1; SAY(NOBODY, most, FEWER) }
	:: d_step { most < PLACES -> most = PLACES; SAY(NOBODY, most, MORE) }
	od
}

init
{
	atomic {
		run Member(0); run Member(1); run Member(2); run Group();
		n = 0;
		do
		:: n == PLACES -> break
		:: else -> run Place(n); run Hook(n); n++
		od;
		n = 0;
		timeout;
	}
	/* in the end nobody waits where a place is free; no switch breaks it */
	no_stall = !(up && sessions < SESSIONS && (waits[0] || waits[1] || waits[2]));
	assert(no_stall)
}
