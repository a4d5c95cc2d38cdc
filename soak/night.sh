#!/bin/bash
# The night drill: a running group of eight in which one thing after the other breaks, and nobody says what. Find the cause by
# `wander status`, the page and `wander doctor`. docs/troubleshooting.md says how to play ("Practise it").
#
#	soak/night.sh up DIR [SEED]                 build, and start the group
#	soak/night.sh next DIR                      break something; say only what a user would complain of
#	soak/night.sh at DIR m3 wander status       run a command on a machine: m1 to m8, ca or gate
#	soak/night.sh answer DIR CAUSE MEMBER       say what it is, and where: m1 to m8, ca, gate or group; if right, it is mended
#	soak/night.sh reveal DIR                    give up: show what it is, and mend it
#	soak/night.sh down DIR                      end what was started, and remove it
#
# `next DIR CAUSE [MEMBER]` breaks what you name, for practice; `list` shows the names. Each member is a process in a network
# namespace of its own, with a small disk of its own. Needs Linux, root, nft, python3, util-linux, Go, and a DIR with a short name.
# The log in DIR/log has how long each answer took; DIR/secret has the answer.
set -u
SELF=$(realpath "$0")
ROOT=$(dirname "$(dirname "$SELF")")

MEMBERS=(m1 m2 m3 m4 m5 m6 m7 m8)
PLACES=("${MEMBERS[@]}" ca gate) # the machines
NET=10.97.0               # of the group: its packets leave no namespace

# maxHealthy bounds how long a group may take to be well after it was mended, in seconds: a lost token is replaced when no program
# can run under it any more (at most max_hold of reboot), and a gate without its journal stays shut for max_hold of db.
maxHealthy=600
# JOB_HOLD is the grant that a job asks for: jobs take a second or two, and less than max_hold, so that a killed one keeps nobody for minutes.
JOB_HOLD=20s
# DISK is the size of a member's disk: a few segments of its journal.
DISK=48m

# Every fault, in the words of docs/troubleshooting.md where that has one.
FAULTS=(no_daemon daemon_silent frozen disk_full journal_failed revoked all_revoked left expired udp_blocked isolated deaf late clock
	behind runs_long window_closed votes_missing gate_unreachable gate_stuck gate_refuses gate_busy holder_away no_token not_configured)

die() { echo "night.sh: $*" >&2; exit 1; }

# --- machines and processes

netns() { echo "wnd${1#m}"; }

# inside runs a command in the network of a machine.
inside() { nsenter --net="/run/netns/$(netns "$1")" "${@:2}"; }

# born is when a process began, in ticks since the start of the machine: with its id it names one process for ever.
born() {
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	read -r -a stat <<< "${stat##*) }" # behind the name, which may have spaces
	echo "${stat[19]}"
}

# start runs NAME in the background, on a MACHINE, in a process group of its own.
start() {
	local name=$1 machine=$2
	shift 2
	setsid nsenter --net="/run/netns/$(netns "$machine")" "$@" >> "$DIR/logs/$name" 2>&1 < /dev/null 9>&- &
	echo "$! $(born $!)" > "$DIR/pids/$name"
}

# pid is the id of a process that start began and that still runs.
pid() {
	local id since
	{ read -r id since < "$DIR/pids/$1"; } 2>/dev/null && [ "$(born "$id")" = "$since" ] && echo "$id"
}

# end stops a process that start began, by a signal, and waits for its end. A name that begins with job is a process group.
end() {
	local id name=$1 signal=${2:-TERM} target
	id=$(pid "$name") || return 0
	target=$id
	case $name in job.*) target=-$id ;; esac
	kill -s "$signal" -- "$target" 2>/dev/null
	kill -s CONT -- "$target" 2>/dev/null
	for _ in $(seq 150); do
		pid "$name" > /dev/null || return 0
		sleep 0.1
	done
	kill -s KILL -- "$target" 2>/dev/null
	sleep 0.2
}

# processes are all of a machine, but for those of a player.
processes() {
	local id
	for id in $(ip netns pids "$(netns "$1")"); do
		tr '\0' '\n' < "/proc/$id/environ" 2>/dev/null | grep -q '^NIGHT_PLAYER=' || echo "$id"
	done
}

# --- the group

wander() { "$DIR/bin/wander" "$@"; }
ca() { wander ca "$1" --dir "$DIR/ca" "${@:2}" >> "$DIR/logs/ca-commands" 2>&1; }

