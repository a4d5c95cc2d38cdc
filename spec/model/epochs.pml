/*
 * Epochs: a newborn token replaces one that seems lost, and never runs beside it.
 *
 * Token 0 is with one of three members. A newborn (1, 2; the number is its
 * epoch) names the last custody of token 0 that its maker knows. Any member may
 * make one at any time, without a reason and with any custody named: a lying
 * generator is in it. What an honest member hears, all hear within D ticks.
 *
 * A newborn is ripe B ticks after a member heard of it, 2B after if it was
 * contested in time, and never for a member that knows a later custody than the
 * one it names. Nobody runs under an unripe newborn, or under a token of a lower
 * epoch later than D before the newborn may be ripe elsewhere.
 *
 *   B=5         ticks until a newborn is ripe
 *   HOLD=4      longest program          DEATHS=1   members that may die
 *   NEWBORNS=2                           LIARS=0    1: anybody may contest for no reason
 *   BUG_...     see README.md
 */

#ifndef B
#define B 5
#endif
#ifndef HOLD
#define HOLD 4
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef NEWBORNS
#define NEWBORNS 2
#endif
#ifndef LIARS
#define LIARS 0
#endif
#define D 1			/* until all have heard what one has heard */
#define N 3
#define T (NEWBORNS + 1)
#define NOBODY 7
#define AT(m, n) ((m) * T + (n))

bit dead[N];
byte at0;			/* token 0's custody: member */
byte hop0;			/* 0 or 1 */
byte maker[T];			/* who has the newborn, or NOBODY: not made */
bit named[T];			/* custody of token 0 that it names */
byte age[N * T];		/* of what m heard of the newborn: 0 not yet, 1 just now */
bit contested[N * T];		/* m heard a contest in time */
bit later[N];			/* m knows custody 1 of token 0 */
/* News under way: 0 none, 1 fresh, 2 due before the next tick, 3 has arrived. */
byte news[N * T], contests[N * T], laters[N];
byte prog[N];			/* 1 + token of m's program */
byte left[N];
byte top;			/* highest token under which somebody ran */
byte stall;			/* ticks without a program though token 0 is lost and a newborn is there */
byte deaths, i, j, n;		/* scratch, but for deaths */
bit all_clear;
bit one_program, fence_grows, living_kept, no_stall;

mtype = { GENERATE, HEAR, CONTEST, LATER, PASS, START, END, DEATH, TICK, LIE };
#define SAY(m, t, what) printf("member %d hop %d: %e\n", m, t, what)

#define AGE(m, t) (age[AT(m, t)] - 1)
#define HEARD(m, t) (age[AT(m, t)] > 0)
#define BOUND(m, t) (contested[AT(m, t)] -> 2 * B : B)
#ifdef BUG_NO_REFUTE
#define REFUTED(m, t) 0
#else
#define REFUTED(m, t) (later[m] > named[t])
#endif
#ifdef BUG_GHOST
/* As today: another newborn that m knows keeps this one from use. */
#define GHOST(m, t) (HEARD(m, 3 - (t)))
#else
#define GHOST(m, t) 0
#endif
#ifdef BUG_UNRIPE
#define RIPE(m, t) HEARD(m, t)
#else
#define RIPE(m, t) (HEARD(m, t) && AGE(m, t) >= BOUND(m, t) && !REFUTED(m, t) && !GHOST(m, t))
#endif

/* May m run under a token below t for r more ticks? */
#ifdef BUG_RUN_ON
#define MARGIN 0
#else
#define MARGIN D
#endif
#ifdef BUG_START_AFTER
#define CLEAR(m, t, r) (!RIPE(m, t))
#else
#define CLEAR(m, t, r) (!HEARD(m, t) || REFUTED(m, t) || AGE(m, t) + (r) + MARGIN <= BOUND(m, t))
#endif
#if NEWBORNS > 1
#define CLEAR_2(m, t, r) ((t) >= 2 || CLEAR(m, 2, r))
#else
#define CLEAR_2(m, t, r) 1
#endif
#define MAY_RUN(m, t, r) (((t) >= 1 || CLEAR(m, 1, r)) && CLEAR_2(m, t, r))
/* Is there time to show everybody a custody of token 0 later than the one named? */
#define SHOWN(m, t) (!HEARD(m, t) || REFUTED(m, t) || named[t] > 0 || AGE(m, t) + 2 * D < BOUND(m, t))
#if NEWBORNS > 1
#define SHOWN_ALL(m) (SHOWN(m, 1) && SHOWN(m, 2))
#else
#define SHOWN_ALL(m) SHOWN(m, 1)
#endif
#define LOST0 dead[at0]
/* Whoever has the custody named leaves itself time to pass it on and to show that. */
#ifdef BUG_STAY
#define LEAVES(m, t, r) 1
#else
#define LEAVES(m, t, r) (!HEARD(m, t) || named[t] > 0 || hop0 > 0 || AGE(m, t) + (r) + 2 * D < BOUND(m, t))
#endif
#if NEWBORNS > 1
#define LEAVES_ALL(m, r) (LEAVES(m, 1, r) && LEAVES(m, 2, r))
#else
#define LEAVES_ALL(m, r) LEAVES(m, 1, r)
#endif

