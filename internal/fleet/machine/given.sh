# A given host for one test.
# usage: given.sh mark | given.sh use RESET
# mark leaves a mark that goes when the host is brought back. use tells on stdout when the
# host is ready, and ends with its stdin: then nothing of the test runs there or is left,
# but for the mark where RESET is yes.
set -eu
dir=/.brine-test
die() {
	echo "$1" >&2
	exit 1
}
[ "$(id -u)" = 0 ] || die "the account is not root: set user: root or sudo: True in the roster"
[ ! -L $dir ] || die "$dir is a link"
if [ "$1" = mark ]; then
	mkdir -p -m 700 $dir
	: >$dir/used
	exit
fi
reset=$2
command -v flock >/dev/null || die "there is no program flock: install util-linux"
command -v tar >/dev/null || die "there is no program tar"
exec 9>/run/brine-test.lock
flock -n 9 || die "another brine test uses the host"
clear() {
	for f in $dir/running/*; do
		[ -e "$f" ] || continue
		p=${f##*/}
		kill -KILL -- "-$p" 2>/dev/null || kill -KILL "$p" 2>/dev/null || true
	done
	rm -rf $dir
}
if [ -e $dir/used ]; then
	[ "$reset" = no ] || die "the command under reset succeeded, and did not bring the host back: $dir of a test before it is still there"
fi
trap '' HUP INT TERM
clear
mkdir -m 700 $dir
mkdir $dir/running
boots=no
if [ -d /run/systemd/system ] || [ -d /run/openrc ] || [ "$(cat /proc/1/comm)" = init ]; then
	boots=yes
fi
echo "ready $(uname -s) $(uname -m) $boots"
cat >/dev/null
clear
if [ "$reset" = yes ]; then
	mkdir -m 700 $dir
	: >$dir/used
fi
