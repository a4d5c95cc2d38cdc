/*
 * The handoff of one token between N nodes, over at most H hops.
 *
 * Rule numbers ("4.5") are those of the handoff rules: 3 is the sender, 4 the
 * receiver, 5 the order of durable writes, 6 forgetting, 7 the claims.
 *
 * Channel. Every message ever sent stays in a set from which it may be
 * delivered at any time, any number of times, or never. That is loss,
 * repetition, reordering and unbounded delay in one. A message that no
 * receiver can react to any more is taken out of the set (tidy), which changes
 * no behaviour and keeps the state space small.
 *
 * Identifiers. An ACCEPT carries a reservation id, rid = (inc, acc). Rules
 * look at a rid in two ways only: does its inc equal mine and is its acc at or
 * above the floor (else it is DEAD, for ever), and is it the rid of the
 * reservation I now have (CUR) or an earlier one (OLD)? So the model keeps
 * that class instead of the numbers. Therefore crashes need no bound. The
 * numbers themselves are the subject of floors.pml.
 *
 * Switches (-D), all optional:
 *   H=3        highest hop                       VOLMASK=0  bit n: node n is volatile
 *   CRASH=1    nodes crash at any time           VOIDS=1    receivers may answer VOID
 *   GIVEUPS=0  senders may give up               DROPS=0    policies may drop the token
 *   EXEC=1     operations run in custody         PREOFFER=1 OFFER while they run
 *   FLOORS=0   1: a floor may rise at any time   2: only over what is settled
 *   SYNC=0     1: memory and disk are apart, and the power may fail
 *   LATE=0     1: an OFFER still works when its sender no longer waits for an
 *              answer. Under the rules nothing reads what it brings about, so
 *              0 takes it out of the channel. With a trap it is 1.
 *   ONLY_CUSTODY  check nothing but custody
 *   REPLAY     takes the steps of a trace, and no others: see replay.pml
 *   TRAP_1 .. TRAP_10 (without 7: liveness.pml) and BUG_...: see README.md
 */

#ifdef REPLAY
#include "replay.pml"
#endif
#ifndef H
#define H 3
#endif
#ifndef VOLMASK
#define VOLMASK 0
#endif
#ifndef CRASH
#define CRASH 1
#endif
#ifndef VOIDS
#define VOIDS 1
#endif
#ifndef GIVEUPS
#define GIVEUPS 0
#endif
#ifndef DROPS
#define DROPS 0
#endif
#ifndef EXEC
#define EXEC 1
#endif
#ifndef PREOFFER
#define PREOFFER 1
#endif
#ifndef FLOORS
#define FLOORS 0
#endif
#ifndef SYNC
#define SYNC 0
#endif

#if defined(TRAP_1) || defined(TRAP_2) || defined(TRAP_3) || defined(TRAP_4) || defined(TRAP_5) || \
	defined(TRAP_6) || defined(TRAP_8) || defined(TRAP_9) || defined(TRAP_10)
#define LATE 1
#endif
#ifndef LATE
#define LATE 0
#endif

#ifndef N
#define N      3
#endif
#define NOBODY N

/* Record of (node, hop). RUN is HOLD with the flag EXEC. */
#define NONE    0
#define HOLD    1
#define RUN     2
#define SENT    3
#define CLOSED  4
#define DROPPED 5
#define VOIDED  6

/* Reservation, in RAM only. */
#define FREE   0
#define LIVE   1
#define LAPSED 2

/* Class of a rid; the ACCEPTs in the channel are a set of classes. */
#define CUR  1
#define OLD  2
#define DEAD 4

byte mem[N * (H + 1)];	/* the record as the node sees it */
#if SYNC
byte disk[N * (H + 1)];	/* the record after a power failure */
byte blind;		/* BUG_RESTART: nodes that trust what they read back */
#endif
byte res[N * (H + 1)];	/* reservation of (node, hop) */
byte acc[N * (H + 1)];	/* ACCEPTs of (node, hop) in the channel */
byte by[H + 1];		/* who got custody of the hop, by TAKE or RECLAIM */
bit  off[H + 1];	/* OFFER of the hop is in the channel (to everybody) */
byte to[H + 1];		/* TRANSFER of the hop: receiver */
byte rid[H + 1];	/* TRANSFER of the hop: class of the rid it names */
bit  wire[H + 1];	/* TRANSFER of the hop has left the sender */
bit  rcpt[H + 1];	/* RECEIPT for it is in the channel */
bit  declined[H + 1];	/* VOID for it is in the channel */
#ifdef TRAP_5
byte stale[H + 1];	/* nodes whose VOIDED belongs to an earlier TRANSFER */
#endif
bit  gone;		/* the token was found lost */

