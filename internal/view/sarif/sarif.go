// Package sarif writes findings as SARIF 2.1.0, the format in which code hosts and
// editors read them.
package sarif

import (
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"time"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Level is how bad a finding is.
type Level string

// The levels, from the least to the worst.
const (
	Note    Level = "note"
	Warning Level = "warning"
	Error   Level = "error"
)

// A Rule is one kind of fault.
type Rule struct {
	ID    string
	Doc   string // one sentence: what is wrong
	Why   string // what comes of it, and what to write instead
	Level Level
	Off   bool // only if it is selected
}

// A Result is a fault. Pos.File is a path, relative to where the program was
// started or absolute; a zero Pos is a fault without a place.
type Result struct {
	Rule    string // ID of one of the rules
	Level   Level
	Message string
	Pos     source.Pos
	Via     []source.Pos // statements that led there, innermost first
	Hosts   []string     // that found it
}

// A Log is the findings of one run of a program.
type Log struct {
	Tool    string // such as "brine lint"
	Version string
	Rules   []Rule
	Results []Result
	Run     *Invocation // nil: not said
}

// An Invocation says how the run of the program went.
type Invocation struct {
	OK         bool
	Arguments  []string
	Start, End time.Time // zero: not known
}

// Annotation returns a line that GitHub Actions shows as an annotation of a place.
func Annotation(level Level, pos source.Pos, title, text string) string {
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	name := string(level)
	if level == Note {
		name = "notice"
	}
	return fmt.Sprintf("::%s file=%s,line=%d,col=%d,title=%s::%s\n", name, property.Replace(pos.File), max(pos.Line, 1), max(pos.Col, 1), property.Replace(title), escape.Replace(text))
}

// Write writes the log as JSON.
func (l *Log) Write(w io.Writer) error {
	text, err := value.AppendJSON(nil, l.document(), value.JSONOptions{Indent: 2, Strict: true})
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func (l *Log) document() *value.Map {
	rules, index := value.NewList(), map[string]int64{}
	for i, rule := range l.Rules {
		index[rule.ID] = int64(i)
		rules.Append(value.MapOf("id", rule.ID, "shortDescription", value.MapOf("text", rule.Doc),
			"fullDescription", value.MapOf("text", rule.Doc+" "+rule.Why),
			"defaultConfiguration", value.MapOf("level", string(rule.Level), "enabled", !rule.Off)))
	}
	results := value.NewList()
	for i := range l.Results {
		results.Append(l.Results[i].document(index))
	}
	driver := value.MapOf("name", l.Tool, "version", l.Version, "rules", rules)
	run := value.MapOf("tool", value.MapOf("driver", driver), "results", results)
	if l.Run != nil {
		run.Set("invocations", value.NewList(l.Run.document()))
	}
	return value.MapOf("$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", value.NewList(run))
}

func (r *Result) document(index map[string]int64) *value.Map {
	m := value.MapOf("ruleId", r.Rule, "ruleIndex", index[r.Rule], "level", string(r.Level), "message", value.MapOf("text", r.Message))
	if r.Pos.File != "" {
		m.Set("locations", value.NewList(location(r.Pos)))
	}
	via := value.NewList()
	for i, pos := range r.Via {
		if pos.File != "" {
			at := location(pos)
			at.Set("id", int64(i))
			at.Set("message", value.MapOf("text", "included from here"))
			via.Append(at)
		}
	}
	if via.Len() > 0 {
		m.Set("relatedLocations", via)
	}
	if len(r.Hosts) > 0 {
		m.Set("properties", value.MapOf("hosts", value.Strings(r.Hosts...)))
	}
	return m
}

func location(pos source.Pos) *value.Map {
	place := value.MapOf("artifactLocation", value.MapOf("uri", uri(pos.File)))
	if pos.Line > 0 {
		region := value.MapOf("startLine", int64(pos.Line))
		if pos.Col > 0 {
			region.Set("startColumn", int64(pos.Col))
		}
		place.Set("region", region)
	}
	return value.MapOf("physicalLocation", place)
}

// uri is a path as a reference: relative ones are relative to the repository.
func uri(file string) string {
	u := url.URL{Path: file}
	if path.IsAbs(file) {
		u.Scheme = "file"
	}
	return u.String()
}

func (i *Invocation) document() *value.Map {
	m := value.MapOf("executionSuccessful", i.OK)
	if len(i.Arguments) > 0 {
		m.Set("arguments", value.Strings(i.Arguments...))
	}
	for _, x := range [...]struct {
		key string
		at  time.Time
	}{{"startTimeUtc", i.Start}, {"endTimeUtc", i.End}} {
		if !x.at.IsZero() {
			m.Set(x.key, x.at.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
	}
	return m
}
