/*
 * Takes a trace of running members, step by step, through handoff.pml.
 *
 * A trace is about one token. It is made by spec/model/traces, which says how
 * records and messages become steps; one line of JSON for each, in this form and
 * order of fields:
 *
 *   {"at":1.5,"machine":"sender","node":0,"hop":0,"event":"RELEASE","to":1,"rid":"CUR"}
 *
 * Its first line says which nodes are volatile. The file's name is in the
 * environment, as TRACE. The processes of handoff.pml run once for each line, with
 * that step alone (ON). A step that the model does not allow in the state that
 * it has reached is an invalid end state, and a broken property is what it
 * always is; either way the trace is refused.
 */

#define N       8
#define H       60
#define SYNC    1
#define GIVEUPS 1
#define DROPS   1
#define FLOORS  1
#define LATE    1

c_decl {
\#include "replay.c"
}

byte volmask;		/* bit n: node n is volatile */
short at;		/* lines taken */
byte event, role, node, hop, peer, class;
bit intended;		/* the token was dropped: it may be lost */

#define VOLATILE(n)  ((volmask >> (n)) & 1)
#define ON(e)        (event == e)
#define CLASS(c)     (class == (c))
#define STEPS        if
#define ENDSTEPS     fi
/* What an earlier step had to say leaves after the record of a later one. */
#define MAY_OFFER(n, h) (MEM(n, h) != NONE)
#define UNSYNCED(n, h)  1
#define NUMBERED(n, k)  1	/* what nobody can use any more is no longer in the channel */
#define NUMBERED_OLD(n, k) 1

/* The number of an event, by its name. */
#define NAME(e) event = e; c_code { name[now.event] = #e; };
inline learn_names()
{
	NAME(START) NAME(GRANT) NAME(END) NAME(DROP) NAME(OFFER) NAME(RELEASE) NAME(RETRANSMIT)
	NAME(RECEIPT) NAME(VOID) NAME(GIVEUP) NAME(FSYNC) NAME(EXPIRE) NAME(TAKE) NAME(DECLINE)
	NAME(DUPLICATE) NAME(STALE) NAME(FORGET) NAME(FLOOR) NAME(FLOOR_OLD) NAME(CRASH_) NAME(POWER)
	event = 0
}

inline replay()
{
	d_step { learn_names(); c_code { read_trace(); now.volmask = volatiles; } };
	do
	:: c_expr { (now.at < lines) } ->
		d_step { c_code {
			printf("line %d\n", now.at + 2);
			now.event = number_of(line[now.at].event);
			now.role = line[now.at].machine[0];
			now.node = line[now.at].node; now.hop = line[now.at].hop; now.peer = line[now.at].to;
			now.class = class_of(line[now.at].rid);
		} };
		if
		:: role == 's' -> run Sender(node, hop, hop + 1)
		:: role == 'r' -> run Receiver(node, hop)
		:: role == 'm' -> run Memory(node)
		fi;
		(_nr_pr == 1);
		at++
	:: c_expr { (now.at >= lines) } -> break
	od;
	c_code { printf("the whole trace is taken\n"); }
}
