package grains

import (
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
)

// TestLazy reads single grains and looks at what was touched for them.
func TestLazy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		grain    string
		files    []string // that may be touched
		commands int
	}{
		{"id", nil, 0},
		{"saltversion", nil, 0},
		{"kernel", nil, 0},
		{"os", []string{"/etc/lsb-release", "/etc/os-release"}, 0},
		{"mem_total", []string{"/proc/meminfo"}, 0},
		{"host", []string{"/etc/hosts"}, 0},
		{"nothing", nil, 0},
	} {
		t.Run(tt.grain, func(t *testing.T) {
			t.Parallel()
			h := host.NewFake()
			h.PutFile("/etc/os-release", "ID=debian\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=12\n", 0o644)
			h.PutFile("/etc/hosts", "127.0.1.1 fake.example.com fake\n", 0o644)
			h.Fault = func(op, path string) error {
				if path != "/etc/salt/grains" && !slices.Contains(tt.files, path) {
					t.Errorf("%s %s", op, path)
				}
				return nil
			}
			g := Collect(Options{Host: h, ID: "m"})
			g.Get(tt.grain)
			g.Get(tt.grain)
			if n := len(h.Calls()); n != tt.commands {
				t.Errorf("%d commands were run: %v", n, h.Calls())
			}
		})
	}
}

func TestOverride(t *testing.T) {
	t.Parallel()
	newHost := func() *host.Fake {
		h := host.NewFake()
		h.PutFile("/srv/conf/grains", "os: File\nrole: web\nd: {a: 1, b: {x: 1}}\nsecret_a: 1\n7: seven\n", 0o644)
		return h
	}
	for _, tt := range []struct{ name, opts, grain, want string }{
		{"core", "{}", "kernel", "Linux"},
		{"file over core", "{}", "os", "File"},
		{"configuration over file", "{grains: {os: Conf}}", "os", "Conf"},
		{"dicts are replaced", "{grains: {d: {b: {y: 2}}}}", "d", "{b: {y: 2}}"},
		{"dicts are merged", "{grains_deep_merge: True, grains: {d: {b: {y: 2}}}}", "d", "{a: 1, b: {x: 1, y: 2}}"},
		{"merged over core", "{grains_deep_merge: True, grains: {locale_info: {timezone: CET}}}", "locale_info", "{defaultlanguage: en_US, defaultencoding: UTF-8, detectedencoding: utf-8, timezone: CET}"},
		{"a value over core", "{grains_deep_merge: True, grains: {os: Conf}}", "os", "Conf"},
		{"blacklist", "{grains_blacklist: ['secret_*', kernel]}", "secret_a", "null"},
		{"blacklist of core", "{grains_blacklist: ['secret_*', 'kern.*']}", "kernel", "null"},
		{"blacklist and configuration", "{grains_blacklist: [os], grains: {os: Conf}}", "os", "Conf"},
		{"options as grains", "{grain_opts: True, answer: 42}", "answer", "42"},
		{"append_domain", "{append_domain: example.com}", "append_domain", "example.com"},
		{"master", "{master: salt.example.com}", "master", "salt.example.com"},
	} {
		opts := calltest.YAML(t, tt.opts).(*value.Map)
		opts.Set("conf_file", "/srv/conf/minion")
		g := Collect(Options{Host: newHost(), ID: "m", Opts: opts})
		got, ok := g.Get(tt.grain)
		want := calltest.YAML(t, tt.want)
		if !value.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%s: %s = %s, %v, want %s", tt.name, tt.grain, value.Repr(got), ok, tt.want)
		}
		listed := slices.ContainsFunc(g.Keys(), func(k value.Value) bool { return value.Equal(k, tt.grain) })
		if listed != ok {
			t.Errorf("%s: Keys has %s: %v, Get: %v", tt.name, tt.grain, listed, ok)
		}
	}
	g := Collect(Options{Host: newHost(), Opts: value.MapOf("conf_file", "/srv/conf")}) // a directory
	if v, _ := g.Get(int64(7)); v != "seven" {
		t.Errorf("grain 7 = %v", v)
	}
}