byte i, j, s, count;	/* scratch, 0 between steps */
bit alive, kept, excuse;

#define AT(n, k)     ((n) * (H + 1) + (k))
#define MEM(n, k)    mem[AT(n, k)]
#define RES(n, k)    res[AT(n, k)]
#define ACC(n, k)    acc[AT(n, k)]
#ifndef REPLAY
#define VOLATILE(n)  ((VOLMASK >> (n)) & 1)
#define ON(e)        1	/* any step, any number of times */
#define CLASS(c)     1
#define STEPS        do
#define ENDSTEPS     od
#define MAY_OFFER(n, h) (MEM(n, h) == HOLD || (PREOFFER && MEM(n, h) == RUN))
#define UNSYNCED(n, h)  (DISK(n, h) != MEM(n, h))
/* Is there a number above which a floor may rise? */
#define NUMBERED(n, k)  ((ACC(n, k) & (CUR | OLD)) || RES(n, k) != FREE || \
	(to[k] == n && rid[k] != 0 && rid[k] != DEAD))
#define NUMBERED_OLD(n, k) ((ACC(n, k) & OLD) || (to[k] == n && rid[k] == OLD))
#endif
#define CUSTODY(x)   ((x) == HOLD || (x) == RUN)
#define TAKEN(x)     ((x) != NONE && (x) != VOIDED)

#if SYNC
#define DISK(n, k)   disk[AT(n, k)]
/* The end of an operation need not be: until it is, it may seem to run again. */
#define SAME(x, y)   ((x) == (y) || (CUSTODY(x) && CUSTODY(y)))
#define SYNCED(n, k) (VOLATILE(n) || SAME(DISK(n, k), MEM(n, k)) || ((blind >> (n)) & 1))
#else
#define DISK(n, k)   MEM(n, k)
#define SYNCED(n, k) 1
#endif

/* May this node still take a TRANSFER that names a rid of this class? (4.4, 4.5) */
#if defined(TRAP_1)
#define USABLE(n, k, c) (RES(n, k) == LIVE && (c) == CUR)
#elif defined(TRAP_8)
#define USABLE(n, k, c) (RES(n, k) != FREE && (c) == CUR)
#elif defined(TRAP_2)
#define USABLE(n, k, c) ((c) != DEAD || RES(n, k) != FREE)
#elif defined(TRAP_4)
/* The floor record is made anew, at number 0, with the next ACCEPT. */
#define USABLE(n, k, c) (!VOLATILE(n) || RES(n, k) != FREE)
#else
#define USABLE(n, k, c) ((c) != DEAD)
#endif

/* What a sender must have on disk before the TRANSFER leaves, and so on. (5) */
#ifdef BUG_SEND
#define MAY_SEND(n, k) 1
#else
#define MAY_SEND(n, k) SYNCED(n, k)
#endif
#ifdef BUG_RECEIPT
#define MAY_RECEIPT(n, k) 1
#else
/* That custody was there is durable; whether it has been passed on need not be. */
#define MAY_RECEIPT(n, k) (SYNCED(n, k) || TAKEN(DISK(n, k)))
#endif
#ifdef BUG_VOID
#define MAY_VOID(n, k) 1
#else
#define MAY_VOID(n, k) SYNCED(n, k)
#endif

/* VOIDED, for the TRANSFER that is now under way. */
#ifdef TRAP_5
#define TOMBSTONE(n, k) (MEM(n, k) == VOIDED && !((stale[k] >> (n)) & 1))
#else
#define TOMBSTONE(n, k) (MEM(n, k) == VOIDED)
#endif

