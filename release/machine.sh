# Machines to try wander on, for scripts that source this file: try-deb.sh, try-reboot.sh, machines.sh.
#
# Each machine is a minimal Debian whose systemd is process 1 of namespaces of its own. A machine has a disk and a network namespace, which
# outlive its restarts. The disk is in memory, 200 MB for each machine: to delete so many files takes longer than all else. A bridge in a further namespace joins the machines, at 10.77.0.1, 10.77.0.2, and so on; nothing leads out of it.
#
#	machine_begin              a folder, a control group and a bridge for the machines; all of it goes when the script ends
#	machine_make NAME          a machine that is switched off
#	machine_boot NAME          switches it on, and waits until systemd has started
#	inside NAME COMMAND ...    runs a command there, as root
#	machine_off NAME           makes a machine that restarts stay down, until machine_on NAME
#	until_ SECONDS WHAT COMMAND ...
#
# When a machine asks its kernel for a restart, the kernel ends process 1 of the namespace with SIGHUP, and machine_power starts systemd again from
# the same disk, with another id of the boot. After a poweroff, which ends it with SIGINT, it does not. $machine_dir/NAME has what the script knows of a machine: "root", its files; "pid" while it
# runs, "console", and "power", with a line for each start and each end: microseconds since 1970, and the word on or down.
#
# Needs root, mmdebstrap, iproute2, and control groups of version 2. BASE=FILE.tar takes a Debian that was made before, and makes it if it is absent.
# The exit status 69 says that this computer cannot have such machines.

export LC_ALL=C.UTF-8 PATH=$PATH:/usr/sbin:/sbin
machines=()
machine_dir='' machine_group='' machine_base='' machine_bridge='' machine_janitor=''
machine_half='' # a copy of BASE that is being written

exec {machine_errors}>&2 # of the script, also where a command's are thrown away

say() { printf '== %s (%s s)\n' "$*" "$SECONDS"; }
fail() {
	printf 'FAIL: %s\n' "$*" >&"$machine_errors"
	machine_logs >&"$machine_errors" 2>&1
	exit 1
}
# machine_trap is for trap ERR: machine_trap $LINENO.
machine_trap() { fail "line $1 of $0: $BASH_COMMAND"; }
unavailable() { printf 'not available here: %s\n' "$*" >&"$machine_errors"; exit 69; }
now() { local t=$EPOCHREALTIME; printf '%s\n' "${t/./}"; }

# machine_logs prints the end of what each machine has said.
machine_logs() {
	local name
	for name in "${machines[@]}"; do
		printf -- '-- %s\n' "$name"
		tail -n 10 "$machine_dir/$name/console" 2>/dev/null || true
		[ ! -e "$machine_dir/$name/pid" ] || timeout 10 nsenter "$(machine_target "$name")" -m -p -r -w journalctl --no-pager -q -n 40 || true
	done
}

# machine_clean DIR GROUP FILE ends all processes of the machines, their namespaces with them, and deletes what they leave, and the file.
machine_clean() {
	{ echo 1 >"$2/cgroup.kill"; } 2>/dev/null || true
	for _ in $(seq 100); do
		find "$2" -depth -type d -exec rmdir {} + 2>/dev/null || true
		[ -d "$2" ] || break
		sleep 0.1
	done
	rm -rf --one-file-system "$1"
	[ -z "$3" ] || rm -f "$3"
}

machine_finish() {
	[ -n "$machine_dir" ] || return 0
	machine_clean "$machine_dir" "$machine_group" "$machine_half"
	kill -- "-$machine_janitor" 2>/dev/null || true
}

