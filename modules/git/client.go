package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/cmd"
)

// A Client runs git on a machine.
type Client struct {
	Env     *fun.Env
	User    string // account that runs git; "" is one's own
	SaltEnv string // where salt:// identity files are looked up
	// Identity are SSH private keys, tried one after the other: paths or salt:// URLs.
	Identity []string
	// Auth are credentials for HTTPS. They reach git through a credential helper,
	// never through its arguments.
	Auth *Auth
}

// A mode says how a run of git is judged and what of its output is kept.
type mode struct {
	soft  bool // a git that fails is not an error
	merge bool // stderr goes to stdout
	stdin string
}

// environ is what git gets in its environment: no question is ever asked.
func environ() *value.Map {
	return value.MapOf("GIT_TERMINAL_PROMPT", "0", "GIT_ASKPASS", "", "GIT_EDITOR", ":", "SSH_ASKPASS", "/bin/false", "SSH_ASKPASS_REQUIRE", "force")
}

// Run runs git with arguments in a directory ("" is the home directory). A git
// that fails is an error in Salt's words.
func (g *Client) Run(ctx context.Context, dir string, args ...string) (cmd.Out, error) {
	return g.run(ctx, dir, mode{}, args...)
}

func (g *Client) run(ctx context.Context, dir string, m mode, args ...string) (cmd.Out, error) {
	if len(g.Identity) > 0 {
		return g.runIdentities(ctx, dir, m, args)
	}
	out, err := g.once(ctx, dir, m, environ(), args)
	if err != nil || out.Retcode == 0 || m.soft {
		return out, err
	}
	msg := "Command 'git " + Redact(strings.Join(args, " ")) + "' failed"
	if said := m.messageOf(out); said != "" {
		msg += ": " + Redact(said)
	}
	return out, fun.Errorf("%s", msg)
}

func (m mode) messageOf(out cmd.Out) string {
	if m.merge {
		return out.Stdout
	}
	return out.Stderr
}

// once runs git a single time.
func (g *Client) once(ctx context.Context, dir string, m mode, env *value.Map, args []string) (cmd.Out, error) {
	words := append([]string{"git"}, g.Auth.options(env)...)
	words = append(words, args...)
	alone, makes := places(dir, args)
	return cmd.RunWords(ctx, g.Env, words, cmd.Options{
		Cwd: dir, RunAs: g.User, Env: env, Merge: m.merge, Stdin: m.stdin, Alone: alone, Makes: makes, AloneArg: "user",
	})
}

// places returns the directories that a run of git finds a repository in, whose
// hooks and configuration name programs to run, and those that it writes to. makes is
// the one that it makes, or "".
func places(dir string, args []string) (alone []string, makes string) {
	if dir != "" {
		alone = append(alone, dir, filepath.Join(dir, ".git"))
	}
	for i, word := range args {
		switch word {
		case "clone", "init": // no repository is looked for
			at := args[len(args)-1]
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			return []string{at, filepath.Join(at, ".git")}, at
		case "worktree", "archive":
			for _, w := range args[i+1:] {
				if _, after, ok := strings.Cut(w, "="); ok {
					w = after
				}
				if filepath.IsAbs(w) {
					alone = append(alone, filepath.Dir(w))
				}
			}
			return alone, ""
		}
	}
	return alone, ""
}

// Path returns a path, a relative one below the home directory of the account.
func (g *Client) Path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(g.home(), p)
}

func (g *Client) home() string {
	if g.User != "" {
		if a, err := g.Env.Host.LookupUser(g.User); err == nil {
			return a.Home
		}
		return "/"
	}
	for _, kv := range g.Env.Host.Environ() {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok && home != "" {
			return home
		}
	}
	if a, err := g.Env.Host.LookupUID(g.Env.Host.Geteuid()); err == nil {
		return a.Home
	}
	return "/"
}

// plain refuses a value that git would take for an option. Pairs of what a value
// is and the value.
func plain(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.HasPrefix(pairs[i+1], "-") {
			return fun.Errorf("invalid %s '%s': it must not start with a dash", pairs[i], Redact(pairs[i+1]))
		}
	}
	return nil
}

// Strip returns the message of an error without the command that failed.
func Strip(err error) string {
	msg := err.Error()
	line, rest, more := strings.Cut(msg, "\n")
	if !strings.HasPrefix(line, "Command '") && !strings.HasPrefix(line, `Command "`) {
		return msg
	}
	i := max(strings.LastIndex(line, "' failed: "), strings.LastIndex(line, `" failed: `))
	if i < 0 {
		return msg
	}
	line = line[i+len("' failed: "):]
	if more {
		line += "\n" + rest
	}
	return line
}

// IsFailure reports whether an error is what git said, or another refusal that a
// state reports in its comment.
func IsFailure(err error) bool {
	var ce *fun.CommandError
	return errors.As(err, &ce)
}

// Redact hides the credentials of the URLs in a text.
func Redact(s string) string { return redact.URLs(s) }

// Words returns options: the words of a text, or the items of a list. A -- at
// the end of a text is left out.
func Words(opts value.Value) ([]string, error) {
	switch v := opts.(type) {
	case nil:
		return nil, nil
	case *value.List:
		return v.Strs(), nil
	case value.Tuple:
		return value.NewList(v...).Strs(), nil
	}
	words, err := proc.Split(value.Str(opts))
	if err != nil {
		return nil, fun.Errorf("invalid options %s: %v", value.Repr(opts), err)
	}
	if n := len(words); n > 0 && words[n-1] == "--" {
		words = words[:n-1]
	}
	return words, nil
}

// split2 returns the first word of a line and the rest; ok is false where there
// are not two.
func split2(s string) (first, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t\r\n\v\f")
	i := strings.IndexAny(s, " \t\r\n\v\f")
	if i < 0 {
		return s, "", false
	}
	rest = strings.TrimLeft(s[i:], " \t\r\n\v\f")
	return s[:i], rest, rest != ""
}

func lines(s string) []string {
	return value.SplitLines(s, false)
}
