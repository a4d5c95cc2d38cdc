/*
 * One liar tells of custodies that there are not (P-57, 8 of the protocol).
 *
 * A, B and C are honest. The token lives, and goes from A to B and back, PASSES times, or from one of the three to any other one
 * (MOVERS=3). K is the keeper, which looks for it. P lies, alone: it names any of the others, or itself, at any hop, near or far
 * ahead. What the honest ones have only heard of the token they have from P, and say so. At the beginning K believes what P has told it,
 * asked or not, or C, which has heard it from P, or A, which had the token then.
 *
 * K asks one member alone, and goes on to the next one that it names. If that one disowns the custody, or the chain becomes too long,
 * K asks all for any custody of the token: then, and until the end of the search, the honest ones say only what they did themselves.
 * K follows the latest custody that it is told of. It takes the token for lost if it is told of none, or after LEAPS such
 * custodies, but not for one that moves: then two members have told of custodies one after the other.
 *
 *   PASSES=3  of the token, while K looks for it
 *   MOVERS=2  A and B have the token in turn; 3: A, B and C have it
 *   CHAIN=3   members that are asked one after the other (maxChain)
 *   LEAPS=4   that K follows what all have answered (maxLeaps)
 *   BUG_CLAIMED   all are asked for the custody that was claimed
 *   BUG_HEARD     the honest ones also say what they have heard when they are asked for any custody
 *   BUG_CHAIN     a chain that is too long has nobody asked for any custody
 *   BUG_SELF      a member may name itself
 *   BUG_BELIEVED  who told of a custody that was disowned is believed once more
 *   BUG_AT_ONCE   who told of the first one is refuted, though it may only have heard of it
 *   BUG_DENIED    nothing counts that names a holder at or after the lowest custody that it has disowned
 */

#ifndef PASSES
#define PASSES 3
#endif
#ifndef MOVERS
#define MOVERS 2
#endif
#ifndef CHAIN
#define CHAIN 3
#endif
#ifndef LEAPS
#define LEAPS 4
#endif

#define A 0
#define B 1
#define C 2
#define P 3
#define NOBODY 4
#define AHEAD (PASSES + 5)	/* a hop that no token reaches */

byte at;			/* the member that has the token */
byte hop = 2;			/* of its custody */
byte passed[3];			/* the hop of the last custody that a member passed on; 0: none */
byte passedTo[3];		/* to this one */

byte target, asks;		/* the member that K asks alone, and for which hop */
byte teller;			/* on whose word */
byte answered;			/* a bit each, when all are asked */
byte latest, to = NOBODY, by;	/* the latest custody that is told of: its hop, its holder, and who says so */
bit moving;			/* P says that it is passing the token on at this moment */
bit believed;			/* K has followed that once */
byte misled;			/* members that are refuted: a bit each */
byte leaps, chain;
byte firstHop, firstBy;		/* of the first custody that was followed */
bit anyHop;			/* any custody is asked for */
bit found, fast, not_lost = 1;
byte h, n;
#ifdef BUG_DENIED
byte denied, ahead = 100;	/* members that have disowned a custody, and the lowest of these */
#define IS_DENIED(nn, hh) ((denied & (1 << nn)) && hh + 1 >= ahead)
#else
#define IS_DENIED(nn, hh) 0
#endif

mtype = { PASS, ALONE, ALL, WENT, DISOWNS, FOLLOW, FAST, LOST };
#define SAY(m, what) printf("member %d hop %d: %e\n", m, hop, what)

/* any hop and holder that P names, and the hearsay of an honest member */
#define NAME(self) select(h : 0 .. AHEAD - 1); if :: n = P :: self != A -> n = A :: self != B -> n = B :: self != C -> n = C fi

#ifdef BUG_HEARD
#define SAYS_HEARD 1
#else
#define SAYS_HEARD !anyHop
#endif

#ifdef BUG_SELF
#define IS_SELF(m, nn) 0
#else
#define IS_SELF(m, nn) (m == nn)
#endif

inline everybody() {
	answered = 0; latest = 0; to = NOBODY; by = NOBODY; moving = 0; target = NOBODY
}

/* m disowns the custody for which it is asked alone. */
inline disowns(m) {
	SAY(m, DISOWNS);
#ifndef BUG_BELIEVED
	if
#ifndef BUG_AT_ONCE
	:: !anyHop && teller != m
#endif
	:: else -> misled = misled | (1 << teller)
	fi;
#endif
#ifdef BUG_DENIED
	denied = denied | (1 << m); ahead = (asks < ahead -> asks : ahead);
#endif
#ifndef BUG_CLAIMED
	anyHop = 1;
#endif
	everybody()
}