machine_begin() {
	local program cgroups
	[ "$(id -u)" = 0 ] || unavailable "root"
	for program in mmdebstrap ip unshare nsenter pivot_root findmnt setsid; do
		command -v "$program" >/dev/null || unavailable "$program, which is not installed"
	done
	cgroups=$(findmnt -nro TARGET -t cgroup2 | head -n 1)
	[ -n "$cgroups" ] || unavailable "control groups of version 2"
	machine_half=${BASE:+$BASE.$$}
	trap machine_finish EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	machine_dir=$(mktemp -d /var/tmp/wander-machines-XXXXXX)
	machine_group=$cgroups/$(basename "$machine_dir")
	mkdir "$machine_group" 2>/dev/null && [ -e "$machine_group/cgroup.kill" ] || unavailable "a control group of its own that can be killed"
	# A script that is killed runs no trap.
	setsid bash -c "$(declare -f machine_clean); tail --pid=$$ -s 0.2 -f /dev/null; machine_clean '$machine_dir' '$machine_group' '$machine_half'" >/dev/null 2>&1 </dev/null {machine_errors}>&- &
	machine_janitor=$!
	disown
	machine_started keep unshare --net sleep infinity
	machine_bridge=$machine_pid
	machine_awaits_keeper "$machine_bridge"
	nsenter --net=/proc/"$machine_bridge"/ns/net sh -c 'ip link set lo up && ip link add bridge type bridge && ip link set bridge up' ||
		unavailable "a network bridge"
	machine_debian
}

# machine_started GROUP COMMAND ... starts a command in the background, in a part of the control group; machine_pid is its process.
machine_started() {
	mkdir -p "$machine_group/$1"
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$machine_group/$1" "${@:2}" >/dev/null 2>&1 </dev/null &
	machine_pid=$!
	disown
}

# machine_awaits_keeper waits until unshare has made the namespaces of a process, and has become what keeps them.
machine_awaits_keeper() {
	for _ in $(seq 200); do
		[ "$(cat "/proc/$1/comm" 2>/dev/null)" != sleep ] || return 0
		sleep 0.05
	done
	unavailable "a namespace of its own"
}

# machine_debian makes the Debian from which each machine begins.
machine_debian() {
	machine_base=${BASE:-$machine_dir/debian.tar}
	[ ! -f "$machine_base" ] || return 0
	say "a minimal Debian"
	mkdir -p "$machine_group/debian" "$(dirname "$machine_base")"
	TMPDIR=$machine_dir sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$machine_group/debian" \
		mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,procps,iproute2 \
		--customize-hook='rm -rf "$1"/usr/share/doc/* "$1"/usr/share/locale/* "$1"/usr/share/man/*' \
		bookworm "$machine_dir/new.tar" >"$machine_dir/debian.log" 2>&1 &
	wait $! || { cat "$machine_dir/debian.log" >&2; unavailable "the Debian archive"; }
	if [ -n "$machine_half" ]; then
		cp "$machine_dir/new.tar" "$machine_half" # on the same file system, so that no other script finds half a file
		mv "$machine_half" "$machine_base"
		rm "$machine_dir/new.tar"
	else
		mv "$machine_dir/new.tar" "$machine_base"
	fi
}

