/*
 * The gate of a resource: who is let in, and that the last one is out.
 *
 * Members 0 and 1 are honest, member 2 lies and has an accomplice: it gives tokens away
 * while its session is open, shows old titles again, and titles with a hop that the two have
 * invented. Tokens 0 and 1 both live, one place at the gate is to be shared. A title is a token and a
 * hop; its holder is in "holder". The gate journals, runs its hooks and answers, and
 * may crash between any two of these. What really works at the resource is in "work":
 * the gate does not see it.
 *
 *   HOPS=2      of each token, with the first        TOKENS=2
 *   SESSIONS=3  KNOCKS=2  of the liar                CRASHES=1  FAILS=1  of hooks
 *   PLACES=2    of waiters                           LOSSES=0   of the journal
 *   Which rules of spec/gate.md this has: README.md
 *   BUG_...     see docs/exclusion.md
 */

#ifndef HOPS
#define HOPS 2
#endif
#ifndef TOKENS
#define TOKENS 2
#endif
#ifndef SESSIONS
#define SESSIONS 3
#endif
#ifndef KNOCKS
#define KNOCKS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FAILS
#define FAILS 1
#endif
#ifndef PLACES
#define PLACES 2
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#define N 3
#define LIAR 2
#define HONEST(m) (m != LIAR)
#define INVENTED HOPS			/* a hop that nobody has reached */
#define NOBODY 7
#define W(m, t) (m * TOKENS + t)
#define TITLE(t, h) (t * (HOPS + 1) + h)

/* truth */
byte hop[TOKENS];
byte holder[TOKENS * (HOPS + 1)];
bit work[N];				/* a session of m at the resource */
bit opener[N];				/* an open hook for m runs */
bit shown[TOKENS * (HOPS + 1)];		/* its holder has signed in with it since the last crash */
bit ran[TOKENS * (HOPS + 1)];		/* a session has opened under it */
bit busied[N];				/* the gate has said BUSY to m */

/* the gate's memory */
mtype = { IDLE, JOURNAL, OPENING, OPEN, CLOSING, STUCK, DOWN };
mtype st = IDLE;
byte who = NOBODY, wt, wh;		/* the session's member and title; it stays behind as the last one */
bit kept;				/* for the linked successor */
bit closing;				/* the close hook runs */
bit w[N * TOKENS];			/* waiters */
byte hopof[N * TOKENS];			/* and the hop of each */
byte over[N];				/* sessions since the honest m waits */
bit early[N * TOKENS];			/* it came before the end of its member's last session */

/* its journal */
bit jopen, jstuck;
byte jwho = NOBODY, jt, jh;
byte sessions;
byte served[N];				/* number of m's last session */
byte used[TOKENS * (HOPS + 1)];		/* number of the title's last session */
bit given[TOKENS * (HOPS + 1)];		/* its holder's own signature was seen, by which it gave the title away */
byte top[TOKENS];			/* greatest hop, for a switch only */
bit lost;				/* the journal was lost: shut */
bit failed;				/* close has failed, and the operator has not looked: truth */

byte knocks, crashes, fails, losses;
byte i, j, n, best;			/* scratch */
bit one_session, closed_first, own_successor, own_token, restart_closes, no_stall, no_stale, no_refusal, true_busy;
bit one_turn, stays_stuck;

mtype = { SIGN_IN, BUSY, REFUSE, CUT, RECORD, HOOK, OPENED, SIGN_OUT, CLOSE, CONFIRMED, FAILED, CRASH, RESTART, LOSS, PASS, KEPT, LAPSE, CHOSEN, CLAIM };
#define SAY(m, h, what) printf("member %d hop %d: %e\n", m, h, what)

/* Does the title (t, h) follow from the session's by the session member's own signature? A
 * permit has the last two transfers. */
#ifdef BUG_HOP_CUTS
#define FOLLOWS(t, h) (t == wt && h > wh)
#else
#define FOLLOWS(t, h) (who != NOBODY && t == wt && h != INVENTED && h > wh && h <= wh + 2)
#endif

