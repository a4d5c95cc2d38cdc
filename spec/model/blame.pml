/*
 * What a member may count against another one that did not pass a token on.
 *
 * A token is lost. Its keeper makes another one, and its genesis names the custody
 * that it replaces: X had the token last, by a transfer of S. Each member that gets
 * the new token asks X what became of that custody, and believes what is proved:
 * X shows the receipt of the next one, which is asked then. Or X has the token still,
 * although somebody waits: it withholds. Or X has sent it to Z, which has
 * not answered. Or X never had it: then S shows the receipt of X, or has none.
 * Where one says "sent" and the other one "never had", one of the two lies, and
 * it is open which: they are in doubt. No member passes tokens to one that withholds, or
 * is in doubt with two others, or with itself. So who is twice in doubt with one
 * receiver has broken that rule, and counts as one that withholds.
 *
 * One member lies: as holder, sender and keeper, and in each answer, to each
 * member in another way. The others keep the rules; one of them may lose its memory.
 * Time is left out: nothing that is counted is forgotten.
 *
 *   N=4         members, of which 0 is the keeper
 *   LIAR=3      which lies (0: the keeper, which then names what it likes)
 *   PAIR        so does member 2
 *   HOPS=2      that a token makes
 *   TOKENS=3    that are made
 *   RESTARTS=1  members that lose their memory
 *   LOSSES=3    tokens that the liar may lose, and one more for each member that loses its memory
 *   DURABLE     A member that restarts takes its strikes and bars up again from its journal (P-84). It forgets
 *               all else, and the liar may lose no more tokens for that.
 *   BUG_...     see README.md
 *
 * Three parts of what is built stand beside that, each with its own state:
 *
 *   DELAYS=1    A transfer is lost several times, and comes late. The keeper makes another
 *               token meanwhile. What is said then counts if it is said again 3 L
 *               later: by then the transfer has come. (How often that happens.)
 *   MINTS=1     The liar makes a token. Who holds the group's one drops that for it, and says
 *               so: "instead", and from whom it came. (How often that happens.)
 *   WATCH       A member says that it has the token, and nobody gets it. So none is made. The keeper,
 *               which is honest here, asks that member what became of it, each O.
 *   SLEEPS=1    With WATCH: holders that are asleep, and answer now and then, or not.
 *   STALL=9     With WATCH: for how many O one token may be waited for.
 *   SLOW        With WATCH: the liar also says that it has the token, and so seldom that it is never
 *               late. So may a holder that is asleep.
 *   ENDS        With WATCH: the liar also says that it has dropped the token of which it told, and then
 *               tells of another one.
 */

#ifndef N
#define N 4
#endif
#ifndef LIAR
#define LIAR 3
#endif
#ifndef HOPS
#define HOPS 2
#endif
#ifndef TOKENS
#define TOKENS 3
#endif

#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef LOSSES
#define LOSSES 3
#endif
#ifndef SLEEPS
#define SLEEPS 1
#endif
#ifndef STALL
#define STALL 9
#endif

#ifdef PAIR
#define LIES(m) ((m) == LIAR || (m) == 2)
#else
#define LIES(m) ((m) == LIAR)
#endif
#define NOBODY N

byte had[HOPS + 1];		/* who had the token, by hop */
bit receipt[HOPS + 1];		/* its sender has the receipt */
byte hop;			/* where it is now */
bit lost;			/* the liar has it, and passes it on no more */
bit moving;			/* it is on its way to had[hop], which knows nothing of it yet */
byte forgot;			/* members that know nothing of this token any more */
byte restarted;
byte unsure;			/* of these, members that may have to find out about the liar anew */
byte tokens;
byte losses;			/* of the liar's, of tokens that honest members have passed to it */

bit named;			/* a genesis names a custody: */
byte x, s, at;			/* this member had it, by this one, at this hop */
byte todo;			/* members that have not asked yet */

byte withholds[N];		/* set of members that count m as one that withholds */
byte doubts[N * N];		/* of v about m: the set of those with which m is in doubt */
byte sent[N * N];		/* of these, those to which m has sent a token */
#define DOUBTS(v, m) doubts[(v) * N + (m)]
#define SENT(v, m) sent[(v) * N + (m)]

