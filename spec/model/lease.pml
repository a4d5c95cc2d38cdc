/*
 * The lease of the holder: a cut-off holder stops before it is replaced.
 *
 * The holder's daemon pings its watchers. A guard, another process of the
 * holder's machine, kills the program when the lease ends: so long after the
 * *sending* of the last ping that was acknowledged. A watcher may doubt the
 * holder, and start a program elsewhere at once, so long after the *receipt* of
 * the last ping. No clock is compared with another.
 *
 * A message may be delayed, lost or delivered, at any time: so every cut is in
 * it. The daemon may freeze (SIGSTOP) and thaw at any time, the guard does not.
 * A watcher may restart. Time is in ticks; the watcher's clock may gain one
 * tick on the holder's (DRIFT), a kill may take one (KILL).
 *
 *   L=5         the watcher's patience, in ticks
 *   WATCHERS=1  2: a group of three under "majority": who acts needs two of three
 *   REST        beside the watcher's, a third member's doubt that asks nobody
 *   BUG_...     see README.md
 */

#ifndef L
#define L 5
#endif
#ifndef WATCHERS
#define WATCHERS 1
#endif
#define DRIFT 1
#define KILL  1
#ifdef BUG_MARGIN
#define LEASE L			/* nothing taken off for drift and kill */
#else
#define LEASE (L - DRIFT - KILL)
#endif

#if WATCHERS > 1
#define PINGS 1			/* under way for each watcher */
#else
#define PINGS 2
#endif
#define AT(w, p) ((w) * PINGS + (p))

/* A ping. */
#define IDLE  0
#define SENT  1			/* to the watcher */
#define ACKED 2			/* the acknowledgement travels, or lies in a buffer */

byte ping[WATCHERS * PINGS];
byte age[WATCHERS * PINGS];	/* since it was sent, holder's clock */
byte quiet[WATCHERS];		/* watcher's time since the last receipt */
bit doubts[WATCHERS];		/* the watcher has given the holder up */
byte drift;			/* by how much the watchers' clocks may still gain on the last lease */
byte left;			/* of the lease, as the guard counts it */
bit granted;			/* the daemon has forked, the child not yet executed */
bit running;			/* the program */
byte dying;			/* ticks since the guard began to kill it */
bit frozen;			/* the daemon */
bit other;			/* a program under a replacement runs */
byte i;
bit no_overlap;			/* the property */

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define DOUBTED (doubts[0] && doubts[WATCHERS - 1])

#define SAY(what) printf("holder %d hop 0: %e\n", left, what)
mtype = { DRIFTS, PING, RECEIVED, ACK, LOSS, GRANT, EXEC, END, TICK, DOUBT, REPLACED, FREEZE, THAW, RESTART };

inline done()
{
	no_overlap = !(running && other);
	assert(no_overlap);
	no_overlap = 0; i = 0
}

proctype Link(byte w; byte p)
{
	do
	:: d_step { ping[AT(w, p)] == IDLE && !frozen -> SAY(PING); ping[AT(w, p)] = SENT; age[AT(w, p)] = 0; done() }
#ifdef BUG_ACK_AFTER_DOUBT
	:: d_step { ping[AT(w, p)] == SENT ->
#else
	:: d_step { ping[AT(w, p)] == SENT && !doubts[w] ->
#endif
		SAY(RECEIVED); ping[AT(w, p)] = ACKED; quiet[w] = 0; done() }
	:: d_step { ping[AT(w, p)] == ACKED && !frozen ->
		SAY(ACK);
#ifdef BUG_RECEIPT_TIME
		left = LEASE;
#else
		left = MAX(left, (age[AT(w, p)] < LEASE -> LEASE - age[AT(w, p)] : 0));
#endif
		ping[AT(w, p)] = IDLE; age[AT(w, p)] = 0; done() }
	:: d_step { ping[AT(w, p)] != IDLE -> SAY(LOSS); ping[AT(w, p)] = IDLE; age[AT(w, p)] = 0; done() }
	od
}

/* Is there still time for a program, as the child sees it before it executes? */
#ifdef BUG_FORK
#define MAY_EXEC 1
#else
#define MAY_EXEC (left > 0)
#endif

proctype Holder()
{
	do
	:: d_step { !granted && !running && !frozen && left > 0 -> SAY(GRANT); granted = 1; done() }
	:: d_step { granted && MAY_EXEC -> SAY(EXEC); granted = 0; running = 1; dying = 0; done() }
	:: d_step { granted && left == 0 -> granted = 0; done() }
	:: d_step { running -> SAY(END); running = 0; dying = 0; done() }
	:: d_step { !frozen -> SAY(FREEZE); frozen = 1; done() }
	:: d_step { frozen -> SAY(THAW); frozen = 0; done() }
	od
}

#ifdef BUG_DAEMON
#define ENFORCED !frozen	/* the daemon itself ends the program */
#else
#define ENFORCED 1
#endif

proctype Watcher(byte w)
{
	do
	:: d_step { !doubts[w] && quiet[w] >= L -> SAY(DOUBT); doubts[w] = 1; done() }
	/* What it has acknowledged is forgotten; that it has doubted is not. */
	:: d_step { SAY(RESTART);
#ifdef BUG_RESTART_WATCH
		quiet[w] = L;
#else
		quiet[w] = 0;
#endif
#ifdef BUG_FORGET_DOUBT
		doubts[w] = 0;
#endif
		done() }
	od
}

proctype Time()
{
	do
	:: d_step {
		/* A program whose lease is over lives for KILL ticks at most. */
		SAY(TICK);
		i = 0;
		do
		:: i == WATCHERS * PINGS -> break
		:: else ->
			if
			:: ping[i] != IDLE && age[i] < L -> age[i]++
			:: else
			fi;
			i++
		od;
		if
		:: running && left == 0 && ENFORCED -> dying++
		:: else
		fi;
		if
		:: dying >= KILL -> running = 0; dying = 0
		:: else
		fi;
		if
		:: left > 0 -> left--
		:: else
		fi;
		i = 0;
		do
		:: i == WATCHERS -> break
		:: else ->
			if
			:: quiet[i] < L -> quiet[i]++
			:: else
			fi;
			i++
		od;
		done() }
	:: d_step { drift > 0 -> SAY(DRIFTS); drift--;
		i = 0;
		do
		:: i == WATCHERS -> break
		:: else ->
			if
			:: quiet[i] < L -> quiet[i]++
			:: else
			fi;
			i++
		od;
		done() }
	/* A replacement is made as soon as the rules allow it, and used at once. */
	:: d_step { DOUBTED && !other -> SAY(REPLACED); other = 1; done() }
#ifdef REST
	:: d_step { !other -> SAY(REPLACED); other = 1; done() }
#endif
	od
}

init {
	d_step { drift = DRIFT; i = 0 };
	atomic {
		run Holder(); run Time();
		run Link(0, 0); run Watcher(0);
#if WATCHERS > 1
		run Link(1, 0); run Watcher(1)
#else
		run Link(0, 1)
#endif
	}
}