#if TOKENS == 2
#define WAITS(m) (w[W(m, 0)] || w[W(m, 1)])
#else
#define WAITS(m) w[W(m, 0)]
#endif
/* a session that can still be cut */
#define SERVED (st == OPENING || st == OPEN)
/* a session of m that has not ended is under another token than t */
#define TURN(m, t) (who == m && wt != t && (st == JOURNAL || st == OPENING || st == OPEN || st == CLOSING))
#define WAITED (WAITS(0) || WAITS(1) || WAITS(LIAR))

/* number of the last session of others than m */
inline others(m)
{
	n = 0; i = 0;
	do
	:: i == N -> break
	:: else -> if :: i != m && served[i] > n -> n = served[i] :: else fi; i++
	od;
	i = 0
}

/* Is the member's title stale? best = 1 if so. */
inline stale(m, t, h)
{
	others(m);
	best = 0;
	if
	:: h != INVENTED && given[TITLE(t, h)] -> best = 1
#ifndef BUG_REUSE
	:: h != INVENTED && !given[TITLE(t, h)] && used[TITLE(t, h)] && n > used[TITLE(t, h)] -> best = 1
#endif
#ifdef BUG_HOP_STALE
	:: h < top[t] -> best = 1
#endif
	:: else
	fi;
	n = 0
}

inline refused(m, t, h)
{
	no_refusal = !(HONEST(m) && !ran[TITLE(t, h)] && hop[t] == h);
	assert(no_refusal);
	SAY(m, h, REFUSE)
}

/* A place for (m, t): a member that waits with another token too, then the one served last,
 * makes room. best = the waiter that has to go, or NOBODY. */
inline place(m, t)
{
	n = 0; i = 0; best = NOBODY;
	do
	:: i == N * TOKENS -> break
	:: else -> n = n + w[i]; i++
	od;
	if
	:: n > PLACES ->
#ifdef BUG_FULL
		best = W(m, t);
#else
		i = 0;
		do	/* a second one of a member */
		:: i == N -> break
		:: else -> if :: TOKENS == 2 && w[W(i, 0)] && w[W(i, (TOKENS - 1))] -> best = W(i, (TOKENS - 1)) :: else fi; i++
		od;
		if
		:: best == NOBODY ->
			i = 0;
			do
			:: i == N * TOKENS -> break
			:: else ->
				if
				:: w[i] && (best == NOBODY || served[i / TOKENS] > served[best / TOKENS]) -> best = i
				:: else
				fi;
				i++
			od
		:: else
		fi;
#endif
		j = best / TOKENS;
		w[best] = 0; early[best] = 0; over[j] = 0; SAY(j, hopof[best], REFUSE); hopof[best] = 0;
		i = 0;
		do	/* an honest member loses its last place only if the others are other members, served no later */
		:: i == N * TOKENS -> break
		:: else ->
			no_stall = !(HONEST(j) && !WAITS(j) && w[i] && (served[i / TOKENS] > served[j] ||
				(TOKENS == 2 && i / TOKENS != j && w[W((i / TOKENS), 0)] && w[W((i / TOKENS), (TOKENS - 1))])));
			assert(no_stall);
			i++
		od
	:: else
	fi;
	i = 0; n = 0; j = 0; best = 0
}

inline sign_in(m, t, h)
{
	SAY(m, h, SIGN_IN);
	stale(m, t, h);
	if
	:: best -> best = 0; refused(m, t, h)
#if !defined(BUG_TWO_TURNS) && !defined(BUG_ANY_TOKEN_CUTS)
	:: !best && TURN(m, t) -> SAY(m, h, REFUSE)	/* a member has one turn, however many tokens it has */
#endif
	:: else ->
#ifdef BUG_REFUSED_COUNTS
		if :: h != INVENTED && !used[TITLE(t, h)] -> used[TITLE(t, h)] = sessions + 1 :: else fi;
#endif
		if
		:: SERVED && who != m && FOLLOWS(t, h) ->
			own_successor = !(HONEST(who) && !(h != INVENTED && hop[t] > wh));
			assert(own_successor);
			st = CLOSING; SAY(who, wh, CUT)
#ifdef BUG_ANY_TOKEN_CUTS
		:: SERVED && who == m -> own_token = (t == wt); assert(own_token); st = CLOSING; SAY(who, wh, CUT)
#else
		:: SERVED && who == m && t == wt -> st = CLOSING; SAY(who, wh, CUT)
#endif
		:: else -> busied[m] = 1; SAY(m, h, BUSY)
		fi;
		w[W(m, t)] = 1; hopof[W(m, t)] = h; over[m] = 0; early[W(m, t)] = TURN(m, t);
		place(m, t)
	fi
}

