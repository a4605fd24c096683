package statefn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/exec"
	"brine/runner/high"
)

type singleArgs struct {
	Fun  string `arg:"fun,required" doc:"state function, such as \"pkg.installed\""`
	Name string `arg:"name,required" doc:"name of the state"`
	testArgs
	queueArgs
	pillarArgs
}

func (a *singleArgs) options() options {
	return options{testArgs: a.testArgs, queueArgs: a.queueArgs, pillarArgs: a.pillarArgs}
}

// single runs one state function, which state.disable does not forbid. The
// result is its return by tag; Salt's text or a list of them where there is no
// such function or it lacks arguments.
// Salt: single.
func single(ctx context.Context, c *fun.Call, a *singleArgs) (fun.Result, error) {
	comps := strings.Split(a.Fun, ".")
	if len(comps) < 2 {
		return fun.Result{Value: "Invalid function passed", Retcode: retCompile, Out: highstateOut}, nil
	}
	s, err := open(ctx, c, a.options(), highstateOut)
	if err != nil {
		return fun.Result{}, err
	}
	if err := refuseMisspelt(c, a); err != nil {
		return fun.Result{}, err
	}
	low := value.MapOf("state", comps[0], "name", a.Name, "__id__", a.Name)
	for k, v := range a.Rest.All() {
		switch key, _ := k.(string); {
		case key == "state" || key == "fun" || key == "__id__" || key == "name":
		case strings.HasPrefix(key, "__pub_"), strings.EqualFold(key, "test"), key == "localconfig":
		default:
			low.Set(k, v)
		}
	}
	if a.Saltenv != nil {
		low.Set("saltenv", a.Saltenv)
	}
	low.Set("fun", comps[1])
	chunk := chunkOf(alone(low))
	if errs := exec.Verify(s.env, chunk); len(errs) > 0 {
		s.hint(chunk)
		return fun.Result{Value: value.Strings(errs...), Retcode: retCompile, Out: s.out}, nil
	}
	s.direct = true
	return s.runChunks(ctx, high.FromData(value.NewMap(0)), []*fun.Chunk{chunk})
}

// refuseMisspelt returns an error for a keyword argument that the state function
// does not have and whose name is close to one of state.single's own: tset=True
// must not change anything.
func refuseMisspelt(c *fun.Call, a *singleArgs) error {
	spec := c.Env.Table.Spec(fun.State, a.Fun)
	if spec == nil || spec.Hands || spec.Of != "" {
		return nil
	}
	own := make([]string, len(c.Spec.Args))
	for i := range c.Spec.Args {
		own[i] = c.Spec.Args[i].Name
	}
	for k := range a.Rest.All() {
		key, _ := k.(string)
		declared := func(a fun.Arg) bool { return a.Name == key }
		if key == "localconfig" || strings.EqualFold(key, "test") || dispatch.Internal(key) || slices.ContainsFunc(spec.Args, declared) {
			continue
		}
		if near, ok := source.Nearest(key, own); ok {
			return &fun.ArgError{Name: "state.single", Spec: c.Spec, Nearest: near, Msg: fmt.Sprintf("got an unexpected keyword argument '%s'", key)}
		}
	}
	return nil
}

// alone takes the requisites out of a low chunk that is run by itself: there is
// nothing that they could name, and Salt does not look at them.
func alone(low *value.Map) *value.Map {
	for _, key := range append([]string{"listen", "listen_in"}, followed...) {
		low.Delete(key)
	}
	return low
}

// hint names the function that a chunk most likely means, or says why its module
// cannot serve on this machine.
func (s *session) hint(c *fun.Chunk) {
	name := c.State + "." + c.Fun
	if _, _, ok := s.env.Table.Lookup(fun.State, name); ok {
		if _, _, err := s.env.Find(fun.State, name); err != nil {
			s.env.Fault(&source.Error{Err: err})
		}
		return
	}
	if hint := s.env.Table.NotFound(fun.State, name).Hint(); hint != "" {
		s.show(source.Errors{{Hint: hint, Err: errors.New("unknown state function \"" + name + "\"")}})
	}
}

func chunkOf(low *value.Map) *fun.Chunk {
	return &fun.Chunk{
		State: low.Str("state"), Fun: low.Str("fun"), ID: value.Str(low.At("__id__")), Name: value.Str(low.At("name")),
		SLS: low.Str("__sls__"), SaltEnv: low.Str("__env__"), Low: low,
	}
}