#define ADD(set, n) set = set | (1 << (n))
#define IN(set, n) (((set) >> (n)) & 1)
#define TWO(set) (((set) & ((set) - 1)) != 0)

#ifdef DELAYS
bit late;			/* the answer to the transfer is due, and it has not come */
byte delays;
bit replaced;			/* another token was made meanwhile */
byte again;			/* members that have heard a denial, and ask once more */
bit second;			/* they do so: 3 L later */
#define LATE late
#define REPLACED replaced
#define SECOND second
#define WAITS (again != 0 || late)
#else
#define LATE 0
#define REPLACED 0
#define SECOND 1
#define WAITS 0
#endif
#ifdef BUG_AT_FIRST_DENIAL
#define COUNTS 1
#else
#define COUNTS SECOND
#endif
#ifdef BUG_BAR_AT_FIRST
#define BARS 1
#else
#define BARS SECOND
#endif

#ifdef MINTS
byte mints;
bit dropped;			/* had[hop] has dropped the token for another one, */
byte giver;			/* which came from this member */
#endif

#if defined(MINTS) || defined(DURABLE)
byte barred[N];			/* set of members that pass m nothing, as its excuse was not confirmed */
#define BARRED(v, m) IN(barred[m], v)
#else
#define BARRED(v, m) 0
#endif

#ifdef WATCH
byte teller = NOBODY;		/* the keeper hears of this member that it has the token, */
byte turns;			/* and has asked it so often, O after O, */
bit answered;			/* which it has answered */
byte given;			/* set of members that the keeper has given up */
bit asleep;			/* had[hop] is asleep, and passes nothing on */
byte sleeps;
byte stalled;			/* for how many O the token is waited for */
#define STALLS (teller != NOBODY)
#else
#define STALLS 0
#endif

#ifdef SLOW
byte slow[N];			/* set of members that m tells now and then that it has a token which is lost */
#define SLOWS(v, m) IN(slow[m], v)
#else
#define SLOWS(v, m) 0
#endif

/* Does v count m as one that takes no part for a while? */
#ifdef BUG_ONE_DOUBT
#define STRUCK(v, m) (IN(withholds[m], v) || DOUBTS(v, m) != 0)
#else
#define STRUCK(v, m) (IN(withholds[m], v) || TWO(DOUBTS(v, m)))
#endif
#ifdef BUG_NO_OWN
#define SHUNS(v, m) (STRUCK(v, m) || BARRED(v, m) || SLOWS(v, m))
#else
#define SHUNS(v, m) (STRUCK(v, m) || BARRED(v, m) || SLOWS(v, m) || IN(DOUBTS(v, m), v))
#endif
#define NOT(v, m) ((m) >= N || (m) == (v) || SHUNS(v, m))
#define SHUNS_ALL(v) (NOT(v, 0) && NOT(v, 1) && NOT(v, 2) && NOT(v, 3))
#ifdef BUG_SHUN_ALL
#define SERVES(v, m) (!SHUNS(v, m))
#define STUCK(v) SHUNS_ALL(v)
#else
#ifdef BUG_TO_DENIER
#define LAST(v, m) (SHUNS_ALL(v) && !STRUCK(v, m))
#else
#define LAST(v, m) (SHUNS_ALL(v) && !STRUCK(v, m) && !IN(DOUBTS(v, m), v))
#endif
#define SERVES(v, m) (!SHUNS(v, m) || LAST(v, m))
#define STUCK(v) 0
#endif

#define NONE  0			/* I never had it */
#define HAVE  1
#define SHOWS 2			/* the receipt of the next custody, of member to */
#define SENDS 3			/* to member to, without its receipt */
#define YOUNG 4			/* nothing that counts: it has forgotten, or passes it on first */
#define INSTEAD 5		/* dropped, as another one came from member to */
#define SILENT 6
#define STILL 7			/* the same as HAVE, but so seldom that it is not late */
byte said, to;			/* an answer */
byte v, i, j, h;
bit more;
byte newly[N];			/* set of those whose sending of this token was counted, by v */
bit no_false, no_bar, few_losses, goes_on;

