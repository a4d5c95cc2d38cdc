/*
 * Who is in doubt with whom, where connections break and members begin anew.
 *
 * S passes a token to X, and has no receipt. S says "sent", and X says "never". One of the two lies, or X has forgotten
 * the token. Each other member asks both. It counts a *doubt* between the two if neither a cut nor a restart explains what they
 * say. Who is in doubt with two others is struck, and so is a sender that is so twice with one receiver. So an honest sender
 * has to know when others count a doubt, and pass that receiver nothing more.
 *
 * A member is *steady* to another one since the pass if the two have had one connection since before it. S says "sent" with a
 * *span* if X is steady to S. An explanation without a proof is an *excuse*; from the second one on a member is barred, as
 * in excuses.pml.
 *
 *   N=3         members
 *   LIAR=1      which lies (N: nobody). A liar gets tokens and loses them, says that it never had them, that it has passed
 *               them to others, and that it has begun anew. It says something else to each
 *   SENDERS=3   members that pass tokens, from 0 on
 *   PASSES=2    without a receipt
 *   RESTARTS=1  honest members that restart, forget everything, and connect with all others again
 *   CONFIGS=1   members that adopt new parameters: they forget everything, and stay connected
 *   SENDERS_ANEW  senders of a pass adopt them, too
 *   CONNECTS=2  connections of the liar to one other member that break and begin again
 *   PROMPT      Each token that is lost is asked about by all before the next one is passed to the liar. few_losses
 *   LOSSES=4    tokens that honest members lose then, at most. Who is barred for its excuses gets a token only without PROMPT
 *   CUTS=0      transfers between honest members that a cut between the two loses
 *   BUG_...     see README.md
 *
 * Time is left out: nothing that is counted is forgotten. What two members say counts when they say it again 3 L later, so
 * a transfer between honest members has come by then.
 */

#ifndef N
#define N 3
#endif
#ifndef SENDERS
#define SENDERS N
#endif
#ifndef LIAR
#define LIAR 1
#endif
#ifndef PASSES
#define PASSES 2
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef CONFIGS
#define CONFIGS 1
#endif
#ifndef CONNECTS
#define CONNECTS 2
#endif
#ifndef LOSSES
#define LOSSES 4
#endif
#ifndef CUTS
#define CUTS 0
#endif

#define ALL ((1 << N) - 1)
#define ADD(set, n) set = set | (1 << (n))
#define DEL(set, n) set = set & ~(1 << (n))
#define IN(set, n) (((set) >> (n)) & 1)

/* The passes. */
byte passes;			/* so many */
byte from[PASSES], to[PASSES];
bit gone[PASSES];		/* the receiver says that it never had it */
bit begun[PASSES];		/* as it has begun anew since */
bit forgot[PASSES];		/* the sender knows nothing of it any more */
bit pardon[PASSES];		/* the sender has excused the receiver */
bit told[PASSES];		/* the sender has said sent with a span to somebody */
byte cut[PASSES * N];		/* set of members that have connected with v since this pass began */
#define CUT(v, q) cut[(q) * N + (v)]
#define STEADY(v, m, q) (!IN(CUT(v, q), m))

/* What each member knows and counts. */
#define NOTHING 0
#define SENT    1		/* sent, with span 0 */
#define SPAN    2		/* with a span */
byte said[PASSES * N];		/* what the sender has said to v */
bit over[PASSES * N];		/* v has concluded this one */
byte doubt[PASSES * N];		/* v counts a doubt: SENT or SPAN, as the sender said */
bit since[PASSES * N];		/* and the sender is steady to v since */
byte struck[N], firm[N], barred[N];	/* sets of members: struck; barred for v's own pass; barred for excuses */
byte excuses[N * N];		/* of v about m */
byte explained[N * N];		/* set of passes that the last one explains */
#define AT(v, q) [(q) * N + (v)]
#define OF(v, m) [(v) * N + (m)]

byte restarts, configs, connects, cuts, losses;
byte i, j, q, n, s, x, v;
bit knew, steady, no_false, few_losses;

mtype = { PASS, RESTART, CONFIG, CONNECT, CUT_OFF, HEAR, CONCLUDE };
#define SAY(m, p, what) printf("member %d pass %d: %e\n", m, p, what)

/* Does S owe nothing, and does it pass X another token? X owes it a receipt until S has concluded. */
#ifdef BUG_PASS_OWED
#define OWES(p, a, b) 0
#else
#define OWES(p, a, b) ((p) < passes && from[p] == (a) && to[p] == (b) && gone[p] && !forgot[p] && !over AT(a, p))
#endif
/* Who is barred for its excuses gets a token where nobody else is left, which may always be so. */
#ifdef PROMPT
#define SHUNS(a, b) IN(struck[a] | firm[a] | barred[a], b)
#else
#define SHUNS(a, b) IN(struck[a] | firm[a], b)
#endif