# program is the wander of a machine: one whose clock is wrong has another one, which asks the same clock for the time.
program() { if [ -s "$DIR/$1/clock" ]; then echo "$DIR/bin/clock/wander"; else echo "$DIR/bin/wander"; fi; }

start_member() {
	local m=$1
	shift
	start "$m" "$m" env NIGHT_CLOCK="$(cat "$DIR/$m/clock" 2>/dev/null)" "$(program "$m")" node --config "$DIR/$m/wander.toml" "$@"
}

start_gate() {
	start gate gate "$DIR/bin/wander" gate --dir "$DIR/gate" --resource db --target 127.0.0.1:8000 --close "$SELF close-db $DIR" \
		--listen "$NET.101:4135" "$@"
}

# serves is whether something listens on a TCP port of a machine.
serves() { inside "$1" ss -Htln "sport = :$2" | grep -q .; }

# status is what a member says, as JSON.
status() { wander status --socket "$DIR/$1/state/wander.sock" --output json 2>/dev/null; }

# await waits until a command succeeds, for at most so many seconds.
await() {
	local until=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.5
	done
}

# join makes a new member of this name on its machine, with an empty disk.
join() {
	local m=$1 n=${1#m} invite
	rm -rf "${DIR:?}/$m"
	mkdir -m 700 "$DIR/$m" "$DIR/$m/state"
	mount -t tmpfs -o "size=$DISK,mode=0700" "wander-$m" "$DIR/$m/state" || die "cannot mount the disk of $m"
	cat > "$DIR/$m/wander.toml" <<-END
		state_dir = "state"
		[identity]
		certificate = "member.crt"
		key         = "member.key"
		group       = "group.crt"
		[listen]
		address = "$NET.$n:4133"
		[bootstrap]
		peers = [$(for i in 1 2 3 4 5 6 7 8; do printf '"%s.%s:4133", ' "$NET" $i; done)]
		[ca]
		address = ["$NET.100:4134"]
		[web]
		listen = "127.0.0.1:9465"
	END
	invite=$(wander ca invite --dir "$DIR/ca" --name "$m" --address "$NET.100:4134" 2>> "$DIR/logs/ca-commands") || die "no invite for $m"
	inside "$m" "$DIR/bin/wander" join "$invite" --dir "$DIR/$m" >> "$DIR/logs/join" 2>&1 || die "$m cannot join: see $DIR/logs/join"
}

# leave_disk takes the disk of a member away.
leave_disk() { mountpoint -q "$DIR/$1/state" && umount -l "$DIR/$1/state"; }

# rejoin makes a member anew, as one that was revoked or has left has to.
rejoin() {
	end "$1"
	leave_disk "$1"
	join "$1"
	start_member "$1"
}

# group signs the group's file. The arguments are lines for single resources, such as: backup:windows = [...]
group() {
	{
		echo 'gossip_interval = "2s"'
		resource tape 4m "$@"
		resource backup 4m "$@"
		resource db 3m "$@"
		[ ! -s "$DIR/gate/id" ] || printf 'gate = "%s"\ngate_address = "%s.101:4135"\nsettle = "200ms"\n' "$(cat "$DIR/gate/id")" "$NET"
		resource ledger 30s "$@"
		echo 'on_isolated = "majority"'
		resource reboot 8m "$@"
	} > "$DIR/group.toml"
	ca config "$DIR/group.toml" || die "the group's file is refused: see $DIR/logs/ca-commands"
}

# resource writes the part of one resource: name, max_hold, and lines of which some are its own.
resource() {
	local name=$1 line
	printf '\n[[resource]]\nname = "%s"\noperation_time = "2s"\nmembers_max = 8\nmin_interval = "1s"\nmax_hold = "%s"\n' "$name" "$2"
	for line in "${@:3}"; do [ "${line%%:*}" != "$name" ] || echo "${line#*:}"; done
}

OPEN='backup:windows = ["Mon-Sun 00:00-24:00 UTC"]'

# jobs are what runs all the time: resource, pause between two programs in seconds, members.
jobs_list() {
	local m
	for m in "${MEMBERS[@]}"; do echo "tape 10 $m"; done
	for m in m2 m4 m6 m8; do echo "backup 16 $m"; done
	for m in m1 m3 m5 m7; do echo "db 12 $m"; done
	for m in m1 m4 m6; do echo "ledger 16 $m"; done
	for m in m2 m5 m8; do echo "reboot 24 $m"; done
}

start_jobs() {
	local r pause m
	while read -r r pause m; do
		case " $* " in *" $m "*) pid "job.$m.$r" > /dev/null || start "job.$m.$r" "$m" "$SELF" job "$DIR" "$m" "$r" "$pause" ;; esac
	done < <(jobs_list)
}

