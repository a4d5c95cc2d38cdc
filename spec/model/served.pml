/*
 * Members that wait and cease to: when a holder may be counted late (P-74, 3 of spec/policy/keeper.md).
 *
 * A keeper believes that the holder of a token keeps it while another member waits. Members that wait say so seldom, and do
 * not say that they cease to. So the keeper asks one of them, the first, whether it has waited without a break since the holder
 * was told of it. It tells the holder of a second one, too. When the first one ceases, the second one takes its place if the holder
 * was told of that one while the first one still waited, as far as the keeper knows. Otherwise the time begins anew.
 *
 * Not in the model: that the keeper also asks the second one, so that one which has ceased keeps nobody out; answers that are late;
 * a member that tells the keeper that it waits, and the holder that it does not; a holder that says that it waits; a keeper that waits
 * itself. Tests of package keeper have them.
 *
 * A tick is L / 2. What is assumed of an honest holder: it runs one program of RUN ticks, and begins no further one after it was told
 * that somebody waits. When it is idle, it asks those that it was told of within two ticks, and passes the token to one that waits.
 * While its program runs, it remembers the last one alone.
 *
 *   LIAR           the holder keeps the token; member 1 waits all the time, and says so each TURN ticks at least
 *   RUN=2          the longest program (H)
 *   LATE=4         2 L
 *   TURN=2
 *   BUG_OLD_WANT   a want counts until the next one: nobody is asked
 *   BUG_NO_SINCE   the first says that it waits, and not since when
 *   BUG_GAP        the second one takes its place also if the holder may have been told of it too late
 *   BUG_TOLD_ONCE  the holder is told once of a first
 *   BUG_NO_SECOND  there is no second one
 *   BUG_LAST       the second one is the last member that has said that it waits, not the first
 *   WINDOWS        the holder's window opens and closes at any time, whatever the others' clocks say: it begins no program while it
 *                  is closed (P-91). A member whose window closes ceases to wait, as members do here at any time
 *   BUG_SHUT_KEEPS it passes nothing on either while it is closed (P-93)
 *   BUG_AGAIN      the holder runs again although it was told that somebody waits (P-80, 3): this is assumed of it
 */

#ifndef RUN
#define RUN 2
#endif
#ifndef LATE
#define LATE 4
#endif
#ifndef TURN
#define TURN 2
#endif
#define O (RUN + LATE)
#define MOST (O + LATE)		/* ticks, as far as they are counted */
#define NONE 255
#define SILENT 2		/* L: a first that has not said so since is none */
#define BOUND (2 * MOST + TURN + 6)

bit wants[3];			/* of the members 1 and 2 */
byte age[3];			/* for how many ticks they have waited without a break */
byte quiet;			/* ticks since member 1 said that it waits */

/* the keeper */
byte last;			/* the member that has said last that it waits; 0: it has a token since, or does not wait */
byte told = NONE;		/* ticks since the time began */
byte first, firsttold;		/* firsttold: ticks since the holder was told of it */
byte seen;			/* ticks since it said that it has waited since then; SILENT: it has not */
byte asked;			/* ticks since it was asked, and has not answered */
byte second, secondtold = NONE;	/* secondtold: ticks since the holder was told of it */

/* an honest holder */
bit known[3];			/* the members of which it was told: while its program runs, the last one alone */
byte running;			/* ticks */
bit slow;			/* it has let one tick pass */
bit ran;			/* it has begun a program since it was told that somebody waits */

bit shut;			/* its window is closed */

bit over, no_false, found;
#ifdef BUG_SHUT_KEEPS
#define KEEPS shut
#else
#define KEEPS 0
#endif

mtype = { PASS, STRUCK, BEGIN, CEASE, WANT };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)
#define TELL(m) d_step { known[1] = (running == 0 && known[1]) || m == 1; known[2] = (running == 0 && known[2]) || m == 2 }
#ifdef BUG_TOLD_ONCE
#define AGAIN(m) skip
#else
#define AGAIN(m) TELL(m)
#endif
#define MORE(x, most) x = (x < most -> x + 1 : most)

