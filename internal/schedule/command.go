package schedule

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"brine/internal/dispatch"
	"brine/internal/value"
)

// word returns a value as an argument that brine call reads as that value: prefix
// is "" or the name of the argument and "=". false: there is none.
func word(prefix string, v value.Value) (string, bool) {
	var forms []string
	if s, ok := v.(string); ok {
		quoted, err := json.Marshal(s)
		if err != nil {
			return "", false
		}
		forms = []string{s, string(quoted)}
	} else {
		forms = []string{string(value.EncodeJSON(v))}
	}
	for _, f := range forms {
		if strings.ContainsRune(f, 0) {
			continue
		}
		args := dispatch.ParseInput([]string{prefix + f}, nil)
		switch {
		case prefix == "" && len(args.Pos) == 1 && value.Equal(args.Pos[0], v) && value.TypeName(args.Pos[0]) == value.TypeName(v):
			return f, true
		case prefix != "" && args.Kw.Len() == 1 && args.Kw.Has(prefix[:len(prefix)-1]):
			if got := args.Kw.At(prefix[:len(prefix)-1]); value.Equal(got, v) && value.TypeName(got) == value.TypeName(v) {
				return prefix + f, true
			}
		}
	}
	return "", false
}

// Command returns the arguments of the brine that runs the job: those of brine
// call. config is the directory or file of the configuration; putOff says that
// the call itself waits for the splay.
func (j *Job) Command(config string, putOff bool) ([]string, error) {
	out := []string{"call", "--local", "-c", config, "--schedule", j.Name}
	if putOff && j.SplayMax > 0 {
		out = append(out, "--splay", fmt.Sprintf("%d:%d", int(j.SplayMin/time.Second), int(j.SplayMax/time.Second)))
	}
	if len(j.Returners) > 0 {
		out = append(out, "--return", strings.Join(j.Returners, ","))
	}
	if j.ReturnConfig != "" {
		out = append(out, "--return-config", j.ReturnConfig)
	}
	if j.ReturnKwargs.Len() > 0 {
		out = append(out, "--return-kwargs", string(value.EncodeJSON(j.ReturnKwargs)))
	}
	out = append(out, "--", j.Function)
	for _, v := range j.Args {
		w, ok := word("", v)
		if !ok {
			return nil, &UnservedError{j.Name, "args", fmt.Sprintf("a command line cannot have the argument %.60s", value.Repr(v))}
		}
		out = append(out, w)
	}
	for k, v := range j.Kwargs.All() {
		w, ok := word(value.Str(k)+"=", v)
		if !ok {
			return nil, &UnservedError{j.Name, "kwargs", fmt.Sprintf("a command line cannot have %s=%.60s", value.Str(k), value.Repr(v))}
		}
		out = append(out, w)
	}
	return out, nil
}

// safeWords are those that neither systemd nor a shell reads as anything else.
var safeWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:@,=-]+$`) })

// systemdWord quotes a word of ExecStart=.
func systemdWord(s string) string {
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

// shellWord quotes a word of a crontab's command, where % stands for a new line.
func shellWord(s string) string {
	if !safeWords().MatchString(s) {
		s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return strings.ReplaceAll(s, "%", `\%`)
}
