//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/internal/core/cause"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	"brine/internal/testkit/machine"
)

// What differs from run to run and from machine to machine is masked in both the
// recording and the answer, by the rules of testdata/machines/README.md.

// A mask replaces what a regular expression of Python matches.
type mask struct {
	expr *pyre.Regexp
	repl string
}

func compileMask(t testing.TB, expr, repl string) mask {
	t.Helper()
	re, err := pyre.Compile(expr, pyre.Multiline)
	if err != nil {
		t.Fatalf("mask %s: %v", expr, err)
	}
	return mask{re, repl}
}

func (m mask) apply(s string) string {
	out, _, err := m.expr.Sub(m.repl, s, 0)
	if err != nil {
		return s
	}
	return out
}

var maskedMachineKeys = map[string]string{
	"duration": "<duration>", "start_time": "<time>", "jid": "<jid>", "__jid__": "<jid>", "__pub_jid": "<jid>",
	"__pub_pid": "<pid>", "pid": "<pid>", "_stamp": "<time>", "creation_date_time_t": "<time>", "install_date_time_t": "<time>",
	"build_date_time_t": "<time>", "killed": "<pid>",
}

type textMask struct {
	expr *regexp.Regexp
	repl string
}

// textMasks hold for every case.
var textMasks = []textMask{
	{regexp.MustCompile(`Running scope as unit: \S+\n?[ \t]*`), ""},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?: ?[+-]\d{4}|Z)?\b`), "<time>"},
	{regexp.MustCompile(`\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]?\d(?:,? 20\d\d)? \d\d:\d\d:\d\d(?: [AP]M)?(?: UTC)?(?: 20\d\d)?`), "<time>"},
	{regexp.MustCompile(`\(Reading database \.\.\. (?:\d+%\n\(Reading database \.\.\. )*\d+ files and directories currently installed\.\)`), "(Reading database <path>)"},
	{regexp.MustCompile(`\b(?:Main )?PID: \d+`), "PID: <pid>"},
	{regexp.MustCompile(`(/tmp/|/var/tmp/|/case/cache/|/case/root/)[A-Za-z0-9_./@+-]+`), "<path>"},
	{regexp.MustCompile(`\bpid (\d+)\b`), "pid <pid>"},
	{regexp.MustCompile(`\b(pid:\s+)\d+`), "${1}<pid>"},
	{regexp.MustCompile(`run-r?[0-9a-f]{6,40}\.(scope|service)`), "run-<pid>.$1"},
	{regexp.MustCompile(`\bat 0x[0-9a-f]{6,}`), "at <addr>"},
	{regexp.MustCompile(`/opt/salt(?:py)?/[\w./-]+`), "<path>"},
}

var (
	printedSet = regexp.MustCompile(`\{('[^'{}:]*'(?:, '[^'{}:]*')+)\}`)
	wild       = regexp.MustCompile(`<(?:time|duration|jid|pid|path|addr|host|docstring|day)>`)
	tracebacks = regexp.MustCompile(`^(<traceback> )+`)
	blanked    = strings.NewReplacer(caseTmp, "@TMP@", caseTree, "@TREE@", caseConf, "@CONF@")
)

// masking masks the values of one case.
type masking struct {
	own       []mask
	sortLines bool
	today     int64
}

func (c *machineCase) masking() *masking {
	return &masking{own: c.masks, sortLines: c.sortLines, today: time.Now().Unix() / 86400}
}

func (m *masking) string(s string) string {
	s = blanked.Replace(s)
	for _, own := range m.own {
		s = own.apply(s)
	}
	if m.sortLines {
		lines := strings.Split(s, "\n")
		slices.Sort(lines)
		s = strings.Join(lines, "\n")
	}
	for _, t := range textMasks {
		s = t.expr.ReplaceAllString(s, t.repl)
	}
	// Python prints sets in any order.
	s = printedSet.ReplaceAllStringFunc(s, func(set string) string {
		items := strings.Split(set[1:len(set)-1], ", ")
		slices.Sort(items)
		return "{" + strings.Join(items, ", ") + "}"
	})
	for _, day := range []int64{m.today, m.today - 1} {
		s = regexp.MustCompile(`(^|[^\d.])`+strconv.FormatInt(day, 10)+`($|[^\d.])`).ReplaceAllString(s, "${1}<day>${2}")
	}
	return s
}

func (m *masking) value(v value.Value, key string) value.Value {
	if as, ok := maskedMachineKeys[key]; ok && v != nil {
		return as
	}
	switch x := v.(type) {
	case *value.Map:
		out := value.NewMap(x.Len())
		for k, item := range x.All() {
			name := value.Str(k)
			if name == cause.Key && x.Has("comment") {
				continue // brine says there what Salt's comment does not
			}
			under := name
			if _, isList := item.(*value.List); key == "comps" || name == "comps" && isList {
				under = "removed"
			}
			out.Set(m.string(name), m.value(item, under))
		}
		return out
	case *value.List:
		out := value.NewList()
		for _, item := range x.Items {
			out.Append(m.value(item, ""))
		}
		if key == "removed" {
			slices.SortFunc(out.Items, func(a, b value.Value) int { return strings.Compare(value.Str(a), value.Str(b)) })
		}
		return out
	case int64:
		if d := x - m.today; key == "lstchg" && d >= -1 && d <= 1 {
			return "<day>"
		}
	case string:
		s := m.string(x)
		if strings.Contains(s, "Traceback (most recent call last)") {
			first, _, _ := strings.Cut(s, "\n")
			lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
			last := strings.TrimSpace(lines[len(lines)-1])
			s = first + "\n<traceback> " + tracebacks.ReplaceAllString(last, "")
		}
		return s
	}
	return v
}

var textFields = []textMask{
	{regexp.MustCompile(`(Started: )\S+`), "${1}<time>"},
	{regexp.MustCompile(`(Duration: ).*`), "${1}<duration>"},
	{regexp.MustCompile(`Total run time:.*`), "Total run time: <duration>"},
}

// text masks what was printed, and returns its lines.
func (m *masking) text(s string) []string {
	s = m.string(s)
	for _, t := range textFields {
		s = t.expr.ReplaceAllString(s, t.repl)
	}
	lines := strings.Split(strings.TrimRight(s, " \t\r\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return lines
}

// like reports whether got is want, whose masked places stand for anything.
func like(want, got string) bool {
	if want == got || strings.Contains(want, "<docstring>") {
		return true
	}
	if !wild.MatchString(want) {
		return false
	}
	parts := wild.Split(want, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*?") + `\z`).MatchString(got)
}

// compareAnswer returns what differs between a step's recording and its answer,
// which is reported below key.
func (c *machineCase) compareAnswer(n int, s *machineStep, key string, res machine.Result) (faults []string) {
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	if res.Exit < 0 {
		fault("no answer in time: %s", clip(res.Stderr))
		return faults
	}
	if (res.Exit == 0) != (s.exit == 0) {
		fault("exit status %d, recorded %d: %s", res.Exit, s.exit, clip(res.Stderr))
	}
	suffix := ""
	if n > 1 {
		suffix = "." + strconv.Itoa(n)
	}
	recorded := func(name string) (string, bool) {
		b, err := os.ReadFile(filepath.Join(c.dir, name))
		return string(b), err == nil
	}
	m, fixed := c.masking(), (&machineCase{}).masking()
	if under, ok := strings.CutPrefix(res.Stdout, key+":"); ok {
		res.Stdout = recordedKey + ":" + under
	}
	if want, ok := recorded("expected" + suffix + ".json"); ok {
		faults = append(faults, m.compareJSON(want, key, res, s.shape)...)
	} else if want, ok := recorded("expected" + suffix + ".txt"); ok {
		if f := firstLine(fixed.text(want), m.text(res.Stdout)); f != "" && !strings.Contains(want, "<docstring>") {
			fault("%s", f)
		}
	} else if strings.TrimSpace(res.Stdout) != "" {
		fault("nothing expected on stdout, got %s", clip(res.Stdout))
	}
	return faults
}

// compareProbes returns what differs between the recorded probes of a step and
// what they say now.
func (c *machineCase) compareProbes(n int, probes []machine.Result) (faults []string) {
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	text, err := os.ReadFile(filepath.Join(c.dir, fmt.Sprintf("expected.probe.%d.json", n)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []string{err.Error()}
	}
	v, err := value.DecodeJSON(bytes.NewReader(text))
	if err != nil {
		return []string{"the recorded probes: " + err.Error()}
	}
	m := c.masking()
	for i, x := range v.(*value.List).Items {
		want := x.(*value.Map)
		exit, _ := value.AsInt(want.At("exit"))
		switch {
		case i >= len(probes):
			fault("no answer of the probe %s", want.Str("cmd"))
		case int(exit) != probes[i].Exit:
			fault("probe %s: exit %d, recorded %d", want.Str("cmd"), probes[i].Exit, exit)
		default:
			if f := firstLine(m.text(want.Str("stdout")), m.text(probes[i].Stdout)); f != "" {
				fault("probe %s: %s", want.Str("cmd"), f)
			}
		}
	}
	return faults
}

// firstLine returns the first line in which two texts differ, "" where they
// agree.
func firstLine(want, got []string) string {
	if like(strings.Join(want, "\n"), strings.Join(got, "\n")) {
		return ""
	}
	for i := range max(len(want), len(got)) {
		a, b := "<end>", "<end>"
		if i < len(want) {
			a = want[i]
		}
		if i < len(got) {
			b = got[i]
		}
		if !like(a, b) {
			return fmt.Sprintf("line %d: want %q, got %q", i+1, a, b)
		}
	}
	return ""
}

// recordedKey is what the recordings report returns under.
const recordedKey = "local"

func (m *masking) compareJSON(text, key string, res machine.Result, shaped string) (faults []string) {
	got, err := value.DecodeJSON(strings.NewReader(res.Stdout))
	if err != nil {
		return []string{fmt.Sprintf("stdout is not JSON: %v: %s; stderr: %s", err, clip(res.Stdout), clip(res.Stderr))}
	}
	if doc, ok := got.(*value.Map); ok && key != recordedKey && doc.Has(key) {
		got = value.NewMap(1)
		got.(*value.Map).Set(recordedKey, doc.At(key))
	}
	want, err := value.DecodeJSON(strings.NewReader(text))
	if err != nil {
		return []string{"the recording is not JSON: " + err.Error()}
	}
	want, got = m.value(want, ""), m.value(got, "")
	if shaped != "" {
		got = shapeOf(got, shaped, 0)
	}
	d := &machineDiffer{}
	d.diff("", want, got)
	return d.faults
}

// shapeOf keeps the types of values alone.
func shapeOf(v value.Value, how string, depth int) value.Value {
	switch x := v.(type) {
	case nil, bool:
		return v
	case *value.Map:
		out := value.NewMap(x.Len())
		for k, item := range x.All() {
			if how == "values" && depth == 1 {
				out.Set("*", shapeOf(item, how, depth+1))
				break
			}
			out.Set(k, shapeOf(item, how, depth+1))
		}
		return out
	case *value.List:
		out := value.NewList()
		if x.Len() > 0 {
			out.Append(shapeOf(x.Items[0], how, depth+1))
		}
		return out
	}
	return value.TypeName(v)
}

// A machineDiffer compares masked values.
type machineDiffer struct{ faults []string }

func (d *machineDiffer) fault(path, format string, a ...any) {
	d.faults = append(d.faults, path+": "+fmt.Sprintf(format, a...))
}

func (d *machineDiffer) diff(path string, want, got value.Value) {
	const most = 8
	if len(d.faults) >= most {
		return
	}
	switch w := want.(type) {
	case *value.Map:
		g, ok := got.(*value.Map)
		if !ok {
			d.fault(path, "want a mapping, got %s", clip(value.Repr(got)))
			return
		}
		for k, item := range w.All() {
			name := value.Str(k)
			switch x, ok := g.Get(k); {
			case name == "__run_num__":
			case !ok:
				d.fault(path, "%s is missing", name)
			default:
				d.diff(path+"/"+name, item, x)
			}
		}
		for k, item := range g.All() {
			if !w.Has(k) && k != "__run_num__" {
				d.fault(path, "unexpected %s: %s", value.Str(k), clip(value.Repr(item)))
			}
		}
		if a, b := runOrder(w), runOrder(g); !slices.Equal(a, b) && len(d.faults) == 0 {
			d.fault(path, "order of execution: want %s, got %s", strings.Join(a, ", "), strings.Join(b, ", "))
		}
	case *value.List:
		g, ok := got.(*value.List)
		if !ok || g.Len() != w.Len() {
			d.fault(path, "want %s, got %s", clip(value.Repr(w)), clip(value.Repr(got)))
			return
		}
		for i := range w.Items {
			d.diff(path+"/"+strconv.Itoa(i), w.Items[i], g.Items[i])
		}
	case string:
		d.text(path, w, got)
	default:
		if !value.Equal(want, got) || value.TypeName(want) != value.TypeName(got) {
			d.fault(path, "want %s, got %s", value.Repr(want), clip(value.Repr(got)))
		}
	}
}

// text compares a recorded string. Of a traceback its first line counts; a
// message in place of a traceback is taken.
func (d *machineDiffer) text(path, want string, got value.Value) {
	g, isText := got.(string)
	if strings.Contains(want, "<traceback>") && isText {
		a, _, _ := strings.Cut(want, "\n")
		b, _, _ := strings.Cut(g, "\n")
		if a == b || !strings.Contains(g, "<traceback>") {
			return
		}
	}
	if _, isMap := got.(*value.Map); isMap || got == nil || !like(want, value.Str(got)) || !isText && !wild.MatchString(want) {
		d.fault(path, "want %q, got %s", want, value.Repr(got))
	}
}

// runOrder returns the tags of a run in the order of execution.
func runOrder(m *value.Map) []string {
	var tags []string
	num := map[string]int64{}
	for k, v := range m.All() {
		tag := value.Str(k)
		if ret, ok := v.(*value.Map); ok && strings.Contains(tag, "_|-") && ret.Has("__run_num__") {
			tags = append(tags, tag)
			num[tag], _ = value.AsInt(ret.At("__run_num__"))
		}
	}
	slices.SortStableFunc(tags, func(a, b string) int { return int(num[a] - num[b]) })
	return tags
}
