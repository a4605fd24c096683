package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A mounting is a file system that a program in a chroot needs.
type mounting struct{ point, device, fstype, opts string }

type runChrootArgs struct {
	Root string      `arg:"root,required,path" doc:"the root directory"`
	Cmd  value.Value `arg:"cmd,required,str|list" doc:"the command; a list is its words"`
	Cwd  string      `arg:"cwd,path" doc:"working directory of chroot(8); the command starts in the root directory"`
	stdinArgs
	userArgs
	pythonShellArgs
	Binds []string `arg:"binds" doc:"directories to mount at the same place in the root directory"`
	envArgs
	cleanEnvArgs
	templateArgs
	rstripArgs
	umaskArgs
	logArgs
	hideArgs
	timeoutArgs
	ignoreArgs
	saltenvArgs
	vtArgs
	bgArgs
	successArgs
	prependArgs
	rareArgs
	_ fun.Kwargs
}

func (a *runChrootArgs) dir() string { return a.Cwd }

// runChroot runs a command in another root directory, where /dev, /proc, /sys and
// the directories of binds are mounted. What was mounted there before stays so.
// At the end the processes that the command left behind are ended, and what was
// mounted is unmounted, unless the command runs in the background.
//
// runas and group are accounts of the other root.
// Salt: salt/modules/cmdmod.py run_chroot. Differences: a directory of binds that
// cannot be mounted is an error, and nothing is run. Where /dev, /proc or /sys cannot
// be mounted, as in many containers, that is a warning; Salt says nothing.
func runChroot(ctx context.Context, c *fun.Call, a *runChrootArgs) (fun.Result, error) {
	o := commandOptions(c, a)
	o.Root = "" // the argument root is that of chroot(8)
	// Before anything is mounted, and for the command without chroot's own words.
	if err := c.Env.Limits.Command(command(a.Cmd)); err != nil {
		return fun.Result{}, err
	}
	o.Written = false
	// What runs in the root is ended afterwards: that must not be this machine by
	// another name.
	root, err := c.Env.Host.Target(filepath.Clean(a.Root))
	if unsafe, ok := errors.AsType[*host.UnsafeLinkError](err); ok {
		return fun.Result{}, fun.Errorf("%s", unsafe)
	}
	if err == nil {
		if err := host.CheckAlone(c.Env.Host, root, ""); err != nil {
			return fun.Result{}, fun.Errorf("%s", host.Strerror(err))
		}
	}
	if err == nil && root != "/" {
		var st host.Stat
		if st, err = c.Env.Host.Stat(root); err == nil && !st.Mode.IsDir() {
			err = fs.ErrInvalid
		}
	}
	if err != nil || root == "/" {
		return fun.Result{}, fun.Errorf("root '%s' is not a directory in which a command can be run", a.Root)
	}
	words := chrootWords(c.Env.Host, root, o.RunAs, o.Group, command(a.Cmd))
	o.RunAs, o.Group, o.Root, o.PythonShell = "", "", "", true
	mounted, err := mountAll(ctx, c, a, root)
	var out Out
	if err == nil {
		out, err = RunWords(ctx, c.Env, words, o)
	}
	if !out.Background { // else the command is at work
		unmountAll(context.WithoutCancel(ctx), c, root, mounted)
	}
	if err != nil {
		return fun.Result{}, err
	}
	res := fun.Result{Value: out.Value(), Retcode: out.Retcode}
	if a.IgnoreRetcode || out.TimedOut {
		res.Retcode = 0
	}
	return res, nil
}

// chrootWords returns the words of chroot(8) for a command. It is run by the bash of
// the other root, or by its sh.
func chrootWords(h host.Host, root, user, group, command string) []string {
	words := []string{"chroot"}
	if user != "" {
		words = append(words, "--userspec", user+":"+group)
	}
	shell := "/bin/sh"
	if st, err := h.Stat(filepath.Join(root, "bin/bash")); err == nil && st.Mode.IsRegular() {
		shell = "/bin/bash"
	}
	return append(words, root, shell, "-c", command)
}

// mountAll mounts what is not mounted yet, and returns the mount points in that
// order, those before an error as well.
func mountAll(ctx context.Context, c *fun.Call, a *runChrootArgs, root string) (done []string, err error) {
	need := []mounting{
		{filepath.Join(root, "dev"), "devtmpfs", "devtmpfs", ""},
		{filepath.Join(root, "proc"), "proc", "proc", ""},
		{filepath.Join(root, "sys"), "sysfs", "sysfs", ""},
	}
	for _, dir := range a.Binds {
		need = append(need, mounting{filepath.Join(root, dir), dir, "", "defaults,bind"})
	}
	for _, m := range need {
		// A link of the other root would lead to a directory of this machine.
		if at, err := c.Env.Host.EvalSymlinks(m.point); err == nil && at != m.point {
			return done, fun.Errorf("Unable to mount %s: it leads to %s by a link", m.point, at)
		}
		is, err := c.Env.Exec(ctx, "mount.is_mounted", nil, m.point)
		if err != nil {
			return done, err
		}
		if is == true {
			continue
		}
		kw := value.MapOf("mkmnt", true)
		if m.fstype != "" {
			kw.Set("fstype", m.fstype)
		}
		if m.opts != "" {
			kw.Set("opts", m.opts)
		}
		res, err := c.Env.Exec(ctx, "mount.mount", kw, m.point, m.device)
		if err != nil {
			return done, err
		}
		switch {
		case res == true:
		case m.fstype != "":
			c.Env.Warn(fun.Warning{Text: fmt.Sprintf("unable to mount %s: %s; the command runs without it", m.point, strings.TrimSpace(value.Str(res)))})
			continue
		default:
			return done, fun.Errorf("Unable to mount %s: %s", m.point, value.Str(res))
		}
		done = append(done, m.point)
	}
	return done, nil
}

// unmountAll ends what runs in root and unmounts the mount points, the last first.
// What cannot be unmounted is logged.
func unmountAll(ctx context.Context, c *fun.Call, root string, points []string) {
	if len(points) == 0 {
		return
	}
	endLeftovers(ctx, c.Env.Host, root)
	for _, point := range slices.Backward(points) {
		res, err := c.Env.Exec(ctx, "mount.umount", nil, point)
		if err != nil || res != true {
			c.Env.Logger.Error("a file system of the chroot stays mounted", "mount", point, "reason", value.Str(res), "err", err)
		}
	}
}

// endLeftovers ends the processes whose root is root: by SIGTERM, three times, then
// by SIGKILL.
func endLeftovers(ctx context.Context, h host.Host, root string) {
	const term, kill = 15, 9
	for try := range 6 {
		pids := processesIn(h, root)
		if len(pids) == 0 {
			return
		}
		sig := term
		if try >= 3 {
			sig = kill
		}
		for _, pid := range pids {
			_ = h.Signal(pid, sig) // one that has ended meanwhile is what is wanted
		}
		if h.Sleep(ctx, 100*time.Millisecond) != nil {
			return
		}
	}
}

// processesIn returns the processes whose root directory is root, a path without
// links, or in it.
func processesIn(h host.Host, root string) []int {
	names, err := h.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid <= 1 || pid == h.Getpid() {
			continue
		}
		at, err := h.Readlink("/proc/" + name + "/root")
		if err == nil && (at == root || strings.HasPrefix(at, root+"/")) {
			pids = append(pids, pid)
		}
	}
	return pids
}
