/*
 * How often a member is excused for a token that was lost with it.
 *
 * S passed a token to X, and has X's receipt. The token is lost, and X says that it never had it. It
 * lies, or it has forgotten. A receipt names the *position* where X signed it: X's opening, and its serial, which is how
 * many records of custody X had made. X names its *gap*: the position from which on it has forgotten nothing. A
 * receipt of X's present opening that is not below the gap shows that X lies: X is struck. Any other one is an
 * excuse. The second excuse bars X: it gets no tokens for a while, and is still believed. So a liar is not
 * excused with each token, and one liar cannot have an honest member barred. Each member asks X and S for
 * itself, of its own passes and of those that others tell it of ("blame").
 *
 * X is member 0, and the others pass tokens to it. One member lies:
 *
 *   LIAR=1      S, member 1. X is honest, and member 2 asks. no_false, no_bar
 *   LIAR=0      X. All others ask. few_losses
 *   TOKENS=3    that X gets
 *   SENDERS=2   members that pass tokens to X
 *   BUG_...     see README.md
 *
 * With LIAR=1:
 *
 *   RESTARTS=1  X starts again: with its journal, or with nothing
 *   CONFIGS=0   the configuration changes, and X forgets its passes
 *   REPEATS=2   transfers that are sent again, so that X signs their receipts again
 *   LIST=9      passes that X remembers: it forgets the oldest one for one more
 *   DEATHS=1    passes of X to member 1, which falls silent, and may speak again
 *
 * With LIAR=0:
 *
 *   OPENINGS=3  that X may name
 *   SERIALS=2   that X may name, beside 0
 *   LOSSES=3    tokens that the honest members lose at most
 *   DOUBTS      X may also say that it has sent the token to one that denies it
 *   DELAYS      X may get a token of one member before it has answered another one
 *   KINDS       one excuse of each kind has no consequence
 *
 * Time is left out: nothing that is counted is forgotten.
 */

#ifndef LIAR
#define LIAR 1
#endif
#ifndef TOKENS
#define TOKENS 3
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef CONFIGS
#define CONFIGS 0
#endif
#ifndef REPEATS
#define REPEATS 2
#endif
#ifndef LIST
#define LIST 9
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef OPENINGS
#define OPENINGS 3
#endif
#ifndef SERIALS
#define SERIALS 2
#endif
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef LOSSES
#define LOSSES 3
#endif

#define M (SENDERS + 1)

#define NONE TOKENS
#define POS(opening, serial) ((opening) * 16 + (serial))	/* they grow with both */
#define OPENING(p) ((p) / 16)

#define ADD(set, n) set = set | (1 << (n))
#define DEL(set, n) set = set & ~(1 << (n))
#define IN(set, n) (((set) >> (n)) & 1)
#define TWO(set) (((set) & ((set) - 1)) != 0)

/* The custodies of X. */
byte taken;			/* so many */
byte from[TOKENS];		/* by whose transfer */
byte first[TOKENS];		/* position of the receipt */
byte again[TOKENS];		/* of one that was signed again, if any */
byte base[TOKENS * M];		/* the latest gap that v had heard of when its sender began to pass it on */
#define BASE(v) base[c * M + (v)]

/* What each member counts of X. */
bit struck[M];
byte nevers[M], others[M];	/* excuses: never; sent or instead */
byte told[M];			/* set of custodies that are counted */
byte gaps[M];			/* the latest gap that was counted */
byte heard[M];			/* the latest gap that X named to it */
byte doubts[M];			/* set of members with which X is in doubt */

#define EXCUSES(v) (nevers[v] + others[v])
#if defined(BUG_EACH_EXCUSED)
#define BARS(v) 0
#elif defined(KINDS)
#define BARS(v) (nevers[v] > 1 || others[v] > 1)
#else
#define BARS(v) (EXCUSES(v) > 1)
#endif
#define STRUCK(v) (struck[v] || TWO(doubts[v]))
#define SHUNS(v) (STRUCK(v) || BARS(v))

