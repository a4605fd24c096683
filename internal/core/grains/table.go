package grains

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A group is grains that are worked out together.
type group struct {
	names []string // all that load may give
	load  func(*collector) *value.Map
}

// salted are the groups of which Salt has another module than core, by their first
// grain.
var salted = map[string]string{
	"disks": "disks", "mdadm": "mdadm", "lvm": "lvm", "iscsi_iqn": "iscsi", "nvme_nqn": "nvme", "fc_wwn": "fibre_channel",
	"shell": "extra", "cwd": "minion_process", "uid": "minion_process", "gid": "minion_process", "pid": "minion_process",
}

// SaltModules returns the grains modules of Salt whose grains there are.
func SaltModules() []string {
	names := append(slices.Collect(maps.Values(salted)), "core", "opts")
	slices.Sort(names)
	return slices.Compact(names)
}

// groups is the table of core grains. A group may read grains of others, never
// in a circle.
func groups() []group {
	return []group{
		{[]string{"kernel", "nodename", "kernelrelease", "kernelversion", "cpuarch"}, (*collector).uname},
		{[]string{"os", "os_family", "osfullname", "osrelease", "oscodename", "osbuild", "lsb_distrib_id", "lsb_distrib_release", "lsb_distrib_codename", "lsb_distrib_description"}, (*collector).distribution},
		{[]string{"osrelease_info", "osmajorrelease", "osfinger"}, (*collector).release},
		{[]string{"osarch"}, (*collector).osarch},
		{[]string{"num_cpus", "cpu_model", "cpu_flags"}, (*collector).cpu},
		{[]string{"num_gpus", "gpus"}, (*collector).gpu},
		{[]string{"mem_total", "swap_total"}, (*collector).memory},
		{[]string{"biosversion", "biosvendor", "boardname", "productname", "manufacturer", "biosreleasedate", "uuid", "serialnumber"}, (*collector).hardware},
		{[]string{"model_name", "boot_rom_version", "smc_version", "system_serialnumber"}, (*collector).appleHardware},
		{[]string{"virtual", "virtual_subtype"}, (*collector).virtual},
		{[]string{"ps"}, (*collector).ps},
		{[]string{"init"}, (*collector).init},
		{[]string{"systemd"}, (*collector).systemd},
		{[]string{"selinux"}, (*collector).selinux},
		{[]string{"kernelparams"}, (*collector).kernelparams},
		{[]string{"machine_id"}, (*collector).machineID},
		{[]string{"efi", "efi-secure-boot"}, (*collector).efi},
		{[]string{"transactional"}, (*collector).transactional},
		{[]string{"disks", "ssds"}, (*collector).disks},
		{[]string{"mdadm"}, (*collector).mdadm},
		{[]string{"lvm"}, (*collector).lvm},
		{[]string{"iscsi_iqn"}, (*collector).iscsi},
		{[]string{"nvme_nqn"}, (*collector).nvme},
		{[]string{"fc_wwn"}, (*collector).fibreChannel},

		{[]string{"localhost"}, (*collector).localhost},
		{[]string{"fqdn", "host", "domain"}, (*collector).fqdn},
		{[]string{"fqdn_ip4", "fqdn_ip6"}, (*collector).fqdnIPs},
		{[]string{"fqdns"}, (*collector).fqdns},
		{[]string{"ipv4", "ipv6", "ip_interfaces", "ip4_interfaces", "ip6_interfaces", "hwaddr_interfaces"}, (*collector).addresses},
		{[]string{"ip_gw", "ip4_gw", "ip6_gw"}, (*collector).gateways},
		{[]string{"dns"}, (*collector).dns},
		{[]string{"append_domain"}, (*collector).appendDomain},

		{[]string{"id"}, (*collector).id},
		{[]string{"server_id"}, (*collector).serverID},
		{[]string{"master"}, (*collector).master},
		{[]string{"saltversion", "saltversioninfo"}, (*collector).saltVersion},
		{[]string{"saltpath"}, (*collector).saltPath},
		{[]string{"pythonversion", "pythonexecutable"}, (*collector).python},
		{[]string{"path", "systempath"}, (*collector).path},
		{[]string{"shell"}, (*collector).shell},
		{[]string{"cwd"}, (*collector).cwd},
		{[]string{"locale_info"}, (*collector).locale},
		{[]string{"uid", "username"}, (*collector).user},
		{[]string{"gid", "groupname"}, (*collector).group},
		{[]string{"pid"}, (*collector).pid},
	}
}

// A collector works out core grains.
type collector struct {
	loaded func(names []string, took time.Duration) // may be nil
	h      host.Host
	id_    string
	opts   *value.Map
	exe    string
	skip   func(module string) bool // may be nil

	start  sync.Once
	groups []group
	done   []struct {
		once sync.Once
		m    *value.Map
	}
	index map[string]int // group by grain
}

