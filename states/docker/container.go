package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/docker"
)

// A target is a container that a state is about.
type target struct {
	c    *fun.Call
	a    *runningGiven
	e    *docker.Engine
	r    *report
	name string

	image, wanted string // IDs: of the container there is, and as wanted; "" is none
	exists        bool
	before        value.Value // its state; nil where it did not exist
	force         bool
	signal        string     // to send where nothing changes
	nets          *value.Map // networks to connect to
	managed       bool       // networks are those of nets alone
	temp, tempID  string     // the new container
}

// parseNets returns the argument networks, and whether it was given.
func parseNets(ctx context.Context, e *docker.Engine, v value.Value) (nets *value.Map, given bool, err error) {
	nets = value.NewMap(2)
	if v == nil {
		return nets, false, nil
	}
	l, isList := v.(*value.List)
	m, isMap := v.(value.Mapping)
	switch {
	case isMap:
	case isList:
		whole := value.NewMap(len(l.Items))
		for _, item := range l.Items {
			if one, ok := item.(value.Mapping); ok && one.Len() > 0 {
				k := one.Keys()[0]
				x, _ := one.Get(k)
				whole.Set(k, x)
				continue
			}
			whole.Set(value.Str(item), nil)
		}
		m = whole
	default:
		whole := value.NewMap(2)
		for part := range strings.SplitSeq(value.Str(v), ",") {
			if part = strings.TrimSpace(part); part != "" {
				whole.Set(part, nil)
			}
		}
		m = whole
	}
	var errs []string
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		if x == nil {
			nets.Set(k, value.NewMap(0))
			continue
		}
		conf, ok := docker.Repack(x).(value.Mapping)
		if !ok {
			return nil, true, fmt.Errorf("Invalid configuration for network '%s' (see documentation)", value.Str(k))
		}
		for _, key := range conf.Keys() {
			if v, _ := conf.Get(key); v == nil {
				errs = append(errs, "Config option '"+value.Str(key)+"' for network '"+value.Str(k)+"' is missing a value")
			}
		}
		nets.Set(k, conf)
	}
	if len(errs) > 0 {
		return nil, true, fmt.Errorf("%s", strings.Join(errs, ". "))
	}
	if nets.Len() == 0 {
		return nets, true, nil
	}
	all, err := e.Networks(ctx, nil, nil)
	if err != nil {
		return nil, true, fmt.Errorf("Failed to get list of existing networks: %w.", err)
	}
	var missing []string
	for _, k := range nets.Keys() {
		if !slices.ContainsFunc(all, func(n *value.Map) bool { return n.Str("Name") == value.Str(k) }) {
			missing = append(missing, value.Str(k))
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		return nil, true, fmt.Errorf("The following networks are not present: %s", strings.Join(missing, ", "))
	}
	return nets, true, nil
}

// resolveImage returns the ID of an image, which it pulls where it is missing,
// but for a test; "" then.
func resolveImage(ctx context.Context, c *fun.Call, e *docker.Engine, r *report, image string) (string, error) {
	id, err := e.ImageID(ctx, image)
	if err != nil || id != "" || c.Test {
		return id, err
	}
	ret, err := e.Pull(ctx, image, false)
	if err != nil {
		return "", fmt.Errorf("Failed to pull %s: %w", image, err)
	}
	r.changes.Set("image", ret)
	if id, err = e.ImageID(ctx, image); err != nil || id != "" {
		return id, err
	}
	if l := ret.List("Errors"); l != nil {
		return "", fmt.Errorf("Failed to pull %s: %s", image, value.Str(l.Items[0]))
	}
	return "", fmt.Errorf("Image '%s' not present despite a docker pull raising no errors", image)
}

type runningGiven struct {
	containerArg
	imageArg
	docker.TranslateArgs
	Force           bool           `arg:"force" default:"False" doc:"replace the container although it is as described"`
	WatchAction     string         `arg:"watch_action" default:"force" doc:"what a watched change does: force, which replaces the container, or the signal to send"`
	Start           bool           `arg:"start" default:"True" doc:"start an existing container that does not run; a new one is always started"`
	ShutdownTimeout fun.Opt[int64] `arg:"shutdown_timeout" unit:"s" doc:"how long a container that is replaced may take to stop; default: its own"`
	timeoutArg
	networksArg
	docker.ContainerArgs
	_ fun.Kwargs
}

