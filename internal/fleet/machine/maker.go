package machine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/host"
)

// A Release is what is known of a system that an image is made of: its grains os,
// os_family, osrelease and oscodename.
type Release struct{ OS, Family, Version, Codename string }

// A maker makes root file systems by a package manager of this machine.
type maker struct {
	family string // of the systems that it makes
	prog   string
	suffix []string // of the names of files with its repositories
	own    string   // the repositories of this machine
	// argv is the command that makes root from a file or directory of repositories; without
	// own, from is "" for those that the program knows.
	argv func(r Release, root, from string, repos []byte) []string
}

// makers returns all makers.
func makers() []maker {
	return []maker{
		{"Debian", "mmdebstrap", []string{".list", ".sources"}, "", func(r Release, root, from string, _ []byte) []string {
			packages := "systemd,systemd-sysv,dbus,iproute2,procps,ca-certificates"
			argv := []string{"mmdebstrap", "--variant=minbase", "--include=" + packages, r.Codename, root}
			if from != "" {
				argv = append(argv, from)
			}
			return argv
		}},
		{"RedHat", "dnf", []string{".repo"}, "/etc/yum.repos.d", func(r Release, root, from string, _ []byte) []string {
			major, _, _ := strings.Cut(r.Version, ".")
			return []string{
				"dnf", "-q", "-y", "--disableplugin=local", "--installroot=" + root, "--releasever=" + major, "--setopt=reposdir=" + from,
				"--setopt=install_weak_deps=False", "--setopt=tsflags=nodocs", "install",
				"system-release", "systemd", "dnf", "iproute", "procps-ng", "findutils", "shadow-utils", "util-linux", "ca-certificates",
			}
		}},
		{"Suse", "zypper", []string{".repo"}, "/etc/zypp/repos.d", func(r Release, root, from string, repos []byte) []string {
			argv := []string{"zypper", "-q", "--non-interactive", "--root", root, "--reposd-dir", from, "--releasever", r.Version}
			if strings.Contains(string(repos), "\ngpgkey") { // the keys that the file names
				argv = append(argv, "--gpg-auto-import-keys")
			}
			return append(argv, "install", "--no-recommends", "--auto-agree-with-licenses",
				"distribution-release", "systemd", "zypper", "iproute2", "procps", "findutils", "shadow", "util-linux", "ca-certificates")
		}},
		{"Arch", "pacman", []string{".conf"}, "/etc/pacman.conf", func(_ Release, root, from string, _ []byte) []string {
			db := filepath.Join(root, "var/lib/pacman")
			return []string{
				"sh", "-c", `mkdir -p "$1"; shift; exec "$@"`, "sh", db,
				"pacman", "--root", root, "--dbpath", db, "--cachedir", filepath.Join(root, "var/cache/pacman/pkg"), "--config", from,
				"--noconfirm", "--noprogressbar", "-Sy", "base", "iproute2", "procps-ng",
			}
		}},
		{"Alpine", "apk", []string{".repositories"}, "/etc/apk/repositories", func(_ Release, root, from string, _ []byte) []string {
			return []string{
				"apk", "--quiet", "--no-cache", "--root", root, "--initdb", "--keys-dir", "/etc/apk/keys", "--repositories-file", from,
				"add", "alpine-base", "iproute2", "findutils",
			}
		}},
	}
}

// hasRepositories reports whether a file has repositories, and is not an image, by its name.
func hasRepositories(path string) bool {
	return slices.ContainsFunc(makers(), func(m maker) bool { return m.takes(path) })
}

func (m maker) takes(path string) bool { return slices.Contains(m.suffix, filepath.Ext(path)) }

// makerOf returns what makes images of a system from a file of repositories; "" are those of
// this machine. The error says why there is none.
func (i *Images) makerOf(system, path string, r Release) (maker, error) {
	give := "name a directory or an archive: --image " + system + "=PATH, or in the case file images: {" + system + ": PATH}"
	n := slices.IndexFunc(makers(), func(m maker) bool { return m.family == r.Family })
	if n < 0 || r.Family == "Debian" && r.Codename == "" {
		why := "the case file names none"
		if path != "" {
			why = "nothing makes one from " + path
		}
		return maker{}, &NoImageError{system, why, give}
	}
	m, made := makers()[n], "the case file names none"
	if path != "" {
		made = path + " has repositories, and not an image"
		if !m.takes(path) {
			return m, &NoImageError{system, fmt.Sprintf("%s makes images of it, from a file *%s, and not from %s", m.prog, strings.Join(m.suffix, " or *"), path), ""}
		}
	}
	switch _, err := i.Host.LookPath(m.prog, ""); {
	case err != nil:
		return m, &NoImageError{system, fmt.Sprintf("%s, and there is no %s to make one", made, m.prog), give + "; --compile needs none"}
	case i.Host.Geteuid() != 0:
		return m, &NoImageError{system, made + ", and only root can make one", give + "; --compile needs none"}
	case path == "" && m.own != "" && !isOf(i.release("/"), r):
		return m, &NoImageError{
			system, "the case file names none, and the repositories of this machine are of another system",
			fmt.Sprintf("name a file with repositories of %s: --image %[1]s=PATH%s; or %s", system, m.suffix[0], give),
		}
	}
	return m, nil
}

