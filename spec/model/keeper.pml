/*
 * The keeper: one living member of a slot finds out that the token is lost, and
 * makes another one (P-49 to P-58 of the protocol).
 *
 * The members are in one order, the same for all. The first of them that is not
 * known to be dead is the keeper. A holder tells the keeper of a program before it
 * begins, and whoever has asked it for the token. With nothing to do it promises
 * to rest, and neither runs nor passes the token on before it has its promise back,
 * from the member that has it. Where the holder is the first itself, the next one
 * is told in its place, and so is the next one when the one that was told dies.
 * A keeper that does not hear the holder asks all members. When no living one has
 * the token, it makes one: at once where the dead holder had promised to rest, when
 * the program has ended of which it was told, and otherwise when every program that
 * a dead member may have left running has. A keeper knows no promise but those that
 * were made to it, and forgets what it knows in a restart.
 *
 * A program outlives its daemon. A member that dies may come back: with its token,
 * of which it then asks all others before it uses it, or without. The first receiver of a token
 * that a keeper has made uses it a little later. Nothing is cut:
 * who is silent for L ticks is dead. Messages are not lost, but their sender may
 * die before those about promises leave.
 *
 *   L=2         ticks of silence after which a member is dead
 *   HOLD=4      longest program, in ticks
 *   N=3         members                  DEATHS=2   that may die
 *   RESTARTS=0  that may come back
 *   FORGOTTEN   at the beginning the last member has an old promise of the first one, which has
 *               lost its memory since, as the second one has
 *   BUG_...     see README.md
 */

#ifndef L
#define L 2
#endif
#ifndef HOLD
#define HOLD 4
#endif
#ifndef N
#define N 3
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define WAITS MAX(L, HOLD)	/* until no program of a dead member runs any more */
#define AGE (HOLD + L)	/* from then on a member is not young, and waits for no answer */
#ifdef FORGOTTEN
#define BEGUN 1
#else
#define BEGUN 0
#endif
#define STALL ((WAITS + 1) * DEATHS + (AGE + 1) * (RESTARTS + BEGUN) + 1)	/* ticks in which a program runs again */

bit dead[N];
byte silent[N];			/* ticks since its death, up to WAITS */
byte age[N];			/* ticks since it began, up to AGE */
bit forgot[N];			/* it began without its memory */
byte tok[N];			/* the token that is here, the later one the greater; 0: none */
byte kept[N];			/* the one that it had when it died */
bit waits[N];			/* it asks whether it may use it */
byte got[N];			/* the members that have answered */
byte prog[N];			/* ticks that its program may still last */
bit resting[N];			/* it has promised, and not asked back */
byte given[N];			/* 1 + the member that was told of its promise or program */
byte asked[N];			/* 1 + the member that it has asked to give the promise back */
byte under[N];			/* 1 + the member to which its promise is under way */
byte asker[N];			/* 1 + the member that asked it for the token last */
bit late[N];			/* its program has begun, and nobody was told */
bit newborn[N];			/* it has made its token itself */
bit frozen[N];			/* it looks whether another token lives before it uses a newborn one */

#define UNSURE 0	/* what a member knows of the last holder: nothing, */
#define SAID 1	/* the end of its program, */
#define REST 2	/* or its promise */
byte knows[N];
byte ends[N];			/* ticks until the end that it was told */
byte last[N];			/* the token that it heard of last */
byte by[N];			/* 1 + the holder that told it */
byte mute;			/* members that do not answer, or have forgotten their programs: a bit each */

byte deaths, restarts, made, idle, i, k, n;
bit quick;			/* the last death was that of a holder whose promise the keeper had */
bit one_program, one_token, no_stall, soon;

mtype = { RESTS, HEARD, ASK, BACK, START, TELL, END, PASS, DEATH, RETURN, ANSWER, FREE, MAKE, THAW, TICK };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)

/* Is m the keeper, as all see it? */
#define GONE(m) (dead[m] && silent[m] >= L)
#ifdef BUG_NO_FOLLOW
#define KEEPS(m) (!dead[m] && m == 0)
#elif N > 3
#define KEEPS(m) (!dead[m] && (m < 1 || GONE(0)) && (m < 2 || GONE(1)) && (m < 3 || GONE(2)))
#else
#define KEEPS(m) (!dead[m] && (m < 1 || GONE(0)) && (m < 2 || GONE(1)))
#endif

