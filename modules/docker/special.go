package docker

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// special converts the arguments that have a form of their own.
func (a *Arguments) special(p param, v value.Value) (value.Value, error) {
	switch p.name {
	case "binds":
		return bindList(v)
	case "blkio_weight_device":
		return weights(v)
	case "devices":
		return deviceList(v), nil
	case "dns":
		return a.addresses(v)
	case "environment":
		return environment(v)
	case "extra_hosts":
		return a.extraHosts(v)
	case "labels":
		return labels(v)
	case "links":
		m, err := keyVals(v, ":")
		return pairs(m, ":"), err
	case "port_bindings":
		return a.portBindings(v)
	case "ports":
		return exposed(v)
	case "restart_policy":
		return restartPolicy(v)
	case "ulimits":
		return ulimits(v)
	case "user":
		return user(v)
	case "volumes":
		return volumes(v)
	default: // working_dir
		if s, ok := v.(string); !ok || !path.IsAbs(s) {
			return nil, fun.Errorf("'%s' is not an absolute path", value.Str(v))
		}
		return v, nil
	}
}

// bindList returns binds as host:container:mode. A mapping has the mode and the
// path in the container by the path of the host.
func bindList(v value.Value) (value.Value, error) {
	m, ok := v.(value.Mapping)
	if !ok {
		return value.Strings(stringList(v)...), nil
	}
	out := value.NewList()
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		if d, ok := repack(x).(value.Mapping); ok {
			to, _ := d.Get("bind")
			mode, has := d.Get("mode")
			if ro, ok := d.Get("ro"); ok && !has {
				mode = "rw"
				if value.Truth(ro) {
					mode = "ro"
				}
				has = true
			}
			if !has {
				mode = "rw"
			}
			out.Append(value.Str(k) + ":" + value.Str(to) + ":" + value.Str(mode))
			continue
		}
		if x == nil {
			return nil, fun.Errorf("'%s' is not a dictionary or list of bind definitions", value.Str(v))
		}
		out.Append(value.Str(k) + ":" + value.Str(x) + ":rw")
	}
	return out, nil
}

func weights(v value.Value) (value.Value, error) {
	all, err := fields(v, "", "Path", "Weight")
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		n, err := value.ToInt(m.At("Weight"))
		if err != nil {
			return nil, fun.Errorf("Weight '%s' for path '%s' is not an integer", m.Str("Weight"), m.Str("Path"))
		}
		m.Set("Weight", n)
	}
	return listOf(all), nil
}

// deviceList returns devices of host:container:permissions.
func deviceList(v value.Value) value.Value {
	out := value.NewList()
	for _, s := range stringList(v) {
		parts := strings.SplitN(s, ":", 3)
		to, perms := parts[0], "rwm"
		if len(parts) > 1 {
			to = parts[1]
		}
		if len(parts) > 2 {
			perms = parts[2]
		}
		out.Append(value.MapOf("PathOnHost", parts[0], "PathInContainer", to, "CgroupPermissions", perms))
	}
	return out
}

func (a *Arguments) addresses(v value.Value) (value.Value, error) {
	all := stringList(v)
	if a.ValidateIP {
		for _, s := range all {
			if err := validIP(s); err != nil {
				return nil, err
			}
		}
	}
	return value.Strings(all...), nil
}

// pairs returns "key sep value" for each of a mapping, sorted.
func pairs(m value.Mapping, sep string) *value.List {
	var out []string
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		if v == nil {
			out = append(out, value.Str(k))
			continue
		}
		out = append(out, value.Str(k)+sep+value.Str(v))
	}
	slices.Sort(out)
	return value.Strings(out...)
}

func environment(v value.Value) (value.Value, error) {
	m, err := keyVals(v, "=")
	if err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		if x == nil {
			out.Append(value.Str(k))
			continue
		}
		out.Append(value.Str(k) + "=" + value.Str(x))
	}
	return out, nil
}

