# A given host for one test.
# usage: given.sh mark | given.sh use RESET | given.sh end
# mark leaves a mark that goes when the host is brought back. use tells on stdout when the
# host is ready, and ends with its stdin: then nothing of the test runs there or is left,
# but for the mark where RESET is yes. The exit status is 3 where another test uses the host.
# end ends the processes of the test.
set -eu
dir=/.brine-test
running=/run/brine-test.running # numbers of sessions, which end with the boot
die() {
	echo "$1" >&2
	exit 1
}
[ "$(id -u)" = 0 ] || die "the account is not root: set user: root or sudo: True in the roster"
[ ! -L $dir ] || die "$dir is a link"
# Kills the processes of a session, and those that they started, also in sessions of their own.
end() {
	all=" $1 "
	more=yes
	while [ $more = yes ]; do
		more=no
		for f in /proc/[0-9]*/stat; do
			{ read -r line <"$f"; } 2>/dev/null || continue
			pid=${line%% *}
			set -- ${line##*") "}
			case $all in
			*" $pid "*) ;;
			*" ${2:-none} "* | *" ${4:-none} "*)
				all="$all$pid "
				more=yes
				;;
			esac
		done
	done
	kill -KILL $all 2>/dev/null || true
}
endall() {
	for of in $running/*; do
		[ -e "$of" ] || continue
		end "${of##*/}"
		rm -f "$of"
	done
}
if [ "$1" = end ]; then
	endall
	exit
fi
command -v flock >/dev/null || die "there is no program flock: install util-linux"
# A test that was killed tidies for a moment yet.
exec 9>>/run/brine-test.lock
tries=0
until flock -n 9; do
	tries=$((tries + 1))
	if [ $tries -gt 15 ]; then
		echo "another brine test uses the host: wait until it ends. If its brine is gone without a word, end process $(cat /run/brine-test.lock) there" >&2
		exit 3
	fi
	sleep 1
done
echo $$ >/run/brine-test.lock
if [ "$1" = mark ]; then
	mkdir -p -m 700 $dir
	: >$dir/used
	exit
fi
reset=$2
command -v tar >/dev/null || die "there is no program tar"
clear() {
	endall
	rm -rf $running $dir
}
if [ -e $dir/used ]; then
	[ "$reset" = no ] || die "the command under reset succeeded, and did not bring the host back: $dir of a test before it is still there"
fi
trap '' HUP INT TERM
left=no
if [ -e $dir ] && [ ! -e $dir/used ] || [ -e $running ]; then
	left=yes
fi
clear
mkdir -m 700 $dir $running
boots=no
if [ -d /run/systemd/system ] || [ -d /run/openrc ] || [ "$(cat /proc/1/comm)" = init ]; then
	boots=yes
fi
echo "ready $(uname -s) $(uname -m) $left $boots"
cat >/dev/null
clear
if [ "$reset" = yes ]; then
	mkdir -m 700 $dir
	: >$dir/used
fi
