package lint

import "brine/internal/py/value"

// A System is a machine that a tree is compiled for: its name and its grains.
type System struct {
	Name   string
	Grains *value.Map
}

// Systems returns the built-in systems.
func Systems() []System {
	type distro struct {
		name, os, family, full, release, codename, kernel, init, pkg string
	}
	var out []System
	for _, d := range []distro{
		{"alpine", "Alpine", "Alpine", "Alpine Linux", "3.19.1", "", "6.6.16-0-lts", "openrc", "apk"},
		{"arch", "Arch", "Arch", "Arch Linux", "rolling", "", "6.8.1-arch1-1", "systemd", "pacman"},
		{"debian", "Debian", "Debian", "Debian GNU/Linux", "12", "bookworm", "6.1.0-18-amd64", "systemd", "apt"},
		{"rhel", "RedHat", "RedHat", "Red Hat Enterprise Linux", "9.3", "Plow", "5.14.0-362.8.1.el9_3.x86_64", "systemd", "yum"},
		{"suse", "SUSE", "Suse", "SLES", "15.5", "", "5.14.21-150500.53-default", "systemd", "zypper"},
		{"ubuntu", "Ubuntu", "Debian", "Ubuntu", "22.04", "jammy", "5.15.0-97-generic", "systemd", "apt"},
	} {
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
		out = append(out, System{d.name, g})
	}
	return out
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

// commonGrains are those that all systems have alike.
func commonGrains(name string) *value.Map {
	ip4, ip6 := "192.0.2.10", "2001:db8::10"
	lo := value.NewList("127.0.0.1")
	return value.MapOf(
		"id", name, "host", name, "nodename", name, "localhost", name, "fqdn", name+".example.com", "domain", "example.com",
		"fqdns", value.NewList(name+".example.com"), "kernel", "Linux", "kernelversion", "#1 SMP", "kernelparams", value.NewList(),
		"osarch", osarch(name), "cpuarch", "x86_64", "cpu_model", "Generic CPU", "cpu_flags", value.NewList("sse4_2"),
		"num_cpus", int64(4), "num_gpus", int64(0), "gpus", value.NewList(), "mem_total", int64(7974), "swap_total", int64(2047),
		"virtual", "kvm", "virtual_subtype", "", "biosversion", "1.0", "biosreleasedate", "01/01/2024", "manufacturer", "Example",
		"productname", "Machine", "serialnumber", "0", "uuid", "00000000-0000-4000-8000-000000000010", "efi", false, "efi-secure-boot", false,
		"disks", value.NewList("sda"), "SSDs", value.NewList(), "ssds", value.NewList(), "mdadm", value.NewList(),
		"ipv4", value.NewList("127.0.0.1", ip4), "ipv6", value.NewList("::1", ip6), "fqdn_ip4", value.NewList(ip4), "fqdn_ip6", value.NewList(ip6),
		"ip_interfaces", value.MapOf("lo", lo, "eth0", value.NewList(ip4, ip6)),
		"ip4_interfaces", value.MapOf("lo", lo, "eth0", value.NewList(ip4)),
		"ip6_interfaces", value.MapOf("lo", value.NewList("::1"), "eth0", value.NewList(ip6)),
		"hwaddr_interfaces", value.MapOf("lo", "00:00:00:00:00:00", "eth0", "02:00:00:00:00:10"),
		"ip4_gw", "192.0.2.1", "ip6_gw", false, "ip_gw", true, "dns", value.MapOf("nameservers", value.NewList("192.0.2.1"), "search", value.NewList(), "domain", ""),
		"locale_info", value.MapOf("defaultlanguage", "en_US", "defaultencoding", "UTF-8", "detectedencoding", "utf-8", "timezone", "UTC"),
		"selinux", value.MapOf("enabled", name == "rhel", "enforced", "Enforcing"), "systemd", value.MapOf("version", "252", "features", ""),
		"machine_id", "0000000000000000000000000000000a", "server_id", int64(1), "master", "salt", "saltpath", "/usr/lib/python3/dist-packages/salt",
		"saltversion", "3006.9", "saltversioninfo", value.NewList(int64(3006), int64(9)), "pythonversion", value.NewList(int64(3), int64(10), int64(14), "final", int64(0)),
		"pythonexecutable", "/usr/bin/python3", "pythonpath", value.NewList(), "zmqversion", "4.3.4", "path", "/usr/sbin:/usr/bin:/sbin:/bin",
		"systempath", value.NewList("/usr/sbin", "/usr/bin", "/sbin", "/bin"), "ps", "ps -efHww", "shell", "/bin/sh", "pid", int64(1), "cwd", "/",
		"uid", int64(0), "username", "root", "gid", int64(0), "groupname", "root", "transactional", false, "osbuild", "",
	)
}

func osarch(name string) string {
	if name == "debian" || name == "ubuntu" {
		return "amd64"
	}
	return "x86_64"
}
