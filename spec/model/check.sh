#!/bin/sh
# Checks the models of the handoff with spin and gcc. Prints one line for each
# configuration; exits 1 if one of them is not as expected.
#
#   check.sh               everything
#   check.sh --quick       smaller configurations, and all that must fail
#   check.sh --trail NAME  the run that springs a trap, e.g. TRAP_2
#   check.sh --traces N [FIRST]  replays what N simulated groups did, from seed
#                          FIRST on (else from the clock); needs Go
#   check.sh --replay FILE...  replays traces that are there
#
# All files are made in a temporary directory.

set -eu

seconds=180	# of processor time, longest search
megabytes=4000	# most memory of a search
depth=200000	# of the search's stack

here=$(cd "$(dirname "$0")" && pwd)
quick='' trail='' traces='' replay='' optimize=-O2
case ${1-} in
'') ;;
--quick) quick=1 optimize=-O1 ;;
--trail) trail=${2?a name is missing, such as TRAP_2} ;;
--traces) traces=${2?a number of groups is missing} first=${3-$(date +%s)} ;;
--replay) replay=1; shift ;;
*) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cp "$here"/*.pml "$here"/*.c "$here"/transitions.txt "$work"
failed=''

# taken FILE: the model takes the whole trace; else says where it stops.
taken() {
	case $1 in
	/*) trace=$1 ;;
	*) trace=$PWD/$1 ;;
	esac
	(cd "$work" && TRACE=$trace ./replay -n -w18 -m$depth) >"$work/replay.out" 2>&1 || true # it writes a trail where it runs
	if grep -q 'errors: 0' "$work/replay.out" && grep -q 'the whole trace is taken' "$work/replay.out"; then
		return 0
	fi
	at=$(sed -n 's/^line //p' "$work/replay.out" | tail -n 1)
	printf 'REFUSED  %s, line %s: %s\n' "$1" "${at:--}" "$(sed -n "${at:-1}p" "$1")"
	sed -n '/^pan:1: assert/p; /^line [0-9]*: /p; /^no such/p' "$work/replay.out"
	return 1
}

build_replay() {
	(cd "$work" && spin -DREPLAY -a handoff.pml && gcc -w -DSAFETY -DNOREDUCE -DCOLLAPSE -DVECTORSZ=4096 -o replay pan.c) >"$work/build.out" 2>&1 || {
		cat "$work/build.out" >&2
		exit 2
	}
}

if [ "$traces$replay" ]; then
	build_replay
	if [ "$traces" ]; then
		mkdir "$work/traces"
		(cd "$here" && go run ./traces --seeds "$traces" --first "$first" --out "$work/traces") | sed "s/\$/, from seed $first on/"
		set -- "$work"/traces/*
	fi
	for file; do taken "$file" || failed=1; done
	[ ! "$failed" ] || exit 1
	echo "ok     $# traces are runs of the model"
	exit
fi
cd "$work"

# search MODEL COMPILE MACROS...: builds and runs a verifier; sets the results below.
search() {
	model=$1 compile=$2
	shift 2
	took=''
	case $model in
	liveness) compile="${compile%-DBFS} -DNFAIR=5" run="-m$depth -a -f" ;;
	*) compile="$compile -DSAFETY" run="-m$depth" ;;
	esac
	rm -f pan pan.* ./*.trail
	if ! { spin "$@" -a $model.pml && gcc -w -DCOLLAPSE -DVECTORSZ=1024 -DMEMLIM=$megabytes $compile -o pan pan.c; } >build.out 2>&1; then
		cat build.out >&2
		exit 2
	fi
	(ulimit -t $seconds; exec ./pan -n $run) >pan.out 2>&1 || true
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out)
	reached=$(sed -n 's/.*depth reached \([0-9]*\).*/\1/p' pan.out)
	took=$(sed -n 's/^pan: elapsed time \([0-9.]*\).*/\1/p' pan.out)
	violated=$(sed -n 's/^pan:[0-9]*: assertion violated \([a-zA-Z_]*\).*/\1/p; s/^pan:[0-9]*: acceptance cycle.*/arrives/p' pan.out)
	complete=''
	if grep -q 'errors: 0' pan.out && ! grep -q -e 'not completed' -e 'too small' pan.out; then
		complete=1
	fi
}

# line RESULT WHAT
line() {
	printf '%-6s %9s states  depth %5s  %6s s  %s\n' "$1" "${states:--}" "${reached:--}" "${took:--}" "$2"
	[ "$1" != FAILED ] || failed=1
}

# holds MODEL MACROS...: an exhaustive search finds no violation.
holds() {
	[ ! "$trail" ] || return 0
	model=$1
	shift
	search "$model" $optimize "$@"
	if [ "$complete" ]; then line ok "$model $*"; else line FAILED "$model $*: ${violated:-not finished}"; fi
}

# breaks PROPERTY MODEL MACROS...: the search finds that PROPERTY is violated, breadth first.
breaks() {
	expected=$1 model=$2
	shift 2
	case "$trail: $* " in :* | *": "*"-D$trail "*) ;; *) return 0 ;; esac
	level=-O0	# the searches of handoff are short, gcc is not
	[ "$model" != floors ] || level=-O1
	search "$model" "$level -DBFS" "$@"
	if [ "$trail" ]; then
		line trail "$model $*: ${violated:-nothing}"
		spin -t "$@" $model.pml | sed -n 's/^ *\([a-z].* [0-9]*: [A-Z_]*\)$/\1/p; /START OF CYCLE/p'
	elif [ "$violated" = "$expected" ]; then
		line breaks "$model $*: $violated"
	else
		line FAILED "$model $*: ${violated:-nothing} instead of $expected"
	fi
}