mtype = { PASS, TAKE, DELAY, LOSE, MINT, RESTART, SLEEP, WAKE, TELL, TURN, NAME, ASK };
#define SAY(m, what) printf("member %d hop %d: %e\n", m, hop, what)

#define TOOK(m, h) (h <= hop && had[h] == m && !(moving && h == hop))
#ifdef MINTS
#define DROPPED(m, h) (dropped && h == hop && had[h] == m)
#else
#define DROPPED(m, h) 0
#endif

/* What m says of its custody at hop h, in said and to. */
inline answers(m, h)
{
	to = NOBODY;
	if
	:: LIES(m) ->
		if
		:: said = NONE
		:: said = HAVE
		:: said = SENDS; select(to : 0 .. N - 1)
		:: h < hop && had[h] == m && receipt[h + 1] -> said = SHOWS; to = had[h + 1]
#ifdef PAIR
		:: said = SHOWS; to = 5 - m	/* its friend signs what it likes */
#endif
#ifdef MINTS
		:: said = INSTEAD; select(to : 0 .. N - 1)
#endif
#ifdef SLOW
		:: said = STILL
#endif
		fi
	:: else ->
		if
		:: IN(forgot, m) -> said = YOUNG
		:: !IN(forgot, m) && !TOOK(m, h) -> said = NONE
#ifdef MINTS
		:: !IN(forgot, m) && DROPPED(m, h) -> said = INSTEAD; to = giver
#endif
		:: !IN(forgot, m) && TOOK(m, h) && h == hop && !DROPPED(m, h) ->
#ifdef BUG_AT_ONCE
			said = HAVE
#else	/* it passes it on, as somebody waits, and is asked again */
			said = (STUCK(m) -> HAVE : YOUNG)
#endif
#ifdef SLOW
		:: !IN(forgot, m) && TOOK(m, h) && h == hop && !DROPPED(m, h) && asleep -> said = STILL
#endif
		:: !IN(forgot, m) && TOOK(m, h) && h < hop && receipt[h + 1] -> said = SHOWS; to = had[h + 1]
		:: !IN(forgot, m) && TOOK(m, h) && h < hop && !receipt[h + 1] ->
			to = had[h + 1];
#ifdef BUG_MOVING
			said = SENDS
#else
			said = (moving && !LATE -> YOUNG : SENDS)	/* it is asked again when the answer is due */
#endif
		fi
	fi
}

/* From says that it has sent the token to that, which says that it never had it. */
inline doubt(from, that)
{
	if
	:: ((from) == v || (that) == v -> BARS : COUNTS) -> in_doubt(from, that)
	:: else -> ask_again()
	fi
}

inline in_doubt(from, that)
{
#ifndef BUG_TWICE
	if
	:: IN(SENT(v, from), that) && !IN(newly[v], from) -> ADD(withholds[from], v)	/* of another token */
	:: else
	fi;
#endif
	ADD(newly[v], from);
	ADD(SENT(v, from), that); ADD(DOUBTS(v, from), that); ADD(DOUBTS(v, that), from)
}

inline ask_again()
{
#ifdef DELAYS
	ADD(again, v)
#else
	skip
#endif
}

#ifdef MINTS
/* Member i says that it has dropped the token for another one, which came from member to. That
 * one is asked. Without its word v passes i nothing. */
inline excuse()
{
	if
	:: to < N && to != i && (LIES(to) || DROPPED(i, h) && to == giver)	/* it confirms that */
	:: to == N || to == i || LIES(to) || !(DROPPED(i, h) && to == giver) ->
#if defined(BUG_EXCUSE_STRUCK)
		ADD(withholds[i], v)
#elif defined(BUG_EXCUSED)
		skip
#else
		ADD(barred[i], v)
#endif
	fi
}
#endif

#ifdef SLOW
/* v passes m nothing as long as it says so. An honest member passes the lost token on, or drops it, and
 * shows that. Each member that waits asks a holder, and may know already that this one has the token, and pass
 * it others: it was not lost then. */
inline is_slow(m)
{
#ifdef BUG_WATCHED
	skip
#else
	ADD(slow[m], v)
#endif
}
#endif

