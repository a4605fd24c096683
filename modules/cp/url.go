package cp

import (
	"net/url"
	"path"
	"strings"
)

// remoteSchemes are those of sources that are fetched from elsewhere.
var remoteSchemes = [...]string{"http", "https", "ftp", "swift", "s3"}

// ValidSchemes are the schemes of sources, as error texts list them.
// Salt: salt/utils/files.py VALID_PROTOS.
func ValidSchemes() []string { return append([]string{"salt", "file"}, remoteSchemes[:]...) }

// Scheme returns the scheme of a source in lower case, "" for a path.
func Scheme(source string) string {
	s, _, ok := strings.Cut(source, "://")
	if !ok || s == "" || strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return ""
	}
	return strings.ToLower(s)
}

// IsRemote reports whether a source is fetched from a server that is not
// Salt's file server.
func IsRemote(source string) bool {
	s := Scheme(source)
	for _, r := range remoteSchemes {
		if s == r {
			return true
		}
	}
	return false
}

// MakeURL returns the salt:// URL of a path. Salt: salt/utils/url.py create.
func MakeURL(p, saltenv string) string {
	u := "salt://" + p
	if saltenv != "" {
		u += "?saltenv=" + saltenv
	}
	return u
}

// filePath returns the path of a file:// URL or of a source that is a path.
func filePath(source string) string {
	if rest, ok := strings.CutPrefix(source, "file://"); ok {
		return rest
	}
	return source
}

// Redact hides the password of a URL.
// Salt: salt/utils/url.py redact_http_basic_auth.
func Redact(source string) string {
	scheme, rest, ok := strings.Cut(source, "://")
	if !ok || !strings.HasPrefix(scheme, "http") {
		return source
	}
	host, tail := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, tail = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = "<redacted>" + host[i:]
	}
	return scheme + "://" + host + tail
}

// cleanRel returns path p of the file server without . and doubled slashes,
// and false where it leads out of the roots.
func cleanRel(p string) (string, bool) {
	p = path.Clean(strings.TrimSuffix(p, "/"))
	if p == "." {
		return "", true
	}
	if strings.HasPrefix(p, "/") || p == ".." || strings.HasPrefix(p, "../") {
		return "", false
	}
	return p, true
}

// urlName returns host and path of a URL as the cache names it.
func urlName(source string) (host, name string) {
	u, err := url.Parse(source)
	if err != nil {
		return "", ""
	}
	name = u.Path
	if u.RawQuery != "" {
		name += "-" + u.RawQuery
	}
	return u.Host, name
}
