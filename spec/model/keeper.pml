/*
 * The keeper: one living member of a slot finds out that the token is lost, and
 * makes another one.
 *
 * The members are in one order, the same for all. The first of them that is not
 * known to be dead is the keeper. A holder promises it to rest, or the next one
 * where the holder is the first itself, and neither runs nor passes the token on
 * before that one has given the promise back, whoever is the first then. A keeper
 * that does not hear the holder asks all members. When no living one has the
 * token, it makes one: at once where the dead holder had promised it to rest, and
 * otherwise when every program that a dead member may have left running has
 * ended. A keeper that follows another one knows no promise but those that were
 * made to it.
 *
 * A program outlives its daemon. A member that dies loses its token, and does not
 * come back. Nothing is cut: who is silent for
 * L ticks is dead. Messages about promises are not lost, but their sender may die
 * before they leave.
 *
 *   L=2         ticks of silence after which a member is dead
 *   HOLD=4      longest program, in ticks
 *   N=3         members                  DEATHS=2   that may die
 *   BUG_...     see README.md
 */

#ifndef L
#define L 2
#endif
#ifndef HOLD
#define HOLD 4
#endif
#ifndef N
#define N 3
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#define NOBODY 7

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define WAITS MAX(L, HOLD)	/* until no program of a dead member runs any more */
#define STALL ((WAITS + 1) * DEATHS + 1)	/* ticks in which a program runs again */

bit dead[N];
byte silent[N];			/* ticks since its death, up to WAITS */
bit has[N];			/* a token is here */
byte prog[N];			/* ticks that its program may still last */
bit resting[N];			/* it has promised, and not asked back */
byte given[N];			/* 1 + the member that its promise was made to */
byte asked[N];			/* 1 + the member that it has asked to give the promise back */
byte promised[N];		/* at member m: 1 + who has promised to it, as far as it has heard */
byte under[N];			/* 1 + the keeper to which the promise of this one is under way */
byte deaths, idle, i, k, n;
bit quick;			/* the last death was that of a holder whose promise the keeper had */
bit one_program, one_token, no_stall, soon;

mtype = { REST, HEARD, ASK, BACK, START, END, PASS, DEATH, MAKE, TICK };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)

/* Is m the keeper, as all see it? */
#define GONE(m) (dead[m] && silent[m] >= L)
#ifdef BUG_NO_FOLLOW
#define KEEPS(m) (!dead[m] && m == 0)
#elif N > 3
#define KEEPS(m) (!dead[m] && (m < 1 || GONE(0)) && (m < 2 || GONE(1)) && (m < 3 || GONE(2)))
#else
#define KEEPS(m) (!dead[m] && (m < 1 || GONE(0)) && (m < 2 || GONE(1)))
#endif

/* Is k the member that m promises to? It is not m: who dies with a token tells nobody. */
#ifdef BUG_SELF
#define HEARS(k, m) KEEPS(k)
#elif N > 3
#define HEARS(k, m) (k != m && !dead[k] && (k < 1 || m == 0 || GONE(0)) && (k < 2 || m == 1 || GONE(1)) && (k < 3 || m == 2 || GONE(2)))
#else
#define HEARS(k, m) (k != m && !dead[k] && (k < 1 || m == 0 || GONE(0)) && (k < 2 || m == 1 || GONE(1)))
#endif
#define FIRST(m) (k == N || HEARS(k, m))
#ifdef BUG_ASK_FIRST
#define GIVES(m) (k == N || KEEPS(k))
#else
#define GIVES(m) (k == N || k == given[m] - 1 && !GONE(k) || GONE(given[m] - 1) && HEARS(k, m))
#endif

byte living;			/* tokens that living members have */
bit ended;			/* no program of a dead member can run any more */
bit all_gone;			/* all dead members are known to be dead */
bit due;			/* something that takes no time */

/* What keeper k finds when it asks everybody. */
inline look()
{
	living = 0; ended = 1; all_gone = 1; i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: has[i] -> living++
		:: else
		fi;
		if
		:: dead[i] && silent[i] < L -> all_gone = 0
		:: else
		fi;
		if
		:: dead[i] && silent[i] < WAITS -> ended = 0
		:: else
		fi;
		i++
	od
}

#ifdef BUG_NO_WAIT
#define MAY(k) 1
#elif defined(BUG_NO_PROMISE)
#define MAY(k) ended
#else
#define MAY(k) (ended || promised[k] > 0)
#endif
#define MAKES(k) (KEEPS(k) && living == 0 && all_gone && MAY(k))

inline done()
{
	look();
	n = 0; i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: prog[i] > 0 -> n++
		:: else
		fi;
		i++
	od;
	one_program = n <= 1;
	one_token = living <= 1;
	due = 0; i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: MAKES(i) || under[i] > 0 || asked[i] > 0 -> due = 1
		:: else
		fi;
		i++
	od;
	assert(one_program);
	assert(one_token);
	one_program = 0; one_token = 0; n = 0; i = 0
}

