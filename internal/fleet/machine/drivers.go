package machine

import (
	_ "embed"
	"path/filepath"
	"strconv"
	"strings"
)

// The scripts that make machines.
//
//go:embed links.sh
var linksScript string

//go:embed namespace.sh
var namespaceScript string

//go:embed nspawn.sh
var nspawnScript string

// startNamespace returns the command that holds a machine of namespaces.
func startNamespace(p *Pool, m *Machine, s Spec) ([]string, error) {
	argv, options := []string{"unshare"}, ""
	switch {
	case p.isRoot():
	case s.Beside != nil:
		argv = append(p.usersOf(s.Beside.holder), argv...)
		options = "userxattr,"
	default:
		argv = append(argv, "--user", "--map-root-user")
		if p.hasSubIDs() {
			argv = append(argv, "--map-auto")
		}
		options = "userxattr,"
	}
	argv = append(argv, "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--uts", "--ipc")
	network := "yes"
	if !s.Network {
		argv, network = append(argv, "--net"), "no"
	}
	argv = append(argv, "sh", "-c", linksScript+namespaceScript, "namespace.sh", m.dir, s.Image, options, s.Name, network)
	for _, b := range s.Binds {
		argv = append(argv, b.From, b.To)
	}
	return argv, nil
}

func (p *Pool) isRoot() bool { return p.Host.Geteuid() == 0 }

// hasSubIDs reports whether a user may have further user IDs in a namespace, so that
// files in it have different owners.
func (p *Pool) hasSubIDs() bool {
	if _, err := p.Host.LookPath("newuidmap", ""); err != nil {
		return false
	}
	acc, err := p.Host.LookupUID(p.Host.Geteuid())
	if err != nil {
		return false
	}
	for _, file := range []string{"/etc/subuid", "/etc/subgid"} {
		text, err := p.Host.ReadFile(file)
		if err != nil || !hasLine(string(text), acc.Name, strconv.Itoa(acc.UID)) {
			return false
		}
	}
	return true
}

func hasLine(text, name, number string) bool {
	for line := range strings.Lines(text) {
		if who, _, ok := strings.Cut(line, ":"); ok && (who == name || who == number) {
			return true
		}
	}
	return false
}

// usersOf is the command that enters namespaces of a process, which options after it name.
// Without root it enters that of its users first.
func (p *Pool) usersOf(pid int) []string {
	argv := []string{"nsenter", "-t", strconv.Itoa(pid)}
	if !p.isRoot() {
		argv = append(argv, "--user", "--preserve-credentials")
	}
	return argv
}

// mounts is the command that runs a program of this machine where the mounts of m are.
func (m *Machine) mounts() []string { return append(m.pool.usersOf(m.holder), "--mount") }

func enterNamespace(m *Machine) []string {
	argv := append(m.mounts(), "--uts", "--ipc", "--net", "--pid")
	return append(argv, "chroot", filepath.Join(m.dir, "m/root"))
}

// startNspawn returns the command that holds a machine of systemd-nspawn.
func startNspawn(p *Pool, m *Machine, s Spec) ([]string, error) {
	var err error
	if m.groups, err = OwnGroups(filepath.Base(m.dir)); err != nil {
		return nil, err
	}
	text := strings.Join(m.groups, "\n") + "\n"
	if err := p.Host.AppendFile(filepath.Join(m.dir, groupName), []byte(text), 0o644); err != nil {
		return nil, err
	}
	argv := append([]string{"sh", "-c", JoinGroups, "sh"}, m.groups...)
	argv = append(argv, "--", "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc",
		"sh", "-c", linksScript+nspawnScript, "nspawn.sh", m.dir, s.Image, s.Name,
		"-q", "-D", filepath.Join(m.dir, "m/root"), "-M", s.Name, "-b", "--register=no", "--keep-unit",
		"--timezone=off", "--link-journal=no", "--console=pipe")
	argv = append(argv, nspawnNetwork(s.Network)...)
	for _, b := range s.Binds {
		argv = append(argv, "--bind-ro="+escape(b.From)+":"+escape(b.To))
	}
	return argv, nil
}

// nspawnNetwork are the options for the network of this machine, or for none. That of this
// machine is without CAP_NET_ADMIN, or the firewall that is tested would be that of this machine.
func nspawnNetwork(shared bool) []string {
	if shared {
		return []string{"--resolv-conf=replace-host"}
	}
	return []string{"--private-network", "--capability=CAP_NET_ADMIN", "--resolv-conf=off"}
}

// escape writes a path as options of systemd-nspawn have it.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(path)
}

func enterNspawn(m *Machine) []string {
	return []string{"nsenter", "-t", strconv.Itoa(m.init), "-a", "--wdns=/"}
}
