/*
 * Votes: two programs never run at once, even where there are two tokens.
 *
 * Each of two holders has a token of the slot. Before a program begins, the
 * holder asks voters; with enough votes it may begin. A voter gives one vote at a
 * time. It is bound until the holder says that the program has ended, or until
 * the span that was asked for has passed on the voter's clock since the receipt.
 * The holder's span counts from the sending of the first ask. A guard, another
 * process, kills the program at its end. No clock is compared with another.
 *
 * A message may be delayed, for ever too, or overtaken: so every cut is in it. Of
 * two of one kind under way one gets lost. The daemon of holder 0 may freeze
 * (SIGSTOP) and thaw at any time, the guard does not. A voter may restart. Time is in ticks; voters' clocks may gain one
 * tick on the holders' (DRIFT), a kill may take one (KILL).
 *
 *   SPAN=1      the longest program, in ticks from the first ask
 *   VOTERS=1    on_isolated = stop; 2, 3: a group of so many under majority
 *   ASKS=1      how often a holder asks each voter
 *   RESTARTS=0  of voters
 *   LIAR        the last voter votes for everybody
 *   BUG_...     see README.md
 */

#ifndef SPAN
#define SPAN 1
#endif
#ifndef VOTERS
#define VOTERS 1
#endif
#ifndef ASKS
#define ASKS 1
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#define DRIFT 1
#define KILL  1
#ifdef BUG_MARGIN
#define BOUND SPAN			/* nothing added for drift and kill */
#else
#define BOUND (SPAN + DRIFT + KILL)
#endif
#define NEED (VOTERS / 2 + 1)
#define AT(h, v) ((h) * VOTERS + (v))
#define ALL (2 * VOTERS)

/* A holder. */
#define IDLE    0
#define ASKING  1
#define GRANTED 2			/* the daemon has forked, the child not yet executed */
#define RUNNING 3
#define OVER    4			/* the daemon does not know yet that the program has ended */

byte phase[2];
byte age[2];				/* since the first ask, holder's clock */
byte dying[2];				/* ticks since the guard began to kill */
bit frozen[2];				/* the daemon */
byte serial[ALL];			/* of the last ask */
byte first[ALL];			/* of this program's first ask */
byte back[ALL];				/* up to which votes were given back */
bit has[ALL];				/* the vote counts */

/* Messages under way, by their serial; 0: none. */
byte asks[ALL];
byte votes[ALL];
byte frees[ALL];
byte ends[ALL];

byte bound[VOTERS];			/* 1 + the holder; 0: nobody */
byte given[VOTERS];			/* the serial of the vote */
byte left[VOTERS];			/* of the span, voter's clock */
byte quiet[VOTERS];			/* no vote is given */
byte drift;
byte restarts;
byte i;
byte n;
bit no_overlap;				/* the property */

#define SAY(what) printf("holder %d hop 0: %e\n", age[0], what)
mtype = { DRIFTS, BEGIN, ASK, REQUESTED, VOTED, FREE, ENDED, GRANT, EXEC, END, TOLD, GIVE_UP, TICK, FREEZE, THAW, RESTART };

inline done()
{
	no_overlap = !(phase[0] == RUNNING && phase[1] == RUNNING);
	assert(no_overlap);
	no_overlap = 0; i = 0; n = 0
}

/* Of two messages of one kind one gets lost. */
inline send(slot, with)
{
	if
	:: slot = with
	:: slot > 0 -> skip
	fi
}

/* The votes of a program go back. */
inline release(h)
{
	i = 0;
	do
	:: i == VOTERS -> break
	:: else ->
		if
		:: serial[AT(h, i)] > 0 -> ends[AT(h, i)] = serial[AT(h, i)]
		:: else
		fi;
		has[AT(h, i)] = 0; i++
	od
}

/* Is there still time for a program, as the daemon and then the child see it? */
#ifdef BUG_FORK
#define MAY_EXEC 1
#else
#define MAY_EXEC (age[h] < SPAN)
#endif

proctype Holder(byte h)
{
	do
	:: d_step { phase[h] == IDLE && !frozen[h] ->
		SAY(BEGIN); phase[h] = ASKING; age[h] = 0; i = 0;
		do
		:: i == VOTERS -> break
		:: else -> first[AT(h, i)] = serial[AT(h, i)] + 1; i++
		od;
		done() }
	:: d_step { phase[h] == ASKING && !frozen[h] && age[h] < SPAN ->
		n = 0; i = 0;
		do
		:: i == VOTERS -> break
		:: else -> n = n + has[AT(h, i)]; i++
		od;
		if
		:: n >= NEED -> SAY(GRANT); phase[h] = GRANTED; dying[h] = 0;
#ifdef BUG_RECEIPT_TIME
			age[h] = 0
#endif
		:: else
		fi;
		done() }
	:: d_step { phase[h] == GRANTED && MAY_EXEC -> SAY(EXEC); phase[h] = RUNNING; done() }
	:: d_step { phase[h] == GRANTED && age[h] >= SPAN -> phase[h] = OVER; done() }
	:: d_step { phase[h] == RUNNING -> SAY(END); phase[h] = OVER; done() }
#ifdef BUG_ENDED_EARLY
	:: d_step { phase[h] == RUNNING && !frozen[h] -> SAY(TOLD); release(h); done() }
#endif
	:: d_step { (phase[h] == OVER || phase[h] == ASKING) && !frozen[h] -> SAY(TOLD); phase[h] = IDLE; age[h] = 0; release(h); done() }
	:: d_step { h == 0 && !frozen[h] -> SAY(FREEZE); frozen[h] = 1; done() }
	:: d_step { frozen[h] -> SAY(THAW); frozen[h] = 0; done() }
	od
}

