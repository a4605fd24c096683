package docker

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// with calls f with the engine and returns its value.
func with(ctx context.Context, c *fun.Call, f func(*Engine) (value.Value, error)) (fun.Result, error) {
	return within(ctx, c, 0, f)
}

// within is with for an engine whose answers have to begin within a time; 0 is none.
func within(ctx context.Context, c *fun.Call, limit time.Duration, f func(*Engine) (value.Value, error)) (fun.Result, error) {
	e, err := New(ctx, c.Env, limit)
	if err != nil {
		return fun.Result{}, err
	}
	v, err := f(e)
	if err != nil {
		if api, ok := err.(*APIError); ok { //nolint:errorlint // errors that are wrapped say more
			err = fun.Errorf("%s", api.Error())
		}
		return fun.Result{}, err
	}
	return fun.Value(v)
}

// ArgumentsOf returns the arguments of a call that describe a container or a
// network, and its further ones. of points to the struct that declares them.
func ArgumentsOf(c *fun.Call, t *TranslateArgs, of any) *Arguments {
	a := &Arguments{Values: c.Given(of), Collisions: t.IgnoreCollisions, ValidateIP: t.ValidateIPAddrs}
	for k, v := range c.Kw.All() {
		a.Values.Set(k, v)
	}
	switch v := t.SkipTranslate; v {
	case true:
		a.SkipAll = true
	case nil, false:
	default:
		a.Skip = stringList(v)
	}
	return a
}

// Prepare pulls an image where it is missing and translates the arguments of a
// container of it.
func (e *Engine) Prepare(ctx context.Context, image string, a *Arguments) (*ContainerSpec, error) {
	spec, err := a.Container(image)
	if err != nil {
		return nil, err
	}
	id, err := e.ImageID(ctx, image)
	if err != nil || id != "" {
		return spec, err
	}
	ret, err := e.Pull(ctx, image, false)
	if err != nil {
		return nil, err
	}
	if l := ret.List("Errors"); l != nil {
		return nil, fun.Errorf("Failed to pull %s: %s", image, value.Str(l.Items[0]))
	}
	return spec, nil
}

type createArgs struct {
	imageArg
	Name  string `arg:"name" doc:"name of the container"`
	Start bool   `arg:"start" default:"False" doc:"start it"`
	TranslateArgs
	timeoutArg
	ContainerArgs
	_ fun.Kwargs
}

func create(ctx context.Context, c *fun.Call, args *createArgs) (fun.Result, error) {
	return within(ctx, c, args.ClientTimeout, func(e *Engine) (value.Value, error) {
		a := ArgumentsOf(c, &args.TranslateArgs, &args.ContainerArgs)
		spec, err := e.Prepare(ctx, args.Image, a)
		if err != nil {
			return nil, err
		}
		m, err := e.Create(ctx, spec, args.Name)
		if err != nil || !args.Start {
			return m, err
		}
		if _, err := e.Start(ctx, m.Str("Id")); err != nil {
			return nil, fun.Errorf("Failed to start container after creation: %v", err)
		}
		m.Set("Started", true)
		return m, nil
	})
}

// A Run is what RunContainer runs.
type Run struct {
	Image, Name    string
	Background     bool
	Replace, Force bool
	Networks       *value.Map
}

// RunContainer creates and starts a container, and unless it is to be in the
// background waits for its end. The return has what it printed, and its status.
func (e *Engine) RunContainer(ctx context.Context, r Run, a *Arguments) (*value.Map, error) {
	spec, err := e.Prepare(ctx, r.Image, a)
	if err != nil {
		return nil, err
	}
	var removed *value.List
	if r.Name != "" {
		if removed, err = e.makeRoom(ctx, r); err != nil {
			return nil, err
		}
	}
	start := e.env.Host.Now()
	ret, err := e.Create(ctx, spec, r.Name)
	if err != nil {
		return nil, err
	}
	if removed != nil {
		ret.Set("Replaces", removed)
	}
	id := ret.Str("Id")
	for n, conf := range r.Networks.All() {
		m, _ := conf.(value.Mapping)
		if err := e.Connect(ctx, id, value.Str(n), m); err != nil {
			if spec.AutoRemove {
				_, _ = e.Remove(ctx, id, RemoveOptions{})
			}
			return nil, err
		}
	}
	if _, err := e.Start(ctx, id); err != nil && (!spec.AutoRemove || !Missing(err)) {
		return nil, err
	}
	if r.Background {
		ret.Set("Time_Elapsed", e.env.Host.Now().Sub(start).Seconds())
		return ret, nil
	}
	warn := func(msg string) {
		l := ret.List("Warnings")
		if l == nil {
			l = value.NewList()
			ret.Set("Warnings", l)
		}
		l.Append(msg)
	}
	logs, err := e.Logs(ctx, id, url.Values{"stdout": {"true"}, "stderr": {"true"}, "follow": {"true"}})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		warn("Failed to get logs from container. This may be because the container exited before Salt was able to attach to it to retrieve the logs. Consider setting auto_remove to False.")
	}
	ret.Set("Time_Elapsed", e.env.Host.Now().Sub(start).Seconds())
	ret.Set("Logs", logs)
	if spec.AutoRemove {
		return ret, nil
	}
	m, err := e.Inspect(ctx, id)
	if err != nil {
		warn("Failed to inspect container after running")
		return ret, nil // the container ran
	}
	if m.Map("State").Str("Status") != "exited" {
		warn("Container state is not 'exited'")
	}
	ret.Set("ExitCode", m.Map("State").At("ExitCode"))
	return ret, nil
}

