#!/bin/sh
# Measures what many resources cost three daemons on this machine. They share one
# resource at first, and N of them after `wander ca config`. Nobody wants to operate.
# Needs Go, and /proc for memory and processor time.
#
#   resources.sh N [PRESET]   N resources under a preset of wandering (default fair)
#   WANDER=FILE               the program to be measured (default: built)
#   SETTLE=SECONDS            how long the group runs before it is measured (default 20)
#   WINDOW=SECONDS            how long processor time is measured (default 20)

set -eu

n=${1?a number of resources is missing} preset=${2-fair}
members='a b c' pids='' peers=''
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
stop() {
	for p in $pids; do kill -KILL "$p" 2>/dev/null || true; done
	wait
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM
wander=${WANDER-$work/wander}
[ -n "${WANDER-}" ] || (cd "$here" && go build -o "$wander" ../../cmd/wander)
cd "$work"

# group RESOURCES: a group file.
group() {
	echo 'gossip_interval = "5s"'
	seq -f %04g "$1" | while read -r i; do
		printf '\n[[resource]]\nname = "resource-%s"\npreset = "%s"\n' "$i" "$preset"
		printf 'operation_time = "2s"\nmembers_max = 3\nmin_interval = "1s"\n'
	done
}

# daemon MEMBER [FLAG]: starts it in the background.
daemon() {
	mkdir "$1"
	"$wander" ca issue --dir ca --name "$1" >/dev/null
	cat >"$1.toml" <<-TOML
		state_dir = "$1"
		[identity]
		certificate = "$1.crt"
		key = "$1.key"
		group = "ca/group.crt"
		[listen]
		address = "127.0.0.1:0"
		[bootstrap]
		peers = [$peers]
	TOML
	"$wander" node --config "$1.toml" ${2-} 2>>"$1.log" &
	pids="$pids $!"
	until status "$1" >/dev/null; do pause; done
}

# pause waits a little, and ends the script with its log when a daemon has ended.
pause() {
	sleep 0.1
	for p in $pids; do
		kill -0 "$p" 2>/dev/null || { cat ./*.log >&2; exit 1; }
	done
}

status() { "$wander" status --output json --socket "$1/wander.sock" 2>/dev/null; }
statuses() { for m in $members; do status "$m"; done; }

# until_all N EXPRESSION: waits until each member's status has N such lines or more.
until_all() {
	for m in $members; do
		while [ "$(status "$m" | grep -c "$2")" -lt "$1" ]; do pause; done
	done
}

# seen: how many resources have a token that some member has met.
seen() { statuses | awk '/"name": "resource-/ { r = $2 } /"token":/ { print r }' | sort -u | wc -l; }

# usage: ticks of processor time, handoffs, and kB of memory until now, of all three.
usage() {
	for p in $pids; do sed 's/.*) /ticks /' "/proc/$p/stat"; cat "/proc/$p/status"; done >usage
	statuses >>usage
	awk '/^ticks/ { t += $13 + $14 } /^VmRSS/ { k += $2 } /"handoffs":/ { h = 1 }
		h && /"ok":/ { n += $2; h = 0 } END { print t, n, k }' usage
}

now() { date +%s.%N; }
told() { echo "$1 $(now)" | awk -v what="$2" '{ printf "%-40s %8.1f s\n", what, $2 - $1 }'; }

"$wander" ca init --dir ca --name many --no-passphrase >/dev/null 2>&1
group 1 >group.toml
"$wander" ca config --dir ca group.toml >/dev/null
daemon a --found
first=${pids# } peers=$(status a | sed -n 's/^  "address": \(".*"\),/\1/p')
daemon b
daemon c
until_all 1 '"connected": true'

group "$n" >group.toml
begun=$(now)
"$wander" ca config --dir ca group.toml >/dev/null
told "$begun" "wander ca config"
sed -n '/CONFIGURATION/,/END/p' ca/group.crt | grep -v -e '-----' | base64 -d | wc -c |
	awk '{ printf "%-40s %8d bytes\n", "signed configuration", $1 }'
begun=$(now)
kill -HUP "$first"
until_all "$n" '"name": "resource-'
told "$begun" "all members have it after"
while [ "$(seen)" -lt "$n" ]; do pause; done
told "$begun" "each resource has a token after"

sleep "${SETTLE-20}"
before=$(usage)
sleep "${WINDOW-20}"
echo "$before $(usage)" | awk -v window="${WINDOW-20}" -v hz="$(getconf CLK_TCK)" '{
	printf "%-40s %8.1f MB\n", "resident memory of each member", $6 / 3 / 1000
	printf "%-40s %8.2f %% of a core\n", "processor time of each member", ($4 - $1) / hz / window / 3 * 100
	printf "%-40s %8.1f\n", "handoffs a second", ($5 - $2) / window
}'