/* v follows the token from X on, by receipts, to where it was lost. */
inline follows()
{
	more = 1;
	do
	:: !more -> break
	:: else ->
		more = 0;
		answers(i, h);
		if
		:: i == v && !LIES(v) && said != NONE -> skip
		:: said == HAVE && i != v -> ADD(withholds[i], v)
#ifdef SLOW
		:: said == STILL && i != v -> is_slow(i)
#endif
		:: said == SHOWS && i != v && h < HOPS -> j = i; i = to; h++; more = i != v
		:: said == SENDS && i != v && (to == i || to == NOBODY) -> ADD(withholds[i], v)
		:: said == SENDS && i != v && to != i && to < N ->
			j = to; answers(j, h + 1);
			if
			:: said == NONE -> doubt(i, j)
			:: said == HAVE -> ADD(withholds[j], v)
#ifdef SLOW
			:: said == STILL -> is_slow(j)
#endif
			:: else
			fi
#ifdef MINTS
		:: said == INSTEAD && i != v -> excuse()
#endif
		:: said == NONE && j < N && j != i && h > 0 ->
			answers(j, h - 1);
			if
#ifdef BUG_NO_RECEIPT
			:: said == SHOWS && to == i -> doubt(j, i)
#else
			:: said == SHOWS && to == i -> ADD(withholds[i], v)
#endif
			:: said == SENDS && to == i -> doubt(j, i)
			:: else
			fi
		:: else
		fi
	od
}

/* v has got the new token, and asks: about the custody that is named, and about the last one
 * that it has passed on itself. */
inline asks()
{
	i = x; j = s; h = at;
	follows();
	h = HOPS;
	do
	:: h == 0 || h <= hop && had[h - 1] == v -> break
	:: else -> h--
	od;
	if
	:: h > 0 && !IN(forgot, v) && !(moving && !LATE && h == hop) ->
		i = had[h]; j = v;
#ifndef BUG_NO_OWN
		if	/* which has not answered it */
		:: !receipt[h] && BARS -> ADD(DOUBTS(v, i), v)
		:: !receipt[h] && !BARS -> ask_again()
		:: else
		fi;
#endif
#ifndef BUG_NAMED_ONLY
		follows()
#endif
	:: else
	fi
}

#ifdef WATCH
#define STRIKES(m) ADD(withholds[m], 0)

/* The keeper asks who says that it has the token what became of it, and has asked before for O. */
inline watches()
{
	i = teller; v = 0; to = NOBODY; stalled++;
	if
	:: LIES(i) ->
		if
		:: said = NONE
		:: said = HAVE			/* each time that it is asked */
		:: said = YOUNG			/* now and then */
		:: said = SILENT
		:: said = SENDS; select(to : 0 .. N - 1)
#ifdef ENDS
		:: said = INSTEAD
#endif
		fi
	:: IN(forgot, i) -> said = NONE
	:: else ->
		if
		:: said = YOUNG
		:: said = SILENT
		fi
	fi;
	if
	:: said == NONE ->
		teller = NOBODY;
		if
#ifdef BUG_DENIES
		:: skip
#elif defined(BUG_NOT_STEADY)
		:: STRIKES(i)
#else
		:: LIES(i) -> STRIKES(i)
		:: else				/* it has connected since */
#endif
		fi
	:: said == HAVE -> STRIKES(i); teller = NOBODY
	:: said == SENDS && (to == 0 || to == i) -> STRIKES(i); teller = NOBODY
	:: said == SENDS && to != 0 && to != i -> newly[0] = newly[0] & ~(1 << i); in_doubt(i, to); teller = NOBODY
	:: said == INSTEAD -> teller = NOBODY
	:: said == YOUNG || said == SILENT ->
		answered = answered || said == YOUNG; turns++;
		if
		:: turns < 3
		:: turns == 3 -> gives_up()
		fi
	fi;
	if
	:: teller == NOBODY -> turns = 0; answered = 0
	:: else
	fi;
	goes_on = stalled <= STALL;
	assert(goes_on);
	goes_on = 0
}