// running makes a container that is as described and runs.
// Salt: salt/states/docker_container.py running.
func running(ctx context.Context, c *fun.Call, a *runningGiven) fun.Ret {
	return ensure(ctx, c, a, a.Force, "")
}

func ensure(ctx context.Context, c *fun.Call, a *runningGiven, force bool, signal string) fun.Ret {
	if a.Image == nil {
		return fun.Fail("The 'image' argument is required")
	}
	t := &target{c: c, a: a, r: newReport(), name: c.Name, force: force, signal: signal}
	if err := t.look(ctx); err != nil {
		return t.r.fail(err)
	}
	replace := t.force || !t.exists || t.image != t.wanted
	if replace && c.Test {
		if t.force {
			t.r.changes.Set("forced_update", true)
		} else if t.image != t.wanted {
			t.r.changes.Set("image", value.MapOf("old", orNone(t.image), "new", orFalse(t.wanted)))
		}
		t.r.say("Container '" + t.name + "' would be " + t.would())
		return t.r.ret(fun.WouldChange)
	}
	return t.converge(ctx, replace)
}

func orNone(id string) value.Value {
	if id == "" {
		return nil
	}
	return id
}

func orFalse(id string) value.Value {
	if id == "" {
		return false
	}
	return id
}

func (t *target) would() string {
	if t.exists {
		return "replaced"
	}
	return "created"
}

// look finds out what exists.
func (t *target) look(ctx context.Context) error {
	var err error
	if t.e, err = docker.New(ctx, t.c.Env, t.a.ClientTimeout); err != nil {
		return err
	}
	if t.nets, t.managed, err = parseNets(ctx, t.e, t.a.Networks); err != nil {
		return err
	}
	if t.wanted, err = resolveImage(ctx, t.c, t.e, t.r, fun.TextOf(t.a.Image)); err != nil {
		return err
	}
	m, err := t.e.Inspect(ctx, t.name)
	switch {
	case docker.Missing(err):
		return nil
	case err != nil:
		return err
	}
	t.exists, t.image, t.before = true, m.Str("Image"), docker.StateOf(m)
	return nil
}

// converge creates the container as described, beside the one there is, and
// replaces that where they differ.
func (t *target) converge(ctx context.Context, replace bool) fun.Ret {
	spec, err := t.e.Prepare(ctx, fun.TextOf(t.a.Image), docker.ArgumentsOf(t.c, &t.a.TranslateArgs, &t.a.ContainerArgs))
	if err != nil {
		return t.r.fail(err)
	}
	connectAtOnce(spec, t.nets)
	name := t.name
	if t.exists {
		name = ""
	}
	made, err := t.e.Create(ctx, spec, name)
	if err != nil {
		return t.r.fail(err)
	}
	t.temp, t.tempID = made.Str("Name"), made.Str("Id")
	kept, ret := t.adopt(ctx, replace)
	if !kept {
		// What was made to compare goes, however the run ends.
		if _, err := t.e.Remove(context.WithoutCancel(ctx), t.tempID, docker.RemoveOptions{}); err != nil {
			t.r.warnings = append(t.r.warnings, "Failed to remove temp container '"+t.temp+"': "+err.Error())
		}
	}
	if ret != nil {
		ret.Extra = t.r.ret(ret.Result).Extra
		return *ret
	}
	return t.settle(ctx, kept)
}

// connectAtOnce makes the network that network_mode names part of the creation.
func connectAtOnce(spec *docker.ContainerSpec, nets *value.Map) {
	mode := spec.Config.Map("HostConfig").Str("NetworkMode")
	if conf, ok := nets.Get(mode); ok {
		m, _ := conf.(value.Mapping)
		spec.Config.Set("NetworkingConfig", value.MapOf("EndpointsConfig", value.MapOf(mode, docker.Endpoint(m))))
	}
}

