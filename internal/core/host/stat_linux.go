package host

import (
	"io/fs"
	"syscall"
	"time"
)

func statOf(path string, fi fs.FileInfo) Stat {
	s := Stat{Path: path, Mode: fi.Mode(), Size: fi.Size(), Mtime: fi.ModTime()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		s.UID, s.GID = int(st.Uid), int(st.Gid)
		s.Atime = time.Unix(st.Atim.Unix())
		s.Ctime = time.Unix(st.Ctim.Unix())
		s.Inode, s.Dev, s.Nlink = st.Ino, uint64(st.Dev), uint64(st.Nlink) //nolint:unconvert // widths differ by architecture
	}
	return s
}