func TestSetAndDelete(t *testing.T) {
	t.Parallel()
	g := Collect(Options{Host: host.NewFake(), ID: "m"})
	n := g.Len()
	g.Set("new", int64(1))
	g.Set("os", "Mine")
	g.Delete("kernel")
	if v, _ := g.Get("os"); v != "Mine" {
		t.Errorf("os = %v", v)
	}
	if _, ok := g.Get("kernel"); ok {
		t.Error("kernel is there")
	}
	if g.Len() != n {
		t.Errorf("Len = %d, want %d", g.Len(), n)
	}
	g.Set("kernel", "K")
	if v, _ := g.Get("kernel"); v != "K" {
		t.Errorf("kernel = %v", v)
	}
}

func TestBadFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		bad  bool
	}{{"a: [1\n", true}, {"- a\n", false}, {"", false}} {
		h := host.NewFake()
		h.PutFile("/etc/salt/grains", tt.text, 0o644)
		var fault error
		g := Collect(Options{Host: h, Warn: func(err error) { fault = err }})
		if v, _ := g.Get("kernel"); v != "Linux" {
			t.Errorf("%q: kernel = %v", tt.text, v)
		}
		var e *source.Error
		if (fault != nil) != tt.bad || tt.bad && (!errors.As(fault, &e) || e.Pos.File != "/etc/salt/grains") {
			t.Errorf("%q: fault %v", tt.text, fault)
		}
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	g := Collect(Options{Host: host.NewFake(), ID: "m"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, k := range g.Keys() {
				g.Get(k)
			}
			g.Set("x", int64(1))
		})
	}
	wg.Wait()
}

// TestTable checks that each name is given by one group, and that groups give
// no other names.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	c := newCollector(Options{Host: host.NewFake(), Opts: value.MapOf("iscsi_grains", true, "nvme_grains", true, "fibre_channel_grains", true)})
	c.begin()
	for i, g := range groups() {
		for _, n := range g.names {
			if seen[n] {
				t.Errorf("two groups give %s", n)
			}
			seen[n] = true
		}
		for _, k := range c.load(i).Keys() {
			if !slices.Contains(g.names, k.(string)) {
				t.Errorf("the group of %s gives %v", g.names[0], k)
			}
		}
	}
}

