# Runs the command that brings a given host back. It ends with the stdin of this script,
# which is when brine ends, however it does.
# usage: reset.sh COMMAND
exec 3<&0 </dev/null
(
	trap '' TERM
	read -r _ <&3
	kill -TERM 0
	sleep 3
	kill -KILL 0
) >/dev/null 2>&1 &
waits=$!
exec 3<&-
trap : TERM
sh -c "$1"
status=$?
kill -KILL $waits
exit $status
