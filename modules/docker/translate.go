package docker

import (
	"math/big"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// A form is what a value of an argument has to look like.
type form int

const (
	text form = iota
	number
	flag
	texts     // a list of strings, or one split at commas
	dict      // a mapping
	bytesize  // bytes, or text with a unit
	command   // a command line, or a list of words
	keyValues // a mapping, or a list of key=value
	rates     // path:rate
	counts    // path:rate with a number
	special   // see special.go
)

// A param is an argument of a container, and where the engine has it: a key of
// Config, or with host of HostConfig.
type param struct {
	name  string
	alias string
	key   string
	form  form
	host  bool
	sep   string // between key and value
}

// params are the arguments of containers that are translated, by name.
var params = [...]param{
	{"auto_remove", "rm", "AutoRemove", flag, true, ""},
	{"binds", "", "Binds", special, true, ""},
	{"blkio_weight", "", "BlkioWeight", number, true, ""},
	{"blkio_weight_device", "", "BlkioWeightDevice", special, true, ""},
	{"cap_add", "", "CapAdd", texts, true, ""},
	{"cap_drop", "", "CapDrop", texts, true, ""},
	{"cgroup_parent", "", "CgroupParent", text, true, ""},
	{"command", "cmd", "Cmd", command, false, ""},
	{"cpu_period", "", "CpuPeriod", number, true, ""},
	{"cpu_quota", "", "CpuQuota", number, true, ""},
	{"cpu_shares", "", "CpuShares", number, true, ""},
	{"cpuset_cpus", "cpuset", "CpusetCpus", text, true, ""},
	{"cpuset_mems", "", "CpusetMems", text, true, ""},
	{"detach", "", "", flag, false, ""},
	{"device_read_bps", "", "BlkioDeviceReadBps", rates, true, ""},
	{"device_read_iops", "", "BlkioDeviceReadIOps", counts, true, ""},
	{"device_write_bps", "", "BlkioDeviceWriteBps", rates, true, ""},
	{"device_write_iops", "", "BlkioDeviceWriteIOps", counts, true, ""},
	{"devices", "", "Devices", special, true, ""},
	{"dns", "", "Dns", special, true, ""},
	{"dns_opt", "dns_option", "DnsOptions", texts, true, ""},
	{"dns_search", "", "DnsSearch", texts, true, ""},
	{"domainname", "", "Domainname", text, false, ""},
	{"entrypoint", "", "Entrypoint", command, false, ""},
	{"environment", "env", "Env", special, false, "="},
	{"extra_hosts", "", "ExtraHosts", special, true, ":"},
	{"group_add", "", "GroupAdd", texts, true, ""},
	{"hostname", "", "Hostname", text, false, ""},
	{"init", "", "Init", flag, true, ""},
	{"ipc_mode", "ipc", "IpcMode", text, true, ""},
	{"isolation", "", "Isolation", text, true, ""},
	{"labels", "label", "Labels", special, false, ""},
	{"links", "", "Links", special, true, ":"},
	{"mac_address", "", "MacAddress", text, false, ""},
	{"mem_limit", "memory", "Memory", bytesize, true, ""},
	{"mem_swappiness", "", "MemorySwappiness", number, true, ""},
	{"memswap_limit", "memory_swap", "MemorySwap", bytesize, true, ""},
	{"network_disabled", "", "NetworkDisabled", flag, false, ""},
	{"network_mode", "", "NetworkMode", text, true, ""},
	{"oom_kill_disable", "", "OomKillDisable", flag, true, ""},
	{"oom_score_adj", "", "OomScoreAdj", number, true, ""},
	{"pid_mode", "", "PidMode", text, true, ""},
	{"pids_limit", "", "PidsLimit", number, true, ""},
	{"port_bindings", "publish", "PortBindings", special, true, ""},
	{"ports", "expose", "ExposedPorts", special, false, ""},
	{"privileged", "", "Privileged", flag, true, ""},
	{"publish_all_ports", "publish_all", "PublishAllPorts", flag, true, ""},
	{"read_only", "", "ReadonlyRootfs", flag, true, ""},
	{"restart_policy", "restart", "RestartPolicy", special, true, ""},
	{"runtime", "", "Runtime", text, true, ""},
	{"security_opt", "security_opts", "SecurityOpt", texts, true, ""},
	{"shm_size", "", "ShmSize", bytesize, true, ""},
	{"stdin_open", "interactive", "OpenStdin", flag, false, ""},
	{"stop_signal", "", "StopSignal", text, false, ""},
	{"stop_timeout", "", "StopTimeout", number, false, ""},
	{"storage_opt", "", "StorageOpt", keyValues, true, "="},
	{"sysctls", "sysctl", "Sysctls", keyValues, true, "="},
	{"tmpfs", "", "Tmpfs", dict, true, ""},
	{"tty", "", "Tty", flag, false, ""},
	{"ulimits", "ulimit", "Ulimits", special, true, ""},
	{"user", "", "User", special, false, ""},
	{"userns_mode", "user_ns_mode", "UsernsMode", text, true, ""},
	{"volume_driver", "", "VolumeDriver", text, true, ""},
	{"volumes", "volume", "Volumes", special, false, ""},
	{"volumes_from", "", "VolumesFrom", texts, true, ""},
	{"working_dir", "workdir", "WorkingDir", special, false, ""},
}

// A ContainerSpec is what a container is to be, as the engine takes it.
type ContainerSpec struct {
	Config     *value.Map // with HostConfig
	AutoRemove bool
}

// Arguments are the arguments of a call that describe a container or a network.
type Arguments struct {
	Values     *value.Map
	SkipAll    bool
	Skip       []string
	Collisions bool // aliases may be given beside the names: the name counts
	ValidateIP bool
}

// invalid collects what is wrong with arguments.
type invalid struct{ msgs []string }

func (x *invalid) add(name string, err error) { x.msgs = append(x.msgs, "'"+name+"': "+err.Error()) }

func (x *invalid) err() error {
	if len(x.msgs) == 0 {
		return nil
	}
	return fun.Errorf("Failed to translate input. Error(s) follow:\n\n%s", strings.Join(x.msgs, "\n\n"))
}

// take returns the value of an argument under its name or its alias.
func (a *Arguments) take(x *invalid, name, alias string) (value.Value, bool) {
	v, ok := a.Values.Get(name)
	if alias == "" {
		return v, ok && v != nil
	}
	w, too := a.Values.Get(alias)
	switch {
	case ok && v != nil && too && w != nil && !a.Collisions:
		x.msgs = append(x.msgs, "'"+alias+"' is an alias for '"+name+"', they cannot both be used")
		return nil, false
	case ok && v != nil:
		return v, true
	}
	return w, too && w != nil
}

// repack makes a mapping of a list of mappings with one key each, as SLS files
// write mappings.
func repack(v value.Value) value.Value {
	l, ok := v.(*value.List)
	if !ok || len(l.Items) == 0 {
		return v
	}
	out := value.NewMap(len(l.Items))
	for _, item := range l.Items {
		m, ok := item.(value.Mapping)
		if !ok || m.Len() != 1 {
			return v
		}
		k := m.Keys()[0]
		x, _ := m.Get(k)
		out.Set(k, x)
	}
	return out
}

// Container translates arguments to what the engine takes.
// Salt: salt/utils/dockermod/translate/container.py.
func (a *Arguments) Container(image string) (*ContainerSpec, error) {
	x := &invalid{}
	config, hostConfig := value.MapOf("Image", image, "AttachStdout", true, "AttachStderr", true), value.MapOf("NetworkMode", "default")
	for _, p := range params {
		v, ok := a.take(x, p.name, p.alias)
		if !ok {
			continue
		}
		into := config
		if p.host {
			into = hostConfig
		}
		skip := a.SkipAll || slices.Contains(a.Skip, p.name) || slices.Contains(a.Skip, p.alias)
		if err := a.set(into, p, repack(v), skip); err != nil {
			x.add(p.name, err)
		}
	}
	a.logging(x, hostConfig)
	if m, ok := a.Values.Get("host_config"); ok && m != nil {
		more, is := repack(m).(value.Mapping)
		if !is {
			x.add("host_config", fun.Errorf("'%s' is not a dictionary", value.Str(m)))
		} else {
			hostConfig.Update(more)
		}
	}
	a.finish(x, config, hostConfig)
	config.Set("HostConfig", hostConfig)
	return &ContainerSpec{config, hostConfig.At("AutoRemove") == true}, x.err()
}

// logging sets LogConfig by log_driver and log_opt, or log_config.
func (a *Arguments) logging(x *invalid, hostConfig *value.Map) {
	if v, ok := a.Values.Get("log_config"); ok && v != nil {
		hostConfig.Set("LogConfig", v)
		return
	}
	driver, hasDriver := a.take(x, "log_driver", "")
	opt, hasOpt := a.take(x, "log_opt", "")
	if !hasDriver && !hasOpt {
		return
	}
	name, config := "none", value.Value(value.NewMap(0))
	if hasDriver {
		name = value.Str(driver)
	}
	if hasOpt {
		m, err := keyVals(repack(opt), "=")
		if err != nil {
			x.add("log_opt", err)
			return
		}
		config = texted(m)
	}
	hostConfig.Set("LogConfig", value.MapOf("Type", name, "Config", config))
}

// finish sets what follows from several arguments.
func (a *Arguments) finish(x *invalid, config, hostConfig *value.Map) {
	if hostConfig.At("PublishAllPorts") == true && hostConfig.Has("PortBindings") {
		x.add("port_bindings", fun.Errorf("Cannot be used when publish_all_ports=True"))
	}
	if config.Has("Hostname") && hostConfig.At("NetworkMode") == "host" {
		x.add("hostname", fun.Errorf("Cannot be used when network_mode=True"))
	}
	if binds := hostConfig.List("Binds"); binds != nil {
		vols := config.Map("Volumes")
		if vols == nil {
			vols = value.NewMap(len(binds.Items))
		}
		for _, b := range binds.Items {
			if parts := strings.Split(value.Str(b), ":"); len(parts) > 1 {
				vols.Set(strings.TrimSpace(parts[1]), value.NewMap(0))
			}
		}
		if vols.Len() > 0 {
			config.Set("Volumes", vols)
		}
	}
	if bindings := hostConfig.Map("PortBindings"); bindings.Len() > 0 {
		ports := config.Map("ExposedPorts")
		if ports == nil {
			ports = value.NewMap(bindings.Len())
		}
		for p := range bindings.All() {
			ports.Set(p, value.NewMap(0))
		}
		config.Set("ExposedPorts", ports)
	}
	if config.At("OpenStdin") == true {
		config.Set("AttachStdin", true)
		config.Set("StdinOnce", true)
	}
	if v, _ := a.take(x, "detach", ""); value.Truth(v) {
		for _, k := range []string{"AttachStdin", "AttachStdout", "AttachStderr"} {
			config.Set(k, false)
		}
		config.Delete("StdinOnce")
	}
}

// set puts one argument into the configuration.
func (a *Arguments) set(into *value.Map, p param, v value.Value, skip bool) error {
	if p.key == "" {
		return nil
	}
	if skip && p.form != command {
		into.Set(p.key, v)
		return nil
	}
	out, err := a.convert(p, v)
	if err == nil {
		into.Set(p.key, out)
	}
	return err
}

func (a *Arguments) convert(p param, v value.Value) (value.Value, error) {
	switch p.form {
	case number:
		n, err := value.ToInt(v)
		if err != nil {
			return nil, fun.Errorf("'%s' is not an integer", value.Str(v))
		}
		return n, nil
	case flag:
		return value.Truth(v), nil
	case texts:
		return value.Strings(stringList(v)...), nil
	case dict:
		if _, ok := v.(value.Mapping); !ok {
			return nil, fun.Errorf("'%s' is not a dictionary", value.Str(v))
		}
		return v, nil
	case bytesize:
		return byteSize(v)
	case command:
		return commandWords(v)
	case keyValues:
		m, err := keyVals(v, p.sep)
		return texted(m), err
	case rates, counts:
		return deviceRates(v, p.form == counts)
	case special:
		return a.special(p, v)
	default:
		return value.Str(v), nil
	}
}

func stringList(v value.Value) []string {
	var out []string
	if l, ok := v.(*value.List); ok {
		for _, item := range l.Items {
			out = append(out, value.Str(item))
		}
		return out
	}
	return splitTrim(value.Str(v), ",", -1)
}

func splitTrim(s, sep string, n int) []string {
	parts := strings.SplitN(s, sep, n)
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func commandWords(v value.Value) (value.Value, error) {
	if l, ok := v.(*value.List); ok {
		out := value.NewList()
		for _, item := range l.Items {
			out.Append(value.Str(item))
		}
		return out, nil
	}
	words, err := proc.Split(value.Str(v))
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	return value.Strings(words...), nil
}

// byteSize returns bytes of text such as 512m; the unit has a power of 1024.
func byteSize(v value.Value) (value.Value, error) {
	if n, err := value.ToInt(v); err == nil {
		return n, nil
	}
	s := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(value.Str(v))), "b")
	power := 0
	if s != "" {
		if i := strings.IndexByte("kmgtp", s[len(s)-1]); i >= 0 {
			power, s = i+1, s[:len(s)-1]
		}
	}
	f, ok := new(big.Float).SetString(s)
	if !ok {
		return nil, fun.Errorf("'%s' is not a size: use bytes, or a number with k, m, g, t or p", value.Str(v))
	}
	n, _ := new(big.Float).SetMantExp(f, 10*power).Int64()
	return n, nil
}