func newCollector(o Options) *collector {
	return &collector{h: o.Host, id_: o.ID, opts: o.Opts, exe: o.Exe, loaded: o.Loaded, skip: o.Skip}
}

func (c *collector) begin() {
	c.start.Do(func() {
		c.groups = groups()
		if c.skip != nil {
			c.groups = slices.DeleteFunc(c.groups, func(g group) bool {
				mod := salted[g.names[0]]
				return mod != "" && c.skip(mod)
			})
		}
		c.done = make([]struct {
			once sync.Once
			m    *value.Map
		}, len(c.groups))
		c.index = make(map[string]int, 128)
		for i, g := range c.groups {
			for _, n := range g.names {
				c.index[n] = i
			}
		}
	})
}

// load returns the grains of group i.
func (c *collector) load(i int) *value.Map {
	d := &c.done[i]
	d.once.Do(func() {
		began := time.Now()
		d.m = c.groups[i].load(c)
		if c.loaded != nil {
			c.loaded(c.groups[i].names, time.Since(began))
		}
	})
	return d.m
}

// lookup returns a core grain.
func (c *collector) lookup(name string) (value.Value, bool) {
	c.begin()
	if i, ok := c.index[name]; ok {
		return c.load(i).Get(name)
	}
	if m := c.optsGrains(); m != nil {
		return m.Get(name)
	}
	return nil, false
}

// str returns a core grain that is text, else "".
func (c *collector) str(name string) string {
	v, _ := c.lookup(name)
	s, _ := v.(string)
	return s
}

// all works out all core grains, some at a time, and returns their names.
func (c *collector) all() []string {
	c.begin()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range c.groups {
		slots <- struct{}{}
		wg.Go(func() {
			c.load(i)
			<-slots
		})
	}
	wg.Wait()
	var names []string
	for i, g := range c.groups {
		for _, n := range g.names {
			if c.done[i].m.Has(n) {
				names = append(names, n)
			}
		}
	}
	for _, k := range c.optsGrains().Keys() {
		if s, ok := k.(string); ok {
			names = append(names, s)
		}
	}
	return names
}

// optsGrains are all options, where grain_opts makes grains of them.
func (c *collector) optsGrains() *value.Map {
	if value.Truth(c.opts.At("grain_opts")) {
		return c.opts
	}
	return nil
}

// enabled returns a switch of the options.
func (c *collector) enabled(option string, def bool) bool {
	if v, ok := c.opts.Get(option); ok && v != nil {
		return value.Truth(v)
	}
	return def
}

// What the groups read the machine with. Nothing here fails: a grain that
// cannot be worked out is absent, or has the value that Salt gives it then.

// commandTimeout bounds each command, lookupTimeout each question to a name
// server.
const (
	commandTimeout = 15 * time.Second
	lookupTimeout  = 5 * time.Second
)

// maxFile bounds what is read of a file.
const maxFile = 8 << 20

// read returns the content of a file, false where it cannot be read.
func (c *collector) read(path string) (string, bool) {
	s, err := c.readErr(path)
	return s, err == nil
}

func (c *collector) readErr(path string) (string, error) {
	f, err := c.h.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	return string(b), err
}

func (c *collector) exists(path string) bool {
	_, err := c.h.Stat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
}

func (c *collector) isDir(path string) bool {
	st, err := c.h.Stat(path)
	return err == nil && st.Mode.IsDir()
}

func (c *collector) isFile(path string) bool {
	st, err := c.h.Stat(path)
	return err == nil && st.Mode.IsRegular()
}

// which returns the path of a program, "" where there is none.
func (c *collector) which(name string) string {
	p, err := c.h.LookPath(name, "")
	if err != nil {
		return ""
	}
	return p
}

// run runs a program in the C locale and returns what it printed, without
// blank lines at the end, and its exit status; -1 where it did not run.
func (c *collector) run(argv ...string) (string, int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*commandTimeout)
	defer cancel()
	env := append(c.h.Environ(), "LC_ALL=C", "LANGUAGE=C")
	out, err := c.h.Run(ctx, host.Cmd{Argv: argv, Env: env, Timeout: commandTimeout, MaxOutput: maxFile, ReadOnly: true})
	if err != nil || out.TimedOut {
		return "", -1
	}
	return strings.TrimRight(string(out.Stdout), "\r\n"), out.Status
}

// output is run's text, "" where the program failed.
func (c *collector) output(argv ...string) string {
	s, status := c.run(argv...)
	if status != 0 {
		return ""
	}
	return s
}

func (c *collector) getenv(name string) (string, bool) {
	v, ok := "", false
	for _, kv := range c.h.Environ() {
		if k, x, _ := strings.Cut(kv, "="); k == name {
			v, ok = x, true
		}
	}
	return v, ok
}

// lookupContext bounds a question to a name server.
func lookupContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), lookupTimeout)
}
