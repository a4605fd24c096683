// Package mount is Salt's state module "mount": mounted file systems, swap and
// fstab.
package mount

import (
	"context"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/file"
	"brine/modules/mount"
)

// States returns the rows of the state module "mount".
func States() fun.Module {
	return fun.Module{Name: "mount", Kind: fun.State, Doc: "Manage mounted file systems, swap and fstab.", Specs: specs, Watch: fun.StateFunc(watch).State, Avail: available}
}

func available(e *fun.Env) (bool, string) {
	if m, why := e.Provider(fun.Exec, "mount"); m == nil {
		return false, why
	}
	return true, ""
}

// trim takes slashes at the end of a mount point off.
func trim(name string) string {
	if t := strings.TrimRight(name, "/"); t != "" {
		return t
	}
	return name[:min(1, len(name))]
}

type swapArgs struct {
	_       string `arg:"name,required,path" doc:"swap file or device"`
	Persist bool   `arg:"persist" default:"True" doc:"keep the swap area in the fstab"`
	configArg
}

// swap activates a swap area and keeps it in the fstab.
// Salt: salt/states/mount.py swap.
func swap(ctx context.Context, c *fun.Call, a *swapArgs) fun.Ret {
	name, h := c.Name, c.Env.Host
	on, err := mount.Swaps(h)
	if err != nil {
		return fun.Raise(err)
	}
	real := name
	if to, err := h.Readlink(name); err == nil {
		if real = to; !path.IsAbs(real) {
			real = "/dev/" + path.Base(real)
		}
	}
	ret := fun.Ret{Result: fun.OK}
	comment := "Swap " + name + " already active"
	changes := value.NewMap(0)
	switch {
	case on.Has(real):
	case c.Test:
		ret.Result, comment = fun.WouldChange, "Swap "+name+" is set to be activated"
	default:
		stats, _, err := mount.SwapOn(ctx, c.Env, real, nil)
		if err != nil {
			return fun.Raise(err)
		}
		if m, _ := stats.(*value.Map); m != nil {
			comment, changes = "Swap "+name+" activated", m
		} else {
			ret.Result, comment = fun.Failed, "Swap "+name+" failed to activate"
		}
	}
	ret.Comment, ret.Changes = comment, changes
	if !a.Persist {
		return ret
	}
	config := a.Config
	table, err := mount.ReadFstab(c.Env, config)
	if err != nil {
		return fun.Raise(err)
	}
	e := mount.Entry{Device: name, Name: "none", FSType: "swap", Opts: "defaults", Dump: "0", Pass: "0"}
	if c.Test {
		if !known(table, name) {
			if ret.Result = fun.WouldChange; on.Has(real) {
				ret.Comment = "Swap " + name + " is set to be added to the fstab and to be activated"
			}
		}
		return ret
	}
	if none, ok := table.Find("none"); ok && none.Device == mount.Escape(name) && none.FSType != "swap" {
		return ret
	}
	return persist(c, config, ret, changes, e, nil)
}

// known reports whether a table has a device or mount point.
func known(t mount.Table, name string) bool {
	for _, e := range t.Entries() {
		if e.Device == mount.Escape(name) || e.Name == mount.Escape(name) {
			return true
		}
	}
	return false
}

// persist writes an entry to the fstab and notes that in the return.
func persist(c *fun.Call, config string, ret fun.Ret, changes *value.Map, e mount.Entry, matchOn []string) fun.Ret {
	comment := value.Str(ret.Comment)
	if st, err := c.Env.Host.Stat(config); err != nil || !st.Mode.IsRegular() {
		ret.Result, ret.Comment = fun.Failed, comment+". However, the fstab was not found."
		return ret
	}
	did, err := mount.SetFstab(c.Env, config, e, matchOn, false, false)
	switch {
	case err != nil:
		ret.Result, comment = fun.Failed, comment+". "+err.Error()
	case did == "new":
		changes.Set("persist", "new")
		comment += ". Added new entry to the fstab."
	case did == "change":
		changes.Set("persist", "update")
		comment += ". Updated the entry in the fstab."
	case e.FSType != "swap":
		comment += ". Entry already exists in the fstab."
	}
	ret.Comment, ret.Changes = comment, changes
	return ret
}

type unmountedArgs struct {
	nameArg
	Device string `arg:"device" doc:"device of the entry of the fstab"`
	configArg
	Persist bool `arg:"persist" default:"False" doc:"remove the entry from the fstab too"`
	userArg
	_ fun.Kwargs
}