# table MACROS...: the steps of handoff.pml are those of transitions.txt.
table() {
	[ ! "$trail" ] || return 0
	search handoff -O1 -DTABLE "$@"
	awk '
		BEGIN { split("NONE HOLD . SENT CLOSED DROPPED", s, " "); split("NONE LIVE LAPSED VOIDED TAKEN", r, " ") }
		/^#/ || NF == 0 { next }
		FILENAME == "transitions.txt" { listed[$1 " " $2 " " $3 " " $4] = 1; next }
		$1 != "ROW" || $2 == "memory" || $4 == "START" || $4 == "END" { next }
		{
			if ($4 == "FLOOR_OLD") next
			if ($4 == "FLOOR") { if ($3 == $5) next; $4 = "FORGET" }
			from = $2 == "sender" ? s[$3 + 1] : r[$3 - 9]
			to = $2 == "sender" ? s[$5 + 1] : r[$5 - 9]
			taken[$2 " " from " " $4 " " to] = 1
			if ($4 == "EXPIRE") taken[$2 " " from " CANCEL " to] = 1
		}
		END {
			for (t in taken) if (!(t in listed)) { print "not in transitions.txt: " t; bad = 1 }
			for (t in listed) { split(t, f, " "); if (f[2] != f[4] && !(t in taken)) { print "the model never does: " t; bad = 1 } }
			exit bad
		}' transitions.txt pan.out || complete=''
	if [ "$complete" ]; then line ok "transitions.txt: handoff $*"; else line FAILED "transitions.txt: handoff $*"; fi
}

# Three nodes, up to H hops. VOLMASK: 0 all durable, 7 all volatile, else mixed.
all='-DGIVEUPS=1 -DDROPS=1 -DFLOORS=1'
table -DH=2 -DVOLMASK=4 -DLATE=1 $all
kinds='0 1 2 3 6 7'
[ ! "$quick" ] || kinds='0 2 7'
for kind in $kinds; do
	holds handoff -DH=3 -DVOLMASK=$kind
	[ "$quick" ] || holds handoff -DH=3 -DVOLMASK=$kind $all
done
holds handoff -DH=3 -DFLOORS=2
holds handoff -DH=2 -DLATE=1 -DFLOORS=2
holds handoff -DH=2 -DLATE=1 -DVOLMASK=7 $all
holds handoff -DH=2 -DSYNC=1 -DFLOORS=2
holds handoff -DH=2 -DSYNC=1 -DVOLMASK=2 $all
if [ ! "$quick" ]; then
	for kind in 0 2 7; do	# without VOID, without pre-offer, without either
		holds handoff -DH=3 -DVOLMASK=$kind -DVOIDS=0
		holds handoff -DH=3 -DVOLMASK=$kind -DPREOFFER=0
		holds handoff -DH=3 -DVOLMASK=$kind -DVOIDS=0 -DPREOFFER=0 $all
	done
	holds handoff -DH=3 -DLATE=1 -DFLOORS=2
	holds handoff -DH=3 -DLATE=1 -DVOLMASK=7
	holds handoff -DH=3 -DSYNC=1 -DFLOORS=2
	holds handoff -DH=3 -DSYNC=1 $all
	holds handoff -DH=3 -DSYNC=1 -DVOLMASK=2 -DVOIDS=0 -DPREOFFER=0 $all
	holds handoff -DH=4
	holds handoff -DH=4 -DVOLMASK=6
	holds handoff -DH=4 -DFLOORS=2
	holds handoff -DH=5
	holds handoff -DH=5 -DVOLMASK=7
fi

# How a receiver forgets; how a token arrives.
holds floors -DA=3
holds floors -DA=3 -DALL
holds liveness -DRESTART=0
if [ ! "$quick" ]; then
	holds floors -DA=3 -DDEATH=1
	holds floors -DA=3 -DLOSS=1
	holds floors -DA=4
	holds liveness
	holds liveness -DRESTART=2
	holds liveness -DRESTART=3
	holds liveness -DVOIDS=0
	holds liveness -DPREOFFER=0
	holds liveness -DRESTART=0 -DVOIDS=0 -DPREOFFER=0
	holds liveness -DRESTART=3 -DVOIDS=0 -DPREOFFER=0
fi

# The ten traps.
breaks never_lost handoff -DTRAP_1 -DH=2 -DCRASH=0
breaks one_custody handoff -DTRAP_2 -DH=2 -DVOLMASK=7 -DONLY_CUSTODY
breaks one_custody handoff -DTRAP_3 -DH=3 -DVOLMASK=7 -DONLY_CUSTODY
breaks one_custody handoff -DTRAP_4 -DH=3 -DVOLMASK=7 -DONLY_CUSTODY
breaks one_transfer handoff -DTRAP_5 -DH=2
breaks never_lost handoff -DTRAP_5 -DH=2 -DEQUIVOCATE
[ "$quick" ] || holds handoff -DTRAP_5 -DH=2 -DEQUIVOCATE -DVOLMASK=7 -DONLY_CUSTODY
breaks one_custody handoff -DTRAP_6 -DH=3 -DONLY_CUSTODY
breaks arrives liveness -DTRAP_7 -DRESTART=0
breaks never_lost handoff -DTRAP_8 -DH=2
breaks one_custody handoff -DTRAP_9 -DH=2 -DGIVEUPS=1 -DONLY_CUSTODY
breaks one_custody handoff -DTRAP_10 -DH=2 -DONLY_CUSTODY
breaks arrives liveness -DTRAP_1 -DRESTART=0
breaks arrives liveness -DTRAP_8
breaks arrives liveness -DBUG_SILENT

