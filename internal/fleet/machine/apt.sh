# Lets apt of the machine install from a directory, and prefer what is there.
# usage: apt.sh DIR LABEL
set -eu
dir=$1 label=$2
if ! command -v apt-get >/dev/null; then
	echo "the machine has no apt-get" >&2
	exit 3
fi
mkdir -p /etc/apt/sources.list.d /etc/apt/preferences.d /etc/apt/apt.conf.d
list=/etc/apt/sources.list.d/$label.list
echo "deb [trusted=yes] file:$dir ./" >"$list"
printf 'Package: *\nPin: release l=%s\nPin-Priority: 990\n' "$label" >"/etc/apt/preferences.d/$label"
# Who runs in a namespace with one user cannot become another. Other sources cannot be
# reached without a network, however often they are tried.
printf 'APT::Sandbox::User "root";\nAcquire::Retries "0";\n' >"/etc/apt/apt.conf.d/99$label"
apt-get -qq -o Dir::Etc::SourceList="$list" -o Dir::Etc::SourceParts=/dev/null -o APT::Get::List-Cleanup=0 update
