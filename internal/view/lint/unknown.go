package lint

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/jinja"
	"brine/internal/py/value"
)

// marker begins what an unknown value prints as: a text that YAML reads as itself and
// that nobody writes.
const marker = "brinelintunknown"

// isUnknown reports whether a text depends on an unknown value. Filters may have
// changed its case.
func isUnknown(s string) bool {
	for len(s) >= len(marker) {
		i := strings.IndexAny(s[:len(s)-len(marker)+1], "bB")
		if i < 0 {
			return false
		}
		if strings.EqualFold(s[i:i+len(marker)], marker) {
			return true
		}
		s = s[i+1:]
	}
	return false
}

// An unknown is a value that only a machine could give: a grain, a key of the pillar,
// the answer of a function. Its attributes, items and results are unknown as well.
// What a template asks of it, whether it is true, equal to something or empty, is
// decided by the probe.
type unknown struct {
	p    *probe
	path string // how the template came to it, such as "grains.role"
	deep int    // how many values contain it
}

// maxDeep bounds how deep unknown values contain others, for what walks through data.
const maxDeep = 10

var (
	_ jinja.AttrGetter = unknown{}
	_ jinja.ItemGetter = unknown{}
	_ jinja.Caller     = unknown{}
	_ jinja.Container  = unknown{}
	_ jinja.Filtered   = unknown{}
	_ jinja.Optional   = unknown{}
	_ jinja.Unpacker   = unknown{}
	_ value.Truther    = unknown{}
	_ value.Iterable   = unknown{}
	_ value.Mapping    = unknown{}
	_ value.Operator   = unknown{}
	_ value.Equaler    = unknown{}
	_ value.Reprer     = unknown{}
	_ value.Stringer   = unknown{}
)

func (u unknown) of(format string, args ...any) unknown {
	path := fmt.Sprintf(format, args...)
	if len(path) > maxPath {
		path = path[:maxPath]
	}
	return unknown{u.p, path, u.deep + 1}
}

// maxPath bounds the length of paths.
const maxPath = 200

// TypeName is what messages call it.
func (unknown) TypeName() string { return "unknown" }

// Repr prints the marker in quotes.
func (u unknown) Repr() string { return "'" + u.PyStr() + "'" }

// PyStr prints the marker, and a number that is the same for the same path.
func (u unknown) PyStr() string { return marker + strconv.Itoa(u.p.number(u.path)) }

// Truth returns what the probe assumes.
func (u unknown) Truth() bool { return u.deep <= maxDeep && u.p.truth(u.path) }

// Missing reports whether the probe assumes that there is no such value.
func (u unknown) Missing() bool { return !u.p.defined(u.path) }

// Filtered returns an unknown value.
func (u unknown) Filtered(filter string) value.Value { return u.of("%s|%s", u.path, filter) }

// EqualValue returns what the probe assumes.
func (u unknown) EqualValue(v value.Value) bool {
	if w, ok := v.(unknown); ok && w.path == u.path {
		return true
	}
	return u.p.equal(u.path, v)
}

// Len returns 1 where the probe takes the value as true, else 0.
func (u unknown) Len() int {
	if u.Truth() {
		return 1
	}
	return 0
}

// Get returns an unknown value for every key.
func (u unknown) Get(key value.Value) (value.Value, bool) {
	return u.of("%s[%s]", u.path, value.Repr(key)), true
}

// Keys returns one key where the probe takes the value as true.
func (u unknown) Keys() []value.Value {
	if u.Truth() {
		return []value.Value{u.of("%s.key", u.path).PyStr()}
	}
	return nil
}

// Iterate returns one value where the probe takes this one as true.
func (u unknown) Iterate() iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		if u.Truth() {
			yield(u.of("%s.item", u.path))
		}
	}
}

// Unpack returns as many unknown values as are asked for.
func (u unknown) Unpack(n int) []value.Value {
	items := make([]value.Value, n)
	for i := range items {
		items[i] = u.of("%s.%d", u.path, i)
	}
	return items
}

// Has returns what the probe assumes.
func (u unknown) Has(_ *jinja.State, x value.Value) (bool, error) {
	return u.p.assume(u.path + " has " + value.Repr(x)), nil
}