mtype = { sender, receiver, memory };
mtype = { START, GRANT, END, DROP, OFFER, RELEASE, RETRANSMIT, RECEIPT, VOID, GIVEUP, EXPIRE,
	TAKE, DECLINE, DUPLICATE, STALE, FORGET, FLOOR, FLOOR_OLD, NOT_HERE, FSYNC, CRASH_, POWER, KILL };

/*
 * Every step says what it is, for the reader of a trail; and with TABLE the
 * search prints which transitions it has met, for check.sh to compare.
 */
#ifdef TABLE
c_decl {
	static const char *step_machine, *step_event;
	static struct { const char *machine, *event; int from, to; } rows[256];
	static int rows_used;
}
byte from, into, where;
#define STATE_OF(m)							\
	if								\
	:: m == sender && mem[where] == RUN -> into = HOLD		\
	:: m == sender && mem[where] != RUN -> into = mem[where]	\
	:: m == receiver && mem[where] == NONE -> into = 10 + res[where] \
	:: m == receiver && mem[where] == VOIDED -> into = 13		\
	:: m == receiver && TAKEN(mem[where]) -> into = 14		\
	:: else								\
	fi
#define LOG(m, e, n, k)							\
	printf("%e %d hop %d: %e\n", m, n, k, e);			\
	where = AT(n, k); STATE_OF(m); from = into; step = m;		\
	c_code { step_machine = #m; step_event = #e; }
byte step;
inline row()
{
	STATE_OF(step);
	c_code {
		int r = 0;
		while (r < rows_used && (rows[r].from != now.from || rows[r].to != now.into ||
			strcmp(rows[r].event, step_event) || strcmp(rows[r].machine, step_machine)))
			r++;
		if (r == rows_used) {
			rows[r].machine = step_machine; rows[r].event = step_event;
			rows[r].from = now.from; rows[r].to = now.into;
			rows_used++;
			printf("ROW %s %d %s %d\n", step_machine, now.from, step_event, now.into);
		}
	};
	from = 0; into = 0; where = 0; step = 0
}
#else
#define LOG(m, e, n, k) printf("%e %d hop %d: %e\n", m, n, k, e)
#define row() skip
#endif

/* The class of every rid that node n gave for hop k moves from CUR to OLD. */
inline outdate(n, k)
{
	ACC(n, k) = (ACC(n, k) & (OLD | DEAD)) | ((ACC(n, k) & CUR) -> OLD : 0);
	if
	:: to[k] == n && rid[k] == CUR -> rid[k] = OLD
	:: else
	fi
}

/* Every rid that node n gave for hop k is dead: another inc, or a raised floor. */
inline kill(n, k)
{
	ACC(n, k) = (ACC(n, k) -> DEAD : 0);
	if
	:: to[k] == n && rid[k] != 0 -> rid[k] = DEAD
	:: else
	fi
}

/* The floor is above all but the newest of them. */
inline kill_old(n, k)
{
	ACC(n, k) = (ACC(n, k) & CUR) | ((ACC(n, k) & (OLD | DEAD)) -> DEAD : 0);
	if
	:: to[k] == n && rid[k] == OLD -> rid[k] = DEAD
	:: else
	fi
}

/* Take messages out of the channel to which nobody can react any more. */
inline tidy()
{
	i = 1;
	do
	:: i > H -> break
	:: else ->
		s = by[i - 1];
		if
		:: s != NOBODY && mem[AT(s, i - 1)] != SENT && DISK(s, i - 1) != SENT -> rcpt[i] = 0; declined[i] = 0
		:: else
		fi;
#ifndef TRAP_5
		if
		:: s != NOBODY && !CUSTODY(mem[AT(s, i - 1)]) && !CUSTODY(DISK(s, i - 1)) ->
			j = 0;
			do
			:: j == N -> break
			:: else ->
				acc[AT(j, i)] = 0;
#if !LATE
				res[AT(j, i)] = FREE;
#endif
				j++
			od;
#if !LATE
			off[i] = 0
#endif
		:: else
		fi;
#endif
		i++
	od
}

/*
 * count = custodies; alive = a message that is never dropped can still bring
 * the token back; kept = some node's memory brings it back, whatever the
 * channel drops.
 */
inline survey()
{
	count = 0; alive = 0; kept = 0;
	i = 0;
	do
	:: i > H -> break
	:: else ->
		j = 0;
		do
		:: j == N -> break
		:: else ->
			if
			:: CUSTODY(mem[AT(j, i)]) -> count++
			:: else
			fi;
			j++
		od;
		if
		:: i > 0 && to[i] != NOBODY ->
			s = by[i - 1];
			if
			:: mem[AT(to[i], i)] == NONE && USABLE(to[i], i, rid[i]) ->
				alive = (alive || wire[i] || mem[AT(s, i - 1)] == SENT);
				kept = (kept || mem[AT(s, i - 1)] == SENT)
			:: else
			fi;
			if
			:: mem[AT(s, i - 1)] == SENT && (declined[i] || TOMBSTONE(to[i], i)) -> alive = 1; kept = 1
			:: else
			fi
		:: else
		fi;
		i++
	od;
	alive = (alive || count > 0);
	kept = (kept || count > 0)
}

/*
 * The properties. ONLY_CUSTODY leaves the first one alone, so that a trap has
 * to break safety itself and not a weaker property on the way there.
 */
bit one_custody;	/* at most one custody */
bit lost_is_final;	/* what was found lost never comes back */
bit lost_only_by_V;	/* 7: the token is lost by V1 to V4 only */
bit never_lost;		/* 7, all durable, no give-up: some copy can be taken */
bit never_orphan;	/* 7, the same: and a member remembers it */
bit no_stale_take;	/* TAKE: the hop is nobody's yet */
bit no_wrong_reclaim;	/* RECLAIM: the hop is nobody's yet */
bit one_transfer;	/* 9: nothing that would convict an honest member */

#ifdef REPLAY
#define FLOOR_MAY_LOSE 0	/* the members whose traces these are promise */
#define intend() intended = 1
#else
#define FLOOR_MAY_LOSE 1
#define intend() skip
#endif

#ifdef ONLY_CUSTODY
#define CHECK(property, holds) skip
#else
#define CHECK(property, holds) property = (holds); assert(property); property = 0
#endif

/* The end of every step. why: is this step one of those that may lose a token? */
inline done(why)
{
	excuse = (why);
	row();
	tidy();
	survey();
	one_custody = (count <= 1);
	assert(one_custody);
	one_custody = 0;
#ifdef REPLAY
	CHECK(never_lost, alive || volmask != 0 || intended);
	CHECK(never_orphan, kept || volmask != 0 || intended);
#elif VOLMASK == 0 && GIVEUPS == 0 && DROPS == 0 && FLOORS != 1
	CHECK(never_lost, alive);
	CHECK(never_orphan, kept);
#endif
#if !SYNC
	CHECK(lost_is_final, !gone || !alive);
	CHECK(lost_only_by_V, alive || gone || excuse);
	gone = (gone || !alive);
#endif
	excuse = 0; i = 0; j = 0; s = 0; count = 0; alive = 0; kept = 0
}

/* RELEASE to r, with an ACCEPT of class c (3, S1: whoever sent it). */
#define RELEASE(r, c)							\
	:: d_step { ON(RELEASE) && CLASS(c) && MEM(n, h) == HOLD && r != n && (ACC(r, k) & c) -> \
		LOG(sender, RELEASE, n, h);					\
		CHECK(one_transfer, to[k] == NOBODY);			\
		MEM(n, h) = SENT; to[k] = r; rid[k] = c; wire[k] = 0;	\
		done(c == DEAD /* V2, at the release */) }

/* Custody h of node n; its TRANSFER has hop k = h+1. */
proctype Sender(byte n; byte h; byte k)
{
	STEPS
#if EXEC
	:: d_step { ON(START) && MEM(n, h) == HOLD -> LOG(sender, START, n, h); MEM(n, h) = RUN; done(0) }
	:: d_step { ON(END) && MEM(n, h) == RUN -> LOG(sender, END, n, h); MEM(n, h) = HOLD; done(0) }
#endif
#if DROPS
	:: d_step { ON(DROP) && MEM(n, h) == HOLD -> LOG(sender, DROP, n, h); MEM(n, h) = DROPPED; intend(); done(1) }
#endif
	:: d_step { ON(OFFER) && k <= H && !off[k] && SYNCED(n, h) && MAY_OFFER(n, h) ->
		LOG(sender, OFFER, n, h); off[k] = 1; done(0) }
#ifdef REPLAY
	RELEASE(peer, CUR)
	RELEASE(peer, OLD)
	RELEASE(peer, DEAD)
	/* The program of a grant starts. */
	:: d_step { ON(GRANT) && MEM(n, h) == RUN && (VOLATILE(n) || DISK(n, h) == RUN) ->
		LOG(sender, GRANT, n, h); done(0) }
#else
	RELEASE(0, CUR)
	RELEASE(0, OLD)
	RELEASE(0, DEAD)
	RELEASE(1, CUR)
	RELEASE(1, OLD)
	RELEASE(1, DEAD)
	RELEASE(2, CUR)
	RELEASE(2, OLD)
	RELEASE(2, DEAD)
#endif
	:: d_step { ON(RETRANSMIT) && MEM(n, h) == SENT && !wire[k] && MAY_SEND(n, h) ->
		LOG(sender, RETRANSMIT, n, h); wire[k] = 1; done(0) }
	:: d_step { ON(RECEIPT) && MEM(n, h) == SENT && rcpt[k] ->
		LOG(sender, RECEIPT, n, h); MEM(n, h) = CLOSED; done(0) }
	:: d_step { ON(VOID) && MEM(n, h) == SENT && declined[k] ->
		LOG(sender, VOID, n, h);
#ifdef TRAP_5
		MEM(n, h) = HOLD; stale[k] = stale[k] | (1 << to[k]); wire[k] = 0;
#ifdef EQUIVOCATE
		to[k] = NOBODY; rid[k] = 0;
#endif
#else
		CHECK(no_wrong_reclaim, by[k] == NOBODY);
		MEM(n, h) = CLOSED; MEM(n, k) = HOLD; by[k] = n;
#endif
		done(0) }
#if GIVEUPS
	:: d_step { ON(GIVEUP) && MEM(n, h) == SENT ->
		LOG(sender, GIVEUP, n, h);
#ifdef TRAP_9
		MEM(n, h) = CLOSED; MEM(n, k) = HOLD; by[k] = n; done(0)
#else
		s = to[k];
		/* V3; or orphaned with no copy. */
		excuse = (MEM(s, k) == VOIDED || declined[k] || !wire[k]);
		MEM(n, h) = CLOSED;
		done(excuse)
#endif
	}
#endif
#if SYNC
	:: d_step { ON(FSYNC) && !VOLATILE(n) && UNSYNCED(n, h) ->
		LOG(sender, FSYNC, n, h);
#ifndef BUG_RECLAIM
		if	/* RECLAIM is one record */
		:: k <= H && MEM(n, h) == CLOSED && DISK(n, h) != CLOSED && MEM(n, k) != NONE && by[k] == n ->
			DISK(n, k) = MEM(n, k)
		:: else
		fi;
		if
		:: h > 0 && by[h - 1] == n && by[h] == n && DISK(n, h) == NONE ->
			DISK(n, h - 1) = MEM(n, h - 1)
		:: else
		fi;
#endif
		DISK(n, h) = MEM(n, h);
		done(0) }
#endif
	ENDSTEPS
}

#ifdef TRAP_6
/* One record for each token: the new custody overwrites what was known. */
inline overwrite(n)
{
	i = 0;
	do
	:: i > H -> break
	:: else -> mem[AT(n, i)] = NONE; i++
	od
}
#else
#define overwrite(n) skip
#endif

#define ARRIVED (wire[k] && to[k] == n)

/* Node n as the receiver of hop k. */
proctype Receiver(byte n; byte k)
{
	STEPS
	/* OFFER: a new rid, or the same ACCEPT again. */
	:: d_step { ON(OFFER) && off[k] && by[k - 1] != n && MEM(n, k) == NONE && RES(n, k) != LIVE ->
		LOG(receiver, OFFER, n, k); RES(n, k) = LIVE; ACC(n, k) = ACC(n, k) | CUR; done(0) }
	/* Expiry and CANCEL. */
	:: d_step { ON(EXPIRE) && RES(n, k) == LIVE -> LOG(receiver, EXPIRE, n, k);
#ifdef TRAP_1
		RES(n, k) = FREE; outdate(n, k); done(0) }
#else
		RES(n, k) = LAPSED; done(0) }
#endif
	/* A reservation that has lapsed for long is forgotten: the floor stays. */
	:: d_step { ON(FORGET) && RES(n, k) == LAPSED && MEM(n, k) == NONE ->
		LOG(receiver, FORGET, n, k); RES(n, k) = FREE; outdate(n, k); done(0) }
	/* TRANSFER, 4.2 and 4.3: answer from the record. */
	:: d_step { ON(DUPLICATE) && ARRIVED && TAKEN(MEM(n, k)) && !rcpt[k] && MAY_RECEIPT(n, k) ->
		LOG(receiver, DUPLICATE, n, k); rcpt[k] = 1; done(0) }
	:: d_step { ON(DUPLICATE) && ARRIVED && TOMBSTONE(n, k) && !declined[k] && MAY_VOID(n, k) ->
		LOG(receiver, DUPLICATE, n, k); declined[k] = 1; done(0) }
	/* 4.4: UNKNOWN changes nothing. */
#if defined(REPLAY) || defined(TABLE)
	:: d_step { ON(STALE) && ARRIVED && MEM(n, k) == NONE && !USABLE(n, k, rid[k]) ->
		LOG(receiver, STALE, n, k); done(0) }
#endif
#ifdef TRAP_3
	:: d_step { ARRIVED && MEM(n, k) == NONE && !USABLE(n, k, rid[k]) && !declined[k] ->
		LOG(receiver, DUPLICATE, n, k); declined[k] = 1; done(0) }
#endif
#ifdef TRAP_10
	:: d_step { to[k] == n && MEM(n, k) == NONE && !declined[k] ->
		LOG(receiver, NOT_HERE, n, k); declined[k] = 1; done(0) }
#endif
	/* 4.5: take it, or decline it. */
	:: d_step { ON(TAKE) && ARRIVED && MEM(n, k) == NONE && USABLE(n, k, rid[k]) ->
		LOG(receiver, TAKE, n, k);
		CHECK(no_stale_take, by[k] == NOBODY);
		overwrite(n);
		MEM(n, k) = HOLD; by[k] = n; RES(n, k) = FREE; outdate(n, k); done(0) }
#if VOIDS
	:: d_step { ON(DECLINE) && ARRIVED && MEM(n, k) == NONE && USABLE(n, k, rid[k]) ->
		LOG(receiver, DECLINE, n, k);
		s = by[k - 1];
		excuse = (MEM(s, k - 1) != SENT); /* V3 */
		MEM(n, k) = VOIDED; RES(n, k) = FREE; outdate(n, k); done(excuse) }
#endif
#if FLOORS
	/* 6: raise the floor above the rids of this record, then delete it. */
	:: d_step { ON(FLOOR) && SYNCED(n, k) && NUMBERED(n, k) ->
		LOG(receiver, FLOOR, n, k);
		s = by[k - 1];
#if FLOORS == 2
		if
		/* Settled: the sender is through with this hop, or discards the ACCEPTs. */
		:: to[k] != n || (MEM(s, k - 1) == CLOSED && SYNCED(s, k - 1) && by[k] != NOBODY) ->
			kill(n, k); RES(n, k) = FREE; ACC(n, k) = 0
		:: else
		fi;
		done(0)
#else
		kill(n, k); RES(n, k) = FREE;
		done(FLOOR_MAY_LOSE) /* V4 */
#endif
		}
	/* The same, and the newest number is not below it. */
	:: d_step { ON(FLOOR_OLD) && SYNCED(n, k) && NUMBERED_OLD(n, k) ->
		LOG(receiver, FLOOR_OLD, n, k);
		s = by[k - 1];
#if FLOORS == 2
		if
		:: to[k] != n || (MEM(s, k - 1) == CLOSED && SYNCED(s, k - 1) && by[k] != NOBODY) ->
			kill_old(n, k); ACC(n, k) = ACC(n, k) & CUR
		:: else
		fi;
		done(0)
#else
		kill_old(n, k);
		done(FLOOR_MAY_LOSE) /* V4 */
#endif
		}
	:: d_step { ON(FORGET) && (MEM(n, k) == CLOSED || MEM(n, k) == DROPPED || MEM(n, k) == VOIDED) &&
		SYNCED(n, k) && to[k] == n && rid[k] == DEAD ->
		LOG(receiver, FORGET, n, k);
		s = by[k - 1];
		excuse = (MEM(n, k) == VOIDED); /* V4: the VOID is forgotten too */
		MEM(n, k) = NONE;
#if SYNC
		DISK(n, k) = NONE;
#endif
		done(excuse) }
#endif
	ENDSTEPS
}

