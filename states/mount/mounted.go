package mount

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/file"
	"brine/modules/mount"
)

// A work is one call of mounted.
type work struct {
	a      *mountedArgs
	c      *fun.Call
	name   string // without a slash at its end
	real   string // with links resolved
	device string
	fstype string
	opts   []string
	active *mount.Mounts
	// labelled are the devices that have the label that device names.
	labelled []string

	result  fun.Outcome
	comment string
	changes *value.Map
	done    bool // the return is made
	cache   bool // the options are to be noted
}

func (w *work) ret() fun.Ret {
	return fun.Ret{Result: w.result, Comment: w.comment, Changes: w.changes}
}

func (w *work) retOr(err error) fun.Ret {
	if err != nil {
		return fun.Raise(err)
	}
	return w.ret()
}

// findLabel finds the devices of a label; that there is none is the end.
func (w *work) findLabel(ctx context.Context) error {
	if !strings.HasPrefix(strings.ToUpper(w.device), "LABEL=") {
		return nil
	}
	_, label, _ := strings.Cut(w.device, "=")
	devices, err := mount.Devices(ctx, w.c.Env, "-t", "LABEL="+strings.Trim(label, `"`))
	if err != nil {
		return err
	}
	if len(devices) == 0 {
		w.end(fun.Failed, "Unable to find device with label "+label+".")
	}
	for name := range devices {
		w.labelled = append(w.labelled, name)
	}
	slices.Sort(w.labelled)
	return nil
}

// end makes the return.
func (w *work) end(r fun.Outcome, comment string) {
	w.result, w.comment, w.done = r, comment, true
}

type mountedArgs struct {
	nameArg
	Device  string   `arg:"device,required" doc:"device, tag such as UUID=..., or remote or special file system"`
	Fstype  string   `arg:"fstype,required" doc:"type of the file system"`
	Mkmnt   bool     `arg:"mkmnt" default:"False" doc:"create the mount point if it is missing"`
	Opts    []string `arg:"opts,comma[str]" default:"'defaults'" doc:"mount options, as a list or separated by commas"`
	Dump    string   `arg:"dump,int" default:"0" doc:"field for dump(8)"`
	PassNum string   `arg:"pass_num,int" default:"0" doc:"order of the checks at boot"`
	configArg
	Persist bool `arg:"persist" default:"True" doc:"keep the file system in the fstab"`
	Mount   bool `arg:"mount" default:"True" doc:"mount the file system"`
	userArg
	matchOnArg
	DeviceNameRegex            []string   `arg:"device_name_regex" doc:"regular expressions; a mounted device that matches one is not unmounted"`
	ExtraMountInvisibleOptions []string   `arg:"extra_mount_invisible_options" doc:"further options that a mounted file system does not show"`
	ExtraMountInvisibleKeys    []string   `arg:"extra_mount_invisible_keys" doc:"further keys of options that a mounted file system does not show"`
	ExtraMountIgnoreFSKeys     *value.Map `arg:"extra_mount_ignore_fs_keys" doc:"keys of options that cause no remount, by type of file system"`
	ExtraMountTranslateOptions *value.Map `arg:"extra_mount_translate_options,dict[str]" doc:"options that a mounted file system shows in another way"`
	HiddenOpts                 []string   `arg:"hidden_opts,comma[str]" doc:"options that are not compared"`
	BindMountCopyActiveOpts    bool       `arg:"bind_mount_copy_active_opts" default:"True" doc:"a bind mount has the options of the bound file system"`
	_                          fun.Kwargs
}

