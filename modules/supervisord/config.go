package supervisord

import (
	"context"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A section is the settings of one section of a configuration file.
type section struct {
	keys []string
	vals map[string]string
}

func (s *section) set(key, val string) {
	if _, ok := s.vals[key]; !ok {
		s.keys = append(s.keys, key)
	}
	s.vals[key] = val
}

// parseConfig reads a configuration as Python's configparser does: names of
// settings in small letters, lines that begin with a blank continue the value.
func parseConfig(text string) map[string]*section {
	out := map[string]*section{}
	var cur *section
	key := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';' {
			continue
		}
		if (line[0] == ' ' || line[0] == '\t') && cur != nil && key != "" {
			cur.vals[key] += "\n" + trimmed
			continue
		}
		if trimmed[0] == '[' {
			end := strings.LastIndexByte(trimmed, ']')
			if end < 0 {
				continue
			}
			name := trimmed[1:end]
			if out[name] == nil {
				out[name] = &section{vals: map[string]string{}}
			}
			cur, key = out[name], ""
			continue
		}
		i := strings.IndexAny(trimmed, "=:")
		if cur == nil || i <= 0 {
			continue
		}
		key = strings.ToLower(strings.TrimSpace(trimmed[:i]))
		cur.set(key, strings.TrimSpace(trimmed[i+1:]))
	}
	return out
}

// expand replaces %(name)s by the value of another setting, and %% by %. What is
// not a setting, such as %(ENV_HOME)s, stays as it is: supervisord knows it.
func expand(text string, get func(string) (string, bool), depth int) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, "%")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		text = after
		if strings.HasPrefix(after, "%") {
			b.WriteByte('%')
			text = after[1:]
			continue
		}
		name, rest, ok := strings.Cut(after, ")s")
		val, known := "", false
		if ok && strings.HasPrefix(name, "(") && depth < 10 {
			val, known = get(strings.ToLower(name[1:]))
		}
		if !known {
			b.WriteByte('%')
			continue
		}
		b.WriteString(expand(val, get, depth+1))
		text = rest
		if b.Len() > 1<<20 {
			return b.String()
		}
	}
}

type optionsArgs struct {
	_        fun.Arguments
	Name     string `arg:"name,required" doc:"the process"`
	ConfFile string `arg:"conf_file,path" doc:"configuration file; default: /etc/supervisor/supervisord.conf or /etc/supervisord.conf"`
}

// options returns the settings of a process in the configuration file.
func options(_ context.Context, c *fun.Call, a *optionsArgs) (fun.Result, error) {
	h, file := c.Env.Host, a.ConfFile
	if file == "" {
		for _, p := range []string{"/etc/supervisor/supervisord.conf", "/etc/supervisord.conf"} {
			if _, err := h.Stat(p); err == nil {
				file = p
				break
			}
		}
	}
	if file == "" {
		return fun.Result{}, fun.Errorf("No suitable config file found")
	}
	text, err := h.ReadFile(file)
	if err != nil {
		return fun.Result{}, fun.Errorf("Unable to read from %s: %s", file, host.OSError(err))
	}
	all := parseConfig(value.DecodeReplace(text))
	sec := all["program:"+a.Name]
	if sec == nil {
		return fun.Result{}, fun.Errorf("Process '%s' not found", a.Name)
	}
	def := all["DEFAULT"]
	get := func(key string) (string, bool) {
		if v, ok := sec.vals[key]; ok {
			return v, true
		}
		if def == nil {
			return "", false
		}
		v, ok := def.vals[key]
		return v, ok
	}
	out := value.NewMap(len(sec.keys))
	keys := sec.keys
	if def != nil {
		keys = append(append([]string{}, def.keys...), keys...)
	}
	for _, k := range keys {
		v, _ := get(k)
		plain, _, _ := strings.Cut(expand(v, get, 0), ";")
		out.Set(k, typed(strings.TrimSpace(plain)))
	}
	return fun.Value(out)
}

// typed returns text as a number or truth where it is one.
func typed(s string) value.Value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	switch strings.ToLower(s) {
	case "true":
		return true
	case "false":
		return false
	}
	return s
}