/* One of two members connects with the other one again. */
inline sees(a, b)
{
	i = 0;
	do
	:: i == PASSES -> break
	:: else ->
		if
		:: i < passes && (from[i] == b || to[i] == b) && (from[i] == a || !over AT(a, i)) -> ADD(CUT(a, i), b)
		:: else
		fi;
		if
		:: from[i] == b -> since AT(a, i) = 0
#ifndef BUG_OLD_WORD
			; said AT(a, i) = NOTHING
#endif
		:: else
		fi;
		i++
	od;
#ifdef BUG_SAME_CONNECTION
	explained OF(a, b) = 0
#endif
}

inline forgets(m)
{
	i = 0;
	do
	:: i == PASSES -> break
	:: else ->
		said AT(m, i) = NOTHING; over AT(m, i) = 0; doubt AT(m, i) = 0; since AT(m, i) = 0;
		if
		:: i < passes -> CUT(m, i) = (1 << from[i]) | (1 << to[i])	/* it has seen nobody since before */
		:: else
		fi;
		if
		:: i < passes && from[i] == m -> forgot[i] = 1
		:: i < passes && to[i] == m -> gone[i] = 1; begun[i] = 1
		:: else
		fi;
		i++
	od;
	struck[m] = 0; firm[m] = 0; barred[m] = 0; j = 0;
	do
	:: j == N -> break
	:: else -> excuses OF(m, j) = 0; explained OF(m, j) = 0; j++
	od
}

/* v counts an excuse of m, for pass q. The second one bars m. One explains all passes before it. */
inline excused(m)
{
#ifdef PROMPT
	if
#ifdef BUG_SAME_CONNECTION
	:: explained OF(v, m) != 0	/* it has not connected since the last one */
#else
	:: IN(explained OF(v, m), q)
#endif
	:: else ->
		explained OF(v, m) = (1 << passes) - 1;
		if
		:: excuses OF(v, m) == 0 -> excuses OF(v, m) = 1
		:: else -> ADD(barred[v], m)
		fi
	fi
#else
	skip
#endif
}

/* With how many others is m in doubt, as v sees it? In n. */
inline partners(m)
{
	i = 0; n = 0;
	do
	:: i == PASSES -> break
	:: else ->
		if
		:: doubt AT(v, i) && from[i] == m && !IN(struck[v], to[i]) -> ADD(n, to[i])
		:: doubt AT(v, i) && to[i] == m && !IN(struck[v], from[i]) -> ADD(n, from[i])
		:: else
		fi;
		i++
	od
}
#define TWO(set) (((set) & ((set) - 1)) != 0)

#if defined(BUG_X_UNSTEADY) || defined(BUG_LATE_INQUEST)
#define X_STEADY 1
#else
#define X_STEADY STEADY(v, x, q)
#endif

/* What an honest sender says of pass q. */
#ifdef BUG_SAYS_UNBROKEN
#define HONEST_WORD SPAN
#elif defined(BUG_SAYS_EXCUSED)
#define HONEST_WORD (STEADY(s, to[q], q) -> SPAN : SENT)
#else
#define HONEST_WORD (STEADY(s, to[q], q) && !pardon[q] -> SPAN : SENT)
#endif

/* The receiver of pass q says never to v, and v has heard its sender. */
inline concludes()
{
	if
	:: v == s && knew && STEADY(s, x, q) -> ADD(firm[s], x)
	:: v == s && !(knew && STEADY(s, x, q)) ->
		excused(x); pardon[q] = 1;
		if
#if defined(BUG_FORGETS_TOLD)
#elif defined(BUG_TOLD_KNEW)
		:: knew && told[q] -> ADD(firm[s], x)
#else
		:: told[q] -> ADD(firm[s], x)
#endif
		:: else
		fi
	:: v == x ->			/* it says that it has sent v the token */
		if
		:: STEADY(v, s, q) && knew -> ADD(struck[v], s)
		:: else
		fi
	:: v != s && v != x ->
		steady = STEADY(v, s, q) || said AT(v, q) == SPAN;
		if
		:: steady && X_STEADY && knew -> counts()
		:: steady && !(X_STEADY && knew) -> excused(x)
#ifdef BUG_UNSTEADY_SENDER
		:: !steady
#else
		:: !steady -> excused(s)
#endif
		fi
	fi
}

inline counts()
{
	i = 0; n = 0;
	do
	:: i == PASSES -> break
	:: else ->
		if
		:: i != q && doubt AT(v, i) && from[i] == s && to[i] == x && since AT(v, i) -> n = doubt AT(v, i)
		:: else
		fi;
		i++
	od;
	doubt AT(v, q) = said AT(v, q); since AT(v, q) = 1;
	if
#ifdef BUG_TWICE_ALWAYS
	:: n != 0 -> ADD(struck[v], s)
#elif defined(BUG_FIRST_COUNTED)
	:: n == SPAN -> ADD(struck[v], s)
	:: n == SENT -> excused(s)
#else
	:: n == SPAN && doubt AT(v, q) == SPAN -> ADD(struck[v], s)
	:: n == SENT || n == SPAN && doubt AT(v, q) == SENT -> excused(s)
#endif
	:: n == 0
	fi;
	partners(s);
	if
	:: TWO(n) -> ADD(struck[v], s)
	:: else
	fi;
	partners(x);
	if
	:: TWO(n) -> ADD(struck[v], x)
	:: else
	fi
}