byte v, c, r, g, k;		/* v asks of c; S shows receipt r; X names gap g, and k: below that it has signed again */
bit no_false, no_bar, few_losses;

mtype = { TAKE, MOVE, KEEP_SILENT, SPEAK, REPEAT, RESTART, LOSE_ALL, CONFIG, ASK, HEAR, PASS, ANSWER };
#define SAY(m, what) printf("member %d custody %d: %e\n", m, c, what)

#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* Does receipt r show that X lies, which says never, and names g and k? It was shown before X was asked. */
#if defined(BUG_SERIAL)
#define LATER (OPENING(r) == OPENING(g))
#elif defined(BUG_OPENING)
#define LATER (OPENING(r) != OPENING(g) || r >= g && r >= k)
#else
#define LATER (OPENING(r) == OPENING(g) && r >= g && r >= k)
#endif

/* The sender began its transfer, as it says, when v had heard of that gap, or of a later one. So X
 * cannot have forgotten it there, nor signed before that gap. */
#ifdef BUG_NO_BASE
#define AFTER_GAP 0
#else
#define AFTER_GAP (BASE(v) >= g)
#endif
#ifdef BUG_NO_ORDER
#define AFTER_RECEIPT 0
#else
#define AFTER_RECEIPT (BASE(v) > r)
#endif
#ifdef BUG_NO_AGE
#define COMPARES(v) (from[c] == (v))
#else
#define COMPARES(v) 1
#endif

/* The gap that was counted explains this excuse, too. */
#if defined(BUG_EACH_CUSTODY)
#define EXPLAINED 0
#elif defined(BUG_REPEAT_COUNTS)
#define EXPLAINED (r < gaps[v])
#else
#define EXPLAINED (r < gaps[v] || g == gaps[v])
#endif

#ifdef BUG_AGAIN
#define COUNTED 0
#else
#define COUNTED IN(told[v], c)
#endif

/* X says never to v, and S shows the receipt. */
inline judges()
{
	if
	:: LATER -> struck[v] = 1
	:: !LATER && (AFTER_GAP || AFTER_RECEIPT) && COMPARES(v) ->
		if
		:: from[c] == v -> struck[v] = 1
		:: else -> ADD(doubts[v], from[c])	/* one of the two lies */
		fi
	:: else ->
		if
		:: !COUNTED && !EXPLAINED && nevers[v] < 2 ->
			nevers[v]++;
#ifdef BUG_REPEAT_COUNTS
			gaps[v] = MAX(gaps[v], MAX(g, k))
#else
			gaps[v] = MAX(gaps[v], g)
#endif
		:: else
		fi;
		ADD(told[v], c)
	fi;
	heard[v] = MAX(heard[v], g)
}

/* X says sent, and nobody denies it; or instead, and its giver confirms it. */
inline excuses()
{
	if
	:: !COUNTED && others[v] < 2 -> others[v]++
	:: else
	fi;
	ADD(told[v], c)
}

#if LIAR == 1

byte opening = 1, serial;	/* of X */
byte whole;			/* from this serial on it has forgotten nothing, */
byte repeated;			/* but that it signed receipts again, below this one */
byte known;			/* set of custodies of which it remembers the pass */
byte journal;			/* and of those of which it can sign the receipt again */
byte passed[TOKENS];		/* serial of the pass */
byte held = NONE;		/* it has the token by this custody */
byte restarts, configs, repeats, deaths;
bit silent;			/* member 1 is, */
byte last = NONE;		/* which has got this custody's token, without a receipt */
#ifdef BUG_OLD_ANSWER
byte asked = NONE, oldgap, oldrepeated;	/* an answer from before the receipt was shown */
#endif

