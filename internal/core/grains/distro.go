package grains

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"brine/internal/py/value"
)

// uname gives what the kernel says of itself.
func (c *collector) uname() *value.Map {
	u, err := c.h.Uname()
	if err != nil {
		return nil
	}
	return value.MapOf("kernel", u.Sysname, "nodename", u.Nodename, "kernelrelease", u.Release, "kernelversion", u.Version, "cpuarch", u.Machine)
}

// distribution gives the name and version of the operating system.
func (c *collector) distribution() *value.Map {
	switch kernel := c.str("kernel"); kernel {
	case "Linux":
		return c.linuxDistribution()
	case "Darwin":
		m := value.MapOf("os", "MacOS", "os_family", "MacOS")
		release := c.output("sw_vers", "-productVersion")
		m.Set("osfullname", c.output("sw_vers", "-productName")+" "+release)
		m.Set("osrelease", release)
		m.Set("osbuild", c.output("sw_vers", "-buildVersion"))
		return m
	case "FreeBSD":
		m := value.MapOf("os", kernel, "os_family", kernel, "osfullname", kernel)
		release := c.output("freebsd-version", "-u")
		if release == "" {
			release = c.str("kernelrelease")
		}
		release, _, _ = strings.Cut(release, "-")
		m.Set("osrelease", release)
		return m
	default:
		return value.MapOf("os", kernel, "os_family", "Unknown")
	}
}

// release gives what follows from osrelease.
func (c *collector) release() *value.Map {
	osrelease := c.str("osrelease")
	if osrelease == "" {
		return nil
	}
	m := value.NewMap(3)
	var info value.Tuple
	for part := range strings.SplitSeq(osrelease, ".") {
		if n, ok := digits(part); ok {
			info = append(info, n)
		} else {
			info = append(info, part)
		}
	}
	m.Set("osrelease_info", info)
	if n, ok := info[0].(int64); ok {
		m.Set("osmajorrelease", n)
	} else if n, ok := number(info[0].(string)); ok {
		m.Set("osmajorrelease", n)
	}
	name := c.str("osfullname")
	switch os := c.str("os"); os {
	case "Debian", "FreeBSD", "OpenBSD", "NetBSD", "Mac", "Raspbian":
		name = os
	}
	first := value.Str(info[0])
	if os := c.str("os"); os == "Ubuntu" || os == "Pop" {
		first = osrelease
	}
	m.Set("osfinger", name+"-"+first)
	return m
}