// unmounted unmounts a file system and, with persist, takes it out of the fstab.
//
// Salt: salt/states/mount.py unmounted. Difference: what could not be unmounted
// stays in the fstab.
func unmounted(ctx context.Context, c *fun.Call, a *unmountedArgs) fun.Ret {
	if c.Name == "" {
		return fun.Fail("Must provide name to mount.unmounted")
	}
	name, device, config := trim(c.Name), a.Device, a.Config
	active, err := mount.List(ctx, c.Env, true)
	if err != nil {
		return fun.Raise(err)
	}
	host.LookBehind(c.Env.Host, name)
	changes := value.NewMap(2)
	ret := fun.Ret{Result: fun.OK, Changes: changes}
	comment := "Target was already unmounted"
	if active.Get(name) != nil {
		if c.Test {
			return fun.Ret{Result: fun.WouldChange, Comment: "Mount point " + c.Name + " is mounted but should not be"}
		}
		fault, err := mount.Unmount(ctx, c.Env, name, name, fun.TextOf(a.User))
		if err != nil {
			return fun.Raise(err)
		}
		if fault != "" {
			return fun.Fail("%s", fault)
		}
		if err := mount.Cache(c.Env, name, nil); err != nil {
			c.Env.Log().Warn(err.Error())
		}
		comment = "Target was successfully unmounted"
		changes.Set("umount", true)
	}
	if !a.Persist {
		ret.Comment = comment
		return ret
	}
	table, err := mount.ReadFstab(c.Env, config)
	if err != nil {
		return fun.Raise(err)
	}
	found, ok := table.Find(mount.Escape(name))
	switch {
	case !ok:
		comment += ". fstab entry not found"
	case device != "" && found.Device != mount.Escape(device):
		comment += ". fstab entry for device " + device + " not found"
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Mount point " + c.Name + " is unmounted but needs to be purged from " + config + " to be made persistent"}
	default:
		if err := mount.RemoveFstab(c.Env, config, name, device); err != nil {
			ret.Result, comment = fun.Failed, comment+". Failed to persist purge: "+err.Error()
			break
		}
		comment += ". Removed target from fstab"
		changes.Set("persist", "purged")
	}
	ret.Comment = comment
	return ret
}

// watch mounts again what a watched state changed.
//
// Salt: salt/states/mount.py mod_watch. Difference: a dry run mounts nothing, and
// what fails is a failure.
func watch(ctx context.Context, c *fun.Call, a *mountedArgs) fun.Ret {
	if sfun := c.Low.Low.Str("sfun"); sfun != "mounted" {
		return fun.Ret{Result: fun.OK, Comment: "Watch not supported in " + sfun + " at this time"}
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: c.Name + " would be remounted"}
	}
	fault, err := mount.Remount(ctx, c.Env, mount.Request{
		Name: trim(c.Name), Device: a.Device, FSType: a.Fstype, Opts: a.Opts, User: fun.TextOf(a.User),
	})
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return fun.Fail("%s failed to remount: %s", c.Name, fault)
	}
	return fun.Ret{Result: fun.OK, Comment: c.Name + " remounted"}
}

// spec returns how the fstab names a device: by what mount_by says, a device or a
// tag such as UUID. "" says that it cannot be found.
// Salt: salt/states/mount.py _convert_to.
func spec(ctx context.Context, c *fun.Call, device, by string) (string, error) {
	tag := strings.ToUpper(by)
	if by == "" || by == "device" && strings.HasPrefix(device, "/") || strings.HasPrefix(device, tag+"=") {
		return device, nil
	}
	what := []string{"-t", device}
	if strings.HasPrefix(device, "/") {
		what = []string{device}
	} else if !strings.Contains(device, "=") {
		return "", nil
	}
	devices, err := mount.Devices(ctx, c.Env, what...)
	if err != nil || len(devices) != 1 {
		return "", err
	}
	for name, tags := range devices {
		switch {
		case by == "device":
			return name, nil
		case tags[tag] != "":
			return tag + "=" + tags[tag], nil
		}
	}
	return "", nil
}

func lines(ss ...string) value.Value { return value.Strings(ss...) }

type fstabPresentArgs struct {
	specArg
	fsFileArg
	FSVfstype string   `arg:"fs_vfstype,required" doc:"type of the file system"`
	FSMntops  []string `arg:"fs_mntops,comma[str]" default:"'defaults'" doc:"mount options, as a list or separated by commas"`
	FSFreq    string   `arg:"fs_freq,int" default:"0" doc:"field for dump(8)"`
	FSPassno  string   `arg:"fs_passno,int" default:"0" doc:"order of the checks at boot"`
	mountByArg
	configArg
	Mount bool `arg:"mount" default:"True" doc:"mount a new entry"`
	matchOnArg
	NotChange bool `arg:"not_change" default:"False" doc:"leave an existing entry as it is"`
	_         bool `arg:"fs_mount" default:"True" doc:"AIX only"`
}

