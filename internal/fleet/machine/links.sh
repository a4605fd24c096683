# inside PATH ends the script if a path of the machine leads over a link: nothing runs in
# it yet, and a link of its image would lead out of it, to files of this machine.
inside() {
	path=$1
	while [ -n "$path" ]; do
		if [ -L "$root$path" ]; then
			echo "$path of the image is a link, and is not used" >&2
			exit 1
		fi
		path=${path%/*}
	done
}
# hosts NAME gives a machine the file /etc/hosts if its image has none: mmdebstrap makes such.
hosts() {
	if [ -d "$root/etc" ] && [ ! -e "$root/etc/hosts" ] && [ ! -L "$root/etc/hosts" ]; then
		(printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.1.1\t%s\n' "$1" >"$root/etc/hosts") 2>/dev/null || true
	fi
}
