# Lists the files of a given host on all its disks, in the form that Files reads.
set -eu
set -- /
while read -r _ at type _; do
	case $type in
	bcachefs | btrfs | ext[234] | f2fs | jfs | overlay | reiserfs | vfat | xfs | zfs) [ "$at" = / ] || [ ! -d "$at" ] || set -- "$@" "$at" ;;
	esac
done </proc/mounts
exec find "$@" -xdev -mindepth 1 '(' -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /.brine-test ')' -prune \
	-o -printf '%p\t%y %m %U:%G %s %T@ %l\0'
