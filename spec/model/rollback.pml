/*
 * Rollback: a journal that goes backwards, and peers that remember.
 *
 * V is durable. In its first boot it took the token from P0 (record 1, RECEIPT
 * to P0), and passed it to P1 (record 2, TRANSFER to P1). Each object that it
 * signs names its boot's tag and its serial number in the journal. Then V restarts, with its journal whole or
 * cut: an old copy, or an end that is missing. A boot writes its tag, and so does
 * not know what the journal had held.
 *
 * A peer presents to V, after HELLO, the latest object that V signed and that it
 * has seen. V begins a new incarnation, and its tokens count as lost, if the
 * object's tag is absent from its journal or its serial is beyond that boot's end.
 *
 *   FORGET      a peer may be volatile, and forget       (an escape)
 *   DEADLINE    V waits no longer than one gossip_interval (an escape)
 *   BUG_...     see README.md
 */

#define NEW 9			/* V has begun a new incarnation */
byte disk;			/* records of the first boot that V's journal has: 0, 1, 2 */
byte issued;			/* records of the first boot whose objects have left */
bit tag_1;			/* the journal has the first boot's tag */
bit cut;			/* the journal went backwards */
bit up;				/* V's second boot */
bit fresh;			/* V has a new incarnation: it has no tokens */
byte later;			/* records of the second boot */
byte seen[2];			/* latest serial of the first boot that the peer has seen; 0: none */
bit met[2];			/* since the second boot */
bit knower;			/* one of those met remembered what V has forgotten */
bit expired;			/* a gossip_interval has passed since the second boot */
bit used;			/* V ran under the token, or passed it on, though it is P1's */
bit no_fork, no_false_alarm;

mtype = { SIGN, SYNC, CUT, BOOT, MEET, ALARM, USE, TAKE_AGAIN, EXPIRE, FORGET_, OTHER };
#define SAY(m, what) printf("member %d hop %d: %e\n", m, disk, what)

inline done()
{
	/* A fork is what V does with a token that is P1's. */
	no_fork = (!used
#ifndef ALWAYS
		|| !knower		/* what met nobody that remembers escapes */
#endif
		);
	assert(no_fork);
	no_fork = 0;
	no_false_alarm = (!fresh || cut);
	assert(no_false_alarm);
	no_false_alarm = 0
}

/* Does V see from the object (first boot's tag, serial) that it went backwards? */
#if defined(BUG_NO_TAG)
#define BEHIND(s) ((s) > disk + later)	/* one serial for all boots: V overtakes */
#elif defined(BUG_ACCEPTS)
#define BEHIND(s) ((s) > 0 && disk == 0)	/* the highest accept number only */
#else
#define BEHIND(s) ((s) > 0 && (!tag_1 || (s) > disk))
#endif
#ifdef BUG_NAMED
/* V waits for the peers named in the records that it still has. */
#define WAITED (met[0] || disk == 0)
#elif defined(DEADLINE)
#define WAITED ((met[0] && met[1]) || expired)
#elif defined(BUG_NO_WAIT)
#define WAITED 1
#else
#define WAITED (met[0] && met[1])
#endif
#ifdef BUG_UNSIGNED
#define SHOWN(p) 9		/* a peer says what it likes */
#else
#define SHOWN(p) seen[p]
#endif

proctype V()
{
	do
	/* The first boot: objects leave when their records are durable. */
#ifdef BUG_EARLY
	:: d_step { !up && issued < 2 && issued <= disk -> SAY(0, SIGN); issued++; seen[issued - 1] = issued; done() }
#else
	:: d_step { !up && issued < 2 && issued < disk -> SAY(0, SIGN); issued++; seen[issued - 1] = issued; done() }
#endif
	:: d_step { !up && disk < 2 -> SAY(0, SYNC); disk++; done() }
	/* The power fails; or the journal that comes back is an older one. */
	:: d_step { !up -> SAY(0, BOOT); up = 1; tag_1 = 1; done() }
	:: d_step { !up && issued == 2 -> SAY(0, CUT); up = 1; cut = 1; disk = 1; tag_1 = 1; done() }
	:: d_step { !up && issued == 2 -> SAY(0, CUT); up = 1; cut = 1; disk = 0; tag_1 = 1; done() }
	:: d_step { !up && issued == 2 -> SAY(0, CUT); up = 1; cut = 1; disk = 0; tag_1 = 0; done() }
	:: d_step { up && later < 3 -> SAY(0, OTHER); later++; done() }
	:: d_step { up && expired -> skip }
	:: d_step { up && !expired -> SAY(0, EXPIRE); expired = 1; done() }
	/* P0's TRANSFER comes again: P0, or who stored it, repeats it. */
	:: d_step { up && !fresh && cut && disk == 0 && issued == 2 && WAITED -> SAY(0, TAKE_AGAIN); used = 1; done() }
	/* The token that V has, as its journal says. */
	:: d_step { up && !fresh && cut && disk == 1 && WAITED -> SAY(0, USE); used = 1; done() }
	od
}

proctype Peer(byte p)
{
	do
	:: d_step { up && !met[p] -> SAY(p + 1, MEET); met[p] = 1;
#ifndef BUG_SILENT_PEER
		if
		:: !fresh && BEHIND(SHOWN(p)) -> SAY(p + 1, ALARM); fresh = 1
		:: else
		fi;
#endif
		knower = (knower || (!used && cut && seen[p] > 0 && (!tag_1 || seen[p] > disk)));
		done() }
#ifdef FORGET
	:: d_step { seen[p] > 0 && !met[p] -> SAY(p + 1, FORGET_); seen[p] = 0; done() }
#endif
	od
}

init { atomic { run V(); run Peer(0); run Peer(1) } }
