#!/usr/bin/env bash
# Start clean machines, to try wander on by hand:
#
#	release/machines.sh [NUMBER [FOLDER]]
#
# Three machines, or NUMBER, with nothing installed but a minimal Debian with systemd. They reach each other by name (a, b, c, ...), and nothing else.
# If FOLDER is a release (go -C release run . FOLDER), each machine has the package in /root. The script prints how to get a shell on each, and
# ends the machines when it is ended (Ctrl-C). They restart as machines do: machine.sh says how, and what this needs.
set -eEuo pipefail
# shellcheck source=release/machine.sh
. "$(dirname "$0")/machine.sh"

number=${1:-3} folder=${2:-}
[[ $# -le 2 && $number =~ ^[1-9]$ ]] || { sed -n '2,8p' "$0"; exit 64; }
deb=
if [ -n "$folder" ]; then
	deb=$(echo "$folder"/wander_*_"$(dpkg --print-architecture)".deb)
	[ -f "$deb" ] || fail "the folder has no package: $deb"
fi

machine_begin
for name in $(printf '%s\n' a b c d e f g h i | head -n "$number"); do
	machine_make "$name"
	[ -z "$deb" ] || cp "$deb" "$machine_dir/$name/root/root"
	machine_boot "$name"
done
say "$number machines; a shell on each, as root:"
for name in "${machines[@]}"; do
	# A restart changes the process.
	printf '%s  %s  nsenter -t "$(cat %s)" -m -p -n -C -i -u -r -w env -i TERM="$TERM" HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 sh -c "cd && exec bash"\n' \
		"$name" "$(cat "$machine_dir/$name/address")" "$machine_dir/$name/pid"
done
say "they run until this script is ended"
exec 2>/dev/null # no word of the end of its own process
sleep infinity &
echo $! >"$machine_group/keep/cgroup.procs" # it ends with the machines
wait