/* Is a linked successor among the waiters? best = 1 if so. */
inline linked()
{
	best = 0; i = 0;
	do
	:: i == N * TOKENS -> break
	:: else -> if :: w[i] && FOLLOWS((i % TOKENS), hopof[i]) -> best = 1 :: else fi; i++
	od;
	i = 0
}

/* best = the waiter that opens */
inline choose()
{
	best = NOBODY; i = 0;
	do
	:: i == N * TOKENS -> break
	:: else ->
		if
#ifdef BUG_TOKEN_ORDER	/* the token with the lower number has precedence, then the member with the higher one */
		:: w[i] && (best == NOBODY || i % TOKENS < best % TOKENS || (i % TOKENS == best % TOKENS && i > best)) -> best = i
#else
		:: w[i] && (best == NOBODY || served[i / TOKENS] < served[best / TOKENS]) -> best = i
#endif
		:: else
		fi;
		i++
	od;
	i = 0
}

/* The record of the session that opens is durable. */
inline record()
{
	jopen = 1; jwho = who; jt = wt; jh = wh;
	sessions++;
	served[who] = sessions;
	if
	:: wh != INVENTED ->
		used[TITLE(wt, wh)] = sessions; ran[TITLE(wt, wh)] = 1;
		/* the permit shows the signatures of those that held the token before */
		if :: wh >= 1 -> given[TITLE(wt, (wh - 1))] = 1 :: else fi;
		if :: wh >= 2 -> given[TITLE(wt, (wh - 2))] = 1 :: else fi
	:: else
	fi;
#ifdef BUG_HOP_STALE
	if :: wh > top[wt] -> top[wt] = wh :: else fi;
#endif
#if TOKENS == 2	/* what else the member has waiting */
#ifdef BUG_TWO_TURNS
	early[W(who, (1 - wt))] = w[W(who, (1 - wt))];
#else
	w[W(who, (1 - wt))] = 0; hopof[W(who, (1 - wt))] = 0;
#endif
#endif
	over[who] = 0; i = 0;
	do
	:: i == LIAR -> break
	:: else ->
		if
		:: i != who && WAITS(i) -> over[i]++; no_stall = (over[i] < N); assert(no_stall)
		:: else
		fi;
		i++
	od;
	i = 0;
	SAY(who, wh, RECORD)
}

/* The open hook begins. */
inline hook()
{
	closed_first = !(work[0] || work[1] || work[2] || opener[0] || opener[1] || opener[2]);
	assert(closed_first);
	opener[who] = 1; SAY(who, wh, HOOK)
}

inline forget()
{
	w[0] = 0; w[1] = 0; w[2] = 0;
	hopof[0] = 0; hopof[1] = 0; hopof[2] = 0;
	early[0] = 0; early[1] = 0; early[2] = 0;
#if TOKENS == 2
	w[3] = 0; w[4] = 0; w[5] = 0;
	hopof[3] = 0; hopof[4] = 0; hopof[5] = 0;
	early[3] = 0; early[4] = 0; early[5] = 0;
#endif
	over[0] = 0; over[1] = 0;
	i = 0;
	do
	:: i == TOKENS * (HOPS + 1) -> break
	:: else -> shown[i] = 0; i++
	od;
	i = 0;
	kept = 0; closing = 0
}

#define UP (st != DOWN)
#define IN(m) (st == OPEN && who == m)

