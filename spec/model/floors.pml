/*
 * How receiver R forgets, with the numbers themselves: acc, floor, settled.
 *
 * R is durable and keeps its records of J handoffs, each one (token, hop) that
 * some sender passes to R. Handoffs 0 and 1 come from sender 0, handoff 2 from
 * sender 1. As in handoff.pml every message ever sent may be delivered at any
 * time, any number of times, or never. Rule numbers are those of the handoff
 * rules; rule 1 defines acc, floor and settled.
 *
 *   J=3         handoffs                 A=4         numbers that R can give
 *   DEATH=0     1: a sender's id may die, its floor then goes up to the next number
 *   LOSS=0      1: R may lose its journal once and come back with a new inc
 *   ALL         nothing is taken out of the channel (always so with a BUG_)
 *   BUG_...     see README.md
 */

#ifndef J
#define J 3
#endif
#ifndef A
#define A 4
#endif
#ifndef DEATH
#define DEATH 0
#endif
#ifndef LOSS
#define LOSS 0
#endif

#if defined(BUG_NO_FLOOR) || defined(BUG_BELOW) || defined(BUG_PROMISE) || defined(BUG_IN_HAND) || \
	defined(BUG_DELETE_FIRST) || defined(BUG_FLOOR_ZERO) || defined(BUG_RESET) || \
	defined(BUG_RAISE_CREATES) || defined(BUG_INCARNATION)
#define ALL
#endif

#define SENDERS   2
#define SENDER(j) ((j) / 2)

/* Sender's record. PENDING is CLOSED that is not yet durable. */
#define HOLD    0
#define SENT    1
#define PENDING 2
#define CLOSED  3

/* R's record: HELD covers HOLD and SENT, which are never deleted. */
#define NONE   0
#define HELD   1
#define PASSED 2
#define VOIDED 3

#define ABSENT 15		/* no floor record */
#define NOBODY A		/* no number */

byte next;			/* R's next number, durable */
byte floor[SENDERS];		/* durable */
byte rec[J];			/* durable */
byte res[J];			/* R's reservation: its number; RAM */
byte state[J];			/* the sender's record */
byte used[J];			/* number that the TRANSFER names; NOBODY: of another inc */
byte promised[SENDERS];		/* what the sender has promised, durable */
byte accepts[J];		/* ACCEPTs in the channel: set of numbers */
byte reports[SENDERS];		/* settled reports in the channel: set of x */
bit receipt[J], declined[J];	/* in the channel */
bit taken[J];			/* R has taken this handoff at some time */
bit dead[SENDERS];		/* this id has left for ever */
bit second;			/* R has its second inc */
#ifdef BUG_INCARNATION
byte old_reports[SENDERS];	/* reports that name R's first inc */
#endif

#define IN(set, x) (((set) >> (x)) & 1)
#define ADD(set, x) set = set | (1 << (x))

mtype = { RELEASE, RECEIPT, VOID, SYNC, SETTLED, CRASH, DEATH_, ACCEPT, AGAIN, TAKE, DECLINE,
	DUPLICATE, PASS, FORGET, RAISE_, DEAD_RAISE, FLOOR_GONE, RESTART, NEW_INC };
/* For the reader of a trail. */
#define SAY_S(e, j) printf("sender of %d, number %d: %e\n", j, used[j], e)
#define SAY_M(e, n, x) printf("sender %d, x %d: %e\n", n, x, e)
#define SAY_R(e, j) printf("receiver of %d, next %d: %e\n", j, next, e)
#define SAY_F(e, n, x) printf("receiver, sender %d, floor %d: %e\n", n, x, e)

byte i;				/* scratch, 0 between steps */
bit never_lost, taken_once, useful_accept;	/* the properties */

/* 4.4 */
#ifdef BUG_NO_FLOOR
#define KNOWN(j) (used[j] != NOBODY)
#else
#define KNOWN(j) (used[j] != NOBODY && floor[SENDER(j)] != ABSENT && used[j] >= floor[SENDER(j)])
#endif

