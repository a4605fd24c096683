package render

import (
	"context"
	"path"
	"strings"
	"unicode"

	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A stateconf renders one SLS with the options of its first line.
//
// Salt: salt/renderers/stateconf.py.
type stateconf struct {
	e  *Engine
	in *Input

	noGoal  bool // -G
	ordered bool // -o
	start   bool // -s
	piped   bool // -p

	data, tmpl stage // the renderers that it names

	goalID, startID string
	mod, fn         string // "stateconf", "stateconf.set"
	confs           *confs
}

// confs is what the SLS files of a run know of each other by their stateconf.set
// states: arguments by ID, after renaming.
type confs struct {
	set, ext *value.Map // of IDs, and of those below extend
	// what is required below extend, by "id:module" before renaming
	extended map[string][]*item
}

func newConfs() *confs {
	return &confs{set: value.NewMap(0), ext: value.NewMap(0), extended: map[string][]*item{}}
}

// Run returns an engine like e for the SLS files of one run: an SLS that extends
// the stateconf.set of another decides what the other's template sees, if it is
// rendered before. It is not safe for concurrent use.
func (e *Engine) Run() *Engine {
	c := *e
	c.confs = newConfs()
	return &c
}

// stateconfUsage is the hint of a first line that is wrong.
const stateconfUsage = `write "#!stateconf [-G] [-o] [-s] [yaml . jinja]": -G no goal state, -o states in the order of the file, -s a start state; "#!jinja|yaml|stateconf -p" takes data`

// stateconfStage renders with two renderers that its arguments name, data format
// first, and works IDs, includes and goals out.
func (e *Engine) stateconfStage(ctx context.Context, in *Input, st stage, d *datum) (*datum, error) {
	s := &stateconf{e: e, in: in, confs: e.confs}
	if s.confs == nil {
		s.confs = newConfs()
	}
	s.goalID, s.startID = s.option("goal_state", ".goal"), s.option("start_state", ".start")
	s.fn = s.option("state_func", "stateconf.set")
	s.mod = stateName(s.fn)
	if err := s.words(strings.Fields(st.args)); err != nil {
		return nil, err
	}
	if d.isText == s.piped {
		got := "data, not text"
		if d.isText {
			got = "text, not data"
		}
		return nil, s.fault(s.top(), stateconfUsage, "stateconf comes after what gives %s", got)
	}
	if s.piped {
		data, err := s.rewrite(d.data, false)
		return &datum{data: data}, err
	}
	head, err := s.head(d.text)
	if err == nil && head != "" {
		_, err = s.pass(ctx, head, true, nil)
	}
	if err != nil {
		return nil, err
	}
	vars := value.NewMap(s.confs.set.Len())
	for i := range s.confs.set.Len() {
		id, conf := s.confs.set.Entry(i)
		if name := strings.TrimPrefix(id.(string), in.SLS+"::"); isName(name) {
			vars.Set(name, conf)
		}
	}
	data, err := s.pass(ctx, d.text, false, vars)
	return &datum{data: data}, err
}

// option returns a configured text.
func (s *stateconf) option(name, def string) string {
	if v := s.e.env.Opts.Str("stateconf_" + name); v != "" {
		return v
	}
	return def
}

// top is the place of what was written nowhere but follows from the first line.
func (s *stateconf) top() source.Pos { return source.Pos{File: s.in.name(), Line: 1, Col: 1} }

// words takes the words of the first line.
func (s *stateconf) words(words []string) error {
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		word := words[0][1:]
		words = words[1:]
		if word == "-" {
			break
		}
		for _, c := range word {
			switch c {
			case 'G':
				s.noGoal = true
			case 'o':
				s.ordered = true
			case 's':
				s.start = true
			case 'p':
				s.piped = true
			default:
				name := string(c)
				if c == '-' {
					name, _, _ = strings.Cut(word, "=")
				}
				return s.fault(s.top(), stateconfUsage, "%w", &PlainError{"GetoptError", "option -" + name + " not recognized"})
			}
		}
	}
	if s.piped {
		return nil
	}
	if len(words) == 0 {
		words = []string{"yaml . jinja"}
	}
	format, engine, two := strings.Cut(strings.Join(words, " "), " . ")
	err := s.renderer(&s.data, format)
	switch {
	case err != nil:
		return err
	case s.ordered && s.data.name != "yaml":
		return s.fault(s.top(), stateconfUsage, "Implicit ordering is only supported if the yaml renderer is used!")
	case !two:
		err := s.fault(s.top(), stateconfUsage, "stateconf needs a data format and a template engine, and a dot between blanks between them")
		err.Salt = "Invalid use of stateconf.py renderer!\nUsage: #!stateconf.py [-GoSp] [<data_renderer> [options] . <template_renderer> [options]]"
		return err
	}
	return s.renderer(&s.tmpl, engine)
}

// renderer looks up what words such as "yaml -o" name.
func (s *stateconf) renderer(to *stage, words string) error {
	name, args, _ := strings.Cut(strings.ReplaceAll(words, `\.`, "."), " ")
	fn, ok := rendererOf(name)
	if _, why := s.e.env.Limits.Renderer(name); !ok || why != "" {
		err := noRenderer(s.in.name(), name, name)
		err.Salt = "Renderer: " + value.Repr(name) + " is not available!"
		return err
	}
	*to = stage{name, args, fn}
	return nil
}

// head returns what stands before the end marker, "" where there is none.
func (s *stateconf) head(text string) (string, error) {
	re, err := pyre.Compile(s.option("end_marker", `#\s*-+\s*end of state config\s*-+`), 0)
	var m *pyre.Match
	if err == nil {
		m, err = re.Search(text)
	}
	if err != nil {
		return "", s.fault(s.top(), "", "stateconf_end_marker: %w", err)
	}
	if m == nil {
		return "", nil
	}
	n, _ := m.Span() // in characters
	return string([]rune(text)[:n]), nil
}

// pass renders text with both renderers to data, and rewrites that.
func (s *stateconf) pass(ctx context.Context, text string, config bool, confs *value.Map) (value.Value, error) {
	in := *s.in
	in.Vars = in.Vars.Copy()
	dir := in.SLS
	if strings.Contains(dir, ".") {
		dir = path.Dir(strings.ReplaceAll(dir, ".", "/"))
	}
	if dir == "" {
		dir = "."
	}
	in.Vars.Set("sls_dir", dir)
	in.Vars.Update(confs)
	name := in.name()
	d := &datum{isText: true, text: text, pos: func(line int) source.Pos { return source.Pos{File: name, Line: line} }}
	for _, st := range [...]stage{s.tmpl, s.data} {
		if !d.isText {
			return nil, s.fault(s.top(), stateconfUsage, "renderer %q comes after one that gives data, not text: the data format stands before the dot", st.name)
		}
		var err error
		if d, err = st.fn(s.e, ctx, &in, st, d); err != nil {
			return nil, err
		}
	}
	if d.isText {
		return nil, s.fault(s.top(), stateconfUsage, "renderer %q gives text, not data", s.data.name)
	}
	return s.rewrite(d.data, config)
}

// isName reports whether a template can name a variable so.
func isName(s string) bool {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			return false
		}
	}
	return s != ""
}