// mounted mounts a file system, with the given options, and keeps it in the fstab.
//
// Salt: salt/states/mount.py mounted. Differences: a failing remount is a failure;
// changed options of a tmpfs that somebody else mounted are seen.
func mounted(ctx context.Context, c *fun.Call, args *mountedArgs) fun.Ret {
	for _, needed := range []struct{ name, value string }{{"name", args.Name}, {"device", args.Device}, {"fstype", args.Fstype}} {
		if needed.value == "" {
			return fun.Fail("Must provide %s to mount.mounted", needed.name)
		}
	}
	w := &work{c: c, a: args, name: trim(c.Name), device: args.Device, fstype: args.Fstype, opts: args.Opts, result: fun.OK, changes: value.NewMap(3)}
	f := file.New(c.Env, "", c.Test)
	w.real = f.RealPath(w.name)
	_, err := f.Target(w.name)
	if unsafe, ok := errors.AsType[*host.UnsafeLinkError](err); ok {
		return fun.Fail("%s", unsafe)
	}
	if w.active, err = mount.List(ctx, c.Env, true); err != nil {
		return fun.Raise(err)
	}
	if err := w.findLabel(ctx); err != nil || w.done {
		return w.retOr(err)
	}
	if a := w.active.Get(w.real); a != nil && args.Mount {
		err = w.check(ctx, f, a)
	} else if a == nil {
		err = w.mount(ctx)
	}
	if err != nil {
		return fun.Raise(err)
	}
	if w.done || !args.Persist {
		return w.ret()
	}
	return w.persist()
}

// target returns how the kernel names the device that is wanted.
func (w *work) target(f *file.FS, a *mount.Active) string {
	d := w.device
	upper := strings.ToUpper(d)
	_, tag, _ := strings.Cut(d, "=")
	real := d
	switch {
	case strings.HasPrefix(d, "/") && slices.Contains(w.opts, "bind"):
		real = w.bound(a)
	case strings.HasPrefix(d, "/"):
		real = f.RealPath(d)
	case strings.HasPrefix(upper, "UUID="):
		real = strings.ToLower(strings.Trim(tag, `"`))
	case len(w.labelled) > 0:
		if real = w.labelled[0]; slices.Contains(w.labelled, a.Device) {
			real = a.Device
		}
	}
	// A logical volume has two names, of which the kernel uses that of the mapper.
	if p := strings.Split(d, "/"); len(p) == 4 && p[0] == "" && p[1] == "dev" {
		mapper := "/dev/mapper/" + strings.ReplaceAll(p[2], "-", "--") + "-" + strings.ReplaceAll(p[3], "-", "--")
		if f.Exists(mapper) {
			real = mapper
		}
	}
	// The device of a FUSE file system has its type in front: sshfs#host:/dir.
	if kind, rest, ok := strings.Cut(d, "#"); ok && kind != "" && !strings.ContainsAny(kind, "/:@") {
		real = rest
	}
	return real
}

// bound returns the device of what a bind mount shows: that of the file system
// above the directory that is bound. The options of that file system are those of
// the bind mount too.
func (w *work) bound(a *mount.Active) string {
	above := func(dir string) *mount.Active {
		for ; ; dir = filepath.Dir(dir) {
			if x := w.active.Get(dir); x != nil || dir == "/" || dir == "." {
				return x
			}
		}
	}
	var under *mount.Active
	if strings.HasPrefix(a.Device, "/") {
		under = above(filepath.Clean(w.device))
	} else {
		under = w.active.Get(w.device)
	}
	if under != nil {
		if w.a.BindMountCopyActiveOpts {
			w.opts = slices.Concat(w.opts, under.Opts, under.SuperOpts)
			slices.Sort(w.opts)
			w.opts = slices.Compact(w.opts)
		}
		a.Opts = append(a.Opts, "bind")
	}
	if under == nil || !strings.HasPrefix(a.Device, "/") {
		return a.Device
	}
	return under.Device
}

