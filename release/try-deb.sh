#!/usr/bin/env bash
# Try two Debian packages of wander on a machine that has never seen it:
#
#	release/try-deb.sh FOLDER NEWER_FOLDER
#
# Each folder is a release (go -C release run . [-version 9.9.9] FOLDER). The machine is one of machine.sh, which says what this needs. There the script
# does what a reader of docs/install.md does: it installs, makes an authority, starts a group of three, and runs a program. Then it installs the newer
# package while the program runs: the program has to go on under the same token. At the end it removes and purges the package, and lists what is left.
set -eEuo pipefail
# shellcheck source=release/machine.sh
. "$(dirname "$0")/machine.sh"

[ $# = 2 ] || { sed -n '2,4p' "$0"; exit 64; }
old=$(echo "$1"/wander_*_"$(dpkg --print-architecture)".deb) newer=$(echo "$2"/wander_*_"$(dpkg --print-architecture)".deb)
[ -f "$old" ] && [ -f "$newer" ] || fail "a folder has no package: $old $newer"

machine_begin
trap 'machine_trap $LINENO' ERR
machine_make tryout
cp "$old" "$machine_dir/tryout/root/var/tmp/old.deb"
cp "$newer" "$machine_dir/tryout/root/var/tmp/newer.deb"
say "systemd starts"
machine_boot tryout
try() { inside tryout "$@"; }
try_until() { until_ "$1" "$2" try sh -c "$3"; } # try_until SECONDS WHAT SHELL_COMMAND

say "install $(basename "$old")"
try dpkg -i /var/tmp/old.deb
try wander version
try systemctl start wander.service 2>/dev/null && fail "a machine that has not joined starts a daemon"

say "an authority"
step 2 | try bash -e
try systemctl is-active wander-ca

say "three members"
join() { # join NAME FLAGS: an invite, and its use
	local invite
	invite=$( (echo "export WANDER_CA_DIR=/var/lib/wander-ca"; step 3 | sed "s/ftp-01/$1/; s/ca.example.org/127.0.0.1/") | try sh -e)
	shift
	try wander join "$invite" "$@"
}
join a --advertise 127.0.0.1:4133
step 5 | try sh -e
try systemctl show -p Type -p ActiveState -p WatchdogUSec wander
for m in b:4143 c:4153; do
	name=${m%:*}
	join "$name" --dir "/var/lib/others/$name" --listen "127.0.0.1:${m#*:}"
	try systemd-run --quiet --unit "member-$name" wander node --config "/var/lib/others/$name/wander.toml"
	try_until 20 "member $name answers" "wander status --socket /var/lib/others/$name/state/wander.sock"
done
try_until 30 "a is connected with both" 'wander members | grep -c "connected" | grep -qx 3 || [ "$(wander members -o json | grep -c "\"connected\": *true")" = 2 ]'
try wander members

say "a program runs under the token"
try systemd-run --quiet --unit work wander run tape -- sh -c 'echo "$WANDER_TOKEN hop $WANDER_HOP" >>/run/work; while [ ! -e /run/end ]; do sleep 0.2; done; echo end >>/run/work'
try_until 30 "it runs" 'test -s /run/work'
who() { try wander who tape -o json | tr -d ' \n' | sed 's/.*"holder":{\([^}]*\)}.*/\1/' | tr , '\n' | grep -E '"(name|hop|token)"' | sort | tr '\n' ' '; }
before=$(who)
echo "$before"
was=$(try systemctl show -p MainPID --value wander)

say "install $(basename "$newer") over it"
try dpkg -i /var/tmp/newer.deb
try wander version
try_until 30 "the daemon is up again" 'wander status'
is=$(try systemctl show -p MainPID --value wander)
[ "$is" != "$was" ] || fail "the daemon was not restarted"
token=$(try cut -d " " -f 1 /run/work)
[ "$(try wc -l </dev/null /run/work | cut -d " " -f 1)" = 1 ] || fail "the program did not go on"
after=$(who)
echo "$after"
[ "$before" = "$after" ] || fail "another token, or another hop"
try systemctl is-active wander-ca

say "the next member gets the token"
try touch /run/end
try_until 30 "the program has ended" 'grep -q end /run/work'
passed=$(try wander run --wait 60s --socket /var/lib/others/b/state/wander.sock tape -- sh -c 'echo "$WANDER_TOKEN hop $WANDER_HOP"')
try cat /run/work
echo "$passed"
[ "$passed" = "$token hop 1" ] || fail "not the same token, one hop on"
completed=$(try wander __completeNoDesc run "" 2>&1)
[ "${completed%%$'\n'*}" = tape ] || fail "the shell proposes no resource: $completed"

say "the daemon answers the watchdog"
try sh -ec 'mkdir -p /run/systemd/system/wander.service.d
	printf "[Service]\nWatchdogSec=2\n" >/run/systemd/system/wander.service.d/soon.conf
	systemctl daemon-reload && systemctl restart wander'
was=$(try systemctl show -p MainPID --value wander)
sleep 7
[ "$was" = "$(try systemctl show -p MainPID --value wander)" ] || fail "systemd has killed it"
try wander run --wait 60s tape -- true || fail "the same member cannot run again"

say "root is kept out of another user's authority"
! try wander ca list --dir /var/lib/wander-ca || fail "root may write there"

say "the journals are in order"
try systemctl stop wander member-b member-c
try wander audit --group /etc/wander/group.crt /var/lib/wander/journal /var/lib/others/b/state/journal /var/lib/others/c/state/journal

say "remove"
try systemctl start wander
try dpkg -r wander
try sh -c '[ ! -e /usr/bin/wander ] && ls /etc/wander /var/lib/wander/journal' || fail "removal deletes state"
try sh -c '! pgrep -x wander' || fail "a daemon still runs"

say "purge"
try dpkg -P wander
try find /etc/wander /var/lib/wander /var/lib/wander-gate /run/wander /etc/systemd/system /etc/default/wander-gate -name '*ander*' 2>/dev/null || true
try sh -c '[ ! -e /var/lib/wander ]' || fail "a purge leaves the journal"
try sh -c '[ -e /var/lib/wander-ca/ca.key ]' || fail "a purge deletes the authority"
say passed
