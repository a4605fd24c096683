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
