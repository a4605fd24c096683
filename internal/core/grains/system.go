package grains

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// cpu gives number, model and flags of the processors.
func (c *collector) cpu() *value.Map {
	switch c.str("kernel") {
	case "Linux":
		return c.linuxCPU()
	case "Darwin", "FreeBSD":
		return c.bsdCPU()
	}
	return nil
}

func (c *collector) linuxCPU() *value.Map {
	num, model, flags := int64(0), "Unknown", value.NewList()
	text, _ := c.read("/proc/cpuinfo")
	for line := range strings.Lines(text) {
		key, val, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		val, _, _ = strings.Cut(val, ":")
		val = strings.TrimSpace(val)
		switch strings.TrimSpace(key) {
		case "processor":
			num++
		case "# processors": // s390x
			num, _ = number(val)
		case "vendor_id", "model name", "cpu":
			model = val
		case "flags", "Features":
			flags = value.Strings(strings.Fields(val)...)
		case "Processor": // old ARM kernels
			model, _, _ = strings.Cut(val, "-")
			num = 1
		}
	}
	return value.MapOf("num_cpus", num, "cpu_model", model, "cpu_flags", flags)
}

// gpu gives the display controllers that lspci lists.
func (c *collector) gpu() *value.Map {
	m := value.MapOf("num_gpus", int64(0), "gpus", value.NewList())
	switch c.str("kernel") {
	case "Linux":
		if c.enabled("enable_lspci", true) && c.enabled("enable_gpu_grains", true) {
			if lspci := c.which("lspci"); lspci != "" {
				setGPUs(m, parseLspci(c.output(lspci, "-vmm")))
			}
		}
	case "Darwin":
		gpus := value.NewList()
		for line := range strings.Lines(c.output("system_profiler", "SPDisplaysDataType")) {
			if k, v, ok := strings.Cut(strings.TrimRight(line, "\n"), ": "); ok && strings.TrimSpace(k) == "Chipset Model" {
				vendor, model, _ := strings.Cut(v, " ")
				gpus.Append(value.MapOf("vendor", strings.ToLower(vendor), "model", model))
			}
		}
		setGPUs(m, gpus)
	}
	return m
}

func setGPUs(m *value.Map, gpus *value.List) {
	m.Set("num_gpus", int64(gpus.Len()))
	m.Set("gpus", gpus)
}

// parseLspci reads the records of lspci -vmm.
func parseLspci(text string) *value.List {
	gpus := value.NewList()
	for rec := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		dev := map[string]string{}
		for line := range strings.Lines(rec) {
			if k, v, ok := strings.Cut(line, ":"); ok {
				dev[k] = strings.TrimSpace(v)
			}
		}
		switch strings.ToLower(dev["Class"]) {
		case "vga compatible controller", "3d controller", "display controller":
		default:
			continue
		}
		words := strings.FieldsFunc(strings.ToLower(dev["Vendor"]), func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
		vendor := "unknown"
	known:
		for _, k := range []string{"nvidia", "amd", "ati", "intel", "cirrus logic", "vmware", "matrox", "aspeed"} {
			for _, w := range words {
				if w == k {
					vendor = k
					break known
				}
			}
		}
		gpus.Append(value.MapOf("vendor", vendor, "model", dev["Device"]))
	}
	return gpus
}

// memory gives the sizes of memory and swap in MiB.
func (c *collector) memory() *value.Map {
	switch c.str("kernel") {
	case "Linux":
		m := value.MapOf("mem_total", int64(0), "swap_total", int64(0))
		text, _ := c.read("/proc/meminfo")
		for line := range strings.Lines(text) {
			key, val, _ := strings.Cut(line, ":")
			name := map[string]string{"MemTotal": "mem_total", "SwapTotal": "swap_total"}[strings.TrimSpace(key)]
			if f := strings.Fields(val); name != "" && len(f) > 0 {
				kb, _ := strconv.ParseInt(f[0], 10, 64)
				m.Set(name, kb/1024)
			}
		}
		return m
	case "Darwin", "FreeBSD":
		return c.bsdMemory()
	}
	return value.MapOf("mem_total", int64(0))
}

