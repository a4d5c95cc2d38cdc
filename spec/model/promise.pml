/*
 * A keeper that does not give a promise back as it is to: P-53, 5 of spec/policy/keeper.md.
 *
 * H has the token. It promises a keeper that the token rests, and asks for the promise before it
 * runs a program, or passes the token on. There are two keepers, A and B, in that order. One that does not answer
 * for L is mute: H asks the other one. When neither answers, H has its promise back. H tells the
 * first keeper that is not mute of a program, and each keeper that has not given a promise back.
 * When H dies, its program goes on. A keeper to which H has promised makes a token as soon as it
 * finds that H is dead. One that was told of a program waits for its end, and one that knows neither
 * waits as long as a program lasts.
 *
 * Each honest keeper may sleep: it answers nothing. When it wakes up, it reads what was sent to it, in that order.
 * H may want to pass the token on, and have nobody take it: then it promises anew.
 *
 *   L=2       ticks of silence after which a keeper is mute, and H dead
 *   HOLD=4    longest program, in ticks
 *   SLEEPS=2  times that a keeper falls asleep
 *   LIAR      A gives no promise back, or has H send the token elsewhere, from where it comes back. B is awake, and nobody dies.
 *   MUTE=2    ticks for which H promises A nothing the first time (muteTime)
 *   SPAN=14   ticks that are looked at
 *   FEW=4     promises to A in that time that are not given back as they are to be
 *   BUG_NOT_TOLD     Only a keeper that is not mute is told of a program.
 *   BUG_TOLD_ONCE    Such a keeper is told of the next program only.
 *   BUG_RETURNED     A pass that came back has H forget whom it has told of a program.
 *   BUG_ONE_VOW      H remembers only the last keeper that has a promise.
 *   BUG_PROMISE_ON   H promises A again at once.
 *   BUG_SAME_SPAN    H avoids A for the same time each time.
 *   BUG_ONLY_SILENT  H goes on to promise to a keeper that has tokens sent elsewhere.
 *   BUG_ANY          H promises nothing if it avoids both keepers.
 */

#ifndef L
#define L 2
#endif
#ifndef HOLD
#define HOLD 4
#endif
#ifndef SLEEPS
#ifdef LIAR
#define SLEEPS 0
#else
#define SLEEPS 2
#endif
#endif
#ifndef MUTE
#define MUTE 2
#endif
#ifndef SPAN
#define SPAN 14
#endif
#ifndef FEW
#define FEW 4
#endif
#ifndef LIAR
#define DIES 1
#else
#define DIES 0
#endif

#define A 0
#define B 1
#define NOBODY 2
#define BOTH 3
#define H 2			/* in the trail */
#define IN(set, k) (((set) >> (k)) & 1)
#define ADD(set, k) set = set | (1 << (k))
#define DEL(set, k) set = set & ~(1 << (k))

/* What H does. */
#define IDLE 0
#define RESTS 1
#define ASKS 2
#define RUNS 3
#define DEAD 4
byte does;
byte has = NOBODY;		/* this keeper has its promise */
byte asked;			/* set of keepers that are asked for it, and have not answered */
byte tried;			/* set of those that were */
byte asks;			/* ticks since then */
byte vowed;			/* set of keepers that have not given a promise back */
byte informed;			/* set of keepers that were told of a program, and have given no promise back since */
byte mute;			/* set of keepers that are mute, as far as H knows */
byte amiss[2];			/* ticks for which H promises that keeper nothing */
byte span[2];			/* the last such time */
byte program;			/* ticks that its program may still last */
byte gone;			/* ticks since its death, up to HOLD */

/* What a keeper knows, as soon as it has read all. */
#define NOTHING 0
#define REST 1
#define SAID 2
byte knows[2];
byte ends[2];			/* ticks until the end of which it was told */
byte asleep;			/* set of keepers */
byte due;			/* set of those that were asked meanwhile, and answer when they wake up */
byte sleeps;

