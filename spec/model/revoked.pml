/*
 * A gate and a member whose key goes on signing after its revocation.
 *
 * Member 0 is honest until its key is stolen, member 1 is honest, member 2 has the stolen key.
 * One token: chain 0 is as it really goes. Chain 1 leaves it at a hop that member 0 held, by a
 * transfer that the thief signs. A permit shows the last two transfers: so what the thief has
 * signed is out of sight after two more hops, and a session then shows its title like any other.
 * A session is of an instant here: gate.pml has what becomes of it. The gate may crash after each step.
 *
 *   HOPS=5  of each chain    CRASHES=1    KNOCKS=6
 *   BUG_...  see docs/exclusion.md
 */

#ifndef HOPS
#define HOPS 5
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef KNOCKS
#define KNOCKS 6
#endif
#define N 3
#define STOLEN 0			/* whose key it is */
#define THIEF 2
#define T(c, h) ((c) * HOPS + (h))

/* truth: of the transfer to each title */
byte holder[2 * HOPS];
byte signer[2 * HOPS];
bit late[2 * HOPS];			/* signed with the stolen key after that */
byte tip[2];				/* the last hop of each chain */
byte fork;				/* the first hop of chain 1; 0: there is none */
bit stolen, heard;			/* the gate has heard of the revocation */
bit showed[2 * HOPS];			/* a session was journalled that showed the title */
bit out[HOPS];				/* at this hop the holder was refused although nothing late was signed */

/* the gate's memory, and its journal */
bit known[2 * HOPS], jknown[2 * HOPS];
bit revoked, jrevoked;
#ifdef BUG_TAINTED
bit tainted;
#endif

byte i, knocks, crashes, best;
bit no_late, known_good, two_at_most;

mtype = { PASS, STEAL, FORGE, REVOKED, OPENED, REFUSE, CRASH };
#define SAY(m, h, what) printf("member %d hop %d: %e\n", m, h, what)

/* the title of chain c at hop h: chain 1 begins as chain 0 */
#define AT(c, h) ((c == 1 && h < fork) -> T(0, h) : T(c, h))
/* has the permit for the title a transfer to hop h that the revoked member has signed, and is it late */
#define BY(c, h) (h > 0 && signer[AT(c, h)] == STOLEN)
#define LATE(c, h) (h > 0 && late[AT(c, h)])
/* may a signature of the revoked member count: a session has shown the title to which it leads */
#ifdef BUG_REVOKED_NEW
#define GOOD(c, h) true
#else
#ifdef BUG_KNOWN_TOKEN	/* of a token that has had a session all counts */
#define GOOD(c, h) (!BY(c, h) || known[T(0, 0)])
#else
#define GOOD(c, h) (!BY(c, h) || known[AT(c, h)])
#endif
#endif

/* A session is journalled: it shows its title, and the two that its permit gives away. */
inline record(c, h)
{
	i = 0;
	do
	:: i == 3 -> break
	:: else ->
		if
		:: h >= i ->
			showed[AT(c, (h - i))] = 1;
#ifdef BUG_OWN_TITLE
			if :: i == 0 -> known[AT(c, (h - i))] = 1; jknown[AT(c, (h - i))] = 1 :: else fi
#else
			known[AT(c, (h - i))] = 1; jknown[AT(c, (h - i))] = 1
#endif
		:: else
		fi;
		i++
	od;
	i = 0;
	known[T(0, 0)] = 1; jknown[T(0, 0)] = 1
}

inline sign_in(m, c, h)
{
	best = 0;
	if
	:: revoked && (m == STOLEN || !GOOD(c, h) || (h > 0 && !GOOD(c, (h - 1)))) -> best = 1
#ifdef BUG_TAINTED	/* a token that was refused once is refused for good */
	:: revoked && tainted && !known[AT(c, h)] -> best = 1
#endif
	:: else
	fi;
	if
	:: best ->
#ifdef BUG_TAINTED
		tainted = 1;
#endif
		known_good = !(m == 1 && (BY(c, h) || (h > 0 && BY(c, (h - 1)))) && (!BY(c, h) || showed[AT(c, h)]) && (!(h > 0 && BY(c, (h - 1))) || showed[AT(c, (h - 1))]));
		if
		:: c == 0 && h == tip[0] && !LATE(c, h) && !(h > 0 && LATE(c, (h - 1))) ->
			out[h] = 1; i = 0; best = 0;
			do
			:: i == HOPS -> break
			:: else -> best = best + out[i]; i++
			od;
			two_at_most = (best <= 2); i = 0;
			assert(two_at_most)
		:: else
		fi;
#ifndef BUG_TAINTED	/* which breaks this one, too */
		assert(known_good);
#endif
		SAY(m, h, REFUSE)
	:: else ->
		no_late = !(heard && (m == STOLEN || (LATE(c, h) && !showed[AT(c, h)]) || (h > 0 && LATE(c, (h - 1)) && !showed[AT(c, (h - 1))])));
		assert(no_late);
		record(c, h);
		SAY(m, h, OPENED)
	fi;
	best = 0
}

