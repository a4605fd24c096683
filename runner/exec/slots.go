package exec

import (
	"context"
	"errors"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// slotText starts an argument that a function fills in when the state runs.
const slotText = "__slot__:"

// slots returns the arguments of the state with the slots among them filled:
// text, the values of a dict, the items of a list and the values of dicts in a
// list. Without any, it is the low data itself.
//
// Salt: salt/state.py State.format_slots.
func (j *job) slots(ctx context.Context) (*value.Map, error) {
	return j.fillMap(ctx, j.low, mayHaveSlots)
}

// mayHaveSlots reports whether an argument of a state is one whose slots are filled.
func mayHaveSlots(key string) bool {
	switch key {
	case "onlyif", "unless", "creates", "check_cmd", "listen", "listen_in", "use", "use_in":
		return false
	}
	if strings.HasPrefix(key, "__") {
		return false
	}
	for _, k := range kindNames {
		if k == key {
			return false
		}
	}
	return true
}

// fillMap fills the slots in the values of m that are arguments (all where
// argument is nil). m is not changed: the result is m or a copy.
func (j *job) fillMap(ctx context.Context, m *value.Map, argument func(key string) bool) (*value.Map, error) {
	out := m
	for k, v := range m.All() {
		if !hasSlot(v) {
			continue
		}
		if s, ok := k.(string); ok && argument != nil && !argument(s) {
			continue
		}
		filled, err := j.fill(ctx, v)
		if err != nil {
			return nil, err
		}
		if out == m {
			out = m.Copy()
		}
		out.Set(k, filled)
	}
	return out, nil
}

func isSlot(v value.Value) bool {
	s, ok := v.(string)
	return ok && strings.HasPrefix(s, slotText)
}

func hasSlot(v value.Value) bool {
	switch v := v.(type) {
	case string:
		return isSlot(v)
	case *value.Map:
		for _, x := range v.All() {
			if isSlot(x) {
				return true
			}
		}
	case *value.List:
		for _, x := range v.Items {
			if m, ok := x.(*value.Map); ok && hasSlot(m) || isSlot(x) {
				return true
			}
		}
	}
	return false
}

// fill returns v with its slots filled.
func (j *job) fill(ctx context.Context, v value.Value) (value.Value, error) {
	if !hasSlot(v) {
		return v, nil
	}
	switch v := v.(type) {
	case string:
		return j.slot(ctx, v)
	case *value.Map:
		m := v.Copy()
		for k, x := range v.All() {
			if !isSlot(x) {
				continue
			}
			got, err := j.slot(ctx, x.(string))
			if err != nil {
				return nil, err
			}
			m.Set(k, got)
		}
		return m, nil
	case *value.List:
		l := v.Copy(0)
		for i, x := range l.Items {
			if _, ok := x.(*value.List); ok {
				continue
			}
			got, err := j.fill(ctx, x)
			if err != nil {
				return nil, err
			}
			l.Items[i] = got
		}
		return l, nil
	}
	return v, nil
}

// slot evaluates "__slot__:salt:mod.fun(arg, key=val).path ~ text": it calls
// the execution function, takes what lies at path in its result, and appends
// the text where that is text. A slot that is no such thing stays as it is.
//
// Salt: salt/state.py State.__eval_slot, salt/utils/args.py parse_function.
// Differences: blanks within an argument are kept, and appending to anything
// but text is a warning where Salt ends in a traceback.
func (j *job) slot(ctx context.Context, slot string) (value.Value, error) {
	name, args, rest, mistake := readSlot(slot)
	if mistake != "" {
		j.warn(slot, mistake)
		return slot, nil
	}
	if _, _, err := j.env.Find(fun.Exec, name); err != nil {
		text := "slot calls " + value.QuoteStr(name) + ", which is not available"
		var missing *fun.NotFoundError
		switch {
		case !errors.As(err, &missing):
		case missing.Hint() != "":
			text += ": " + missing.Hint()
		case missing.Reason != "":
			text += ": " + missing.Reason
		}
		j.warn(slot, text)
		return slot, nil
	}
	if j.env.NoSlots {
		return nil, fun.Errorf("the slot calls %s, and --no-slots does not allow that in a plan", name)
	}
	res, err := j.env.Invoker.Invoke(ctx, fun.Exec, name, args)
	if err != nil {
		return nil, err
	}
	got := res.Value
	path, suffix, appends := strings.Cut(rest, "~")
	if path = strings.TrimSpace(path); path != "" {
		_, path, _ = strings.Cut(path, ".")
		got, _ = value.Traverse(got, strings.TrimSpace(path), ".")
	}
	if appends {
		s, ok := got.(string)
		if !ok {
			j.warn(slot, "slot "+value.QuoteStr(slot)+" appends text, but "+name+" returned no text")
			return got, nil
		}
		got = s + strings.TrimSpace(suffix)
	}
	return got, nil
}

// readSlot reads a slot. The mistake is why it is malformed.
func readSlot(slot string) (name string, args fun.Args, rest, mistake string) {
	malformed := func(why string) (string, fun.Args, string, string) {
		return "", fun.Args{}, "", "malformed slot " + value.QuoteStr(slot) + ": " + why
	}
	parts := strings.SplitN(slot, ":", 3)
	if len(parts) != 3 || parts[1] != "salt" {
		return malformed("slots start with \"__slot__:salt:\"")
	}
	name, args, rest, ok := parseCall(parts[2])
	if !ok {
		return malformed("write the function as a call, for example test.arg('arg', kw='kwarg')")
	}
	if path, _, _ := strings.Cut(rest, "~"); strings.TrimSpace(path) != "" && !strings.Contains(path, ".") {
		return malformed("after the call comes a path (.key.key) or ~ and text")
	}
	return name, args, rest, ""
}

// parseCall parses "mod.fun(arg, key=val) rest". Arguments are text; quotes and
// brackets protect commas, quotes are taken off.
func parseCall(s string) (name string, args fun.Args, rest string, ok bool) {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		return "", args, "", false
	}
	name = strings.Join(strings.Fields(s[:open]), "")
	if name == "" {
		return "", args, "", false
	}
	args.Kw = value.NewMap(0)
	p := argParser{}
	for i := open + 1; i < len(s); i++ {
		done, good := p.next(s[i], &args)
		if !good {
			return "", args, "", false
		}
		if done {
			return name, args, s[i+1:], true
		}
	}
	return "", args, "", false
}