// adopt compares the new container with the one there is. kept is whether the
// new one stays; ret is not nil where the state is at its end.
func (t *target) adopt(ctx context.Context, replace bool) (kept bool, ret *fun.Ret) {
	stop := func(err error) (bool, *fun.Ret) {
		r := t.r.fail(err)
		return false, &r
	}
	netChanges, err := t.connect(ctx)
	if err != nil {
		return stop(err)
	}
	if !replace {
		diff, err := t.e.Compare(ctx, t.name, t.tempID, []string{"Hostname"})
		if err != nil {
			return stop(err)
		}
		if diff.Len() > 0 {
			t.r.part("container").Update(diff)
			if t.c.Test {
				t.r.say("Container '" + t.name + "' would be replaced")
			} else {
				replace = true
			}
		} else if err := t.unchanged(ctx); err != nil {
			return stop(err)
		}
	}
	if netChanges.Len() > 0 {
		t.r.part("container").Set("Networks", netChanges)
		switch {
		case t.c.Test:
			t.r.say("Network configuration would be updated")
		case !replace:
			if !t.reconnect(ctx, netChanges) {
				r := t.r.ret(fun.Failed)
				return false, &r
			}
		}
	}
	if t.c.Test && t.r.changes.Len() > 0 {
		r := t.r.ret(fun.WouldChange)
		return false, &r
	}
	if !replace {
		return false, nil
	}
	if !t.exists {
		t.r.say("Created container '" + t.name + "'")
	} else if err := t.replace(ctx); err != nil {
		r := t.r.fail(err)
		_, gone := t.e.Inspect(ctx, t.name)
		// The old container is gone: the new one is all there is.
		return docker.Missing(gone), &r
	}
	t.r.part("container_id").Set("added", t.tempID)
	return true, nil
}

// connect connects the new container to its networks and returns how they differ
// from those of the one there is.
func (t *target) connect(ctx context.Context) (*value.Map, error) {
	from := t.tempID
	if t.exists {
		from = t.name
	}
	before, err := t.e.Inspect(ctx, from)
	if err != nil {
		return nil, err
	}
	now, err := t.e.Inspect(ctx, t.tempID)
	if err != nil {
		return nil, err
	}
	have := docker.Networks(now)
	for k, conf := range t.nets.All() {
		if m, _ := conf.(value.Mapping); !have.Has(k) {
			if err := t.e.Connect(ctx, t.tempID, value.Str(k), m); err != nil {
				return nil, err
			}
		}
	}
	if t.managed {
		for _, k := range have.Keys() {
			if !t.nets.Has(k) {
				if err := t.e.Disconnect(ctx, t.tempID, value.Str(k)); err != nil {
					return nil, err
				}
			}
		}
	}
	if now, err = t.e.Inspect(ctx, t.tempID); err != nil {
		return nil, err
	}
	return t.e.CompareNetworks(ctx, before, now)
}

// unchanged reports a container that is as described, and signals it where a
// watch asks for that.
func (t *target) unchanged(ctx context.Context) error {
	switch {
	case t.signal == "":
		t.r.say("Container '" + t.name + "' is already configured as specified")
	case t.c.Test:
		t.r.say("Signal " + t.signal + " would be sent to container")
	default:
		if err := t.e.Signal(ctx, t.name, t.signal); err != nil {
			return fmt.Errorf("Failed to signal container: %w", err)
		}
		t.r.changes.Set("signal", t.signal)
		t.r.say("Sent signal " + t.signal + " to container")
	}
	return nil
}

// reconnect brings the networks of the container there is up to date.
func (t *target) reconnect(ctx context.Context, changes *value.Map) bool {
	ok := true
	names := changes.Keys()
	slices.SortFunc(names, func(a, b value.Value) int { return strings.Compare(value.Str(a), value.Str(b)) })
	for _, k := range names {
		name := value.Str(k)
		var off, on bool
		members, err := t.e.Connected(ctx, name)
		if err == nil && members.Has(t.name) {
			if err = t.e.Disconnect(ctx, t.name, name); err == nil {
				off = true
			}
		}
		if err != nil {
			t.r.say(err.Error())
			ok = false
		}
		if conf, wanted := t.nets.Get(k); wanted {
			m, _ := conf.(value.Mapping)
			if err := t.e.Connect(ctx, t.name, name, m); err != nil {
				t.r.say(err.Error())
				ok = false
			} else {
				on = true
			}
		}
		switch {
		case off && on:
			t.r.say("Reconnected to network '" + name + "' with updated configuration")
		case off:
			t.r.say("Disconnected from network '" + name + "'")
		case on:
			t.r.say("Connected to network '" + name + "'")
		}
	}
	return ok
}

