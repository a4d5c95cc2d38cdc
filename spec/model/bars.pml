/*
 * How long a member is barred that says it has dropped a token for another one, and nobody
 * confirms that: P-77 of spec/policy/keeper.md. A tick is O.
 *
 * Honest members pass X a token when they do not avoid it. X lies. It keeps the token until O is over, or drops it at once. Then
 * it says that it has dropped it for another one. Each member asks X for itself. It bars X for EXCUSE ticks. If X
 * has told it, when O was over, that it still has the token, it bars X for STRIKE ticks. Each bar lasts twice as long as
 * the last one, if that is longer. A token that is kept for more than O is a *stall*: nobody runs meanwhile.
 *
 *   M=2          honest members
 *   SPAN=250     ticks that are looked at
 *   EXCUSE=16 STRIKE=128  excuseTimes, strikeTimes
 *   STALLS=2     of one member's tokens in that time
 *   HONEST       X drops each token at once, as another member makes tokens: it is barred for EXCUSE ticks the first time
 *   ONE_HEARS    X says to one member only that it still has the token
 *   FORGETS      the giver of the other token may have forgotten the pass that X names, as it has passed that token on often since: X is
 *                not barred, EXCUSES times in STRIKE ticks; X, if it is honest, is asked about no more drops than that
 *   MINTS        the same of tokens that another member has just made, which confirms nothing, or X itself, as it says: X is excused as
 *                often for that, too
 *   EXCUSES=2    maxForgotten, maxMinted
 *   LOSSES=8     tokens that X drops, of one member's, in SPAN ticks
 *   LAGS         X keeps a token, says so too seldom to be late, and never that it has dropped it. Members restart, and forget that they
 *                ask it. They bar it before that
 *   BUG_NO_BAR     LAGS: they do not
 *   BUG_DENIES     a giver that has forgotten a pass denies it
 *   BUG_EXCUSED    X is excused each time
 *   BUG_ONE_COUNT  MINTS: the excuses of both reasons count together
 *   BUG_ONE_LIST   others that lie have the excuses of X forgotten, as a member remembers so many of all
 *   BUG_SHORT    EXCUSE ticks in any case
 *   BUG_LONG     STRIKE ticks in any case
 */

#ifndef M
#define M 2
#endif
#ifndef SPAN
#define SPAN 250
#endif
#ifndef EXCUSE
#define EXCUSE 16
#endif
#ifndef STRIKE
#define STRIKE 128
#endif
#ifndef STALLS
#define STALLS 2
#endif

#ifndef EXCUSES
#define EXCUSES 2
#endif
#ifndef LOSSES
#define LOSSES 8
#endif

short left[M];			/* ticks for which the member still bars X */
short span[M];			/* the last such time */
byte stalls[M];			/* of its tokens */
byte bars[M];			/* how often it has barred X, up to 2 */
short ticks;
byte i, v;
short least;
bit few_stalls, soon_back;
#ifdef LAGS
bit asks[M];			/* the member asks X about a token that is lost, so that it passes it none */
#endif
#ifdef FORGETS
#ifdef MINTS
#define KINDS 2
#else
#define KINDS 1
#endif
#define ALL (KINDS * EXCUSES)
short excused[ALL];		/* ticks until the excuse is forgotten, EXCUSES of each reason; all members hear of the same ones */
byte why, j, many;
byte losses;
bit no_bar, few_losses, mild;
#endif

mtype = { PASS, DROP, STALL, TICK, FORGOTTEN, RESTART };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)

/* The member bars X for so long at least. A bar that lasts is lengthened by a longer one only. */
inline bar(m, first)
{
	if
	:: left[m] > 0 && first <= span[m]
	:: left[m] > 0 && first > span[m] -> span[m] = first; left[m] = first
	:: left[m] == 0 ->
		span[m] = (2 * span[m] > first -> 2 * span[m] : first);
		left[m] = span[m]; bars[m] = (bars[m] < 2 -> bars[m] + 1 : 2);
#ifdef HONEST
		soon_back = bars[m] > 1 || span[m] <= EXCUSE;
		assert(soon_back);
		soon_back = 0
#endif
	fi
}

