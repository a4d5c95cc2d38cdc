/*
 * Renewal: the holder of a token that grows old makes its successor.
 *
 * One record ends custody h of token T and begins custody 0 of token N. The new
 * GENESIS names T, the custody h, and the hop h+1, which is spent by it: no
 * TRANSFER of that hop is signed any more. So a TRANSFER of T at hop h+1 and a
 * GENESIS that spends it, by one signer, are proof.
 *
 * Node 0 has custody 0 of T. It may pass T on (hop 1), get it back by a VOID
 * (custody 1, hop 2 comes next), and renew it at either custody. Node 1 takes T,
 * node 2 takes N. Memory and disk are apart, as in handoff.pml with SYNC=1.
 *
 *   LIAR        node 0 signs what it likes
 *   BUG_...     see README.md
 */

/* Node 0's record of T: custody h, and what has become of it. */
#define HOLD0    0
#define SENT0    1		/* TRANSFER 1 is signed */
#define HOLD1    2		/* RECLAIM: custody 1 */
#define SENT1    3		/* TRANSFER 2 is signed */
#define RENEWED0 4
#define RENEWED1 5
#define CLOSED   6
/* Of N. */
#define NONE 0
#define HOLD 1
#define SENT 2

byte t, t_disk;			/* node 0's record of T */
byte n, n_disk;			/* and of N */
bit runs;			/* node 0's program under T */
bit runs_n;			/* a program under N, anywhere */
bit transfer[3];		/* TRANSFER of T at hop 1, 2 has left node 0 */
bit spent[3];			/* so has a GENESIS that spends that hop of T */
bit passed_n;			/* so has the TRANSFER of N */
byte taken;			/* hop at which node 1 has taken T */
byte declined;			/* node 1's VOID for hop 1 */
bit taken_n;			/* node 2 has taken N */

#define HAS_T (t == HOLD0 || t == HOLD1)
#define HAS_N (n == HOLD)
#define SYNCED_T (t == t_disk)
#define SYNCED_N (n == n_disk)

bit one_of_both, never_lost, no_false_proof, one_program, fork_is_proved;

mtype = { RENEW, RELEASE, SEND, ANNOUNCE, VOID, TAKE, DECLINE, PASS_N, SEND_N, TAKE_N, FSYNC, POWER, START, END, LIE };
#define SAY(what) printf("node %d hop %d: %e\n", 0, t, what)

#define CUSTODIES (HAS_T + HAS_N + (taken > 0) + taken_n)
/* A TRANSFER or a GENESIS can still be sent, and taken. */
#define COMING ((t == SENT0 && !taken) || (t == SENT1 && !taken) || (n == SENT && !taken_n))
#define PROOF ((transfer[1] && spent[1]) || (transfer[2] && spent[2]))

inline done()
{
#ifdef LIAR
	/* What honest members then have convicts it. */
	fork_is_proved = (!(taken > 0 && taken_n) || PROOF);
	assert(fork_is_proved);
	fork_is_proved = 0
#else
	one_of_both = (CUSTODIES <= 1);
	assert(one_of_both);
	one_of_both = 0;
	never_lost = (CUSTODIES > 0 || COMING);
	assert(never_lost);
	never_lost = 0;
	one_program = !(runs && runs_n);
	assert(one_program);
	one_program = 0;
	no_false_proof = !PROOF;
	assert(no_false_proof);
	no_false_proof = 0
#endif
}

#ifdef BUG_RENEW_SENT
#define MAY_RENEW (HAS_T || t == SENT0)	/* the TRANSFER was signed, not answered */
#else
#define MAY_RENEW HAS_T
#endif
#ifdef BUG_RENEW_RUNNING
#define IDLE 1
#else
#define IDLE (!runs)
#endif
#ifdef BUG_RENEW_PENDING
#define MAY_PASS (HAS_T || (t == RENEWED0 && t_disk == HOLD0))	/* the record is written, not synced */
#else
#define MAY_PASS HAS_T
#endif
#ifdef BUG_RENEW_EARLY
#define DURABLE_N 1		/* N leaves, and is used, before its record is synced */
#else
#define DURABLE_N (SYNCED_N || (n == SENT && n_disk == HOLD))
#endif
#ifdef BUG_NO_SPEND
#define SPEND(k) skip		/* the GENESIS names no custody of T */
#else
#define SPEND(k) spent[k] = 1
#endif

