package host

import (
	"os"
	"os/exec"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// start starts cmd with the view, on a thread that ends afterwards.
func (a *apart) start(cmd *exec.Cmd, umask *int) error {
	if err := a.enter(); err != nil {
		return a.refuse(err)
	}
	if umask != nil {
		unix.Umask(*umask & 0o777)
	}
	dir := cmd.Dir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return err
		}
	}
	held, name, err := hold(dir) // the one that the view has
	if err != nil {
		return err
	}
	defer held.Close()
	cmd.Dir = name
	return startRetry(cmd)
}

// enter makes the view that of the current thread. No mount of it is seen by others.
func (a *apart) enter() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil { // and CLONE_FS with it
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	held := make([]*os.File, len(a.dirs))
	for i, d := range a.dirs {
		f, err := openAt("open", d.path, openDir|unix.O_DIRECTORY, false)
		if err != nil {
			return err
		}
		defer f.Close()
		fi, err := f.Stat()
		if err != nil {
			return err
		}
		if who := sharedWith(a.host, statOf(d.path, fi)); who != "" {
			return &SharedPathError{Path: d.given, Dir: d.path, User: who, Arg: a.arg}
		}
		held[i] = f
	}
	// The way to what is covered is root's alone, so these paths lead where they did.
	for _, c := range a.covers {
		if err := unix.Mount("tmpfs", c.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m"); err != nil {
			return err
		}
	}
	for i, d := range a.dirs {
		if err := os.MkdirAll(d.path, 0o755); err != nil {
			return err
		}
		if err := unix.Mount("/proc/self/fd/"+strconv.Itoa(int(held[i].Fd())), d.path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return err
		}
	}
	for _, c := range a.covers { // what is written beside the directories would be lost
		if err := unix.Mount("", c.path, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
			return err
		}
	}
	return a.check()
}

// check returns an error where a path of the program, as the view has it, leads to
// what is not in it, or to what others can change: they may have put another
// directory of root's in the place of the one that was there.
func (a *apart) check() error {
	for _, path := range a.paths {
		real, err := existing(a.host, path)
		if err != nil {
			return err
		}
		top := "/"
		for _, d := range a.covers {
			if within(d.path, real) {
				top = d.path
			}
		}
		dir, who, _, err := firstShared(a.host, top, real)
		if err != nil {
			return err
		}
		if who != "" {
			return &SharedPathError{Path: path, Dir: dir, User: who, Arg: a.arg}
		}
		if top != "/" && !slices.ContainsFunc(a.dirs, func(d apartDir) bool { return within(d.path, real) }) {
			return &SharedPathError{Path: path, Dir: top, User: a.covers[0].user, Arg: a.arg}
		}
	}
	return nil
}