// makeRoom removes the container that has the name, where it may.
func (e *Engine) makeRoom(ctx context.Context, r Run) (*value.List, error) {
	state, err := e.State(ctx, r.Name)
	switch {
	case Missing(err):
		return nil, nil
	case err != nil:
		return nil, err
	case state == Running && (!r.Replace || !r.Force):
		return nil, fun.Errorf("Container '%s' exists and is running. Run with replace=True and force=True to force removal of the existing container.", r.Name)
	case !r.Replace:
		return nil, fun.Errorf("Container '%s' exists. Run with replace=True to remove the existing container", r.Name)
	}
	return e.Remove(ctx, r.Name, RemoveOptions{Force: r.Force})
}

type runContainerGiven struct {
	imageArg
	Name string `arg:"name" doc:"name of the container"`
	TranslateArgs
	timeoutArg
	Bg       bool        `arg:"bg" default:"False" doc:"do not wait for its end"`
	Replace  bool        `arg:"replace" default:"False" doc:"remove a container that has the name"`
	Force    bool        `arg:"force" default:"False" doc:"with replace, remove it although it runs"`
	Networks value.Value `arg:"networks" doc:"networks to connect it to, as a list or a mapping"`
	ContainerArgs
	_ fun.Kwargs
}

func runContainer(ctx context.Context, c *fun.Call, a *runContainerGiven) (fun.Result, error) {
	return within(ctx, c, a.ClientTimeout, func(e *Engine) (value.Value, error) {
		nets, err := namedNets(a.Networks)
		if err != nil {
			return nil, err
		}
		return e.RunContainer(ctx, Run{Image: a.Image, Name: a.Name, Background: a.Bg, Replace: a.Replace, Force: a.Force, Networks: nets}, ArgumentsOf(c, &a.TranslateArgs, &a.ContainerArgs))
	})
}

type compareContainersArgs struct {
	_      fun.Arguments
	First  string   `arg:"first,required" doc:"one container"`
	Second string   `arg:"second,required" doc:"the other"`
	Ignore []string `arg:"ignore,comma[str]" doc:"keys that do not count"`
}

func compareContainers(ctx context.Context, c *fun.Call, a *compareContainersArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return e.Compare(ctx, a.First, a.Second, a.Ignore)
	})
}

func diff(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		list, err := e.list(ctx, "/containers/"+a.Name+"/changes", nil)
		ret := value.NewMap(3)
		for _, m := range list {
			kind := "Unknown"
			if n, ok := value.AsInt(m.At("Kind")); ok && n >= 0 && n < 3 {
				kind = [...]string{"Changed", "Added", "Deleted"}[n]
			}
			l := ret.List(kind)
			if l == nil {
				l = value.NewList()
				ret.Set(kind, l)
			}
			l.Append(m.At("Path"))
		}
		return ret, err
	})
}

func exists(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		_, err := e.Inspect(ctx, a.Name)
		if Missing(err) {
			return false, nil
		}
		return err == nil, err
	})
}

func info(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.mapping(ctx, "/info") })
}

type inspectArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name or ID"`
}

func inspect(ctx context.Context, c *fun.Call, a *inspectArgs) (fun.Result, error) {
	name := a.Name
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		for _, look := range []func(context.Context, string) (*value.Map, error){e.Inspect, e.InspectImage, e.inspectVolume, e.InspectNetwork} {
			m, err := look(ctx, name)
			if !Missing(err) {
				return m, err
			}
		}
		return nil, fun.Errorf("Error 404: No such image/container/volume/network: %s", name)
	})
}

func inspectContainer(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Inspect(ctx, a.Name) })
}

func kill(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.act(ctx, a.Name, "kill", Stopped, call{}) })
}