#define spread(what, m, t) \
	what[AT(m, t)] = 3; \
	i = 0; \
	do \
	:: i == N -> break \
	:: else -> \
		if \
		:: i != m && what[AT(i, t)] == 0 -> what[AT(i, t)] = 1 \
		:: else \
		fi; \
		i++ \
	od; \
	i = 0

inline show_later(m)
{
	i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: i != m && !later[i] && laters[i] == 0 -> laters[i] = 1
		:: else
		fi;
		i++
	od;
	i = 0
}

/* m hears of newborn t: tells all, and contests it if it has the custody named. */
inline hear(m, t)
{
	age[AT(m, t)] = 1;
#ifndef BUG_NO_RELAY
	spread(news, m, t);
#endif
	if
	:: later[m] && !named[t] -> show_later(m)
#ifndef BUG_NO_CONTEST
	:: at0 == m && hop0 == named[t] -> contested[AT(m, t)] = 1; spread(contests, m, t)
#endif
	:: else
	fi
}

/* A contest counts until 2D after hearing, or when an honest member repeats it. */
#define EARLY(m, t) (AGE(m, t) <= 2 * D)

inline hear_contest(m, t)
{
	if
	:: !HEARD(m, t) -> hear(m, t)
	:: else
	fi;
	if
	:: AGE(m, t) < B && !contested[AT(m, t)] -> contested[AT(m, t)] = 1; spread(contests, m, t)
	:: else
	fi
#ifdef BUG_CONTEST_AGAIN
	;
	age[AT(m, t)] = 1
#endif
}

inline done()
{
	j = (prog[0] > 0) + (prog[1] > 0) + (prog[2] > 0);
	one_program = (j <= 1);
	assert(one_program);
	one_program = 0;
	n = 1;
	do
	:: n == T -> break
	:: else ->
		j = 0;
		do
		:: j == N -> break
		:: else ->
			/* Deaths may leave nobody who takes token 0 from its holder. */
			living_kept = (dead[j] || !RIPE(j, n) || LOST0 || named[n] == 1 || deaths > 0);
			assert(living_kept);
			living_kept = 0;
			j++
		od;
		n++
	od;
	no_stall = (stall <= 2 * B + 2 * D);
	assert(no_stall);
	i = 0; j = 0; n = 0; no_stall = 0; all_clear = 0
}

#define RUN(m, t, r) \
	:: d_step { !dead[m] && prog[m] == 0 && MAY_RUN(m, t, r) && \
		((t == 0 && at0 == m && LEAVES_ALL(m, r)) || (t > 0 && maker[t] == m && RIPE(m, t))) -> \
		SAY(m, t, START); \
		fence_grows = (top <= t); assert(fence_grows); fence_grows = 0; \
		top = t; prog[m] = t + 1; left[m] = r; stall = 0; done() }

proctype Member(byte m)
{
	do
	RUN(m, 0, 1)
	RUN(m, 0, HOLD)
	RUN(m, 1, HOLD)
#if NEWBORNS > 1
	RUN(m, 2, HOLD)
#endif
	:: d_step { prog[m] > 0 -> SAY(m, prog[m] - 1, END); prog[m] = 0; left[m] = 0; done() }
	:: d_step { !dead[m] && laters[m] > 0 && !later[m] -> SAY(m, 0, LATER); later[m] = 1; laters[m] = 0; show_later(m); done() }
	:: d_step { laters[m] > 0 && (dead[m] || later[m]) -> laters[m] = 0 }
	:: d_step { deaths < DEATHS && !dead[m] -> SAY(m, 0, DEATH); dead[m] = 1; deaths++; stall = 0; done() }
	/* Custody 0 passes to another member; both can show it. */
	:: d_step { at0 == m && hop0 == 0 && !dead[m] && prog[m] == 0 && !dead[(m + 1) % N] &&
		SHOWN_ALL(m) && SHOWN_ALL((m + 1) % N) ->
		SAY(m, 0, PASS); at0 = (m + 1) % N; hop0 = 1;
		later[m] = 1; later[at0] = 1; show_later(m); done() }
	od
}

