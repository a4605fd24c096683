# A machine with systemd: systemd-nspawn boots an overlay over an image.
# usage: nspawn.sh DIR IMAGE NAME OPTION ...
# It is PID 1 of a namespace and ends with its stdin: then nothing is left.
set -eu
dir=$1 image=$2 name=$3
shift 3
cd "$dir"
mount -t tmpfs -o mode=755 brine-test m
mkdir m/up m/work m/root
mount -t overlay -o "lowerdir=$image,upperdir=$dir/m/up,workdir=$dir/m/work" brine-test m/root
# Its own, or machines see each other's.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd/nspawn
root=$dir/m/root
inside /etc/systemd/system.conf.d
rm -f m/root/etc/hostname m/root/etc/systemd/system.conf.d/50-brine-test.conf
echo "$name" >m/root/etc/hostname
hosts "$name"
# A test starts and stops a unit more often than systemd allows.
mkdir -p m/root/etc/systemd/system.conf.d
printf '[Manager]\nDefaultStartLimitIntervalSec=0\n' >m/root/etc/systemd/system.conf.d/50-brine-test.conf
(
	status=133 # the machine rebooted
	while [ "$status" = 133 ]; do
		status=0
		systemd-nspawn "$@" </dev/null || status=$?
	done
	echo "$status" >ended
) >console 2>&1 &
echo ready
exec cat >/dev/null
