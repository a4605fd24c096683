//go:build linux

// Command reaper runs a program and adds up the CPU time of its process and of
// all descendants, including those that outlive their parents (an agent
// outlives the sshd session by a moment).
//
//	reaper <file> <program> [<argument>...]
//
// The file holds the pid of the program and the microseconds of CPU time of the
// processes that have ended. It is rewritten whenever one ends.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: reaper <file> <program> [<argument>...]")
		os.Exit(64)
	}
	if err := reap(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "reaper:", err)
		os.Exit(1)
	}
}

func reap(file string, argv []string) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-c
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}()
	var sum int64
	for {
		// The caller may have removed the directory: then nobody reads the
		// figures, but the processes that still run are waited for all the
		// same.
		if err := note(file, fmt.Sprintf("%d %d\n", pid, sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		var ru syscall.Rusage
		got, err := syscall.Wait4(-1, nil, 0, &ru)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD):
			return nil
		case err != nil:
			return err
		}
		if got != pid {
			sum += ru.Utime.Nano()/1e3 + ru.Stime.Nano()/1e3
		}
	}
}

// note exchanges the content of the file.
func note(file, text string) error {
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
