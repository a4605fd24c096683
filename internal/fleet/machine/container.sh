# A machine of podman or docker.
# usage: container.sh ENGINE DIR IMAGE NAME OPTION ...
# It tells on stdout when the container runs, and ends with its stdin: then the container
# is removed. The file init says that systemd runs in it.
set -eu
engine=$1 dir=$2 image=$3 name=$4
shift 4
trap '' HUP INT TERM
probe='for p in /usr/lib/systemd/systemd /lib/systemd/systemd; do [ -x $p ] && exit 0; done; exit 9'
status=0
"$engine" run --rm --pull=never --network=none --entrypoint /bin/sh "$image" -c "$probe" >/dev/null || status=$?
case $status in
0)
	if [ "$engine" = docker ]; then
		set -- --privileged --cgroupns=private --tmpfs /run --tmpfs /run/lock "$@"
	else
		set -- --systemd=always --cap-add=NET_ADMIN "$@"
	fi
	command='for p in /usr/lib/systemd/systemd /lib/systemd/systemd; do [ -x $p ] && exec $p; done'
	: >"$dir/init"
	;;
9) command='while :; do sleep 3600; done' ;;
*) exit 1 ;; # the engine said why
esac
"$engine" run --detach --pull=never --stop-timeout=0 --name "$name" --entrypoint /bin/sh --env container="$engine" "$@" "$image" -c "$command" >/dev/null || {
	"$engine" rm -f "$name" >/dev/null 2>&1 || true
	exit 1
}
echo ready
cat >/dev/null
exec "$engine" rm -f "$name" >/dev/null