func TestSystem(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: fpu vme\n\nprocessor\t: 1\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: fpu vme\n", 0o444)
	h.PutFile("/proc/meminfo", "MemTotal:        2048512 kB\nSwapTotal:       1048572 kB\n", 0o444)
	h.PutFile("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=1-2 ro quiet opt=\"a b\" x=y=z\n", 0o444)
	h.PutFile("/sys/class/dmi/id/bios_version", "1.2\n", 0o444)
	h.PutFile("/sys/class/dmi/id/product_uuid", "4C4C4544-0042\n", 0o444)
	h.PutFile("/etc/machine-id", "abc\n", 0o444)
	h.PutFile("/sys/firmware/efi/efivars/SecureBoot-8be4", "\x06\x00\x00\x00\x01", 0o444)
	h.PutFile("/proc/mdstat", "Personalities : [raid1]\nmd1 : active raid1 sda1[0]\nmd0 : active raid1 sda2[0]\nunused devices: <none>\n", 0o444)
	for name, rot := range map[string]string{"sda": "1\n", "nvme0n1": "0\n"} {
		h.PutFile("/sys/devices/pci/"+name+"/queue/rotational", rot, 0o444)
		h.PutLink("/sys/block/"+name, "../devices/pci/"+name)
	}
	h.PutDir("/sys/devices/virtual/block/loop0", 0o755)
	h.PutLink("/sys/block/loop0", "../devices/virtual/block/loop0")
	for _, p := range []string{"lspci", "systemctl", "localectl", "selinuxenabled", "getenforce", "python3"} {
		h.PutExe("/usr/bin/" + p)
	}
	h.OnCommand("/usr/bin/lspci -vmm", host.Output{Stdout: []byte("Slot:\t00:02.0\nClass:\tVGA compatible controller\nVendor:\tNVIDIA Corporation\nDevice:\tGT 710\n\nSlot:\t00:03.0\nClass:\tEthernet controller\nVendor:\tX\nDevice:\tY\n")})
	h.OnCommand("systemctl --version", host.Output{Stdout: []byte("systemd 252 (252.36-1~deb12u1)\n+PAM +AUDIT\n")})
	h.OnCommand("selinuxenabled", host.Output{})
	h.OnCommand("getenforce", host.Output{Stdout: []byte("Enforcing\n")})
	h.PutFile("/run/systemd/system/x", "", 0o644)
	h.PutFile("/etc/iscsi/initiatorname.iscsi", "## comment\nInitiatorName=iqn.1993-08.org.debian:01:abc\n", 0o644)
	g := Collect(Options{Host: h, ID: "minion1", Exe: "/opt/brine/bin/brine", Opts: value.MapOf("iscsi_grains", true)})
	for _, tt := range []struct{ grain, want string }{
		{"num_cpus", "2"},
		{"cpu_model", "Intel(R) Xeon(R)"},
		{"cpu_flags", "[fpu, vme]"},
		{"num_gpus", "1"},
		{"gpus", "[{vendor: nvidia, model: GT 710}]"},
		{"mem_total", "2000"},
		{"swap_total", "1023"},
		{"biosversion", "'1.2'"},
		{"uuid", "4c4c4544-0042"},
		{"machine_id", "abc"},
		{"efi", "True"},
		{"efi-secure-boot", "True"},
		{"mdadm", "[md0, md1]"},
		{"disks", "[sda]"},
		{"ssds", "[nvme0n1]"},
		{"systemd", "{version: '252', features: +PAM +AUDIT}"},
		{"selinux", "{enabled: True, enforced: Enforcing}"},
		{"init", "systemd"},
		{"virtual", "physical"},
		{"ps", "ps -efHww"},
		{"transactional", "False"},
		{"iscsi_iqn", "['iqn.1993-08.org.debian:01:abc']"},
		{"saltpath", "/opt/brine/bin"},
		{"server_id", "156412900"},
		{"saltversioninfo", "[3006, 0]"},
		{"pythonexecutable", "/usr/bin/python3"},
		{"username", "root"},
		{"gid", "0"},
		{"pid", "4242"},
		{"shell", "/bin/sh"},
		{"cwd", "/root"},
	} {
		if got, _ := g.Get(tt.grain); !value.Equal(got, calltest.YAML(t, tt.want)) {
			t.Errorf("%s = %s, want %s", tt.grain, value.Repr(got), tt.want)
		}
	}
	got, _ := g.Get("kernelparams")
	if want := "[('BOOT_IMAGE', '/vmlinuz'), ('root', None), ('ro', None), ('quiet', None), ('opt', 'a b'), ('x', None)]"; value.Repr(got) != want {
		t.Errorf("kernelparams = %s, want %s", value.Repr(got), want)
	}
}