byte ticks, delays;
bit over;
byte k;
bit one_program, few_delays, promised;

mtype = { PROMISE, ASK, BACK, ELSEWHERE, SILENT, RUN, END, UNTAKEN, SLEEP, WAKE, DEATH, MAKE, TICK };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)

#ifdef BUG_PROMISE_ON
#define AVOIDS(k) 0
#else
#define AVOIDS(k) (amiss[k] > 0)
#endif
#define MUTED(k) IN(mute, k)
#define FIRST (!MUTED(A) -> A : (!MUTED(B) -> B : NOBODY))
/* The keeper that gets a promise: the first one that H does not avoid, or the first one. */
#ifdef BUG_ANY
#define PROMISEE (!MUTED(A) && !AVOIDS(A) -> A : (!MUTED(B) && !AVOIDS(B) -> B : NOBODY))
#else
#define PROMISEE (!MUTED(A) && !AVOIDS(A) -> A : (!MUTED(B) && !AVOIDS(B) -> B : FIRST))
#endif

inline avoid(k)
{
#ifdef BUG_SAME_SPAN
	span[k] = MUTE;
#else
	span[k] = (span[k] == 0 -> MUTE : (span[k] < SPAN -> 2 * span[k] : span[k]));
#endif
	amiss[k] = span[k]
}

inline late()
{
#ifdef LIAR
	delays++;
	few_delays = delays <= FEW;
	assert(few_delays);
	few_delays = 0
#else
	skip
#endif
}

inline promises(m)
{
	has = m; does = RESTS;
#ifdef BUG_ONE_VOW
	vowed = 0;
#endif
	ADD(vowed, m);
	knows[m] = REST; ends[m] = 0
}

inline tells(m)
{
	knows[m] = SAID; ends[m] = HOLD;
#ifndef BUG_TOLD_ONCE
	ADD(informed, m)
#endif
}

/* H has its promise back, and runs or passes the token on. */
inline goes_on()
{
	asked = 0; tried = 0; asks = 0; has = NOBODY;
	if
	:: program == 0 ->
		SAY(H, RUN); does = RUNS; program = HOLD;
		if
		:: FIRST != NOBODY -> k = FIRST; tells(k)
		:: else
		fi;
#ifndef BUG_NOT_TOLD
		if
		:: IN(vowed | informed, A) -> tells(A)
		:: else
		fi;
		if
		:: IN(vowed | informed, B) -> tells(B)
		:: else
		fi;
#endif
		vowed = 0; k = 0
	:: SAY(H, UNTAKEN); does = IDLE;
#ifdef BUG_RETURNED
		informed = 0
#endif
	fi
}

/* A keeper that is awake reads a release, and answers. */
inline answers(m)
{
	if
	:: IN(asked, m) -> SAY(m, BACK); knows[m] = NOTHING; ends[m] = 0; DEL(vowed, m); DEL(informed, m); goes_on()
	:: else -> knows[m] = (knows[m] == REST -> NOTHING : knows[m])
	fi
}

#define IS_FIRST(k) ((k) == A || IN(asleep, A))
#define MAKES(k) (!IN(asleep, k) && IS_FIRST(k) && gone >= L && (gone >= HOLD || knows[k] == REST || knows[k] == SAID && ends[k] == 0))