# job runs programs of a member under a resource until it is ended. The time of the last one that succeeded is the date of a file.
job() {
	local m=$1 r=$2 pause=$3 PATH="$DIR/bin:$PATH" run
	run=("$DIR/bin/wander" run "$r" --socket "$DIR/$m/state/wander.sock" --quiet --wait 20m)
	while :; do
		sleep $((pause / 2 + RANDOM % pause)).$((RANDOM % 10))
		case $r in
		reboot) "${run[@]}" --across-reboot --max-hold 5m -- sleep 0.2 && sleep 1 && wander release reboot --socket "$DIR/$m/state/wander.sock" ;;
		db) "${run[@]}" --max-hold $JOB_HOLD -c 'printf "GET / HTTP/1.0\r\n\r\n" | wander gate connect db | grep -q "200 OK"' ;;
		*) "${run[@]}" --max-hold $JOB_HOLD -- sleep 0.$((RANDOM % 9 + 1)) ;;
		esac && touch "$DIR/jobs/$m.$r"
	done
}

# close_db is the gate's close hook: it confirms that nothing works at the resource any more.
close_db() {
	local id file
	for file in "$DIR"/gate/unended/*; do
		id=$(cat "$file" 2>/dev/null) && kill -0 "$id" 2>/dev/null && { echo "process $id still works for an earlier session"; return 1; }
	done
	for _ in $(seq 50); do # the service needs a moment to see that its connection was cut
		ss -Htn state established 'sport = :8000' | grep -q . || return 0
		sleep 0.1
	done
	return 1
}

# --- is the group well?

# ill prints what is not well: members that do not say ok, that do not know the others, and jobs that have not run since a time.
ill() {
	local since=$1 m r line age
	for m in "${MEMBERS[@]}"; do
		line=$(wander status --check --socket "$DIR/$m/state/wander.sock" 2>&1 | tail -n 1)
		case $line in *"[ok]" | *"[runs_long]") ;; *) echo "$m says: $line" ;; esac
		[ "$(wander members --socket "$DIR/$m/state/wander.sock" 2>/dev/null | grep -c ' valid ')" -eq 8 ] || echo "$m does not know all others as valid"
	done
	[ "$(for m in "${MEMBERS[@]}"; do status "$m" | grep -o '"configuration_version": *[0-9]*'; done | sort -u | wc -l)" -eq 1 ] || echo "members have several configurations"
	wander gate status --dir "$DIR/gate" 2>&1 | grep -E 'STUCK|no gate|refused' | sed 's/^/gate: /'
	while read -r r _ m; do
		age=$(($(stat -c %Y "$DIR/jobs/$m.$r" 2>/dev/null || echo 0) - since))
		[ $age -ge 0 ] || echo "the $r job of $m has not run yet"
	done < <(jobs_list)
}

well() { ILL=$(ill "$1"); [ -z "$ILL" ]; }

await_well() {
	local since begun=$SECONDS
	since=$(date +%s)
	until well "$since"; do
		[ $((SECONDS - begun)) -lt $maxHealthy ] || { printf 'not well after %s s:\n%s\n' $maxHealthy "$ILL"; return 1; }
		sleep 3
	done
	echo "all is well, after $((SECONDS - begun)) s"
}

# --- faults. Each fault_NAME breaks something at $M; it sets what a user says of it (COMPLAINT), and after how many seconds (WAIT).
# The words of docs/troubleshooting.md that are right are in WORDS, and where it is in WHERE. Each mend_NAME undoes it.

# other is a member that is not the one that is named.
other() { shuffled other "${MEMBERS[@]}" | grep -vx "$1" | head -n 1; }

# shuffled prints words in an order that the seed, the number of the fault and a purpose determine.
shuffled() {
	local word
	RANDOM=$(cksum <<< "$SEED $DRAWN $1" | cut -d ' ' -f 1)
	for word in "${@:2}"; do echo "$RANDOM $word"; done | sort -n | cut -d ' ' -f 2
}

block() { printf 'table inet night {\n\tchain in { type filter hook input priority 0; %s }\n\tchain out { type filter hook output priority 0; %s }\n}\n' "$2" "$3" | inside "$1" nft -f -; }
unblock() { inside "$1" nft delete table inet night; }

fault_no_daemon() { COMPLAINT="the tape job of $M has not run for a while"; WAIT=15; end "$M" KILL; }
mend_no_daemon() { start_member "$M"; }

fault_daemon_silent() { COMPLAINT="the tape job of $M has not run for a while"; WAIT=15; kill -STOP "$(pid "$M")"; }
mend_daemon_silent() { kill -CONT "$(pid "$M")"; }

# frozen: the whole machine stands still, and its program with it, while it has the tape.
fault_frozen() {
	local all
	COMPLAINT="no tape job runs on $(other "$M")"; WAIT=20; WORDS="daemon_silent replacing runs_long"
	rm -f "$DIR/jobs/frozen"
	start job.frozen "$M" "$DIR/bin/wander" run tape --socket "$DIR/$M/state/wander.sock" --quiet -- sh -c "touch $DIR/jobs/frozen; sleep 100000"
	await 60 test -e "$DIR/jobs/frozen" || return 1
	mapfile -t all < <(processes "$M")
	kill -STOP "${all[@]}"
}
mend_frozen() {
	local all
	mapfile -t all < <(processes "$M")
	kill -CONT "${all[@]}" 2>/dev/null
	end job.frozen
}

fault_disk_full() { COMPLAINT="the tape job of $M has not run for a while"; WAIT=20; dd if=/dev/zero of="$DIR/$M/state/core" bs=64k 2>/dev/null; true; }
mend_disk_full() { rm -f "$DIR/$M/state/core"; end "$M"; start_member "$M"; }

# journal_failed: a limit on the size of files is a disk that takes no more.
fault_journal_failed() { COMPLAINT="the tape job of $M has not run for a while"; WAIT=20; prlimit --pid "$(pid "$M")" --fsize=512; }
mend_journal_failed() { end "$M"; start_member "$M"; }

# end_reboots ends jobs of reboot, and what they hold across a restart that does not come.
end_reboots() {
	local m
	for m in "$@"; do
		end "job.$m.reboot"
		wander release reboot --socket "$DIR/$m/state/wander.sock" > /dev/null 2>&1
	done
}

# fetch_reboot brings the token of reboot to a member and keeps it there for a while: one that is lost is replaced after max_hold only, which is long.
fetch_reboot() {
	end_reboots m2 m5 m8
	rm -f "$DIR/jobs/held"
	start job.held "$1" "$DIR/bin/wander" run reboot --socket "$DIR/$1/state/wander.sock" --quiet --max-hold 1m -- sh -c "touch $DIR/jobs/held; sleep 30"
	await 90 test -e "$DIR/jobs/held"
}

fault_revoked() {
	COMPLAINT="the tape job of $M has not run for a while"; WAIT=20
	fetch_reboot "$(other "$M")" || return 1
	ca revoke "$M" --reason "drill"
	start_jobs m2 m5 m8
}
mend_revoked() { rejoin "$M"; start_jobs m2 m5 m8; }

fault_all_revoked() {
	local m
	COMPLAINT="jobs run on one machine only"; WAIT=40; WORDS="revoked"; WHERE="group ${MEMBERS[*]}"
	fetch_reboot "$M" || return 1
	for m in "${MEMBERS[@]}"; do [ "$m" = "$M" ] || ca revoke "$m" --reason "drill"; done
}
mend_all_revoked() { local m; for m in "${MEMBERS[@]}"; do [ "$m" = "$M" ] || rejoin "$m"; done; start_jobs m2 m5 m8; }

fault_left() { COMPLAINT="the tape job of $M has not run for a while"; WAIT=15; wander leave --socket "$DIR/$M/state/wander.sock" > /dev/null; }
mend_left() { rejoin "$M"; }

# expired: the member cannot reach the CA, and its certificate ends.
fault_expired() {
	COMPLAINT="the tape job of $M has not run for a while"; WAIT=75
	block "$M" "" "tcp dport 4134 drop;"
	end "$M"
	ca issue --name "$M" --key "$DIR/$M/member.crt" --lifetime 1m --out "$DIR/ca/short" || return 1
	cp "$DIR/ca/short.crt" "$DIR/$M/member.crt"
	rm -f "$DIR/ca/short.crt"
	start_member "$M"
}
mend_expired() {
	unblock "$M"
	ca issue --name "$M" --key "$DIR/$M/member.crt" --out "$DIR/ca/long" && cp "$DIR/ca/long.crt" "$DIR/$M/member.crt" && rm -f "$DIR/ca/long.crt"
	end "$M"
	start_member "$M"
}

fault_isolated() { COMPLAINT="the tape job of $M has not run for a while"; WAIT=30; WORDS="isolated udp_blocked"; block "$M" "meta l4proto udp drop;" "meta l4proto udp drop;"; }
mend_isolated() { unblock "$M"; }

# deaf: what the member sends arrives, and nothing arrives at it.
fault_deaf() { COMPLAINT="the tape job of $M has not run for a while"; WAIT=30; WORDS="isolated udp_blocked"; block "$M" "meta l4proto udp drop;" ""; }
mend_deaf() { unblock "$M"; }

fault_udp_blocked() { COMPLAINT="$M was started again, and its jobs do not run"; WAIT=20; WORDS="udp_blocked isolated"; block "$M" "meta l4proto udp drop;" ""; end "$M"; start_member "$M"; }
mend_udp_blocked() { unblock "$M"; }

fault_late() { COMPLAINT="the monitor of $M is yellow now and then"; WAIT=15; start late "$M" "$SELF" stutter "$DIR" "$M"; }
mend_late() { end late KILL; kill -CONT "$(pid "$M")"; }

fault_clock() { COMPLAINT="the monitor of $M is yellow since its machine was started again"; WAIT=15; echo 40m > "$DIR/$M/clock"; end "$M"; start_member "$M"; }
mend_clock() { rm -f "$DIR/$M/clock"; end "$M"; start_member "$M"; }

# behind: the CA cannot be reached, and one member has a certificate that it issued with a newer configuration.
fault_behind() {
	COMPLAINT="a change that the CA signed at $(date +%T) is in force nowhere"; WAIT=15; WHERE="ca group $M"
	ip -n wndca link set eth0 down
	group "$OPEN" 'tape:windows = ["Mon-Sun 00:00-24:00 UTC"]'
	ca issue --name "$M" --key "$DIR/$M/member.crt" --out "$DIR/ca/next" || return 1
	cp "$DIR/ca/next.crt" "$DIR/$M/member.crt"
	rm -f "$DIR/ca/next.crt"
	kill -HUP "$(pid "$M")"
}
mend_behind() { ip -n wndca link set eth0 up; group "$OPEN"; }

# runs_long: a program of the tape hangs.
fault_runs_long() {
	COMPLAINT="no tape job runs on $(other "$M")"; WAIT=25; WORDS="runs_long"
	start job.hang "$M" "$DIR/bin/wander" run tape --socket "$DIR/$M/state/wander.sock" --quiet -- sleep 100000
}
mend_runs_long() { end job.hang; }

fault_window_closed() {
	local day
	COMPLAINT="no backup job runs, on no machine"; WAIT=20; WHERE="group ca m2 m4 m6 m8"
	day=$(date -u -d '2 days' +%a)
	group "backup:windows = [\"$day 01:00-03:00 UTC\"]"
}
mend_window_closed() { group "$OPEN"; }

# votes_missing: the network is cut in two halves, and neither has a majority.
fault_votes_missing() {
	local all half i
	COMPLAINT="no ledger job runs, on no machine"; WAIT=30; WORDS="votes_missing"; WHERE="group ${MEMBERS[*]}"
	mapfile -t all < <(shuffled half "${MEMBERS[@]}")
	for i in 4 5 6 7; do half="${half:-}${half:+, }$NET.${all[i]#m}"; done
	for i in 0 1 2 3; do block "${all[i]}" "ip saddr { $half } drop;" "ip daddr { $half } drop;"; done
}
mend_votes_missing() { local m; for m in "${MEMBERS[@]}"; do unblock "$m" 2>/dev/null; done; true; }

fault_gate_unreachable() { COMPLAINT="no db job runs, on no machine"; WAIT=15; WHERE="gate"; end gate KILL; }
mend_gate_unreachable() { start_gate; }

# gate_stuck: work of an earlier session goes on at the resource.
fault_gate_stuck() {
	COMPLAINT="no db job runs, on no machine"; WAIT=25; WHERE="gate"
	start work gate sleep 100000
	mkdir -p "$DIR/gate/unended"
	pid work > "$DIR/gate/unended/1"
}
mend_gate_stuck() { end work; rm -f "$DIR/gate/unended/1"; wander gate clear 0 --dir "$DIR/gate" >> "$DIR/logs/gate-commands" 2>&1; true; }

fault_gate_refuses() { COMPLAINT="db jobs run far too seldom"; WAIT=45; WHERE="gate group ca"; group "$OPEN" 'db:gate_min_interval = "30m"'; }
mend_gate_refuses() { group "$OPEN"; }

# gate_busy: the gate has lost its journal, and stays shut for as long as a session may have been open.
fault_gate_busy() { COMPLAINT="no db job runs, on no machine"; WAIT=15; WHERE="gate"; end gate KILL; rm -rf "$DIR/gate/gate/journal"; start_gate --floor "$(date +%s)"; }
mend_gate_busy() { true; }

# holder_away: a machine restarts under reboot, and does not come back.
fault_holder_away() {
	local waits
	waits=$(shuffled waits m2 m5 m8 | grep -vx "$M" | head -n 1)
	COMPLAINT="$waits waits to be restarted, and nothing happens"; WAIT=20; WORDS="holder_away no_daemon runs_elsewhere"
	end_reboots "$M" "$waits"
	wander run reboot --socket "$DIR/$M/state/wander.sock" --quiet --across-reboot -- true || return 1
	end "$M"
	ip -n "$(netns "$M")" link set eth0 down
	start "job.$waits.reboot" "$waits" "$SELF" job "$DIR" "$waits" reboot 2
}
mend_holder_away() {
	ip -n "$(netns "$M")" link set eth0 up
	start_member "$M"
	await 60 wander release reboot --socket "$DIR/$M/state/wander.sock" > /dev/null 2>&1
	end_reboots m2 m5 m8
	start_jobs m2 m5 m8
}

# no_token: all machines were installed anew from images that have the keys and no journals, and nobody found the first token.
fault_no_token() {
	local m
	COMPLAINT="all machines were installed anew, and no job runs"; WAIT=20; WHERE="group ${MEMBERS[*]}"
	for m in "${MEMBERS[@]}"; do kill -TERM "$(pid "$m")"; done
	for m in "${MEMBERS[@]}"; do end "$m"; rm -rf "$DIR/$m/state/journal"; done
	for m in "${MEMBERS[@]}"; do start_member "$m"; done
}
mend_no_token() { end m1; start_member m1 --found; }

# not_configured: a job asks for a resource that the group does not have.
fault_not_configured() {
	COMPLAINT="the new job on $M, under resource tapes, ends at once"; WAIT=5; WHERE="$M group ca"
	start job.tapes "$M" bash -c "while :; do '$DIR/bin/wander' run tapes --socket '$DIR/$M/state/wander.sock' -- true; sleep 10; done"
}
mend_not_configured() { end job.tapes; }

# stutter stops a daemon again and again.
stutter() { local id; while id=$(pid "$1"); do kill -STOP "$id"; sleep 4; kill -CONT "$id"; sleep 2; done; }

# --- the drill

secret() { base64 -w 0 | sed 's/$/\n/' > "$DIR/secret/$1"; }
read_secret() { base64 -d "$DIR/secret/$1" 2>/dev/null; }

# draw is the next fault that was not played: in an order that the seed determines.
draw() {
	local f
	for f in $(DRAWN=0 shuffled order "${FAULTS[@]}"); do
		grep -qx "$f" "$DIR/secret/played" || { echo "$f"; return; }
	done
}

next() {
	local fault=${1:-} member=${2:-} since
	[ ! -e "$DIR/secret/now" ] || die "something is broken already: find it, or: reveal $DIR"
	DRAWN=$(wc -l < "$DIR/secret/played")
	[ -n "$member" ] || member=$(shuffled where "${MEMBERS[@]}" | head -n 1)
	[ -n "$fault" ] || fault=$(draw)
	[ -n "$fault" ] || { echo "all ${#FAULTS[@]} were played"; return; }
	declare -F "fault_$fault" > /dev/null || die "no such fault: $fault; list shows all"
	M=$member WORDS=$fault WHERE=
	well 0 || { printf 'the group is not well; mend this first:\n%s\n' "$ILL"; return 1; }
	since=$(date +%T)
	if ! "fault_$fault"; then "mend_$fault"; die "could not break it ($fault at $M): try again"; fi
	echo "$fault" >> "$DIR/secret/played"
	sleep "$WAIT"
	printf '%s\n' "$fault|$M|$WORDS|${WHERE:-$M}|$(date +%s)" | secret now
	echo "something is wrong since $since; complaint: $COMPLAINT"
}

answer() {
	local cause=$1 where=$2 fault words places at took
	IFS='|' read -r fault M words places at < <(read_secret now) || die "nothing is broken: next $DIR"
	took=$(($(date +%s) - at))
	if [ "$cause" != reveal ]; then
		case " $words " in *" $cause "*) ;; *) verdict wrong "$cause" "$where" $took "not this cause"; return 1 ;; esac
		case " $places " in *" $where "*) ;; *) verdict wrong "$cause" "$where" $took "this cause, and not there"; return 1 ;; esac
		verdict right "$cause" "$where" $took "$fault at $M"
	else
		verdict revealed "$cause" "$where" $took "$fault at $M; right: ${words// / or } at ${places// / or }"
	fi
	SEED=$(cat "$DIR/seed") DRAWN=0
	"mend_$fault" || echo "mending $fault at $M failed"
	rm -f "$DIR/secret/now"
	await_well
}

verdict() {
	local took
	took=$(printf '%d min %02d s' $(($4 / 60)) $(($4 % 60)))
	echo "$1 after $took: $5"
	printf '%s\t%s\t%s at %s\t%s\t%s\n' "$(date '+%F %T')" "$1" "$2" "$3" "$took" "$5" >> "$DIR/log"
}

up() {
	local p m n=0 invite
	[ "$(id -u)" = 0 ] || die "needs root, for network namespaces and disks"
	for p in nft python3 nsenter prlimit ss go; do command -v $p > /dev/null || die "$p is missing"; done
	[ ${#DIR} -le 60 ] || die "$DIR is too long a name for sockets: at most 60 characters"
	[ ! -e "$DIR" ] || [ -z "$(ls -A "$DIR")" ] || die "$DIR is not empty"
	[ ! -e /run/netns/wndsw ] || die "another drill runs on this machine: end it with down"
	mkdir -p "$DIR"/{bin/clock,logs,pids,jobs,www,gate,secret}
	chmod 700 "$DIR" "$DIR/gate" "$DIR/secret"
	exec 9> "$DIR/lock"
	flock 9
	echo "${1:-$RANDOM}" > "$DIR/seed"
	SEED=$(cat "$DIR/seed") DRAWN=0
	: > "$DIR/secret/played"
	echo "building"
	(cd "$ROOT" && go build -o "$DIR/bin/wander" ./cmd/wander) || die "cannot build wander"
	# The same program with a clock that NIGHT_CLOCK sets ahead.
	sed 's/Now: time\.Now}/Now: func() time.Time { d, _ := time.ParseDuration(os.Getenv("NIGHT_CLOCK")); return time.Now().Add(d) }}/' \
		"$ROOT/cmd/internal/cli/cli.go" > "$DIR/bin/clock/cli.go"
	cmp -s "$ROOT/cmd/internal/cli/cli.go" "$DIR/bin/clock/cli.go" && die "cmd/internal/cli/cli.go has no clock to set"
	echo "{\"Replace\": {\"$ROOT/cmd/internal/cli/cli.go\": \"$DIR/bin/clock/cli.go\"}}" > "$DIR/bin/clock/overlay.json"
	(cd "$ROOT" && go build -overlay "$DIR/bin/clock/overlay.json" -o "$DIR/bin/clock/wander" ./cmd/wander) || die "cannot build wander with a wrong clock"
	ip netns add wndsw
	ip -n wndsw link add bridge type bridge
	ip -n wndsw link set bridge up
	for p in "${PLACES[@]}"; do
		n=$((n + 1))
		case $p in ca) m=100 ;; gate) m=101 ;; *) m=${p#m} ;; esac
		ip netns add "$(netns "$p")"
		ip link add eth0 netns "$(netns "$p")" type veth peer name "p$n" netns wndsw
		ip -n wndsw link set "p$n" master bridge up
		ip -n "$(netns "$p")" link set lo up
		ip -n "$(netns "$p")" addr add "$NET.$m/24" dev eth0
		ip -n "$(netns "$p")" link set eth0 up
	done
	ca init --name night --no-passphrase || die "no CA: see $DIR/logs/ca-commands"
	group "$OPEN"
	start ca ca "$DIR/bin/wander" ca serve --dir "$DIR/ca" --listen "$NET.100:4134"
	await 20 serves ca 4134 || die "the CA does not start: see $DIR/logs/ca"
	invite=$(wander ca invite --dir "$DIR/ca" --name gate --gate --address "$NET.100:4134" 2>> "$DIR/logs/ca-commands") || die "no invite for the gate"
	inside gate "$DIR/bin/wander" join "$invite" --dir "$DIR/gate" >> "$DIR/logs/join" 2>&1 || die "the gate cannot join: see $DIR/logs/join"
	wander ca list --dir "$DIR/ca" | awk '$2 == "gate" && $3 == "gate" { print $4; exit }' > "$DIR/gate/id"
	group "$OPEN"
	start www gate python3 -m http.server --bind 127.0.0.1 --directory "$DIR/www" 8000
	start_gate --floor 0
	for m in "${MEMBERS[@]}"; do
		join "$m"
		if [ "$m" = m1 ]; then start_member m1 --found; else start_member "$m"; fi
		await 20 status "$m" > /dev/null || die "$m does not start: see $DIR/logs/$m"
	done
	start_jobs "${MEMBERS[@]}"
	echo "eight members, a CA and a gate run; waiting until every job has run"
	await_well || return 1
	echo "begin: $0 next $DIR"
}

down() {
	local f p id
	for f in "$DIR"/pids/job.* "$DIR"/pids/*; do end "$(basename "$f")" KILL; done # jobs first, as they begin programs
	for p in "${PLACES[@]}" sw; do
		[ -e "/run/netns/$(netns "$p")" ] || continue
		for id in $(ip netns pids "$(netns "$p")"); do kill -KILL "$id" 2>/dev/null; done # what programs have started there
		ip netns del "$(netns "$p")"
	done
	for p in "${MEMBERS[@]}"; do leave_disk "$p"; done
	rm -rf "${DIR:?}"/{bin,pids,jobs,www,gate,ca,secret,logs,lock,seed,group.toml} "${DIR:?}"/m[1-8]
	echo "all is ended and removed but $DIR/log"
}

# at runs a command as if somebody had logged in on a machine.
at() {
	local place=$1
	shift
	case " ${PLACES[*]} " in *" $place "*) ;; *) die "no such machine: $place; there are ${PLACES[*]}" ;; esac
	[ $# -gt 0 ] || set -- "${SHELL:-/bin/bash}"
	cd "$DIR/$place" || exit 1
	exec nsenter --net="/run/netns/$(netns "$place")" env NIGHT_PLAYER=1 NIGHT_CLOCK="$(cat "$DIR/$place/clock" 2>/dev/null)" \
		PATH="$(dirname "$(program "$place")"):$PATH" WANDER_CONFIG="$DIR/$place/wander.toml" WANDER_CA_DIR="$DIR/ca" "$@"
}

command=${1:-}
[ "$command" != list ] || { printf '%s\n' "${FAULTS[@]}"; exit; }
[ $# -ge 2 ] || { sed -n '2,/^set -u/{/^set -u/d;s/^# \{0,1\}//;p}' "$SELF"; exit 64; }
DIR=$(realpath -m "$2")
shift 2
case $command in
up) up "$@"; exit ;;
at) at "$@" ;;
job) job "$@"; exit ;;
stutter) stutter "$@"; exit ;;
close-db) close_db; exit ;;
esac
[ -d "$DIR/secret" ] || die "$DIR has no drill: up $DIR"
exec 9> "$DIR/lock"
flock 9
SEED=$(cat "$DIR/seed")
case $command in
next) next "$@" ;;
answer) [ $# -eq 2 ] || die "say: answer $DIR CAUSE MEMBER"; answer "$1" "$2" ;;
reveal) answer reveal - ;;
well) ill "${1:-0}" ;;
down) down ;;
*) die "no such command: $command" ;;
esac
