#!/bin/sh
# After the files are there, of a deb ("configure", and the version before if there was one) or an rpm (1, or 2 for an upgrade).
set -e

users() {
	if command -v systemd-sysusers >/dev/null 2>&1; then
		systemd-sysusers wander.conf
		return
	fi
	for group in wander wander-ca wander-users; do
		getent group "$group" >/dev/null || groupadd --system "$group"
	done
	for user in wander wander-ca; do
		getent passwd "$user" >/dev/null ||
			useradd --system --gid "$user" --home-dir "/var/lib/$user" --no-create-home --shell /usr/sbin/nologin "$user"
	done
	usermod --append --groups wander-users wander
}

# restart puts the new program in the place of the running one. A daemon that could not read its journal with the new program
# keeps running with the old one.
restart() {
	systemctl daemon-reload
	for unit in wander-ca wander-gate wander; do
		systemctl --quiet is-active "$unit.service" || continue
		if [ "$unit" = wander ] && ! wander inspect /var/lib/wander/journal >/dev/null 2>&1; then
			echo "wander: the running daemon was NOT restarted: this version does not read its journal." >&2
			echo "wander: it goes on with the version before. See /usr/share/doc/wander/docs/install.md, Upgrade." >&2
			continue
		fi
		systemctl restart "$unit.service" || echo "wander: $unit.service does not start again: journalctl -u $unit" >&2
	done
}

case "$1" in
configure | 1 | 2 | abort-*)
	users
	# The daemon writes renewed certificates there.
	install -d -m 0755 -o wander -g wander /etc/wander
	[ ! -d /run/systemd/system ] || restart
	;;
esac