proctype Newborn(byte m; byte t)
{
	do
	:: d_step { !dead[m] && maker[t] == NOBODY -> SAY(m, t, GENERATE); maker[t] = m; named[t] = later[m]; stall = 0; hear(m, t); done() }
	:: d_step { !dead[m] && maker[t] == NOBODY && later[m] -> SAY(m, t, LIE); maker[t] = m; named[t] = 0; stall = 0; hear(m, t); done() }
	:: d_step { !dead[m] && news[AT(m, t)] > 0 && news[AT(m, t)] < 3 && !HEARD(m, t) -> SAY(m, t, HEAR); hear(m, t); done() }
	:: d_step { !dead[m] && contests[AT(m, t)] > 0 && contests[AT(m, t)] < 3 -> SAY(m, t, CONTEST); hear_contest(m, t); contests[AT(m, t)] = 3; done() }
#if LIARS
	/* Whoever had the custody named can sign that it is there still, and tell whom it likes. */
	:: d_step { !dead[m] && maker[t] != NOBODY && (!HEARD(m, t) || EARLY(m, t)) -> SAY(m, t, LIE); hear_contest(m, t); done() }
#endif
	od
}

#define due(what) \
	i = 0; \
	do \
	:: i == N * T -> break \
	:: else -> all_clear = (all_clear && (what[i] != 2 || dead[i / T])); i++ \
	od
#define older(what) \
	i = 0; \
	do \
	:: i == N * T -> break \
	:: else -> what[i] = (what[i] == 1 -> 2 : what[i]); i++ \
	od
/* An honest holder passes on in time, if it can: tick waits for it. */
#define LATE(t) (maker[t] != NOBODY && HEARD(at0, t) && !REFUTED(at0, t) && named[t] == 0 && hop0 == 0 && \
	SHOWN(at0, t) && AGE(at0, t) + 1 + 2 * D >= BOUND(at0, t) && prog[at0] == 0 && !LOST0 && !dead[(at0 + 1) % N])

proctype Time()
{
	do
	:: d_step {
		all_clear = 1;
		due(news); due(contests);
		i = 0;
		do
		:: i == N -> break
		:: else -> all_clear = (all_clear && (laters[i] != 2 || dead[i])); i++
		od;
		all_clear = (all_clear && !LATE(1));
#if NEWBORNS > 1
		all_clear = (all_clear && !LATE(2));
#endif
		if
		:: all_clear ->
			SAY(0, 0, TICK);
			older(news); older(contests);
			i = 0;
			do
			:: i == N -> break
			:: else ->
				laters[i] = (laters[i] == 1 -> 2 : laters[i]);
				left[i] = (left[i] > 0 -> left[i] - 1 : 0);
				prog[i] = (left[i] == 0 -> 0 : prog[i]);
				i++
			od;
			i = 0;
			do
			:: i == N * T -> break
			:: else ->
				age[i] = ((age[i] > 0 && age[i] < 2 * B + 2) -> age[i] + 1 : age[i]);
				i++
			od;
			/* A stall: the newest newborn's maker lives, knows of no later custody, and waits. */
			n = NEWBORNS;
			do
			:: n > 0 && maker[n] == NOBODY -> n--
			:: else -> break
			od;
			if
			:: n > 0 && LOST0 && maker[n] != NOBODY && !dead[maker[n]] && later[maker[n]] <= named[n] && !RIPE(maker[n], n) -> stall++
			:: else -> stall = 0
			fi
		:: else
		fi;
		done() }
	od
}

init {
	d_step { i = 0; do :: i == T -> break :: else -> maker[i] = NOBODY; i++ od; i = 0 };
	atomic {
		run Member(0); run Member(1); run Member(2);
		run Newborn(0, 1); run Newborn(1, 1); run Newborn(2, 1);
#if NEWBORNS > 1
		run Newborn(0, 2); run Newborn(1, 2); run Newborn(2, 2);
#endif
		run Time()
	}
}
