package grains

import (
	"os"
	"path/filepath"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// TestDistributions has what Salt makes of recorded os-release files.
func TestDistributions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		dir, os, family, fullname, release, codename, finger string
		major                                                value.Value
	}{
		{"alma9", "AlmaLinux", "RedHat", "AlmaLinux", "9.3", "Shamrock Pampas Cat", "AlmaLinux-9", int64(9)},
		{"alpine319", "Alpine", "Alpine", "Alpine Linux", "3.19.0", "Alpine Linux v3.19", "Alpine Linux-3", int64(3)},
		{"amazon2", "Amazon", "RedHat", "Amazon Linux", "2", "Amazon Linux 2", "Amazon Linux-2", int64(2)},
		{"amazon2023", "Amazon", "RedHat", "Amazon Linux", "2023", "Amazon Linux 2023", "Amazon Linux-2023", int64(2023)},
		{"arch", "Arch", "Arch", "Arch Linux", "rolling", "", "Arch Linux-rolling", nil},
		{"astra", "AstraLinuxCE", "Debian", "Astra Linux (Orel)", "2.12.43", "orel", "Astra Linux (Orel)-2", int64(2)},
		{"centos6", "CentOS", "RedHat", "CentOS", "6.10", "Final", "CentOS-6", int64(6)},
		{"centos7", "CentOS", "RedHat", "CentOS Linux", "7.9.2009", "CentOS Linux 7 (Core)", "CentOS Linux-7", int64(7)},
		{"centos8stream", "CentOS Stream", "RedHat", "CentOS Stream", "8", "CentOS Stream 8", "CentOS Stream-8", int64(8)},
		{"debian12", "Debian", "Debian", "Debian GNU/Linux", "12", "bookworm", "Debian-12", int64(12)},
		{"fedora39", "Fedora", "RedHat", "Fedora Linux", "39", "", "Fedora Linux-39", int64(39)},
		{"gentoo", "Gentoo", "Gentoo", "Gentoo", "2.14", "Gentoo Linux", "Gentoo-2", int64(2)},
		{"leap155", "SUSE", "Suse", "Leap", "15.5", "openSUSE Leap 15.5", "Leap-15", int64(15)},
		{"mint21", "Mint", "Debian", "Linux Mint", "21.1", "vera", "Linux Mint-21", int64(21)},
		{"nixos", "NixOS", "NixOS", "NixOS", "23.11", "tapir", "NixOS-23", int64(23)},
		{"oracle8", "OEL", "RedHat", "Oracle Linux Server", "8.9", "Oracle Linux Server 8.9", "Oracle Linux Server-8", int64(8)},
		{"pop22", "Pop", "Debian", "Pop!_OS", "22.04", "jammy", "Pop!_OS-22.04", int64(22)},
		{"raspbian11", "Raspbian", "Debian", "Raspbian GNU/Linux", "11", "bullseye", "Raspbian-11", int64(11)},
		{"rhel8", "RedHat", "RedHat", "Red Hat Enterprise Linux", "8.6", "Ootpa", "Red Hat Enterprise Linux-8", int64(8)},
		{"rocky8", "Rocky", "RedHat", "Rocky Linux", "8.5", "Green Obsidian", "Rocky Linux-8", int64(8)},
		{"sles11", "SUSE", "Suse", "SLES", "11.4", "SUSE Linux Enterprise Server 11 SP4", "SLES-11", int64(11)},
		{"sles15", "SUSE", "Suse", "SLES", "15.4", "SUSE Linux Enterprise Server 15 SP4", "SLES-15", int64(15)},
		{"tumbleweed", "SUSE", "Suse", "openSUSE Tumbleweed", "20240101", "openSUSE Tumbleweed", "openSUSE Tumbleweed-20240101", int64(20240101)},
		{"ubuntu1604", "Ubuntu", "Debian", "Ubuntu", "16.04", "xenial", "Ubuntu-16.04", int64(16)},
		{"ubuntu2204", "Ubuntu", "Debian", "Ubuntu", "22.04", "jammy", "Ubuntu-22.04", int64(22)},
		{"void", "Void", "Void", "Void", "", "Void Linux", "", nil},
	} {
		t.Run(tt.dir, func(t *testing.T) {
			t.Parallel()
			h := host.NewFake()
			files, err := filepath.Glob(filepath.Join("testdata", tt.dir, "*"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no files in testdata/%s: %v", tt.dir, err)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				h.PutFile("/etc/"+filepath.Base(f), string(text), 0o644)
			}
			g := Collect(Options{Host: h, ID: "m"})
			for _, c := range []struct {
				name string
				want value.Value
			}{
				{"os", tt.os},
				{"os_family", tt.family},
				{"osfullname", tt.fullname},
				{"osrelease", tt.release},
				{"oscodename", tt.codename},
				{"osfinger", tt.finger},
				{"osmajorrelease", tt.major},
			} {
				got, ok := g.Get(c.name)
				if !ok && (c.want == nil || c.want == "") {
					continue
				}
				if !value.Equal(got, c.want) {
					t.Errorf("%s = %s, want %s", c.name, value.Repr(got), value.Repr(c.want))
				}
			}
		})
	}
}

