/*
 * The MAC of ACCEPT: a receiver takes only what it agreed to take.
 *
 * R is honest and durable. A, honest, has custody 1 of token 0 and passes it to
 * R at hop 2. L lies: it had custody 0 of token 0, and has two tokens of its
 * own: 1, which R would accept, and 2, back-dated, which R refuses. L sends any
 * TRANSFER, with any number, any number of times, and knows every MAC that R
 * ever made. It cannot make one. R keeps no reservation: as a restart leaves it
 * (trap 8), and its key is as durable as its incarnation.
 *
 *   NUMBERS=4   numbers that R can give
 *   PAIR        L has a friend, who signs the hop before it
 *   BUG_...     see README.md
 */

#ifndef NUMBERS
#define NUMBERS 4
#endif

/* Deals, each (offerer, token, hop). */
#define A_2    0		/* A: token 0, hop 2 */
#define L_0_1  1		/* L: token 0, hop 1: L signed this hop for A before */
#define L_0_2  2		/* L: token 0, hop 2: needs a friend's TRANSFER of hop 1 */
#define L_1_1  3		/* L: token 1, hop 1 */
#define L_1_2  4		/* L: token 1, hop 2 after a VOID of hop 1 */
#define L_2_1  5		/* L: token 2, back-dated */
#define DEALS  6
#define OFFERER(d) ((d) > A_2)
#define TOKEN(d) ((d) <= L_0_2 -> 0 : ((d) <= L_1_2 -> 1 : 2))
#define HOP(d) (((d) == A_2 || (d) == L_0_2 || (d) == L_1_2) -> 2 : 1)

#define NONE   0
#define HELD   1
#define PASSED 2
#define NOBODY 15

byte next;			/* R's next number, durable */
byte floor[2];			/* for A and L; NOBODY: none yet */
byte made[NUMBERS];		/* the deal for which R made the MAC of this number */
bit old_key[NUMBERS];		/* made in R's former incarnation */
byte rec[DEALS];		/* R's records, durable */
byte taken[DEALS];		/* set of numbers with which R has taken the deal */
bit second;			/* R has its second incarnation */
byte offered;			/* by L: set of deals that R has agreed to */
byte used;			/* number that A's TRANSFER names */
bit sent, closed;		/* A's record */
byte d, x, i;			/* scratch */
bit ok;

bit only_accepted;	/* R takes only what it agreed to, in this incarnation */
bit taken_once;		/* no TRANSFER twice */
bit never_lost;		/* A's TRANSFER, once signed on an ACCEPT, can be taken */
bit numbers_left;	/* a number is left for A, whatever L names */
bit fork_is_proved;	/* two custodies of token 0: two TRANSFERs of L convict it */

#define ADD(set, n) set = set | (1 << (n))
#define IN(set, n) (((set) >> (n)) & 1)

mtype = { OFFER, ACCEPT, TRANSFER, TAKE, UNKNOWN, PASS, FORGET, SETTLED, RESTART, NEW_INC, CLOSE };
#define SAY(what, d, x) printf("member %d hop %d: %e\n", d, x, what)

/* Is this the MAC of (offerer, token, hop, number) under the key of now? */
#define SAME_DEAL(d, e) (SAME_OFFERER(d, e) && SAME_TOKEN(d, e) && SAME_HOP(d, e))
#ifdef BUG_MAC_OFFERER
#define SAME_OFFERER(d, e) 1
#else
#define SAME_OFFERER(d, e) (OFFERER(d) == OFFERER(e))
#endif
#ifdef BUG_MAC_TOKEN
#define SAME_TOKEN(d, e) 1
#else
#define SAME_TOKEN(d, e) (TOKEN(d) == TOKEN(e))
#endif
#ifdef BUG_MAC_HOP
#define SAME_HOP(d, e) 1
#else
#define SAME_HOP(d, e) (HOP(d) == HOP(e))
#endif
#ifdef BUG_KEY_KEPT
#define THIS_KEY(n) 1		/* one key for all incarnations of a member */
#else
#define THIS_KEY(n) (!old_key[n])
#endif
#define MADE(n) (made[n] != NOBODY && THIS_KEY(n))

/* ok = R believes that it accepted deal d with number x. */
inline verify()
{
	ok = 0;
#if defined(BUG_NO_MAC)
	ok = (x < next);
#elif defined(BUG_MAC_NUMBER)
	i = 0;
	do
	:: i == NUMBERS -> break
	:: else -> ok = (ok || (MADE(i) && SAME_DEAL(d, made[i]))); i++
	od;
	ok = (ok && x < next);
#else
	ok = (MADE(x) && SAME_DEAL(d, made[x]));
#endif
	ok = (ok && floor[OFFERER(d)] != NOBODY && x >= floor[OFFERER(d)]);
	i = 0
}

#ifdef BUG_NO_MAC
#define ACCEPTED(x, d) (x < next)
#else
#define ACCEPTED(x, d) (made[x] == d && THIS_KEY(x))
#endif

