/*
 * One custody S must get rid of its token: two peers, one of them enough.
 *
 * At first there is a storm: messages are lost, durable nodes restart (RAM is
 * gone, the journal stays), receivers decline with VOID. It ends some day. From
 * then on the channel is fair: every message in it is delivered at last.
 * Reservations expire at any time, also later; so does the wish of S for one
 * peer (reselect). Then the token must arrive and S must learn of it.
 *
 * Every process is scheduled weakly fairly (pan -a -f), and each message is
 * delivered by a process of its own; so "delivered at last" is exactly that.
 * Sending a message that is still in the channel changes nothing.
 *
 * The records of the hop are journalled in one step; handoff.pml takes these
 * steps apart. RECLAIM burns the hop: S starts again with the next one, and
 * nobody reacts to what is left of the old one.
 *
 *   RESTART=7    who is durable and restarts in the storm: 1 is S, 2 and 4 the peers;
 *                the others are volatile and stay up
 *   VOIDS=1      peers may decline in the storm
 *   PREOFFER=1   S offers while its operation runs; 0: only after it
 *   TRAP_1, TRAP_7, TRAP_8, BUG_SILENT (S does not retransmit)
 */

#ifndef RESTART
#define RESTART 7
#endif
#ifndef VOIDS
#define VOIDS 1
#endif
#ifndef PREOFFER
#define PREOFFER 1
#endif

#define PEERS 2

#define HOLD   1
#define SENT   3
#define CLOSED 4

#define NONE   0
#define LIVE   1
#define LAPSED 2
#define TAKEN  3

mtype = { END, RELEASE, OFFER, ACCEPT, TRANSFER, RECEIPT, VOID, EXPIRE, REBOOT, OTHER, CALM };
#define SAY(e, r) printf("peer %d: %e\n", r, e)	/* for the reader of a trail */

bit storm = 1;
byte self = HOLD;	/* the record of S */
bit running = 1;	/* the operation of S, once for each custody */
bit current;		/* the peer that S offers to */
bit known[PEERS];	/* S has an ACCEPT of this peer */
bit to;			/* receiver of the TRANSFER */
byte peer[PEERS];	/* record of the peer */

bit offer[PEERS], accept[PEERS];	/* messages in the channel */
bit transfer, receipt, declined;

#if defined(TRAP_1)
#define MAY_TAKE(r) (peer[r] == LIVE)
#elif defined(TRAP_8)
#define MAY_TAKE(r) (peer[r] != TAKEN && peer[r] != NONE)
#else
#define MAY_TAKE(r) (peer[r] != TAKEN)
#endif

#ifdef TRAP_7
#define WANTED(r) (current == r)
#else
#define WANTED(r) 1
#endif

proctype End_of_storm() { SAY(CALM, 0); storm = 0 }

/* Sender. Its operation ends some day. */
proctype Operation()
{
	do
	:: atomic { running -> running = 0; SAY(END, 0) }
	:: self == CLOSED -> break
	od
}

proctype Offer()
{
	do
	:: atomic { self == HOLD && (PREOFFER || !running) -> offer[current] = 1 }
	:: self == CLOSED -> break
	od
}

proctype Reselect()
{
	do
	:: atomic { self == HOLD -> current = 1 - current; SAY(OTHER, current) }
	:: self == CLOSED -> break
	od
}

proctype Release()
{
	do
	:: atomic { self == HOLD && !running && known[0] -> self = SENT; to = 0; SAY(RELEASE, 0) }
	:: atomic { self == HOLD && !running && known[1] -> self = SENT; to = 1; SAY(RELEASE, 1) }
	:: self == CLOSED -> break
	od
}

proctype Retransmit()
{
	do
	:: atomic { self == SENT -> transfer = 1 };
#ifdef BUG_SILENT
		self != SENT
#endif
	:: self == CLOSED -> break
	od
}

/* What travels: one process for each message, so that each is delivered. */
proctype Deliver_offer(bit r)
{
	do
	:: d_step { offer[r] -> SAY(OFFER, r);
		offer[r] = 0;
		if
		:: peer[r] != TAKEN -> peer[r] = LIVE; accept[r] = 1
		:: else
		fi }
	:: d_step { offer[r] && storm -> offer[r] = 0 }
	od
}

proctype Deliver_accept(bit r)
{
	do
	:: d_step { accept[r] -> SAY(ACCEPT, r);
		accept[r] = 0;
		if
		:: self == HOLD && WANTED(r) -> known[r] = 1
		:: else
		fi }
	:: d_step { accept[r] && storm -> accept[r] = 0 }
	od
}

proctype Deliver_transfer()
{
	do
	:: d_step { transfer -> SAY(TRANSFER, to);
		transfer = 0;
		if
		:: MAY_TAKE(to) -> peer[to] = TAKEN
		:: else
		fi;
		receipt = (receipt || peer[to] == TAKEN) }
	:: d_step { transfer && storm -> transfer = 0 }
#if VOIDS
	:: d_step { transfer && storm && MAY_TAKE(to) -> transfer = 0; declined = 1 }
#endif
	od
}

proctype Deliver_receipt()
{
	do
	:: d_step { receipt -> SAY(RECEIPT, to); receipt = 0; self = CLOSED }
	:: d_step { receipt && storm -> receipt = 0 }
	od
}

/* RECLAIM: the next hop, of which nobody has heard. */
proctype Deliver_void()
{
	do
	:: d_step { declined -> SAY(VOID, to);
		declined = 0;
		self = HOLD; running = 1;
		known[0] = 0; known[1] = 0;
		peer[0] = NONE; peer[1] = NONE;
		offer[0] = 0; offer[1] = 0; accept[0] = 0; accept[1] = 0;
		transfer = 0; to = 0 }
	od
}

/* CANCEL or the end of a reservation's time, at any time. */
proctype Expire(bit r)
{
	do
	:: d_step { peer[r] == LIVE -> SAY(EXPIRE, r); peer[r] = LAPSED }
	:: self == CLOSED -> break
	od
}

proctype Restart()
{
	do
	:: d_step { storm && (RESTART & 1) -> known[0] = 0; known[1] = 0; current = 0 }
	:: d_step { storm && (RESTART & 2) && peer[0] != TAKEN -> SAY(REBOOT, 0); peer[0] = NONE }
	:: d_step { storm && (RESTART & 4) && peer[1] != TAKEN -> SAY(REBOOT, 1); peer[1] = NONE }
	:: !storm -> break
	od
}

init {
	atomic {
		run End_of_storm();
		run Operation(); run Offer(); run Reselect(); run Release(); run Retransmit();
		run Deliver_offer(0); run Deliver_offer(1);
		run Deliver_accept(0); run Deliver_accept(1);
		run Deliver_transfer(); run Deliver_receipt(); run Deliver_void();
		run Expire(0); run Expire(1);
#if RESTART
		run Restart()
#endif
	}
}

ltl arrives { <> (self == CLOSED) }