/* V1, V2, V3 and a TRANSFER that never left: what the crash of a volatile node may lose. */
inline blame(n)
{
	excuse = 0;
	i = 0;
	do
	:: i > H -> break
	:: else ->
		excuse = excuse || CUSTODY(mem[AT(n, i)]);
		if
		:: i > 0 && to[i] == n && mem[AT(n, i)] == NONE && rid[i] != DEAD -> excuse = 1
		:: i > 0 && by[i - 1] == n && mem[AT(n, i - 1)] == SENT &&
			(!wire[i] || mem[AT(to[i], i)] == VOIDED || declined[i]) -> excuse = 1
		:: i > 0 && to[i] == n && mem[AT(n, i)] == VOIDED -> excuse = 1
		:: else
		fi;
		i++
	od
}

/* A volatile node loses all and comes back as another incarnation. */
inline amnesia(n)
{
	i = 0;
	do
	:: i > H -> break
	:: else ->
		mem[AT(n, i)] = NONE;
		res[AT(n, i)] = FREE;
#ifndef TRAP_4
		kill(n, i);
#endif
		i++
	od
}

/* A durable node loses its reservations. */
inline restart(n)
{
	i = 0;
	do
	:: i > H -> break
	:: else ->
		res[AT(n, i)] = FREE;
		outdate(n, i);
		i++
	od
}