// keyVals returns a mapping of a mapping or of a list of key=value.
func keyVals(v value.Value, sep string) (value.Mapping, error) {
	if m, ok := v.(value.Mapping); ok {
		return m, nil
	}
	out := value.NewMap(4)
	for _, item := range stringList(v) {
		parts := splitTrim(item, sep, 2)
		if len(parts) < 2 {
			return out, fun.Errorf("'%s' is not a key%svalue pair", item, sep)
		}
		out.Set(parts[0], parts[1])
	}
	return out, nil
}

// texted returns a mapping with text for keys and values.
func texted(m value.Mapping) *value.Map {
	out := value.NewMap(m.Len())
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		out.Set(value.Str(k), value.Str(v))
	}
	return out
}

// fields splits items of a:b into mappings with names. What is missing is fill;
// without one it is an error.
func fields(v value.Value, fill string, names ...string) ([]*value.Map, error) {
	var out []*value.Map
	items := []value.Value{v}
	if l, ok := v.(*value.List); ok {
		items = l.Items
	} else if s, ok := v.(string); ok {
		items = value.Strings(splitTrim(s, ",", -1)...).Items
	}
	for _, item := range items {
		if m, ok := item.(value.Mapping); ok {
			out = append(out, value.ToMap(m).Copy())
			continue
		}
		parts := splitTrim(value.Str(item), ":", -1)
		n := len(parts)
		switch {
		case n < len(names) && fill != "":
			parts = append(parts, fill)
		case n > len(names) && fill != "":
			return nil, fun.Errorf("'%s' contains %d value(s) (expected up to %d)", value.Str(item), n, len(names))
		case n != len(names):
			return nil, fun.Errorf("'%s' contains %d value(s) (expected %d)", value.Str(item), n, len(names))
		}
		m := value.NewMap(len(names))
		for i, name := range names {
			m.Set(name, parts[i])
		}
		out = append(out, m)
	}
	return out, nil
}