// digits reads text of digits alone.
func digits(s string) (int64, bool) {
	for _, r := range s {
		if r < '0' || r > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// number reads text as Python's int does.
func number(s string) (int64, bool) {
	v, err := value.ToInt(s)
	if err != nil {
		return 0, false
	}
	n, ok := v.(int64)
	return n, ok
}

// osarch gives the architecture by the name of the package manager.
func (c *collector) osarch() *value.Map {
	arch := c.str("cpuarch")
	switch c.str("os_family") {
	case "Debian":
		if a := c.output("dpkg", "--print-architecture"); a != "" {
			arch = strings.TrimSpace(a)
		}
	case "RedHat", "Suse":
		if c.which("rpm") != "" {
			if a := strings.TrimSpace(c.output("rpm", "--eval", "%{_host_cpu}")); a != "" {
				arch = a
			}
		}
		if arch == "" {
			arch = "unknown"
		}
	}
	return value.MapOf("osarch", arch)
}

// osReleaseFile parses os-release(5): the file's variables over the defaults
// that the format has.
func (c *collector) osReleaseFile() (map[string]string, bool) {
	text, ok := c.read("/etc/os-release")
	if !ok {
		if text, ok = c.read("/usr/lib/os-release"); !ok {
			return nil, false
		}
	}
	return parseOSRelease(text), true
}

func parseOSRelease(text string) map[string]string {
	vars := map[string]string{"NAME": "Linux", "ID": "linux", "PRETTY_NAME": "Linux"}
	for line := range strings.Lines(text) {
		name, val, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		if !ok || name == "" || strings.IndexFunc(name, func(r rune) bool {
			return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
		}) >= 0 {
			continue
		}
		if n := len(val); n > 1 && (val[0] == '"' || val[0] == '\'') && val[n-1] == val[0] {
			val = val[1 : n-1]
		}
		vars[name] = unescape(val)
	}
	return vars
}

// unescape takes the backslashes before \ $ " ' ` away.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\$\"'`", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// parseLSB reads /etc/lsb-release into grains.
func (c *collector) parseLSB(m *value.Map) {
	text, ok := c.read("/etc/lsb-release")
	if !ok {
		return
	}
	// A value ends at the first character that is none of these.
	re := regexp.MustCompile(`^(DISTRIB_(?:ID|RELEASE|CODENAME|DESCRIPTION))=['"]?([\pL\pN_\s.\-]+)`)
	for line := range strings.Lines(text) {
		if f := re.FindStringSubmatch(strings.TrimRight(line, "\n")); f != nil {
			m.Set("lsb_"+strings.ToLower(f[1]), strings.TrimRightFunc(f[2], unicode.IsSpace))
		}
	}
}

// deriveOS returns the os grain of a full name.
func deriveOS(fullname, id string) string {
	switch {
	case id == "astra" && fullname == "Astra Linux (Orel)":
		return "AstraLinuxCE"
	case id == "astra" && fullname == "Astra Linux (Smolensk)":
		return "AstraLinuxSE"
	case id == "pop" && fullname == "Pop!_OS":
		return "Pop"
	}
	name := strings.TrimSpace(dropLinux(fullname))
	short := strings.ToLower(strings.ReplaceAll(name, " ", ""))
	if utf8.RuneCountInString(short) > 10 {
		short = string([]rune(short)[:10])
	}
	if os := osNames(short); os != "" {
		return os
	}
	return name
}

// dropLinux removes " Linux" and " GNU/Linux", whatever their case.
func dropLinux(s string) string {
	return regexp.MustCompile(`(?i)[^\pL\pN_](?:gnu/)?linux`).ReplaceAllString(s, "")
}

// linuxDistribution follows Salt's rules, which take names from os-release and
// version and code name from lsb-release, or from os-release in its place.
func (c *collector) linuxDistribution() *value.Map {
	m := value.NewMap(10)
	c.parseLSB(m)
	osr, there := c.osReleaseFile()
	if there {
		m.Set("os", deriveOS(osr["NAME"], osr["ID"]))
		m.Set("osfullname", strings.TrimSpace(osr["NAME"]))
	}
	if there && osReleaseAlone(m, osr) {
		m.Set("os_family", osFamily(m.Str("os")))
		return m
	}
	switch {
	case strings.HasPrefix(strings.ToLower(m.Str("lsb_distrib_description")), "antergos"):
		m.Set("osfullname", "Antergos Linux") // its lsb-release says Arch
	case m.Has("lsb_distrib_id"):
	case there:
		c.lsbFromOSRelease(m, osr)
	default:
		c.lsbFromRelease(m)
	}

	guess := sync.OnceValue(func() releaseLine { return c.bestGuess(osr) })
	if !m.Has("osfullname") {
		full := m.Str("lsb_distrib_id")
		if full == "" {
			full = guess().name
		}
		if strings.HasPrefix(strings.ToLower(full), "nilrt") {
			full = "nilrt"
		}
		m.Set("osfullname", strings.TrimSpace(full))
	}
	if !m.Has("osrelease") {
		// os-release of CentOS has no minor version, its own file has.
		if cn := m.Str("lsb_distrib_codename"); strings.Contains(cn, "CentOS Linux 7") || strings.Contains(cn, "CentOS Linux 8") {
			m.Delete("lsb_distrib_release")
		}
		release, ok := m.Get("lsb_distrib_release")
		if !ok {
			release = guess().version
		}
		m.Set("osrelease", strings.TrimSpace(value.Str(release)))
	}
	oscodename := strings.TrimSpace(m.Str("lsb_distrib_codename"))
	if oscodename == "" || strings.Contains(oscodename, "Red Hat") {
		oscodename = guess().codename
	}
	m.Set("oscodename", oscodename)
	if !m.Has("os") {
		m.Set("os", deriveOS(m.Str("osfullname"), ""))
	}
	m.Set("os_family", osFamily(m.Str("os")))
	return m
}

// osReleaseAlone sets version and code name of the distributions for which Salt asks
// os-release and nothing else: what it does not say is None.
func osReleaseAlone(m *value.Map, osr map[string]string) bool {
	release, codename := osr["VERSION_ID"], osr["VERSION_CODENAME"]
	find := func(re, name string) string {
		if f := regexp.MustCompile(re).FindStringSubmatch(osr[name]); f != nil {
			return f[1]
		}
		return ""
	}
	switch osr["ID"] {
	case "debian", "linuxmint", "pop", "ubuntu":
	case "almalinux", "rocky":
		if codename == "" {
			codename = find(`^\d[\d.+\-a-z]* \((.+)\)`, "VERSION")
		}
	case "astra":
		if codename == "" {
			codename = osr["VARIANT_ID"]
		}
	case "mendel":
		if release == "" {
			release = find(`^\D+ (\d[\d.+\-a-z]*) \(.+\)`, "PRETTY_NAME")
		}
	default:
		return false
	}
	for name, v := range map[string]string{"osrelease": release, "oscodename": codename} {
		m.Set(name, nil)
		if v != "" {
			m.Set(name, v)
		}
	}
	return true
}

// lsbFromOSRelease sets the lsb grains where there is no lsb-release.
func (c *collector) lsbFromOSRelease(m *value.Map, osr map[string]string) {
	m.Set("lsb_distrib_id", strings.TrimSpace(osr["NAME"]))
	if v, ok := osr["VERSION_ID"]; ok {
		m.Set("lsb_distrib_release", v)
	}
	if v, ok := osr["VERSION_CODENAME"]; ok {
		m.Set("lsb_distrib_codename", v)
	} else {
		m.Set("lsb_distrib_codename", osr["PRETTY_NAME"])
	}
	if cpe, ok := osr["CPE_NAME"]; ok {
		vendor, version := parseCPE(cpe)
		if v := strings.ToLower(vendor); v == "suse" || v == "opensuse" {
			m.Set("os", "SUSE")
			if osr["NAME"] == "openSUSE Leap" {
				m.Set("osfullname", "Leap")
			} else if osr["VERSION"] == "Tumbleweed" {
				m.Set("osfullname", osr["VERSION"])
			}
			if version != "" && vendor == "opensuse" { // SLES keeps VERSION_ID
				m.Set("lsb_distrib_release", version)
			}
		}
	}
}

// parseCPE returns vendor and version of a CPE_NAME, as URI or as text.
func parseCPE(cpe string) (vendor, version string) {
	f := strings.Split(cpe, ":")
	if len(f) <= 4 || f[0] != "cpe" {
		return "", ""
	}
	star := func(s string) string {
		if s == "*" {
			return ""
		}
		return s
	}
	switch {
	case strings.HasPrefix(f[1], "/"):
		return f[2], f[4]
	case f[1] == "2.3" && (len(f) == 6 || len(f) > 7 && len(f) <= 13):
		return star(f[3]), star(f[5])
	}
	return "", ""
}

// lsbFromRelease sets the lsb grains of old systems without os-release.
func (c *collector) lsbFromRelease(m *value.Map) {
	if text, ok := c.read("/etc/SuSE-release"); ok {
		suseRelease(m, text)
		return
	}
	if text, ok := c.read("/etc/altlinux-release"); ok {
		m.Set("lsb_distrib_id", "altlinux")
		for line := range strings.Lines(text) {
			if f := strings.Fields(line); len(f) > 3 && f[0] == "ALT" {
				m.Set("lsb_distrib_release", f[2])
				m.Set("lsb_distrib_codename", strings.NewReplacer("(", "", ")", "").Replace(f[3]))
			}
		}
		return
	}
	if text, ok := c.read("/etc/centos-release"); ok {
		m.Set("lsb_distrib_id", "CentOS")
		if v := regexp.MustCompile(`\d+\.\d+`).FindString(text); v != "" {
			m.Set("lsb_distrib_release", v)
		}
		if f := regexp.MustCompile(`\((.*?)\)`).FindStringSubmatch(text); f != nil {
			m.Set("lsb_distrib_codename", f[1])
		}
		return
	}
	text, ok := c.read("/etc.defaults/VERSION")
	if ok && c.isFile("/etc.defaults/synoinfo.conf") {
		m.Set("osfullname", "Synology")
		info := map[string]string{}
		for line := range strings.Lines(text) {
			if k, v, ok := strings.Cut(strings.TrimRight(line, "\n"), "="); ok {
				info[k] = strings.Trim(v, `"`)
			}
		}
		if info["majorversion"] != "" && info["minorversion"] != "" && info["buildnumber"] != "" {
			m.Set("osrelease", info["majorversion"]+"."+info["minorversion"]+"-"+info["buildnumber"])
		}
	}
}

func suseRelease(m *value.Map, text string) {
	onlyDigits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, s)
	}
	id, codename, version, patch := "SUSE", "", "", ""
	for line := range strings.Lines(text) {
		switch low := strings.ToLower(line); {
		case strings.Contains(low, "enterprise"):
			id = "SLES"
			codename = strings.TrimSpace(regexp.MustCompile(`\(.+\)`).ReplaceAllString(line, ""))
		case strings.Contains(low, "version"):
			version = onlyDigits(line)
		case strings.Contains(low, "patchlevel"):
			patch = onlyDigits(line)
		}
	}
	if patch != "" {
		version += "." + patch
		if sp := "SP" + patch; codename != "" && !strings.Contains(codename, sp) {
			codename += " " + sp
		}
	}
	if codename == "" {
		codename = "n.a"
	}
	m.Set("lsb_distrib_id", id)
	m.Set("lsb_distrib_release", version)
	m.Set("lsb_distrib_codename", codename)
}