// fstabPresent puts an entry into the fstab and, where it is new, mounts it.
// Salt: salt/states/mount.py fstab_present.
func fstabPresent(ctx context.Context, c *fun.Call, a *fstabPresentArgs) fun.Ret {
	config, target := a.Config, trim(a.FSFile)
	device, err := spec(ctx, c, c.Name, a.MountBy)
	if err != nil {
		return fun.Raise(err)
	}
	if device == "" {
		return fun.Ret{Comment: lines("Device " + c.Name + " cannot be converted to " + a.MountBy)}
	}
	e := mount.Entry{
		Device: device, Name: target, FSType: a.FSVfstype, Opts: strings.Join(a.FSMntops, ","),
		Dump: a.FSFreq, Pass: a.FSPassno,
	}
	did, err := mount.SetFstab(c.Env, config, e, a.MatchOn, a.NotChange, c.Test)
	if err != nil {
		verb := " entry cannot be changed in "
		if c.Test {
			verb = " entry cannot be created in "
		}
		return fun.Ret{Comment: lines(target + verb + config + ": " + err.Error() + ".")}
	}
	if c.Test {
		ret := fun.Ret{Result: fun.WouldChange}
		switch did {
		case "present":
			ret.Result, ret.Comment = fun.OK, lines(target+" entry is already in "+config+".")
		case "change":
			ret.Comment = lines(target + " entry will be updated in " + config + ".")
		default:
			say := []string{target + " entry will be written in " + config + "."}
			if a.Mount {
				say = append(say, "Will mount "+c.Name+" on "+target)
			}
			ret.Comment = lines(say...)
		}
		return ret
	}
	switch did {
	case "present":
		return fun.Ret{Result: fun.OK, Comment: lines(target + " entry was already in " + config + ".")}
	case "change":
		return fun.Ret{Result: fun.OK, Comment: lines(target + " entry updated in " + config + "."), Changes: value.MapOf("persist", did)}
	}
	ret := fun.Ret{Result: fun.OK, Changes: value.MapOf("persist", did)}
	say := []string{target + " entry added in " + config + "."}
	if a.Mount {
		fault, err := mount.Mount(ctx, c.Env, mount.Request{Name: target})
		if err != nil {
			return fun.Raise(err)
		}
		if fault == "" {
			say = append(say, "Mounted "+c.Name+" on "+target)
		} else {
			ret.Result = fun.Failed
			if _, after, ok := strings.Cut(fault, ":"); ok {
				fault = after
			}
			say = append(say, "Error while mounting "+fault)
		}
	}
	ret.Comment = lines(say...)
	return ret
}

type fstabAbsentArgs struct {
	specArg
	fsFileArg
	mountByArg
	configArg
}

// fstabAbsent takes an entry out of the fstab. Salt: salt/states/mount.py
// fstab_absent. Difference: a dry run that has nothing to do says True.
func fstabAbsent(ctx context.Context, c *fun.Call, a *fstabAbsentArgs) fun.Ret {
	config, target := a.Config, trim(a.FSFile)
	device, err := spec(ctx, c, c.Name, a.MountBy)
	if err != nil {
		return fun.Raise(err)
	}
	table, err := mount.ReadFstab(c.Env, config)
	if err != nil {
		return fun.Raise(err)
	}
	left := table.Remove(mount.Escape(target), mount.Escape(device))
	_, found := table.Find(mount.Escape(target))
	switch {
	case !found:
		return fun.Ret{Result: fun.OK, Comment: lines(target + " entry is already missing in " + config + ".")}
	case len(left) == len(table):
		return fun.Ret{Result: fun.OK, Comment: lines("The " + target + " entry in " + config + " is of another device and stays.")}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: lines(target + " entry will be removed from " + config + ".")}
	}
	if err := mount.RemoveFstab(c.Env, config, target, device); err != nil {
		return fun.Ret{Comment: lines(target + " entry failed when removing from " + config + ": " + err.Error() + ".")}
	}
	return fun.Ret{Result: fun.OK, Comment: lines(target + " entry removed from " + config + "."), Changes: value.MapOf("persist", "removed")}
}

// makeDir makes a mount point.
func makeDir(ctx context.Context, c *fun.Call, a *mountedArgs, name string) error {
	return file.New(c.Env, "", false).Mkdir(ctx, name, file.Perms{User: a.User})
}
