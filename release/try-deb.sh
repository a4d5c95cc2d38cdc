#!/usr/bin/env bash
# Try two Debian packages of wander on a machine that has never seen it:
#
#	release/try-deb.sh FOLDER NEWER_FOLDER
#
# Each folder is a release (go -C release run . [-version 9.9.9] FOLDER). The machine is a minimal Debian in namespaces of its own, where
# systemd is process 1, and the network a loopback interface. What a reader of docs/install.md does is done there: install, make an authority, start
# a group of three, run a program. Then the newer package is installed while the program runs: the program has to go on under the same token. At
# the end the package is removed, and purged, and what is left is listed.
#
# Needs root, mmdebstrap, and control groups of version 2. BASE=FILE.tar takes a machine that was made before (and makes it if it is absent).
set -eEuo pipefail

say() { printf '== %s\n' "$*"; }
fail() { printf 'FAIL: %s\n' "$*" >&2; exit 1; }

[ $# = 2 ] || { sed -n '2,4p' "$0"; exit 64; }
[ "$(id -u)" = 0 ] || fail "must be root"
old=$(echo "$1"/wander_*_"$(dpkg --print-architecture)".deb) newer=$(echo "$2"/wander_*_"$(dpkg --print-architecture)".deb)
[ -f "$old" ] && [ -f "$newer" ] || fail "a folder has no package: $old $newer"
command -v mmdebstrap >/dev/null || fail "mmdebstrap is missing: apt-get install mmdebstrap"
cgroups=$(findmnt -nro TARGET -t cgroup2 | head -n 1)
[ -n "$cgroups" ] || fail "no control groups of version 2 here"

dir=$(mktemp -d /var/tmp/wander-try-XXXXXX)
group=$cgroups/$(basename "$dir")
pid= boot=
finish() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true # the whole machine
	[ -z "$boot" ] || { kill -KILL "$boot" 2>/dev/null; wait "$boot" 2>/dev/null; } || true
	for _ in $(seq 50); do
		find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
		[ -d "$group" ] || break
		sleep 0.1
	done
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
trap '[ -z "$pid" ] || { inside journalctl --no-pager -n 60 -u "wander*"; tail -n 20 "$dir/boot.log"; } >&2 || true' ERR

base=${BASE:-$dir/base.tar}
if [ ! -f "$base" ]; then
	say "a minimal Debian"
	mmdebstrap --quiet --variant=minbase --include=systemd,procps bookworm "$base"
fi
root=$dir/root
mkdir "$root" "$group"
tar -xf "$base" -C "$root"
cp "$old" "$root/var/tmp/old.deb"
cp "$newer" "$root/var/tmp/newer.deb"
: >"$root/etc/machine-id"
rm -f "$root/dev/console"

say "systemd starts"
export root group
sh -c 'echo $$ >"$group/cgroup.procs" && exec unshare --pid --fork --mount --cgroup --ipc --uts --net sh -c "
	set -e
	mount --make-rprivate /
	mount --bind \"$root\" \"$root\"
	mount -t proc proc \"$root/proc\"
	mount -t sysfs sysfs \"$root/sys\"
	mount -t cgroup2 cgroup2 \"$root/sys/fs/cgroup\"
	mount -t tmpfs -o mode=755 tmpfs \"$root/run\"
	mount --rbind /dev \"$root/dev\"
	hostname tryout
	ip link set lo up 2>/dev/null || ifconfig lo up
	cd \"$root\"
	pivot_root . mnt # a process in a chroot may make no user namespace
	exec env -i container=try PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c \"umount -l /mnt && mount --make-rshared / && exec /lib/systemd/systemd --system --log-target=console --show-status=0\""' \
	>"$dir/boot.log" 2>&1 &
boot=$!
for _ in $(seq 300); do
	pid=$(tr -d ' ' 2>/dev/null <"/proc/$boot/task/$boot/children" || true)
	[ -n "$pid" ] && [ -S /proc/"$pid"/root/run/systemd/private ] && break
	kill -0 "$boot" 2>/dev/null || { cat "$dir/boot.log"; fail "systemd does not start"; }
	sleep 0.1
done
inside() { nsenter -t "$pid" -m -p -n -C -i -u -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
until_() { # until_ SECONDS WHAT COMMAND
	local limit=$1 what=$2
	shift 2
	for _ in $(seq $((limit * 5))); do
		inside sh -c "$*" >/dev/null 2>&1 && return
		sleep 0.2
	done
	inside journalctl --no-pager -n 50 2>/dev/null || tail -n 50 "$dir/boot.log"
	fail "not within $limit s: $what"
}
until_ 30 "systemd is up" 'systemctl list-jobs | grep -q "No jobs"'

say "install $(basename "$old")"
inside dpkg -i /var/tmp/old.deb
inside wander version
inside systemctl start wander.service 2>/dev/null && fail "a machine that has not joined starts a daemon"

# step NUMBER prints the commands of a step of docs/install.md.
step() { awk -v at="**$1." 'index($0, "**") == 1 { on = index($0, at) == 1 } /^```/ { code = on && $0 == "```sh"; next } code' "$(dirname "$0")/../docs/install.md"; }

say "an authority"
step 2 | inside bash -e
inside systemctl is-active wander-ca

say "three members"
join() { # join NAME FLAGS: an invite, and its use
	local invite
	invite=$( (echo "export WANDER_CA_DIR=/var/lib/wander-ca"; step 3 | sed "s/ftp-01/$1/; s/ca.example.org/127.0.0.1/") | inside sh -e)
	shift
	inside wander join "$invite" "$@"
}
join a --advertise 127.0.0.1:4133
step 5 | inside sh -e
inside systemctl show -p Type -p ActiveState -p WatchdogUSec wander
for m in b:4143 c:4153; do
	name=${m%:*}
	join "$name" --dir "/var/lib/others/$name" --listen "127.0.0.1:${m#*:}"
	inside systemd-run --quiet --unit "member-$name" wander node --config "/var/lib/others/$name/wander.toml"
	until_ 20 "member $name answers" "wander status --socket /var/lib/others/$name/state/wander.sock"
done
until_ 30 "a is connected with both" 'wander members | grep -c "connected" | grep -qx 3 || [ "$(wander members -o json | grep -c "\"connected\": *true")" = 2 ]'
inside wander members

say "a program runs under the token"
inside systemd-run --quiet --unit work wander run tape -- sh -c 'echo "$WANDER_TOKEN hop $WANDER_HOP" >>/run/work; while [ ! -e /run/end ]; do sleep 0.2; done; echo end >>/run/work'
until_ 30 "it runs" 'test -s /run/work'
who() { inside wander who tape -o json | tr -d ' \n' | sed 's/.*"holder":{\([^}]*\)}.*/\1/' | tr , '\n' | grep -E '"(name|hop|token)"' | sort | tr '\n' ' '; }
before=$(who)
echo "$before"
was=$(inside systemctl show -p MainPID --value wander)

say "install $(basename "$newer") over it"
inside dpkg -i /var/tmp/newer.deb
inside wander version
until_ 30 "the daemon is up again" 'wander status'
is=$(inside systemctl show -p MainPID --value wander)
[ "$is" != "$was" ] || fail "the daemon was not restarted"
token=$(inside cut -d " " -f 1 /run/work)
[ "$(inside wc -l </dev/null /run/work | cut -d " " -f 1)" = 1 ] || fail "the program did not go on"
after=$(who)
echo "$after"
[ "$before" = "$after" ] || fail "another token, or another hop"
inside systemctl is-active wander-ca

say "the next member gets the token"
inside touch /run/end
until_ 30 "the program has ended" 'grep -q end /run/work'
passed=$(inside wander run --wait 60s --socket /var/lib/others/b/state/wander.sock tape -- sh -c 'echo "$WANDER_TOKEN hop $WANDER_HOP"')
inside cat /run/work
echo "$passed"
[ "$passed" = "$token hop 1" ] || fail "not the same token, one hop on"
inside wander __completeNoDesc run "" | head -n 1 | grep -qx tape || fail "the shell proposes no resource"

say "the daemon answers the watchdog"
inside sh -ec 'mkdir -p /run/systemd/system/wander.service.d
	printf "[Service]\nWatchdogSec=2\n" >/run/systemd/system/wander.service.d/soon.conf
	systemctl daemon-reload && systemctl restart wander'
was=$(inside systemctl show -p MainPID --value wander)
sleep 7
[ "$was" = "$(inside systemctl show -p MainPID --value wander)" ] || fail "systemd has killed it"
inside wander run --wait 60s tape -- true || fail "the same member cannot run again"

say "root is kept out of another user's authority"
! inside wander ca list --dir /var/lib/wander-ca || fail "root may write there"

say "the journals are in order"
inside systemctl stop wander member-b member-c
inside wander audit --group /etc/wander/group.crt /var/lib/wander/journal /var/lib/others/b/state/journal /var/lib/others/c/state/journal

say "remove"
inside systemctl start wander
inside dpkg -r wander
inside sh -c '[ ! -e /usr/bin/wander ] && ls /etc/wander /var/lib/wander/journal' || fail "removal deletes state"
inside sh -c '! pgrep -x wander' || fail "a daemon still runs"

say "purge"
inside dpkg -P wander
inside find /etc/wander /var/lib/wander /var/lib/wander-gate /run/wander /etc/systemd/system /etc/default/wander-gate -name '*ander*' 2>/dev/null || true
inside sh -c '[ ! -e /var/lib/wander ]' || fail "a purge leaves the journal"
inside sh -c '[ -e /var/lib/wander-ca/ca.key ]' || fail "a purge deletes the authority"
say "passed in $SECONDS s"