/* Is k the member that m tells? It is not m: who dies with a token tells nobody. It may be dead already. */
#ifdef BUG_SELF
#define HEARS(k, m) KEEPS(k)
#elif N > 3
#define HEARS(k, m) (k != m && !GONE(k) && (k < 1 || m == 0 || GONE(0)) && (k < 2 || m == 1 || GONE(1)) && (k < 3 || m == 2 || GONE(2)))
#else
#define HEARS(k, m) (k != m && !GONE(k) && (k < 1 || m == 0 || GONE(0)) && (k < 2 || m == 1 || GONE(1)))
#endif
#define FIRST(m) (k == N || HEARS(k, m))
#define GIVES(m) (k == N || given[m] == k + 1 && !GONE(k) || UNHEARD(m) && HEARS(k, m))
#define UNHEARD(m) (given[m] > 0 && GONE(given[m] - 1))	/* who was told has died */

byte living;			/* tokens that living members have */
byte where;			/* which: a bit each */
byte used;			/* of these, those that are used */
bit ended;			/* no program of a dead member can run any more, nor of a young one's earlier life */
bit all_gone;			/* all dead members are known to be dead */
bit due;			/* something that takes no time */

/* Does i tell of its token when another member asks? */
#ifdef BUG_FROZEN
#define KNOWS(i) (!frozen[i])
#else
#define KNOWS(i) 1
#endif

/* What a keeper finds when it asks everybody. */
inline look()
{
	living = 0; where = 0; used = 0; ended = 1; mute = 0; all_gone = 1; i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: !dead[i] && tok[i] > 0 -> living++; where = where | (KNOWS(i) << tok[i]); used = used + !(waits[i] || frozen[i])
		:: else
		fi;
		if
		:: dead[i] && silent[i] < L -> all_gone = 0
		:: else
		fi;
		if
		:: dead[i] -> mute = mute | (1 << i); ended = ended && silent[i] == WAITS
#ifndef BUG_YOUNG
		:: !dead[i] && age[i] < HOLD && forgot[i] -> mute = mute | (1 << i); ended = 0
#endif
		:: else
		fi;
		i++
	od
}

#ifdef BUG_OTHERS
#define OTHERS(k) 1
#else
#define OTHERS(k) ((mute | (1 << (by[k] - 1))) == 1 << (by[k] - 1))	/* all but that holder answer */
#endif
#ifdef BUG_NO_WAIT
#define MAY(k) 1
#elif defined(BUG_NO_PROMISE)
#define MAY(k) ended
#else
#define MAY(k) (ended || knows[k] == REST || knows[k] == SAID && ends[k] == 0 && OTHERS(k))
#endif
#ifdef BUG_NO_DEFER	/* not the first one only */
#define MAKES(k) (!dead[k] && living == 0 && all_gone && MAY(k))
#else
#define MAKES(k) (KEEPS(k) && living == 0 && all_gone && MAY(k))
#endif

/* Which tokens does k, asked by m, answer for? */
#define HAS(k) (tok[k] > 0 && (!waits[k] || prog[k] > 0))
#define SURE(k) (!forgot[k] || age[k] >= HOLD)
#define ASKS(m) (!dead[m] && waits[m] && prog[m] == 0)
#ifdef BUG_NO_SEARCH
#define KNOWN(k, m) 1
#else
#define KNOWN(k, m) (last[k] <= tok[m] || (where & (1 << last[k])) || ended)
#endif
#define CAN(k, m) (k != m && !dead[k] && !(got[m] & (1 << k)) && (tok[k] > 0 && KNOWS(k) || SURE(k) && KNOWN(k, m)))
#define ALL ((1 << N) - 1)
#ifdef BUG_ONE_ANSWERS
#define ANSWERED(m) (got[m] != (1 << m) || age[m] >= AGE)
#else
#define ANSWERED(m) (got[m] == ALL || age[m] >= AGE)
#endif