inline pass_ticks(n)
{
	ticks = ticks + n; i = 0;
	do
	:: i == M -> break
	:: else -> left[i] = (left[i] > n -> left[i] - n : 0); i++
	od;
	i = 0;
#ifdef FORGETS
	do
	:: i == ALL -> break
	:: else -> excused[i] = (excused[i] > n -> excused[i] - n : 0); i++
	od;
	i = 0
#endif
}

#ifdef BUG_SHORT
#define LATE EXCUSE
#else
#define LATE STRIKE
#endif
#ifdef BUG_LONG
#define EARLY STRIKE
#else
#define EARLY EXCUSE
#endif

active proctype Group()
{
	do
	:: ticks >= SPAN -> break
#ifdef BUG_ONE_LIST
	:: d_step { ticks < SPAN && excused[0] > 0 ->
		do
		:: i == ALL -> break
		:: else -> excused[i] = 0; i++
		od;
		i = 0 }
#endif
	/* A member that does not bar X passes it a token. */
	:: atomic { ticks < SPAN ->
		select(v : 0 .. M - 1);
		if
#ifdef LAGS
		:: left[v] == 0 && !asks[v] ->
			d_step { SAY(v, PASS);
				pass_ticks(3);	/* it is given up then, as far as it is not barred */
				stalls[v]++;
				few_stalls = stalls[v] <= STALLS;
				assert(few_stalls);
				few_stalls = 0;
				do
				:: i == M -> break
				:: else ->
#ifndef BUG_NO_BAR
					bar(i, EXCUSE);
#endif
					asks[i] = 1; i++
				od;
				i = 0 }
		:: asks[v] -> d_step { SAY(v, RESTART); asks[v] = 0; pass_ticks(4) }
#else
		:: left[v] == 0 ->
			SAY(v, PASS);
#ifdef FORGETS
			select(why : 0 .. KINDS - 1);
#endif
			if
#ifndef HONEST
			:: d_step { SAY(v, STALL);
				pass_ticks(1);
				stalls[v]++;
				few_stalls = stalls[v] <= STALLS;
				assert(few_stalls);
				few_stalls = 0;
				do
				:: i == M -> break
				:: else ->
#ifdef ONE_HEARS
					least = (i == 0 -> LATE : EARLY);
#else
					least = LATE;
#endif
					bar(i, least); i++
				od;
				i = 0; least = 0 }
#endif
#ifdef FORGETS
			:: d_step { SAY(v, FORGOTTEN);
#ifndef HONEST
				losses++;
				few_losses = losses <= LOSSES;
				assert(few_losses);
				few_losses = 0;
#endif
				do
				:: i == EXCUSES || excused[why * EXCUSES + i] == 0 -> break
				:: else -> i++
				od;
#ifdef BUG_EXCUSED
				mild = 1;
#elif defined(BUG_ONE_COUNT)
				do
				:: j == ALL -> break
				:: else -> many = (excused[j] > 0 -> many + 1 : many); j++
				od;
				mild = many < EXCUSES;
				j = 0; many = 0;
#else
				mild = i < EXCUSES;
#endif
				if
				:: i < EXCUSES -> excused[why * EXCUSES + i] = STRIKE
				:: else
				fi;
#ifdef BUG_DENIES
				mild = 0;
#endif
#ifdef HONEST
				no_bar = mild || i == EXCUSES;
				assert(no_bar);
				no_bar = 0;
#endif
				i = 0;
				do
				:: i == M || mild -> break
				:: else -> bar(i, EARLY); i++
				od;
				i = 0; mild = 0 }
#endif
			:: d_step { SAY(v, DROP);
				do
				:: i == M -> break
				:: else -> bar(i, EARLY); i++
				od;
				i = 0 }
			fi
#endif
		:: else
		fi;
#ifdef FORGETS
		why = 0;
#endif
		v = 0 }
	/* Nothing happens before a bar ends. */
	:: d_step { ticks < SPAN && left[0] > 0 && left[M - 1] > 0 ->
		SAY(M, TICK);
		least = (left[0] < left[M - 1] -> left[0] : left[M - 1]);
		pass_ticks(least); least = 0 }
	:: d_step { ticks < SPAN -> SAY(M, TICK); pass_ticks(1) }
	od
}
