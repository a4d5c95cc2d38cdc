/*
 * A struck member that lives: how long a keeper waits before it replaces the
 * token that such a member got (P-58, 8 of the protocol).
 *
 * K has struck X, asks it nothing, and believes nothing that it says. Two other honest
 * members, S and Y, have not struck it: X may have lied to K alone. They pass tokens
 * to X, and X passes them on as an honest holder does: each within O, or it dies
 * with the token. K asks S and Y. If neither has the token, they tell which custody
 * of X was the last one. K waits, asks both again, and makes a token if they tell
 * of no other custody. They may have answered L before K makes it.
 *
 *   DMIN=1   min_interval, in ticks    HOLD=2   longest program
 *   L=1      silence                   PASSES=3 tokens that X gets
 *   BUG_AS_DEAD       K waits for HOLD, as for a member that is dead
 *   BUG_OLD_ANSWER    K waits for O, and not for O + L
 *   BUG_FIRST         K waits from when it was first told of a custody of X
 */

#ifndef DMIN
#define DMIN 1
#endif
#ifndef HOLD
#define HOLD 2
#endif
#ifndef L
#define L 1
#endif
#ifndef PASSES
#define PASSES 3
#endif

#define O (DMIN + HOLD + 2 * L)	/* an honest holder passes the token on before that is over */
#ifdef BUG_AS_DEAD
#define WAIT HOLD
#elif defined(BUG_OLD_ANSWER)
#define WAIT O
#else
#define WAIT (O + L)
#endif

#define X 0
#define S 1
#define Y 2
#define NOBODY 3
#define K 4

byte holder = S;
byte age;		/* ticks since X got the token */
byte passes;		/* custodies of X so far */
bit x_dead;

byte told;		/* the custody of X that K was told of last; 0: none, or the token is elsewhere */
byte since;		/* ticks since then */
bit asked;		/* K has asked again, and may make a token */
byte seen;		/* ticks since those answers */
bit made;

bit living_kept;
mtype = { PASS, BACK, DEATH, ASK, AGAIN, MAKE, TICK };
#define SAY(m, what) printf("member %d hop 0: %e\n", m, what)

/* S and Y answer: one of them has the token, or X got it. */
inline answers()
{
	if
	:: holder == S || holder == Y -> told = 0; since = 0
	:: else ->
		if
#ifdef BUG_FIRST
		:: told == 0 -> told = passes; since = 0
#else
		:: told != passes -> told = passes; since = 0
#endif
		:: else
		fi
	fi
}

active proctype Group()
{
	do
	:: d_step { !x_dead && passes < PASSES && (holder == S || holder == Y) && !made ->
		SAY(holder, PASS); holder = X; age = 0; passes++ }
	:: d_step { holder == X && !x_dead -> SAY(X, BACK); holder = Y; age = 0 }
	:: d_step { holder == X && !x_dead -> SAY(X, DEATH); x_dead = 1; holder = NOBODY; age = 0 }
	:: d_step { !made && told == 0 -> SAY(K, ASK); answers() }
	:: d_step { !made && told > 0 && since + L >= WAIT && !asked -> SAY(K, AGAIN);
		answers(); asked = told > 0 && since + L >= WAIT; seen = 0 }
	:: d_step { !made && asked && since >= WAIT -> SAY(K, MAKE);
		made = 1;
		living_kept = holder == NOBODY;
		assert(living_kept) }
	:: d_step { !made && (holder != X || age + 1 < O) && !(asked && since >= WAIT) && !(asked && seen >= L) ->
		SAY(K, TICK);
		if
		:: holder == X -> age++
		:: else
		fi;
		if
		:: told > 0 && since < WAIT -> since++
		:: else
		fi;
		if
		:: asked -> seen++
		:: else
		fi }
	/* Those answers are too old: K asks again. */
	:: d_step { !made && asked && seen >= L && since < WAIT -> asked = 0; seen = 0 }
	:: made -> break
	od
}
