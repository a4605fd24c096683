package machine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/py/source"
)

// A maker is a program that installs packages of a repository into an empty directory.
type maker struct {
	prog     string
	debian   string   // package of Debian that has the program
	packages []string // that are installed where none are named
	argv     func(recipe) []string
}

// A recipe says what an image is made of.
type recipe struct {
	root, repo string
	release    string // code name or number
	packages   []string
}

// makers are the programs that make images, by the word before the ":" of an image.
var makers = map[string]maker{
	"mmdebstrap": {"mmdebstrap", "mmdebstrap", []string{"systemd", "systemd-sysv", "dbus", "iproute2", "procps", "ca-certificates"}, mmdebstrap},
	"dnf":        {"dnf", "dnf", []string{"systemd", "dnf", "coreutils", "iproute", "procps-ng"}, dnf},
	"zypper":     {"zypper", "zypper", []string{"systemd", "zypper", "coreutils", "iproute2", "procps"}, zypper},
	"apk":        {"apk", "apk-tools", []string{"alpine-base"}, apk},
	"pacman":     {"pacman", "pacman-package-manager", []string{"base"}, pacman},
}

func mmdebstrap(r recipe) []string {
	argv := []string{"mmdebstrap", "--quiet", "--variant=minbase", "--include=" + strings.Join(r.packages, ","), r.release, r.root}
	if r.repo != "" {
		argv = append(argv, r.repo)
	}
	return argv
}

func dnf(r recipe) []string {
	argv := []string{
		"dnf", "--assumeyes", "--quiet", "--installroot=" + r.root, "--releasever=" + r.release, "--setopt=reposdir=/dev/null", "--setopt=install_weak_deps=False",
		"--setopt=tsflags=nodocs", "--repofrompath=brine," + r.repo, "--repo=brine", "--nogpgcheck", "install",
	}
	return append(argv, r.packages...)
}

func zypper(r recipe) []string {
	script := `zypper --root "$0" --non-interactive --quiet addrepo --no-gpgcheck "$1" brine
repo=$1; shift
exec zypper --root "$0" --non-interactive --quiet --no-gpg-checks install --no-recommends --from brine "$@"`
	return append([]string{"sh", "-euc", script, r.root, r.repo}, r.packages...)
}

func apk(r recipe) []string {
	return append([]string{"apk", "--root", r.root, "--initdb", "--no-cache", "--allow-untrusted", "--repository", r.repo, "add"}, r.packages...)
}

func pacman(r recipe) []string {
	script := `conf=$0.conf
printf '[options]\nArchitecture = auto\nSigLevel = Never\n[brine]\nServer = %s\n' "$1" >"$conf"
shift
mkdir -p "$0/var/lib/pacman" "$0/var/cache/pacman/pkg"
exec pacman --config "$conf" --root "$0" --cachedir "$0/var/cache/pacman/pkg" --noconfirm --noprogressbar -Sy "$@"`
	return append([]string{"sh", "-euc", script, r.root, r.repo}, r.packages...)
}

// makerOf returns the program that an image is made by, and of what: "dnf:URL".
func makerOf(image string) (tool, from string, ok bool) {
	tool, from, ok = strings.Cut(image, ":")
	_, known := makers[tool]
	return tool, from, ok && known
}

// made returns an image that a program makes of a repository: a URL or a directory, and after
// "#" the packages to install.
func (i *Images) made(ctx context.Context, system, release, tool, from string) (string, error) {
	m := makers[tool]
	repo, packages, _ := strings.Cut(from, "#")
	if release == "" { // of systems without code names, the number
		release = system[strings.LastIndexByte(system, '-')+1:]
	}
	r := recipe{repo: repo, release: release, packages: m.packages}
	if packages != "" {
		r.packages = strings.Split(packages, ",")
	}
	if err := r.check(system, tool); err != nil {
		return "", err
	}
	if _, err := i.Host.LookPath(m.prog, ""); err != nil {
		return "", &NoImageError{system, "there is no program " + m.prog, "install it (Debian: " + m.debian + "), or make the image elsewhere and name its directory or archive"}
	}
	if i.Host.Geteuid() != 0 {
		return "", &NoImageError{system, "only root can make one by " + m.prog, "run brine test as root, or name a directory or an archive"}
	}
	if filepath.IsAbs(r.repo) {
		r.repo = "file://" + r.repo
	}
	key := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q %q %q", tool, from, release)))[:16]
	return i.once(system+"-"+key, func(dir string) error {
		i.Note("making an image of %s with %s: this takes a minute or two", system, m.prog)
		r.root = dir
		return i.run(ctx, system, m.prog, m.argv(r))
	})
}

// check returns what is wrong with the repository or the packages of an image.
func (r *recipe) check(system, tool string) error {
	form := tool + ":URL, or " + tool + ":DIR; packages may follow, as in #bash,coreutils"
	u, err := url.Parse(r.repo)
	switch {
	case r.repo == "" || err != nil || u.Scheme == "" && !filepath.IsAbs(r.repo) || strings.ContainsAny(r.repo, " \t\n,"):
		return &NoImageError{system, fmt.Sprintf("%q is neither a URL nor the absolute path of a repository", r.repo), "write " + form}
	case u.Scheme != "" && !slices.Contains([]string{"https", "file"}, u.Scheme):
		return &NoImageError{system, fmt.Sprintf("%s: packages are not fetched over %s, since nobody would check them", r.repo, u.Scheme), "use https, or copy the repository to a directory"}
	}
	for _, p := range r.packages {
		if p == "" || strings.HasPrefix(p, "-") || strings.ContainsAny(p, " \t\n/") {
			return &NoImageError{system, fmt.Sprintf("%q is not the name of a package", p), "write " + form}
		}
	}
	return nil
}

// nearMaker says which maker a word before ":" may mean, which is none.
func nearMaker(image string) string {
	tool, _, ok := strings.Cut(image, ":")
	if !ok || strings.Contains(tool, "/") {
		return ""
	}
	names := []string{strings.TrimSuffix(ReferencePrefix, ":")}
	for name := range makers {
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Sprintf("an image is a path, or begins with one of %s:%s", strings.Join(names, ":, "), source.DidYouMean(tool, names))
}