inline takes()
{
	c = taken; SAY(0, TAKE); taken++; held = c; serial++; first[c] = POS(opening, serial); ADD(journal, c);
	BASE(2) = (from[c] == 2 -> heard[2] : 0);
	check()
}

inline remembers()
{
	n = 0; i = 0;
	do
	:: i == TOKENS -> break
	:: else -> n = n + IN(known, i); i++
	od;
	i = 0;
	if
	:: n > LIST ->
		do
		:: IN(known, i) -> break
		:: else -> i++
		od;
		DEL(known, i);
#ifndef BUG_EVICTED
		whole = MAX(whole, passed[i] + 1)
#endif
	:: else
	fi;
	n = 0; i = 0
}

inline check()
{
	no_false = !STRUCK(2);
	assert(no_false);
	no_bar = !BARS(2) || silent && nevers[2] == 1 && others[2] == 1;	/* it keeps silent for that */
	assert(no_bar);
	no_false = 0; no_bar = 0; v = 0; c = 0; r = 0; g = 0; k = 0
}

proctype Group()
{
	byte i, n;

end:	do
	/* X gets a token. */
	:: d_step { held == NONE && taken < TOKENS && !silent -> from[taken] = 1; takes() }
	:: d_step { held == NONE && taken < TOKENS && !SHUNS(2) -> from[taken] = 2; takes() }
	/* It passes it on, and gets a receipt. */
	:: d_step { held != NONE -> c = held; SAY(0, MOVE); serial++; passed[c] = serial; ADD(known, c); held = NONE; remembers(); c = 0 }
	/* Or it gets none of member 1, which falls silent. X passes nothing more to that. */
	:: d_step { held != NONE && !silent && deaths < DEATHS ->
		c = held; SAY(1, KEEP_SILENT); serial++; passed[c] = serial; ADD(known, c); held = NONE; remembers();
		deaths++; silent = 1; last = c; c = 0 }
	:: d_step { silent -> SAY(1, SPEAK); silent = 0; last = NONE;
#ifndef BUG_DEAD_COUNTS
		others[2] = 0;		/* it is asked now: a doubt, or its receipt */
#endif
		check() }
	/* A transfer is sent again. */
	:: atomic { repeats < REPEATS && journal != 0 ->
		select(c : 0 .. TOKENS - 1);
		if
		:: IN(journal, c) && !(silent && from[c] == 1) ->
			SAY(from[c], REPEAT); repeats++;
			if
			:: again[c] = POS(opening, serial)
			:: again[c] != 0
			fi;
#ifndef BUG_REPEATED
			repeated = serial + 1
#endif
		:: else
		fi;
		c = 0 }
	/* X forgets. */
	:: d_step { restarts < RESTARTS -> SAY(0, RESTART); restarts++; opening++; known = 0; repeated = 0; whole = serial }
	:: d_step { restarts < RESTARTS -> SAY(0, LOSE_ALL); restarts++; opening++; known = 0; repeated = 0; whole = 0;
		serial = 0; held = NONE; journal = 0 }
	:: d_step { configs < CONFIGS -> SAY(0, CONFIG); configs++; known = 0;
#if defined(BUG_CONFIG)
#elif defined(BUG_CONFIG_AT)
		whole = serial; repeated = 0
#else
		whole = serial + 1; repeated = 0
#endif
		}
#ifdef BUG_OLD_ANSWER
	:: atomic { asked == NONE ->
		select(c : 0 .. TOKENS - 1);
		if
		:: held != c && !IN(known, c) -> SAY(2, HEAR); asked = c; oldgap = POS(opening, whole); oldrepeated = POS(opening, repeated)
		:: else
		fi;
		c = 0 }
#endif
	/* Member 2 asks of a custody. */
	:: atomic { taken > 0 ->
		select(c : 0 .. TOKENS - 1);
		if
		:: c < taken && held != c && !IN(known, c) && !(silent && from[c] == 1) ->
			SAY(2, ASK); v = 2; g = POS(opening, whole); k = POS(opening, repeated);
#ifdef BUG_OLD_ANSWER
			if
			:: asked == c -> g = oldgap; k = oldrepeated
			:: else
			fi;
#endif
			if
			:: r = first[c]
			:: again[c] != 0 -> r = again[c]
			fi;
			if
			:: judges()
			:: from[c] == 1 -> BASE(2) = heard[2]; judges(); BASE(2) = 0	/* it says that it was late */
			fi
		:: c < taken && c == last && silent && IN(known, c) -> SAY(2, ASK); v = 2; excuses()
		:: else
		fi;
		check() }
	od
}