# The order of durable writes.
breaks one_custody handoff -DBUG_SEND -DH=2 -DSYNC=1
breaks never_orphan handoff -DBUG_RECEIPT -DH=2 -DSYNC=1
breaks one_custody handoff -DBUG_VOID -DH=2 -DSYNC=1 -DONLY_CUSTODY
breaks never_lost handoff -DBUG_RECLAIM -DH=2 -DSYNC=1
breaks one_custody handoff -DBUG_RESTART -DH=2 -DSYNC=1

# The details of forgetting.
breaks taken_once floors -DBUG_NO_FLOOR -DA=3
breaks useful_accept floors -DBUG_BELOW -DA=3
breaks never_lost floors -DBUG_PROMISE -DA=3
breaks never_lost floors -DBUG_IN_HAND -DA=3
breaks taken_once floors -DBUG_DELETE_FIRST -DA=3
breaks taken_once floors -DBUG_FLOOR_ZERO -DA=3 -DDEATH=1
breaks taken_once floors -DBUG_RESET -DA=3 -DDEATH=1
breaks taken_once floors -DBUG_RAISE_CREATES -DA=3 -DDEATH=1
breaks never_lost floors -DBUG_INCARNATION -DA=3 -DLOSS=1

# The fence.
[ "$quick" ] || holds fence
[ "$quick" ] || holds fence -DSKEW=1 -DHAD -DHOPS=1
breaks not_locked_out fence -DBUG_HOP
breaks not_locked_out fence -DBUG_EARLIER
breaks not_locked_out fence -DBUG_CLOCK -DSKEW=1 -DHAD
breaks not_locked_out fence -DBUG_FORGET -DSKEW=1 -DHAD
breaks not_locked_out fence -DSKEW=1	# these escape
breaks not_locked_out fence -DANY_LOSS

# The rules of docs/exclusion.md.
holds accept
breaks only_accepted accept -DBUG_NO_MAC
breaks only_accepted accept -DBUG_MAC_OFFERER
breaks only_accepted accept -DBUG_MAC_TOKEN
breaks only_accepted accept -DBUG_MAC_HOP
breaks only_accepted accept -DBUG_MAC_NUMBER
breaks only_accepted accept -DBUG_KEY_KEPT
breaks never_lost accept -DBUG_KEY_RAM
breaks numbers_left accept -DBUG_FOLLOW
breaks fork_is_proved accept -DPAIR	# not held

holds renewal
holds renewal -DLIAR
breaks never_lost renewal -DBUG_TWO_RECORDS
breaks one_of_both renewal -DBUG_RENEW_SENT
breaks one_of_both renewal -DBUG_RENEW_PENDING
breaks one_of_both renewal -DBUG_RENEW_EARLY
breaks one_program renewal -DBUG_RENEW_RUNNING
breaks fork_is_proved renewal -DLIAR -DBUG_NO_SPEND

holds lease
holds lease -DRESTARTS=1
[ "$quick" ] || holds lease -DSPAN=2 -DRESTARTS=1
[ "$quick" ] || holds lease -DASKS=2
[ "$quick" ] || holds lease -DVOTERS=2
[ "$quick" ] || holds lease -DVOTERS=2 -DLIAR	# the other one is honest
breaks no_overlap lease -DBUG_MARGIN
breaks no_overlap lease -DBUG_FORK
breaks no_overlap lease -DBUG_DAEMON
breaks no_overlap lease -DBUG_TWO
breaks no_overlap lease -DBUG_ENDED_EARLY
breaks no_overlap lease -DBUG_RECEIPT_TIME -DSPAN=2
breaks no_overlap lease -DBUG_RESTART -DRESTARTS=1
[ "$quick" ] || breaks no_overlap lease -DBUG_OLD_ENDED -DASKS=2
[ "$quick" ] || breaks no_overlap lease -DBUG_OLD_VOTE -DASKS=2
[ "$quick" ] || breaks no_overlap lease -DBUG_OLD_FREE -DASKS=2
[ "$quick" ] || breaks no_overlap lease -DBUG_KEEP -DASKS=2
[ "$quick" ] || breaks no_overlap lease -DBUG_COUNT_ON -DASKS=2
[ "$quick" ] || breaks no_overlap lease -DBUG_FREE_RUNNING -DASKS=2
breaks no_overlap lease -DLIAR	# not held

holds rollback
holds rollback -DALWAYS
breaks no_fork rollback -DBUG_NO_TAG
breaks no_fork rollback -DBUG_ACCEPTS
breaks no_fork rollback -DBUG_SILENT_PEER
breaks no_false_alarm rollback -DBUG_UNSIGNED
breaks no_false_alarm rollback -DBUG_EARLY
breaks no_fork rollback -DALWAYS -DBUG_NAMED	# these escape
breaks no_fork rollback -DALWAYS -DBUG_NO_WAIT
breaks no_fork rollback -DALWAYS -DDEADLINE
breaks no_fork rollback -DALWAYS -DFORGET