/*
 * Take out of the channel what nobody can react to any more: ACCEPTs for a
 * handoff that is under way (but the highest, which limits what the sender may
 * report), answers to a sender that is through, reports that raise nothing,
 * copies of a TRANSFER below the floor.
 */
inline tidy()
{
#ifndef ALL
	i = 0;
	do
	:: i == J -> break
	:: else ->
		if
		:: state[i] != HOLD || dead[SENDER(i)] ->
			res[i] = NOBODY;
			if
			:: accepts[i] > 0 && dead[SENDER(i)] -> accepts[i] = 0
			:: accepts[i] >= 16 && !dead[SENDER(i)] -> accepts[i] = 16
			:: accepts[i] >= 8 && accepts[i] < 16 && !dead[SENDER(i)] -> accepts[i] = 8
			:: accepts[i] >= 4 && accepts[i] < 8 && !dead[SENDER(i)] -> accepts[i] = 4
			:: accepts[i] >= 2 && accepts[i] < 4 && !dead[SENDER(i)] -> accepts[i] = 2
			:: else
			fi
		:: else
		fi;
		if
		:: state[i] == CLOSED || dead[SENDER(i)] -> receipt[i] = 0; declined[i] = 0
		:: else
		fi;
		if
		:: floor[SENDER(i)] != ABSENT && floor[SENDER(i)] > 0 ->
			reports[SENDER(i)] = reports[SENDER(i)] & (255 << (floor[SENDER(i)] + 1));
			if
			:: state[i] == CLOSED && rec[i] == NONE && used[i] < floor[SENDER(i)] -> used[i] = NOBODY
			:: else
			fi;
			if
			:: res[i] < floor[SENDER(i)] -> res[i] = NOBODY
			:: else
			fi
		:: else
		fi;
		i++
	od;
	i = 0
#else
	skip
#endif
}

/* A TRANSFER under way gets an answer that settles it, unless its sender is dead or R's disk was lost. */
inline done()
{
	tidy();
	i = 0;
	do
	:: i == J -> break
	:: else ->
		never_lost = (state[i] != SENT || dead[SENDER(i)] || used[i] == NOBODY || rec[i] != NONE || KNOWN(i));
		assert(never_lost);
		i++
	od;
	i = 0; never_lost = 0
}

/* Sender of handoff j. */
#define RELEASE(x)							\
	:: d_step { state[j] == HOLD && !dead[SENDER(j)] && IN(accepts[j], x) && x >= promised[SENDER(j)] -> \
		state[j] = SENT; used[j] = x; SAY_S(RELEASE, j); done() }

proctype Sender(byte j)
{
	do
	RELEASE(0)
	RELEASE(1)
	RELEASE(2)
	RELEASE(3)
#if A > 4
	RELEASE(4)
#endif
#if A > 5
	RELEASE(5)
#endif
	:: d_step { state[j] == SENT && !dead[SENDER(j)] && receipt[j] -> SAY_S(RECEIPT, j); state[j] = PENDING; done() }
	:: d_step { state[j] == SENT && !dead[SENDER(j)] && declined[j] -> SAY_S(VOID, j); state[j] = CLOSED; done() }
	:: d_step { state[j] == PENDING -> SAY_S(SYNC, j); state[j] = CLOSED; done() }
	od
}

/* May sender n say settled(x)? Every TRANSFER it signed with a smaller number is durably closed. */
#ifdef BUG_IN_HAND
#define OPEN(j) (state[j] == SENT)
#else
#define OPEN(j) (state[j] == SENT || state[j] == PENDING)
#endif
#define SETTLED(n, j, x) (SENDER(j) != n || !OPEN(j) || used[j] >= x || used[j] == NOBODY)
/* x is at most 1 + the highest number that the sender has from R. */
#define HAS(n, j, x) (SENDER(j) == n && (accepts[j] >> (x - 1)) > 0)