#else

/* v passes X nothing more: the rest does not matter. */
inline settles()
{
	pending[v] = 0; told[v] = 0; gaps[v] = 0; heard[v] = 0; struck[v] = 1; nevers[v] = 0; others[v] = 0; doubts[v] = 0
}

byte pending[M];		/* set of custodies of which this member asks X */
byte losses;

/* Is an answer of X waited for, before s passes it another token? */
#ifdef DELAYS
#define WAITED_FOR(s) (pending[s] != 0)
#elif SENDERS == 2
#define WAITED_FOR(s) (pending[1] != 0 || pending[2] != 0)
#else
#define WAITED_FOR(s) (pending[1] != 0 || pending[2] != 0 || pending[3] != 0)
#endif

proctype Group()
{
	byte s, o, n;

end:	do
	/* An honest member passes X a token. X signs where it likes, and loses it. */
	:: atomic { taken < TOKENS ->
		select(s : 1 .. SENDERS);
		if
		:: !SHUNS(s) && !WAITED_FOR(s) ->
			select(o : 1 .. OPENINGS); select(n : 0 .. SERIALS);
			c = taken; SAY(s, PASS); taken++; losses++;
			from[c] = s; first[c] = POS(o, n); v = 1;
			do
			:: v > SENDERS -> break
			:: else ->
				if
#ifdef BUG_NO_BLAME
				:: !SHUNS(v) && v == s -> ADD(pending[v], c); BASE(v) = heard[v]
				:: SHUNS(v) || v != s
#else
				:: !SHUNS(v) -> ADD(pending[v], c); BASE(v) = heard[v]
				:: SHUNS(v)
#endif
				fi;
				v++
			od;
			few_losses = losses <= LOSSES;
			assert(few_losses);
			few_losses = 0
		:: else
		fi;
		s = 0; o = 0; n = 0; c = 0; v = 0 }
	/* X answers one that asks, when and what it likes. */
	:: atomic { taken > 0 ->
		select(v : 1 .. SENDERS); select(c : 0 .. TOKENS - 1);
		if
		:: IN(pending[v], c) && (pending[v] & ((1 << c) - 1)) == 0 ->
			SAY(v, ANSWER); DEL(pending[v], c); r = first[c];
			if
			:: select(o : 1 .. OPENINGS); select(n : 0 .. SERIALS);
				g = POS(o, n);
				if
				:: k = 0
				:: k = r + 1
				fi;
				judges()
			:: excuses()
#ifdef DOUBTS
			:: select(s : 1 .. SENDERS);	/* "sent to s" */
				if
				:: s == v || IN(doubts[v], s) -> struck[v] = 1
				:: else -> ADD(doubts[v], s)
				fi
#endif
			fi;
			BASE(v) = 0; DEL(told[v], c);
			if
			:: SHUNS(v) -> settles()
			:: else
			fi;
			s = 1; n = 0;
			do
			:: s > SENDERS -> break
			:: else -> n = n + IN(pending[s], c); s++
			od;
			if
			:: n == 0 -> first[c] = 0; from[c] = 0
			:: else
			fi
		:: else
		fi;
		v = 0; c = 0; r = 0; g = 0; k = 0; s = 0; o = 0; n = 0 }
	od
}
#endif

init { atomic { run Group() } }