holds epochs -DNEWBORNS=1
[ "$quick" ] || holds epochs -DNEWBORNS=1 -DLIARS=1
breaks living_kept epochs -DNEWBORNS=1 -DBUG_UNRIPE
breaks one_program epochs -DNEWBORNS=1 -DBUG_RUN_ON
breaks one_program epochs -DNEWBORNS=1 -DBUG_START_AFTER
breaks living_kept epochs -DNEWBORNS=1 -DBUG_NO_REFUTE
breaks living_kept epochs -DNEWBORNS=1 -DBUG_NO_RELAY
breaks living_kept epochs -DNEWBORNS=1 -DBUG_NO_CONTEST
breaks living_kept epochs -DNEWBORNS=1 -DBUG_STAY
[ "$quick" ] || breaks living_kept epochs -DNEWBORNS=1 -DLIARS=1 -DBUG_CONTEST_AGAIN
[ "$quick" ] || holds epochs -DDEATHS=0
[ "$quick" ] || breaks no_stall epochs -DBUG_GHOST -DHOLD=2
breaks one_program epochs -DNEWBORNS=1 -DHOLD=5	# B is too short by D

holds blame -DN=3 -DLIAR=2 -DTOKENS=5 -DLOSSES=4
[ "$quick" ] || holds blame -DRESTARTS=0 -DLOSSES=4 -DTOKENS=4
[ "$quick" ] || holds blame -DN=3 -DLIAR=0 -DRESTARTS=0 -DLOSSES=4
breaks no_false blame -DN=3 -DLIAR=2 -DBUG_ONE_DOUBT
breaks no_false blame -DN=3 -DLIAR=2 -DTOKENS=4 -DBUG_NO_OWN
breaks no_false blame -DN=3 -DLIAR=2 -DBUG_NO_RECEIPT
breaks no_false blame -DN=3 -DLIAR=2 -DTOKENS=4 -DBUG_REMEMBER
breaks no_false blame -DN=3 -DLIAR=0 -DBUG_TRUST
breaks no_false blame -DN=3 -DLIAR=0 -DBUG_AT_ONCE
[ "$quick" ] || breaks no_false blame -DN=3 -DLIAR=0 -DTOKENS=4 -DBUG_MOVING
breaks few_losses blame -DN=3 -DLIAR=2 -DTOKENS=4 -DBUG_TWICE
holds blame -DN=3 -DLIAR=2 -DTOKENS=5 -DLOSSES=4 -DDURABLE
[ "$quick" ] || breaks few_losses blame -DN=3 -DLIAR=2 -DTOKENS=5 -DLOSSES=4 -DDURABLE -DBUG_FORGETS
[ "$quick" ] || breaks few_losses blame -DN=3 -DLIAR=0 -DRESTARTS=0 -DLOSSES=4 -DTOKENS=6 -DBUG_NAMED_ONLY
breaks no_false blame -DPAIR -DRESTARTS=0	# not held

holds blame -DN=3 -DLIAR=2 -DDELAYS=1
holds blame -DDELAYS=1 -DHOPS=1 -DTOKENS=2 -DRESTARTS=0
breaks no_false blame -DDELAYS=1 -DHOPS=1 -DTOKENS=2 -DRESTARTS=0 -DBUG_AT_FIRST_DENIAL
breaks no_bar blame -DN=3 -DLIAR=2 -DDELAYS=1 -DTOKENS=2 -DRESTARTS=0 -DBUG_BAR_AT_FIRST
holds blame -DN=3 -DLIAR=2 -DMINTS=1
[ "$quick" ] || holds blame -DN=3 -DLIAR=2 -DMINTS=2 -DTOKENS=4 -DRESTARTS=0
[ "$quick" ] || holds blame -DN=3 -DLIAR=0 -DMINTS=1 -DTOKENS=2 -DRESTARTS=0
[ "$quick" ] || holds blame -DMINTS=1 -DHOPS=1 -DRESTARTS=0
breaks no_false blame -DN=3 -DLIAR=2 -DMINTS=1 -DHOPS=1 -DRESTARTS=0 -DBUG_EXCUSE_STRUCK
breaks few_losses blame -DN=3 -DLIAR=2 -DMINTS=1 -DHOPS=1 -DTOKENS=4 -DRESTARTS=0 -DBUG_EXCUSED
breaks no_false blame -DN=3 -DLIAR=2 -DMINTS=1 -DHOPS=1 -DRESTARTS=0 -DBUG_SHUN_ALL
breaks no_false blame -DN=3 -DLIAR=2 -DMINTS=1 -DHOPS=1 -DRESTARTS=0 -DBUG_TO_DENIER
holds blame -DN=3 -DLIAR=2 -DWATCH
holds blame -DWATCH -DHOPS=1 -DTOKENS=2 -DRESTARTS=0
[ "$quick" ] || holds blame -DN=3 -DLIAR=2 -DDELAYS=1 -DMINTS=1 -DWATCH -DHOPS=1 -DRESTARTS=0
breaks goes_on blame -DN=3 -DLIAR=2 -DWATCH -DHOPS=1 -DTOKENS=2 -DBUG_DENIES
breaks goes_on blame -DN=3 -DLIAR=2 -DWATCH -DHOPS=1 -DTOKENS=2 -DBUG_NO_GIVE_UP
breaks no_false blame -DN=3 -DLIAR=2 -DWATCH -DHOPS=1 -DTOKENS=2 -DBUG_NOT_STEADY
breaks no_false blame -DN=3 -DLIAR=2 -DWATCH -DHOPS=1 -DTOKENS=2 -DBUG_GIVE_UP_STRIKES
breaks no_false blame -DN=3 -DLIAR=2 -DWATCH -DHOPS=1 -DTOKENS=2 -DBUG_SLEEPER_STRUCK
breaks goes_on blame -DN=3 -DLIAR=2 -DWATCH -DHOPS=1 -DTOKENS=2 -DENDS	# not held
holds blame -DN=3 -DLIAR=2 -DWATCH -DSLOW -DHOPS=1 -DTOKENS=5
[ "$quick" ] || holds blame -DWATCH -DSLOW -DHOPS=1 -DTOKENS=3 -DRESTARTS=0
breaks few_losses blame -DN=3 -DLIAR=2 -DWATCH -DSLOW -DHOPS=1 -DTOKENS=4 -DRESTARTS=0 -DBUG_WATCHED

