package machine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/core/host"
)

// Images finds and makes the root file systems of machines.
type Images struct {
	Host host.Host
	Dir  string // of those that are unpacked and built
	// Note tells what takes a while.
	Note func(format string, args ...any)
}

// A NoImageError says that there is no image of a system.
type NoImageError struct{ System, Why, Hint string }

func (e *NoImageError) Error() string { return "there is no image of " + e.System + ": " + e.Why }

// Of returns the directory of the image of a system. path is that of a directory or an
// archive; "" is an image that mmdebstrap makes of the release with the code name.
func (i *Images) Of(ctx context.Context, system, path, codename string) (string, error) {
	if strings.HasPrefix(path, ReferencePrefix) {
		return "", &NoImageError{system, path + " is an image of containers", "use --driver podman or docker, or name a directory or an archive"}
	}
	if path == "" {
		return i.built(ctx, system, codename)
	}
	st, err := i.Host.Stat(path)
	switch {
	case err != nil:
		return "", &NoImageError{system, err.Error(), "it is named by --image, or under images in the case file"}
	case st.Mode.IsDir():
		return path, nil
	case !st.Mode.IsRegular():
		return "", &NoImageError{system, path + " is neither a directory nor an archive", ""}
	}
	key := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", path, st.Size, st.Mtime.UnixNano())))[:16]
	return i.once(system+"-"+key, func(dir string) error {
		i.Note("unpacking %s", path)
		argv := []string{"tar", "-x", "-f", path, "-C", dir, "--numeric-owner", "--exclude=./dev/*", "--exclude=dev/*"}
		if i.Host.Geteuid() != 0 {
			argv = append(argv, "--no-same-owner")
		}
		return i.run(ctx, system, argv[0], argv)
	})
}

// built returns an image that was made before, or makes one.
func (i *Images) built(ctx context.Context, system, codename string) (string, error) {
	give := "name a directory or an archive: --image " + system + "=PATH, or in the case file images: {" + system + ": PATH}"
	switch _, err := i.Host.LookPath("mmdebstrap", ""); {
	case codename == "":
		return "", &NoImageError{system, "the case file names none", give}
	case err != nil:
		return "", &NoImageError{system, "the case file names none, and there is no mmdebstrap to make one", give}
	case i.Host.Geteuid() != 0:
		return "", &NoImageError{system, "the case file names none, and only root can make one", give}
	}
	return i.once(system, func(dir string) error {
		i.Note("making an image of %s with mmdebstrap: this takes a minute or two", system)
		packages := "systemd,systemd-sysv,dbus,iproute2,procps,ca-certificates"
		return i.run(ctx, system, "mmdebstrap", []string{"mmdebstrap", "--quiet", "--variant=minbase", "--include=" + packages, codename, dir})
	})
}

// once returns a directory that is made if it is not there.
func (i *Images) once(name string, makes func(dir string) error) (string, error) {
	dir := filepath.Join(i.Dir, name)
	_, err := i.Host.Stat(dir)
	if err == nil {
		return dir, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := i.Host.MkdirAll(i.Dir, 0o700); err != nil {
		return "", err
	}
	// Half an image is none: it is made beside its place.
	half, err := i.Host.MkdirTemp(i.Dir, ".new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = i.Host.RemoveAll(half) }()
	root := filepath.Join(half, "root")
	if err := i.Host.Mkdir(root, 0o755); err != nil {
		return "", err
	}
	if err := makes(root); err != nil {
		return "", err
	}
	return dir, i.Host.Rename(root, dir)
}

// run runs a command that makes an image, or brings it here; prog is what people know it by.
func (i *Images) run(ctx context.Context, system, prog string, argv []string) error {
	out, err := i.Host.Run(ctx, host.Cmd{Argv: argv, Merge: true})
	if err != nil {
		return &NoImageError{system, err.Error(), ""}
	}
	if out.Status != 0 {
		hint := ""
		if IsNoSpace(string(out.Stdout)) {
			hint = spaceHint
		}
		return &NoImageError{system, fmt.Sprintf("%s ended with status %d\n%s", prog, out.Status, strings.TrimSpace(string(out.Stdout))), hint}
	}
	return nil
}