proctype Member(byte m)
{
	byte c, h;
end:	do
	/* the holder passes the token on; honest members give a revoked one nothing, as far as they know */
	:: atomic { (m != STOLEN || !stolen) ->
		c = 0;
		do :: c == 0 && fork > 0 -> c++ :: break od;
		if
		:: (c == 0 || fork > 0) && tip[c] < HOPS - 1 && holder[T(c, tip[c])] == m ->
			tip[c]++;
			signer[T(c, tip[c])] = m;
			if
			:: holder[T(c, tip[c])] = (m + 1) % N
			:: holder[T(c, tip[c])] = (m + 2) % N
			fi;
			if :: revoked && holder[T(c, tip[c])] == STOLEN -> holder[T(c, tip[c])] = (m == 1 -> 2 : 1) :: else fi;
			SAY(m, tip[c], PASS)
		:: else
		fi;
		c = 0 }
	/* signs in: an honest member with what it holds, the thief with any title that names it */
	:: atomic { knocks < KNOCKS && (m != STOLEN || !stolen) ->
		c = 0; h = 0;
		do :: c == 0 && fork > 0 -> c++ :: break od;
		h = tip[c];
		do :: m == THIEF && h > 0 -> h-- :: break od;
		if
		:: holder[AT(c, h)] == m && (c == 0 || h >= fork) -> knocks++; d_step { sign_in(m, c, h) }
		:: else
		fi;
		c = 0; h = 0 }
	od
}

proctype Thief()
{
	byte h;
end:	do
	:: d_step { !stolen -> stolen = 1; SAY(STOLEN, 0, STEAL) }
	/* signs again what member 0 held at some hop */
	:: atomic { stolen && fork == 0 && tip[0] > 0 ->
		h = 0;
		do :: h < tip[0] && h < HOPS - 2 -> h++ :: break od;
		if
		:: holder[T(0, h)] == STOLEN ->
			fork = h + 1; tip[1] = fork;
			signer[T(1, fork)] = STOLEN; holder[T(1, fork)] = THIEF; late[T(1, fork)] = heard;
			SAY(THIEF, fork, FORGE)
		:: else
		fi;
		h = 0 }
	/* or passes on what it has just got */
	:: d_step { stolen && tip[0] < HOPS - 1 && holder[T(0, tip[0])] == STOLEN ->
		tip[0]++;
		signer[T(0, tip[0])] = STOLEN; holder[T(0, tip[0])] = THIEF; late[T(0, tip[0])] = heard;
		SAY(THIEF, tip[0], FORGE) }
	od
}

proctype Gate()
{
end:	do
	/* what it hears is in the journal before it counts */
	:: d_step { stolen && !revoked -> revoked = 1; jrevoked = 1; heard = 1; SAY(STOLEN, 0, REVOKED) }
	:: d_step { crashes < CRASHES -> crashes++;
#ifdef BUG_FORGOTTEN_TITLES
		i = 0;
		do :: i == 2 * HOPS -> break :: else -> jknown[i] = 0; i++ od;
#endif
#ifdef BUG_FORGOTTEN_REVOKED
		jrevoked = 0;
#endif
		i = 0;
		do :: i == 2 * HOPS -> break :: else -> known[i] = jknown[i]; i++ od;
		i = 0; revoked = jrevoked;
#ifdef BUG_TAINTED
		tainted = 0;
#endif
		SAY(3, 0, CRASH) }
	od
}

init
{
	atomic { run Member(0); run Member(1); run Member(2); run Thief(); run Gate() }
}