type lowArgs struct {
	Data *value.Map `arg:"data,required" doc:"low chunk: state, fun, name, __id__ and arguments"`
	queueArgs
	pillarArgs
}

func (a *lowArgs) options() options {
	return options{queueArgs: a.queueArgs, pillarArgs: a.pillarArgs}
}

// lowChunk runs one low chunk and returns its return. A chunk that lacks data, or
// whose function is not there, gives a list of Salt's texts.
// Salt: low. Difference: a state that succeeds is retcode 0.
func lowChunk(ctx context.Context, c *fun.Call, a *lowArgs) (fun.Result, error) {
	s, err := open(ctx, c, a.options(), "")
	if err != nil {
		return fun.Result{}, err
	}
	chunk := chunkOf(alone(a.Data.Copy()))
	if errs := exec.Verify(s.env, chunk); len(errs) > 0 {
		s.hint(chunk)
		return fun.Result{Value: value.Strings(errs...), Retcode: retCompile}, nil
	}
	if !a.Data.Has("__id__") {
		return fun.Result{}, fun.Errorf(`state.low: the chunk has no "__id__"`)
	}
	s.direct = true
	res, err := s.runChunks(ctx, high.FromData(value.NewMap(0)), []*fun.Chunk{chunk})
	if returns, ok := res.Value.(*value.Map); ok && returns.Len() > 0 {
		_, res.Value = returns.Entry(0)
	}
	return res, err
}

type highArgs struct {
	Data value.Value `arg:"data,required" doc:"ID → {state: [function, {argument: value}]}"`
	testArgs
	queueArgs
	pillarArgs
}

func (a *highArgs) options() options {
	return options{testArgs: a.testArgs, queueArgs: a.queueArgs, pillarArgs: a.pillarArgs}
}

// highData runs high data.
// Salt: high.
func highData(ctx context.Context, c *fun.Call, a *highArgs) (fun.Result, error) {
	s, err := open(ctx, c, a.options(), "")
	if err != nil {
		return fun.Result{}, err
	}
	data := fun.MapOf(a.Data)
	if data == nil {
		return fun.Result{Value: value.NewList("High data is not a dictionary and is invalid"), Retcode: retCompile}, nil
	}
	return s.run(ctx, high.FromData(data))
}

type templateArgs struct {
	Tem string `arg:"tem,required,path" doc:"path of the file; .sls may be omitted"`
	showArgs
}

// template runs the states of a file on this machine.
// Salt: template.
func template(ctx context.Context, c *fun.Call, a *templateArgs) (fun.Result, error) {
	s, err := open(ctx, c, a.options(), highstateOut)
	if err != nil {
		return fun.Result{}, err
	}
	if errs := s.pillarErrors(); len(errs) > 0 {
		return fun.Result{}, refusedShow(errs)
	}
	path := a.Tem
	if !strings.HasSuffix(path, ".sls") {
		path += ".sls"
	}
	abs := path
	if !filepath.IsAbs(abs) {
		dir, err := s.env.Host.Getwd()
		if err != nil {
			return fun.Result{}, err
		}
		abs = filepath.Join(dir, path)
	}
	text, err := s.env.Host.ReadFile(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.failed(source.Errors{{Err: errors.New("Specified SLS " + path + " on local filesystem cannot be found.")}})
	case err != nil:
		return fun.Result{}, err
	}
	s.base()
	h := s.compiler().Template(ctx, path, fun.TextOf(a.Saltenv), text)
	if len(h.Faults) > 0 {
		return s.failed(h.Faults)
	}
	return s.run(ctx, h)
}

type templateStrArgs struct {
	Tem string `arg:"tem,required" doc:"text of an SLS file"`
	queueArgs
	pillarArgs
}

func (a *templateStrArgs) options() options {
	return options{queueArgs: a.queueArgs, pillarArgs: a.pillarArgs}
}

// templateStr runs the states of a text. They have no order but that of their
// names, as in Salt.
// Salt: template_str.
func templateStr(ctx context.Context, c *fun.Call, a *templateStrArgs) (fun.Result, error) {
	s, err := open(ctx, c, a.options(), highstateOut)
	if err != nil {
		return fun.Result{}, err
	}
	h, err := s.compiler().TemplateStr(ctx, s.env.SaltEnv, []byte(a.Tem))
	if err != nil {
		s.show(source.Faults(err))
		return fun.Result{}, err
	}
	if len(h.Faults) > 0 {
		return s.failed(h.Faults)
	}
	return s.run(ctx, h)
}
