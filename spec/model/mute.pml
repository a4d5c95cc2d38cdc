/*
 * A member that speaks and does not answer: how long a keeper waits for its programs
 * (P-58, 4 of the protocol).
 *
 * K looks for a token that no member has which answers, and makes another one HOLD
 * ticks after it has asked all members first. It asks all once more before it makes
 * one, and also at any other time. If a member does not answer that has spoken since
 * it was asked before, K counts HOLD from then: that member may have failed just now,
 * under a program. It does so BOUND times for one member.
 *
 * M is honest. It fails FAILS times, and returns. Whoever returns speaks before it gets a
 * token. X is asleep with the token, and answers nothing. It passes the token to M at some
 * time, if M lives, or dies with it. M then begins a program, and may fail before
 * anybody hears of that. A program outlives M.
 * M is an earlier keeper, too (P-60), and may have made a token MAKES times by then, which is lost
 * with a program under it. It tells K so when it is asked.
 * S speaks, and never answers; or answers each time that it has nothing, and has just begun
 * its work; or that it has made another token. Or it asks K for the promise back of a token that nobody else
 * hears of: K looks for that one then, and begins anew. It is a liar, and the only one.
 *
 *   HOLD=2   longest program, in ticks
 *   BOUND=2  how many failures of one member count (maxFailures)
 *   BEGINS=2 how many beginnings of one member count (maxFailures, too)
 *   FAILS=2  of M
 *   MAKES=0  of M
 *   BUG_NO_BOUND    all failures count
 *   BUG_EACH_BEGIN  all beginnings count
 *   BUG_EACH_TOKEN  all tokens count that somebody says it has made
 *   BUG_NO_TOKEN    none of them counts
 *   BUG_RELEASES    each promise that is asked back ends the search, and what is counted in it
 *   BUG_NEVER       none of them counts
 *   BUG_EACH_POLL   a failure counts again each time that M is asked, though it has not spoken since
 *   BUG_YOUNG       K does not wait for what M has begun before it returned and answers that it has nothing
 */

#ifndef HOLD
#define HOLD 2
#endif
#ifdef BUG_NEVER
#define BOUND 0
#endif
#ifndef BOUND
#define BOUND 2
#endif
#ifndef BEGINS
#define BEGINS 2
#endif
#ifndef FAILS
#define FAILS 2
#endif

#ifndef MAKES
#define MAKES 0
#endif

#define M 0
#define S 1
#define X 2
#define K 3

#ifdef BUG_NO_BOUND
#define COUNTS(m) 1
#else
#define COUNTS(m) (failures[m] <= BOUND)
#endif
#ifdef BUG_EACH_BEGIN
#define BEGIN_COUNTS(m) 1
#else
#define BEGIN_COUNTS(m) (begins[m] <= BEGINS)
#endif
#define MOST (HOLD * (1 + 4 + 2 * FAILS + MAKES))	/* K waits: HOLD, four times more for S, and once for each failure, return and token of M */

bit up = 1;		/* M lives */
bit has;		/* and has the token, also when it has failed */
byte age = HOLD;	/* ticks since it returned */
byte fails;		/* of M so far */
byte program;		/* ticks that its program may still last */
bit left;		/* X has the token no more */

bit spoke[2];		/* since K asked all last */
bit before[2];		/* before that, and has not failed since */
byte failures[2];	/* as K counts them */
byte begins[2];		/* likewise */
bit fresh;		/* M has begun its work, and K does not know that yet */
byte lies;		/* S answers: 0 nothing, 1 that it has just begun its work, 2 that it has made a token; 3: it asks a promise back */
byte made;		/* tokens of M */
bit untold;		/* K does not know of the last one */
byte wait = HOLD;	/* ticks until K may make a token */
byte waited;		/* ticks since K asked all first */
bit over;		/* K has found the token, or made another one */

bit one_program, no_stall;
mtype = { SPEAKS, FAIL, RETURN, PASS, DEATH, ASK, MAKE, TICK };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)

/* A member did not answer. */
inline missed(m)
{
	if
	:: before[m] ->
		if
		:: failures[m] <= BOUND -> failures[m]++
		:: else
		fi;
		if
		:: COUNTS(m) -> wait = HOLD
		:: else
		fi;
#ifndef BUG_EACH_POLL
		before[m] = 0
#endif
	:: else
	fi
}

/* A member answers that it has nothing, and began its work so long ago that what it did before may run for some ticks. */
inline began(m, ticks)
{
	if
	:: begins[m] <= BEGINS -> begins[m]++
	:: else
	fi;
	if
	:: BEGIN_COUNTS(m) && ticks > wait -> wait = ticks
	:: else
	fi
}

/* A member answers that it has made a token, which is lost, too. */
inline renewed(m)
{
	if
	:: failures[m] <= BOUND -> failures[m]++
	:: else
	fi;
#ifdef BUG_EACH_TOKEN
	wait = HOLD
#elif !defined(BUG_NO_TOKEN)
	if
	:: COUNTS(m) -> wait = HOLD
	:: else
	fi
#endif
}

/* S asks a promise back. */
inline released()
{
#ifdef BUG_RELEASES
	failures[M] = 0; failures[S] = 0; wait = HOLD
#else
	renewed(S)
#endif
}

/* K asks all. */
inline poll()
{
	before[M] = before[M] || spoke[M]; before[S] = before[S] || spoke[S];
	spoke[M] = 0; spoke[S] = 0;
	if
	:: up && has -> over = 1
	:: up && !has -> spoke[M] = 1;
#ifndef BUG_YOUNG
		if
		:: fresh && age < HOLD -> began(M, HOLD - age)
		:: else
		fi;
#endif
		fresh = 0;
		if
		:: untold -> untold = 0; renewed(M)
		:: else
		fi
	:: !up -> missed(M)
	fi;
	if
	:: lies == 1 -> spoke[S] = 1; began(S, HOLD)
	:: lies == 2 -> spoke[S] = 1; renewed(S)
	:: lies == 3 -> spoke[S] = 1; released()
	:: else -> missed(S)
	fi
}

active proctype Group()
{
	d_step { poll(); SAY(K, ASK) }
	do
	:: over -> break
	:: d_step { !over && !spoke[S] -> SAY(S, SPEAKS); spoke[S] = 1 }
	:: d_step { !over -> lies = (lies + 1) % 4 }
	:: d_step { !over && up && !has && made < MAKES && program == 0 -> SAY(M, MAKE); made++; untold = 1; program = HOLD }
	:: d_step { !over && up && fails < FAILS -> SAY(M, FAIL); up = 0; fails++; age = HOLD }
	/* It returns without its memory, or asks K whether it may use its token. */
	:: d_step { !over && !up -> SAY(M, RETURN); up = 1; age = 0; fresh = 1; spoke[M] = 1; has = 0 }
	:: d_step { !over && !up && has -> SAY(M, RETURN); up = 1; over = 1 }
	:: d_step { !over && !left && up -> SAY(X, PASS); left = 1; has = 1; program = HOLD }
	:: d_step { !over && !left -> SAY(X, DEATH); left = 1 }
	:: d_step { !over -> SAY(K, ASK); poll();
		if
		:: !over && wait == 0 ->
			SAY(K, MAKE);
			over = 1;
			one_program = program == 0;
			assert(one_program)
		:: else
		fi }
	:: d_step { !over && wait > 0 ->
		SAY(K, TICK);
		wait--; waited++;
		no_stall = waited <= MOST;
		assert(no_stall);
		if
		:: age < HOLD -> age++
		:: else
		fi;
		if
		:: program > 0 -> program--
		:: else
		fi }
	od
}