func listContainers(ctx context.Context, c *fun.Call, a *allArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		names, err := e.Names(ctx, a.All)
		return value.Strings(names...), err
	})
}

type logsArgs struct {
	containerArg
	Stdout     fun.Opt[bool]   `arg:"stdout,kw" doc:"with stdout; default: True"`
	Stderr     fun.Opt[bool]   `arg:"stderr,kw" doc:"with stderr; default: True"`
	Timestamps fun.Opt[bool]   `arg:"timestamps,kw" doc:"with times"`
	Follow     fun.Opt[bool]   `arg:"follow,kw" doc:"wait for its end"`
	Tail       fun.Opt[string] `arg:"tail,kw" doc:"how many lines from the end; default: all"`
	Since      fun.Opt[string] `arg:"since,kw" doc:"from a time on, in seconds since 1970"`
	Until      fun.Opt[string] `arg:"until,kw" doc:"up to a time, in seconds since 1970"`
}

func logs(ctx context.Context, c *fun.Call, a *logsArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		q := url.Values{"stdout": {"true"}, "stderr": {"true"}, "tail": {"all"}}
		for k, o := range map[string]fun.Opt[bool]{"stdout": a.Stdout, "stderr": a.Stderr, "timestamps": a.Timestamps, "follow": a.Follow} {
			if o.Given {
				q.Set(k, strconv.FormatBool(o.V))
			}
		}
		for k, o := range map[string]fun.Opt[string]{"tail": a.Tail, "since": a.Since, "until": a.Until} {
			if o.Given {
				q.Set(k, o.V)
			}
		}
		return e.Logs(ctx, a.Name, q)
	})
}

func pause(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		if m, err := e.except(ctx, a.Name, Stopped, "pause"); m != nil || err != nil {
			return m, err
		}
		return e.act(ctx, a.Name, "pause", Paused, call{})
	})
}

func pid(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		m, err := e.Inspect(ctx, a.Name)
		return m.Map("State").At("Pid"), err
	})
}

type portArgs struct {
	_           fun.Arguments
	Name        string      `arg:"name,required" doc:"name of the container, or a pattern"`
	PrivatePort value.Value `arg:"private_port,str|int" doc:"only this port, such as 80 or 53/udp"`
}

func port(ctx context.Context, c *fun.Call, a *portArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		name, pattern := a.Name, "*"
		switch v := a.PrivatePort.(type) {
		case nil:
		case int64:
			pattern = strconv.FormatInt(v, 10) + "/*"
		default:
			num, proto, _ := strings.Cut(value.Str(v), "/")
			proto = strings.ToLower(proto)
			if _, err := strconv.Atoi(num); err != nil || proto != "tcp" && proto != "udp" {
				return nil, fun.Errorf("Invalid private_port '%s'. Must either be a port number, or be in port/protocol notation (e.g. 5000/tcp)", value.Str(v))
			}
			pattern = num + "/" + proto
		}
		names := []string{name}
		if value.HasGlob(name) {
			all, err := e.Names(ctx, true)
			if err != nil {
				return nil, err
			}
			names = value.FnmatchFilter(all, name)
		}
		ret := value.NewMap(len(names))
		for _, n := range names {
			m, err := e.Inspect(ctx, n)
			if err != nil {
				return nil, err
			}
			ports := value.NewMap(2)
			for k, v := range m.Map("NetworkSettings").Map("Ports").All() {
				if value.Fnmatch(pattern, value.Str(k)) {
					ports.Set(k, v)
				}
			}
			ret.Set(n, ports)
		}
		if value.HasGlob(name) {
			return ret, nil
		}
		return ret.At(name), nil
	})
}

type psArgs struct {
	filtersArg
	allArg
	Verbose bool `arg:"verbose,kw" default:"False" doc:"with what inspect_container returns"`
}

func ps(ctx context.Context, c *fun.Call, a *psArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.PS(ctx, repack(a.Filters), a.All)
		if err != nil || !a.Verbose {
			return all, err
		}
		for k, v := range all.All() {
			info, err := e.Inspect(ctx, value.Str(k))
			if err != nil {
				return nil, err
			}
			m, _ := v.(*value.Map)
			m.Set("Info", info)
		}
		return all, nil
	})
}

type renameArgs struct {
	containerArg
	NewName string `arg:"new_name,required" doc:"the new name"`
}

func rename(ctx context.Context, c *fun.Call, a *renameArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Rename(ctx, a.Name, a.NewName) })
}

type restartArgs struct {
	containerArg
	Timeout int64 `arg:"timeout" default:"10" unit:"s" doc:"how long it may take to stop"`
}

