/*
 * Members that wait and cease to: when a holder may be counted late (P-74, 3 of spec/policy/keeper.md).
 *
 * A keeper believes that the holder of a token keeps it while another member waits. Members that wait say so seldom, and do
 * not say that they cease to. So the keeper asks one of them, the witness, whether it has waited without a break since the holder
 * was told of it. It tells the holder of a next one, too. When the witness ceases, the next one takes its place if the holder
 * was told of that one while the witness still waited, as far as the keeper knows. Otherwise the time begins anew.
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
 *   BUG_NO_SINCE   the witness says that it waits, and not since when
 *   BUG_GAP        the next one takes its place also if the holder may have been told of it too late
 *   BUG_TOLD_ONCE  the holder is told once of a witness
 *   BUG_NO_NEXT    there is no next one
 *   BUG_LAST       the next one is the last member that has said that it waits, not the first
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
#define SILENT 2		/* L: a witness that has not said so since is none */
#define BOUND (2 * MOST + TURN + 6)

bit wants[3];			/* of the members 1 and 2 */
byte age[3];			/* for how many ticks they have waited without a break */
byte quiet;			/* ticks since member 1 said that it waits */

/* the keeper */
byte last;			/* the member that has said last that it waits; 0: it has a token since, or does not wait */
byte told = NONE;		/* ticks since the time began */
byte witness, wtold;		/* wtold: ticks since the holder was told of it */
byte seen;			/* ticks since it said that it has waited since then; SILENT: it has not */
byte asked;			/* ticks since it was asked, and has not answered */
byte next, nexttold = NONE;	/* nexttold: ticks since the holder was told of it */

/* an honest holder */
bit known[3];			/* the members of which it was told: while its program runs, the last one alone */
byte running;			/* ticks */
bit slow;			/* it has let one tick pass */
bit ran;			/* it has begun a program since it was told that somebody waits */

bit over, no_false, found;

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
#if !defined(BUG_LAST) && !defined(BUG_NO_NEXT)
		if
		:: next == 0 && m != witness -> next = m; nexttold = NONE
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
	witness = m; wtold = 0; seen = SILENT; asked = 0; next = 0; nexttold = NONE;
	if
	:: witness != 0 -> TELL(witness)
	:: else
	fi
}

/* the witness has ceased, or may have */
inline ceases()
{
	last = (last == witness -> 0 : last);
	if
#ifdef BUG_GAP
	:: next != 0 && nexttold != NONE ->
#else
	:: next != 0 && nexttold != NONE && seen < SILENT && nexttold >= seen ->
#endif
		witness = next; wtold = nexttold; asked = 0; next = 0; nexttold = NONE;
		seen = SILENT
	:: else ->
		next = (next != 0 -> next : last);
		begins(next)
	fi
}

inline tellsNext()
{
	if
	:: next == 0 && last != 0 && last != witness -> next = last; nexttold = 0; TELL(next)
	:: next == 0 && (last == 0 || last == witness)
	:: next != 0 && nexttold == NONE -> nexttold = 0; TELL(next)
	:: next != 0 && nexttold != NONE -> MORE(nexttold, MOST)
	fi
}

inline keeper()
{
	if
	:: told == NONE ->
		next = (next != 0 -> next : last);
		begins(next)
	:: else ->
		MORE(told, MOST); MORE(wtold, MOST); MORE(seen, SILENT); asked++;
#ifndef BUG_NO_NEXT
		tellsNext();
#endif
#ifdef BUG_OLD_WANT
		if
		:: last == 0 -> begins(0)
		:: else -> seen = 0; asked = 0
		fi;
#else
		if
#ifdef BUG_NO_SINCE
		:: wants[witness] -> seen = 0; asked = 0; AGAIN(witness)
		:: !wants[witness] -> ceases()
#else
		:: wants[witness] && age[witness] >= wtold -> seen = 0; asked = 0; AGAIN(witness)
		:: !wants[witness] || age[witness] < wtold -> ceases()
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
	if
	:: running > 0
	:: running == 0 && (known[1] || known[2]) && !slow -> slow = 1
	:: running == 0 && (known[1] && wants[1] || known[2] && wants[2]) -> over = 1; SAY(0, PASS)
	:: running == 0 && !(known[1] && wants[1] || known[2] && wants[2]) -> slow = 0; known[1] = 0; known[2] = 0
#ifndef BUG_AGAIN
	:: running == 0 && !known[1] && !known[2] && !ran ->
#else
	:: running == 0 && !known[1] && !known[2] ->
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