// bestGuess returns name, version and code name as the Python package distro
// has them, on which Salt falls back: the version is the most precise one of
// os-release and the distribution's own file.
func (c *collector) bestGuess(osr map[string]string) releaseLine {
	file := c.releaseFile()
	best := releaseLine{name: osr["NAME"], codename: file.codename}
	if best.name == "" {
		best.name = file.name
	}
	for _, v := range []string{osr["VERSION_ID"], file.version, parseReleaseLine(osr["PRETTY_NAME"]).version} {
		if best.version == "" || strings.Count(v, ".") > strings.Count(best.version, ".") {
			best.version = v
		}
	}
	if v, ok := osr["VERSION_CODENAME"]; ok {
		best.codename = v
	} else if v, ok := osr["UBUNTU_CODENAME"]; ok {
		best.codename = v
	} else if f := regexp.MustCompile(`\((\D+)\)|,\s*(\D+)`).FindStringSubmatch(osr["VERSION"]); f != nil {
		best.codename = f[1] + f[2]
	}
	return best
}

type releaseLine struct{ name, version, codename string }

// releaseFile reads the first of the distributions' own files.
func (c *collector) releaseFile() releaseLine {
	for _, base := range []string{
		"SuSE-release", "altlinux-release", "arch-release", "base-release", "centos-release", "fedora-release", "gentoo-release",
		"mageia-release", "mandrake-release", "mandriva-release", "manjaro-release", "oracle-release", "redhat-release",
		"rocky-release", "sl-release", "slackware-version",
	} {
		if text, ok := c.read("/etc/" + base); ok && text != "" {
			line, _, _ := strings.Cut(text, "\n")
			return parseReleaseLine(strings.TrimSpace(line))
		}
	}
	return releaseLine{}
}

// parseReleaseLine reads "CentOS Linux release 7.9.2009 (Core)".
func parseReleaseLine(s string) releaseLine {
	f := regexp.MustCompile(`^(.+?)(?:\s+release)?\s+(\d[\d.+\-a-z]*)(?:\s+LTS)?(?:\s*\((.*)\)[^)]*)?$`).FindStringSubmatch(s)
	if f == nil {
		return releaseLine{name: s}
	}
	return releaseLine{f[1], f[2], f[3]}
}