inline done()
{
	never_lost = (!sent || closed || second || rec[A_2] != NONE ||
		(ACCEPTED(used, A_2) && floor[0] != NOBODY && used >= floor[0]));
	assert(never_lost);
	never_lost = 0;
	numbers_left = (used != NOBODY || next < NUMBERS);
	assert(numbers_left);
	numbers_left = 0;
	/* Honest custodies of token 0: A's, and R's by each of its hops. */
	fork_is_proved = (((!sent) + (rec[A_2] == HELD) + (rec[L_0_1] == HELD) + (rec[L_0_2] == HELD)) <= 1 ||
		taken[L_0_1] != 0 /* L signed hop 1 for A, and again */);
	assert(fork_is_proved);
	fork_is_proved = 0;
	d = 0; x = 0; i = 0; ok = 0
}

inline accept(deal)
{
	SAY(ACCEPT, deal, next);
	if
	:: floor[OFFERER(deal)] == NOBODY -> floor[OFFERER(deal)] = next
	:: else
	fi;
	made[next] = deal;
	next++
}

inline take(deal, number)
{
	d = deal; x = number;
	verify();
	if
	:: ok && rec[deal] == NONE ->
		SAY(TAKE, deal, number);
		only_accepted = (made[number] == deal && !old_key[number]);
		assert(only_accepted);
		only_accepted = 0;
		taken_once = !IN(taken[deal], number);
		assert(taken_once);
		taken_once = 0;
		ADD(taken[deal], number);
		rec[deal] = HELD
	:: else -> SAY(UNKNOWN, deal, number)
#ifdef BUG_FOLLOW
		/* R takes a number that it does not know for one that it forgot. */
		if
		:: number >= next -> next = number + 1
		:: else
		fi
#endif
	fi;
	done()
}

proctype A()
{
	do
	:: d_step { !sent && next < NUMBERS && used == NOBODY -> used = next; accept(A_2); done() }
	:: d_step { !sent && used != NOBODY -> SAY(TRANSFER, A_2, used); sent = 1; done() }
	:: d_step { sent && !second && rec[A_2] == NONE -> take(A_2, used) }
	:: d_step { sent && !closed && rec[A_2] != NONE -> SAY(CLOSE, A_2, used); closed = 1; done() }
	/* A settles what it sent. */
	:: d_step { closed && !second && floor[0] <= used -> SAY(SETTLED, A_2, used); floor[0] = used + 1; done() }
	od
}

/* R answers an OFFER of L: not of what is back-dated. It forgets what it said:
 * asked again, it draws another number. One number stays for A. */
#define OFFERED(d) :: d_step { next + (used == NOBODY) < NUMBERS && rec[d] == NONE -> accept(d); done() }
#define LIE(d) \
	:: d_step { take(d, 0) } \
	:: d_step { take(d, 1) } \
	:: d_step { take(d, 2) } \
	:: d_step { take(d, 3) }

proctype Liar()
{
	do
	OFFERED(L_0_1)
	OFFERED(L_1_1)
	LIE(L_0_1)
	LIE(L_1_1)
	LIE(L_1_2)
	LIE(L_2_1)
	LIE(L_0_2)
#ifdef PAIR
	OFFERED(L_0_2)
#endif
	/* It says that anything is settled; R believes nothing above its own next. */
	:: d_step { floor[1] != NOBODY && floor[1] < next -> SAY(SETTLED, L_1_1, floor[1] + 1); floor[1] = floor[1] + 1; done() }
	od
}

proctype R()
{
	do
	:: d_step { rec[A_2] == HELD -> SAY(PASS, A_2, 0); rec[A_2] = PASSED; done() }
	:: d_step { rec[L_0_1] == HELD -> SAY(PASS, L_0_1, 0); rec[L_0_1] = PASSED; done() }
	:: d_step { rec[L_1_1] == HELD -> SAY(PASS, L_1_1, 0); rec[L_1_1] = PASSED; done() }
	/* What is below the floor is forgotten. */
	:: d_step { rec[A_2] == PASSED && floor[0] > used -> SAY(FORGET, A_2, 0); rec[A_2] = NONE; done() }
	:: d_step { rec[L_1_1] == PASSED && (taken[L_1_1] >> floor[1]) == 0 -> SAY(FORGET, L_1_1, 0); rec[L_1_1] = NONE; done() }
#ifdef BUG_KEY_RAM
	/* A restart makes a new key for the same incarnation. */
	:: d_step { next > 0 -> SAY(RESTART, 0, 0);
		i = 0; do :: i == NUMBERS -> break :: else -> old_key[i] = (made[i] != NOBODY); i++ od;
		done() }
#endif
	/* R's journal is lost: another incarnation, which never agreed to anything. */
	:: d_step { !second && next > 0 -> SAY(NEW_INC, 0, 0);
		second = 1;
		i = 0; do :: i == NUMBERS -> break :: else -> old_key[i] = (made[i] != NOBODY); i++ od;
		i = 0; do :: i == DEALS -> break :: else -> rec[i] = NONE; i++ od;
		floor[0] = NOBODY; floor[1] = 0;
		done() }
	od
}

init {
	d_step {
		do :: i == NUMBERS -> break :: else -> made[i] = NOBODY; i++ od;
		used = NOBODY; floor[0] = NOBODY; floor[1] = NOBODY; i = 0
	};
	atomic { run A(); run Liar(); run R() }
}