// hardware gives what the firmware says of the machine.
func (c *collector) hardware() *value.Map {
	m := value.NewMap(8)
	kernel := c.str("kernel")
	const dmi = "/sys/class/dmi/id"
	switch {
	case kernel == "Linux" && c.exists(dmi):
		for _, f := range [][2]string{
			{"biosversion", "bios_version"},
			{"biosvendor", "bios_vendor"},
			{"boardname", "board_name"},
			{"productname", "product_name"},
			{"manufacturer", "sys_vendor"},
			{"biosreleasedate", "bios_date"},
			{"uuid", "product_uuid"},
			{"serialnumber", "product_serial"},
		} {
			if text, ok := c.read(dmi + "/" + f[1]); ok { // some only root may read
				text = strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
				if f[0] == "uuid" {
					text = strings.ToLower(text)
				}
				m.Set(f[0], text)
			}
		}
	case c.which("dmidecode") != "":
		c.dmidecode(m)
	case c.which("fw_printenv") != "":
		for _, f := range [][2]string{{"manufacturer", "manufacturer"}, {"serialnumber", "serial#"}, {"productname", "DeviceDesc"}} {
			if text, status := c.run("fw_printenv", f[1]); status == 0 {
				_, v, _ := strings.Cut(text, "=")
				m.Set(f[0], cleanHardware(f[0], v))
			}
		}
	case kernel == "FreeBSD":
		c.kenv(m)
	case kernel == "Darwin":
		m.Set("manufacturer", "Apple Inc.")
		if v := strings.TrimRight(c.output("sysctl", "-b", "hw.model"), "\x00"); v != "" {
			m.Set("productname", cleanHardware("productname", v))
		}
	}
	if kernel == "Linux" && c.isDir("/proc/device-tree") {
		c.deviceTree(m)
	}
	return m
}

func (c *collector) dmidecode(m *value.Map) {
	get := func(key string) value.Value {
		for line := range strings.Lines(c.output("dmidecode", "-s", key)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				return cleanHardware(key, line)
			}
		}
		return nil
	}
	for _, f := range [][2]string{
		{"biosversion", "bios-version"},
		{"biosvendor", "bios-vendor"},
		{"productname", "system-product-name"},
		{"manufacturer", "system-manufacturer"},
		{"biosreleasedate", "bios-release-date"},
		{"uuid", "system-uuid"},
	} {
		if v := get(f[1]); v != nil {
			if f[0] == "uuid" {
				v = strings.ToLower(value.Str(v))
			}
			m.Set(f[0], v)
		}
	}
	for _, key := range []string{"system-serial-number", "chassis-serial-number", "baseboard-serial-number"} {
		if v := get(key); v != nil {
			m.Set("serialnumber", v)
			return
		}
	}
}

