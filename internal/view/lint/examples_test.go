package lint

import "strings"

// An Example is a small tree: the files of it, by their paths.
type Example map[string]string

// example reads the files of an example: text before the first "-- path --" line is
// salt/web.sls.
func example(text string) Example {
	out := Example{}
	name := "salt/web.sls"
	for line := range strings.SplitAfterSeq(text, "\n") {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, " --\n"), "-- "); ok && strings.HasSuffix(line, " --\n") {
			name = path
			out[name] = ""
			continue
		}
		if line != "" {
			out[name] += line
		}
	}
	return out
}

// TreesOf returns the examples of a rule.
func TreesOf(rule string) Examples { return examples[rule] }

// Bad returns the trees that break the rule. The first one is in the documentation.
func (e Examples) Bad() []Example { return examplesOf(e.bad) }

// Good returns the trees that do not.
func (e Examples) Good() []Example { return examplesOf(e.good) }

func examplesOf(texts []string) []Example {
	var out []Example
	for _, t := range texts {
		out = append(out, example(t))
	}
	return out
}
