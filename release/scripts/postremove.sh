#!/bin/sh
# After the files are gone. Removal keeps identity, journal and the authority. A purge deletes the member and the gate of this
# machine. It never deletes an authority: no copy of its key may exist, and without it the group cannot be changed.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
case "$1" in
remove)
	echo "wander: kept /etc/wander (identity, settings) and /var/lib/wander (journal, tokens); apt-get purge wander deletes them"
	;;
0)
	echo "wander: kept /etc/wander (identity, settings) and /var/lib/wander (journal, tokens); delete them by hand"
	;;
purge)
	rm -rf /etc/wander/member.key /etc/wander/member.crt /etc/wander/member.req /etc/wander/group.crt /etc/wander/wander.toml \
		/var/lib/wander /var/lib/wander-gate /run/wander
	rmdir /etc/wander 2>/dev/null || [ ! -d /etc/wander ] || echo "wander: kept what else is in /etc/wander"
	if [ -d /var/lib/wander-ca ]; then
		echo "wander: kept /var/lib/wander-ca, the group's authority; delete it by hand if its group is no more"
	fi
	;;
esac