/* It has kept it for 3 O. Who has answered nothing has lied, unless it has connected since. */
inline gives_up()
{
	if
#if defined(BUG_GIVE_UP_STRIKES)
	:: STRIKES(i); teller = NOBODY
#elif defined(BUG_NO_GIVE_UP)
	:: answered -> turns = 2
	:: !answered && LIES(i) -> STRIKES(i); teller = NOBODY
	:: !answered && !LIES(i) -> turns = 2
#else
#ifdef BUG_SLEEPER_STRUCK
	:: !answered -> STRIKES(i); teller = NOBODY
#else
	:: !answered && LIES(i) -> STRIKES(i); teller = NOBODY
	:: !answered && !LIES(i) -> ADD(given, i); teller = NOBODY
#endif
	:: answered -> ADD(given, i); teller = NOBODY
#endif
	fi
}
#endif

inline check()
{
	no_false = 1; no_bar = 1; i = 0;
	do
	:: i == N -> break
	:: else ->
		j = 0;
		do
		:: j == N -> break
		:: else ->
			no_false = no_false && (i == j || LIES(i) || LIES(j) || !STRUCK(i, j));
			no_bar = no_bar && (LIES(i) || LIES(j) || !IN(DOUBTS(i, j), i));
			j++
		od;
		i++
	od;
	few_losses = losses <= LOSSES + unsure;
	assert(no_false);
#ifdef DELAYS
	assert(no_bar);
#endif
	assert(few_losses);
	no_false = 0; no_bar = 0; few_losses = 0; i = 0; j = 0; h = 0; said = 0; to = 0; more = 0
}

inline tells_all()
{
	SAY(0, NAME); named = 1; tokens++; todo = (1 << N) - 1
}

