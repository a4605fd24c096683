package cron

import (
	"slices"
	"strings"

	"brine/internal/py/value"
)

// tag is the line above the part of a crontab that Salt manages.
const tag = "# Lines below here are managed by Salt, do not edit"

// Words in the lines of a crontab.
const (
	idMark   = "SALT_CRON_IDENTIFIER"
	noID     = "NO ID SET"
	disabled = "#DISABLED#"
)

// A Job is a line of a crontab that runs a command, with the comment above it.
type Job struct {
	// The five fields of a timed job; "" where Special is set.
	Minute, Hour, DayMonth, Month, DayWeek string
	Special                                string // "@daily"; "" for a timed job
	Cmd                                    string
	Identifier                             string
	HasIdentifier                          bool
	Comment                                string
	HasComment                             bool
	Commented                              bool // the line is disabled
}

// An Env is an assignment in a crontab.
type Env struct{ Name, Value string }

// A kind is what a line of a crontab is.
type kind int

const (
	other kind = iota // kept as it is
	job
	special
	env
)

// A line is what is written for one entry: an assignment, a job with the
// comments above it, or a line that is kept as it is.
type line struct {
	kind kind
	text []string
	job  Job
	env  Env
}

// A Tab is a parsed crontab. Lines that it does not understand stay as and where
// they are, and so do those above the line that Salt puts over its part.
type Tab struct {
	pre    []string // lines above the tag, or all where there is no tag
	tagged bool
	lines  []line // below the tag
}

// Parse reads a crontab. It takes any text.
func Parse(text string) *Tab {
	t := &Tab{}
	if text == "" {
		return t
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	i := slices.Index(all, tag)
	if i < 0 {
		t.pre = all
		return t
	}
	t.pre, t.tagged = all[:i], true
	var comments []string
	flush := func() {
		for _, c := range comments {
			t.lines = append(t.lines, line{text: []string{c}})
		}
		comments = nil
	}
	for _, raw := range all[i+1:] {
		if raw == tag { // Salt drops it as well
			continue
		}
		l := parseLine(raw)
		switch {
		case l.kind == job || l.kind == special:
			l.job.setComment(comments)
			l.text = append(comments, raw)
			comments = nil
			t.lines = append(t.lines, l)
		case l.kind == other && strings.HasPrefix(raw, "#"):
			comments = append(comments, raw)
		default:
			flush()
			t.lines = append(t.lines, l)
		}
	}
	flush()
	return t
}

func parseLine(raw string) line {
	l := line{text: []string{raw}}
	s, commented := strings.CutPrefix(raw, disabled)
	if strings.HasPrefix(s, "#") {
		return l
	}
	if strings.HasPrefix(s, "@") {
		spec, cmd := cutField(s)
		if cmd != "" {
			l.kind, l.job = special, Job{Special: spec, Cmd: cmd, Commented: commented}
		}
		return l
	}
	if e, ok := parseEnv(s); ok && !commented {
		l.kind, l.env = env, e
		return l
	}
	var f [5]string
	rest := strings.TrimLeft(s, " \t")
	for i := range f {
		f[i], rest = cutField(rest)
	}
	if rest != "" {
		l.kind = job
		l.job = Job{Minute: f[0], Hour: f[1], DayMonth: f[2], Month: f[3], DayWeek: f[4], Cmd: rest, Commented: commented}
	}
	return l
}

// parseEnv reads an assignment. Blanks around the equals sign are not part of it,
// unless only the value has them.
func parseEnv(s string) (Env, bool) {
	name, val, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return Env{}, false
	}
	if bare := strings.TrimRight(name, " \t"); bare != name {
		name, val = bare, strings.TrimLeft(val, " \t")
	}
	if name == "" || strings.ContainsAny(name, " \t") {
		return Env{}, false
	}
	return Env{name, val}, true
}

// cutField splits s at its first run of blanks.
func cutField(s string) (field, rest string) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

// setComment reads the comment lines above a job.
func (j *Job) setComment(lines []string) {
	for i, c := range lines {
		c = strings.TrimLeft(c, "# ")
		if before, after, ok := strings.Cut(c, idMark); ok {
			c = strings.TrimRight(before, " \t")
			if after, _, _ = strings.Cut(after, idMark); len(after) > 1 {
				j.Identifier, j.HasIdentifier = after[1:], true
			}
		}
		if i > 0 {
			c = j.Comment + "\n" + c
		}
		j.Comment, j.HasComment = c, true
	}
}

// comments returns the lines above a job.
func (j *Job) comments() []string {
	if !j.HasComment && !j.HasIdentifier {
		return nil
	}
	text := "#"
	if j.Comment != "" {
		c := j.Comment
		if j.Special != "" {
			c = strings.TrimRight(c, " \t\r\n")
		}
		text += " " + strings.ReplaceAll(c, "\n", "\n# ")
	}
	if j.Identifier != "" {
		text += " " + idMark + ":" + j.Identifier
	}
	return strings.Split(text, "\n")
}

// sameComment reports whether a job that exists has the comment that want
// would be read back as.
func (j *Job) sameComment(want *Job) bool {
	back := Job{}
	lines := want.comments()
	if len(lines) == 0 {
		return !j.HasComment
	}
	back.setComment(lines)
	return j.Comment == back.Comment
}

func (j *Job) line() line {
	l := line{kind: job, job: *j, text: j.comments()}
	text := j.Minute + " " + j.Hour + " " + j.DayMonth + " " + j.Month + " " + j.DayWeek + " " + j.Cmd
	if j.Special != "" {
		l.kind, text = special, j.Special+" "+j.Cmd
	}
	if j.Commented {
		text = disabled + text
	}
	l.text = append(l.text, text)
	return l
}

