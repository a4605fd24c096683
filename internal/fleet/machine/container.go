package machine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/core/host"
)

//go:embed container.sh
var containerScript string

// ReferencePrefix marks an image that podman or docker has, instead of a path.
const ReferencePrefix = "oci:"

// engines are the drivers whose machines are containers of another program, by its name.
var engines = []string{"podman", "docker"}

// containerName is the file in the directory of a machine that says which container it is.
const containerName = "container"

// lookTime bounds a question to podman or docker.
const lookTime = 30 * time.Second

// engine is a driver whose machines are containers of podman or docker.
func engine(name, doc string) Driver {
	return Driver{
		Name: name, Doc: doc, needs: []string{name}, container: true, start: startContainer,
		enter: func(m *Machine) []string { return m.exec("-i") },
	}
}

// answers returns an *[UnusableError] if the engine of a driver does not answer, such as
// docker without its daemon.
func (d *Driver) answers(ctx context.Context, h host.Host) error {
	out, err := h.Run(ctx, host.Cmd{Argv: []string{d.Name, "info"}, Merge: true, Timeout: lookTime, ReadOnly: true})
	switch {
	case ctx.Err() != nil: // Ctrl-C says nothing of the engine
		return ctx.Err()
	case err != nil:
		return &UnusableError{d.Name, err.Error(), ""}
	case out.TimedOut:
		return &UnusableError{d.Name, fmt.Sprintf("%s info did not end within %s", d.Name, lookTime), ""}
	case out.Status != 0:
		lines := strings.Split(strings.TrimSpace(string(out.Stdout)), "\n")
		hint := "'" + d.Name + " info' must succeed"
		if d.Name == "docker" {
			hint += ": is its daemon running, and may you use it?"
		}
		return &UnusableError{d.Name, strings.TrimSpace(lines[len(lines)-1]), hint}
	}
	return nil
}

// startContainer returns the command that holds a container.
func startContainer(p *Pool, m *Machine, s Spec) ([]string, error) {
	name := m.container()
	if err := p.Host.AppendFile(filepath.Join(m.dir, containerName), []byte(m.driver.Name), 0o644); err != nil {
		return nil, err
	}
	argv := []string{"sh", "-c", containerScript, "container.sh", m.driver.Name, m.dir, s.Image, name, "--security-opt=label=disable"}
	if s.Network { // with the name of this machine
		argv = append(argv, "--network=host")
	} else {
		argv = append(argv, "--network=none", "--hostname="+s.Name)
	}
	for _, b := range s.Binds {
		if strings.Contains(b.From, ":") {
			return nil, fmt.Errorf("%s: a path that %s is to mount must not have ':'", b.From, m.driver.Name)
		}
		argv = append(argv, "--volume="+b.From+":"+b.To+":ro")
	}
	return argv, nil
}

// container is the name of the container of the machine.
func (m *Machine) container() string { return filepath.Base(m.dir) }

// exec is the command that runs a program in a container, with options of exec.
func (m *Machine) exec(options string) []string {
	argv := []string{m.driver.Name, "exec", options, m.container(), "env", "-i"}
	return append(argv, env...)
}

// removeContainer removes the container of a directory of a machine, if it had one whose
// holder was killed too.
func (p *Pool) removeContainer(dir string) error {
	text, err := p.Host.ReadFile(filepath.Join(dir, containerName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	name := string(text)
	if !slices.Contains(engines, name) {
		return fmt.Errorf("%s has a container of %q, which is unknown", dir, name)
	}
	out, err := p.Host.Run(context.Background(), host.Cmd{Argv: []string{name, "rm", "-f", filepath.Base(dir)}, Merge: true, Timeout: time.Minute})
	if err == nil && out.Status != 0 && !strings.Contains(strings.ToLower(string(out.Stdout)), "no such container") {
		err = fmt.Errorf("%s rm -f %s: %s", name, filepath.Base(dir), strings.TrimSpace(string(out.Stdout)))
	}
	return err
}

// Reference returns the reference of an image that the engine of a driver has.
func (i *Images) Reference(ctx context.Context, d *Driver, system, image string) (string, error) {
	give := fmt.Sprintf("name an image that %[1]s has: --image %[2]s=oci:REFERENCE, or in the case file images: {%[2]s: oci:REFERENCE}", d.Name, system)
	ref, ok := strings.CutPrefix(image, ReferencePrefix)
	switch {
	case image == "":
		return "", &NoImageError{system, "the case file names none", give}
	case !ok:
		return "", &NoImageError{system, fmt.Sprintf("%s is the path of a root file system, and the driver %s takes images of containers", image, d.Name), give}
	case ref == "" || strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, " \t\n"):
		return "", &NoImageError{system, fmt.Sprintf("%q is not a reference of an image", ref), give}
	}
	out, err := i.Host.Run(ctx, host.Cmd{Argv: []string{d.Name, "image", "inspect", "--format", "{{.Id}}", ref}, Merge: true, Timeout: lookTime, ReadOnly: true})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", &NoImageError{system, err.Error(), ""}
	case out.TimedOut:
		return "", &NoImageError{system, fmt.Sprintf("%s image inspect %s did not end within %s", d.Name, ref, lookTime), ""}
	case out.Status != 0:
		return "", &NoImageError{system, d.Name + " does not have " + ref, "fetch it: " + d.Name + " pull " + ref}
	}
	return ref, nil
}

// listAll is the command that lists the files of a container, in the form that Files reads.
var listAll = []string{
	"find", "/", "-xdev", "-mindepth", "1", "(", "-path", "/proc", "-o", "-path", "/sys", "-o", "-path", "/dev", "-o", "-path", "/run", "-o", "-path", "/tmp", ")", "-prune",
	"-o", "-printf", `%P\t%y %m %U:%G %s %T@ %l\0`,
}
