/*
 * Members that wait and cease to: when a holder may be counted late (P-74 of spec/policy/keeper.md).
 *
 * A keeper believes that the holder of a token keeps it while another member waits. Members that wait say so seldom, and do
 * not say that they cease to. So the keeper asks one of them, the witness, whether it has waited without a break since the holder
 * was told of it. It asks the next one likewise, of which it has told the holder meanwhile. When the witness ceases, the
 * next one takes its place if the holder knew of that one while the witness still waited. Otherwise the time begins anew.
 *
 * A tick is L / 2. An honest holder runs at most one program of RUN ticks at a time. It begins none while it knows of a member
 * that waits, but for PAUSE ticks after it was told first. When it is idle and told of a member, it asks that one within two ticks,
 * and passes the token to it if it waits.
 *
 *   LIAR           the holder keeps the token; member 1 waits all the time, and says so each TURN ticks at least
 *   RUN=2          the longest program (H)
 *   LATE=4         2 L
 *   TURN=2
 *   BUG_OLD_WANT   a want counts until the next one: nobody is asked
 *   BUG_NO_SINCE   the witness says that it waits, and not since when
 *   BUG_UNTOLD     the next one counts whether the holder was told of it in time or not
 *   BUG_NO_NEXT    there is no next one: where members wait for less than O each, a liar is never late
 *   BUG_LAST       the last member that has said that it waits is the witness each time, not the next one
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
#define BOUND (2 * MOST + TURN + 4)

bit wants[3];			/* of the members 1 and 2 */
byte age[3];			/* for how many ticks they have waited without a break */
byte quiet;			/* ticks since member 1 said that it waits */

/* the keeper */
byte last;			/* the member that has said last that it waits; 0: it has a token since, or does not wait */
byte told = NONE;		/* ticks since the time began */
byte witness, seen, pending;	/* seen: ticks since it was known to wait; pending: of questions without an answer */
byte next, nexttold;		/* nexttold: ticks since the holder was told of it */
bit nextwaits;			/* it has said in this tick that it has waited since then */

/* an honest holder */
bit known[3];			/* the members of which it was told: while its program runs, the last one alone */
byte running;			/* ticks */
bit slow;			/* it has let one tick pass */

bit over, no_false, found;

mtype = { PASS, STRUCK, BEGIN, CEASE, WANT };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)
#define TELL(m) d_step { known[1] = (running == 0 && known[1]) || m == 1; known[2] = (running == 0 && known[2]) || m == 2 }
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
		:: next == 0 && m != witness -> next = m; nexttold = NONE; nextwaits = 0
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
	told = (m == 0 -> NONE : 0); witness = m; seen = 0; pending = 0; next = 0; nextwaits = 0;
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
#ifdef BUG_UNTOLD
	:: next != 0 ->
#else
	:: next != 0 && nextwaits ->
#endif
		witness = next; seen = 0; pending = 0; next = 0; nextwaits = 0
	:: else ->
		next = (next != 0 -> next : last);
		begins(next)
	fi
}

inline asksNext()
{
	if
	:: next == 0 && last != 0 && last != witness ->
		next = last; nexttold = 0; nextwaits = 0; TELL(next)
	:: next != 0 && nexttold == NONE -> nexttold = 0; TELL(next)
	:: next != 0 && nexttold != NONE ->
		MORE(nexttold, MOST);
		if
		:: wants[next] && age[next] >= nexttold -> nextwaits = 1
		:: wants[next] && age[next] < nexttold -> nextwaits = 0; nexttold = 0; TELL(next)
		:: !wants[next] -> last = (last == next -> 0 : last); next = 0; nextwaits = 0
		:: true -> nextwaits = 0		/* the answer is lost */
		fi
	:: else
	fi
}

inline keeper()
{
	if
	:: told == NONE ->
		next = (next != 0 -> next : last);
		begins(next)
	:: else ->
		MORE(told, MOST); MORE(seen, MOST);
#ifndef BUG_NO_NEXT
		asksNext();
#endif
#ifdef BUG_OLD_WANT
		if
		:: last == 0 -> begins(0)
		:: else -> seen = 0
		fi;
#else
		if
#ifdef BUG_NO_SINCE
		:: wants[witness] -> seen = 0; pending = 0
		:: !wants[witness] -> ceases()
#else
		:: wants[witness] && age[witness] >= seen -> seen = 0; pending = 0
		:: !wants[witness] || age[witness] < seen -> ceases()
#endif
#ifdef LIAR
		:: pending == 0 || witness != 1 ->
#else
		:: true ->			/* the answer is lost */
#endif
			pending++;
			if
			:: pending == 2 -> ceases()
			:: else
			fi
		fi;
#endif
		if
		:: told == NONE || over
		:: else ->
			if
			:: last != 0 -> TELL(last)	/* a search asks the holder, too */
			:: true
			fi;
			TELL(witness);
			if
			:: told >= MOST && seen == 0 ->
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
	:: running == 0 && !known[1] && !known[2] -> slow = 0; running = RUN; SAY(0, BEGIN)
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
