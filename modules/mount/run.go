package mount

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/cp"
	"brine/modules/file"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// A Request is what is to be mounted.
type Request struct {
	Name, Device string // Device "" mounts what fstab says
	Make         bool   // make the directory
	FSType       string
	Opts         []string // nil is none
	User         string   // mount as this user; "" is oneself
}

// run runs a tool as a user. It returns what the tool said where it failed.
func run(ctx context.Context, env *fun.Env, user string, argv ...string) (fault string, err error) {
	o := tool.Options{}
	if user != "" {
		acc, err := env.Host.LookupUser(user)
		if err != nil {
			return "", fun.Errorf("User '%s' is not available", user)
		}
		if acc.UID != env.Host.Geteuid() {
			o.User = &acc
		}
	}
	out, err := tool.RunWith(ctx, env.Host, o, argv...)
	if err != nil || out.OK() {
		return "", err
	}
	if fault = out.Fault(); fault == "" {
		fault = argv[0] + " failed"
	}
	return fault, nil
}

// argv returns the arguments of mount(8).
func (r Request) argv(opts []string) []string {
	argv := []string{"mount"}
	if r.Device == "" {
		return append(argv, "--", r.Name)
	}
	if len(opts) > 0 {
		argv = append(argv, "-o", strings.Join(opts, ","))
	}
	if r.FSType != "" {
		argv = append(argv, "-t", r.FSType)
	}
	return append(argv, "--", r.Device, r.Name)
}

// Mount mounts a file system. It returns what mount(8) said where that failed.
// Salt: salt/modules/mount.py mount.
func Mount(ctx context.Context, env *fun.Env, r Request) (fault string, err error) {
	if _, err := env.Host.Stat(r.Name); err != nil && r.Make {
		f := file.New(env, "", false)
		var owner value.Value
		if r.User != "" {
			owner = r.User
		}
		if err := f.Mkdir(ctx, r.Name, file.Perms{User: owner}); err != nil {
			return "", err
		}
	}
	return mountTool(ctx, env, r.User, r.Name, r.argv(r.Opts)...)
}

// mountTool runs mount(8) or umount(8). Where that is planned only, nobody knows what is
// at the mount point then: neither what a file system has nor what it hides.
func mountTool(ctx context.Context, env *fun.Env, user, name string, argv ...string) (fault string, err error) {
	if over := host.PlannedOn(env.Host); over != nil {
		if _, err := over.Stat(name); err != nil {
			return "mount point " + name + " does not exist", nil
		}
		return "", over.Veil(name, true)
	}
	return run(ctx, env, user, argv...)
}

// Remount mounts again what is mounted, with new options, and mounts what is not.
// Salt: salt/modules/mount.py remount.
func Remount(ctx context.Context, env *fun.Env, r Request) (fault string, err error) {
	m, err := List(ctx, env, false)
	if err != nil {
		return "", err
	}
	if m.Get(r.Name) == nil {
		return Mount(ctx, env, r)
	}
	opts := r.Opts
	if !slices.Contains(opts, "remount") {
		opts = append(slices.Clone(opts), "remount")
	}
	return mountTool(ctx, env, r.User, r.Name, r.argv(opts)...)
}

// Unmount unmounts a file system; what names it to umount(8), the device or the
// mount point. Salt: salt/modules/mount.py umount.
func Unmount(ctx context.Context, env *fun.Env, name, what, user string) (fault string, err error) {
	m, err := List(ctx, env, false)
	if err != nil {
		return "", err
	}
	if m.Get(name) == nil {
		return name + " does not have anything mounted", nil
	}
	return mountTool(ctx, env, user, name, "umount", "--", what)
}

// Swaps returns the active swap areas as Salt does.
func Swaps(h host.Host) (*value.Map, error) {
	b, err := h.ReadFile("/proc/swaps")
	if err != nil {
		return nil, fun.Errorf("%s", host.OSError(err))
	}
	m := value.NewMap(1)
	for _, l := range textfile.Lines(string(b)) {
		if f := strings.Fields(l); len(f) >= 5 && !strings.HasPrefix(l, "Filename") {
			m.Set(f[0], value.MapOf("type", f[1], "size", f[2], "used", f[3], "priority", f[4]))
		}
	}
	return m, nil
}

// SwapOn activates a swap area and returns its entry of Swaps, nil where it is not
// active afterwards.
func SwapOn(ctx context.Context, env *fun.Env, name string, priority value.Value) (stats value.Value, fresh bool, err error) {
	on, err := Swaps(env.Host)
	if err != nil {
		return nil, false, err
	}
	if on.Has(name) {
		return on.At(name), false, nil
	}
	argv := []string{"swapon"}
	if value.Truth(priority) {
		argv = append(argv, "-p", value.Str(priority))
	}
	fault, err := run(ctx, env, "", append(argv, "--", name)...)
	if err != nil {
		return nil, false, err
	}
	if fault != "" {
		env.Log().Error("swapon failed", "name", name, "message", fault)
	}
	if on, err = Swaps(env.Host); err != nil {
		return nil, false, err
	}
	return on.At(name), true, nil
}

// cachePath is where Salt keeps what it mounted with which options.
func cachePath(env *fun.Env) string { return filepath.Join(cp.New(env, "").CacheDir(), "mounts") }

func readCache(env *fun.Env) *value.Map {
	b, err := env.Host.ReadFile(cachePath(env))
	if err == nil {
		if v, err := yamlsalt.LoadString(string(b)); err == nil {
			if m, ok := v.(*value.Map); ok && m.Map("mounts") != nil {
				return m
			}
		}
	}
	return value.MapOf("mounts", value.NewMap(1))
}

// Cached returns what is noted of a mount point; {} for nothing.
func Cached(env *fun.Env, name string) *value.Map {
	if m := readCache(env).Map("mounts").Map(name); m != nil {
		return m
	}
	return value.NewMap(0)
}

// Cache notes how a mount point was mounted; nil forgets it.
func Cache(env *fun.Env, name string, entry *value.Map) error {
	path := cachePath(env)
	defer textfile.Lock(env, path)()
	m := readCache(env)
	if entry == nil {
		if !m.Map("mounts").Delete(name) {
			return nil
		}
	} else {
		m.Map("mounts").Set(name, entry)
	}
	text, err := yamlsalt.Dump(m, yamlsalt.SafeOptions())
	if err == nil {
		err = env.Host.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = textfile.WriteMode(env.Host, path, text, 0o600) // options may hold passwords
	}
	if err != nil {
		return fun.Errorf("Unable to write mount cache.")
	}
	return nil
}