// built returns an image that was made before from a file of repositories, or makes one. ""
// are those of this machine.
func (i *Images) built(ctx context.Context, system, path string, r Release) (string, error) {
	m, err := i.makerOf(system, path, r)
	if err != nil {
		return "", err
	}
	name, from, repos := system, m.own, []byte(nil)
	if path != "" {
		if repos, err = i.Host.ReadFile(path); err != nil {
			return "", err
		}
		if line := refused(repos); m.prog == "pacman" && line != "" {
			return "", &NoImageError{system, fmt.Sprintf("%s has the line %q, which may change this machine", path, line), "it may have " + strings.Join(pacmanKeys, ", ") + ", and Include of files below /etc/pacman.d"}
		}
		name, from = fmt.Sprintf("%s-%x", system, sha256.Sum256(repos))[:len(system)+17], path
	}
	return i.once(name, func(root string) error {
		i.Note("making an image of %s with %s, once: this takes minutes; quicker are one that you have (--image %[1]s=PATH) and --compile, which needs none", system, m.prog)
		if path != "" && m.own != "" && m.takes(".repo") { // a directory with this file alone
			from = filepath.Join(filepath.Dir(root), "repositories")
			if err := i.Host.Mkdir(from, 0o755); err != nil {
				return err
			}
			if err := i.Host.WriteFile(filepath.Join(from, "brine-test.repo"), strings.NewReader(string(repos)), host.WriteOptions{}); err != nil {
				return err
			}
		}
		if err := i.make(ctx, system, m.prog, m.argv(r, root, from, append([]byte{'\n'}, repos...))); err != nil {
			return err
		}
		if got := i.release(root); m.own != "" && !isOf(got, r) {
			return &NoImageError{system, fmt.Sprintf("%s made one of %s %s from these repositories", m.prog, got.OS, got.Version), ""}
		}
		return nil
	})
}

// pacmanKeys are those of a configuration of pacman that only say what is installed. Others
// name files that it writes, or commands that it runs on this machine.
var pacmanKeys = []string{"Architecture", "CheckSpace", "IgnoreGroup", "IgnorePkg", "LocalFileSigLevel", "NoExtract", "ParallelDownloads", "RemoteFileSigLevel", "Server", "SigLevel", "Usage"}

// refused returns the first line of a configuration of pacman that is not of pacmanKeys.
func refused(conf []byte) string {
	for line := range strings.Lines(string(conf)) {
		line = strings.TrimSpace(line)
		key, v, _ := strings.Cut(line, "=")
		key, v = strings.TrimSpace(key), strings.TrimSpace(v)
		switch {
		case line == "", line[0] == '#', line[0] == '[', slices.Contains(pacmanKeys, key):
		case key == "Include" && strings.HasPrefix(v, "/etc/pacman.d/") && filepath.Clean(v) == v:
		default:
			return line
		}
	}
	return ""
}

// release is what the file os-release of a root file system says: the OS is its ID.
func (i *Images) release(root string) Release {
	var r Release
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		text, err := i.Host.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			key, v, _ := strings.Cut(strings.TrimSpace(line), "=")
			v = strings.Trim(v, `"'`)
			switch key {
			case "ID":
				r.OS = v
			case "VERSION_ID":
				r.Version = v
			}
		}
		break
	}
	return r
}

// ids are those in os-release that differ from the grain os by more than its case.
var ids = map[string][]string{
	"Amazon": {"amzn"}, "CentOS Stream": {"centos"}, "OEL": {"ol"}, "RedHat": {"rhel"},
	"SUSE": {"opensuse", "opensuse-leap", "opensuse-tumbleweed", "sles"},
}

// isOf reports whether an os-release is of a system, with the same number before the first
// dot. What has no release has any.
func isOf(got, want Release) bool {
	names := ids[want.OS]
	if names == nil {
		names = []string{strings.ToLower(want.OS)}
	}
	number, _, _ := strings.Cut(got.Version, ".")
	wanted, _, _ := strings.Cut(want.Version, ".")
	return slices.Contains(names, got.OS) && (number == "" || wanted == "rolling" || number == wanted)
}
