package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/py/value"
)

// A System is a machine that a tree is compiled for: its name and its grains.
type System struct {
	Name   string
	Grains *value.Map
}

// A distro is what the built-in systems differ in.
type distro struct {
	name, os, family, full, release, codename, kernel, init, pkg string
}

func distros() []distro {
	return []distro{
		{"alpine", "Alpine", "Alpine", "Alpine Linux", "3.19.1", "", "6.6.16-0-lts", "openrc", "apk"},
		{"arch", "Arch", "Arch", "Arch Linux", "rolling", "", "6.8.1-arch1-1", "systemd", "pacman"},
		{"debian", "Debian", "Debian", "Debian GNU/Linux", "12", "bookworm", "6.1.0-18-amd64", "systemd", "apt"},
		{"rhel", "RedHat", "RedHat", "Red Hat Enterprise Linux", "9.3", "Plow", "5.14.0-362.8.1.el9_3.x86_64", "systemd", "yum"},
		{"suse", "SUSE", "Suse", "SLES", "15.5", "", "5.14.21-150500.53-default", "systemd", "zypper"},
		{"ubuntu", "Ubuntu", "Debian", "Ubuntu", "22.04", "jammy", "5.15.0-97-generic", "systemd", "apt"},
	}
}

// Systems returns the built-in systems.
func Systems() []System {
	var out []System
	for _, d := range distros() {
		out = append(out, d.system())
	}
	return out
}

// A relative is a distribution that is like a built-in one but for its names.
type relative struct{ like, os, family, full string }

// relatives are distributions by their names in platforms of Test Kitchen.
func relatives() map[string]relative {
	return map[string]relative{
		"almalinux":           {"rhel", "AlmaLinux", "RedHat", "AlmaLinux"},
		"amazonlinux":         {"rhel", "Amazon", "RedHat", "Amazon Linux"},
		"centos":              {"rhel", "CentOS", "RedHat", "CentOS Linux"},
		"centos-stream":       {"rhel", "CentOS Stream", "RedHat", "CentOS Stream"},
		"fedora":              {"rhel", "Fedora", "RedHat", "Fedora Linux"},
		"gentoo":              {"arch", "Gentoo", "Gentoo", "Gentoo"},
		"leap":                {"suse", "SUSE", "Suse", "Leap"},
		"opensuse":            {"suse", "SUSE", "Suse", "Leap"},
		"opensuse-leap":       {"suse", "SUSE", "Suse", "Leap"},
		"opensuse-tmbl":       {"suse", "SUSE", "Suse", "openSUSE Tumbleweed"},
		"opensuse-tumbleweed": {"suse", "SUSE", "Suse", "openSUSE Tumbleweed"},
		"oraclelinux":         {"rhel", "OEL", "RedHat", "Oracle Linux"},
		"rockylinux":          {"rhel", "Rocky", "RedHat", "Rocky Linux"},
		"sles":                {"suse", "SUSE", "Suse", "SLES"},
	}
}

// codenames are those of releases that templates ask for.
var codenames = map[string]string{
	"debian 10": "buster", "debian 11": "bullseye", "debian 12": "bookworm", "debian 13": "trixie",
	"ubuntu 18.04": "bionic", "ubuntu 20.04": "focal", "ubuntu 22.04": "jammy", "ubuntu 24.04": "noble",
}

// SystemNames returns the names that [SystemNamed] knows, without releases.
func SystemNames() []string {
	var names []string
	for _, d := range distros() {
		names = append(names, d.name)
	}
	return slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(relatives()))))
}

// SystemNamed returns the system of a name such as debian, debian-12, centos-7 or
// ubuntu-2204-master: a distribution, its release, and what is ignored. The release of
// one without a number is that of the built-in system.
func SystemNamed(name string) (System, bool) {
	m := systemName().FindStringSubmatch(name)
	if m == nil {
		return System{}, false
	}
	base, release := m[1], m[2]
	d, ok := distroNamed(base)
	for cut := strings.LastIndexByte(base, '-'); !ok && cut > 0; cut = strings.LastIndexByte(base, '-') {
		base, release = base[:cut], "" // arch-base-latest: no release follows
		d, ok = distroNamed(base)
	}
	if release = withDots(d.name, release); release != "" && d.release != release {
		d.release, d.codename = release, codenames[d.name+" "+release]
	}
	sys := d.system()
	sys.Name = name
	return sys, ok
}