// check compares what is mounted with what is wanted.
func (w *work) check(ctx context.Context, f *file.FS, a *mount.Active) error {
	real := w.target(f, a)
	if err := w.checkOpts(ctx, a); err != nil || w.done {
		return err
	}
	devices := []string{a.Device, f.RealPath(a.Device)}
	for _, d := range []string{a.UUID, a.Label} {
		if d != "" {
			devices = append(devices, d)
		}
	}
	if slices.Contains(devices, mount.Escape(real)) || slices.Contains(devices, real) {
		w.comment = "Target was already mounted"
		return nil
	}
	for _, re := range w.a.DeviceNameRegex {
		r, err := regexp.Compile(`^(?:` + re + `)`)
		if err != nil {
			return fun.Errorf("device_name_regex %q: %v", re, err)
		}
		for _, d := range devices {
			if r.MatchString(d) {
				w.comment = "An umount will not be forced because device matched device_name_regex: " + d
				return nil
			}
		}
	}
	if w.c.Test {
		w.result, w.comment = fun.WouldChange, "An umount would have been forced because devices do not match.  Watched: "+w.device
		return nil
	}
	text := "Forced unmount because devices don't match. Wanted: " + w.device
	if real != w.device {
		text += " (" + real + ")"
	}
	w.changes.Set("umount", text+", current: "+strings.Join(devices, ", "))
	if _, err := mount.Unmount(ctx, w.c.Env, w.real, w.real, fun.TextOf(w.a.User)); err != nil {
		return err
	}
	active, err := mount.List(ctx, w.c.Env, true)
	if err != nil {
		return err
	}
	if w.active = active; active.Get(w.real) != nil {
		w.end(fun.Failed, "Unable to unmount")
		return nil
	}
	w.cache = true
	return w.mount(ctx)
}

// invisible are options that a mounted file system does not show.
// Salt: states/mount.py. Difference: noauto, user, nouser, owner and group are among
// them, else the file system is mounted again by every run.
var invisible = []string{
	"noauto", "user", "nouser", "owner", "group", "_netdev", "actimeo", "bg", "comment", "defaults", "delay_connect", "direct-io-mode", "intr", "loop", "nointr", "nobootwait", "nofail", "password",
	"reconnect", "retry", "soft", "auto", "users", "bind", "nonempty", "transform_symlinks", "port", "backup-volfile-servers",
}

// invisibleKeys are the keys of options with a value that a mounted file system
// does not show.
var invisibleKeys = []string{"actimeo", "comment", "credentials", "direct-io-mode", "password", "port", "retry", "secretfile"}

// byDefault reports whether a mounted file system has an option that it does not
// show because it is the default, or because it is for other programs than mount.
func byDefault(a *mount.Active, opt string) bool {
	switch opt {
	case "exec", "suid", "dev", "diratime":
		return !slices.Contains(a.Opts, "no"+opt)
	case "async":
		return !slices.Contains(a.Opts, "sync")
	}
	return strings.HasPrefix(opt, "x-") || strings.HasPrefix(opt, "X-")
}

// sizeKB returns a size option in the way that the kernel shows it.
func sizeKB(opt string) (string, bool) {
	s, ok := strings.CutPrefix(opt, "size=")
	if !ok || len(s) < 2 {
		return opt, false
	}
	n, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return opt, false
	}
	switch s[len(s)-1] {
	case 'k':
	case 'm':
		n *= 1024
	case 'g':
		n *= 1024 * 1024
	default:
		return opt, false
	}
	return "size=" + strconv.FormatInt(n, 10) + "k", true
}

// visible returns an option in the way that the kernel shows it.
func (w *work) visible(opt string) string {
	switch opt {
	case "tcp", "udp":
		opt = "proto=" + opt
	}
	if v := w.a.ExtraMountTranslateOptions; v != nil && v.Has(opt) {
		opt = v.Str(opt)
	}
	key, val, has := strings.Cut(opt, "=")
	if slices.Contains(invisibleKeys, key) || slices.Contains(w.a.ExtraMountInvisibleKeys, key) {
		return key
	}
	if s, ok := sizeKB(opt); ok {
		opt = s
	}
	if w.fstype == "cifs" && key == "user" && has {
		opt = "username=" + val
	}
	return mount.NumericOwner(w.c.Env.Host, opt)
}

