/*
 * A ring in which one member passes the token to whichever members it likes: P-83 of
 * spec/policy/ring.md.
 *
 * Members 0 to N-1 are in the order of the ring. All want the token all the time, so it
 * always moves. Each member runs under it and passes it to the next one. F lies: it passes it
 * to any member, and refuses it when it likes. An honest member passes over one that refuses
 * the token. It also passes over F, or a dead member, at any other time: it may have refused,
 * or not answered, a moment ago.
 *
 * A member gets the token from another one, which has got it from the giver. The members
 * between the sender and the receiver have been skipped. The receiver passes the token back to
 * the first of them that it does not pass over, unless P-83 says otherwise. If that one does
 * not take it, the receiver keeps it.
 *
 *   N=5        members
 *   F=0        lies
 *   G=N        so does this one (N: none does)
 *   DEATHS=0   A member dies with the token. Another one knows, and makes a token. The others
 *              may still offer that member tokens (how often).
 *   MOST=11    passes between two turns of an honest member (2 N + 1)
 *   BUG_NO_BACK   a token never goes back
 *   BUG_GIVER     a token goes back that has gone back to its receiver already (P-83, 2)
 *   BUG_TWICE     a member sends a token back although its last one went back (P-83, 3)
 *   BUG_HOP_1     a token goes back at hop 1 (P-83, 5)
 */

#ifndef N
#define N 5
#endif
#ifndef F
#define F 0
#endif
#ifndef G
#define G N
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef MOST
#define MOST (2 * N + 1)
#endif
#define NOBODY N

#define LIES(m) ((m) == F || (m) == G)
#define NEXT(m) (((m) + 1) % N)
#define AHEAD(m, of) (((m) + N - (of)) % N)	/* how far m is behind the other one, as the token goes */

byte at;			/* has the token */
byte sender = NOBODY, giver = NOBODY;
byte hop = 2;			/* 2: or more */
bit fresh;			/* it has just come: the member may send it back */
bit back[N];			/* the token that came last has gone back, and was taken */
byte wait[N];			/* passes since the member had its turn */
byte dead = NOBODY;		/* this member has died with a token */
byte tried;			/* set of members that have offered it one in vain: they pass it over from then on */
bit known;			/* another one has made a token */
byte deaths, i, to;
bit served, no_harm;

mtype = { TURN, PASS, BACK, REFUSE, DEATH, MAKE };
#define SAY(m, what) printf("member %d hop %d: %e\n", m, hop, what)

/* May the member refuse a token, or be passed over? */
#define MAY_NOT(m) (LIES(m) || (m) == dead)
#define MAY(m) ((m) != dead)
#define OFFERS(m) ((m) != dead || !((tried >> at) & 1))

#ifdef BUG_GIVER
#define SENT_BACK 0
#else
#define SENT_BACK (giver != NOBODY && giver != at && AHEAD(giver, sender) > 0 && AHEAD(giver, sender) < AHEAD(at, sender))
#endif
#ifdef BUG_TWICE
#define AGAIN 0
#else
#define AGAIN back[at]
#endif
#ifdef BUG_HOP_1
#define NEWBORN 0
#else
#define NEWBORN (hop == 1)
#endif
#ifdef BUG_NO_BACK
#define GOES_BACK 0
#else
#define GOES_BACK (fresh && !LIES(at) && sender != NOBODY && AHEAD(at, sender) > 1 && !SENT_BACK && !AGAIN && !NEWBORN)
#endif

inline moves(m)
{
	giver = sender; sender = at; at = m; fresh = 1;
	hop = (hop < 2 -> hop + 1 : 2);
	served = 1; i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: !LIES(i) && i != dead -> wait[i]++; served = served && wait[i] <= MOST
		:: else
		fi;
		i++
	od;
	assert(served);
	served = 0; i = 0
}

/* The member has its turn, and keeps the token until it passes it on. */
inline turn()
{
	fresh = 0; back[at] = 0; wait[at] = 0; sender = (hop == 0 -> NOBODY : sender)
}

active proctype Ring()
{
end:	do
	/* The first that was skipped, and is not passed over. */
	:: atomic { GOES_BACK ->
		to = NEXT(sender);
		do
		:: to != at && MAY_NOT(to) -> to = NEXT(to)
		:: to != at && MAY(to) -> SAY(at, BACK); back[at] = 1; moves(to); break
		/* It does not take it: nobody else is asked. */
		:: to != at && MAY_NOT(to) && OFFERS(to) ->
			SAY(to, REFUSE);
			tried = (to == dead -> tried | (1 << at) : tried);
			no_harm = to != dead || hop > 1;
			assert(no_harm);
			no_harm = 0; turn(); break
		:: to == at -> turn(); break
		od;
		to = 0 }
	:: d_step { fresh && !GOES_BACK -> SAY(at, TURN); turn() }
	:: atomic { !fresh && at != dead && !LIES(at) ->
		to = NEXT(at);
		do
		:: MAY(to) -> break
		:: MAY_NOT(to) -> to = NEXT(to)
		od;
		SAY(at, PASS);
		if
		:: to != at -> moves(to)
		:: else -> turn()
		fi;
		to = 0 }
	:: atomic { !fresh && at != dead && LIES(at) ->
		select(to : 0 .. N - 1);
		if
		:: to != at && MAY(to) -> SAY(at, PASS); moves(to)
		:: else
		fi;
		to = 0 }
	:: d_step { !fresh && !LIES(at) && dead == NOBODY && deaths < DEATHS -> SAY(at, DEATH); deaths++; dead = at; back[at] = 0; wait[at] = 0 }
	:: atomic { at == dead && !known ->
		select(to : 0 .. N - 1);
		if
		:: to != dead -> known = 1; at = to; sender = NOBODY; giver = NOBODY; hop = 0; tried = 1 << at; SAY(at, MAKE); turn()
		:: else
		fi;
		to = 0 }
	od
}