// String returns the crontab as it is written.
func (t *Tab) String() string {
	var b strings.Builder
	for _, l := range t.pre {
		b.WriteString(l + "\n")
	}
	if t.tagged {
		b.WriteString(tag + "\n")
	}
	for i := range t.lines {
		for _, l := range t.lines[i].text {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// find returns the place of the first job that match takes: of the timed jobs,
// then of the special ones. -1 is none.
func (t *Tab) find(match func(*Job) bool, kinds ...kind) int {
	for _, k := range kinds {
		for i := range t.lines {
			if t.lines[i].kind == k && match(&t.lines[i].job) {
				return i
			}
		}
	}
	return -1
}

// Find returns the job with an identifier, or the job without one that has the
// command. An empty identifier finds jobs without one. nil is none.
// Salt: salt/modules/cron.py _cron_matched.
func (t *Tab) Find(cmd, identifier string) *Job {
	return t.at(t.find(matcher(cmd, identifier), job, special))
}

func (t *Tab) at(i int) *Job {
	if i < 0 {
		return nil
	}
	return &t.lines[i].job
}

// FindFunc returns the first job that match takes, the timed ones first.
func (t *Tab) FindFunc(match func(*Job) bool) *Job { return t.at(t.find(match, job, special)) }

// matcher reports whether a job is the one with a command and an identifier.
func matcher(cmd, identifier string) func(*Job) bool {
	if identifier == "" {
		identifier = noID
	}
	return func(j *Job) bool {
		id := j.Identifier
		if id == "" {
			id = noID
		}
		if id != noID {
			return id == identifier
		}
		return j.Cmd == cmd
	}
}

// drop takes a job out, with the comment above it.
func (t *Tab) drop(i int) { t.lines = slices.Delete(t.lines, i, i+1) }

// Remove takes the given job, which Find returned, out.
func (t *Tab) Remove(j *Job) {
	for i := range t.lines {
		if &t.lines[i].job == j {
			t.drop(i)
			return
		}
	}
}

// add puts an entry behind the others of its kind: assignments come first, then
// timed jobs, then special ones.
func (t *Tab) add(l line) {
	t.tagged = true
	at := -1
	for i := range t.lines {
		if t.lines[i].kind == l.kind {
			at = i + 1
		}
	}
	if at < 0 {
		at = len(t.lines)
		if l.kind == env {
			at = 0
		} else if i := slices.IndexFunc(t.lines, func(o line) bool { return o.kind == special }); l.kind == job && i >= 0 {
			at = i
		}
	}
	t.lines = slices.Insert(t.lines, at, l)
}

// Add puts a job in.
func (t *Tab) Add(j *Job) { t.add(j.line()) }

// Env returns an assignment.
func (t *Tab) Env(name string) (Env, bool) {
	for i := range t.lines {
		if t.lines[i].kind == env && t.lines[i].env.Name == name {
			return t.lines[i].env, true
		}
	}
	return Env{}, false
}

// Is reports whether the assignment has a value; no value and "" are the same.
func (e Env) Is(val string) bool { return unquoteEmpty(e.Value) == unquoteEmpty(val) }

func unquoteEmpty(s string) string {
	if s == `""` || s == "''" {
		return ""
	}
	return s
}

// SetEnv makes an assignment, in the place of one of the same name. As in Salt it
// becomes the last one.
func (t *Tab) SetEnv(name, val string) {
	if val == "" {
		val = `""`
	}
	t.DropEnv(name)
	t.add(line{kind: env, env: Env{name, val}, text: []string{name + "=" + val}})
}

// DropEnv takes the last assignment of a name out and reports whether there was one.
func (t *Tab) DropEnv(name string) bool {
	for i, v := range slices.Backward(t.lines) {
		if v.kind == env && v.env.Name == name {
			t.drop(i)
			return true
		}
	}
	return false
}

// value returns a job as cron.list_tab shows it.
func (j *Job) value() *value.Map {
	var id, comment value.Value
	if j.HasIdentifier {
		id = j.Identifier
	}
	if j.HasComment {
		comment = j.Comment
	}
	if j.Special != "" {
		return value.MapOf("spec", j.Special, "cmd", j.Cmd, "identifier", id, "comment", comment, "commented", j.Commented)
	}
	return value.MapOf("minute", j.Minute, "hour", j.Hour, "daymonth", j.DayMonth, "month", j.Month, "dayweek", j.DayWeek,
		"identifier", id, "cmd", j.Cmd, "comment", comment, "commented", j.Commented)
}

// Value returns the crontab as cron.list_tab does.
func (t *Tab) Value() *value.Map {
	crons, specials, envs := value.NewList(), value.NewList(), value.NewList()
	for i := range t.lines {
		switch l := &t.lines[i]; l.kind {
		case job:
			crons.Append(l.job.value())
		case special:
			specials.Append(l.job.value())
		case env:
			envs.Append(value.MapOf("name", l.env.Name, "value", l.env.Value))
		default: // lines of others
		}
	}
	return value.MapOf("pre", value.Strings(t.pre...), "crons", crons, "special", specials, "env", envs)
}

// FindMatch returns the job with an identifier or a command, as Find does. Where
// special is set, only a job with that time is one.
func (t *Tab) FindMatch(cmd, identifier, special string) *Job {
	match := matcher(cmd, identifier)
	return t.FindFunc(func(j *Job) bool { return match(j) && (special == "" || j.Special == special) })
}
