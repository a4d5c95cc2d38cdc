#!/usr/bin/env bash
# Paste docs/recipe-reboot.md into three machines that do restart:
#
#	release/try-reboot.sh [-deadline] FOLDER
#
# FOLDER is a release (go -C release run . FOLDER). The machines are machine.sh's, which says what this needs. They get the package and become a group
# by the steps of docs/install.md; the group's resource, the unit and the command are the page's. All three ask for their restart at the same time.
#
# No member is believed about who was down. This script starts the machines, and knows when the kernel ended process 1 of one. A machine is back when
# its systemd has started the unit's program, after the check before it. That is later than the end of its process 1, and the next machine goes down
# later than that. Each restarts once.
#
# The first machine stays down until the others have named the cause. Its check then fails, until it is seen that the others wait for it. With
# -deadline its check fails for good, and max_hold is a minute instead of the page's: the others have to go on after that, and not before.
set -eEuo pipefail
# shellcheck source=release/machine.sh
. "$(dirname "$0")/machine.sh"

deadline=
[ "${1:-}" != -deadline ] || { deadline=60; shift; }
[ $# = 1 ] || { sed -n '2,5p' "$0"; exit 64; }
architecture=$(dpkg --print-architecture)
deb=$(echo "$1"/wander_*_"$architecture".deb)
[ -f "$deb" ] || fail "the folder has no package: $deb"

# page SECTION LANGUAGE prints the first block of a section of the page that is in a language.
page() {
	awk -v section="## $1" -v fence="\`\`\`$2" '
		/^## / { on = $0 == section }
		/^```/ { if (open) { open = code = 0 } else { open = 1; code = on && $0 == fence && !found++ }; next }
		code' "$machine_source/../docs/recipe-reboot.md"
}
table=$(page "The resource" toml) command=$(page "Restart a machine" sh) unit=$(page "Restart a machine" ini)
file=$(sed -n '1s/^# \([^,]*\), enabled as .*/\1/p' <<<"$unit")
enabled=$(sed -n '1s/.*, enabled as //p' <<<"$unit")
[ -n "$table" ] && [ -n "$command" ] && [ -n "$file" ] && [ -n "$enabled" ] || fail "the page has no table, command or unit"

[ -z "$deadline" ] || table=$(sed "s/\"3m\" /\"5s\" /; s/\"15m\" /\"${deadline}s\" /" <<<"$table")

# paste NAME COMMANDS has root paste commands on a machine.
paste() { inside "$1" bash -ec "cd && $2"; }

machine_begin
trap 'machine_trap $LINENO' ERR
members=(a b c)
for m in "${members[@]}"; do machine_make "$m"; done
for m in "${members[@]}"; do
	cp "$deb" "$machine_dir/$m/root/root"
	machine_boot "$m"
done

say "the package, on each machine"
for m in "${members[@]}"; do paste "$m" "$(step 1 | sed "s/_amd64/_$architecture/")"; done >"$machine_dir/installed" 2>&1 || { cat "$machine_dir/installed"; fail "it cannot be installed"; }

say "a group with the page's resource"
printf '%s\n' "$table"
paste a "$(step 2 | TABLE=$table awk "/<<'END'/ { print; print ENVIRON[\"TABLE\"]; skip = 1; next } /^END\$/ { skip = 0 } !skip")"
for m in "${members[@]}"; do
	invite=$(paste a "export WANDER_CA_DIR=/var/lib/wander-ca; $(step 3 | sed "s/ftp-01/$m/; s/ca.example.org/a/")")
	paste "$m" "$(step 4 | sed "s/wander1-…/$invite/; s/ftp-01.example.org/$m/")"
	if [ "$m" = a ]; then paste a "$(step 5)"; else paste "$m" "$(step 6)"; fi
done
connected() { [ "$(inside "$1" wander members -o json | grep -c '"connected": *true')" = 2 ]; }
for m in "${members[@]}"; do until_ 60 "$m is connected with both others" connected "$m"; done

say "the page's unit, with a check before it"
printf '%s\n' "$unit"
for m in "${members[@]}"; do
	at=$machine_dir/$m/root
	printf '%s\n' "$unit" >"$at/$file"
	mkdir "$at/$file.d"
	printf "[Service]\nExecStartPre=/bin/sh -c '! test -e /etc/unhealthy'\n" >"$at/$file.d/check.conf"
	touch "$at/etc/unhealthy"
	paste "$m" "systemctl daemon-reload && systemctl enable $enabled"
	machine_off "$m"
done

downs() { awk '$2 == "down" { n++ } END { print n + 0 }' "$machine_dir/$1/power"; }
# one fails if machines other than the first have gone down.
one() {
	local m
	for m in "${members[@]}"; do
		[ "$m" = "$first" ] || [ "$(downs "$m")" = 0 ] || fail "$m goes down while $first is down or unhealthy: $(tail -n 2 "$machine_dir"/[abc]/power)"
	done
}
first=
some_down() {
	local m
	for m in "${members[@]}"; do [ "$(downs "$m")" = 0 ] || { first=$m; return 0; }; done
	return 1
}
say "all at once: $command"
asked=$(now)
for m in "${members[@]}"; do inside "$m" systemd-run --quiet --unit restarts sh -c "$command"; done
until_ 120 "a machine goes down" some_down
say "$first is down"
one

# told NAME COMMAND PATTERN reports whether a command on a machine says so.
told() { one; inside "$1" sh -c "$2" | tee "$machine_dir/said" | grep -E "$3"; }
for m in "${members[@]}"; do
	[ "$m" != "$first" ] || continue
	until_ 60 "$m says that $first is away" told "$m" "wander status" "$first is away while its machine restarts"
	cat "$machine_dir/said"
	told "$m" "wander status -o json" '"cause": *"holder_away"'
	told "$m" "wander who reboot" "away +while its machine restarts, for .* more at most"
done

say "$first is up, and fails its check"
machine_on "$first"
tried() { one; [ "$(inside "$first" systemctl show -p NRestarts --value "$enabled")" -ge 2 ]; }
until_ 120 "the unit of $first is tried again, and again" tried
inside "$first" systemctl show -p ActiveState -p Result -p NRestarts "$enabled"
inside "$first" wander status
one

ends=$(now) # the others may go down from now on
if [ -z "$deadline" ]; then
	say "$first is healthy"
else
	say "$first stays as it is, until the deadline"
	ends=$((asked + deadline * 1000000))
fi
waited=() # machines that have to come back
for m in "${members[@]}"; do
	machine_on "$m"
	if [ "$m" != "$first" ] || [ -z "$deadline" ]; then
		waited+=("$m")
		rm "$machine_dir/$m/root/etc/unhealthy"
	fi
done

# back NAME prints when the unit began to release, in the start that the machine is in: microseconds since 1970.
back() {
	local shown
	shown=$(inside "$1" systemctl show --timestamp=us+utc -p ActiveState -p Result -p ExecMainStatus -p ExecMainStartTimestamp "$enabled")
	grep -qx ActiveState=inactive <<<"$shown" && grep -qx Result=success <<<"$shown" && grep -qx ExecMainStatus=0 <<<"$shown" || return 1
	shown=$(sed -n 's/^ExecMainStartTimestamp=[A-Z][a-z]* //p' <<<"$shown")
	[ -n "$shown" ] && date -d "$shown" +%s%6N
}
released() { [ "$(downs "$1")" -ge 1 ] && back "$1"; }
for m in "${waited[@]}"; do until_ 180 "$m has restarted, and let the next machine go" released "$m"; done
if [ -n "$deadline" ]; then # its systemd has not begun to release; without the check there is nothing to release
	! back "$first" || fail "$first has passed its check"
	rm "$machine_dir/$first/root/etc/unhealthy"
	until_ 60 "$first is released" released "$first"
fi

say "down, and back, in microseconds"
for m in "${members[@]}"; do
	[ "$(downs "$m")" = 1 ] || fail "$m was down $(downs "$m") times"
	said=$(inside "$m" journalctl --no-pager -b -o cat -u "$enabled")
	back=$(back "$m")
	if [ "$m" = "$first" ] && [ -n "$deadline" ]; then
		grep -qx "reboot was not held across a restart" <<<"$said" || fail "$m holds after the deadline: $said"
		back=$ends
	else
		grep -qx "reboot is released" <<<"$said" || fail "$m held nothing: $said"
	fi
	echo "$(sed -n 's/ down$//p' "$machine_dir/$m/power") $back $m"
done | sort -n >"$machine_dir/restarts"
cat "$machine_dir/restarts"
awk -v ends="$ends" -v first="$first" '
	NR == 1 && ($3 != first || $2 < ends) { print "FAIL: " first " is not the first, or was back too early"; bad = 1 }
	NR > 1 && $1 < until { print "FAIL: " $3 " went down while the others had to wait for " last; bad = 1 }
	$2 < $1 { print "FAIL: " $3 " was back before it went down"; bad = 1 }
	{ until = $2; last = $3 }
	END { if (NR != 3) { print "FAIL: " NR " restarts"; bad = 1 }; exit bad }' "$machine_dir/restarts" || fail "not one at a time"

say "the journals are in order"
for m in "${members[@]}"; do inside "$m" systemctl stop --no-block wander; done
stopped() { [ "$(inside "$1" systemctl is-active wander)" = inactive ]; }
for m in "${members[@]}"; do
	until_ 60 "the daemon of $m has ended" stopped "$m"
	cp -a "$machine_dir/$m/root/var/lib/wander/journal" "$machine_dir/a/root/var/tmp/$m"
done
inside a wander audit --group /etc/wander/group.crt /var/tmp/a /var/tmp/b /var/tmp/c | tee "$machine_dir/audit"
grep -qE '^verdict +clean' "$machine_dir/audit" || fail "not clean"
grep -qE '^resource +reboot: 3 operations' "$machine_dir/audit" || fail "not three operations"
say "three restarts, one at a time: passed"