// BinaryOp returns an unknown value.
func (u unknown) BinaryOp(op string, v value.Value, _ bool) (value.Value, bool, error) {
	return u.of("%s%s%s", u.path, op, value.Repr(v)), true, nil
}

// GetAttr returns an unknown value.
func (u unknown) GetAttr(_ *jinja.State, name string) (value.Value, bool, error) {
	return u.of("%s.%s", u.path, name), true, nil
}

// GetItem returns an unknown value.
func (u unknown) GetItem(_ *jinja.State, key value.Value) (value.Value, bool, error) {
	v, ok := u.Get(key)
	return v, ok, nil
}

// Call returns an unknown value.
func (u unknown) Call(c *jinja.Call) (value.Value, error) {
	return u.of("%s(%s)", u.path, value.Repr(value.NewList(c.Args...))), nil
}

// A probe answers what templates ask of unknown values. It remembers that something
// was asked, and assumes one of two answers to each question: the usual one, or the
// other one for a single question. A template that is rendered again with other
// assumptions takes the other branches. Answers about one value do not contradict each
// other.
type probe struct {
	asked   bool // something depended on an unknown value
	world   world
	choices int // how many questions there were
	facts   map[string]*fact
	numbers map[string]int
}

// A world is a set of assumptions: the answer to all questions but one.
type world struct {
	yes  bool
	flip int // which question is answered otherwise, from 1; 0: none
}

// A fact is what a template was told of an unknown value.
type fact struct {
	defined, truth *bool
	equal          value.Value // what it is equal to
	is             bool        // equal is known
	other          map[string]bool
}

// maxChoices bounds the questions whose answer is yes: recursion that an unknown value
// ends has to end.
const maxChoices = 500

// begin forgets what was answered, and starts a template in a world.
func (p *probe) begin(w world) {
	p.asked, p.choices, p.world, p.facts = false, 0, w, map[string]*fact{}
}

func (p *probe) choose() bool {
	p.asked = true
	p.choices++
	return p.choices <= maxChoices && p.world.yes != (p.choices == p.world.flip)
}

func (p *probe) fact(path string) *fact {
	f := p.facts[path]
	if f == nil {
		f = &fact{}
		if p.facts == nil {
			p.facts = map[string]*fact{}
		}
		p.facts[path] = f
	}
	return f
}

// number returns the number of a path.
func (p *probe) number(path string) int {
	p.asked = true
	n := p.numbers[path]
	if n == 0 {
		if p.numbers == nil {
			p.numbers = map[string]int{}
		}
		n = len(p.numbers) + 1
		p.numbers[path] = n
	}
	return n
}

// truth answers whether a value is true, or not empty.
func (p *probe) truth(path string) bool {
	f := p.fact(path)
	switch {
	case f.is:
		return value.Truth(f.equal)
	case f.truth != nil:
		return *f.truth
	case f.defined != nil && !*f.defined:
		return false
	}
	yes := p.choose()
	if f.truth = &yes; yes {
		f.defined = &yes
	}
	return yes
}

// defined answers whether there is a value.
func (p *probe) defined(path string) bool {
	f := p.fact(path)
	if f.defined == nil {
		yes := p.choose()
		f.defined = &yes
	}
	return *f.defined
}

// equal answers whether a value is equal to v.
func (p *probe) equal(path string, v value.Value) bool {
	f := p.fact(path)
	switch {
	case f.is:
		return value.Equal(f.equal, v)
	case f.defined != nil && !*f.defined, f.truth != nil && *f.truth != value.Truth(v):
		return false
	}
	text := value.Repr(v)
	if yes, ok := f.other[text]; ok {
		return yes
	}
	yes := p.choose()
	if yes {
		f.equal, f.is, f.defined = v, true, &yes
		return true
	}
	if f.other == nil {
		f.other = map[string]bool{}
	}
	f.other[text] = false
	return false
}

// assume answers another question.
func (p *probe) assume(question string) bool {
	f := p.fact(question)
	if f.truth == nil {
		yes := p.choose()
		f.truth = &yes
	}
	return *f.truth
}

// A knownMap is a mapping, such as the grains, of which not all is known: whether it
// has a key that is not known is for the probe to say, and the value then is unknown.
type knownMap struct {
	value.Mapping
	name  string // "grains" or "pillar"
	probe *probe
}

var (
	_ jinja.ItemGetter = knownMap{}
	_ jinja.Container  = knownMap{}
)