func (a *Arguments) extraHosts(v value.Value) (value.Value, error) {
	m, err := keyVals(v, ":")
	if err != nil {
		return nil, err
	}
	if a.ValidateIP {
		for _, k := range m.Keys() {
			x, _ := m.Get(k)
			if err := validIP(value.Str(x)); err != nil {
				return nil, err
			}
		}
	}
	return pairs(m, ":"), nil
}

func labels(v value.Value) (value.Value, error) {
	if m, ok := v.(value.Mapping); ok {
		return texted(m), nil
	}
	items := []value.Value{}
	if l, ok := v.(*value.List); ok {
		items = l.Items
	} else {
		for _, s := range stringList(v) {
			items = append(items, s)
		}
	}
	out := value.NewMap(len(items))
	for _, item := range items {
		if m, ok := item.(value.Mapping); ok {
			if m.Len() != 1 {
				return nil, fun.Errorf("Invalid label(s)")
			}
			out.Update(texted(m))
			continue
		}
		parts := append(splitTrim(value.Str(item), "=", 2), "")
		out.Set(parts[0], parts[1])
	}
	return out, nil
}

// A binding is a port of a container, and where it is published.
type binding struct{ port, ip, host string }

// bindings reads one item of port_bindings: port, host:port or ip:host:port, each
// of them a port or a range, with /udp for UDP.
func (a *Arguments) bindings(item string) ([]binding, error) {
	// An IPv6 address is in brackets.
	ip := ""
	parts := splitTrim(item, ":", -1)
	if strings.HasPrefix(item, "[") {
		if end := strings.Index(item, "]:"); end > 0 {
			ip = item[1:end]
			parts = append([]string{ip}, splitTrim(item[end+2:], ":", -1)...)
		}
	}
	hosts := ""
	switch len(parts) {
	case 1:
		if parts[0] == "" {
			return nil, fun.Errorf("Empty port binding definition found")
		}
	case 2:
		if hosts = parts[0]; hosts == "" {
			return nil, fun.Errorf("Empty host port in port binding definition '%s'", item)
		}
		if parts[1] == "" {
			return nil, fun.Errorf("Empty container port in port binding definition '%s'", item)
		}
	case 3:
		ip, hosts = parts[0], parts[1]
		if a.ValidateIP {
			if err := validIP(ip); err != nil {
				return nil, err
			}
		}
	default:
		return nil, fun.Errorf("'%s' is an invalid port binding definition (at most 3 components are allowed, found %d)", item, len(parts))
	}
	ports, proto, _ := strings.Cut(parts[len(parts)-1], "/")
	from, to, err := portRange(ports)
	if err != nil {
		return nil, err
	}
	first := -1
	if hosts != "" {
		hfrom, hto, err := portRange(hosts)
		if err != nil {
			return nil, err
		}
		if hto-hfrom != to-from {
			return nil, fun.Errorf("Host port range (%s) does not have the same number of ports as the container port range (%s)", hosts, ports)
		}
		first = hfrom
	}
	var out []binding
	for n := from; n <= to; n++ {
		b := binding{portDef(n, proto), ip, ""}
		if first >= 0 {
			b.host = strconv.Itoa(first + n - from)
		}
		out = append(out, b)
	}
	return out, nil
}

func portDef(n int, proto string) string {
	proto = strings.ToLower(proto)
	if proto != "udp" && proto != "sctp" {
		proto = "tcp"
	}
	return strconv.Itoa(n) + "/" + proto
}

func (a *Arguments) portBindings(v value.Value) (value.Value, error) {
	if m, ok := v.(value.Mapping); ok {
		return boundPorts(m), nil
	}
	out := value.NewMap(4)
	for _, item := range stringList(v) {
		all, err := a.bindings(item)
		if err != nil {
			return nil, err
		}
		for _, b := range all {
			l := out.List(b.port)
			if l == nil {
				l = value.NewList()
				out.Set(b.port, l)
			}
			l.Append(value.MapOf("HostIp", b.ip, "HostPort", b.host))
		}
	}
	return out, nil
}