proctype Group()
{
	byte m;

end:	do
	/* The token makes a hop. */
	:: atomic { !lost && !moving && !REPLACED && hop < HOPS ->
		select(m : 0 .. N - 1);
		if
		:: m != had[hop] && (LIES(had[hop]) || SERVES(had[hop], m)) ->
			SAY(had[hop], PASS); hop++; had[hop] = m; receipt[hop] = 0; moving = 1
		:: else
		fi;
		m = 0 }
	:: atomic { moving && !lost -> SAY(had[hop], TAKE); moving = 0;
#ifdef DELAYS
		late = 0;
#endif
		if
		:: receipt[hop] = 1
		:: LIES(had[hop])
		fi }
#ifdef DELAYS
	/* The transfer is lost again and again. */
	:: d_step { moving && !lost && !late && !named && delays < DELAYS && tokens < TOKENS && !LIES(had[hop - 1]) && !LIES(had[hop]) ->
		SAY(had[hop], DELAY); late = 1; delays++ }
#endif
	/* The liar keeps it, or says that it has sent what it has not. */
	:: d_step { !lost && !named && !moving && LIES(had[hop]) && tokens < TOKENS ->
		SAY(had[hop], LOSE); lost = 1; losses = losses + (hop > 0 && !LIES(had[hop - 1])) }
#ifdef MINTS
	/* The liar makes a token that is later, and the two meet. */
	:: atomic { !lost && !named && !moving && !LIES(had[hop]) && mints < MINTS && tokens < TOKENS ->
		select(m : 0 .. N - 1);
		if
		:: m != had[hop] && !STRUCK(had[hop], m) -> SAY(had[hop], MINT); mints++; dropped = 1; giver = m; lost = 1
		:: else
		fi;
		m = 0 }
#endif
#ifdef BUG_SHUN_ALL
	/* A token stays where it is, and the keeper asks. */
	:: d_step { !lost && !named && !moving && !LIES(had[hop]) && STUCK(had[hop]) && tokens < TOKENS ->
		SAY(had[hop], LOSE); lost = 1 }
#endif
	/* A member loses its memory, and the others forget what it has sent. */
	:: atomic { restarted < RESTARTS && !named ->
		select(m : 0 .. N - 1);
		if
#ifdef WATCH
		:: !LIES(m) && m != 0 && !(moving && had[hop] == m) ->
			lost = lost || had[hop] == m;
			if
			:: had[hop] == m && !STALLS && !IN(given, m) -> teller = m	/* it has just told the keeper */
			:: had[hop] == m -> asleep = 0
			:: had[hop] != m
			fi;
#else
		:: !LIES(m) && had[hop] != m ->
#endif
			SAY(m, RESTART); restarted++; ADD(forgot, m); i = 0;
#ifdef DURABLE
			unsure = unsure + !SHUNS(m, LIAR);
#else
			unsure++;
#endif
			do
			:: i == N -> break
			:: else ->
#if defined(DURABLE) && !defined(BUG_FORGETS)
				if
				:: STRUCK(m, i) -> ADD(withholds[i], m)
				:: else
				fi;
				if	/* it may pass it a token where nobody else is left */
				:: IN(DOUBTS(m, i), m) -> ADD(barred[i], m)
				:: else
				fi;
#else
				withholds[i] = withholds[i] & ~(1 << m);
#if defined(MINTS) || defined(DURABLE)
				barred[i] = barred[i] & ~(1 << m);
#endif
#endif
				DOUBTS(m, i) = 0; SENT(m, i) = 0;
#ifdef SLOW
				slow[i] = slow[i] & ~(1 << m);
#endif
#ifndef BUG_REMEMBER
				SENT(i, m) = 0;
#endif
				i++
			od;
			i = 0
		:: else
		fi;
		m = 0 }
#ifdef WATCH
	/* A holder falls asleep, and wakes up again. */
	:: d_step { !lost && !named && !moving && !LIES(had[hop]) && had[hop] != 0 && sleeps < SLEEPS && tokens < TOKENS ->
		SAY(had[hop], SLEEP); sleeps++; asleep = 1; lost = 1; teller = had[hop] }
	:: d_step { asleep && !named -> SAY(had[hop], WAKE);
		asleep = 0; lost = 0; stalled = 0; turns = 0; answered = 0; teller = NOBODY }
	/* The liar says that it has the token, or another one. */
	:: d_step { lost && !named && !STALLS && !IN(given, LIAR) && !STRUCK(0, LIAR) ->
		SAY(LIAR, TELL); teller = LIAR }
	:: atomic { STALLS && !named -> SAY(teller, TURN); watches(); check(); v = 0 }
#endif
	/* The keeper makes another token. One that lies names what it likes, and when. */
	:: atomic { !named && lost && !STALLS ->	/* where the first one lies, the next one does it */
		x = had[hop]; s = (hop > 0 -> had[hop - 1] : NOBODY); at = hop;
		tells_all() }
#ifdef DELAYS
	:: atomic { !named && late -> x = had[hop]; s = had[hop - 1]; at = hop; replaced = 1; tells_all() }
#endif
	:: atomic { !named && LIES(0) && tokens < TOKENS ->
		select(m : 0 .. N - 1); x = m;
		select(m : 0 .. N - 1); s = m;
		select(m : 0 .. HOPS); at = m;
		m = 0; tells_all() }
	:: atomic { named && todo > 0 ->
		v = 0;
		do
		:: IN(todo, v) -> break
		:: else -> v++
		od;
		todo = todo & ~(1 << v);
		if
		:: LIES(v) -> skip
		:: else -> SAY(v, ASK);
#ifdef BUG_TRUST
			ADD(withholds[x], v)
#else
			asks()
#endif
		fi;
		v = 0;
		check() }
#ifdef DELAYS
	/* Those that have heard a denial ask once more. What was lost has come by then. */
	:: d_step { named && todo == 0 && again != 0 && !late -> todo = again; again = 0; second = 1 }
#endif
	/* The new token goes round. */
	:: atomic { named && todo == 0 && !WAITS ->
		named = 0; x = 0; s = 0; at = 0;
#ifdef DELAYS
		second = 0;
#endif
		if
		:: lost || REPLACED ->
			i = 0;
			do
			:: i > HOPS -> break
			:: else -> had[i] = 0; receipt[i] = 0; i++
			od;
			i = 0;
			do
			:: i == N -> break
			:: else -> newly[i] = 0;
#ifdef SLOW
				slow[i] = (LIES(i) -> slow[i] : 0);
#endif
				i++
			od;
			i = 0;
#ifdef DELAYS
			replaced = 0;
#endif
#ifdef MINTS
			dropped = 0; giver = 0;
#endif
#ifdef WATCH
			given = 0; asleep = 0; stalled = 0;
#endif
			hop = 0; lost = 0; moving = 0; forgot = 0
		:: else
		fi }
	od
}

init { atomic { run Group() } }
