package redact

import (
	"regexp"
	"sync"
)

var urlRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(https?)://[^\s/]*@`) })

// URLs hides the credentials of the HTTP URLs in a text.
// Salt: salt/utils/url.py redact_http_basic_auth.
func URLs(s string) string { return urlRE().ReplaceAllString(s, "$1://<redacted>@") }
