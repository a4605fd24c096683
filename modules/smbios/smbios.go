// Package smbios is Salt's execution module "smbios": what the firmware tells of the
// hardware, by dmidecode(8).
package smbios

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "smbios".
func Module() fun.Module {
	return fun.Module{Name: "smbios", Kind: fun.Exec, Doc: "What the firmware tells of the hardware.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	if program(env) == "" {
		return false, "The smbios execution module failed to load: neither dmidecode nor smbios in the path."
	}
	return true, ""
}

func program(env *fun.Env) string {
	for _, p := range []string{"dmidecode", "smbios"} {
		if tool.Has(env.Host, p) {
			return p
		}
	}
	return ""
}

type cleanArg struct {
	_     fun.Arguments
	Clean bool `arg:"clean" default:"True" doc:"leave out values that say nothing, such as 'To Be Filled By O.E.M.'"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "get", Doc: "Return a string, None where it says nothing.", Src: "modules/smbios.py get", Do: get,
	},
	{
		Name: "records", Doc: "Return the records.", Src: "modules/smbios.py records", Do: records,
	},
}

// ask runs dmidecode(8).
func ask(ctx context.Context, c *fun.Call, args ...string) (string, error) {
	for _, a := range args {
		if a != "-s" && a != "-t" && (a == "" || strings.HasPrefix(a, "-")) {
			return "", fun.Errorf("invalid argument %s", value.Repr(a))
		}
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, append([]string{program(c.Env)}, args...)...)
	return out.Text, err
}

type getArgs struct {
	String string `arg:"string,required" doc:"a keyword of dmidecode(8): bios-vendor, system-serial-number, chassis-asset-tag ..."`
	cleanArg
}

func get(ctx context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	text, err := ask(ctx, c, "-s", a.String)
	if err != nil {
		return fun.Result{}, err
	}
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(s string) bool { return strings.HasPrefix(s, "#") })
	v := strings.Join(lines, "\n")
	if strings.HasPrefix(v, "/dev/mem") || a.Clean && !isClean(a.String, v) {
		return fun.Value(nil)
	}
	return fun.Value(v)
}

// A filter says which fields of a record are returned.
type filter struct {
	clean  bool
	fields []string
}

type recordsArgs struct {
	RecType fun.Opt[string] `arg:"rec_type" doc:"type of the records, by number or name; None is all"`
	Fields  []string        `arg:"fields" doc:"names of the fields to return; None is all"`
	cleanArg
}

func records(ctx context.Context, c *fun.Call, a *recordsArgs) (fun.Result, error) {
	var args []string
	if a.RecType.Given {
		args = []string{"-t", a.RecType.V}
	}
	text, err := ask(ctx, c, args...)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(parse(text, filter{a.Clean, a.Fields}))
}

// parse reads the records of dmidecode(8). Salt: salt/modules/smbios.py _dmi_parse.
func parse(text string, f filter) *value.List {
	l := value.NewList()
	var head []string // of the record in progress: handle and type
	var body []string
	end := func() {
		if head == nil {
			return
		}
		n, err := strconv.ParseInt(head[1], 10, 64)
		if err != nil {
			return
		}
		m := value.MapOf("handle", head[0], "description", "", "type", n)
		var data *value.Map
		if len(body) > 0 {
			m.Set("description", strings.TrimSpace(body[0]))
			data = f.data(body[1:])
		}
		if data != nil && data.Len() > 0 {
			m.Set("data", data)
			l.Append(m)
		} else if !f.clean {
			l.Append(m)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if h := handle(line); h != nil {
			end()
			head, body = h, nil
			continue
		}
		body = append(body, line)
	}
	end()
	return l
}

// handle reads "Handle 0x0001, DMI type 1, 27 bytes"; nil is another line.
func handle(line string) []string {
	f := strings.Split(line, ",")
	if len(f) < 2 || !strings.HasPrefix(strings.ToLower(line), "handle 0x") {
		return nil
	}
	id, typ := strings.Fields(f[0]), strings.Fields(f[1])
	if len(id) == 0 || len(typ) == 0 {
		return nil
	}
	return []string{id[len(id)-1], typ[len(typ)-1]}
}

// data reads the fields of a record.
func (f filter) data(lines []string) *value.Map {
	m := value.NewMap(8)
	key, first, more := "", value.Value(nil), []value.Value(nil)
	put := func() {
		switch {
		case key == "":
		case len(more) > 0 && first != nil:
			m.Set(key, value.NewList(append([]value.Value{first}, more...)...))
		case len(more) > 0:
			m.Set(key, value.NewList(more...))
		case first != nil:
			m.Set(key, first)
		}
		key, first, more = "", nil, nil
	}
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "\t\t") && strings.TrimSpace(line) != "":
			if key != "" {
				if v := f.cast(key, strings.TrimSpace(line)); v != nil {
					more = append(more, v)
				}
			}
		case strings.HasPrefix(line, "\t") && strings.TrimSpace(line) != "":
			put()
			name, text, ok := strings.Cut(line, ":")
			name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")
			if !ok || f.clean && name == "header_and_data" || len(f.fields) > 0 && !slices.Contains(f.fields, name) {
				continue
			}
			key, first = name, f.cast(name, strings.TrimSpace(text))
		}
	}
	put()
	return m
}

// cast returns a value as what it is: a number, or a list where it has commas. What is
// the name of a thing stays text.
func (f filter) cast(key, text string) value.Value {
	if f.clean && !isClean(key, text) {
		return nil
	}
	for _, p := range []string{"serial", "part", "asset", "product"} {
		if strings.HasPrefix(key, p) {
			return text
		}
	}
	if strings.Contains(text, ",") {
		parts := strings.Split(text, ",")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		return value.Strings(parts...)
	}
	if n, err := value.ToInt(text); err == nil {
		return n
	}
	return text
}

func like(pattern, text string) bool {
	ok, err := regexp.MatchString("(?i)"+pattern, text)
	return ok && err == nil
}

// isClean reports whether a value says something. Salt: salt/modules/smbios.py
// _dmi_isclean.
func isClean(key, text string) bool {
	switch {
	case text == "" || like("^none", text):
		return false
	case strings.Contains(key, "uuid"):
		hex := strings.NewReplacer("urn:", "", "uuid:", "", "-", "", "{", "", "}", "").Replace(text)
		return like("^[0-9a-f]{32}$", hex)
	case like("serial|part|version", key):
		return !like(`^0+$`, text) && !like(`^0?1234567[8]?[9]?[0]?`, text) && !like(`sernum|part[_-]?number|specified|filled|applicable`, text)
	case like("asset|manufacturer", key):
		return !like(`manufacturer|to be filled|available|asset|^no(ne|t)`, text)
	}
	return !like(`to be filled`, text) && !like(`un(known|specified)|no(t|ne)? (asset|provided|defined|available|present|specified)`, text)
}
