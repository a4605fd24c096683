package grains

import (
	"regexp"
	"strconv"
	"strings"

	"brine/internal/py/value"
)

// The grains of macOS and FreeBSD that come from sysctl, kenv, geom and
// system_profiler.

func (c *collector) sysctl(name string) string { return c.output("sysctl", "-n", name) }

func (c *collector) bsdCPU() *value.Map {
	n, ok := number(c.sysctl("hw.ncpu"))
	if !ok {
		n = 1
	}
	m := value.MapOf("num_cpus", n)
	if c.str("kernel") == "Darwin" {
		m.Set("cpu_model", c.sysctl("machdep.cpu.brand_string"))
		m.Set("cpu_flags", value.Strings(strings.Split(c.sysctl("machdep.cpu.features"), " ")...))
		return m
	}
	m.Set("cpu_model", c.sysctl("hw.model"))
	if text, ok := c.read("/var/run/dmesg.boot"); ok {
		m.Set("cpu_flags", dmesgFlags(text))
	}
	return m
}

// dmesgFlags reads the Features lines after the first CPU line.
func dmesgFlags(text string) *value.List {
	flags, here := value.NewList(), false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "CPU: ") {
			here = true
			continue
		}
		if !here {
			continue
		}
		if !strings.HasPrefix(line, " ") {
			break
		}
		start, end := strings.Index(line, "<"), strings.Index(line, ">")
		if strings.Contains(line, "Features") && start > 0 && end > start {
			for f := range strings.SplitSeq(line[start+1:end], ",") {
				flags.Append(f)
			}
		}
	}
	return flags
}

func (c *collector) bsdMemory() *value.Map {
	const mib = 1 << 20
	if c.str("kernel") == "FreeBSD" {
		mem, _ := number(c.sysctl("hw.physmem"))
		swap, _ := number(c.sysctl("vm.swap_total"))
		return value.MapOf("mem_total", mem/mib, "swap_total", swap/mib)
	}
	mem, _ := number(c.sysctl("hw.memsize"))
	// total = 1024.00M  used = 0.00M  free = 1024.00M  (encrypted)
	swap := 0.0
	if f := strings.Fields(c.sysctl("vm.swapusage")); len(f) > 2 && len(f[2]) > 1 {
		s := strings.ReplaceAll(f[2], ",", ".")
		x, _ := strconv.ParseFloat(s[:len(s)-1], 64)
		swap = x * map[byte]float64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}[s[len(s)-1]]
	}
	return value.MapOf("mem_total", mem/mib, "swap_total", int64(swap)/mib)
}

// appleHardware gives what macOS says of the machine.
func (c *collector) appleHardware() *value.Map {
	if c.str("kernel") != "Darwin" {
		return nil
	}
	keys := map[string]string{
		"Model Name": "model_name", "Boot ROM Version": "boot_rom_version",
		"SMC Version (system)": "smc_version", "Serial Number (system)": "system_serialnumber",
	}
	m := value.NewMap(4)
	for line := range strings.Lines(c.output("system_profiler", "SPHardwareDataType")) {
		name, val, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		if key := keys[strings.TrimSpace(name)]; key != "" {
			m.Set(key, cleanHardware(key, val))
		}
	}
	return m
}

func (c *collector) kenv(m *value.Map) {
	for _, f := range [][2]string{
		{"biosversion", "bios.version"},
		{"biosvendor", "bios.vendor"},
		{"manufacturer", "system.maker"},
		{"serialnumber", "system.serial"},
		{"productname", "system.product"},
		{"biosreleasedate", "bios.reldate"},
		{"uuid", "system.uuid"},
	} {
		m.Set(f[0], cleanHardware(f[0], c.output("kenv", "smbios."+f[1])))
	}
}

// geom gives the disks of FreeBSD with their attributes.
func (c *collector) geom() *value.Map {
	aliases := map[string]string{"descr": "device_model", "ident": "serial_number", "rotationrate": "media_RPM", "lunid": "WWN"}
	disks, ssds := value.NewMap(0), value.NewList()
	re := regexp.MustCompile(`(Geom name|Mediasize|Sectorsize|Stripesize|Stripeoffset|descr|lunid|lunname|ident|rotationrate):\s(.*)`)
	for dev := range strings.SplitSeq(c.output("geom", "disk", "list"), "\n\n") {
		name, attrs := "", value.NewMap(0)
		for line := range strings.Lines(dev) {
			f := re.FindStringSubmatch(strings.TrimRight(line, "\n"))
			if f == nil {
				continue
			}
			var v value.Value = f[2]
			switch f[1] {
			case "Geom name":
				name = f[2]
				continue
			case "Sectorsize", "Stripesize", "Stripeoffset", "rotationrate":
				if n, ok := number(f[2]); ok {
					v = n
				} else {
					v = nil
				}
			}
			attrs.Set(f[1], v)
			if a := aliases[f[1]]; a != "" {
				attrs.Set(a, v)
			}
		}
		if name == "" || strings.HasPrefix(name, "cd") {
			continue
		}
		disks.Set(name, attrs)
		if value.Equal(attrs.At("rotationrate"), int64(0)) && attrs.At("rotationrate") != nil {
			ssds.Append(name)
		}
	}
	return value.MapOf("disks", disks, "ssds", ssds)
}
