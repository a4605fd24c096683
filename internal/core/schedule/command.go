package schedule

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Command returns the arguments of the brine that runs the job: those of brine
// call. config is the directory or file of the configuration; putOff says that
// the call itself waits for the splay.
//
// The function, its arguments and where its return goes are not among them: the call
// reads them from the schedule, since a unit, a crontab and the list of processes
// are for everybody to read, and arguments may be secret.
func (j *Job) Command(config string, putOff bool) []string {
	out := []string{"call", "--local", "-c", config, "--schedule", j.Name}
	if putOff && j.SplayMax > 0 {
		out = append(out, "--splay", fmt.Sprintf("%d:%d", int(j.SplayMin/time.Second), int(j.SplayMax/time.Second)))
	}
	return out
}

// Call returns the arguments of the job's function. Who changes them leaves the
// job as it is.
func (j *Job) Call() fun.Args {
	kw, _ := value.Clone(j.Kwargs).(*value.Map)
	return fun.Args{Pos: value.Clone(value.NewList(j.Args...)).(*value.List).Items, Kw: kw}
}

// safeWords are those that neither systemd nor a shell reads as anything else.
var safeWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:@,=-]+$`) })

// SystemdWord quotes a word of ExecStart=.
func SystemdWord(s string) string {
	s = strings.NewReplacer("%", "%%", "$", "$$").Replace(s)
	if safeWords().MatchString(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// ShellWord quotes a word of a crontab's command, where % stands for a new line.
func ShellWord(s string) string {
	if !safeWords().MatchString(s) {
		s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return strings.ReplaceAll(s, "%", `\%`)
}
