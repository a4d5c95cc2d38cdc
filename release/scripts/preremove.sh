#!/bin/sh
# Before the files go ("remove", or 0 of an rpm), and not before an upgrade: stopping passes on the tokens.
set -e
case "$1" in
remove | 0)
	[ ! -d /run/systemd/system ] || systemctl disable --now --quiet wander.service wander-gate.service wander-ca.service || true
	;;
esac
