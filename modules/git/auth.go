package git

import (
	"context"
	"net/url"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// An Auth are the credentials for the repositories of an HTTP(S) server.
type Auth struct {
	Base           string // scheme://host[:port]
	User, Password string
}

// helper answers git's question for credentials from its environment, so that no
// list of processes shows them.
const helper = `!f() { if test "$1" = get; then printf 'username=%s\npassword=%s\n' "$BRINE_GIT_USER" "$BRINE_GIT_PASSWORD"; fi; }; f`

// options returns the options of git that make it ask for a's credentials in env.
func (a *Auth) options(env *value.Map) []string {
	if a == nil {
		return nil
	}
	env.Set("BRINE_GIT_USER", a.User)
	env.Set("BRINE_GIT_PASSWORD", a.Password)
	key := "credential." + a.Base + ".helper="
	return []string{"-c", key, "-c", key + helper}
}

// WithAuth returns a client that has the credentials of a URL, and the URL
// without them. The credentials are user and password where one is given, which
// only an https:// URL may have, else those in the URL itself.
func (g *Client) WithAuth(source string, user, password value.Value) (*Client, string, error) {
	if user == nil && password == nil {
		a, plain := splitAuth(source)
		if a == nil {
			return g, source, nil
		}
		c := *g
		c.Auth = a
		return &c, plain, nil
	}
	scheme, rest, ok := strings.Cut(source, "://")
	if !ok || !strings.EqualFold(scheme, "https") {
		return nil, "", fun.Errorf("Basic Auth only supported for HTTPS")
	}
	host, tail := splitHost(rest)
	host = host[strings.LastIndexByte(host, '@')+1:]
	c := *g
	c.Auth = &Auth{Base: scheme + "://" + host, User: unescape(value.Str(user))}
	if password != nil {
		c.Auth.Password = unescape(value.Str(password))
	}
	return &c, scheme + "://" + host + tail, nil
}

// splitAuth takes the credentials out of a URL; nil where it has no password.
func splitAuth(source string) (*Auth, string) {
	scheme, rest, ok := strings.Cut(source, "://")
	if !ok || !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") {
		return nil, source
	}
	host, tail := splitHost(rest)
	i := strings.LastIndexByte(host, '@')
	if i < 0 {
		return nil, source
	}
	user, password, ok := strings.Cut(host[:i], ":")
	if !ok {
		return nil, source
	}
	base := scheme + "://" + host[i+1:]
	return &Auth{Base: base, User: unescape(user), Password: unescape(password)}, base + tail
}

// Plain returns a URL without its credentials.
func Plain(source string) string {
	_, plain := splitAuth(source)
	return plain
}

func splitHost(rest string) (host, tail string) {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[:i], rest[i:]
	}
	return rest, ""
}

// unescape decodes %XX as git does in URLs; what is no such code stays.
func unescape(s string) string {
	if out, err := url.PathUnescape(s); err == nil {
		return out
	}
	return s
}

// keep stores the credentials of g in a repository, in a file that only its owner
// may read, so that later runs of git there have them, too. It does nothing
// without credentials.
func (g *Client) keep(ctx context.Context, dir string) error {
	a := g.Auth
	if a == nil || a.Password == "" || strings.ContainsAny(a.Base+a.User+a.Password, "\r\n\x00") {
		return nil
	}
	bare := *g
	bare.Auth, bare.Identity = nil, nil
	gitDir, err := bare.GitDir(ctx, dir)
	if err != nil {
		return err
	}
	file := gitDir + "/brine-credentials"
	scheme, host, _ := strings.Cut(a.Base, "://")
	in := "protocol=" + scheme + "\nhost=" + host + "\nusername=" + a.User + "\npassword=" + a.Password + "\n\n"
	if _, err := bare.run(ctx, dir, mode{stdin: in}, "credential-store", "--file="+file, "store"); err != nil {
		return err
	}
	_, err = bare.Run(ctx, dir, "config", "--local", "--replace-all", "credential."+a.Base+".helper", "store --file="+proc.Quote(file))
	return err
}