func TestReleaseInfo(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/etc/os-release", "NAME=X\nID=x\nVERSION_ID=3.19.0_rc1\n", 0o644)
	g := Collect(Options{Host: h})
	got, _ := g.Get("osrelease_info")
	if want := "(3, 19, '0_rc1')"; value.Repr(got) != want {
		t.Errorf("osrelease_info = %s, want %s", value.Repr(got), want)
	}
}

// TestOSReleaseAlone has Salt's answers for distributions of which only os-release
// is asked, whatever an lsb-release says.
func TestOSReleaseAlone(t *testing.T) {
	t.Parallel()
	lsb := "DISTRIB_ID=Arch\nDISTRIB_RELEASE=rolling\nDISTRIB_CODENAME=a b\n"
	for _, tt := range []struct{ release, lsb, want string }{
		{"NAME=\"Debian GNU/Linux\"\nID=debian\nVERSION_CODENAME=trixie\n", "", "[None, 'trixie', None, None, None]"},
		{"NAME=Ubuntu\nID=ubuntu\nVERSION_ID=22.04\nVERSION_CODENAME=jammy\n", lsb, "['22.04', 'jammy', 'Ubuntu-22.04', 'rolling', 'a b']"},
		{"NAME=\"Rocky Linux\"\nID=rocky\nVERSION_ID=9.2\nVERSION=\"9.2 (Blue Onyx)\"\n", lsb, "['9.2', 'Blue Onyx', 'Rocky Linux-9', 'rolling', 'a b']"},
		{"NAME=AlmaLinux\nID=almalinux\nVERSION_ID=9.2\nVERSION=9.2\n", "", "['9.2', None, 'AlmaLinux-9', None, None]"},
		{"NAME=\"Mendel GNU/Linux\"\nID=mendel\nPRETTY_NAME=\"Mendel GNU/Linux 5 (Eagle)\"\nVERSION_CODENAME=eagle\n", "", "['5', 'eagle', 'Mendel GNU/Linux-5', None, None]"},
		{"NAME=\"Astra Linux (Orel)\"\nID=astra\nVERSION_ID=2.12.43\nVARIANT_ID=orel\n", "", "['2.12.43', 'orel', 'Astra Linux (Orel)-2', None, None]"},
		{"NAME=Fedora\nID=fedora\nVERSION_ID=39\n", lsb, "['rolling', 'a b', 'Fedora-rolling', 'rolling', 'a b']"},
	} {
		h := host.NewFake()
		h.PutFile("/etc/os-release", tt.release, 0o644)
		if tt.lsb != "" {
			h.PutFile("/etc/lsb-release", tt.lsb, 0o644)
		}
		g := Collect(Options{Host: h, ID: "m"})
		got := value.NewList()
		for _, name := range []string{"osrelease", "oscodename", "osfinger", "lsb_distrib_release", "lsb_distrib_codename"} {
			v, _ := g.Get(name)
			got.Append(v)
		}
		if value.Repr(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.release, value.Repr(got), tt.want)
		}
		_, release := g.Get("osrelease")
		if _, codename := g.Get("oscodename"); !release || !codename {
			t.Errorf("%s: a grain that Salt has as None is missing", tt.release)
		}
	}
}
