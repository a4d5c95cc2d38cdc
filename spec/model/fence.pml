/*
 * Fences: a guard keeps the greatest fence that it was shown and refuses lower ones.
 * It must not lock out the rightful holder: who is refused has a token beside a later
 * one that is with a living member.
 *
 * Token 0 is with member 0. A member that has no token makes one when it likes: because
 * the last one is lost, or without a reason. A token moves, meets others, and is lost
 * with its holder. A member that comes back remembers the latest token that it has had.
 * The fence is the time of the token, and its hop.
 *
 *   TOKENS=3    at most               HOPS=2     of each token
 *   SKEW=0      ticks by which clocks may differ
 *   HAD         with SKEW: who makes a token has had the latest one
 *   ANY_LOSS    a token is lost also while an earlier one lives    (not held)
 *   BUG_...     see README.md
 */

#ifndef TOKENS
#define TOKENS 3
#endif
#ifndef HOPS
#define HOPS 2
#endif
#ifndef SKEW
#define SKEW 0
#endif
#define N 3
#define TICKS (TOKENS + 2)
#define NOBODY 7

byte skew[N];			/* of m's clock: 0 to SKEW */
byte had[N];			/* time of the latest token that m has had, as it remembers */
byte truly[N];			/* the same, as it was */
bit down[N];
byte at[TOKENS];		/* who has it; NOBODY: not made, dropped or lost */
byte born[TOKENS];		/* its time; token 0 is of time 1 */
byte hop[TOKENS];
byte made = 1;			/* tokens */
byte now = 1;
bit lately;			/* a token was made in this tick */
byte top;			/* the greatest fence that was shown */
byte i, best;			/* scratch */
bit not_locked_out;

mtype = { MAKE, PASS, MEET, RUN, REFUSED, LOSS, BACK, TICK };
#define SAY(m, t, what) printf("member %d hop %d: %e\n", m, t, what)

#ifdef BUG_HOP
#define FENCE(t) hop[t]
#else
#define FENCE(t) (born[t] * (HOPS + 1) + hop[t])
#endif

/* Of two tokens the later one stays. */
#ifdef BUG_EARLIER
#define PRECEDES(t, u) (born[t] < born[u])
#else
#define PRECEDES(t, u) (born[t] > born[u])
#endif

#define CLOCK(m) (now + skew[m])
#ifdef BUG_CLOCK
#define BIRTH(m) CLOCK(m)
#else
#define BIRTH(m) (CLOCK(m) > had[m] -> CLOCK(m) : had[m] + 1)
#endif

inline latest()
{
	best = 0; i = 0;
	do
	:: i == made -> break
	:: else -> best = (born[i] > best -> born[i] : best); i++
	od;
	i = 0
}

/* m has the token now, beside what it had. */
inline gets(m, t)
{
	at[t] = m;
	had[m] = (born[t] > had[m] -> born[t] : had[m]);
	truly[m] = (born[t] > truly[m] -> born[t] : truly[m]);
	i = 0;
	do
	:: i == made -> break
	:: else ->
		if
		:: i != t && at[i] == m && PRECEDES(i, t) -> at[t] = NOBODY; SAY(m, t, MEET)
		:: i != t && at[i] == m && PRECEDES(t, i) -> at[i] = NOBODY; SAY(m, i, MEET)
		:: else
		fi;
		i++
	od;
	i = 0
}

/* Does an earlier token live? */
inline earlier(t)
{
	best = 0; i = 0;
	do
	:: i == made -> break
	:: else -> best = (best || (born[i] < born[t] && at[i] != NOBODY)); i++
	od;
	i = 0
}

/* Does a later token live? */
inline later(t)
{
	best = 0; i = 0;
	do
	:: i == made -> break
	:: else -> best = (best || (born[i] > born[t] && at[i] != NOBODY)); i++
	od;
	i = 0
}

proctype Member(byte m)
{
	byte t;
	do
	:: d_step { made < TOKENS && !lately && !down[m] && (at[0] != m && at[1] != m && at[TOKENS - 1] != m) ->
		latest();
#ifdef HAD
		if
		:: truly[m] == best ->
#else
		if
		:: true ->
#endif
			SAY(m, made, MAKE);
			born[made] = BIRTH(m); lately = 1; made++; gets(m, made - 1)
		:: else
		fi; best = 0 }
	:: d_step { t < made && at[t] == m && !down[m] ->
		if
		:: FENCE(t) >= top -> SAY(m, t, RUN); top = FENCE(t)
		:: else ->
			SAY(m, t, REFUSED);
			later(t);
			not_locked_out = best;
			assert(not_locked_out);
			not_locked_out = 0; best = 0
		fi }
	:: d_step { t < made && at[t] == m && !down[m] && hop[t] < HOPS && !down[(m + 1) % N] ->
		SAY(m, t, PASS); hop[t]++; gets((m + 1) % N, t) }
	:: d_step { t < made && at[t] == m && !down[m] && hop[t] < HOPS && !down[(m + 2) % N] ->
		SAY(m, t, PASS); hop[t]++; gets((m + 2) % N, t) }
	:: d_step { t < made && at[t] == m && !down[m] ->
		earlier(t);
#ifndef ANY_LOSS
		if
		:: !best ->
#else
		if
		:: true ->
#endif
			SAY(m, t, LOSS); at[t] = NOBODY; down[m] = 1;
#ifdef BUG_FORGET
			had[m] = 0
#endif
		:: else
		fi; best = 0 }
	:: d_step { down[m] -> SAY(m, 0, BACK); down[m] = 0 }
	:: d_step { t = (t + 1) % TOKENS }
	od
}

proctype Time()
{
	do
	:: d_step { now < TICKS -> SAY(0, 0, TICK); now++; lately = 0 }
	od
}

init {
	atomic {
		d_step { i = 0; do :: i == TOKENS -> break :: else -> at[i] = NOBODY; i++ od; i = 0 };
		at[0] = 0; born[0] = 1 + SKEW; had[0] = 1 + SKEW; truly[0] = had[0]; lately = 1;
		if :: skew[0] = 0 :: skew[0] = SKEW fi;
		if :: skew[1] = 0 :: skew[1] = SKEW fi;
		if :: skew[2] = 0 :: skew[2] = SKEW fi;
		run Member(0); run Member(1); run Member(2); run Time()
	}
}
