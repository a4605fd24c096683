package docker

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// States of a container.
const (
	Running = "running"
	Paused  = "paused"
	Stopped = "stopped"
)

// Inspect returns what is known of a container.
func (e *Engine) Inspect(ctx context.Context, name string) (*value.Map, error) {
	return e.mapping(ctx, "/containers/"+name+"/json")
}

// StateOf returns the state of an inspected container.
func StateOf(m *value.Map) string {
	st := m.Map("State")
	switch {
	case value.Truth(st.At("Paused")):
		return Paused
	case value.Truth(st.At("Running")):
		return Running
	}
	return Stopped
}

// State returns the state of a container.
func (e *Engine) State(ctx context.Context, name string) (string, error) {
	m, err := e.Inspect(ctx, name)
	if err != nil {
		return "", err
	}
	return StateOf(m), nil
}

// local is a time in seconds as Salt shows it beside the number.
func local(v value.Value) (string, bool) {
	n, ok := value.AsInt(v)
	if !ok {
		return "", false
	}
	return pyformat.Strftime(time.Unix(n, 0), "%Y-%m-%d %H:%M:%S %Z"), true
}

// timed renames the time of creation and adds it as text.
func timed(m *value.Map) *value.Map {
	out := value.NewMap(m.Len() + 1)
	for k, v := range m.All() {
		switch k {
		case "Id":
		case "Created":
			out.Set("Time_Created_Epoch", v)
		default:
			out.Set(k, v)
		}
	}
	if s, ok := local(m.At("Created")); ok {
		out.Set("Time_Created_Local", s)
	}
	return out
}

// filtersOf returns filters as the engine takes them: a mapping of lists.
func filtersOf(v value.Value) url.Values {
	m, ok := v.(value.Mapping)
	if !ok || m.Len() == 0 {
		return nil
	}
	out := value.NewMap(m.Len())
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		var vals []string
		if b, ok := x.(bool); ok {
			vals = []string{strconv.FormatBool(b)}
		} else {
			vals = stringList(x)
		}
		out.Set(value.Str(k), value.Strings(vals...))
	}
	return url.Values{"filters": {string(value.EncodeJSON(out))}}
}

// PS returns containers by ID: the running ones, or with all every one.
func (e *Engine) PS(ctx context.Context, filters value.Value, all bool) (*value.Map, error) {
	q := filtersOf(filters)
	if q == nil {
		q = url.Values{}
	}
	q.Set("all", "1")
	list, err := e.list(ctx, "/containers/json", q)
	if err != nil {
		return nil, err
	}
	running, stopped := value.NewMap(4), value.NewMap(4)
	for _, m := range list {
		id, ok := m.Get("Id")
		if !ok {
			continue
		}
		if strings.HasPrefix(strings.ToLower(m.Str("Status")), "up ") {
			running.Set(id, timed(m))
		} else {
			stopped.Set(id, timed(m))
		}
	}
	if all {
		running.Update(stopped)
	}
	return running, nil
}