// ignored returns the keys of options that do not cause a remount for a type of
// file system.
func (w *work) ignored() []string {
	var keys []string
	if w.fstype == "ramfs" {
		keys = append(keys, "size")
	}
	if m := w.a.ExtraMountIgnoreFSKeys; m != nil {
		if l := m.List(w.fstype); l != nil {
			for _, k := range l.Items {
				keys = append(keys, value.Str(k))
			}
		}
	}
	return keys
}

// due returns the options that the mounted file system does not have.
func (w *work) due(a *mount.Active) (opts, sizes []string) {
	ignored := w.ignored()
	hidden := slices.Concat(invisible, w.a.ExtraMountInvisibleOptions, w.a.HiddenOpts,
		invisibleKeys, w.a.ExtraMountInvisibleKeys, ignored)
	hasSize := slices.ContainsFunc(a.SuperOpts, func(o string) bool { _, ok := sizeKB(o); return ok })
	for _, o := range w.opts {
		opt := w.visible(o)
		if key, _, _ := strings.Cut(opt, "="); slices.Contains(ignored, key) {
			opt = key
		}
		if slices.Contains(a.Opts, opt) || slices.Contains(a.SuperOpts, opt) || slices.Contains(hidden, opt) || byDefault(a, opt) {
			continue
		}
		if !hasSize {
			opts = append(opts, opt)
		} else if _, isSize := sizeKB(opt); isSize || !strings.Contains(opt, "=") {
			// Salt does not compare the options of a file system that shows a size,
			// but only those that it noted when it mounted it.
			sizes = append(sizes, opt)
		}
	}
	return opts, sizes
}

// checkOpts mounts the file system again where its options are others.
func (w *work) checkOpts(ctx context.Context, a *mount.Active) error {
	if len(w.opts) == 0 {
		return nil
	}
	due, unseen := w.due(a)
	slices.Sort(due)
	text := strings.Join(due, ",")
	if len(due) > 0 {
		if err := w.remount(ctx, "Remount would be forced because options ("+text+") changed", "options ("+text+") changed"); err != nil || w.done {
			return err
		}
	}
	cached := mount.Cached(w.c.Env, w.real)
	if !cached.Has("opts") {
		w.cache = true
	}
	var missing []string
	if l := cached.List("opts"); l != nil {
		for _, o := range l.Items {
			if s := value.Str(o); !slices.Contains(w.opts, s) {
				missing = append(missing, s)
			}
		}
	}
	switch {
	case len(due) > 0:
		return nil
	case len(missing) > 0:
		last := w.visible(w.opts[len(w.opts)-1])
		for _, o := range a.SuperOpts {
			if s, ok := sizeKB(o); ok {
				last = s
			}
		}
		return w.remount(ctx, "Remount would be forced because options ("+strings.Join(missing, ",")+")changed", "options ("+last+") changed")
	case len(unseen) > 0:
		slices.Sort(unseen)
		text := "options (" + strings.Join(unseen, ",") + ") changed"
		return w.remount(ctx, "Remount would be forced because "+text, text)
	}
	return nil
}

// remount mounts the file system with the wanted options; some types have to be
// unmounted for that.
func (w *work) remount(ctx context.Context, would, because string) error {
	if w.c.Test {
		w.end(fun.WouldChange, would)
		return nil
	}
	w.cache = true
	r := mount.Request{Name: w.real, Device: w.device, Make: w.a.Mkmnt, FSType: w.fstype, Opts: w.opts}
	var fault string
	var err error
	if w.fstype == "nfs" || w.fstype == "cvfs" || strings.HasPrefix(w.fstype, "fuse") {
		w.changes.Set("umount", "Forced unmount and mount because "+because)
		if fault, err = mount.Unmount(ctx, w.c.Env, w.real, w.real, ""); err != nil {
			return err
		}
		if fault != "" {
			w.end(fun.Failed, "Unable to unmount "+w.real+": "+fault+".")
			return nil
		}
		fault, err = mount.Mount(ctx, w.c.Env, r)
	} else {
		w.changes.Set("umount", "Forced remount because "+because)
		fault, err = mount.Remount(ctx, w.c.Env, r)
	}
	if err == nil && fault != "" {
		w.changes.Delete("umount")
		w.end(fun.Failed, fault)
	}
	return err
}

