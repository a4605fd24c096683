package grains

import (
	"regexp"
	"strings"

	"brine/internal/py/value"
)

// A verdict is what is known of the virtualization.
type verdict struct{ kind, subtype string }

// virtual gives the kind of machine: physical, a virtual machine's kind, or
// container. Programs are asked first, then files that containers and
// hypervisors leave, in Salt's order.
func (c *collector) virtual() *value.Map {
	v := &verdict{kind: "physical"}
	kernel := c.str("kernel")
	if u, err := c.h.Uname(); err == nil && kernel == "Linux" && strings.Contains(u.Version, "BrandZ virtual linux") {
		return value.MapOf("virtual", "zone")
	}
	if kernel == "Darwin" {
		v.darwin(strings.ToLower(c.output("system_profiler", "SPDisplaysDataType")))
	} else {
		c.askVirtual(v)
	}
	switch kernel {
	case "Linux":
		c.linuxVirtual(v)
	case "FreeBSD":
		c.freebsdVirtual(v)
	}
	if v.subtype != "" && v.kind == "physical" {
		v.kind = "virtual"
	}
	switch v.kind {
	case "qemu", "kvm", "xen", "amazon":
		c.amazon(v)
	}
	m := value.MapOf("virtual", v.kind)
	if v.subtype != "" {
		m.Set("virtual_subtype", v.subtype)
	}
	return m
}

func (v *verdict) darwin(text string) {
	for _, f := range [][2]string{
		{"0x1ab8", "Parallels"}, {"parallels", "Parallels"}, {"vmware", "VMware"}, {"0x15ad", "VMware"}, {"virtualbox", "VirtualBox"},
	} {
		if strings.Contains(text, f[0]) {
			v.kind = f[1]
		}
	}
}

// askVirtual asks the first program that has an answer.
func (c *collector) askVirtual(v *verdict) {
	cmds := []string{"systemd-detect-virt", "virt-what", "dmidecode"}
	if c.which("virt-what") != "" {
		cmds = []string{"virt-what"}
	}
	if c.enabled("enable_lspci", true) && c.exists("/proc/bus/pci") {
		cmds = append(cmds, "lspci")
	}
	for _, name := range cmds {
		cmd := c.which(name)
		if cmd == "" {
			continue
		}
		out, status := c.run(cmd)
		if status != 0 {
			continue
		}
		switch name {
		case "systemd-detect-virt":
			if v.detectVirt(out) {
				return
			}
			continue // it knows kinds that Salt has no name for
		case "virt-what":
			v.virtWhat(out)
		case "dmidecode":
			v.dmidecode(out)
		case "lspci":
			v.lspci(strings.ToLower(out))
		}
		return
	}
}

func (v *verdict) detectVirt(out string) bool {
	switch out {
	case "qemu", "kvm", "oracle", "xen", "bochs", "chroot", "uml", "systemd-nspawn":
		v.kind = out
		return true
	}
	switch {
	case strings.Contains(out, "vmware"):
		v.kind = "VMware"
	case strings.Contains(out, "microsoft"):
		v.kind = "VirtualPC"
	case strings.Contains(out, "lxc"):
		v.kind, v.subtype = "container", "LXC"
	case strings.Contains(out, "amazon"):
		v.kind, v.subtype = "Nitro", "Amazon EC2"
	default:
		return false
	}
	return true
}

func (v *verdict) virtWhat(out string) {
	for line := range strings.SplitSeq(out, "\n") {
		switch {
		case line == "kvm" || line == "qemu" || line == "uml" || line == "xen":
			v.kind = line
		case strings.Contains(line, "lxc"):
			v.kind, v.subtype = "container", "LXC"
		case strings.Contains(line, "vmware"):
			v.kind = "VMware"
		case strings.Contains(line, "parallels"):
			v.kind = "Parallels"
		case strings.Contains(line, "hyperv"):
			v.kind = "HyperV"
		case line == "ibm_power-kvm":
			v.kind = "kvm"
		case line == "ibm_power-lpar_shared":
			v.kind, v.subtype = "LPAR", "shared"
		case line == "ibm_power-lpar_dedicated":
			v.kind, v.subtype = "LPAR", "dedicated"
		default:
			continue
		}
		return
	}
}

func (v *verdict) dmidecode(out string) {
	has := func(s string) bool { return strings.Contains(out, s) }
	if has("Vendor: QEMU") || has("Manufacturer: QEMU") || has("Vendor: Bochs") || has("Manufacturer: Bochs") {
		v.kind = "kvm"
	}
	switch {
	case has("BHYVE"):
		v.kind = "bhyve"
	case has("Manufacturer: oVirt"):
		v.kind, v.subtype = "kvm", "ovirt"
	case has("Product Name: RHEV Hypervisor"):
		v.kind, v.subtype = "kvm", "rhev"
	case has("VirtualBox"):
		v.kind = "VirtualBox"
	case has("VMware"):
		v.kind = "VMware"
	case has(": Microsoft") && has("Virtual Machine"):
		v.kind = "VirtualPC"
	case has("Parallels Software"):
		v.kind = "Parallels"
	case has("Manufacturer: Google"), has("Vendor: SeaBIOS"):
		v.kind = "kvm"
	}
}

func (v *verdict) lspci(model string) {
	switch {
	case strings.Contains(model, "vmware"):
		v.kind = "VMware"
	case strings.Contains(model, "virtualbox"):
		v.kind = "VirtualBox"
	case strings.Contains(model, "qemu"), strings.Contains(model, "virtio"):
		v.kind = "kvm"
	}
}