// Names returns the names of containers, sorted.
func (e *Engine) Names(ctx context.Context, all bool) ([]string, error) {
	m, err := e.PS(ctx, nil, all)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, v := range m.All() {
		c, _ := v.(*value.Map)
		if l := c.List("Names"); l != nil {
			for _, n := range l.Items {
				out = append(out, strings.TrimLeft(value.Str(n), "/"))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Create creates a container from an image that exists. The return has its Id,
// its Name and how long that took.
func (e *Engine) Create(ctx context.Context, spec *ContainerSpec, name string) (*value.Map, error) {
	q := url.Values{}
	if name != "" {
		q.Set("name", name)
	}
	start := e.env.Host.Now()
	v, err := e.do(ctx, call{method: http.MethodPost, path: "/containers/create", query: q, body: spec.Config})
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok || m.Str("Id") == "" {
		return nil, fun.Errorf("Key 'Id' missing from API response, this may be due to a change in the Docker Remote API.")
	}
	m.Set("Time_Elapsed", e.env.Host.Now().Sub(start).Seconds())
	if name == "" {
		c, err := e.Inspect(ctx, m.Str("Id"))
		if err != nil {
			return nil, err
		}
		name = strings.TrimLeft(c.Str("Name"), "/")
	}
	m.Set("Name", name)
	return m, nil
}

// Rename gives a container a name.
func (e *Engine) Rename(ctx context.Context, name, to string) (bool, error) {
	m, err := e.Inspect(ctx, name)
	if err != nil {
		return false, err
	}
	id := m.Str("Id")
	if err := e.post(ctx, "/containers/"+id+"/rename", url.Values{"name": {to}}, nil); err != nil {
		return false, err
	}
	now, err := e.Inspect(ctx, to)
	return err == nil && now.Str("Id") == id, err
}

// A RemoveOptions says how Remove removes.
type RemoveOptions struct {
	Force, Volumes, Stop bool
	Timeout              *int64
}

// Remove removes a container and returns the IDs of those that are gone.
func (e *Engine) Remove(ctx context.Context, name string, o RemoveOptions) (*value.List, error) {
	m, err := e.Inspect(ctx, name)
	if err != nil {
		return nil, err
	}
	if StateOf(m) == Running && !o.Force && !o.Stop {
		return nil, fun.Errorf("Container '%s' is running, use force=True to forcibly remove this container", name)
	}
	before, err := e.PS(ctx, nil, true)
	if err != nil {
		return nil, err
	}
	auto := false
	if o.Stop && !o.Force {
		auto = value.Truth(m.Map("HostConfig").At("AutoRemove"))
		if _, err := e.Stop(ctx, name, o.Timeout, false); err != nil {
			return nil, err
		}
	}
	if !auto {
		q := url.Values{"v": {strconv.FormatBool(o.Volumes)}, "force": {strconv.FormatBool(o.Force)}}
		if _, err := e.do(ctx, call{method: http.MethodDelete, path: "/containers/" + name, query: q}); err != nil {
			return nil, err
		}
	}
	after, err := e.PS(ctx, nil, true)
	if err != nil {
		return nil, err
	}
	gone := value.NewList()
	for id := range before.All() {
		if !after.Has(id) {
			gone.Append(id)
		}
	}
	return gone, nil
}

// A change is what the functions that change the state of a container return.
func change(result bool, old, now value.Value, comment string) *value.Map {
	m := value.MapOf("result", result, "state", value.MapOf("old", old, "new", now))
	if comment != "" {
		m.Set("comment", comment)
	}
	return m
}

// act asks for an action that is to lead to a state.
func (e *Engine) act(ctx context.Context, name, action, expected string, c call) (*value.Map, error) {
	before, err := e.State(ctx, name)
	if err != nil {
		return nil, err
	}
	if action != "restart" && before == expected {
		return change(false, expected, expected, "Container '"+name+"' already "+expected), nil
	}
	c.method, c.path = http.MethodPost, "/containers/"+name+"/"+action
	if _, err := e.do(ctx, c); err != nil {
		return nil, err
	}
	after, err := e.State(ctx, name)
	if err != nil && !Missing(err) {
		return nil, err
	}
	var now value.Value = after
	if err != nil {
		now = nil
	}
	return change(after == expected, before, now, ""), nil
}

// except refuses an action in a state.
func (e *Engine) except(ctx context.Context, name, state, comment string) (*value.Map, error) {
	now, err := e.State(ctx, name)
	if err != nil || now != state {
		return nil, err
	}
	return change(false, now, now, "Container '"+name+"' is "+state+", cannot "+comment), nil
}

// Start starts a container.
func (e *Engine) Start(ctx context.Context, name string) (*value.Map, error) {
	if m, err := e.except(ctx, name, Paused, "start"); m != nil || err != nil {
		return m, err
	}
	return e.act(ctx, name, "start", Running, call{})
}

// Stop stops a container; timeout is how many seconds it has, nil for its own.
func (e *Engine) Stop(ctx context.Context, name string, timeout *int64, unpause bool) (*value.Map, error) {
	m, err := e.Inspect(ctx, name)
	if err != nil {
		return nil, err
	}
	seconds := int64(10)
	if n, ok := value.AsInt(m.Map("Config").At("StopTimeout")); ok {
		seconds = n
	}
	if timeout != nil {
		seconds = *timeout
	}
	before := StateOf(m)
	if before == Paused {
		if !unpause {
			return change(false, before, before, "Container '"+name+"' is paused, run with unpause=True to unpause before stopping"), nil
		}
		m, err := e.act(ctx, name, "unpause", Running, call{})
		if err != nil {
			return nil, err
		}
		if m.At("result") != true {
			m.Set("comment", "Failed to unpause container '"+name+"'")
			return m, nil
		}
	}
	ret, err := e.act(ctx, name, "stop", Stopped, call{query: url.Values{"t": {strconv.FormatInt(seconds, 10)}}, wait: time.Duration(max(0, min(seconds, 86400))) * time.Second})
	if err != nil {
		return nil, err
	}
	ret.Map("state").Set("old", before)
	return ret, nil
}

// Signal sends a signal to a container.
func (e *Engine) Signal(ctx context.Context, name, signal string) error {
	return e.post(ctx, "/containers/"+name+"/kill", url.Values{"signal": {signal}}, nil)
}

// frames splits the output of a container without a terminal, where stdout and
// stderr come in frames; both may be nil.
func frames(r io.Reader, stdout, stderr io.Writer) error {
	head := make([]byte, 8)
	for {
		if _, err := io.ReadFull(r, head); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		to := stdout
		if head[0] == 2 {
			to = stderr
		}
		if _, err := io.CopyN(to, r, int64(binary.BigEndian.Uint32(head[4:]))); err != nil {
			return err
		}
	}
}

// A limited keeps what is written up to a bound.
type limited struct{ b strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxAnswer - l.b.Len(); room > 0 {
		l.b.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

func (l *limited) String() string { return value.DecodeReplace([]byte(l.b.String())) }

// Logs returns what a container printed. With follow it waits for its end.
func (e *Engine) Logs(ctx context.Context, name string, q url.Values) (string, error) {
	m, err := e.Inspect(ctx, name)
	if err != nil {
		return "", err
	}
	wait := time.Duration(0)
	if q.Get("follow") == "true" {
		wait = -1
	}
	body, err := e.stream(ctx, call{method: http.MethodGet, path: "/containers/" + name + "/logs", query: q, wait: wait})
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	out := &limited{}
	if value.Truth(m.Map("Config").At("Tty")) {
		_, err = io.Copy(out, body)
	} else {
		err = frames(body, out, out)
	}
	if err != nil {
		return "", e.fault(ctx, err)
	}
	return out.String(), nil
}

// Wait waits for the end of a container and returns its status.
func (e *Engine) Wait(ctx context.Context, name string) (value.Value, error) {
	v, err := e.do(ctx, call{method: http.MethodPost, path: "/containers/" + name + "/wait", wait: -1})
	if err != nil {
		return nil, err
	}
	m, _ := v.(*value.Map)
	return m.At("StatusCode"), nil
}

// Connect connects a container to a network. config may have aliases, links,
// ipv4_address, ipv6_address, link_local_ips, driver_opt and mac_address.
func (e *Engine) Connect(ctx context.Context, container, network string, config value.Mapping) error {
	return e.post(ctx, "/networks/"+network+"/connect", nil, value.MapOf("Container", container, "EndpointConfig", Endpoint(config)))
}

// Endpoint returns the configuration of a connection as the engine takes it.
func Endpoint(config value.Mapping) *value.Map {
	out, ipam := value.NewMap(4), value.NewMap(2)
	if config == nil {
		return out
	}
	for _, k := range config.Keys() {
		v, _ := config.Get(k)
		switch value.Str(k) {
		case "aliases":
			out.Set("Aliases", value.Strings(stringList(v)...))
		case "links":
			if m, err := keyVals(repack(v), ":"); err == nil {
				out.Set("Links", pairs(m, ":"))
			} else {
				out.Set("Links", value.Strings(stringList(v)...))
			}
		case "ipv4_address":
			ipam.Set("IPv4Address", value.Str(v))
		case "ipv6_address":
			ipam.Set("IPv6Address", value.Str(v))
		case "link_local_ips":
			ipam.Set("LinkLocalIPs", value.Strings(stringList(v)...))
		case "driver_opt", "driver_opts":
			out.Set("DriverOpts", v)
		case "mac_address":
			out.Set("MacAddress", value.Str(v))
		}
	}
	if ipam.Len() > 0 {
		out.Set("IPAMConfig", ipam)
	}
	return out
}

// Disconnect disconnects a container from a network.
func (e *Engine) Disconnect(ctx context.Context, container, network string) error {
	return e.post(ctx, "/networks/"+network+"/disconnect", nil, value.MapOf("Container", container))
}
