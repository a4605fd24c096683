// Package tool runs the programs of the system that modules drive: by their
// arguments, without a shell, and in the C locale, so that what they print can
// be read. All modules run their programs through it, except those that run the commands of
// users (modules/cmd, whose environment is that of Salt's cmd.run).
package tool

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Options are how a program is run; the zero Options are the usual ones.
type Options struct {
	Stdin    io.Reader
	User     *host.Account // run as this account; nil: as oneself
	Dir      string
	Env      []string // nil is Environ
	Merge    bool     // stderr goes to stdout
	ReadOnly bool     // it changes nothing
	Accounts bool     // it changes the files of accounts: see host.RunAccounts
	Timeout  time.Duration
	// Name is what errors call the command, whose words and output may be secret; "" is its
	// words.
	Name string
}

// Run runs a program to its end. A program that is missing or cannot be started
// is a *fun.CommandError; a status other than 0 is not an error.
func Run(ctx context.Context, h host.Host, argv ...string) (Out, error) {
	return RunWith(ctx, h, Options{}, argv...)
}

// Look is Run for a program that changes nothing.
func Look(ctx context.Context, h host.Host, argv ...string) (Out, error) {
	return RunWith(ctx, h, Options{ReadOnly: true}, argv...)
}

// RunWith is Run with options.
func RunWith(ctx context.Context, h host.Host, o Options, argv ...string) (Out, error) {
	c := host.Cmd{Argv: argv, Env: o.Env, Dir: o.Dir, Stdin: o.Stdin, User: o.User, Merge: o.Merge, ReadOnly: o.ReadOnly, Timeout: o.Timeout}
	c.Private = o.Name != "" || o.Accounts
	if c.Env == nil {
		c.Env = Environ(h)
	}
	var out host.Output
	var err error
	if o.Accounts {
		out, err = host.RunAccounts(ctx, h, c)
	} else {
		out, err = h.Run(ctx, c)
	}
	switch name := cmp.Or(o.Name, strings.Join(argv, " ")); {
	case ctx.Err() != nil:
		return Out{}, ctx.Err()
	case err != nil:
		return Out{}, NotRun(name, argv[0], err)
	case out.TimedOut:
		return Out{}, fun.Errorf("Command '%s' timed out after %s", name, o.Timeout)
	}
	return Out{PID: out.PID, Status: out.Status, Stdout: value.DecodeReplace(out.Stdout), Stderr: value.DecodeReplace(out.Stderr)}, nil
}

// Succeeds runs a program and returns whether it ended well. The return's status is
// the program's, so that a failure shows in the exit status of the command line.
func Succeeds(ctx context.Context, h host.Host, argv ...string) (fun.Result, error) {
	out, err := Run(ctx, h, argv...)
	return fun.Result{Value: out.OK(), Retcode: out.Status}, err
}

// Merged is Run as cmd.run does it: stdout and stderr in the order of writing.
func Merged(ctx context.Context, h host.Host, argv ...string) (Printed, error) {
	return merged(ctx, h, Options{Merge: true}, argv)
}

// LookMerged is Merged for a program that changes nothing.
func LookMerged(ctx context.Context, h host.Host, argv ...string) (Printed, error) {
	return merged(ctx, h, Options{Merge: true, ReadOnly: true}, argv)
}

func merged(ctx context.Context, h host.Host, o Options, argv []string) (Printed, error) {
	out, err := RunWith(ctx, h, o, argv...)
	return Printed{Text: strings.TrimRight(out.Stdout, "\r\n"), Status: out.Status}, err
}

// Environ returns the environment of the host in the C locale.
func Environ(h host.Host) []string {
	env := h.Environ()
	out := make([]string, 0, len(env)+2)
	for _, kv := range env {
		if !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANG") {
			out = append(out, kv)
		}
	}
	return append(out, "LC_ALL=C", "LANG=C")
}

// NotRun returns the error of a command that could not be run. The hint of one whose
// program is missing names its package.
func NotRun(name, program string, err error) error {
	ce := &fun.CommandError{Msg: "Unable to run command '" + name + "': " + host.OSError(err)}
	if errors.Is(err, fs.ErrNotExist) {
		ce.Hint = program + " is missing"
		if p := packageOf(program); p != "" {
			ce.Hint += "; it is part of the package " + p
		}
	}
	return ce
}

// packageOf returns the packages that a program is part of, as Debian and Red Hat call
// them; "" of one that has the name of its package.
func packageOf(program string) string {
	switch program {
	case "chattr", "lsattr":
		return "e2fsprogs"
	case "chpasswd", "groupadd", "useradd", "usermod":
		return "passwd or shadow-utils"
	case "atq", "atrm", "batch":
		return "at"
	case "debconf-get-selections":
		return "debconf-utils"
	case "debconf-set-selections":
		return "debconf"
	case "dig":
		return "bind9-dnsutils or bind-utils"
	case "edquota", "quotaon", "repquota", "setquota":
		return "quota"
	case "exportfs":
		return "nfs-kernel-server or nfs-utils"
	case "firewall-cmd":
		return "firewalld"
	case "getfacl", "setfacl":
		return "acl"
	case "ip", "ss":
		return "iproute2 or iproute"
	case "modprobe", "rmmod":
		return "kmod"
	case "netstat":
		return "net-tools"
	case "nft":
		return "nftables"
	case "psql":
		return "postgresql-client or postgresql"
	case "rabbitmqctl", "rabbitmq-plugins":
		return "rabbitmq-server"
	case "restorecon":
		return "policycoreutils"
	case "semanage":
		return "policycoreutils-python-utils"
	case "smartctl":
		return "smartmontools"
	case "supervisorctl":
		return "supervisor"
	case "sv":
		return "runit"
	}
	return ""
}

// Has reports whether a program is there.
func Has(h host.Host, name string) bool {
	_, err := h.LookPath(name, "")
	return err == nil
}

// Need returns an error in Salt's words where a program is missing.
func Need(h host.Host, name string) error {
	if !Has(h, name) {
		return fun.Errorf("The '%s' binary was not found in $PATH.", name)
	}
	return nil
}

// Needs returns the Avail of a module that drives a program. why is Salt's text where
// that is missing.
func Needs(name, why string) func(*fun.Env) (bool, string) {
	return func(e *fun.Env) (bool, string) {
		if !Has(e.Host, name) {
			return false, why
		}
		return true, ""
	}
}