proctype Member(byte m)
{
	byte t, h;
end:	do
	/* honest: signs in once with the title that it has */
	:: atomic { HONEST(m) && UP && sessions < SESSIONS ->
		t = 0;
		do
		:: t < TOKENS - 1 -> t++
		:: break
		od;
		if
		:: holder[TITLE(t, hop[t])] == m && !shown[TITLE(t, hop[t])] ->
			shown[TITLE(t, hop[t])] = 1; d_step { sign_in(m, t, hop[t]) }
		:: else
		fi;
		t = 0 }
	/* the liar: any title that it has had, and one that is invented */
	:: atomic { m == LIAR && UP && knocks < KNOCKS ->
		t = 0;
		do
		:: t < TOKENS - 1 -> t++
		:: break
		od;
		h = INVENTED;
		do
		:: h > 0 -> h--
		:: break
		od;
		if
		:: h == INVENTED || (h <= hop[t] && holder[TITLE(t, h)] == m) -> knocks++; d_step { sign_in(m, t, h) }
		:: else
		fi;
		t = 0; h = 0 }
	/* signs out, or its connection is lost */
	:: d_step { IN(m) -> st = CLOSING; SAY(m, wh, SIGN_OUT) }
	/* passes on: an honest member not while it waits or works with that token */
	:: atomic { t = 0;
		do
		:: t < TOKENS - 1 -> t++
		:: break
		od;
		if
		:: holder[TITLE(t, hop[t])] == m && hop[t] < HOPS - 1 &&
		   (m == LIAR || !(w[W(m, t)] || (who == m && wt == t && wh == hop[t] && (st == JOURNAL || st == OPENING || st == OPEN)))) ->
			hop[t]++;
			if
			:: holder[TITLE(t, hop[t])] = (m + 1) % N
			:: holder[TITLE(t, hop[t])] = (m + 2) % N
			fi;
			SAY(m, hop[t], PASS)
		:: else
		fi;
		t = 0 }
	/* the liar excuses itself by a BUSY that watchers ask to see */
#ifdef BUG_UNSIGNED
	:: d_step { m == LIAR && knocks < KNOCKS && !busied[m] -> knocks++; SAY(m, 0, CLAIM); true_busy = busied[m]; assert(true_busy) }
#else
	:: d_step { m == LIAR && knocks < KNOCKS && busied[m] -> knocks++; SAY(m, 0, CLAIM); true_busy = busied[m]; assert(true_busy); busied[m] = 0 }
#endif
	od
}

/* What a hook that was begun does to the resource, whether the gate is up or not. */
proctype Resource()
{
	byte m;
end:	do
	:: atomic { opener[0] || opener[1] || opener[2] ->
		m = 0;
		do
		:: m < N - 1 -> m++
		:: break
		od;
		if
		:: opener[m] -> opener[m] = 0; work[m] = 1;
			one_session = !(work[(m + 1) % N] || work[(m + 2) % N]);
			assert(one_session)
		:: else
		fi;
		m = 0 }
	od
}