// boundPorts returns port bindings that are a mapping of container ports to host
// ports, lists of them or ip and port.
func boundPorts(m value.Mapping) *value.Map {
	out := value.NewMap(m.Len())
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		port, proto, _ := strings.Cut(value.Str(k), "/")
		n, err := strconv.Atoi(port)
		def := value.Str(k)
		if err == nil {
			def = portDef(n, proto)
		}
		items := []value.Value{v}
		if l, ok := v.(*value.List); ok {
			items = l.Items
		}
		l := value.NewList()
		for _, item := range items {
			switch x := item.(type) {
			case nil:
				l.Append(value.MapOf("HostIp", "", "HostPort", ""))
			case value.Mapping:
				l.Append(texted(x))
			case value.Tuple:
				b := value.MapOf("HostIp", "", "HostPort", "")
				if len(x) > 0 {
					b.Set("HostIp", value.Str(x[0]))
				}
				if len(x) > 1 {
					b.Set("HostPort", value.Str(x[1]))
				}
				l.Append(b)
			default:
				l.Append(value.MapOf("HostIp", "", "HostPort", value.Str(x)))
			}
		}
		out.Set(def, l)
	}
	return out
}

func exposed(v value.Value) (value.Value, error) {
	out := value.NewMap(4)
	for _, item := range stringList(v) {
		ports, proto, _ := strings.Cut(item, "/")
		from, to, err := portRange(ports)
		if err != nil {
			return nil, err
		}
		for n := from; n <= to; n++ {
			out.Set(portDef(n, proto), value.NewMap(0))
		}
	}
	return out, nil
}

func restartPolicy(v value.Value) (value.Value, error) {
	all, err := fields(v, "0", "Name", "MaximumRetryCount")
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fun.Errorf("Only one policy is permitted")
	}
	m := all[0]
	if !m.Has("MaximumRetryCount") {
		m.Set("MaximumRetryCount", int64(0))
	}
	n, err := value.ToInt(m.At("MaximumRetryCount"))
	if err != nil {
		return nil, fun.Errorf("Retry count '%s' is non-numeric", m.Str("MaximumRetryCount"))
	}
	m.Set("MaximumRetryCount", n)
	return m, nil
}

func ulimits(v value.Value) (value.Value, error) {
	items := []value.Value{}
	if l, ok := v.(*value.List); ok {
		items = l.Items
	} else if m, ok := v.(value.Mapping); ok {
		for _, k := range m.Keys() {
			x, _ := m.Get(k)
			items = append(items, value.Str(k)+"="+value.Str(x))
		}
	} else {
		for _, s := range stringList(v) {
			items = append(items, s)
		}
	}
	out := value.NewList()
	for _, item := range items {
		if m, ok := item.(value.Mapping); ok {
			out.Append(m)
			continue
		}
		s := value.Str(item)
		parts := splitTrim(s, "=", 2)
		if len(parts) < 2 {
			return nil, fun.Errorf("Ulimit definition '%s' is not in the format type=soft_limit[:hard_limit]", s)
		}
		limits := splitTrim(parts[1], ":", 2)
		soft, err1 := strconv.ParseInt(limits[0], 10, 64)
		hard, err2 := strconv.ParseInt(limits[len(limits)-1], 10, 64)
		if err1 != nil || err2 != nil {
			return nil, fun.Errorf("Limit '%s' contains non-numeric value(s)", s)
		}
		out.Append(value.MapOf("Name", parts[0], "Soft", soft, "Hard", hard))
	}
	return out, nil
}

func user(v value.Value) (value.Value, error) {
	if n, err := value.ToInt(v); err == nil {
		if i, ok := value.AsInt(n); ok && i < 0 {
			return nil, fun.Errorf("'%d' is an invalid uid", i)
		}
		return value.Str(n), nil
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	return nil, fun.Errorf("Value must be a username or uid")
}

func volumes(v value.Value) (value.Value, error) {
	all := stringList(v)
	slices.Sort(all)
	out := value.NewMap(len(all))
	for _, s := range all {
		if !path.IsAbs(s) {
			return nil, fun.Errorf("'%s' is not an absolute path", s)
		}
		out.Set(s, value.NewMap(0))
	}
	return out, nil
}