// replace removes the container there is and gives the new one its name.
func (t *target) replace(ctx context.Context) error {
	o := docker.RemoveOptions{Stop: true}
	if t.a.ShutdownTimeout.Given {
		n := t.a.ShutdownTimeout.V
		o.Timeout = &n
	}
	gone, err := t.e.Remove(ctx, t.name, o)
	if err != nil {
		return err
	}
	t.r.part("container_id").Set("removed", gone)
	ok, err := t.e.Rename(ctx, t.tempID, t.name)
	if err != nil {
		return fmt.Errorf("Failed to rename temp container: %w", err)
	}
	if !ok {
		return fmt.Errorf("Failed to replace container '%s'", t.name)
	}
	t.r.say("Replaced container '" + t.name + "'")
	return nil
}

// settle starts the container where it has to run, and reports. As in Salt, a
// container that did not exist before is started even where start is false.
func (t *target) settle(ctx context.Context, kept bool) fun.Ret {
	start := t.a.Start
	var after value.Value
	switch {
	case kept && !t.exists, start && (kept || t.before != docker.Running):
		if t.c.Test {
			t.r.say("Container would be started")
			return t.r.ret(fun.WouldChange)
		}
		m, err := t.e.Start(ctx, t.name)
		if err != nil {
			return t.r.fail(fmt.Errorf("Failed to start container '%s': '%w'", t.name, err))
		}
		after = m.Map("state").At("new")
	default:
		s, err := t.e.State(ctx, t.name)
		if err != nil {
			return t.r.fail(err)
		}
		after = s
	}
	if after == docker.Running {
		t.addresses(ctx)
	}
	if after != t.before {
		t.r.changes.Set("state", value.MapOf("old", t.before, "new", after))
		if t.before != nil {
			t.r.say("State changed from '" + value.Str(t.before) + "' to '" + value.Str(after) + "'")
		}
	}
	if t.exists && t.image != t.wanted {
		t.r.say("Container has a new image")
		t.r.changes.Set("image", value.MapOf("old", t.image, "new", t.wanted))
	}
	if after != docker.Running && start {
		t.r.say("Container is not running")
		return t.r.ret(fun.Failed)
	}
	return t.r.ret(fun.OK)
}

// addresses shows the addresses that the engine chose, now that the container
// runs.
func (t *target) addresses(ctx context.Context) {
	changed := t.r.changes.Map("container").Map("Networks")
	for k, v := range changed.All() {
		diff, _ := v.(*value.Map)
		if diff.Map("IPConfiguration").At("new") != "automatic" {
			continue
		}
		m, err := t.e.Inspect(ctx, t.name)
		if err != nil {
			return
		}
		for _, key := range t.e.AutoKeys(ctx) {
			if x := docker.Networks(m).Map(k).At(key); value.Truth(x) {
				diff.Set(key, value.MapOf("old", nil, "new", x))
				diff.Delete("IPConfiguration")
			}
		}
	}
}

type runArgs struct {
	containerArg
	imageArg
	Bg       bool `arg:"bg" default:"False" doc:"do not wait for its end"`
	Failhard bool `arg:"failhard" default:"True" doc:"a status other than 0 is a failure"`
	Replace  bool `arg:"replace" default:"False" doc:"remove a container that has the name"`
	Force    bool `arg:"force" default:"False" doc:"with replace, remove it although it runs"`
	docker.TranslateArgs
	timeoutArg
	networksArg
	docker.ContainerArgs
	Rest fun.Kwargs
}

