/*
 * A holder that says too late that it still has a token: the count of P-74 of
 * spec/policy/keeper.md.
 *
 * X has a token, was told that others wait, and is asked each L / 4 (a tick) whether it still has it. It may
 * have it for O. Then it is late. It is struck if it says so for 2 L, without a pause of L / 2. It is also struck if it says so
 * MANY times with pauses, in so many ticks. If it connects, O begins anew, but only until RESTARTS times O after the beginning.
 *
 * An honest X passes the token on when it is awake. It is asleep at times, and answers nothing then. When
 * it wakes up, it answers all questions of meanwhile at once. What is assumed of it: it needs at most RUN ticks
 * in one go, in which it never sleeps for L / 2, and at most AWAKE ticks in which it is awake at all.
 *
 *   LIAR         X keeps the token, and answers when it likes
 *   O=6          in ticks
 *   MANY=16      maxLateAnswers
 *   RUN=8 AWAKE=15  of an honest X
 *   RESTARTS=3   restarts
 *   BUG_NO_COUNT      pauses are all that a liar needs
 *   BUG_COUNT_ANEW    a pause begins the count anew
 *   BUG_EACH_ANSWER   each answer counts, also those that come at once
 *   BUG_FEW           8 late answers are enough
 *   BUG_AT_ONCE       so is the first one
 *   BUG_ANEW          each connection begins O anew
 */

#ifndef O
#define O 6
#endif
#ifdef BUG_FEW
#define MANY 8
#endif
#ifndef MANY
#define MANY 16
#endif
#ifndef RUN
#define RUN 8
#endif
#ifndef AWAKE
#define AWAKE 15
#endif
#ifndef RESTARTS
#define RESTARTS 3
#endif
#define TWO_L 8
#define HALF 2			/* L / 2 */
#define NEVER 255

byte age;			/* ticks since the beginning, up to RESTARTS * O */
byte waited;			/* ticks since X was told, or began anew, up to O */
byte late = NEVER;		/* ticks since it is late in one go, up to TWO_L */
byte heard = HALF;		/* ticks since it said so last, up to HALF */
byte said;			/* how often it has said so late */
byte queued;			/* questions that are not answered */

byte going;			/* of an honest X: ticks in one go */
byte slept;			/* ticks for which it has slept, up to HALF */
byte awake;			/* ticks in all, since it is late */
byte answers;			/* of a liar that is late */
bit over;
bit no_false, found;

mtype = { STILL, SLEEPS, CONNECT, STRUCK, PASS };
#define SAY(what) printf("member 0 hop 0: %e\n", what)
#define MOST (MANY + RESTARTS * O)	/* late answers: also those before O began anew */

inline still()
{
	SAY(STILL);
	if
	:: waited == O && (late == NEVER || heard >= HALF) -> late = 0;
#ifdef BUG_COUNT_ANEW
		said = 0
#endif
	:: else
	fi;
	if
#ifdef BUG_EACH_ANSWER
	:: late != NEVER -> said = said + queued
#else
	:: late != NEVER -> said++
#endif
	:: else
	fi;
	heard = 0; queued = 0;
	if
#ifdef BUG_AT_ONCE
	:: late != NEVER ->
#elif defined(BUG_NO_COUNT)
	:: late != NEVER && late >= TWO_L ->
#else
	:: late != NEVER && (late >= TWO_L || said >= MANY) ->
#endif
		SAY(STRUCK); over = 1;
#ifndef LIAR
		no_false = 0;
		assert(no_false)
#endif
	:: else
	fi
}

active proctype Group()
{
	do
	:: over -> break
	:: d_step { !over ->
		age = (age < RESTARTS * O -> age + 1 : age);
		waited = (waited < O -> waited + 1 : O);
		late = (late < TWO_L -> late + 1 : late);
		heard = (heard < HALF -> heard + 1 : HALF);
		queued = (queued < MANY -> queued + 1 : MANY) }
#ifdef LIAR
		if
		:: d_step { still();
			answers = answers + (late != NEVER && !over);
			found = answers <= MOST;
			assert(found);
			found = 0 }
		:: SAY(SLEEPS)
		:: d_step {
#ifndef BUG_ANEW
			age < RESTARTS * O ->
#endif
			SAY(CONNECT); waited = 0; late = NEVER; said = 0 }
		fi
#else
		if
		:: d_step {
			going = (slept >= HALF -> 1 : going + slept + 1); slept = 0;
			awake = awake + (waited == O);
			if
			:: waited < O -> going = 0	/* it has not been late */
			:: else
			fi;
			if
			:: going > RUN || awake > AWAKE -> SAY(PASS); over = 1
			:: else -> still()
			fi }
		:: d_step { SAY(SLEEPS); slept = (slept < HALF -> slept + 1 : HALF) }
		fi
#endif
	od
}