func TestVirtual(t *testing.T) {
	t.Parallel()
	type files map[string]string
	for _, tt := range []struct {
		name          string
		command       string
		output        string
		files         files
		kind, subtype string
	}{
		{"metal", "systemd-detect-virt", "", nil, "physical", ""},
		{"kvm", "systemd-detect-virt", "kvm", nil, "kvm", ""},
		{"vmware", "systemd-detect-virt", "vmware", nil, "VMware", ""},
		{"hyper-v", "systemd-detect-virt", "microsoft", nil, "VirtualPC", ""},
		{"amazon", "systemd-detect-virt", "amazon", nil, "Nitro", "Amazon EC2"},
		{"lxc by program", "systemd-detect-virt", "lxc", nil, "container", "LXC"},
		{"virt-what", "virt-what", "hyperv\nfoo", nil, "HyperV", ""},
		{"power", "virt-what", "ibm_power-lpar_shared", nil, "LPAR", "shared"},
		{"dmidecode", "dmidecode", "Vendor: SeaBIOS", nil, "kvm", ""},
		{"bhyve", "dmidecode", "Vendor: BHYVE", nil, "bhyve", ""},
		{"docker", "", "", files{"/proc/1/cgroup": "1:name=systemd:/docker/abc\n"}, "container", "Docker"},
		{"docker in kvm", "systemd-detect-virt", "kvm", files{"/proc/1/cgroup": "1:cpu:/system.slice/docker-1.scope\n"}, "container", "Docker"},
		{"kubernetes", "", "", files{"/proc/1/cgroup": "1:cpu:/kubepods/x\n"}, "virtual", "kubernetes"},
		{"lxc", "", "", files{"/proc/1/environ": "A=b\x00container=lxc\x00"}, "container", "LXC"},
		{"virtualbox", "", "", files{"/sys/devices/virtual/dmi/id/product_name": "VirtualBox\n"}, "VirtualBox", ""},
		{"google", "systemd-detect-virt", "kvm", files{"/sys/devices/virtual/dmi/id/product_name": "Google Compute Engine\n"}, "gce", ""},
		{"openvz", "", "", files{"/proc/vz/veinfo": "", "/proc/self/status": "Name: x\nenvID:\t101\n"}, "openvzve", ""},
		{"openvz host", "", "", files{"/proc/vz/version": "", "/proc/self/status": "envID:\t0\n"}, "openvzhn", ""},
		{"xen", "", "", files{"/proc/xen/capabilities": "\n"}, "xen", "Xen PV DomU"},
		{"xen dom0", "", "", files{"/proc/xen/xsd_kva": ""}, "xen", "Xen Dom0"},
		{"qemu", "", "", files{"/proc/cpuinfo": "model name: QEMU Virtual CPU version 2\n"}, "kvm", ""},
	} {
		h := host.NewFake()
		if tt.command != "" {
			p := "/usr/bin/" + tt.command
			h.PutExe(p)
			status := 0
			if tt.output == "" {
				status = 1
			}
			h.OnCommand(p, host.Output{Stdout: []byte(tt.output + "\n"), Status: status})
		}
		for p, text := range tt.files {
			h.PutFile(p, text, 0o444)
		}
		g := Collect(Options{Host: h})
		kind, _ := g.Get("virtual")
		sub, ok := g.Get("virtual_subtype")
		if kind != tt.kind || ok && sub != tt.subtype || ok != (tt.subtype != "") {
			t.Errorf("%s: virtual %v, subtype %v, want %q, %q", tt.name, kind, sub, tt.kind, tt.subtype)
		}
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/etc/hosts", "127.0.0.1 localhost\n# 1.2.3.4 fake.wrong fake\n127.0.1.1 fake.example.com fake # mine\n", 0o644)
	h.PutFile("/proc/net/route", "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\neth1\t00000000\t0202A8C0\t0003\t0\t0\t200\t00000000\t0\t0\t0\neth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\neth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", 0o444)
	h.PutFile("/proc/net/ipv6_route", "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000002 00000000 00000003     eth0\n00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo\n", 0o444)
	h.PutFile("/etc/resolv.conf", "# comment\ndomain example.com\nsearch a.example b.example # more\nnameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver ::1\nnameserver bad\nsortlist 130.155.160.0/255.255.240.0 130.155.0.0\noptions ndots:2 timeout:1\n", 0o644)
	h.Addrs["fake.example.com"] = []net.IP{net.ParseIP("127.0.1.1"), net.ParseIP("fe80::5")}
	_, n, err := net.ParseCIDR("192.168.2.0/24")
	if err != nil {
		t.Fatal(err)
	}
	n.IP = net.ParseIP("192.168.2.7")
	h.Ifaces = append(h.Ifaces, host.Interface{Name: "eth0", MAC: "aa:bb:cc:dd:ee:ff", Up: true, Addrs: []*net.IPNet{n}})
	h.Names["192.168.2.7"] = []string{"seven.example.com"}
	g := Collect(Options{Host: h})
	for _, tt := range []struct{ grain, want string }{
		{"localhost", "fake"},
		{"fqdn", "fake.example.com"},
		{"host", "fake"},
		{"domain", "example.com"},
		{"fqdn_ip4", "[127.0.1.1]"},
		{"fqdn_ip6", "['fe80::5']"},
		{"fqdns", "[seven.example.com]"},
		{"ipv4", "[127.0.0.1, 192.168.2.7]"},
		{"ipv6", "['::1']"},
		{"ip_interfaces", "{lo: [127.0.0.1, '::1'], eth0: [192.168.2.7]}"},
		{"ip4_interfaces", "{lo: [127.0.0.1], eth0: [192.168.2.7]}"},
		{"ip6_interfaces", "{lo: ['::1'], eth0: []}"},
		{"hwaddr_interfaces", "{lo: '00:00:00:00:00:00', eth0: 'aa:bb:cc:dd:ee:ff'}"},
		{"ip4_gw", "192.168.2.1"},
		{"ip6_gw", "'fe80::1'"},
		{"ip_gw", "True"},
		{"dns", "{nameservers: [10.0.0.1, '::1'], ip4_nameservers: [10.0.0.1], ip6_nameservers: ['::1'], sortlist: [130.155.160.0/255.255.240.0, 130.155.0.0/255.255.0.0], domain: example.com, search: [a.example, b.example], options: ['ndots:2']}"},
	} {
		if got, _ := g.Get(tt.grain); !value.Equal(got, calltest.YAML(t, tt.want)) {
			t.Errorf("%s = %s, want %s", tt.grain, value.Repr(got), tt.want)
		}
	}
	h = host.NewFake()
	h.FullName = map[string]string{"fake": "fake.dns.example"}
	g = Collect(Options{Host: h, Opts: value.MapOf("enable_fqdns_grains", false)})
	for _, tt := range []struct{ grain, want string }{{"fqdn", "fake.dns.example"}, {"fqdns", "[]"}, {"ip4_gw", "null"}} {
		if got, _ := g.Get(tt.grain); !value.Equal(got, calltest.YAML(t, tt.want)) {
			t.Errorf("%s = %s, want %s", tt.grain, value.Repr(got), tt.want)
		}
	}
}

// TestLocale has the answers of Python's locale module.
func TestLocale(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"C.UTF-8": "en_US UTF-8", "C.utf8": "en_US UTF-8", "C": "None None", "POSIX": "None None", "en_US.UTF-8": "en_US UTF-8", "de_DE": "de_DE ISO8859-1",
		"de_DE@euro": "de_DE ISO8859-15", "fr_FR.iso88591": "fr_FR ISO8859-1", "en_US.ISO-8859-15": "en_US ISO8859-15", "ru_RU.KOI8-R": "ru_RU KOI8-R",
		"ja_JP.eucJP": "ja_JP eucJP", "ca_ES.UTF-8@valencia": "ca_ES UTF-8", "zh_CN.gbk": "zh_CN gbk",
	} {
		lang, enc := parseLocale(name)
		if got := value.Str(lang) + " " + value.Str(enc); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestCleanHardware(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key, in string
		want    value.Value
	}{
		{"uuid", "4c4c4544-0042-3510-8052-b4c04f4e3232", "4c4c4544-0042-3510-8052-b4c04f4e3232"},
		{"uuid", "none", nil},
		{"uuid", "12345", nil},
		{"serialnumber", "0123456789", nil},
		{"serialnumber", "0000", nil},
		{"serialnumber", "Not Specified", nil},
		{"serialnumber", "VMware-56", "VMware-56"},
		{"manufacturer", "To Be Filled By O.E.M.", nil},
		{"manufacturer", "Dell Inc.", "Dell Inc."},
		{"productname", "To be filled by O.E.M.", nil},
		{"productname", "PowerEdge", "PowerEdge"},
		{"productname", "", nil},
	} {
		if got := cleanHardware(tt.key, tt.in); got != tt.want {
			t.Errorf("cleanHardware(%s, %q) = %v, want %v", tt.key, tt.in, got, tt.want)
		}
	}
}

func TestOtherSystems(t *testing.T) {
	t.Parallel()
	mac := host.NewFake()
	mac.Kernel.Sysname = "Darwin"
	for cmd, out := range map[string]string{
		"sw_vers -productVersion": "14.2.1", "sw_vers -productName": "macOS", "sw_vers -buildVersion": "23C71", "sysctl -n hw.ncpu": "8",
		"sysctl -n hw.memsize": "17179869184", "sysctl -n vm.swapusage": "total = 2048.00M  used = 0.00M  free = 2048.00M",
		"sysctl -n machdep.cpu.brand_string": "Apple M1", "sysctl -b hw.model": "Mac14,2",
	} {
		mac.OnCommand(cmd, host.Output{Stdout: []byte(out + "\n")})
	}
	bsd := host.NewFake()
	bsd.Kernel.Sysname, bsd.Kernel.Release = "FreeBSD", "14.0-RELEASE"
	bsd.PutFile("/var/run/dmesg.boot", "x\nCPU: Intel\n  Origin\n  Features=0x1<FPU,VME>\n  Features2=0x2<SSE3>\nreal memory\n", 0o444)
	for cmd, out := range map[string]string{
		"freebsd-version -u": "14.0-RELEASE-p4", "sysctl -n hw.ncpu": "4", "sysctl -n hw.physmem": "2147483648", "sysctl -n vm.swap_total": "1073741824",
		"geom disk list": "Geom name: ada0\nProviders:\n1. Name: ada0\n   Mediasize: 100 (1G)\n   descr: Disk\n   rotationrate: 0\n\nGeom name: cd0\n",
	} {
		bsd.OnCommand(cmd, host.Output{Stdout: []byte(out + "\n")})
	}
	for _, tt := range []struct {
		h           host.Host
		grain, want string
	}{
		{mac, "os", "MacOS"},
		{mac, "osfullname", "macOS 14.2.1"},
		{mac, "osrelease", "14.2.1"},
		{mac, "osbuild", "23C71"},
		{mac, "osmajorrelease", "14"},
		{mac, "osfinger", "macOS 14.2.1-14"},
		{mac, "init", "launchd"},
		{mac, "num_cpus", "8"},
		{mac, "cpu_model", "Apple M1"},
		{mac, "mem_total", "16384"},
		{mac, "swap_total", "2048"},
		{mac, "productname", "Mac14,2"},
		{mac, "ps", "ps auxwww"},
		{bsd, "os", "FreeBSD"},
		{bsd, "osrelease", "'14.0'"},
		{bsd, "osfinger", "FreeBSD-14"},
		{bsd, "cpu_flags", "[FPU, VME, SSE3]"},
		{bsd, "mem_total", "2048"},
		{bsd, "swap_total", "1024"},
		{bsd, "ssds", "[ada0]"},
	} {
		if got, _ := Collect(Options{Host: tt.h}).Get(tt.grain); !value.Equal(got, calltest.YAML(t, tt.want)) {
			t.Errorf("%s = %s, want %s", tt.grain, value.Repr(got), tt.want)
		}
	}
}

func FuzzParsers(f *testing.F) {
	f.Add("NAME=\"a\\\"b\"\nID='x'\nnameserver 1.2.3.4\nsortlist 1.2.3.4/300\n")
	f.Add("eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n")
	f.Add("cpe:/o:suse:sles:15:sp4")
	f.Add("CentOS release 6.10 (Final)")
	f.Fuzz(func(t *testing.T, s string) {
		parseOSRelease(s)
		parseResolv(s)
		gateway4(s)
		gateway6(s)
		parseCPE(s)
		parseReleaseLine(s)
		parseLspci(s)
		dmesgFlags(s)
		parseLocale(s)
		suseRelease(value.NewMap(0), s)
		for _, k := range []string{"uuid", "serialnumber", "manufacturer", "productname"} {
			cleanHardware(k, s)
		}
	})
}

// TestReference checks that docs/grains.md names each grain.
func TestReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/grains.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups() {
		for _, n := range g.names {
			if !strings.Contains(string(text), "`"+n+"`") {
				t.Errorf("%s is not there", n)
			}
		}
	}
}

// TestNoLSB checks that os-release alone gives no lsb grains where Salt 3006 has
// none, and that lsb-release gives them.
func TestNoLSB(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/etc/os-release", "ID=debian\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=12\nVERSION_CODENAME=bookworm\n", 0o644)
	g := Collect(Options{Host: h, ID: "m"})
	if v, ok := g.Get("lsb_distrib_codename"); ok {
		t.Errorf("lsb_distrib_codename is %v", v)
	}
	for grain, want := range map[string]value.Value{"oscodename": "bookworm", "osrelease": "12", "osfinger": "Debian-12"} {
		if v, _ := g.Get(grain); v != want {
			t.Errorf("%s is %v", grain, v)
		}
	}
	h.PutFile("/etc/lsb-release", "DISTRIB_ID=Debian\nDISTRIB_CODENAME=bookworm\n", 0o644)
	g = Collect(Options{Host: h, ID: "m"})
	if v, _ := g.Get("lsb_distrib_codename"); v != "bookworm" {
		t.Errorf("lsb_distrib_codename is %v with an lsb-release", v)
	}
}