// runOnce runs a container to its end. Salt: salt/states/docker_container.py run.
func runOnce(ctx context.Context, c *fun.Call, args *runArgs) fun.Ret {
	for _, k := range []string{"watch_action", "start", "shutdown_timeout", "follow"} {
		if args.Rest.Has(k) {
			return fun.Fail("The '%s' argument is not supported", k)
		}
	}
	if args.Image == nil {
		return fun.Fail("The 'image' argument is required")
	}
	r := newReport()
	e, err := docker.New(ctx, c.Env, args.ClientTimeout)
	if err != nil {
		return r.fail(err)
	}
	nets, _, err := parseNets(ctx, e, args.Networks)
	if err != nil {
		return r.fail(err)
	}
	if _, err := resolveImage(ctx, c, e, r, fun.TextOf(args.Image)); err != nil {
		return r.fail(err)
	}
	bg := args.Bg
	if c.Test {
		comment := "Container would be run"
		if bg {
			comment += " in the background"
		}
		return fun.Ret{Result: fun.WouldChange, Comment: comment}
	}
	a := docker.ArgumentsOf(c, &args.TranslateArgs, &args.ContainerArgs)
	remove := false
	if !bg {
		if a.Values.Has("rm") && a.Values.Has("auto_remove") && !a.Collisions {
			return fun.Fail("'rm' is an alias for 'auto_remove', they cannot both be used")
		}
		remove = value.Truth(a.Values.At("rm")) || value.Truth(a.Values.At("auto_remove"))
		a.Values.Delete("rm")
		a.Values.Delete("auto_remove")
	}
	ran, err := e.RunContainer(ctx, docker.Run{Image: fun.TextOf(args.Image), Name: c.Name, Background: bg, Replace: args.Replace, Force: args.Force, Networks: nets}, a)
	if err != nil {
		return fun.Ret{Comment: "Encountered error running container: " + err.Error(), Changes: r.changes}
	}
	r.changes = ran
	result := fun.OK
	code, known := ran.Get("ExitCode")
	switch {
	case bg:
		r.say("Container was run in the background")
	case known:
		r.say("Container ran and exited with a return code of " + value.Str(code))
		if args.Failhard && code != int64(0) {
			result = fun.Failed
		}
	}
	if remove {
		if _, err := e.Remove(ctx, ran.Str("Id"), docker.RemoveOptions{}); err != nil {
			r.warnings = append(r.warnings, "Failed to auto_remove container: "+err.Error())
		}
	}
	return r.ret(result)
}

type stoppedArgs struct {
	_               string      `arg:"name" doc:"name of the container"`
	Containers      value.Value `arg:"containers" doc:"list of containers, instead of the name"`
	ShutdownTimeout int64       `arg:"shutdown_timeout" unit:"s" doc:"how long they may take; default: that of the container, else 10"`
	Unpause         bool        `arg:"unpause" default:"False" doc:"unpause paused containers, to stop them"`
	ErrorOnAbsent   bool        `arg:"error_on_absent" default:"True" doc:"fail if a container does not exist"`
	_               fun.Kwargs
}

// stopped stops containers. Salt: salt/states/docker_container.py stopped.
func stopped(ctx context.Context, c *fun.Call, a *stoppedArgs) fun.Ret {
	targets := []string{c.Name}
	if a.Containers != nil {
		if _, ok := a.Containers.(*value.List); !ok {
			return fun.Fail("containers must be a list")
		}
		targets = fun.StringsOf(a.Containers)
	}
	e, err := engine(ctx, c)
	if err != nil {
		return fun.Fail("%v", err)
	}
	by := map[string][]string{}
	for _, t := range targets {
		s, err := e.State(ctx, t)
		if docker.Missing(err) {
			s = "absent"
		} else if err != nil {
			return fun.Fail("%v", err)
		}
		by[s] = append(by[s], t)
	}
	var errs []string
	if l := by["absent"]; a.ErrorOnAbsent && len(l) > 0 {
		errs = append(errs, "The following container(s) are absent: "+strings.Join(l, ", "))
	}
	if l := by[docker.Paused]; !a.Unpause && len(l) > 0 {
		errs = append(errs, "The following container(s) are paused: "+strings.Join(l, ", "))
	}
	todo := append(slices.Clone(by[docker.Running]), by[docker.Paused]...)
	switch {
	case len(errs) > 0:
		return fun.Fail("%s", strings.Join(errs, ". "))
	case len(todo) == 0:
		comment := "All specified containers are "
		if len(targets) == 1 {
			comment = "Container '" + targets[0] + "' is "
		}
		if len(by["absent"]) > 0 {
			comment += "absent or "
		}
		return fun.Ret{Result: fun.OK, Comment: comment + "not running"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "The following container(s) will be stopped: " + strings.Join(todo, ", ")}
	}
	return stop(ctx, a, e, todo)
}

