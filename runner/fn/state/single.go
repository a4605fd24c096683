package statefn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/dispatch"
	"brine/internal/fun"
	"brine/internal/source"
	"brine/internal/value"
	"brine/runner/exec"
	"brine/runner/high"
)

// single runs one state function, which state.disable does not forbid. The
// result is its return by tag; Salt's text or a list of them where there is no
// such function or it lacks arguments.
// Salt: single.
func single(ctx context.Context, c *fun.Call) (fun.Result, error) {
	comps := strings.Split(c.Str("fun"), ".")
	if len(comps) < 2 {
		return fun.Result{Value: "Invalid function passed", Retcode: retCompile, Out: highstateOut}, nil
	}
	s, err := open(ctx, c, highstateOut)
	if err != nil {
		return fun.Result{}, err
	}
	if err := refuseMisspelt(c, c.Str("fun")); err != nil {
		return fun.Result{}, err
	}
	name := c.Str("name")
	low := value.MapOf("state", comps[0], "name", name, "__id__", name)
	for k, v := range c.Kw.All() {
		switch key, _ := k.(string); {
		case key == "state" || key == "fun" || key == "__id__" || key == "name":
		case strings.HasPrefix(key, "__pub_"), strings.EqualFold(key, "test"), key == "localconfig":
		default:
			low.Set(k, v)
		}
	}
	if !c.IsNone("saltenv") {
		low.Set("saltenv", c.Str("saltenv"))
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
func refuseMisspelt(c *fun.Call, argFun string) error {
	spec := c.Env.Table.Spec(fun.State, argFun)
	if spec == nil || spec.Hands {
		return nil
	}
	own := make([]string, len(c.Spec.Args))
	for i := range c.Spec.Args {
		own[i] = c.Spec.Args[i].Name
	}
	for k := range c.Kw.All() {
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

// lowChunk runs one low chunk and returns its return. A chunk that lacks data, or
// whose function is not there, gives a list of Salt's texts.
// Salt: low. Difference: a state that succeeds is retcode 0.
func lowChunk(ctx context.Context, c *fun.Call) (fun.Result, error) {
	s, err := open(ctx, c, "")
	if err != nil {
		return fun.Result{}, err
	}
	data := c.Map("data")
	chunk := chunkOf(alone(data.Copy()))
	if errs := exec.Verify(s.env, chunk); len(errs) > 0 {
		s.hint(chunk)
		return fun.Result{Value: value.Strings(errs...), Retcode: retCompile}, nil
	}
	if !data.Has("__id__") {
		return fun.Result{}, fun.Errorf(`state.low: the chunk has no "__id__"`)
	}
	s.direct = true
	res, err := s.runChunks(ctx, high.FromData(value.NewMap(0)), []*fun.Chunk{chunk})
	if returns, ok := res.Value.(*value.Map); ok && returns.Len() > 0 {
		_, res.Value = returns.Entry(0)
	}
	return res, err
}

// highData runs high data.
// Salt: high.
func highData(ctx context.Context, c *fun.Call) (fun.Result, error) {
	s, err := open(ctx, c, "")
	if err != nil {
		return fun.Result{}, err
	}
	data := c.Map("data")
	if data == nil {
		return fun.Result{Value: value.NewList("High data is not a dictionary and is invalid"), Retcode: retCompile}, nil
	}
	return s.run(ctx, high.FromData(data))
}

// template runs the states of a file on this machine.
// Salt: template.
func template(ctx context.Context, c *fun.Call) (fun.Result, error) {
	s, err := open(ctx, c, highstateOut)
	if err != nil {
		return fun.Result{}, err
	}
	if errs := s.pillarErrors(); len(errs) > 0 {
		return fun.Result{}, refusedShow(errs)
	}
	path := c.Str("tem")
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
	h := s.compiler().Template(ctx, path, c.Str("saltenv"), text)
	if len(h.Faults) > 0 {
		return s.failed(h.Faults)
	}
	return s.run(ctx, h)
}

// templateStr runs the states of a text. They have no order but that of their
// names, as in Salt.
// Salt: template_str.
func templateStr(ctx context.Context, c *fun.Call) (fun.Result, error) {
	s, err := open(ctx, c, highstateOut)
	if err != nil {
		return fun.Result{}, err
	}
	h, err := s.compiler().TemplateStr(ctx, s.env.SaltEnv, []byte(c.Str("tem")))
	if err != nil {
		s.show(source.Faults(err))
		return fun.Result{}, err
	}
	if len(h.Faults) > 0 {
		return s.failed(h.Faults)
	}
	return s.run(ctx, h)
}