// argParser reads the arguments of a call, a byte at a time.
type argParser struct {
	word     []byte
	held     int // bytes of word up to the last non-blank; blanks after it are dropped
	any      bool
	key      string
	hasKey   bool
	brackets []byte
	quote    byte
	escaped  bool
}

func (p *argParser) put(c byte) {
	p.word = append(p.word, c)
	p.held, p.any = len(p.word), true
}

// next takes one byte; done says that the call is closed, good that it is well
// formed so far.
func (p *argParser) next(c byte, args *fun.Args) (done, good bool) {
	switch {
	case p.escaped:
		if c != p.quote && c != '\\' && p.quote != 0 {
			p.put('\\')
		}
		p.put(c)
		p.escaped = false
	case c == '\\':
		p.escaped = true
	case p.quote != 0:
		if c == p.quote {
			p.quote = 0
			p.held, p.any = len(p.word), true
		} else {
			p.put(c)
		}
	case c == '\'' || c == '"':
		p.quote = c
		p.any = true
	case c == '(' || c == '[' || c == '{':
		p.brackets = append(p.brackets, c)
		p.put(c)
	case len(p.brackets) > 0 && (c == ')' || c == ']' || c == '}'):
		last := p.brackets[len(p.brackets)-1]
		if last == '(' && c != ')' || last == '[' && c != ']' || last == '{' && c != '}' {
			return false, false
		}
		p.brackets = p.brackets[:len(p.brackets)-1]
		p.put(c)
	case len(p.brackets) == 0 && (c == ',' || c == ')'):
		p.end(args)
		return c == ')', true
	case c == ']' || c == '}':
		return false, false
	case len(p.brackets) == 0 && c == '=' && !p.hasKey:
		p.key, p.hasKey = strings.TrimSpace(string(p.word[:p.held])), true
		p.word, p.held, p.any = p.word[:0], 0, false
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		if p.any {
			p.word = append(p.word, c)
		}
	default:
		p.put(c)
	}
	return false, true
}

// end closes an argument.
func (p *argParser) end(args *fun.Args) {
	text := string(p.word[:p.held])
	switch {
	case p.hasKey:
		args.Kw.Set(p.key, text)
	case p.any:
		args.Pos = append(args.Pos, text)
	}
	*p = argParser{word: p.word[:0]}
}
