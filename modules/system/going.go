package system

import (
	"context"
	"path"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/host"
)

// A Shutdown is one that is asked for and not over yet.
type Shutdown struct {
	// Mode is what comes of it: reboot, poweroff, halt, kexec; "" where that is
	// not known.
	Mode string
	// At is when it begins; the zero time where it has begun or that is not
	// known.
	At time.Time
	// By is what tells of it: a file, or the answer of a program.
	By string
}

// askTimeout bounds how long a program may take to say whether the machine is
// going down.
const askTimeout = 3 * time.Second

// Going reports whether the machine is about to go down, however that was asked
// for. It looks at what systemd, sysvinit, OpenRC and FreeBSD keep of it, runs
// nothing that could change anything, and needs no rights.
func Going(ctx context.Context, h host.Host) (Shutdown, bool) {
	if s, ok := scheduled(h); ok {
		return s, true
	}
	switch {
	case exists(h, "/run/systemd/system"):
		return systemd(ctx, h)
	case exists(h, "/run/openrc"):
		const file = "/run/openrc/softlevel"
		b, _ := h.ReadFile(file)
		if l := strings.TrimSpace(string(b)); l == "shutdown" || l == "reboot" {
			return Shutdown{Mode: strings.Replace(l, "shutdown", "", 1), By: file}, true
		}
	case exists(h, "/var/run/nologin") && !exists(h, "/proc/self"):
		// The BSDs close the log-in while a shutdown runs, and open it at boot.
		return Shutdown{By: "/var/run/nologin"}, true
	default:
		return runlevel(ctx, h)
	}
	return Shutdown{}, false
}

func exists(h host.Host, p string) bool {
	_, err := h.Stat(p)
	return err == nil
}

// scheduled reads what shutdown(8) leaves while it waits for its time.
func scheduled(h host.Host) (Shutdown, bool) {
	const file = "/run/systemd/shutdown/scheduled"
	if b, err := h.ReadFile(file); err == nil {
		s := Shutdown{By: file}
		for line := range strings.Lines(string(b)) {
			key, v, _ := strings.Cut(strings.TrimSpace(line), "=")
			switch key {
			case "MODE":
				s.Mode = v
			case "USEC":
				if n, err := strconv.ParseInt(v, 10, 64); err == nil {
					s.At = time.UnixMicro(n)
				}
			}
		}
		// shutdown -k frightens people, and nothing comes of it.
		if !strings.HasPrefix(s.Mode, "dry-") {
			return s, true
		}
	}
	for _, file := range []string{"/run/shutdown.pid", "/var/run/shutdown.pid"} {
		b, err := h.ReadFile(file)
		if err != nil {
			continue
		}
		// A file that was left behind is none that waits.
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && pid > 0 && exists(h, path.Join("/proc", strconv.Itoa(pid))) {
			return Shutdown{By: file}, true
		}
	}
	return Shutdown{}, false
}

// ask runs a program that only tells, and returns what it printed.
func ask(ctx context.Context, h host.Host, argv ...string) string {
	if _, err := h.LookPath(argv[0], ""); err != nil {
		return ""
	}
	out, err := h.Run(ctx, host.Cmd{Argv: argv, Timeout: askTimeout, MaxOutput: 4 << 10})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out.Stdout))
}

// systemd asks whether the shutdown has begun: logind waits for those that delay
// it, then the manager stops.
func systemd(ctx context.Context, h host.Host) (Shutdown, bool) {
	if ask(ctx, h, "systemctl", "is-system-running") == "stopping" {
		return Shutdown{By: "systemctl is-system-running"}, true
	}
	const prop = "PreparingForShutdown"
	if exists(h, "/run/systemd/seats") && ask(ctx, h, "loginctl", "show-session", "--property="+prop) == prop+"=yes" {
		return Shutdown{By: "loginctl show-session"}, true
	}
	return Shutdown{}, false
}

// runlevel asks where init was last sent to.
func runlevel(ctx context.Context, h host.Host) (Shutdown, bool) {
	f := strings.Fields(ask(ctx, h, "runlevel"))
	if len(f) == 2 {
		switch f[1] {
		case "0":
			return Shutdown{Mode: "halt", By: "runlevel"}, true
		case "6":
			return Shutdown{Mode: "reboot", By: "runlevel"}, true
		}
	}
	return Shutdown{}, false
}