func listOf(ms []*value.Map) *value.List {
	l := value.NewList()
	for _, m := range ms {
		l.Append(m)
	}
	return l
}

func deviceRates(v value.Value, numeric bool) (value.Value, error) {
	all, err := fields(v, "", "Path", "Rate")
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if !path.IsAbs(m.Str("Path")) {
			return nil, fun.Errorf("Path '%s' is not absolute", m.Str("Path"))
		}
		n, err := value.ToInt(m.At("Rate"))
		switch {
		case err == nil:
		case numeric:
			return nil, fun.Errorf("Rate '%s' for path '%s' is non-numeric", m.Str("Rate"), m.Str("Path"))
		default:
			if n, err = byteSize(m.At("Rate")); err != nil {
				return nil, err
			}
		}
		m.Set("Rate", n)
	}
	return listOf(all), nil
}

func validIP(s string) error {
	if _, err := netip.ParseAddr(s); err != nil {
		return fun.Errorf("'%s' is not a valid IP address", s)
	}
	return nil
}

func validSubnet(s string) error {
	p, err := netip.ParsePrefix(s)
	if err != nil || p.Masked() != p {
		return fun.Errorf("'%s' is not a valid subnet", s)
	}
	return nil
}

// portRange reads "80" or "8000-8010".
func portRange(s string) (from, to int, err error) {
	a, b, ranged := strings.Cut(s, "-")
	from, err1 := strconv.Atoi(strings.TrimSpace(a))
	to, err2 := from, error(nil)
	if ranged {
		to, err2 = strconv.Atoi(strings.TrimSpace(b))
	}
	switch {
	case err1 != nil || err2 != nil || from < 0 || to > 65535:
		return 0, 0, fun.Errorf("'%s' is non-numeric or an invalid port range", s)
	case from > to:
		return 0, 0, fun.Errorf("Start of port range (%d) cannot be greater than end of port range (%d)", from, to)
	}
	return from, to, nil
}
