package lint

import "testing"

// TestSystemNamed has the names of platforms, and the grains of what they mean.
func TestSystemNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, want string }{
		{"debian", "Debian Debian 12 bookworm"},
		{"debian-11-3006", "Debian Debian 11 bullseye"},
		{"ubuntu-2004-master-py3", "Ubuntu Debian 20.04 focal"},
		{"ubuntu-24.04", "Ubuntu Debian 24.04 noble"},
		{"centos-stream8", "CentOS Stream RedHat 8 "},
		{"rockylinux-9-3006-17", "Rocky RedHat 9 "},
		{"opensuse-leap-152", "SUSE Suse 15.2 "},
		{"arch-base-latest", "Arch Arch rolling "},
		{"gentoo-stage3-systemd", "Gentoo Gentoo rolling "},
		{"debain", ""},
		{"Debian 12", ""},
		{"", ""},
	} {
		got := ""
		if s, ok := SystemNamed(tt.name); ok {
			got = s.Grains.Str("os") + " " + s.Grains.Str("os_family") + " " + s.Grains.Str("osrelease") + " " + s.Grains.Str("oscodename")
		}
		if got != tt.want {
			t.Errorf("SystemNamed(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}
