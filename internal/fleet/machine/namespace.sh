# A machine without services: an overlay over an image in namespaces of its own.
# usage: namespace.sh DIR IMAGE OPTIONS NAME NETWORK FROM TO ...
# It tells on stdout when it is ready, and ends with its stdin: then nothing is left.
set -eu
dir=$1 image=$2 options=$3 name=$4 network=$5
shift 5
cd "$dir"
mount -t tmpfs -o mode=755 brine-test m
mkdir m/up m/work m/root
mount -t overlay -o "$options""lowerdir=$image,upperdir=$dir/m/up,workdir=$dir/m/work" brine-test m/root
root=$dir/m/root
for p in /proc /sys /dev /run /tmp /var/tmp /root /etc; do
	inside $p
done
mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/run" "$root/tmp" "$root/var/tmp" "$root/root"
chmod 1777 "$root/tmp" "$root/var/tmp"
mount -t proc proc "$root/proc"
# What is below is of the whole system: who is root could change it.
mount -o bind,ro "$root/proc/sys" "$root/proc/sys" 2>/dev/null || true
mount -t sysfs -o ro sysfs "$root/sys" 2>/dev/null || true
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for d in null zero full random urandom tty; do
	: >"$root/dev/$d"
	mount --bind "/dev/$d" "$root/dev/$d"
done
mkdir "$root/dev/shm" "$root/dev/pts"
chmod 1777 "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts" 2>/dev/null || true
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
echo "$name" >/proc/sys/kernel/hostname 2>/dev/null || true
hosts "$name"
if [ "$network" = no ]; then
	ip link set lo up 2>/dev/null || true
elif [ -e /etc/resolv.conf ]; then
	mkdir -p "$root/etc"
	rm -f "$root/etc/resolv.conf"
	cat /etc/resolv.conf >"$root/etc/resolv.conf"
fi
while [ $# -gt 0 ]; do
	inside "$2"
	if [ -d "$1" ]; then
		mkdir -p "$root$2"
	else
		mkdir -p "$root${2%/*}"
		: >"$root$2"
	fi
	mount --bind "$1" "$root$2"
	mount -o remount,bind,ro,nosuid,nodev "$root$2"
	shift 2
done
echo ready
exec cat >/dev/null