#if SYNC
/* What was not synced is lost with the power. */
inline blackout(n)
{
	i = 0;
	do
	:: i > H -> break
	:: else ->
		if
		:: i < H && by[i] == n && disk[AT(n, i)] != SENT && disk[AT(n, i)] != CLOSED && !wire[i + 1] ->
			to[i + 1] = NOBODY; rid[i + 1] = 0
		:: else
		fi;
		if
		:: by[i] == n && mem[AT(n, i)] != NONE && disk[AT(n, i)] == NONE -> by[i] = NOBODY
		:: else
		fi;
		mem[AT(n, i)] = disk[AT(n, i)];
		i++
	od
}

/* What was written is read back, and synced before it is relied on. */
inline readback(n)
{
#ifdef BUG_RESTART
	blind = blind | (1 << n)
#else
	i = 0;
	do
	:: i > H -> break
	:: else ->
		disk[AT(n, i)] = mem[AT(n, i)];
		i++
	od
#endif
}
#endif

proctype Memory(byte n)
{
	STEPS
	:: d_step { ON(CRASH_) && VOLATILE(n) -> LOG(memory, CRASH_, n, 0); blame(n); amnesia(n); done(excuse) }
#if SYNC
	:: d_step { ON(POWER) && !VOLATILE(n) -> LOG(memory, POWER, n, 0);
		blackout(n); restart(n); blind = blind & (7 - (1 << n)); done(0) }
	:: d_step { ON(KILL) && !VOLATILE(n) -> LOG(memory, KILL, n, 0); readback(n); restart(n); done(0) }
#else
	:: d_step { !VOLATILE(n) -> LOG(memory, CRASH_, n, 0); restart(n); done(0) }
#endif
	ENDSTEPS
}

init {
	byte n, k;
	d_step {
		k = 0;
		do
		:: k > H -> break
		:: else -> by[k] = NOBODY; to[k] = NOBODY; k++
		od;
		mem[0] = HOLD;	/* node 0 generated the token */
#if SYNC
		disk[0] = HOLD;
#endif
		by[0] = 0;
		k = 0
	};
#ifdef REPLAY
	replay()
#else
	atomic {
		do
		:: n == N -> break
		:: else ->
#if CRASH
			run Memory(n);
#endif
			k = 0;
			do
			:: k == H -> break
			:: else -> run Sender(n, k, k + 1); run Receiver(n, k + 1); k++
			od;
			n++
		od;
		n = 0; k = 0
	}
#endif
}
