package cmd

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// versionTimeout bounds how long an interpreter may take to print its version.
const versionTimeout = 10 * time.Second

// versionCommand returns the program that prints the version of an interpreter, and
// the pattern of the version in its output.
func versionCommand(shell string) (argv []string, pattern string) {
	switch shell {
	case "bash":
		return []string{"bash", "--version"}, `version (\d\S*)`
	case "perl":
		return []string{"perl", "-e", `printf "%vd\n", $^V;`}, `^(\d\S*)`
	case "php":
		return []string{"php", "-v"}, `^PHP (\d\S*)`
	case "powershell":
		return []string{"powershell", "-NonInteractive", "$PSVersionTable"}, `PSVersion\s+(\d\S*)`
	case "python":
		return []string{"python", "-V"}, `^Python (\d\S*)`
	case "ruby":
		return []string{"ruby", "-v"}, `^ruby (\d\S*)`
	case "tcsh":
		return []string{"tcsh", "--version"}, `^tcsh (\d\S*)`
	case "zsh":
		return []string{"zsh", "--version"}, `^zsh (\d\S*)`
	}
	return nil, ""
}

type shellInfoArgs struct {
	_     fun.Arguments
	Shell string `arg:"shell,required" doc:"bash, perl, php, powershell, python, ruby, tcsh or zsh"`
	_     bool   `arg:"list_modules" default:"False" doc:"accepted; only used by PowerShell"`
}

// shellInfo returns whether an interpreter is installed, where, and its version.
//
// Salt: salt/modules/cmdmod.py shell_info. Difference: cmd.exe is not known, and
// modules of PowerShell are not listed.
func shellInfo(ctx context.Context, c *fun.Call, a *shellInfoArgs) (fun.Result, error) {
	shell := a.Shell
	argv, pattern := versionCommand(shell)
	if argv == nil {
		return fun.Value(value.MapOf(
			"error", fmt.Sprintf("Salt does not know how to get the version number for %s", shell),
			"installed", nil,
		))
	}
	unable := func(reason string) (fun.Result, error) {
		return fun.Value(value.MapOf("error", fmt.Sprintf("Unable to run command '%s' Reason: %s", strings.Join(argv, " "), reason), "installed", false))
	}
	path := Which(c.Env, argv[0])
	if path == "" {
		return unable(fmt.Sprintf("[Errno 2] No such file or directory: '%s'", argv[0]))
	}
	out, err := c.Env.Host.Run(ctx, host.Cmd{Argv: append([]string{path}, argv[1:]...), Timeout: versionTimeout, Merge: true, ReadOnly: true})
	switch {
	case ctx.Err() != nil:
		return fun.Result{}, ctx.Err()
	case err != nil:
		return unable(err.Error())
	case out.TimedOut:
		return unable("Timed out.")
	}
	info := value.MapOf("installed", nil, "path", path)
	if m := regexp.MustCompile("(?i)" + pattern).FindSubmatch(out.Stdout); m != nil {
		info.Set("version_raw", string(m[1]))
		info.Set("installed", true)
		info.Set("version", shortVersion(string(m[1])))
		return fun.Value(info)
	}
	info.Set("error", fmt.Sprintf("The version regex pattern for shell %s, could not find the version string", shell))
	info.Set("stdout", string(out.Stdout))
	return fun.Value(info)
}

// shortVersion returns the first two or three numbers of a version.
func shortVersion(raw string) string {
	end := strings.IndexFunc(raw, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(raw)
	}
	parts := strings.Split(raw[:end], ".")
	if len(parts) == 1 {
		parts = append(parts, "0")
	}
	return strings.Join(parts[:min(len(parts), 3)], ".")
}

type ttyArgs struct {
	_      fun.Arguments
	Device string      `arg:"device,required" doc:"name of the terminal, such as tty0 or pts3"`
	Echo   value.Value `arg:"echo" default:"''" doc:"the text"`
}

// tty writes a line of text to a terminal.
//
// Salt: salt/modules/cmdmod.py tty. Difference: the name of a terminal cannot lead
// to another file.
func tty(_ context.Context, c *fun.Call, a *ttyArgs) (fun.Result, error) {
	device := a.Device
	var path string
	switch {
	case !regexp.MustCompile(`^(tty\w+|pts/?\d+)$`).MatchString(device):
		return fun.Value(value.MapOf("Error", "The specified device is not a valid TTY"))
	case strings.HasPrefix(device, "pts"):
		path = "/dev/pts/" + strings.TrimPrefix(strings.TrimPrefix(device, "pts"), "/")
	default:
		path = "/dev/" + device
	}
	// Where no terminal is, appending would create a file.
	if _, err := c.Env.Host.Stat(path); err != nil {
		return fun.Value(value.MapOf("Error", fmt.Sprintf("Echoing to %s returned error", path)))
	}
	if err := c.Env.Host.AppendFile(path, []byte(value.Str(value.OrEmpty(a.Echo))), 0); err != nil {
		return fun.Value(value.MapOf("Error", fmt.Sprintf("Echoing to %s returned error", path)))
	}
	return fun.Value(value.MapOf("Success", "Message was successfully echoed to "+path))
}