#define SETTLE(x)							\
	:: d_step { !dead[n] && x > promised[n] &&			\
		(HAS(n, 0, x) || HAS(n, 1, x) || HAS(n, 2, x)) &&	\
		SETTLED(n, 0, x) && SETTLED(n, 1, x) && SETTLED(n, 2, x) -> \
		SAY_M(SETTLED, n, x);					\
		PROMISE(x);						\
		ADD(reports[n], x);					\
		done() }

#ifdef BUG_PROMISE
#define PROMISE(x) skip		/* said, but neither journalled nor kept */
#else
#define PROMISE(x) promised[n] = x
#endif

/* Memory of sender n, its reports and its end. */
proctype Member(byte n)
{
	do
	SETTLE(1)
	SETTLE(2)
	SETTLE(3)
	SETTLE(4)
#if A > 4
	SETTLE(5)
#endif
	/* A crash: what was not durable is undone. */
	:: d_step { state[0] == PENDING && SENDER(0) == n -> SAY_S(CRASH, 0); state[0] = SENT; done() }
	:: d_step { state[1] == PENDING && SENDER(1) == n -> SAY_S(CRASH, 1); state[1] = SENT; done() }
	:: d_step { state[2] == PENDING && SENDER(2) == n -> SAY_S(CRASH, 2); state[2] = SENT; done() }
#if DEATH
	:: d_step { !dead[n] -> SAY_M(DEATH_, n, 0); dead[n] = 1; done() }
#endif
	od
}

inline create_floor(n)
{
	if
#ifdef BUG_FLOOR_ZERO
	:: floor[n] == ABSENT -> floor[n] = 0
#else
	:: floor[n] == ABSENT -> floor[n] = next
#endif
	:: else
	fi
}

/* A reservation below the floor counts as none. */
#ifdef BUG_BELOW
#define RESERVED(j) (res[j] != NOBODY)
#else
#define RESERVED(j) (res[j] != NOBODY && floor[SENDER(j)] != ABSENT && res[j] >= floor[SENDER(j)])
#endif

/* May the record be deleted? */
#ifdef BUG_DELETE_FIRST
#define BELOW(j) (used[j] == NOBODY || (reports[SENDER(j)] >> (used[j] + 1)) > 0)
#else
#define BELOW(j) (used[j] == NOBODY || (floor[SENDER(j)] != ABSENT && used[j] < floor[SENDER(j)]))
#endif

/* The TRANSFER is in the channel, and its sender waits for the answer. */
#define ASKED(j) (state[j] != HOLD && state[j] != CLOSED && !dead[SENDER(j)])

/* R and handoff j. OFFERs are in the channel from the start. */
proctype Receiver(byte j)
{
	do
	:: d_step { rec[j] == NONE && !RESERVED(j) && next < A ->
		SAY_R(ACCEPT, j);
		create_floor(SENDER(j));
		res[j] = next; ADD(accepts[j], next); next++; done() }
	:: d_step { rec[j] == NONE && RESERVED(j) ->
		SAY_R(AGAIN, j);
		useful_accept = (floor[SENDER(j)] != ABSENT && res[j] >= floor[SENDER(j)]);
		assert(useful_accept);
		useful_accept = 0;
		ADD(accepts[j], res[j]); done() }
	:: d_step { state[j] != HOLD && rec[j] == NONE && KNOWN(j) ->
		SAY_R(TAKE, j);
		taken_once = !taken[j];
		assert(taken_once);
		taken_once = 0;
		rec[j] = HELD; taken[j] = 1; res[j] = NOBODY; done() }
	:: d_step { state[j] != HOLD && rec[j] == NONE && KNOWN(j) ->
		SAY_R(DECLINE, j);
		rec[j] = VOIDED; res[j] = NOBODY; done() }
	:: d_step { ASKED(j) && (rec[j] == HELD || rec[j] == PASSED) && !receipt[j] -> SAY_R(DUPLICATE, j); receipt[j] = 1; done() }
	:: d_step { ASKED(j) && rec[j] == VOIDED && !declined[j] -> SAY_R(DUPLICATE, j); declined[j] = 1; done() }
	:: d_step { rec[j] == HELD -> SAY_R(PASS, j); rec[j] = PASSED; done() }
	/* Deletion, after the raise is durable. */
	:: d_step { (rec[j] == PASSED || rec[j] == VOIDED) && BELOW(j) -> SAY_R(FORGET, j); rec[j] = NONE; done() }
	od
}