// cleanHardware returns None for what firmware has where nobody filled it in.
//
// Salt: salt/grains/core.py _clean_value.
func cleanHardware(key, val string) value.Value {
	match := func(re string) bool { return regexp.MustCompile("(?i)" + re).MatchString(val) }
	switch {
	case val == "" || match("^none"):
		return nil
	case strings.Contains(key, "uuid"):
		if !regexp.MustCompile(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`).MatchString(val) {
			return nil
		}
	case regexp.MustCompile("serial|part|version").MatchString(key):
		if match(`^0+$`) || match(`^0?1234567[8]?[9]?[0]?`) || match(`sernum|part[_-]?number|specified|filled|applicable`) {
			return nil
		}
	case regexp.MustCompile("asset|manufacturer").MatchString(key):
		if match(`manufacturer|to be filled|available|asset|^no(ne|t)`) {
			return nil
		}
	default:
		if match(`to be filled`) || match(`un(known|specified)|no(t|ne)? (asset|provided|defined|available|present|specified)`) {
			return nil
		}
	}
	return val
}

// deviceTree gives what machines without a BIOS say in its place.
func (c *collector) deviceTree(m *value.Map) {
	get := func(name string) string {
		text, _ := c.read("/proc/device-tree/" + name)
		return strings.TrimRight(text, "\x00")
	}
	if model := get("model"); model != "" {
		if maker, name, ok := strings.Cut(model, ","); ok {
			m.Set("manufacturer", maker)
			m.Set("productname", name)
		} else {
			m.Set("productname", model)
		}
	}
	for _, name := range []string{"system-id", "serial-number"} { // the second is the better one
		if s := get(name); s != "" {
			m.Set("serialnumber", s)
		}
	}
}

// ps gives the command that lists processes.
func (c *collector) ps() *value.Map {
	switch {
	case c.str("os") == "FreeBSD" || c.str("os") == "MacOS":
		return value.MapOf("ps", "ps auxwww")
	case c.str("os_family") == "NILinuxRT":
		return value.MapOf("ps", "ps -o user,pid,ppid,tty,time,comm")
	case c.isDir("/proc/vz") && c.str("virtual") == "openvzhn":
		return value.MapOf("ps", `ps -fH -p $(grep -l "^envID:[[:space:]]*0\$" /proc/[0-9]*/status | sed -e "s=/proc/\([0-9]*\)/.*=\1=")  | awk '{ $7=""; print }'`)
	}
	return value.MapOf("ps", "ps -efHww")
}

// init gives the name of the init system.
func (c *collector) init() *value.Map {
	switch c.str("kernel") {
	case "Darwin":
		return value.MapOf("init", "launchd")
	case "Linux":
		return value.MapOf("init", c.linuxInit())
	}
	return nil
}

func (c *collector) linuxInit() string {
	if c.exists("/run/systemd/system") {
		return "systemd"
	}
	text, ok := c.read("/proc/1/cmdline")
	argv := strings.Fields(strings.ReplaceAll(text, "\x00", " "))
	if !ok || len(argv) == 0 {
		return "unknown"
	}
	has := func(arg string) bool {
		if slices.Contains(argv, arg) {
			return arg != ""
		}
		return false
	}
	if bin := c.which(argv[0]); strings.HasSuffix(bin, "bin/init") {
		text, _ := c.read(bin)
		return firstOf(strings.ToLower(text), "upstart", "sysvinit", "systemd")
	}
	switch {
	case has(c.which("supervisord")):
		return "supervisord"
	case has(c.which("dumb-init")):
		return "dumb-init"
	case has(c.which("tini")):
		return "tini"
	case len(argv) == 1 && argv[0] == "runit", has("/sbin/my_init"):
		return "runit"
	}
	return "unknown"
}

// firstOf returns the first of names that text holds.
func firstOf(text string, names ...string) string {
	for _, n := range names {
		if strings.Contains(text, n) {
			return n
		}
	}
	return "unknown"
}

// systemd gives its version and features, where it is installed.
func (c *collector) systemd() *value.Map {
	if c.str("kernel") != "Linux" || c.which("systemctl") == "" || c.which("localectl") == "" {
		return nil
	}
	lines := strings.Split(c.output("systemctl", "--version"), "\n")
	if f := strings.Fields(lines[0]); len(lines) > 1 && len(f) > 1 {
		return value.MapOf("systemd", value.MapOf("version", f[1], "features", strings.TrimRight(lines[1], "\r")))
	}
	return nil
}

// selinux gives its state, where its tools are installed.
func (c *collector) selinux() *value.Map {
	if c.str("kernel") != "Linux" || c.which("selinuxenabled") == "" {
		return nil
	}
	_, status := c.run("selinuxenabled")
	m := value.MapOf("enabled", status == 0)
	if c.which("getenforce") != "" {
		m.Set("enforced", strings.TrimSpace(c.output("getenforce")))
	}
	return value.MapOf("selinux", m)
}

// kernelparams gives the words of the kernel's command line.
func (c *collector) kernelparams() *value.Map {
	text, ok := c.read("/proc/cmdline")
	if !ok {
		return nil
	}
	l := value.NewList()
	words, err := proc.Split(text)
	if err != nil {
		return nil // Salt gives none, either, where the line does not split
	}
	for _, word := range words {
		f := strings.Split(word, "=")
		var v value.Value
		if len(f) == 2 {
			v = strings.Trim(f[1], `"`)
		}
		l.Append(value.Tuple{f[0], v})
	}
	return value.MapOf("kernelparams", l)
}

// machineID gives the id that systemd or D-Bus gave the machine.
func (c *collector) machineID() *value.Map {
	for _, p := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if text, ok := c.read(p); ok {
			return value.MapOf("machine_id", strings.TrimSpace(text))
		}
	}
	return nil
}