proctype Gate()
{
end:	do
	/* chooses among the waiters, once the slot is not kept any more */
	:: d_step { st == IDLE && !kept && !lost && sessions < SESSIONS && WAITED ->
		choose();
		one_turn = !early[best];
		assert(one_turn);
		early[best] = 0;
		wt = best % TOKENS; wh = hopof[best]; who = best / TOKENS;
		w[best] = 0; hopof[best] = 0; best = 0;
		stale(who, wt, wh);	/* it may have become so meanwhile */
		if
		:: best -> best = 0; SAY(who, wh, REFUSE); who = jwho; wt = jt; wh = jh
		:: else ->
			others(who);
			no_stale = !(wh != INVENTED && (given[TITLE(wt, wh)] || (used[TITLE(wt, wh)] && n > used[TITLE(wt, wh)])));
			n = 0;
			assert(no_stale);
			st = JOURNAL; SAY(who, wh, CHOSEN)
		fi }
	/* OPENING is durable before the hook */
#ifdef BUG_HOOK_FIRST
	:: d_step { st == JOURNAL && !opener[who] && !work[who] -> hook() }
	:: d_step { st == JOURNAL && (opener[who] || work[who]) -> record(); st = OPENING }
#else
	:: d_step { st == JOURNAL -> record(); st = OPENING; hook() }
#endif
	/* the hook has ended, well or not; it is killed when its time is over */
	:: d_step { st == OPENING && !opener[who] && work[who] -> st = OPEN; SAY(who, wh, OPENED) }
	:: d_step { st == OPENING && fails < FAILS -> fails++;
#ifndef BUG_LATE_OPEN
		opener[who] = 0;
#endif
		st = CLOSING; SAY(who, wh, FAILED) }
	/* the deadline */
	:: d_step { st == OPEN -> st = CLOSING; SAY(who, wh, LAPSE) }
	/* close */
	:: d_step { st == CLOSING && !closing -> closing = 1; stays_stuck = !failed; assert(stays_stuck); SAY(who, wh, CLOSE) }
#ifdef BUG_CUT_ONLY	/* the connection is cut, and the work goes on */
	:: d_step { st == CLOSING && closing -> closing = 0; jopen = 0; st = IDLE; kept = 1; SAY(who, wh, CONFIRMED) }
	:: d_step { work[0] -> work[0] = 0 }
	:: d_step { work[1] -> work[1] = 0 }
	:: d_step { work[2] -> work[2] = 0 }
#else
	:: d_step { st == CLOSING && closing ->
#ifndef BUG_LATE_OPEN
		opener[who] = 0;	/* an open hook that a crash left is killed first */
#endif
		work[who] = 0; closing = 0;
		restart_closes = !(work[0] || work[1] || work[2]);
		assert(restart_closes);
		jopen = 0; jstuck = 0; st = IDLE; kept = 1; SAY(who, wh, CONFIRMED) }
#endif
	/* or it fails, or hangs until its time is over */
	:: d_step { st == CLOSING && closing && fails < FAILS -> fails++; closing = 0;
#ifdef BUG_FAILED_OPENS
		jopen = 0; st = IDLE; kept = 1;
#else
		st = STUCK; jstuck = 1; failed = 1;
#endif
		SAY(who, wh, FAILED) }
	/* the operator */
	:: d_step { st == STUCK -> failed = 0; st = CLOSING }
	/* the slot is kept until the successor is there, or for a while */
	:: d_step { st == IDLE && kept -> kept = 0; SAY(NOBODY, 0, KEPT) }
	/* a crash between any two of these, and the restart */
	:: d_step { UP && crashes < CRASHES -> crashes++; forget(); st = DOWN;
		who = jwho; wt = jt; wh = jh; SAY(NOBODY, 0, CRASH) }
	:: d_step { st == DOWN -> SAY(NOBODY, 0, RESTART);
#ifdef BUG_RESTART_SERVES
		jopen = 0;
#endif
		if
#ifndef BUG_STUCK_FORGOTTEN
		:: jstuck -> st = STUCK	/* also if the operator has looked, and close has not confirmed */
		:: !jstuck && jopen -> st = CLOSING
#else
		:: jopen -> st = CLOSING
#endif
		:: else -> st = IDLE;
			restart_closes = (lost || !(work[0] || work[1] || work[2] || opener[0] || opener[1] || opener[2]));
			assert(restart_closes)
		fi }
#if LOSSES
	/* the journal is lost with the crash: nothing opens for max_hold + settle, while what there is
	 * reaches its deadline, in the kernel */
	:: d_step { st == DOWN && losses < LOSSES -> losses++;
		i = 0;
		do
		:: i == TOKENS * (HOPS + 1) -> break
		:: else -> used[i] = 0; given[i] = 0; ran[i] = 0; i++
		od;
		i = 0; served[0] = 0; served[1] = 0; served[2] = 0;
		jopen = 0; jstuck = 0; failed = 0; jwho = NOBODY; who = NOBODY; wt = 0; wh = 0; jt = 0; jh = 0;
#ifndef BUG_LOST_SERVES
		lost = 1;
#endif
		SAY(NOBODY, 0, LOSS) }
	:: d_step { st == IDLE && lost -> work[0] = 0; work[1] = 0; work[2] = 0; opener[0] = 0; opener[1] = 0; opener[2] = 0; lost = 0; SAY(NOBODY, 0, LAPSE) }
#endif
	od
}

init
{
	atomic {
		holder[TITLE(0, 0)] = LIAR;
#if TOKENS == 2
		holder[TITLE(1, 0)] = 0;
#endif
		run Member(0); run Member(1); run Member(LIAR); run Resource(); run Gate();
		timeout;
	}
	no_stall = !(UP && st != STUCK && sessions < SESSIONS && (WAITS(0) || WAITS(1)));
	assert(no_stall)
}