#ifdef BUG_RAISE_CREATES
#define MAY_RAISE(n, x) (floor[n] == ABSENT || floor[n] < x)
#else
#define MAY_RAISE(n, x) (floor[n] != ABSENT && floor[n] < x)
#endif
#ifdef BUG_INCARNATION
#define REPORTED(n, x) (IN(reports[n], x) || IN(old_reports[n], x))
#else
#define REPORTED(n, x) IN(reports[n], x)
#endif

#define RAISE(x)							\
	:: d_step { REPORTED(n, x) && x <= next && MAY_RAISE(n, x) -> SAY_F(RAISE_, n, x); floor[n] = x; done() }

#define GONE(n, j) (SENDER(j) != n || rec[j] == NONE)

/* R's floor for sender n. */
proctype Floor(byte n)
{
	do
	RAISE(1)
	RAISE(2)
	RAISE(3)
	RAISE(4)
#if A > 4
	RAISE(5)
#endif
	:: d_step { dead[n] && floor[n] != ABSENT && floor[n] < next -> SAY_F(DEAD_RAISE, n, next); floor[n] = next; done() }
	/* The floor record goes when the last record of a dead id has gone. */
	:: d_step { dead[n] && floor[n] == next && GONE(n, 0) && GONE(n, 1) && GONE(n, 2) ->
		SAY_F(FLOOR_GONE, n, floor[n]);
		floor[n] = ABSENT;
#ifdef BUG_RESET
		if
		:: floor[1 - n] == ABSENT -> next = 0
		:: else
		fi;
#endif
		done() }
	od
}

/* R's restarts: reservations are lost, numbers of a block may be skipped. */
proctype Restart()
{
	do
	:: d_step {
		SAY_R(RESTART, 0);
		res[0] = NOBODY; res[1] = NOBODY; res[2] = NOBODY;
		done() }
	:: d_step { next < A -> SAY_R(RESTART, 0); next++; res[0] = NOBODY; res[1] = NOBODY; res[2] = NOBODY; done() }
#if LOSS
	/* The journal is gone: a new inc. What names the old one is dead. */
	:: d_step { !second ->
		SAY_R(NEW_INC, 0);
		second = 1;
		next = 0;
		i = 0;
		do
		:: i == SENDERS -> break
		:: else ->
#ifdef BUG_INCARNATION
			old_reports[i] = reports[i];
#endif
			floor[i] = ABSENT; reports[i] = 0; promised[i] = 0; i++
		od;
		i = 0;
		do
		:: i == J -> break
		:: else -> rec[i] = NONE; res[i] = NOBODY; accepts[i] = 0; used[i] = NOBODY; i++
		od;
		done() }
#endif
	od
}

init {
	d_step {
		i = 0;
		do
		:: i == J -> break
		:: else -> res[i] = NOBODY; used[i] = NOBODY; i++
		od;
		floor[0] = ABSENT; floor[1] = ABSENT;
		i = 0
	};
	atomic {
		run Sender(0); run Sender(1); run Sender(2);
		run Receiver(0); run Receiver(1); run Receiver(2);
		run Member(0); run Member(1);
		run Floor(0); run Floor(1);
		run Restart()
	}
}