// efi tells whether the machine was started by UEFI, and by secure boot.
func (c *collector) efi() *value.Map {
	if c.str("kernel") == "FreeBSD" {
		return value.MapOf("efi", c.exists("/dev/efi"), "efi-secure-boot", false)
	}
	for _, dir := range []string{"/sys/firmware/efi/efivars", "/sys/firmware/efi/vars"} {
		if c.exists(dir) {
			return value.MapOf("efi", true, "efi-secure-boot", c.secureBoot(dir))
		}
	}
	return value.MapOf("efi", false, "efi-secure-boot", false)
}

func (c *collector) secureBoot(dir string) bool {
	names, _ := c.h.ReadDir(dir)
	var found []string
	for _, n := range names {
		if strings.HasPrefix(n, "SecureBoot-") {
			found = append(found, dir+"/"+n)
		}
	}
	if len(found) != 1 {
		return false
	}
	p := found[0]
	if strings.HasSuffix(dir, "/vars") {
		p += "/data"
	}
	text, ok := c.read(p)
	return ok && strings.HasSuffix(text, "\x01")
}

// transactional tells whether updates make a new snapshot.
func (c *collector) transactional() *value.Map {
	return value.MapOf("transactional", c.which("transactional-update") != "")
}

// disks gives the block devices by kind.
func (c *collector) disks() *value.Map {
	switch c.str("kernel") {
	case "Linux":
		disks, ssds := value.NewList(), value.NewList()
		names, _ := c.h.ReadDir("/sys/block")
		for _, n := range names {
			if to, err := c.h.Readlink("/sys/block/" + n); err != nil || strings.HasPrefix(to, "../devices/virtual/") {
				continue
			}
			text, _ := c.read("/sys/block/" + n + "/queue/rotational")
			switch {
			case strings.HasPrefix(text, "0"):
				ssds.Append(n)
			case strings.HasPrefix(text, "1"):
				disks.Append(n)
			}
		}
		return value.MapOf("disks", disks, "ssds", ssds)
	case "FreeBSD":
		return c.geom()
	}
	return nil
}

// mdadm gives the names of the software RAID arrays.
func (c *collector) mdadm() *value.Map {
	text, ok := c.read("/proc/mdstat")
	if !ok {
		return nil
	}
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, " : "); ok && !strings.HasPrefix(line, "Personalities :") && !strings.HasPrefix(line, "unused devices:") {
			set[name] = true
		}
	}
	return value.MapOf("mdadm", sortedStrings(set))
}

// lvm gives the logical volumes by volume group.
func (c *collector) lvm() *value.Map {
	cmd := c.which("lvm")
	if c.str("kernel") != "Linux" || cmd == "" {
		return nil
	}
	m := value.NewMap(0)
	for vg := range strings.FieldsSeq(c.output(cmd, "vgs", "-o", "vg_name", "--noheadings")) {
		m.Set(vg, value.Strings(strings.Fields(c.output(cmd, "lvs", "-o", "lv_name", "--noheadings", vg))...))
	}
	return value.MapOf("lvm", m)
}

// iscsi gives the names of the iSCSI initiator, where iscsi_grains asks for
// them.
func (c *collector) iscsi() *value.Map {
	if !c.enabled("iscsi_grains", false) || c.str("kernel") != "Linux" {
		return nil
	}
	l := value.NewList()
	text, _ := c.read("/etc/iscsi/initiatorname.iscsi")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "InitiatorName="); ok {
			l.Append(v)
		}
	}
	return value.MapOf("iscsi_iqn", l)
}

// nvme gives the names of the NVMe host, where nvme_grains asks for them.
func (c *collector) nvme() *value.Map {
	if !c.enabled("nvme_grains", false) || c.str("kernel") != "Linux" {
		return nil
	}
	l := value.NewList()
	text, _ := c.read("/etc/nvme/hostnqn")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "nqn.") {
			l.Append(line)
		}
	}
	return value.MapOf("nvme_nqn", l)
}

// fibreChannel gives the port names, where fibre_channel_grains asks for them.
func (c *collector) fibreChannel() *value.Map {
	if !c.enabled("fibre_channel_grains", false) || c.str("kernel") != "Linux" {
		return nil
	}
	l := value.NewList()
	names, _ := c.h.ReadDir("/sys/class/fc_host")
	for _, n := range names {
		if text, ok := c.read("/sys/class/fc_host/" + n + "/port_name"); ok {
			l.Append(strings.TrimPrefix(strings.TrimSpace(text), "0x"))
		}
	}
	return value.MapOf("fc_wwn", l)
}