holds excuses
holds excuses -DRESTARTS=0 -DCONFIGS=1
[ "$quick" ] || holds excuses -DTOKENS=4
[ "$quick" ] || holds excuses -DDEATHS=2 -DREPEATS=3
breaks no_false excuses -DTOKENS=2 -DBUG_REPEATED
breaks no_false excuses -DTOKENS=2 -DCONFIGS=1 -DBUG_CONFIG
breaks no_false excuses -DTOKENS=2 -DCONFIGS=1 -DBUG_CONFIG_AT
breaks no_false excuses -DTOKENS=2 -DLIST=1 -DBUG_EVICTED
breaks no_false excuses -DTOKENS=2 -DBUG_OPENING
breaks no_false excuses -DTOKENS=2 -DCONFIGS=1 -DBUG_SERIAL
breaks no_false excuses -DTOKENS=2 -DBUG_OLD_ANSWER
breaks no_bar excuses -DTOKENS=2 -DBUG_EACH_CUSTODY
breaks no_bar excuses -DTOKENS=2 -DBUG_REPEAT_COUNTS
breaks no_bar excuses -DTOKENS=2 -DBUG_DEAD_COUNTS
breaks no_bar excuses -DTOKENS=2 -DBUG_AGAIN
breaks no_bar excuses -DTOKENS=2 -DRESTARTS=2	# these are not held
breaks no_bar excuses -DTOKENS=2 -DCONFIGS=1
breaks no_bar excuses -DRESTARTS=0 -DLIST=1
holds excuses -DLIAR=0 -DTOKENS=5
holds excuses -DLIAR=0 -DTOKENS=5 -DSENDERS=3 -DSERIALS=1
[ "$quick" ] || holds excuses -DLIAR=0 -DTOKENS=5 -DSENDERS=3
holds excuses -DLIAR=0 -DTOKENS=5 -DDELAYS
[ "$quick" ] || holds excuses -DLIAR=0 -DTOKENS=5 -DSENDERS=3 -DSERIALS=0 -DDELAYS -DLOSSES=4
[ "$quick" ] || holds excuses -DLIAR=0 -DTOKENS=5 -DSENDERS=3 -DSERIALS=1 -DDOUBTS -DLOSSES=4
holds excuses -DLIAR=0 -DTOKENS=4 -DLOSSES=2 -DBUG_EACH_CUSTODY -DBUG_NO_BASE -DBUG_NO_ORDER
breaks few_losses excuses -DLIAR=0 -DTOKENS=4 -DSERIALS=1 -DBUG_NO_BLAME
breaks few_losses excuses -DLIAR=0 -DTOKENS=4 -DSERIALS=1 -DBUG_EACH_EXCUSED
breaks few_losses excuses -DLIAR=0 -DTOKENS=4 -DSERIALS=1 -DBUG_NO_BASE
breaks few_losses excuses -DLIAR=0 -DTOKENS=4 -DSERIALS=1 -DBUG_NO_ORDER
breaks few_losses excuses -DLIAR=0 -DTOKENS=4 -DSENDERS=3 -DSERIALS=0 -DOPENINGS=2 -DBUG_NO_AGE
breaks few_losses excuses -DLIAR=0 -DTOKENS=3 -DSERIALS=1 -DLOSSES=2	# not held
[ "$quick" ] || holds excuses -DKINDS
[ "$quick" ] || holds excuses -DLIAR=0 -DTOKENS=6 -DSERIALS=1 -DKINDS -DLOSSES=5

holds struck
holds struck -DPASSES=5 -DHOLD=4 -DL=2
breaks living_kept struck -DBUG_AS_DEAD
breaks living_kept struck -DBUG_OLD_ANSWER
breaks living_kept struck -DBUG_FIRST

holds claimed
holds claimed -DPASSES=4 -DLEAPS=2 -DCHAIN=2
[ "$quick" ] || holds claimed -DPASSES=6
[ "$quick" ] || holds claimed -DMOVERS=3
breaks not_lost claimed -DPASSES=2 -DBUG_CLAIMED
breaks not_lost claimed -DPASSES=2 -DBUG_CHAIN
breaks not_lost claimed -DPASSES=2 -DBUG_HEARD
breaks not_lost claimed -DPASSES=2 -DBUG_AT_ONCE
breaks not_lost claimed -DPASSES=2 -DBUG_DENIED
breaks not_lost claimed -DPASSES=4 -DLEAPS=2 -DCHAIN=2 -DBUG_SELF
breaks not_lost claimed -DPASSES=4 -DLEAPS=2 -DCHAIN=2 -DBUG_BELIEVED

