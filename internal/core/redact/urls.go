package redact

import "strings"

// spaces and the path end who a URL is for.
const spaces = "/ \t\r\n\v\f"

// inURLs replaces the credentials of the URLs in a text, which end before one of
// stops, by what hide makes of them.
func inURLs(s, stops string, hide func(scheme, creds string) string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "://")
		if i < 0 {
			break
		}
		rest := s[i+3:]
		end := strings.IndexAny(rest, stops)
		if end < 0 {
			end = len(rest)
		}
		at := strings.LastIndexByte(rest[:end], '@')
		b.WriteString(s[:i+3])
		if at >= 0 {
			b.WriteString(hide(s[:i], rest[:at]))
			rest = rest[at:]
		}
		s = rest
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s)
	return b.String()
}

// hidePasswords hides the passwords of the URLs in a text.
func hidePasswords(s string) string {
	return inURLs(s, spaces+`"'?#`, func(_, creds string) string {
		if user, password, _ := strings.Cut(creds, ":"); password != "" {
			return user + ":" + Hidden
		}
		return creds
	})
}

// URLs hides the credentials of the HTTP URLs in a text.
// Salt: salt/utils/url.py redact_http_basic_auth.
func URLs(s string) string {
	return inURLs(s, spaces, func(scheme, creds string) string {
		scheme = strings.TrimSuffix(strings.ToLower(scheme[max(0, len(scheme)-5):]), "s")
		if strings.HasSuffix(scheme, "http") {
			return "<redacted>"
		}
		return creds
	})
}