// distroNamed returns a built-in distribution, or a relative of one.
func distroNamed(name string) (distro, bool) {
	like, is := relatives()[name]
	for _, d := range distros() {
		if is && d.name == like.like {
			d.os, d.family, d.full = like.os, like.family, like.full
			return d, true
		}
		if d.name == name {
			return d, true
		}
	}
	return distro{}, false
}

// withDots returns a release that a platform has without them, such as 2204 or 152.
func withDots(distro, release string) string {
	switch {
	case strings.Contains(release, "."):
	case distro == "ubuntu" && len(release) == 4, distro == "suse" && len(release) == 3:
		return release[:2] + "." + release[2:]
	}
	return release
}

var systemName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z]+(?:-[a-z]+)*)-?(\d+(?:\.\d+)*)?(?:-.*)?$`)
})

func (d *distro) system() System {
	g := commonGrains(d.name)
	g.Set("os", d.os)
	g.Set("os_family", d.family)
	g.Set("osfullname", d.full)
	g.Set("osrelease", d.release)
	g.Set("oscodename", d.codename)
	g.Set("kernelrelease", d.kernel)
	g.Set("init", d.init)
	g.Set("lsb_distrib_id", d.full)
	g.Set("lsb_distrib_release", d.release)
	g.Set("lsb_distrib_codename", d.codename)
	finger, info := d.full+"-"+d.release, value.NewList()
	if major, minor, ok := numbers(d.release); ok {
		g.Set("osmajorrelease", major)
		info = value.NewList(major)
		if minor >= 0 {
			info.Append(minor)
		}
		if d.os != "Ubuntu" {
			finger = d.full + "-" + value.Str(major)
		}
	}
	g.Set("osrelease_info", info)
	g.Set("osfinger", finger)
	return System{d.name, g}
}

// numbers returns the first two numbers of a release; the second is -1 where there
// is one only.
func numbers(release string) (major, minor int64, ok bool) {
	minor = -1
	parts := [2]string{}
	i := 0
	for _, r := range release {
		if r == '.' {
			if i++; i > 1 {
				break
			}
			continue
		}
		parts[i] += string(r)
	}
	v, err := value.ParseInt(parts[0], 10)
	if err != nil {
		return 0, -1, false
	}
	major, _ = value.AsInt(v)
	if v, err := value.ParseInt(parts[1], 10); err == nil {
		minor, _ = value.AsInt(v)
	}
	return major, minor, true
}

// commonGrains are those that all systems have alike. The facts of one machine (names,
// addresses, interfaces, disks, memory, hardware) are not among them: they are unknown.
func commonGrains(name string) *value.Map {
	return value.MapOf(
		"kernel", "Linux", "osarch", osarch(name), "cpuarch", "x86_64",
		"selinux", value.MapOf("enabled", name == "rhel", "enforced", "Enforcing"), "systemd", value.MapOf("version", "252", "features", ""),
		"saltversion", "3006.9", "saltversioninfo", value.NewList(int64(3006), int64(9)), "pythonversion", value.NewList(int64(3), int64(10), int64(14), "final", int64(0)),
		"path", "/usr/sbin:/usr/bin:/sbin:/bin", "systempath", value.NewList("/usr/sbin", "/usr/bin", "/sbin", "/bin"),
		"ps", "ps -efHww", "shell", "/bin/sh", "uid", int64(0), "username", "root", "gid", int64(0), "groupname", "root",
		"locale_info", value.MapOf("defaultlanguage", "en_US", "defaultencoding", "UTF-8", "detectedencoding", "utf-8", "timezone", "UTC"),
		"osbuild", "", "transactional", false,
	)
}

// machineGrains are the names of the grains that only a machine can give. Editors
// complete them.
const machineGrains = `SSDs biosreleasedate biosversion cpu_flags cpu_model cwd disks dns domain efi efi-secure-boot fqdn fqdn_ip4
	fqdn_ip6 fqdns gpus host hwaddr_interfaces id ip4_gw ip4_interfaces ip6_gw ip6_interfaces ip_gw ip_interfaces ipv4 ipv6
	kernelparams kernelversion localhost machine_id manufacturer master mdadm mem_total nodename num_cpus num_gpus pid
	productname pythonexecutable pythonpath saltpath serialnumber server_id ssds swap_total uuid virtual virtual_subtype zmqversion`

func osarch(name string) string {
	if name == "debian" || name == "ubuntu" {
		return "amd64"
	}
	return "x86_64"
}