proctype Member(byte m)
{
	byte to;

	do
	/* It has nothing to do, and promises to rest. */
	:: d_step { !dead[m] && has[m] && prog[m] == 0 && !resting[m] && under[m] == 0 ->
		k = 0;
		do
		:: FIRST(m) -> break
		:: else -> k++
		od;
		if
		:: k < N -> SAY(m, REST); resting[m] = 1; under[m] = k + 1; given[m] = k + 1
		:: else
		fi;
		k = 0; done() }
	:: d_step { under[m] > 0 ->	/* it arrives */
		if
		:: !dead[under[m] - 1] ->
			SAY(m, HEARD);
#ifdef BUG_COPY
			k = 0;
			do
			:: k == N -> break
			:: else -> promised[k] = m + 1; k++	/* the members after it hear it, too */
			od;
			k = 0
#else
			promised[under[m] - 1] = m + 1
#endif
		:: else
		fi;
		under[m] = 0; done() }
	:: d_step { under[m] > 0 && dead[m] -> under[m] = 0; done() }
	/* Somebody wants the token. */
#ifdef BUG_REORDER
	:: d_step { !dead[m] && resting[m] && asked[m] == 0 ->
#else
	:: d_step { !dead[m] && resting[m] && asked[m] == 0 && under[m] == 0 ->
#endif
		k = 0;
		do
		:: GIVES(m) -> break
		:: else -> k++
		od;
		if
		:: k < N -> SAY(m, ASK); asked[m] = k + 1
		:: k == N && GONE(given[m] - 1) -> SAY(m, BACK); resting[m] = 0; given[m] = 0	/* nobody is left */
		:: else
		fi;
		k = 0; done() }
	:: d_step { asked[m] > 0 ->	/* it gives the promise back */
		k = asked[m] - 1;
		asked[m] = 0;
		if
		:: dead[k] || dead[m] -> skip
		:: else ->
			SAY(m, BACK);
			if
			:: promised[k] == m + 1 -> promised[k] = 0
			:: else
			fi;
			resting[m] = 0; given[m] = 0
		fi;
		k = 0; done() }
#ifdef BUG_NO_ASK
#define FREE(m) 1
#else
#define FREE(m) (!resting[m])
#endif
	:: d_step { !dead[m] && has[m] && prog[m] == 0 && FREE(m) -> SAY(m, START); prog[m] = HOLD; done() }
	:: d_step { prog[m] > 0 -> SAY(m, END); prog[m] = 0; done() }
#ifdef BUG_PASS
#define LEAVES(m) 1
#else
#define LEAVES(m) (!resting[m])
#endif
	:: atomic { !dead[m] && has[m] && prog[m] == 0 && LEAVES(m) ->
		select(to : 0 .. N - 1);
		d_step {
			if
			:: !dead[to] && to != m -> SAY(m, PASS); has[m] = 0; has[to] = 1; resting[m] = 0; given[m] = 0; resting[to] = 0
			:: else
			fi;
			to = 0; done() } }
	:: d_step { !dead[m] && deaths < DEATHS ->
		SAY(m, DEATH);
		deaths++; dead[m] = 1;
		quick = 0; k = 0;
		do
		:: k == N -> break
		:: else ->
			if
			:: has[m] && resting[m] && (HEARS(k, m) || k == m) && promised[k] == m + 1 -> quick = 1
			:: else
			fi;
			k++
		od;
		has[m] = 0; resting[m] = 0; given[m] = 0; k = 0; done() }
	:: d_step { MAKES(m) ->
		SAY(m, MAKE); has[m] = 1; promised[m] = 0; quick = 0; idle = 0; done() }
	od
}

proctype Time()
{
	do
	/* What is due happens before time goes on. */
	:: d_step { !due ->
		SAY(0, TICK);
		/* The token is lost, or its holder waits for a keeper. */
		n = living == 0;
		i = 0;
		do
		:: i == N -> break
		:: else ->
			if
			:: prog[i] > 0 -> prog[i]--; n = 0
			:: else
			fi;
			if
			:: dead[i] && silent[i] < WAITS -> silent[i]++
			:: else
			fi;
			i++
		od;
		idle = (n && idle <= STALL -> idle + 1 : (n -> idle : 0));
		no_stall = idle <= STALL;
		soon = !quick || idle <= L + 1;
		assert(no_stall);
#ifndef BUG_NO_FOLLOW	/* which breaks this first */
		assert(soon);
#endif
		no_stall = 0; soon = 0; done() }
	od
}

init {
	atomic {
		has[0] = 1;
		done();
		run Time();
		k = 0;
		do
		:: k == N -> break
		:: else -> run Member(k); k++
		od;
		k = 0
	}
}
