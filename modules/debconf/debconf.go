// Package debconf is Salt's execution module "debconf": the answers to the
// questions that packages of Debian ask when they are configured.
package debconf

import (
	"context"
	"errors"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg/dpkg"
	"brine/modules/tool"
)

// Module returns the execution module "debconf".
func Module() fun.Module {
	return fun.Module{Name: "debconf", Kind: fun.Exec, Doc: "Read and set the answers to questions of packages.", Specs: specs, Avail: avail}
}

func avail(env *fun.Env) (bool, string) {
	switch {
	case machine.Grain(env, "os_family") != "Debian":
		return false, "this is not a system of the Debian family"
	case !tool.Has(env.Host, "debconf-get-selections"):
		return false, "debconf-get-selections is missing: install the package debconf-utils"
	}
	return true, ""
}

// An Answer is what was answered to one question.
type Answer struct{ Package, Question, Type, Value string }

type answersKey struct{}

// Answers returns all answers that debconf has, in its order.
func Answers(ctx context.Context, env *fun.Env) ([]Answer, error) {
	return machine.Keep(env, answersKey{}, func() ([]Answer, error) {
		out, err := tool.Look(ctx, env.Host, "debconf-get-selections")
		if err != nil {
			return nil, err
		}
		if out.Status != 0 {
			return nil, fun.Errorf("debconf-get-selections failed: %s", out.Fault())
		}
		return Parse(out.Stdout), nil
	})
}

// Parse reads selections as debconf-get-selections prints them. Comments and what
// is not an answer are left out.
func Parse(text string) []Answer {
	var list []Answer
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		var f [3]string
		rest, ok := line, true
		for i := range f {
			at := strings.IndexAny(rest, " \t")
			if ok = at > 0; !ok {
				break
			}
			f[i], rest = rest[:at], rest[at+1:]
			if i < 2 {
				rest = strings.TrimLeft(rest, " \t")
			}
		}
		if ok {
			list = append(list, Answer{f[0], f[1], f[2], strings.TrimLeft(rest, " \t")})
		}
	}
	return list
}

type getSelectionsArgs struct {
	_          fun.Arguments
	Fetchempty bool `arg:"fetchempty" default:"True" doc:"also return empty answers"`
}

func getSelections(ctx context.Context, c *fun.Call, a *getSelectionsArgs) (fun.Result, error) {
	list, err := Answers(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(byPackage(list, a.Fetchempty))
}

func byPackage(list []Answer, empty bool) *value.Map {
	all := value.NewMap(0)
	for _, a := range list {
		if a.Value == "" && !empty {
			continue
		}
		answers := all.List(a.Package)
		if answers == nil {
			answers = value.NewList()
			all.Set(a.Package, answers)
		}
		answers.Append(value.Strings(a.Question, a.Type, a.Value))
	}
	return all
}

type showArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the package"`
}

func show(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	list, err := Answers(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(byPackage(list, true).At(a.Name))
}

type setArgs struct {
	Package  string `arg:"package,required" doc:"name of the package"`
	Question string `arg:"question,required" doc:"name of the question"`
	Type     string `arg:"type,required" doc:"type of the question: string, boolean, select, multiselect, password, note, text, error or title"`
	Value    string `arg:"value,required,secret" doc:"the answer"`
	More     fun.Varargs
}

func set(ctx context.Context, c *fun.Call, a *setArgs) (fun.Result, error) {
	answer := []string{a.Value}
	for _, more := range a.More {
		answer = append(answer, value.Str(more))
	}
	val := strings.Join(answer, " ")
	words := []string{a.Package, a.Question, a.Type}
	for i, name := range []string{"package", "question", "type"} {
		if words[i] == "" || strings.ContainsAny(words[i], " \t\r\n\x00") || words[i][0] == '#' {
			return fun.Result{}, &fun.InvocationError{Msg: name + " must be one word, not " + value.Repr(words[i]), Arg: name}
		}
	}
	if strings.ContainsAny(val, "\n\x00") {
		return fun.Result{}, &fun.InvocationError{Msg: "value must be one line", Arg: "value"}
	}
	return load(ctx, c.Env, strings.Join(words, " ")+" "+val+"\n")
}

// load gives debconf selections to set.
func load(ctx context.Context, env *fun.Env, selections string) (fun.Result, error) {
	out, err := dpkg.Locked(ctx, env, nil, selections, "debconf-set-selections")
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		return fun.Result{}, fun.Errorf("debconf-set-selections failed: %s", out.Stderr)
	}
	if out.Stderr != "" {
		env.Log().Warn("debconf-set-selections", "stderr", out.Stderr)
	}
	return fun.Value(true)
}

type setFileArgs struct {
	pathArg
	envArg
	_ fun.Kwargs
}

func setFile(ctx context.Context, c *fun.Call, a *setFileArgs) (fun.Result, error) {
	return fromFile(ctx, c, &a.envArg, a.Path)
}

func fromFile(ctx context.Context, c *fun.Call, a *envArg, source string) (fun.Result, error) {
	file, err := c.Env.Exec(ctx, "cp.cache_file", value.MapOf("path", source, "saltenv", a.Saltenv))
	if err != nil {
		return fun.Result{}, err
	}
	local, _ := file.(string)
	if local == "" {
		return fun.Value(false)
	}
	text, err := c.Env.Host.ReadFile(local)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	if len(text) == 0 {
		return fun.Value(true)
	}
	return load(ctx, c.Env, string(text))
}

type setTemplateArgs struct {
	pathArg
	Template string     `arg:"template,required" doc:"template engine"`
	Context  *value.Map `arg:"context,required,dict|none" doc:"variables of the template"`
	Defaults *value.Map `arg:"defaults,required,dict|none" doc:"variables that context does not set"`
	envArg
	Rest fun.Kwargs
}

func setTemplate(ctx context.Context, c *fun.Call, a *setTemplateArgs) (fun.Result, error) {
	kw := a.Rest.Copy()
	kw.Update(value.MapOf("path", a.Path, "dest", nil, "template", a.Template, "saltenv", a.Saltenv))
	if a.Context != nil {
		kw.Set("context", a.Context)
	}
	if a.Defaults != nil {
		kw.Set("defaults", a.Defaults)
	}
	file, err := c.Env.Exec(ctx, "cp.get_template", kw)
	if err != nil {
		if failed, ok := errors.AsType[*fun.CommandError](err); ok {
			return fun.Result{}, fun.Errorf("%s: %s", a.Path, failed.Msg)
		}
		return fun.Result{}, err
	}
	local, _ := file.(string)
	if local == "" {
		return fun.Value(false)
	}
	return fromFile(ctx, c, &a.envArg, local)
}