inline done()
{
	look();
	n = 0; i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: prog[i] > 0 -> n++
		:: else
		fi;
		i++
	od;
	one_program = n <= 1;
	one_token = used <= 1;
	due = 0; i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: MAKES(i) || under[i] > 0 || asked[i] > 0 || frozen[i] -> due = 1
#ifndef BUG_NO_RETELL
		:: !dead[i] && tok[i] > 0 && (resting[i] || prog[i] > 0) && under[i] == 0 && UNHEARD(i) -> due = 1
#endif
#if RESTARTS > 0
		:: ASKS(i) && (CAN(0, i) || CAN(1, i) || CAN(2, i) || ANSWERED(i)) -> due = 1
#endif
		:: else
		fi;
		i++
	od;
	assert(one_program);
	assert(one_token);
	one_program = 0; one_token = 0; n = 0; i = 0
}

/* The first of the others is told of m's program, and k where it has asked for the token. */
inline tells(m)
{
	k = 0;
	do
	:: FIRST(m) -> break
	:: else -> k++
	od;
	if
	:: k < N && !dead[k] -> knows[k] = SAID; ends[k] = prog[m]; by[k] = m + 1; last[k] = tok[m]; given[m] = k + 1
	:: k < N && dead[k] -> given[m] = k + 1
	:: else -> given[m] = 0
	fi;
	k = 0
}

inline forget(m)
{
	knows[m] = UNSURE; ends[m] = 0; by[m] = 0; last[m] = 0; asker[m] = 0; got[m] = 0; waits[m] = 0; resting[m] = 0; given[m] = 0; late[m] = 0; newborn[m] = 0; frozen[m] = 0
}