active proctype Group()
{
end:	do
	/* Nothing to do: it promises. */
	:: d_step { !over && does == IDLE && PROMISEE != NOBODY ->
		k = PROMISEE; SAY(k, PROMISE); promises(k); k = 0 }
#ifndef LIAR
	/* H finds a keeper silent that has its promise, and promises the other one. */
	:: d_step { !over && does == RESTS && has != NOBODY && IN(asleep, has) && !IN(mute, has) ->
		SAY(has, SILENT); ADD(mute, has); does = IDLE; has = NOBODY }
#endif
	:: d_step { !over && does == RESTS ->
		SAY(has, ASK); does = ASKS; asked = 1 << has; tried = asked; asks = 0; due = due | (asked & asleep) }
	/* A keeper answers; only after a while, if it sleeps. */
#ifdef LIAR
	:: atomic { !over && does == ASKS && IN(asked, B) -> answers(B) }
	:: d_step { !over && does == ASKS && IN(asked, A) && asks == 0 && asked == 1 << A ->
		SAY(A, ELSEWHERE); asked = 0; tried = 0; has = NOBODY; does = IDLE; late();
#ifndef BUG_ONLY_SILENT
		avoid(A)
#endif
		}
#else
	:: atomic { !over && does == ASKS && IN(asked & ~asleep, A) -> answers(A) }
	:: atomic { !over && does == ASKS && IN(asked & ~asleep, B) -> answers(B) }
#endif
	/* It has not answered for L. */
	:: atomic { !over && does == ASKS && asks == L ->
		SAY(H, SILENT);
		late();
		if
		:: IN(asked, A) -> avoid(A); ADD(mute, A)
		:: else
		fi;
		if
		:: IN(asked, B) -> avoid(B); ADD(mute, B)
		:: else
		fi;
		asked = BOTH & ~tried; tried = BOTH; asks = 0; due = due | (asked & asleep);
		if
		:: asked == 0 -> goes_on()
		:: else
		fi }
	:: d_step { !over && does == RUNS && program > 0 -> SAY(H, END); program = 0; does = IDLE }
	:: d_step { !over && sleeps < SLEEPS && !IN(asleep, A) -> SAY(A, SLEEP); sleeps++; ADD(asleep, A) }
	:: d_step { !over && sleeps < SLEEPS && !IN(asleep, B) -> SAY(B, SLEEP); sleeps++; ADD(asleep, B) }
	:: atomic { !over && IN(asleep, A) -> SAY(A, WAKE); DEL(asleep, A); DEL(mute, A);
		if
		:: IN(due, A) -> DEL(due, A);
			if
			:: does == ASKS -> answers(A)
			:: else
			fi
		:: else
		fi }
	:: atomic { !over && IN(asleep, B) -> SAY(B, WAKE); DEL(asleep, B); DEL(mute, B);
		if
		:: IN(due, B) -> DEL(due, B);
			if
			:: does == ASKS -> answers(B)
			:: else
			fi
		:: else
		fi }
	:: d_step { !over && DIES && does != DEAD ->
		SAY(H, DEATH);
		/* A keeper that is awake has the promise, if one is. */
		promised = does != IDLE || PROMISEE != NOBODY || FIRST == NOBODY;
		assert(promised);
		promised = 0;
		does = DEAD; gone = 0; asked = 0; has = NOBODY; vowed = 0; informed = 0 }
	:: d_step { !over && does == DEAD && (MAKES(A) || MAKES(B)) ->
		SAY((MAKES(A) -> A : B), MAKE);
		over = 1;
		one_program = program == 0;
		assert(one_program) }
	:: d_step { !over && does == DEAD && program > 0 -> SAY(H, END); program = 0 }
#ifdef LIAR
	:: d_step { !over && ticks < SPAN && !(does == ASKS && (asks == L || IN(asked, B))) && does != IDLE ->
#else
	:: d_step { !over && !(does == ASKS && asks == L) && does != IDLE ->
#endif
		SAY(H, TICK);
#ifdef LIAR
		ticks++; mute = 0;	/* A says something */
#endif
		amiss[A] = (amiss[A] > 0 -> amiss[A] - 1 : 0);
		amiss[B] = (amiss[B] > 0 -> amiss[B] - 1 : 0);
		ends[A] = (ends[A] > 0 -> ends[A] - 1 : 0);
		ends[B] = (ends[B] > 0 -> ends[B] - 1 : 0);
		program = (program > 0 -> program - 1 : 0);
		asks = (does == ASKS -> asks + 1 : 0);
		does = (does == RUNS && program == 0 -> IDLE : does);
		gone = (does == DEAD && gone < HOLD -> gone + 1 : gone) }
	:: over -> break
	od
}
