# Makes an image, as the first process of a namespace, which is called program.
# usage: ARGUMENT ...
# It ends with its stdin: then all that the program started ends, too.
exec 3<&0
"$@" </dev/null 3<&- &
making=$!
{
	cat >/dev/null
	kill -KILL $making
} <&3 3<&- >/dev/null 2>&1 &
status=0
wait $making || status=$?
exit $status