#ifndef LIAR
proctype Node_0()
{
	do
	:: d_step { HAS_T && !runs && SYNCED_T -> SAY(START); runs = 1; done() }
	:: d_step { runs -> SAY(END); runs = 0; done() }
	:: d_step { HAS_N && DURABLE_N && !runs_n -> SAY(START); runs_n = 1; done() }
	:: d_step { MAY_RENEW && IDLE && n == NONE -> SAY(RENEW);
		t = (t == HOLD1 -> RENEWED1 : RENEWED0); n = HOLD; done() }
	:: d_step { MAY_PASS && IDLE -> SAY(RELEASE);
		t = (t == HOLD1 -> SENT1 : SENT0); done() }
	:: d_step { t == SENT0 && SYNCED_T && !transfer[1] -> SAY(SEND); transfer[1] = 1; done() }
	:: d_step { t == SENT1 && SYNCED_T && !transfer[2] -> SAY(SEND); transfer[2] = 1; done() }
	:: d_step { t == SENT0 && declined -> SAY(VOID); t = HOLD1; done() }
	:: d_step { n != NONE && DURABLE_N && t == RENEWED0 && !spent[1] -> SAY(ANNOUNCE); SPEND(1); done() }
	:: d_step { n != NONE && DURABLE_N && t == RENEWED1 && !spent[2] -> SAY(ANNOUNCE); SPEND(2); done() }
	:: d_step { HAS_N && !runs_n -> SAY(PASS_N); n = SENT; done() }
#ifdef BUG_RENEW_EARLY
	:: d_step { n == SENT && !passed_n -> SAY(SEND_N); passed_n = 1; done() }
#else
	:: d_step { n == SENT && SYNCED_N && !passed_n -> SAY(SEND_N); passed_n = 1; done() }
#endif
#ifdef BUG_TWO_RECORDS
	:: d_step { t != t_disk -> SAY(FSYNC); t_disk = t; done() }
	:: d_step { n != n_disk -> SAY(FSYNC); n_disk = n; done() }
#else
	/* Records become durable in any order, but the renewal is one of them. */
	:: d_step { t != t_disk -> SAY(FSYNC);
		if
		:: (t == RENEWED0 || t == RENEWED1) && n_disk == NONE -> n_disk = HOLD
		:: else
		fi;
		t_disk = t; done() }
	:: d_step { n != n_disk -> SAY(FSYNC);
		if
		:: n_disk == NONE -> t_disk = t
		:: else
		fi;
		n_disk = n; done() }
#endif
	/* The power fails; a kill loses less. Programs of this machine end with it. */
	:: d_step { SAY(POWER);
		t = t_disk; n = n_disk; runs = 0;
		runs_n = (taken_n -> runs_n : 0);
		done() }
	od
}
#else
/* A liar passes T on and renews it. The GENESIS of a renewal must contain the
 * proof of the custody that it ends, so that it can name no hop but 1. */
proctype Node_0()
{
	do
	:: d_step { !transfer[1] -> SAY(LIE); transfer[1] = 1; done() }
	:: d_step { !passed_n -> SAY(LIE); SPEND(1); passed_n = 1; done() }
	:: d_step { transfer[1] && passed_n -> skip }
	od
}
#endif

proctype Others()
{
	do
	:: d_step { transfer[1] && taken == 0 && !declined -> SAY(TAKE); taken = 1; done() }
	:: d_step { transfer[1] && taken == 0 && !declined -> SAY(DECLINE); declined = 1; done() }
	:: d_step { transfer[2] && taken == 0 -> SAY(TAKE); taken = 2; done() }
	:: d_step { passed_n && !taken_n -> SAY(TAKE_N); taken_n = 1; done() }
	:: d_step { taken_n && !runs_n -> SAY(START); runs_n = 1; done() }
	od
}

init { atomic { run Node_0(); run Others() } }