machine_make() {
	local name=$1 number root=$machine_dir/$1/root other
	machines+=("$name")
	number=${#machines[@]}
	mkdir -p "$machine_dir/$name/disk"
	machine_started keep unshare --net --mount sleep infinity # keeps the network namespace, and the disk
	machine_awaits_keeper "$machine_pid"
	echo "$machine_pid" >"$machine_dir/$name/keeper"
	nsenter --mount=/proc/"$machine_pid"/ns/mnt mount -t tmpfs -o mode=755,size=2g tmpfs "$machine_dir/$name/disk"
	ln -s "/proc/$machine_pid/root$machine_dir/$name/disk" "$root"
	tar -xf "$machine_base" -C "$root"
	: >"$root/etc/machine-id"
	echo "$name" >"$root/etc/hostname"
	rm -rf "$root/dev/console" "$root/etc/resolv.conf"
	mkdir -p "$root/var/log/journal" # the journal of the starts before
	echo "10.77.0.$number" >"$machine_dir/$name/address"
	: >"$machine_dir/$name/power"
	for other in "${machines[@]}"; do # every machine knows every other
		{
			echo '127.0.0.1 localhost'
			for m in "${machines[@]}"; do echo "$(cat "$machine_dir/$m/address") $m"; done
		} >"$machine_dir/$other/root/etc/hosts"
	done
	nsenter --net=/proc/"$machine_bridge"/ns/net sh -ec '
		ip link add "to$1" type veth peer name eth0 netns "$2"
		ip link set "to$1" master bridge up' sh "$number" "$machine_pid"
	nsenter --net=/proc/"$machine_pid"/ns/net sh -ec '
		ip link set lo up
		ip address add "$1/24" dev eth0
		ip link set eth0 up' sh "10.77.0.$number"
}

# machine_start makes the mounts of a machine and becomes its process 1. A /dev of its own and a /proc/sys that it cannot write
# keep it from this computer's settings. pivot_root, because a process in a chroot may make no user namespace.
machine_start='
	set -e
	root=$1
	mount --make-rprivate /
	mount --bind "$root" "$root"
	mount -t tmpfs -o mode=755 tmpfs "$root/run"
	mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
	mount --bind "$root/proc/sys" "$root/proc/sys"
	mount -o remount,bind,ro "$root/proc/sys"
	cat /proc/sys/kernel/random/uuid >"$root/run/boot_id" # each start has its own, as after a restart of a kernel
	mount --bind "$root/run/boot_id" "$root/proc/sys/kernel/random/boot_id"
	mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
	mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
	mount -t tmpfs -o mode=755 tmpfs "$root/dev"
	cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty "$root/dev"
	mkdir "$root/dev/pts" "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	ln -s pts/ptmx "$root/dev/ptmx"
	ln -s /proc/self/fd "$root/dev/fd"
	hostname "$(cat "$root/etc/hostname")"
	cd "$root"
	pivot_root . mnt
	exec env -i container=machine PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c "umount -l /mnt && mount --make-rshared / && exec /lib/systemd/systemd --system --log-target=console --show-status=0"'

# machine_power runs a machine until it is switched off.
machine_power() {
	local name=$1 at=$machine_dir/$1 group=$machine_group/$1 boot code keeper
	keeper=/proc/$(cat "$at/keeper")/ns # not below, where its process would be taken for the machine
	trap - EXIT ERR
	set +e
	mkdir -p "$group"
	echo "$BASHPID" >"$machine_group/keep/cgroup.procs"
	while :; do
		while [ -e "$at/stays-down" ]; do sleep 0.05; done
		find "$group" -mindepth 1 -depth -type d -exec rmdir {} + 2>/dev/null # of the start before
		echo "$(now) on" >>"$at/power"
		sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" nsenter --net="$keeper/net" --mount="$keeper/mnt" \
			unshare --pid --fork --mount --cgroup --ipc --uts sh -c "$machine_start" sh "$at/disk" &
		boot=$!
		for _ in $(seq 600); do
			tr -d ' ' <"/proc/$boot/task/$boot/children" >"$at/pid.new" 2>/dev/null
			[ ! -s "$at/pid.new" ] || break
			kill -0 "$boot" 2>/dev/null || break
			sleep 0.05
		done
		mv "$at/pid.new" "$at/pid"
		wait "$boot"
		code=$?
		echo "$(now) down" >>"$at/power"
		rm -f "$at/pid"
		[ "$code" = 129 ] || break # SIGHUP: a restart
	done
	echo "switched off ($code)"
}

machine_boot() {
	machine_power "$1" >>"$machine_dir/$1/console" 2>&1 </dev/null &
	disown
	machine_awaits_start "$1"
}

# machine_awaits_start waits until systemd has started all that it starts by itself.
machine_awaits_start() { until_ 90 "systemd has started on $1" inside "$1" sh -c 'systemctl list-jobs | grep -q "No jobs"'; }

machine_off() { touch "$machine_dir/$1/stays-down"; }
machine_on() { rm -f "$machine_dir/$1/stays-down"; }

machine_target() { echo "--target=$(cat "$machine_dir/$1/pid")"; }
machine_environment=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8)
inside() {
	[ -e "$machine_dir/$1/pid" ] || return 1
	nsenter "$(machine_target "$1")" -m -p -n -C -i -u -r -w "${machine_environment[@]}" "${@:2}"
}

# until_ SECONDS WHAT COMMAND ... repeats a command until it succeeds.
until_() {
	local end=$((SECONDS + $1))
	until "${@:3}" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || fail "not within $1 s: $2"
		sleep 0.2
	done
}

# step NUMBER prints the commands of a step of docs/install.md.
step() { awk -v at="**$1." 'index($0, "**") == 1 { on = index($0, at) == 1 } /^```/ { code = on && $0 == "```sh"; next } code' "$machine_source/../docs/install.md"; }
machine_source=$(dirname "${BASH_SOURCE[0]}")