func stop(ctx context.Context, a *stoppedArgs, e *docker.Engine, todo []string) fun.Ret {
	var timeout *int64
	if n := a.ShutdownTimeout; n != 0 {
		timeout = &n
	}
	changes, errs := value.NewMap(len(todo)), []string(nil)
	for _, t := range todo {
		m, err := e.Stop(ctx, t, timeout, a.Unpause)
		switch {
		case err != nil:
			errs = append(errs, err.Error())
		case m.At("result") == true:
			changes.Set(t, m)
		case m.Has("comment"):
			errs = append(errs, m.Str("comment"))
		default:
			errs = append(errs, "Failed to stop container '"+t+"'")
		}
	}
	if len(errs) > 0 {
		return fun.Ret{Comment: strings.Join(errs, "; "), Changes: changes}
	}
	return fun.Ret{Result: fun.OK, Comment: "The following container(s) were stopped: " + strings.Join(todo, ", "), Changes: changes}
}

type containerAbsentArgs struct {
	containerArg
	Force bool `arg:"force" default:"False" doc:"remove it although it runs"`
}

// containerAbsent removes a container.
// Salt: salt/states/docker_container.py absent.
func containerAbsent(ctx context.Context, c *fun.Call, a *containerAbsentArgs) fun.Ret {
	e, err := engine(ctx, c)
	if err != nil {
		return fun.Fail("%v", err)
	}
	state, err := e.State(ctx, c.Name)
	force := a.Force
	switch {
	case docker.Missing(err):
		return fun.Ret{Result: fun.OK, Comment: "Container '" + c.Name + "' does not exist"}
	case err != nil:
		return fun.Fail("%v", err)
	case state != docker.Stopped && !force:
		return fun.Fail("Container is running, set force to True to forcibly remove it")
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Container '" + c.Name + "' will be removed"}
	}
	gone, err := e.Remove(ctx, c.Name, docker.RemoveOptions{Force: force})
	if err != nil {
		return fun.Fail("Failed to remove container '%s': %v", c.Name, err)
	}
	changes := value.MapOf("removed", gone)
	if _, err := e.State(ctx, c.Name); !docker.Missing(err) {
		return fun.Ret{Comment: "Failed to remove container '" + c.Name + "'", Changes: changes}
	}
	method := "Successfully"
	if force && state != docker.Stopped {
		method = "Forcibly"
	}
	return fun.Ret{Result: fun.OK, Comment: method + " removed container '" + c.Name + "'", Changes: changes}
}

// containerWatch is mod_watch: it replaces a container, or signals it.
// Salt: salt/states/docker_container.py mod_watch.
func containerWatch(ctx context.Context, c *fun.Call) fun.Ret {
	switch sfun := c.Low.Low.Str("sfun"); sfun {
	case "running":
		return fun.StateFunc(refresh).State(ctx, c)
	case "stopped":
		return fun.StateFunc(stopped).State(ctx, c)
	case "run":
		return fun.StateFunc(runOnce).State(ctx, c)
	default:
		return fun.Fail("watch requisite is not implemented for %s", sfun)
	}
}

// refresh replaces a running container, or sends it the signal that watch_action names.
func refresh(ctx context.Context, c *fun.Call, a *runningGiven) fun.Ret {
	if a.WatchAction != "force" {
		return ensure(ctx, c, a, false, a.WatchAction)
	}
	return ensure(ctx, c, a, true, "")
}