// mount mounts what is not mounted.
func (w *work) mount(ctx context.Context) error {
	_, err := w.c.Env.Host.Stat(w.name)
	exists, mkmnt := err == nil, w.a.Mkmnt
	switch {
	case w.a.Mount && w.c.Test:
		switch {
		case exists:
			w.end(fun.WouldChange, w.name+" would be mounted")
		case mkmnt:
			w.end(fun.WouldChange, w.name+" would be created and mounted")
		default:
			w.end(fun.WouldChange, w.name+" does not exist and would not be created")
		}
		return nil
	case w.a.Mount && !exists && !mkmnt:
		w.end(fun.Failed, "Mount directory is not present")
		return nil
	case w.a.Mount:
		return w.mountNow(ctx)
	case exists && w.c.Test:
		w.comment = w.name + " would not be mounted"
	case exists:
		w.comment = w.name + " not mounted"
	case w.c.Test && mkmnt:
		w.result, w.comment = fun.WouldChange, w.name+" would be created, but not mounted"
	case w.c.Test:
		w.result, w.comment = fun.WouldChange, w.name+" does not exist and would neither be created nor mounted"
	case mkmnt:
		if err := makeDir(ctx, w.c, w.a, w.name); err != nil {
			return err
		}
		w.comment = w.name + " was created, not mounted"
	default:
		w.comment = w.name + " not present and not mounted"
	}
	return nil
}

func (w *work) mountNow(ctx context.Context) error {
	fault, err := mount.Mount(ctx, w.c.Env, mount.Request{
		Name: w.name, Device: w.device, Make: w.a.Mkmnt, FSType: w.fstype, Opts: w.opts, User: fun.TextOf(w.a.User),
	})
	if err != nil {
		return err
	}
	if fault != "" {
		w.end(fun.Failed, fault)
		return nil
	}
	w.cache = true
	if w.active, err = mount.List(ctx, w.c.Env, true); err != nil {
		return err
	}
	if w.active.Get(w.real) != nil {
		w.comment = "Target was successfully mounted"
		w.changes.Set("mount", true)
	}
	return nil
}

// persist keeps the file system in the fstab.
func (w *work) persist() fun.Ret {
	c := w.c
	e := mount.Entry{Device: w.device, Name: w.name, FSType: w.fstype, Opts: strings.Join(w.opts, ","), Dump: w.a.Dump, Pass: w.a.PassNum}
	if !c.Test {
		if w.cache {
			entry := value.MapOf("device", w.device, "fstype", w.fstype, "mkmnt", w.a.Mkmnt, "opts", value.Strings(w.opts...))
			if err := mount.Cache(c.Env, w.real, entry); err != nil {
				c.Env.Log().Warn(err.Error())
			}
		}
		return persist(c, w.a.Config, w.ret(), w.changes, e, w.a.MatchOn)
	}
	did, err := mount.SetFstab(c.Env, w.a.Config, e, w.a.MatchOn, false, true)
	if err != nil {
		w.result, w.comment = fun.Failed, w.comment+". "+err.Error()
		return w.ret()
	}
	say := ""
	switch {
	case did == "present":
		w.comment += ". Entry already exists in the fstab."
		return w.ret()
	case did == "new" && w.a.Mount:
		say = w.name + " is mounted, but needs to be written to the fstab in order to be made persistent."
	case did == "new":
		say = w.name + " needs to be written to the fstab in order to be made persistent."
	case w.a.Mount:
		say = w.name + " is mounted, but its fstab entry must be updated."
	default:
		say = "The " + w.name + " fstab entry must be updated."
	}
	w.result, w.comment = fun.WouldChange, w.comment+". "+say
	return w.ret()
}