proctype Member(byte m)
{
	byte to;

	do
	/* It has nothing to do, and promises to rest. Who has the promise may die: then again. */
	:: d_step { !dead[m] && tok[m] > 0 && !waits[m] && !frozen[m] && prog[m] == 0 && under[m] == 0 && asked[m] == 0 &&
#ifdef BUG_NO_RETELL
		!resting[m] ->
#else
		(!resting[m] || UNHEARD(m)) ->
#endif
		k = 0;
		do
		:: FIRST(m) -> break
		:: else -> k++
		od;
		if
		:: k < N -> SAY(m, RESTS); resting[m] = 1; under[m] = k + 1; given[m] = k + 1
		:: else -> given[m] = 0
		fi;
		k = 0; done() }
	:: d_step { under[m] > 0 ->	/* it arrives */
		if
		:: !dead[under[m] - 1] && !dead[m] ->
			SAY(m, HEARD);
#ifdef BUG_COPY
			k = 0;
			do
			:: k == N -> break
			:: else -> knows[k] = REST; by[k] = 0; k++	/* the members after it hear it, too */
			od;
			k = 0
#else
			knows[under[m] - 1] = REST; ends[under[m] - 1] = 0; by[under[m] - 1] = 0; last[under[m] - 1] = tok[m]
#endif
		:: else
		fi;
		under[m] = 0; done() }
	/* Somebody wants the token. */
#ifdef BUG_REORDER
	:: d_step { !dead[m] && resting[m] && asked[m] == 0 ->
#else
	:: d_step { !dead[m] && resting[m] && asked[m] == 0 && under[m] == 0 ->
#endif
		k = 0;
		do
		:: GIVES(m) -> break
		:: else -> k++
		od;
		if
		:: k < N -> SAY(m, ASK); asked[m] = k + 1
		:: k == N && (given[m] == 0 || UNHEARD(m)) -> SAY(m, BACK); resting[m] = 0; given[m] = 0	/* nobody is left */
		:: else
		fi;
		k = 0; done() }
	:: d_step { asked[m] > 0 ->	/* it gives the promise back */
		k = asked[m] - 1;
		asked[m] = 0;
		if
		:: dead[k] || dead[m] -> skip
		:: else ->
			SAY(m, BACK);
			knows[k] = UNSURE; ends[k] = 0; by[k] = 0;
			resting[m] = 0; given[m] = 0
		fi;
		k = 0; done() }
#ifdef BUG_NO_ASK
#define MAYRUN(m) 1
#else
#define MAYRUN(m) (!resting[m])
#endif
	:: d_step { !dead[m] && tok[m] > 0 && !waits[m] && !frozen[m] && prog[m] == 0 && MAYRUN(m) ->
		SAY(m, START); prog[m] = HOLD;
#ifdef BUG_LATE
		late[m] = 1;
#else
		tells(m);
		if
		:: asker[m] > 0 && !dead[asker[m] - 1] -> knows[asker[m] - 1] = SAID; ends[asker[m] - 1] = HOLD; by[asker[m] - 1] = m + 1; last[asker[m] - 1] = tok[m]
		:: else
		fi;
#endif
		done() }
	/* Who was told of its program dies: then the next one is. */
#ifndef BUG_NO_RETELL
	:: d_step { !dead[m] && prog[m] > 0 && tok[m] > 0 && UNHEARD(m) -> SAY(m, TELL); tells(m); done() }
#endif
	:: d_step { !dead[m] && late[m] -> SAY(m, TELL); late[m] = 0; tells(m); done() }
	:: d_step { prog[m] > 0 -> SAY(m, END); prog[m] = 0; late[m] = 0; done() }
	/* It asks whoever has the token for it, as a keeper: also one that is not the first. */
	:: d_step { !dead[m] && tok[m] == 0 ->
		k = 0;
		do
		:: k == N || k != m && !dead[k] && tok[k] > 0 && !waits[k] && !frozen[k] -> break
		:: else -> k++
		od;
		if
		:: k == N || knows[m] == REST || asker[k] == m + 1 && (prog[k] == 0 || knows[m] == SAID) -> skip
		:: else -> SAY(m, ASK); asker[k] = m + 1; last[m] = tok[k];
			if
			:: prog[k] > 0 -> knows[m] = SAID; ends[m] = prog[k]; by[m] = k + 1
			:: else -> knows[m] = UNSURE; ends[m] = 0; by[m] = 0
			fi
		fi;
		k = 0; done() }
#ifdef BUG_PASS
#define LEAVES(m) 1
#else
#define LEAVES(m) (!resting[m])
#endif
	:: atomic { !dead[m] && tok[m] > 0 && !waits[m] && !frozen[m] && prog[m] == 0 && LEAVES(m) ->
		select(to : 0 .. N - 1);
		d_step {
			if
			:: !dead[to] && to != m ->
				SAY(m, PASS);
				if
				:: tok[m] > tok[to] && prog[to] == 0 -> frozen[to] = newborn[m] && tok[to] == 0; newborn[to] = 0; tok[to] = tok[m]; waits[to] = 0; got[to] = 0
				:: else
				fi;
				last[m] = tok[m]; tok[m] = 0; newborn[m] = 0; resting[m] = 0; given[m] = 0; asker[m] = 0; resting[to] = 0; given[to] = 0; asker[to] = 0;
				k = 0;
				do
				:: k == N -> break
				:: else ->	/* who passed it on says so */
					if
					:: knows[k] == SAID -> knows[k] = UNSURE; ends[k] = 0; by[k] = 0
					:: else
					fi;
					k++
				od;
				k = 0
			:: else
			fi;
			to = 0; done() } }
	:: d_step { !dead[m] && deaths < DEATHS ->
		SAY(m, DEATH);
		look();
		deaths++;
		quick = tok[m] > 0 && resting[m] && all_gone && !due && restarts == 0;
		dead[m] = 1; silent[m] = 0; age[m] = AGE; forgot[m] = 0;
		k = 0;
		do
		:: k == N -> break
		:: else ->
			if
			:: tok[m] > 0 && resting[m] && HEARS(k, m) && knows[k] == REST && restarts == 0 -> quick = 1
			:: else
			fi;
			k++
		od;
		k = 0;
		kept[m] = (restarts < RESTARTS -> tok[m] : 0);
		tok[m] = 0; forget(m);
#ifndef BUG_OLD_ANSWERS	/* all are asked again */
		k = 0;
		do
		:: k == N -> break
		:: else -> got[k] = (waits[k] -> 1 << k : 0); k++
		od;
		k = 0;
#endif
		done() }
#if RESTARTS > 0
	/* It comes back, with its memory or without. A program of its may run yet. */
	:: atomic { dead[m] && restarts < RESTARTS ->
		to = 0;
		if
		:: to = 1
		:: kept[m] > 0 -> to = 2
		fi;
		d_step {
			SAY(m, RETURN);
			restarts++; dead[m] = 0; under[m] = 0; silent[m] = 0; age[m] = 0; quick = 0; forgot[m] = to == 1;
			tok[m] = (to == 2 -> kept[m] : 0); kept[m] = 0;
#ifndef BUG_NO_RETURNED
			waits[m] = to == 2; got[m] = (to == 2 -> 1 << m : 0);
#endif
			k = 0;
			do
			:: k == N -> break
			:: restarts == RESTARTS && k < N -> kept[k] = 0; k++
			:: restarts < RESTARTS && k < N -> k++
			od;
			k = 0; to = 0; done() } }
	:: atomic { ASKS(m) && !ANSWERED(m) ->
		select(to : 0 .. N - 1);
		d_step {
			if
			:: CAN(to, m) ->
				SAY(m, ANSWER);
				if
				:: tok[to] > 0 && KNOWS(to) && (tok[to] > tok[m] || HAS(to) && prog[to] > 0) ->	/* it goes to the other one */
					tok[m] = 0; forget(m)
				:: tok[to] > 0 && KNOWS(to) && !(tok[to] > tok[m] || HAS(to) && prog[to] > 0) ->	/* the other one comes */
					tok[to] = 0; newborn[to] = 0; frozen[to] = 0; asker[to] = 0; resting[to] = 0; given[to] = 0; waits[to] = 0; got[to] = 0;
					got[m] = got[m] | (1 << to)
#ifndef BUG_NO_SEARCH
				:: (tok[to] == 0 || !KNOWS(to)) && last[to] > tok[m] && (where & (1 << last[to])) ->	/* it knows of the other one */
					tok[m] = 0; forget(m)
#endif
				:: else -> got[m] = got[m] | (1 << to); last[to] = tok[m]
				fi
			:: else
			fi;
			to = 0; done() } }
	:: d_step { ASKS(m) && ANSWERED(m) ->
		SAY(m, FREE); waits[m] = 0; got[m] = 0; done() }
#endif
	:: d_step { !dead[m] && frozen[m] -> SAY(m, THAW); frozen[m] = 0; done() }
	:: d_step { MAKES(m) ->
		SAY(m, MAKE); made++; tok[m] = made + 1; newborn[m] = 1; last[m] = made + 1; knows[m] = UNSURE; ends[m] = 0; by[m] = 0; quick = 0; idle = 0;
#ifndef BUG_OLD_PROMISE
		k = 0;
		do
		:: k == N -> break
		:: k < N && !dead[k] && knows[k] == REST -> knows[k] = UNSURE; by[k] = 0; k++	/* it was asked, too */
		:: k < N && (dead[k] || knows[k] != REST) -> k++
		od;
		k = 0;
#endif
		done() }
	od
}

proctype Time()
{
	do
	/* What is due happens before time goes on. */
	:: d_step { !due ->
		SAY(0, TICK);
		/* The token is lost, or its holder waits. */
		n = used == 0;
		i = 0;
		do
		:: i == N -> break
		:: else ->
			if
			:: prog[i] > 0 -> prog[i]--; n = 0
			:: else
			fi;
			if
			:: ends[i] > 0 -> ends[i]--
			:: else
			fi;
			if
			:: dead[i] && silent[i] < WAITS -> silent[i]++
			:: else
			fi;
			if
			:: !dead[i] && age[i] < AGE -> age[i]++; forgot[i] = forgot[i] && age[i] < HOLD
			:: else
			fi;
			i++
		od;
		idle = (n && idle <= STALL -> idle + 1 : (n -> idle : 0));
		no_stall = idle <= STALL;
		soon = !quick || idle <= L + 1;
		assert(no_stall);
#ifndef BUG_NO_FOLLOW	/* which breaks this first */
		assert(soon);
#endif
		no_stall = 0; soon = 0; done() }
	od
}

init {
	atomic {
#ifdef FORGOTTEN
		made = 1; knows[N - 1] = REST; last[N - 1] = 1;
#else
		tok[0] = 1;
#endif
		k = 0;
		do
		:: k == N -> break
		:: BEGUN && k < N - 1 -> forgot[k] = 1; k++	/* and has just begun */
		:: !BEGUN && k < N - 1 || k == N - 1 -> age[k] = AGE; k++
		od;
		done();
		run Time();
		k = 0;
		do
		:: k == N -> break
		:: else -> run Member(k); k++
		od;
		k = 0
	}
}