inline check()
{
	no_false = 1; i = 0;
	do
	:: i == N -> break
	:: else -> no_false = no_false && (i == LIAR || (struck[i] & ALL & ~(1 << LIAR)) == 0); i++
	od;
	assert(no_false);
	no_false = 0; i = 0; j = 0; q = 0; n = 0; s = 0; x = 0; v = 0; knew = 0; steady = 0
}

/* Have all honest members concluded what they count against the liar? */
inline settled()
{
	i = 0;
	do
	:: i == PASSES -> break
	:: else ->
		j = 0;
		do
		:: j == N -> break
		:: else ->
			n = n && (i >= passes || !gone[i] || j == LIAR || over AT(j, i) || SHUNS(j, LIAR)
				|| forgot[i] || from[i] != LIAR && to[i] != LIAR);
			j++
		od;
		i++
	od
}

proctype Group()
{
end:	do
	/* A member passes another one a token, and gets no receipt. */
	:: atomic { passes < PASSES ->
		select(s : 0 .. SENDERS - 1); select(x : 0 .. N - 1);
#ifdef PROMPT
		/* The liar says that it has passed on what member v has passed to it. */
		select(v : 0 .. N - 1);
#endif
		d_step {
		i = 0; n = s != x;
		do
		:: i == PASSES -> break
		:: else -> n = n && !OWES(i, s, x); i++
		od;
		n = s != x && (s == LIAR || n && !SHUNS(s, x));
#ifdef PROMPT
		n = n && (s == LIAR && v != LIAR && !SHUNS(v, LIAR) || s == v && x == LIAR);
		settled();
#endif
		if
		:: n -> SAY(s, passes, PASS); from[passes] = s; to[passes] = x; gone[passes] = (s == LIAR || x == LIAR); passes++;
#ifdef PROMPT
			losses++; few_losses = losses <= LOSSES;
			assert(few_losses);
			few_losses = 0
#endif
		:: else
		fi;
		check() } }
	/* An honest member restarts. */
	:: atomic { restarts < RESTARTS && passes > 0 ->
		select(v : 0 .. N - 1);
		d_step {
		if
		:: v != LIAR -> SAY(v, passes, RESTART); restarts++; forgets(v); s = 0;
			do
			:: s == N -> break
			:: else ->
				if
				:: s != v && s != LIAR -> sees(s, v)
				:: else
				fi;
				s++
			od
		:: else
		fi;
		check() } }
	/* Or adopts new parameters. */
	:: atomic { configs < CONFIGS && passes > 0 ->
		select(v : 0 .. N - 1);
		d_step {
		i = 0; n = 1;
		do
		:: i == PASSES -> break
#ifndef SENDERS_ANEW
		:: i < passes && from[i] == v -> n = 0; i++
		:: !(i < passes && from[i] == v) -> i++
#else
		:: i < PASSES -> i++
#endif
		od;
		if
		:: v != LIAR && n -> SAY(v, passes, CONFIG); configs++; forgets(v)
		:: else
		fi;
		check() } }
	/* The liar connects with one member again. */
	:: atomic { connects < CONNECTS && passes > 0 ->
		select(v : 0 .. N - 1);
		d_step {
		if
		:: v != LIAR -> SAY(v, passes, CONNECT); connects++; sees(v, LIAR)
		:: else
		fi;
		check() } }
	/* A cut of two honest members: the transfer never comes. */
	:: atomic { cuts < CUTS && passes > 0 ->
		select(q : 0 .. passes - 1);
		d_step {
		if
		:: !gone[q] -> SAY(to[q], q, CUT_OFF); cuts++; gone[q] = 1; sees(from[q], to[q]); sees(to[q], from[q])
		:: else
		fi;
		check() } }
	/* A member hears the sender of a pass. */
	:: atomic { passes > 0 ->
		select(v : 0 .. N - 1); select(q : 0 .. passes - 1); select(n : SENT .. SPAN);
		d_step {
		s = from[q];
		if
		:: v != s && v != LIAR && !over AT(v, q) && !forgot[q] && (s == LIAR || n == HONEST_WORD) ->
			SAY(v, q, HEAR); said AT(v, q) = n; told[q] = told[q] || n == SPAN && s != LIAR
		:: else
		fi;
		check() } }
	/* It hears the receiver then, which says never. */
	:: atomic { passes > 0 ->
		select(v : 0 .. N - 1); select(q : 0 .. passes - 1); select(n : 0 .. 1);
		d_step {
		s = from[q]; x = to[q]; knew = n;
		if
		:: v != LIAR && gone[q] && !over AT(v, q) && (v == s && !forgot[q] || v != s && said AT(v, q) != NOTHING) && (x == LIAR || n != begun[q]) ->
			SAY(v, q, CONCLUDE);
#if defined(BUG_BEGUN_ANEW) || defined(BUG_LATE_INQUEST)
			knew = 1;
#endif
			concludes(); over AT(v, q) = 1; said AT(v, q) = NOTHING;
			CUT(v, q) = (v == s -> CUT(v, q) : 0)
		:: else
		fi;
		check() } }
	od
}

init { atomic { run Group() } }
