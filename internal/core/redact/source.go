package redact

import (
	"regexp"
	"strings"
	"sync"
)

// flowRE is a name with its value, as YAML's flow style and arguments have them.
var flowRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([\w.-]+)(["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,\[\]{}"']+)`)
})

// blockRE is a name at the begin of a line, with its value after it or below.
var blockRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*(?:- +)*)["']?([\w.-]+)["']?\s*:(?:\s+(.*))?$`)
})

// variableRE is a variable of an environment, at the begin of a line.
var variableRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*(?:- +)*["']?[\w.-]+["']?\s*[:=]\s*)(\S.*)$`)
})

// Source returns the text of an SLS with [Hidden] in the place of the secrets that
// the set knows, and of the values whose names are those of secrets: what is
// written into a file has no other sign.
func (s *Set) Source(text string) string {
	if s == nil {
		return text
	}
	var out strings.Builder
	depth := -1 // of the name whose value is hidden; negative: none is
	variables := false
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		end := line[len(body):]
		indent := len(body) - len(strings.TrimLeft(body, " "))
		if depth >= 0 && strings.TrimSpace(body) != "" {
			below := indent > depth || indent == depth && strings.HasPrefix(strings.TrimLeft(body, " "), "- ")
			if below && variables && variableRE().MatchString(body) {
				out.WriteString(variableRE().ReplaceAllString(body, "${1}"+Hidden) + end)
				continue
			}
			if below {
				out.WriteString(body[:indent] + Hidden + end)
				continue
			}
			depth = -1
		}
		m := blockRE().FindStringSubmatch(body)
		variables = m != nil && isEnv(m[2])
		if m == nil || !variables && !Hides(m[2], "x") {
			out.WriteString(flowRE().ReplaceAllStringFunc(body, hideFlow) + end)
			continue
		}
		depth = len(m[1]) // a text may go on below, whatever it begins with
		if m[3] == "" {
			out.WriteString(body + end)
			continue
		}
		out.WriteString(m[1] + m[2] + ": " + Hidden + end)
	}
	return s.Line(out.String())
}

func hideFlow(pair string) string {
	m := flowRE().FindStringSubmatch(pair)
	if !Hides(m[1], "x") {
		return pair
	}
	return m[1] + m[2] + Hidden
}
