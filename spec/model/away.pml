/*
 * A holder whose machine restarts under its program: P-99 to P-103 of spec/policy/keeper.md.
 *
 * X has the token, and two keepers, A and B, in that order. X begins a program that goes on while its machine restarts, and tells
 * both of it. Then it may be silent, and come back with the program, or end it. A keeper that counts on that asks nothing and makes
 * nothing. Otherwise it asks X as long as a member waits, and makes a token when X has been silent: for L where the group replaces a silent
 * holder's token (REPLACE), and else for as long as a program lasts. A keeper may die. With FORGETS, A may also restart, and then
 * knows nothing. A member that waits and has been served, or the one that follows, may wait again.
 *
 *   L=2       ticks of silence after which X is dead to a keeper
 *   HOLD=4    longest program, in ticks
 *   REPLACE   on_silent_holder is "replace"
 *   FORGETS   A restarts without its memory, once
 *   GATE      The resource has a gate. X's program begins under a session there, which ends with its connection: at any time, and before a restart
 *             or in it. The gate opens the next one when it has closed that.
 *   LIAR      X runs nothing, answers nothing, and says whenever it likes that it is away.
 *   BUG_REPLACE  A keeper makes a token although it counts on X.
 *   BUG_ONE      X tells A only.
 *   BUG_BOOT     X forgets its program in the restart, and lets the token go.
 *   BUG_AGAIN    Each word of X counts, also while a member waits.
 *   BUG_LONG     A keeper counts on whatever time X says.
 *   BUG_LOST_ENDS  X takes its program for ended when the session is lost.
 *   BUG_EACH_SESSION  The gate opens a session beside the last one.
 */

#ifndef L
#define L 2
#endif
#ifndef HOLD
#define HOLD 4
#endif
#ifdef REPLACE
#define PATIENCE L
#else
#define PATIENCE HOLD
#endif
#ifdef FORGETS
#define FRESH 4
#else
#define FRESH 3
#endif
#define BOUND (2 * HOLD + FRESH * PATIENCE + 1)	/* ticks that a member may wait: two programs, and as often as somebody begins to ask */
#ifdef LIAR
#define LIES 1
#else
#define LIES 0
#endif

mtype = { STARTS, DOWN, UP, END, PASS, DIES, FORGET, WANT, MAKE, LOST, CLOSED, TICK };
#define SAY(what) printf("member 0 hop 0: %e\n", what)

byte runs;			/* ticks that the program of X may still last */
bit down;			/* X is silent */
bit ran;			/* X has begun a program since a member waits */
byte away[2];			/* ticks for which a keeper counts on X */
bit counted[2];			/* it has begun to do so in this custody while a member waited */
bit dead[2];
bit waits;			/* a member waits */
byte waited;			/* ticks */
byte silent;			/* ticks for which X has not answered the first keeper that lives */
byte k;
#ifdef FORGETS
bit forgot;
#endif
#ifdef GATE
mtype = { NONE, IN, CLOSING };
mtype session = NONE;		/* the last one at the gate */
#ifdef BUG_LOST_ENDS
bit ended;			/* X takes its program for ended, and the restart goes on */
#define ENDED ended
#endif
#ifdef BUG_EACH_SESSION
#define OPENS 1
#else
#define OPENS (session == NONE)
#endif
#else
#define OPENS 1
#endif
#ifndef ENDED
#define ENDED 0
#endif
bit one_program, served, one_session;

#define FIRST (dead[0])		/* the first keeper that lives */
#ifdef BUG_REPLACE
#define MAKES (waits && silent >= PATIENCE)
#else
#define MAKES (waits && silent >= PATIENCE && away[FIRST] == 0)
#endif
#define PASSES (!LIES && waits && !down && (runs == 0 || ENDED))

/* Keeper k hears that X is away. */
inline hears()
{
	if
#ifdef BUG_AGAIN
	:: !dead[k] ->
#else
	:: !dead[k] && !(counted[k] && waits) ->
#endif
		counted[k] = waits; silent = 0;
#ifdef BUG_LONG
		away[k] = 2 * HOLD
#else
		away[k] = HOLD
#endif
	:: else
	fi
}

inline tells()
{
	k = 0; hears();
#ifndef BUG_ONE
	k = 1; hears();
#endif
	k = 0
}

/* Another custody begins: the member that waited has the token, and is X from now on. */
inline anew()
{
	runs = 0; down = 0; ran = 0; waits = 0; waited = 0; silent = 0;
	away[0] = 0; away[1] = 0; counted[0] = 0; counted[1] = 0
#if defined(GATE) && defined(BUG_LOST_ENDS)
	; ended = 0
#endif
}

#ifdef GATE
/* The session of X ends with its connection. */
inline lost()
{
	if
	:: session == IN -> session = CLOSING
	:: else
	fi
}
#endif

active proctype Group()
{
	do
	:: d_step { !LIES && !down && runs == 0 && !(waits && ran) && OPENS ->
#ifdef GATE
		one_session = session == NONE;
		assert(one_session);
		one_session = 0; session = IN;
#endif
		SAY(STARTS); runs = HOLD; ran = waits; tells() }
	:: d_step { LIES -> SAY(STARTS); tells() }
	:: d_step { runs > 0 && !down -> SAY(DOWN); down = 1; silent = 0 }
#ifdef GATE
	:: d_step { session == IN -> SAY(LOST); lost();
#ifdef BUG_LOST_ENDS
		if
		:: runs > 0 && !down -> ended = 1; away[0] = 0; away[1] = 0
		:: else
		fi
#endif
		}
	:: d_step { session == CLOSING -> SAY(CLOSED); session = NONE }
#endif
	:: d_step { down ->
		SAY(UP); down = 0; silent = 0;
#ifdef BUG_BOOT
		one_program = runs == 0;
		assert(one_program);
		one_program = 0;
#endif
		}
	:: d_step { runs > 0 && !down ->
		SAY(END); runs = 0; away[0] = 0; away[1] = 0;
#ifdef GATE
		lost();	/* it signs out */
#endif
		}
	:: d_step { PASSES ->
		SAY(PASS);
		one_program = runs == 0;
		assert(one_program);
		one_program = 0; k = 0; anew() }
	:: d_step { !dead[0] -> SAY(DIES); dead[0] = 1; silent = 0 }
#ifdef FORGETS
	:: d_step { !dead[0] && !forgot -> SAY(FORGET); forgot = 1; away[0] = 0; counted[0] = 0; silent = 0 }
#endif
	:: d_step { !waits -> SAY(WANT); waits = 1; ran = runs > 0 }
	:: d_step { MAKES ->
		SAY(MAKE);
		one_program = runs == 0;
		assert(one_program);
		one_program = 0; anew() }
	/* What is due happens before time goes on. */
	:: d_step { !MAKES && !PASSES ->
		SAY(TICK);
		runs = (runs > 0 -> runs - 1 : 0);
#ifdef BUG_REPLACE
		silent = (waits && (down || LIES) && silent < PATIENCE -> silent + 1 : silent);
#else
		silent = (waits && away[FIRST] == 0 && (down || LIES) && silent < PATIENCE -> silent + 1 : silent);
#endif
		away[0] = (away[0] > 0 -> away[0] - 1 : 0);
		away[1] = (away[1] > 0 -> away[1] - 1 : 0);
		waited = (waits && waited <= 3 * BOUND -> waited + 1 : waited);
		served = waited <= BOUND;
		assert(served);
		served = 0 }
	od
}
