# Use a resource that a group of machines shares, from a POSIX shell, without `wander run`:
#
#	. ./wander.sh
#	wander_acquire tape 600 || exit      # waits 600 s at most; without a number, for as long as it takes
#	back_up "$WANDER_FENCE"              # nobody else in the group uses the tape
#	wander_release
#
# It asks the daemon of this machine with curl: $WANDER_SOCKET, or /var/lib/wander/wander.sock. One grant at a time. After
# WANDER_DEADLINE another machine may use the resource, whatever the script does: `wander run` kills its command then, and this does not.

wander_curl() {
	curl --silent --show-error --no-buffer --unix-socket "${WANDER_SOCKET:-/var/lib/wander/wander.sock}" --header 'Content-Type: application/json' "$@"
}

# wander_field LINE NAME prints a field of an object.
wander_field() {
	printf '%s\n' "$1" | sed -n 's/.*"'"$2"'":"\{0,1\}\([^",}]*\).*/\1/p'
}

# wander_acquire RESOURCE [SECONDS] sets WANDER_GRANT, WANDER_FENCE and WANDER_DEADLINE, and WANDER_RETURN_S and WANDER_RETURN_P95_S: in how
# many seconds the next turn of this machine is expected, empty while it has had too few turns to tell. It returns 75 if the resource did not come in time, and 69 if
# the daemon does not answer or refuses.
# shellcheck disable=SC2034 # the variables are for the script that reads this file
wander_acquire() {
	wander_dir=$(mktemp -d) || return 69
	mkfifo "$wander_dir/events" || return 69
	wander_demand='{"resource":"'$1'","pid":'$$
	[ -z "${2-}" ] || wander_demand=$wander_demand',"wait_ms":'$(($2 * 1000))
	wander_curl --data "$wander_demand}" http://localhost/v1/acquire >"$wander_dir/events" &
	wander_listener=$!
	wander_line=
	read -r wander_line <"$wander_dir/events" || true # a refusal has no end of line
	rm -rf "$wander_dir"
	WANDER_GRANT=$(wander_field "$wander_line" id)
	case $wander_line in
	*'"event":"granted"'*)
		WANDER_FENCE=$(wander_field "$wander_line" fence)
		WANDER_DEADLINE=$(wander_field "$wander_line" deadline)
		WANDER_RETURN_S=$(wander_field "$wander_line" return_s)
		WANDER_RETURN_P95_S=$(wander_field "$wander_line" return_p95_s)
		return 0
		;;
	esac
	kill "$wander_listener" 2>/dev/null || true
	wait "$wander_listener" 2>/dev/null || true
	WANDER_GRANT=
	printf '%s: %s\n' "$1" "$(wander_field "${wander_line:-no answer}" message)" >&2
	case $(wander_field "$wander_line" code) in
	not_granted | not_due) return 75 ;;
	esac
	return 69
}

# wander_release gives the resource back. It may be called more than once.
wander_release() {
	[ -n "${WANDER_GRANT-}" ] || return 0
	wander_curl --data '{"grant":"'"$WANDER_GRANT"'","operated":true,"exit":0}' --retry 5 --retry-connrefused --max-time 10 http://localhost/v1/release >/dev/null || return 69
	WANDER_GRANT=
	kill "$wander_listener" 2>/dev/null || true
	wait "$wander_listener" 2>/dev/null || true
	return 0
}
