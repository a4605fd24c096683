package redact

import (
	"regexp"
	"strings"
	"sync"
)

var urlRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(https?)://[^\s/]*@`) })

// passwordRE is the password in a URL.
var passwordRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://[^\s/:@"'?#]*:)[^\s/@"'?#]+@`)
})

// hidePasswords hides the passwords of the URLs in a text, and adds to whether it was
// changed.
func hidePasswords(s string, changed bool) (string, bool) {
	if _, rest, ok := strings.Cut(s, "://"); !ok || !strings.Contains(rest, "@") {
		return s, changed
	}
	out := passwordRE().ReplaceAllString(s, "${1}"+Hidden+"@")
	return out, changed || out != s
}

// URLs hides the credentials of the HTTP URLs in a text.
// Salt: salt/utils/url.py redact_http_basic_auth.
func URLs(s string) string { return urlRE().ReplaceAllString(s, "$1://<redacted>@") }