holds offered
holds offered -DRETURNS=1 -DDEATHS=1 -DPASSES=4
[ "$quick" ] || holds offered -DL=3 -DGIVE=5 -DTRIP=2 -DHOLD=2 -DPASSES=4
breaks living_kept offered -DBUG_PASSING
breaks living_kept offered -DBUG_SINCE
breaks replaced offered -DBUG_HAVE_ON
breaks one_program offered -DBUG_RELIES
breaks one_token offered -DRETURNS=1 -DDEATHS=1 -DBUG_NO_ASK

holds mute
holds mute -DHOLD=4 -DFAILS=1
[ "$quick" ] || holds mute -DHOLD=4
breaks no_stall mute -DBUG_NO_BOUND
breaks one_program mute -DBUG_EACH_POLL
breaks one_program mute -DBUG_NEVER -DFAILS=1
breaks one_program mute -DBUG_YOUNG
breaks one_program mute -DBOUND=1
breaks no_stall mute -DBUG_EACH_BEGIN
breaks one_program mute -DBEGINS=1
holds mute -DFAILS=1 -DMAKES=1
breaks no_stall mute -DBUG_EACH_TOKEN
breaks one_program mute -DBUG_NO_TOKEN -DFAILS=0 -DMAKES=1
breaks no_stall mute -DBUG_RELEASES -DFAILS=0
breaks one_program mute -DBOUND=1 -DFAILS=1 -DMAKES=1
breaks one_program mute -DFAILS=3	# not held

holds steady -DSENDERS=1
holds steady -DN=4 -DSENDERS=1 -DCONNECTS=0
[ "$quick" ] || holds steady
[ "$quick" ] || holds steady -DN=4 -DSENDERS=1
steady_dies='-DN=4 -DSENDERS=1 -DCONNECTS=0'
holds steady $steady_dies -DCONFIGS=0 -DBUG_X_UNSTEADY	# one of these two suffices where X restarts
holds steady $steady_dies -DCONFIGS=0 -DBUG_BEGUN_ANEW
breaks no_false steady $steady_dies -DCONFIGS=0 -DBUG_X_UNSTEADY -DBUG_BEGUN_ANEW
breaks no_false steady $steady_dies -DRESTARTS=0 -DBUG_BEGUN_ANEW
breaks no_false steady $steady_dies -DRESTARTS=0 -DBUG_LATE_INQUEST
breaks no_false steady -DSENDERS=1 -DRESTARTS=0 -DCONFIGS=0 -DBUG_SAYS_UNBROKEN
breaks no_false steady -DSENDERS=1 -DRESTARTS=0 -DCONFIGS=0 -DBUG_FORGETS_TOLD
breaks no_false steady -DSENDERS=1 -DRESTARTS=0 -DCONFIGS=0 -DBUG_TOLD_KNEW
breaks no_false steady -DSENDERS=1 -DRESTARTS=0 -DCONFIGS=0 -DBUG_SAYS_EXCUSED
breaks no_false steady -DSENDERS=1 -DRESTARTS=0 -DCONFIGS=0 -DBUG_TWICE_ALWAYS
breaks no_false steady -DSENDERS=1 -DRESTARTS=0 -DCONFIGS=0 -DBUG_FIRST_COUNTED
breaks no_false steady -DSENDERS=1 -DRESTARTS=0 -DCONFIGS=0 -DBUG_PASS_OWED
breaks no_false steady -DSENDERS=1 -DCONFIGS=0 -DCONNECTS=0 -DBUG_OLD_WORD
breaks no_false steady -DSENDERS=1 -DRESTARTS=0 -DCONNECTS=0 -DSENDERS_ANEW	# these are not held
breaks no_false steady $steady_dies -DRESTARTS=0 -DCONFIGS=0 -DCUTS=1
steady_loses='-DPROMPT -DRESTARTS=0 -DCONFIGS=0'
holds steady $steady_loses -DLIAR=2 -DSENDERS=2 -DPASSES=5 -DCONNECTS=0
[ "$quick" ] || holds steady $steady_loses -DLIAR=2 -DSENDERS=2 -DPASSES=5
holds steady $steady_loses -DLIAR=0 -DSENDERS=1 -DPASSES=4 -DLOSSES=3 -DCONNECTS=0
[ "$quick" ] || holds steady $steady_loses -DPASSES=6 -DLOSSES=5 -DCONNECTS=0
breaks few_losses steady $steady_loses -DLIAR=2 -DSENDERS=2 -DPASSES=5 -DCONNECTS=0 -DBUG_SAME_CONNECTION
breaks few_losses steady $steady_loses -DLIAR=0 -DSENDERS=1 -DPASSES=4 -DLOSSES=3	# not held

