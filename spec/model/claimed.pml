/*
 * One liar tells of a hop that the token has not reached (P-57, 8 of the protocol).
 *
 * A, B and C are honest, and C has no token: it has heard of the claim, and repeats it. The token lives, and goes from one to the other and back, PASSES times. K is the keeper, which looks for
 * it. P lies, alone. At the beginning K believes P, for P has said that it has the token, at a hop far ahead.
 *
 * K asks one member alone, and goes on to the next one that it names. One that disowns that custody has K ask all. A, B and C
 * answer one after the other, while the token moves. P answers at any time that it has none, or names A or B, at a hop as
 * far ahead. K follows the latest custody that it is told of. It takes the token for lost if it is told of none, and for a
 * token that moves too fast after LEAPS rounds, in which the token has to have moved.
 *
 *   PASSES=8  of the token, while K looks for it
 *   LEAPS=4   that K follows what all have answered (maxLeaps)
 *   BOUND=3   how often all are asked for any custody (maxDisowned)
 *   TELLS=2   how often one member tells of a custody that is disowned, before it is believed no more
 *   BUG_CLAIMED   all are asked for the custody that was claimed
 *   BUG_BELIEVED  who told of a custody that was disowned is believed once more
 *   BUG_HEARD     what C has heard counts, though the holder that it names disowns it
 *   BUG_NAMED     nothing counts that names a holder which has disowned a custody, also an earlier custody
 */

#ifndef PASSES
#define PASSES 8
#endif
#ifndef LEAPS
#define LEAPS 4
#endif
#ifndef BOUND
#define BOUND 3
#endif

#ifndef TELLS
#define TELLS 2
#endif

#define A 0
#define B 1
#define P 2
#define C 3
#define NOBODY 4
#define AHEAD 50	/* a hop that no token reaches */

byte at;			/* the member that has the token */
byte hop = 2;			/* of its custody */
byte passed[2];			/* the hop of the last custody that a member passed on; 0: none */

byte target, asks;		/* the member that K asks alone, and for which hop */
byte teller;			/* on whose word */
byte answered;			/* a bit each, when all are asked */
byte askedHop;			/* for which hop all are asked */
byte denied;			/* members that have disowned a custody: a bit each */
byte ahead = 100;		/* the lowest hop of a custody that was disowned */
byte latest, to, by;		/* the latest custody that is told of: its hop, its holder, and who says so */
byte told[4];			/* how often a member has told of a custody that was disowned */
byte misled;			/* members that are believed no more: a bit each */
byte disowned, leaps, chain, i;
bit found, fast, not_lost = 1;

mtype = { PASS, ALONE, ALL, FOLLOW, FOUND, FAST, LOST };
#define SAY(m, what) printf("member %d hop %d: %e\n", m, hop, what)

inline everybody() {
	answered = 0; latest = 0; to = NOBODY; by = NOBODY;
	askedHop = asks;
	disowned++;
#ifndef BUG_CLAIMED
	if
	:: disowned <= BOUND -> askedHop = 0; denied = denied | (1 << target); ahead = (asks < ahead -> asks : ahead)
	:: else
	fi;
#endif
#ifndef BUG_BELIEVED
	told[teller] = told[teller] + (teller == target -> TELLS : 1);
	if
	:: told[teller] >= TELLS -> misled = misled | (1 << teller)
	:: else
	fi;
#endif
	target = NOBODY
}

#ifdef BUG_HEARD
#define NAMES(n, h) 0
#elif defined(BUG_NAMED)
#define NAMES(n, h) (denied & (1 << n))
#else
#define NAMES(n, h) ((misled & (1 << n)) || (denied & (1 << n)) && h + 1 >= ahead)
#endif

/* m has passed the token on, at hop h, to n. */
inline went(m, h, n) {
	if
	:: !(misled & (1 << m)) && h >= askedHop && h + 1 > latest && !NAMES(n, h) -> latest = h + 1; to = n; by = m
	:: else
	fi
}

active proctype members() {
	bool isAt;
	at = A;
	if
	:: passed[B] = 1	/* which has passed the token to A */
	:: hop = 1	/* or nobody has passed it on yet */
	fi;
	target = P; asks = AHEAD;
	if
	:: teller = P
	:: teller = C	/* which it has asked first */
	fi;
	do
	:: found || fast -> break
	:: d_step { !found && !fast && hop < 1 + PASSES ->
		SAY(at, PASS); passed[at] = hop; hop++; at = 1 - at }
	/* One member is asked alone. */
	:: d_step { target == A || target == B ->
		SAY(target, ALONE);
		if
		:: target == at -> found = 1
		:: target != at && passed[target] >= asks && passed[target] > 0 && chain < 12 ->
			chain++; teller = target; asks = passed[target] + 1; target = 1 - target
		:: else -> everybody()
		fi }
	:: atomic { target == P ->
		SAY(P, ALONE);
		if
		:: everybody()
		:: chain < 12 -> chain++; teller = P; target = A; asks = AHEAD + 1
		:: chain < 12 -> chain++; teller = P; target = B; asks = AHEAD + 1
		fi }
	/* All are asked, and answer one after the other. */
	:: d_step { target == NOBODY && !(answered & 1) ->
		SAY(A, ALL); answered = answered | 1;
		if
		:: at == A -> found = 1
		:: at != A && passed[A] > 0 -> went(A, passed[A], B)
		:: else
		fi }
	:: d_step { target == NOBODY && !(answered & 2) ->
		SAY(B, ALL); answered = answered | 2;
		if
		:: at == B -> found = 1
		:: at != B && passed[B] > 0 -> went(B, passed[B], A)
		:: else
		fi }
	:: d_step { target == NOBODY && !(answered & 8) ->
		SAY(C, ALL); answered = answered | 8;
		went(C, AHEAD - 1, P) }
	:: atomic { target == NOBODY && !(answered & 4) ->
		SAY(P, ALL); answered = answered | 4;
		if
		:: skip
		:: true -> went(P, AHEAD, A)
		:: true -> went(P, AHEAD, B)
		fi }
	:: d_step { target == NOBODY && answered == 15 && !found ->
		if
		:: leaps == LEAPS && hop > 1 -> SAY(P, FAST); fast = 1
		:: else ->
			if
			:: to == NOBODY || leaps == LEAPS ->
				SAY(P, LOST);
				not_lost = 0;
				assert(not_lost)
			:: else ->
				SAY(P, FOLLOW);
				leaps++; chain = 1; target = to; asks = latest; teller = by
			fi
		fi }
	od
}