func restart(ctx context.Context, c *fun.Call, a *restartArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		n := a.Timeout
		m, err := e.act(ctx, a.Name, "restart", Running, call{query: url.Values{"t": {strconv.FormatInt(n, 10)}}, wait: time.Duration(max(0, min(n, 86400))) * time.Second})
		if err == nil && m.At("result") == true {
			m.Set("restarted", true)
		}
		return m, err
	})
}

func timeoutOf(o fun.Opt[int64]) *int64 {
	if !o.Given {
		return nil
	}
	return &o.V
}

type rmArgs struct {
	containerArg
	Force   bool           `arg:"force" default:"False" doc:"remove it although it runs"`
	Volumes bool           `arg:"volumes" default:"False" doc:"remove its anonymous volumes, too"`
	Stop    bool           `arg:"stop,kw" default:"False" doc:"stop it first"`
	Timeout fun.Opt[int64] `arg:"timeout,kw" unit:"s" doc:"how long it may take to stop"`
}

func rm(ctx context.Context, c *fun.Call, a *rmArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return e.Remove(ctx, a.Name, RemoveOptions{a.Force, a.Volumes, a.Stop, timeoutOf(a.Timeout)})
	})
}

type signalArgs struct {
	containerArg
	Signal string `arg:"signal,required" doc:"the signal"`
}

func signal(ctx context.Context, c *fun.Call, a *signalArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return true, e.Signal(ctx, a.Name, a.Signal) })
}

func start(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Start(ctx, a.Name) })
}

func state(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.State(ctx, a.Name) })
}

type stopArgs struct {
	containerArg
	Timeout fun.Opt[int64] `arg:"timeout" unit:"s" doc:"how long it may take; default: that of the container, else 10"`
	Unpause bool           `arg:"unpause,kw" default:"False" doc:"unpause it first"`
}

func stop(ctx context.Context, c *fun.Call, a *stopArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return e.Stop(ctx, a.Name, timeoutOf(a.Timeout), a.Unpause)
	})
}

func top(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		m, err := e.mapping(ctx, "/containers/"+a.Name+"/top")
		titles, ret := items(m.At("Titles")), value.NewList()
		for _, p := range items(m.At("Processes")) {
			row := value.NewMap(len(titles))
			for i, v := range items(p) {
				if i < len(titles) {
					row.Set(value.Str(titles[i]), v)
				}
			}
			ret.Append(row)
		}
		return ret, err
	})
}

func unpause(ctx context.Context, c *fun.Call, a *containerArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		if m, err := e.except(ctx, a.Name, Stopped, "unpause"); m != nil || err != nil {
			return m, err
		}
		return e.act(ctx, a.Name, "unpause", Running, call{})
	})
}

// numbers returns the numbers of a version: (20, 10, 24).
func numbers(s string) value.Tuple {
	var out value.Tuple
	for part := range strings.SplitSeq(s, ".") {
		end := 0
		for end < len(part) && part[end] >= '0' && part[end] <= '9' {
			end++
		}
		n, err := strconv.ParseInt(part[:end], 10, 64)
		if err != nil {
			break
		}
		out = append(out, n)
		if end < len(part) {
			break
		}
	}
	return out
}

func version(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		m, err := e.mapping(ctx, "/version")
		if err != nil {
			return nil, err
		}
		for _, k := range []string{"Version", "ApiVersion"} {
			if n := numbers(m.Str(k)); len(n) > 0 {
				m.Set(k+"Info", n)
			}
		}
		return m, nil
	})
}

type waitArgs struct {
	containerArg
	IgnoreAlreadyStopped bool `arg:"ignore_already_stopped" default:"False" doc:"a container that does not run is a success"`
	FailOnExitStatus     bool `arg:"fail_on_exit_status" default:"False" doc:"a status other than 0 is a failure"`
}

func wait(ctx context.Context, c *fun.Call, a *waitArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		name, ignore := a.Name, a.IgnoreAlreadyStopped
		before, err := e.State(ctx, name)
		if Missing(err) {
			return value.MapOf("result", ignore, "comment", "Container '"+name+"' absent"), nil
		}
		if err != nil {
			return nil, err
		}
		code, err := e.Wait(ctx, name)
		if err != nil {
			return nil, err
		}
		var after value.Value
		if s, err := e.State(ctx, name); err == nil {
			after = s
		}
		stopped := before == Stopped
		ok := after == Stopped
		if stopped {
			ok = ignore
		}
		if a.FailOnExitStatus && ok {
			ok = code == int64(0)
		}
		m := value.MapOf("result", ok, "state", value.MapOf("old", before, "new", after), "exit_status", code)
		if stopped {
			m.Set("comment", "Container '"+name+"' already stopped")
		}
		return m, nil
	})
}