holds promise
[ "$quick" ] || holds promise -DSLEEPS=3
[ "$quick" ] || breaks one_program promise -DBUG_NOT_TOLD
breaks one_program promise -DBUG_TOLD_ONCE
breaks one_program promise -DBUG_RETURNED
[ "$quick" ] || breaks one_program promise -DBUG_ONE_VOW
breaks promised promise -DBUG_ANY
holds promise -DLIAR
[ "$quick" ] || breaks few_delays promise -DLIAR -DBUG_PROMISE_ON
[ "$quick" ] || breaks few_delays promise -DLIAR -DBUG_SAME_SPAN
breaks few_delays promise -DLIAR -DBUG_ONLY_SILENT
holds away
holds away -DREPLACE
holds away -DLIAR
holds away -DREPLACE -DLIAR
holds away -DFORGETS
holds away -DGATE
holds away -DGATE -DREPLACE
holds away -DGATE -DFORGETS
breaks one_program away -DREPLACE -DFORGETS
breaks one_program away -DREPLACE -DBUG_REPLACE
breaks one_program away -DREPLACE -DBUG_ONE
breaks one_program away -DREPLACE -DBUG_BOOT
breaks one_program away -DGATE -DBUG_LOST_ENDS
breaks one_session away -DGATE -DBUG_EACH_SESSION
breaks served away -DREPLACE -DLIAR -DBUG_AGAIN
breaks served away -DREPLACE -DLIAR -DBUG_LONG

# Two makers that back off from each other.
holds newborn
holds newborn -DHOLD=3
breaks one_soon newborn -DBUG_NO_MEET
breaks taken newborn -DBUG_DROP
breaks taken newborn -DBUG_AT_ARRIVAL
breaks soon newborn -DBUG_HERE_ONLY
breaks kept newborn -DBUG_MAKER_HAS
breaks no_bar newborn -DBUG_NO_MAKER
breaks none_made newborn -DBUG_NO_PARDON
holds newborn -DLIAR
[ "$quick" ] || holds newborn -DLIAR -DLOSSES=2
breaks few_taken newborn -DLIAR -DBUG_EACH_MEET
breaks few_taken newborn -DLIAR -DBUG_EACH_PARDON

holds refuse
[ "$quick" ] || holds refuse -DH=4
breaks no_false refuse -DBUG_NO_AVOID
[ "$quick" ] || breaks few_tries refuse -DBUG_SAME
breaks soon_back refuse -DBUG_NOT_BACK
breaks no_false refuse -DBUG_AGAIN
[ "$quick" ] || breaks no_false refuse -DH=4 -DUNTAKEN=2	# not held: two members in a row take no token
holds refuse -DSLOW
[ "$quick" ] || holds refuse -DSLOW -DH=4
breaks no_false refuse -DSLOW -DBUG_LAST_ONLY
holds refuse -DALONE -DH=6
[ "$quick" ] || holds refuse -DALONE
[ "$quick" ] || holds refuse -DALONE -DH=4
breaks no_false refuse -DALONE -DH=6 -DBUG_CAME_BACK
holds refuse -DCOY -DH=6
[ "$quick" ] || holds refuse -DCOY
breaks no_false refuse -DCOY -DH=6 -DBUG_UNTOLD
holds refuse -DRING -DH=6
[ "$quick" ] || holds refuse -DRING -DH=4
breaks no_false refuse -DRING -DH=6 -DBUG_LEARNS_LATE

holds late
holds late -DLIAR
breaks no_false late -DBUG_EACH_ANSWER
[ "$quick" ] || breaks no_false late -DBUG_FEW
[ "$quick" ] || breaks no_false late -DBUG_AT_ONCE
[ "$quick" ] || breaks found late -DLIAR -DBUG_NO_COUNT
breaks found late -DLIAR -DBUG_COUNT_ANEW
breaks found late -DLIAR -DBUG_ANEW
[ "$quick" ] || breaks no_false late -DRUN=9	# these are not held
[ "$quick" ] || breaks no_false late -DAWAKE=16

holds served
[ "$quick" ] || holds served -DRUN=4
holds served -DWINDOWS
breaks no_false served -DWINDOWS -DBUG_SHUT_KEEPS
breaks no_false served -DBUG_OLD_WANT
breaks no_false served -DBUG_NO_SINCE
breaks no_false served -DBUG_GAP
breaks no_false served -DBUG_TOLD_ONCE
[ "$quick" ] || holds served -DLIAR
breaks found served -DLIAR -DBUG_LAST
[ "$quick" ] || breaks found served -DLIAR -DBUG_NO_SECOND
[ "$quick" ] || breaks no_false served -DBUG_AGAIN	# assumed of the holder

[ "$quick" ] || holds bars
holds bars -DHONEST
breaks few_stalls bars -DBUG_SHORT
forgets='-DFORGETS -DM=1 -DSPAN=40 -DSTRIKE=32 -DEXCUSE=4'
holds bars $forgets -DHONEST
[ "$quick" ] || holds bars $forgets
breaks no_bar bars $forgets -DHONEST -DBUG_DENIES
breaks few_losses bars $forgets -DBUG_EXCUSED
[ "$quick" ] || breaks few_losses bars $forgets -DBUG_ONE_LIST
holds bars -DLAGS -DSTALLS=4
breaks few_stalls bars -DLAGS -DSTALLS=4 -DBUG_NO_BAR
mints='-DFORGETS -DM=1 -DSPAN=12 -DSTRIKE=10 -DEXCUSE=2 -DHONEST -DMINTS'
holds bars $mints
breaks no_bar bars $mints -DBUG_ONE_COUNT
[ "$quick" ] || breaks soon_back bars -DHONEST -DBUG_LONG
[ "$quick" ] || breaks few_stalls bars -DONE_HEARS	# not held

