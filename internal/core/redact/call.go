package redact

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"brine/internal/py/value"
)

// maxInput is the longest standard input whose lines count as secrets, in bytes: a
// longer one is a script or data, whose lines stand elsewhere, too.
const maxInput = 4 << 10

// maxValue is the longest value that is told to others and known in other forms, in
// bytes.
const maxValue = 64 << 10

// plainEnv are variables whose values are not secrets, in lower case.
var plainEnv = [...]string{
	"path", "home", "user", "logname", "shell", "term", "lang", "language", "tz", "pwd", "editor", "pager", "hostname", "display",
	"columns", "lines", "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
}

// plainEnvEnds are what variables end with whose values are not secrets.
var plainEnvEnds = [...]string{
	"_path", "_dir", "_home", "_root", "_file", "_env", "_version", "_host", "_port", "_level", "_lang", "_region", "_user", "_name", "_frontend", "_proxy",
}

// isPlainEnv reports whether the value of an environment variable is not
// secret.
func isPlainEnv(name string) bool {
	name = strings.ToLower(name)
	if isSecret(name) {
		return false
	}
	if strings.HasPrefix(name, "lc_") {
		return true
	}
	for _, p := range plainEnv {
		if name == p {
			return true
		}
	}
	for _, end := range plainEnvEnds {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// An origin is what the name of an argument says of its value.
type origin int

const (
	plain  origin = iota
	secret        // the value is a secret
	env           // an environment
	input         // what a program reads
)

func originOf(name string) origin {
	switch {
	case isInput(name):
		return input
	case isEnv(name):
		return env
	case isSecret(name):
		return secret
	}
	return plain
}

// isInput reports whether an argument is what a program reads.
func isInput(name string) bool { return name == "stdin" }

// maxNames bounds how many names of arguments a Set keeps the origin of.
const maxNames = 4096

func (s *Set) origin(name string) origin {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.origins[name]
	if !ok {
		o = originOf(name)
		if len(s.origins) < maxNames {
			s.origins[name] = o
		}
	}
	return o
}

// AddArg adds the secrets of an argument of a call: the value of one whose name says
// so or that is declared to be secret, the variables of an environment, what a program
// reads, the passwords of URLs, and what keys within it say to be one of these.
func (s *Set) AddArg(name string, declared bool, v value.Value) {
	if s != nil {
		s.addArg(name, declared, v, 0)
	}
}

func (s *Set) addArg(name string, declared bool, v value.Value, depth int) {
	if depth > 100 {
		return
	}
	switch v := v.(type) {
	case nil, bool:
		return
	case string:
		s.addURLs(v)
	}
	o := s.origin(name)
	if declared || o == secret && s.isSecretItem(name, name, v) {
		s.search(v, name, true, depth, func(_, text string) { s.Add(text) })
		return
	}
	switch o {
	case env:
		s.addEnv(v)
	case input:
		if text, ok := v.(string); ok && len(text) <= maxInput {
			s.Add(text)
		}
	default:
		switch v := v.(type) {
		case *value.Map:
			for k, x := range v.All() {
				key, _ := k.(string)
				s.addArg(key, false, x, depth+1)
			}
		case *value.List:
			for i := range v.Len() {
				s.addArg("", false, v.Items[i], depth+1)
			}
		case value.Tuple:
			for _, x := range v {
				s.addArg("", false, x, depth+1)
			}
		}
	}
}

// addEnv adds the values of an environment, in each of the forms that it has.
func (s *Set) addEnv(v value.Value) {
	add := func(name, text string) {
		if !isPlainEnv(name) {
			s.Add(text)
		}
		s.addURLs(text)
	}
	switch v := v.(type) {
	case *value.Map:
		for k, x := range v.All() {
			switch x.(type) {
			case nil, bool:
			default:
				add(value.Str(k), value.Str(x))
			}
		}
	case *value.List:
		for i := range v.Len() {
			s.addEnv(v.Items[i])
		}
	case string:
		for line := range strings.SplitSeq(v, "\n") {
			i := strings.IndexAny(line, "=:")
			if i > 0 {
				add(strings.TrimLeft(line[:i], " -"), strings.Trim(strings.TrimSpace(line[i+1:]), `"'`))
			}
		}
	}
}

// addURLs adds the passwords of the URLs in a text.
func (s *Set) addURLs(v string) {
	if !strings.Contains(v, "://") {
		return
	}
	_ = inURLs(v, spaces+`"'?#`, func(_, creds string) string {
		if _, password, ok := strings.Cut(creds, ":"); ok {
			s.Add(password)
			if clear, err := url.PathUnescape(password); err == nil {
				s.Add(clear)
			}
		}
		return creds
	})
}

// quoted returns the forms of a text that other text has it in: strings of JSON, Go
// and Python, words of a shell, parts of a URL, text of HTML and XML. Those that are
// the text itself are left out.
func quoted(v string) []string {
	if strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~") == "" {
		return nil // it is the same in all
	}
	inner := func(s string) string { return s[1 : len(s)-1] }
	out := []string{
		inner(strconv.Quote(v)), inner(value.Repr(v)), strings.ReplaceAll(v, "'", `'\''`), strings.ReplaceAll(v, "'", `'"'"'`),
		url.QueryEscape(v), url.PathEscape(v), strings.TrimPrefix(url.UserPassword("", v).String(), ":"),
		inHTML.Replace(v), inXML.Replace(v),
	}
	if b, err := json.Marshal(v); err == nil {
		out = append(out, inner(string(b)), inner(string(value.EncodeJSON(v))))
	}
	return out
}

var (
	inHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")
	inXML  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")
)