#ifdef BUG_OLD_VOTE
#define COUNTS(p) 1
#else
#ifdef BUG_KEEP
#define COUNTS(p) (votes[p] >= first[p])
#else
#define COUNTS(p) (votes[p] >= first[p] && votes[p] > back[p])
#endif
#endif
#ifdef BUG_RESTART
#define WILLING(v) 1
#else
#define WILLING(v) (quiet[v] == 0)
#endif
#ifdef BUG_TWO
#define MAY_GIVE(h, v) 1
#else
#ifdef LIAR
#define MAY_GIVE(h, v) (bound[v] == 0 || bound[v] == h + 1 || v == VOTERS - 1)
#else
#define MAY_GIVE(h, v) (bound[v] == 0 || bound[v] == h + 1)
#endif
#endif
#ifdef BUG_OLD_ENDED
#define COVERS(p, v) 1
#else
#define COVERS(p, v) (ends[p] >= given[v])
#endif

/* What one holder and one voter say to each other. */
proctype Link(byte h; byte v)
{
	do
	:: atomic { phase[h] == ASKING && !frozen[h] && serial[AT(h, v)] < ASKS ->
		SAY(ASK); serial[AT(h, v)]++; send(asks[AT(h, v)], serial[AT(h, v)]); done() }
	:: atomic { asks[AT(h, v)] > 0 ->
		SAY(REQUESTED);
		if
		:: WILLING(v) && MAY_GIVE(h, v) ->
			if
			:: bound[v] == h + 1 && given[v] > asks[AT(h, v)] -> skip
			:: else -> given[v] = asks[AT(h, v)]
			fi;
			bound[v] = h + 1; left[v] = BOUND;
			send(votes[AT(h, v)], asks[AT(h, v)])
		:: WILLING(v) && !MAY_GIVE(h, v) -> frees[AT(1 - h, v)] = given[v]
		:: else
		fi;
		asks[AT(h, v)] = 0; done() }
	:: d_step { votes[AT(h, v)] > 0 && !frozen[h] ->
		SAY(VOTED);
		if
		:: phase[h] == ASKING && COUNTS(AT(h, v)) -> has[AT(h, v)] = 1
		:: phase[h] == ASKING && !COUNTS(AT(h, v)) -> ends[AT(h, v)] = votes[AT(h, v)]
		:: phase[h] == IDLE -> ends[AT(h, v)] = votes[AT(h, v)]
		:: else
		fi;
		votes[AT(h, v)] = 0; done() }
	:: d_step { frees[AT(h, v)] > 0 && !frozen[h] ->
		SAY(FREE);
		if
		:: phase[h] == ASKING && frees[AT(h, v)] >= first[AT(h, v)] ->
#ifndef BUG_COUNT_ON
			has[AT(h, v)] = 0; back[AT(h, v)] = serial[AT(h, v)];
#endif
			ends[AT(h, v)] = serial[AT(h, v)]
#ifdef BUG_OLD_FREE
		:: phase[h] == ASKING && frees[AT(h, v)] < first[AT(h, v)] -> ends[AT(h, v)] = serial[AT(h, v)]
#else
		:: phase[h] == ASKING && frees[AT(h, v)] < first[AT(h, v)] -> ends[AT(h, v)] = frees[AT(h, v)]
#endif
		:: phase[h] == IDLE -> ends[AT(h, v)] = serial[AT(h, v)]
#ifdef BUG_FREE_RUNNING
		:: phase[h] == RUNNING -> ends[AT(h, v)] = serial[AT(h, v)]
#endif
		:: else
		fi;
		frees[AT(h, v)] = 0; done() }
	:: d_step { ends[AT(h, v)] > 0 ->
		SAY(ENDED);
		if
		:: bound[v] == h + 1 && COVERS(AT(h, v), v) -> bound[v] = 0; left[v] = 0; given[v] = 0
		:: else
		fi;
		ends[AT(h, v)] = 0; done() }
	od
}

#ifdef BUG_DAEMON
#define ENFORCED(h) !frozen[h]		/* the daemon itself ends the program */
#else
#define ENFORCED(h) 1
#endif

/* A voter's clock goes on by one tick. */
inline passes()
{
	i = 0;
	do
	:: i == VOTERS -> break
	:: else ->
		if
		:: left[i] > 1 -> left[i]--
		:: left[i] == 1 -> left[i] = 0; bound[i] = 0; given[i] = 0
		:: else
		fi;
		if
		:: quiet[i] > 0 -> quiet[i]--
		:: else
		fi;
		i++
	od
}

inline ages(h)
{
	if
	:: phase[h] == RUNNING && age[h] >= SPAN && ENFORCED(h) -> dying[h]++
	:: else
	fi;
	if
	:: dying[h] >= KILL -> phase[h] = OVER; dying[h] = 0
	:: else
	fi;
	if
	:: phase[h] != IDLE && age[h] < SPAN -> age[h]++
	:: else
	fi
}

proctype Time()
{
	do
	:: d_step { SAY(TICK); ages(0); ages(1); passes(); done() }
	:: d_step { drift > 0 -> SAY(DRIFTS); drift--; passes(); done() }
	:: d_step { restarts > 0 ->
		SAY(RESTART); restarts--;
		bound[0] = 0; given[0] = 0; left[0] = 0; quiet[0] = BOUND;
		done() }
	od
}

init {
	d_step { drift = DRIFT; restarts = RESTARTS };
	atomic {
		run Holder(0); run Holder(1); run Time();
		run Link(0, 0); run Link(1, 0);
#if VOTERS > 1
		run Link(0, 1); run Link(1, 1);
#endif
#if VOTERS > 2
		run Link(0, 2); run Link(1, 2);
#endif
		skip
	}
}