holds ring
[ "$quick" ] || holds ring -DN=6 -DMOST=13
holds ring -DDEATHS=1 -DMOST=26
[ "$quick" ] || holds ring -DN=6 -DDEATHS=1 -DMOST=34
[ "$quick" ] || breaks served ring -DMOST=10
breaks served ring -DBUG_NO_BACK
[ "$quick" ] || breaks served ring -DBUG_GIVER
breaks served ring -DBUG_TWICE
breaks no_harm ring -DDEATHS=1 -DBUG_HOP_1
[ "$quick" ] || breaks served ring -DG=2 -DMOST=20	# not held

holds keeper
holds keeper -DL=4 -DHOLD=2
holds keeper -DN=4 -DDEATHS=3
[ "$quick" ] || holds keeper -DRESTARTS=1
holds keeper -DFORGOTTEN
[ "$quick" ] || holds keeper -DFORGOTTEN -DN=4 -DDEATHS=3
breaks one_program keeper -DFORGOTTEN -DBUG_OLD_PROMISE
breaks one_program keeper -DBUG_NO_WAIT
breaks one_program keeper -DBUG_NO_ASK
breaks one_program keeper -DBUG_PASS
breaks one_program keeper -DBUG_REORDER
breaks one_program keeper -DBUG_COPY
breaks one_program keeper -DBUG_LATE
breaks one_program keeper -DBUG_OTHERS
breaks one_program keeper -DBUG_NO_DEFER
breaks no_stall keeper -DBUG_NO_FOLLOW
breaks soon keeper -DBUG_NO_PROMISE
breaks soon keeper -DBUG_SELF
breaks soon keeper -DBUG_NO_RETELL
breaks one_token keeper -DRESTARTS=1 -DHOLD=2 -DBUG_NO_RETURNED
breaks one_token keeper -DRESTARTS=1 -DHOLD=2 -DBUG_ONE_ANSWERS
[ "$quick" ] || breaks one_token keeper -DRESTARTS=1 -DHOLD=2 -DBUG_OLD_ANSWERS
[ "$quick" ] || breaks one_token keeper -DRESTARTS=1 -DHOLD=2 -DBUG_NO_SEARCH
breaks one_program keeper -DRESTARTS=1 -DHOLD=2 -DBUG_YOUNG
[ "$quick" ] || breaks one_token keeper -DRESTARTS=1 -DHOLD=2 -DBUG_FROZEN

holds gate -DSESSIONS=2 -DCRASHES=0
[ "$quick" ] || holds gate
[ "$quick" ] || holds gate -DTOKENS=1 -DHOPS=3 -DKNOCKS=3 -DSESSIONS=4
[ "$quick" ] || holds gate -DTOKENS=1 -DLOSSES=1
holds revoked
holds places
[ "$quick" ] || holds places -DSESSIONS=5 -DCRASHES=2
holds ahead
[ "$quick" ] || holds ahead -DSESSIONS=6 -DPLACES=3 -DAHEAD=3
breaks once ahead -DBUG_NO_NUMBERS
breaks once ahead -DBUG_PASSED_OVER
breaks once ahead -DBUG_ANY_AHEAD
breaks restart_closes ahead -DBUG_STREAM_FIRST
breaks closed_first places -DBUG_CLOSING_FREE -DCHANGES=0
breaks one_each places -DBUG_EACH_PLACE
breaks configured places -DBUG_GONE_PLACE
[ "$quick" ] || breaks restart_closes places -DBUG_ONE_RECORD
breaks restart_closes places -DBUG_RESTART_FEWER
breaks few places -DBUG_GONE_FREE
breaks no_late revoked -DBUG_REVOKED_NEW
breaks no_late revoked -DBUG_KNOWN_TOKEN
breaks no_late revoked -DBUG_FORGOTTEN_REVOKED
breaks known_good revoked -DBUG_OWN_TITLE
breaks known_good revoked -DBUG_FORGOTTEN_TITLES
breaks two_at_most revoked -DBUG_TAINTED
breaks own_successor gate -DBUG_HOP_CUTS
breaks own_token gate -DBUG_ANY_TOKEN_CUTS
breaks no_refusal gate -DBUG_HOP_STALE
[ "$quick" ] || breaks no_stale gate -DBUG_REUSE
[ "$quick" ] || breaks no_refusal gate -DBUG_REFUSED_COUNTS
[ "$quick" ] || breaks no_stall gate -DBUG_TOKEN_ORDER -DCRASHES=0 -DFAILS=0
breaks no_stall gate -DBUG_FULL
breaks closed_first gate -DBUG_CUT_ONLY -DCRASHES=0
[ "$quick" ] || breaks closed_first gate -DBUG_FAILED_OPENS -DCRASHES=0
[ "$quick" ] || breaks closed_first gate -DBUG_LATE_OPEN -DCRASHES=0
[ "$quick" ] || breaks restart_closes gate -DBUG_HOOK_FIRST
breaks true_busy gate -DBUG_UNSIGNED
breaks restart_closes gate -DBUG_RESTART_SERVES
breaks one_turn gate -DBUG_TWO_TURNS
breaks stays_stuck gate -DBUG_STUCK_FORGOTTEN
[ "$quick" ] || breaks restart_closes gate -DLOSSES=1 -DBUG_LOST_SERVES

[ ! "$failed" ]