/* m, which is asked alone, names the next one. To name itself is to disown the custody. */
inline names(m, hh, nn) {
	SAY(m, WENT);
	if
	:: hh < asks || IS_SELF(m, nn) -> disowns(m)
	:: else ->
		teller = m; asks = hh + 1;
		if
		:: chain < CHAIN -> chain++; target = nn
		:: else ->
#ifndef BUG_CHAIN
			anyHop = 1;
#endif
			everybody()
		fi
	fi
}

/* m, as one of all, says that it has passed the token on, at the hop hh, to nn. */
inline went(m, hh, nn) {
	if
	:: !moving && !(misled & (1 << m)) && !(misled & (1 << nn)) && !IS_DENIED(nn, hh) && (anyHop || hh >= asks) && hh + 1 >= latest ->
		latest = hh + 1; to = nn; by = m
	:: else
	fi
}

active proctype members() {
	at = A; passedTo[B] = A;
	if
	:: passed[B] = 1	/* which has passed the token to A */
	:: hop = 1	/* or nobody has passed it on yet */
	fi;
	chain = 1;
	if
	:: teller = A; target = A; asks = hop	/* it had the token then */
	:: teller = P; target = P
	:: teller = P; target = A
	:: teller = P; target = B
	:: teller = P; target = C
	:: teller = C; target = P
	:: teller = C; target = A
	:: teller = C; target = B
	fi;
	if
	:: asks == 0 -> select(h : 1 .. AHEAD); asks = h; h = 0
	:: else
	fi;
	do
	:: found || fast -> break
	:: atomic { !found && !fast && hop < 1 + PASSES ->
		SAY(at, PASS); passed[at] = hop;
		if
		:: MOVERS == 2 -> passedTo[at] = 1 - at
		:: MOVERS == 3 -> passedTo[at] = (at + 1) % 3
		:: MOVERS == 3 -> passedTo[at] = (at + 2) % 3
		fi;
		hop++; at = passedTo[at] }
	/* One member is asked alone. */
	:: atomic { target < P && target == at -> SAY(target, ALONE); found = 1 }
	:: atomic { target < P && target != at ->
		SAY(target, ALONE);
		if
		:: passed[target] > 0 && (anyHop || passed[target] >= asks) -> h = passed[target]; n = passedTo[target]; names(target, h, n)
		:: else ->
			if
			:: true -> disowns(target)
			:: SAYS_HEARD -> NAME(target); names(target, h, n)
			fi
		fi;
		h = 0; n = 0 }
	:: atomic { target == P ->
		SAY(P, ALONE);
		if
		:: true -> disowns(P)
		:: true -> NAME(P); names(P, h, n)
		fi;
		h = 0; n = 0 }
	/* All are asked, and answer one after the other. */
	:: atomic { target == NOBODY && !found && !(answered & 1) -> answered = answered | 1; n = A; goto honest }
	:: atomic { target == NOBODY && !found && !(answered & 2) -> answered = answered | 2; n = B; goto honest }
	:: atomic { target == NOBODY && !found && !(answered & 4) -> answered = answered | 4; n = C;
honest:		SAY(n, ALL);
		if
		:: at == n -> found = 1
		:: at != n && passed[n] > 0 && (anyHop || passed[n] >= asks) -> went(n, passed[n], passedTo[n])
		:: else ->
			if
			:: true
			:: SAYS_HEARD ->
				select(h : 0 .. AHEAD - 1);
				if
				:: true -> went(n, h, P)
				:: n != A -> went(n, h, A)
				:: n != B -> went(n, h, B)
				:: n != C -> went(n, h, C)
				fi
			fi
		fi;
		h = 0; n = 0 }
	:: atomic { target == NOBODY && !found && !(answered & 8) ->
		SAY(P, ALL); answered = answered | 8;
		if
		:: true
		:: true -> NAME(P); went(P, h, n)
		:: !believed && !(misled & (1 << P)) -> moving = 1; to = P; by = P; latest = AHEAD
		fi;
		h = 0; n = 0 }
	:: d_step { target == NOBODY && answered == 15 && !found ->
		if
		:: leaps == LEAPS && latest > firstHop && to != NOBODY && by != firstBy -> SAY(to, FAST); fast = 1
		:: else ->
			if
			:: to == NOBODY || leaps == LEAPS ->
				SAY(P, LOST);
				not_lost = 0;
				assert(not_lost)
			:: else ->
				SAY(to, FOLLOW);
				if
				:: leaps == 0 -> firstHop = latest; firstBy = by
				:: else
				fi;
				believed = believed || moving;
				leaps++; chain = 1; target = to; asks = latest; teller = by
			fi
		fi }
	od
}