inline member(m)
{
	if
	:: wants[m] -> MORE(age[m], BOUND)
#ifdef LIAR
	:: wants[m] && m != 1 ->
#else
	:: wants[m] ->
#endif
		wants[m] = 0; age[m] = 0; SAY(m, CEASE)
#ifdef LIAR
	:: wants[m] && m != 1 ->
#else
	:: wants[m] ->
#endif
		age[m] = 0			/* it ceases, and begins again */
	:: !wants[m] -> wants[m] = 1; age[m] = 0; SAY(m, BEGIN)
	:: !wants[m]
	fi;
	if
	:: wants[m] -> last = m; SAY(m, WANT); quiet = (m == 1 -> 0 : quiet);
#if !defined(BUG_LAST) && !defined(BUG_NO_SECOND)
		if
		:: second == 0 && m != first -> second = m; secondtold = NONE
		:: else
		fi
#endif
#ifdef LIAR
	:: m != 1 || !wants[1] || quiet < TURN -> quiet = (m == 1 -> quiet + 1 : quiet)
#else
	:: true
#endif
	fi
}

inline begins(m)
{
	told = (m == 0 -> NONE : 0); ran = (running > 0);
	first = m; firsttold = 0; seen = SILENT; asked = 0; second = 0; secondtold = NONE;
	if
	:: first != 0 -> TELL(first)
	:: else
	fi
}

/* the first has ceased, or may have */
inline ceases()
{
	last = (last == first -> 0 : last);
	if
#ifdef BUG_GAP
	:: second != 0 && secondtold != NONE ->
#else
	:: second != 0 && secondtold != NONE && seen < SILENT && secondtold >= seen ->
#endif
		first = second; firsttold = secondtold; asked = 0; second = 0; secondtold = NONE;
		seen = SILENT
	:: else ->
		second = (second != 0 -> second : last);
		begins(second)
	fi
}

inline tellsSecond()
{
	if
	:: second == 0 && last != 0 && last != first -> second = last; secondtold = 0; TELL(second)
	:: second == 0 && (last == 0 || last == first)
	:: second != 0 && secondtold == NONE -> secondtold = 0; TELL(second)
	:: second != 0 && secondtold != NONE -> MORE(secondtold, MOST)
	fi
}

inline keeper()
{
	if
	:: told == NONE ->
		second = (second != 0 -> second : last);
		begins(second)
	:: else ->
		MORE(told, MOST); MORE(firsttold, MOST); MORE(seen, SILENT); asked++;
#ifndef BUG_NO_SECOND
		tellsSecond();
#endif
#ifdef BUG_OLD_WANT
		if
		:: last == 0 -> begins(0)
		:: else -> seen = 0; asked = 0
		fi;
#else
		if
#ifdef BUG_NO_SINCE
		:: wants[first] -> seen = 0; asked = 0; AGAIN(first)
		:: !wants[first] -> ceases()
#else
		:: wants[first] && age[first] >= firsttold -> seen = 0; asked = 0; AGAIN(first)
		:: !wants[first] || age[first] < firsttold -> ceases()
#endif
#ifndef LIAR
		:: asked < SILENT			/* the answer is lost */
		:: asked >= SILENT -> ceases()
#endif
		fi;
#endif
		if
		:: told == NONE || over
		:: else ->
			if
			:: last != 0 -> TELL(last)	/* a search asks the holder, too */
			:: true
			fi;
			if
			:: told >= MOST && seen < SILENT ->
				over = 1; SAY(0, STRUCK);
#ifndef LIAR
				no_false = 0;
				assert(no_false)
#endif
			:: else
			fi
		fi
	fi
}

inline holder()
{
	running = (running > 0 -> running - 1 : 0);
#ifdef WINDOWS
	if
	:: shut = 1 - shut
	:: true
	fi;
#endif
	if
	:: running > 0
	:: running == 0 && KEEPS
	:: running == 0 && (known[1] || known[2]) && !slow -> slow = 1
	:: running == 0 && !KEEPS && (known[1] && wants[1] || known[2] && wants[2]) -> over = 1; SAY(0, PASS)
	:: running == 0 && !(known[1] && wants[1] || known[2] && wants[2]) -> slow = 0; known[1] = 0; known[2] = 0
#ifndef BUG_AGAIN
	:: running == 0 && !shut && !known[1] && !known[2] && !ran ->
#else
	:: running == 0 && !shut && !known[1] && !known[2] ->
#endif
		slow = 0; ran = (told != NONE); running = RUN; SAY(0, BEGIN)
	:: running == 0 && !known[1] && !known[2] -> slow = 0
	fi
}

active proctype Group()
{
	do
	:: over -> break
	:: else ->
		atomic {
			member(1); member(2);
			keeper();
#ifdef LIAR
			found = age[1] < BOUND;
			assert(found);
			found = 0
#else
			if
			:: !over -> holder()
			:: else
			fi
#endif
		}
	od
}