func (c *collector) linuxVirtual(v *verdict) {
	own, err := c.h.Stat("/")
	init, err2 := c.h.Stat("/proc/1/root/.")
	if err == nil && err2 == nil && (own.Inode != init.Inode || own.Dev != init.Dev) {
		v.subtype = "chroot"
	}
	if c.isDir("/proc/vz") {
		if c.isFile("/proc/vz/version") {
			v.kind = "openvzhn"
		} else if c.isFile("/proc/vz/veinfo") {
			v.kind = "openvzve"
		}
	}
	if text, ok := c.read("/proc/self/status"); ok {
		if f := regexp.MustCompile(`(?m)^envID:\s+(\d+)$`).FindStringSubmatch(text); f != nil {
			v.kind = "openvzve"
			if n, _ := digits(f[1]); n == 0 {
				v.kind = "openvzhn"
			}
		}
	}
	if c.isDir("/proc/sys/xen") || c.isDir("/sys/bus/xen") || c.isDir("/proc/xen") {
		c.xen(v)
	}
	if text, ok := c.read("/proc/cpuinfo"); ok && strings.Contains(text, "QEMU Virtual CPU") {
		v.kind = "kvm"
	}
	if text, ok := c.read("/sys/devices/virtual/dmi/id/product_name"); ok {
		switch {
		case strings.Contains(text, "VirtualBox"):
			v.kind = "VirtualBox"
		case strings.Contains(text, "RHEV Hypervisor"):
			v.kind, v.subtype = "kvm", "rhev"
		case strings.Contains(text, "oVirt Node"):
			v.kind, v.subtype = "kvm", "ovirt"
		case strings.Contains(text, "Google"):
			v.kind = "gce"
		case strings.Contains(text, "BHYVE"):
			v.kind = "bhyve"
		}
	}
	c.container(v)
}

func (c *collector) xen(v *verdict) {
	caps, hasCaps := c.read("/proc/xen/capabilities")
	switch {
	case c.isFile("/proc/xen/xsd_kva"):
		v.subtype = "Xen Dom0"
	case c.str("productname") == "HVM domU":
		v.subtype = "Xen HVM DomU"
	case hasCaps && strings.Contains(caps, "control_d"):
		v.subtype = "Xen Dom0"
	case hasCaps:
		v.subtype = "Xen PV DomU"
	case c.isDir("/sys/bus/xen"):
		if c.isDir("/sys/bus/xen/drivers/xenconsole") || strings.Contains(strings.ToLower(c.output("dmesg")), "xen:") {
			v.subtype = "Xen PV DomU"
		}
	}
	if strings.Contains(strings.ToLower(v.subtype), "dom") {
		v.kind = "xen"
	}
}

// container looks for containers, last, as they may run in a virtual machine.
func (c *collector) container(v *verdict) {
	if text, ok := c.read("/proc/1/cgroup"); ok {
		has := func(s string) bool { return strings.Contains(text, s) }
		switch {
		case has(":/lxc/"):
			v.kind, v.subtype = "container", "LXC"
		case has(":/kubepods/"):
			v.subtype = "kubernetes"
		case has(":/libpod_parent/"):
			v.subtype = "libpod"
		case has(":/system.slice/docker"), has(":/docker/"), has(":/docker-ce/"):
			v.kind, v.subtype = "container", "Docker"
		}
	}
	if v.subtype != "LXC" { // newer versions leave no cgroup
		if text, ok := c.read("/proc/1/environ"); ok && strings.Contains(text, "container=lxc") {
			v.kind, v.subtype = "container", "LXC"
		}
	}
}

func (c *collector) freebsdVirtual(v *verdict) {
	product, maker := c.output("kenv", "smbios.system.product"), c.output("kenv", "smbios.system.maker")
	begins := strings.HasPrefix
	if begins(product, "VMware") {
		v.kind = "VMware"
	}
	if begins(product, "VirtualBox") {
		v.kind = "VirtualBox"
	}
	if begins(maker, "Xen") {
		v.kind, v.subtype = "xen", maker+" "+product
	}
	if begins(maker, "Microsoft") && begins(product, "Virtual") {
		v.kind = "VirtualPC"
	}
	if begins(maker, "OpenStack") {
		v.kind = "OpenStack"
	}
	if begins(maker, "Bochs") {
		v.kind = "kvm"
	}
	if begins(maker, "Amazon EC2") {
		v.kind = "Nitro"
	}
	if strings.Contains(c.sysctl("hw.hv_vendor"), "bhyve") {
		v.kind = "bhyve"
	} else if strings.Contains(c.sysctl("hw.model"), "QEMU Virtual CPU") {
		v.kind = "kvm"
	}
	if c.sysctl("security.jail.jailed") == "1" {
		v.subtype = "jail"
	}
}

// amazon tells Amazon's machines from others of the same hypervisor.
func (c *collector) amazon(v *verdict) {
	cmd := c.which("dmidecode")
	if cmd == "" {
		return
	}
	out, _ := c.run(cmd, "-t", "system")
	if strings.Contains(out, "Manufacturer: Amazon EC2") {
		if v.kind != "xen" {
			v.kind = "Nitro"
		}
		v.subtype = "Amazon EC2"
		if f := regexp.MustCompile(`Product Name: ([^\r\n]*)`).FindStringSubmatch(out); f != nil {
			v.subtype = "Amazon EC2 (" + f[1] + ")"
		}
	} else if regexp.MustCompile(`Version: [^\r\n]+\.amazon`).MatchString(out) {
		v.subtype = "Amazon EC2"
	}
}