func (m knownMap) unknown(key value.Value) unknown {
	m.probe.asked = true
	return unknown{p: m.probe, path: m.name + "." + value.Str(key)}
}

// Get returns the value at key.
func (m knownMap) Get(key value.Value) (value.Value, bool) {
	if v, ok := m.Mapping.Get(key); ok {
		return v, true
	}
	u := m.unknown(key)
	if m.probe.defined(u.path) {
		return u, true
	}
	return nil, false
}

// GetItem returns the value at key, for an access that fails without it.
func (m knownMap) GetItem(_ *jinja.State, key value.Value) (value.Value, bool, error) {
	if v, ok := m.Mapping.Get(key); ok {
		return v, true, nil
	}
	return m.unknown(key), true, nil
}

// Has reports whether there is a key.
func (m knownMap) Has(_ *jinja.State, key value.Value) (bool, error) {
	_, ok := m.Get(key)
	return ok, nil
}

// pureModules have only functions that compute; of pureFunctions' modules, others
// act or look at the machine.
var (
	pureModules   = words("grains pillar defaults match jinja hashutil")
	pureFunctions = words(`config.get config.option config.merge config.manage_mode config.valid_fileproto
		cp.list_master cp.list_master_dirs cp.list_states cp.envs file.dirname file.basename file.join file.normpath
		network.calc_net network.convert_cidr network.ip_in_subnet network.is_loopback network.is_private network.reverse_ip
		slsutil.merge slsutil.merge_all slsutil.update slsutil.boolstr slsutil.serialize slsutil.deserialize slsutil.banner
		slsutil.file_exists slsutil.dir_exists slsutil.path_exists slsutil.findup slsutil.renderer
		test.echo test.ping test.true_ test.false_ test.arg test.arg_repr test.arg_type test.kwarg test.version test.versions_information
		test.outputter test.opts_pkg test.get_opts test.fib test.collatz`)
	impureFunctions = words(`grains.append grains.delkey grains.delval grains.set grains.setval grains.setvals grains.remove
		hashutil.base64_decodefile hashutil.base64_encodefile hashutil.digest_file`)
)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// IsPure reports whether an execution function answers from data alone: it runs nothing,
// changes nothing, and does not look at the machine.
func IsPure(name string) bool {
	mod, _, _ := strings.Cut(name, ".")
	return pureFunctions[name] || pureModules[mod] && !impureFunctions[name]
}

// An invoker calls the functions that only compute; all others answer an unknown
// value.
type invoker struct {
	real    fun.Invoker
	newReal func(*fun.Env) fun.Invoker
	env     *fun.Env
	probe   *probe
	hasID   bool // the ID of the machine is known
}

// Invoke calls a function. Wrong arguments are an error whatever the function is.
func (v *invoker) Invoke(ctx context.Context, kind fun.Kind, name string, args fun.Args) (fun.Result, error) {
	mod, spec, err := v.env.Find(kind, name)
	if err != nil {
		return fun.Result{}, err
	}
	if kind == fun.Exec && IsPure(name) && spec.Fn != nil {
		if mod.Name == "match" {
			return v.match(ctx, kind, name, args)
		}
		return v.real.Invoke(ctx, kind, name, args)
	}
	if mod.Dynamic == nil {
		var wrong *fun.ArgError
		if _, err := v.real.Bind(mod, spec, args); errors.As(err, &wrong) {
			return fun.Result{}, err
		}
	}
	return v.unknown(name, args)
}

// unknown returns an unknown value, the same for the same call.
func (v *invoker) unknown(name string, args fun.Args) (fun.Result, error) {
	v.probe.asked = true
	return fun.Value(unknown{p: v.probe, path: name + value.Repr(value.NewList(args.Pos...)) + value.Repr(args.Kw)})
}

// Bind binds the arguments of a function.
func (v *invoker) Bind(mod *fun.Module, spec *fun.Spec, args fun.Args) (*fun.Call, error) {
	return v.real.Bind(mod, spec, args)
}

func newInvoker(e *fun.Env, p *probe, hasID bool) fun.Invoker {
	return &invoker{
		real: dispatch.New(e), newReal: func(e *fun.Env) fun.Invoker { return dispatch.New(e) }, env: e, probe: p, hasID: hasID,
	}
}
