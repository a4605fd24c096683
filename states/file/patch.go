package file

import (
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	files "brine/modules/file"
	"brine/outputter"
)

type patchArgs struct {
	_              string         `arg:"name,required,path" doc:"absolute path of the file or directory"`
	Source         value.Value    `arg:"source,str|list" doc:"patch: a salt:// or web URL, or a path"`
	SourceHash     value.Value    `arg:"source_hash,str" default:"" doc:"digest of a source that is not on the file server"`
	SourceHashName string         `arg:"source_hash_name" doc:"name to look up in a file of digests"`
	SkipVerify     bool           `arg:"skip_verify" default:"False" doc:"accept a web source without a digest"`
	Template       string         `arg:"template" doc:"template engine that renders the patch"`
	Context        value.Value    `arg:"context" doc:"template variables; they override defaults"`
	Defaults       value.Value    `arg:"defaults" doc:"default template variables"`
	Options        value.Value    `arg:"options,str|list[str]" default:"''" doc:"further options of patch(1)"`
	RejectFile     value.Value    `arg:"reject_file,path" doc:"file for the parts of the patch that do not apply"`
	Strip          fun.Opt[int64] `arg:"strip" doc:"number of leading directories to strip from paths in the patch of a directory"`
	Saltenv        string         `arg:"saltenv" doc:"environment of a salt:// URL; default: that of the state"`
	Hash           value.Value    `arg:"hash,str" doc:"obsolete, without effect"`
	DryRunFirst    value.Value    `arg:"dry_run_first,bool" doc:"obsolete, without effect"`
	_              fun.Kwargs
}

// patch applies a patch by patch(1).
//
// It tries the patch on copies first: where it does not fit, it looks whether
// it is applied already. Nothing is changed unless all of it fits.
// Salt: states/file.py patch.
func patch(ctx context.Context, fc *fun.Call, a *patchArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	if _, err := c.LookPath("patch", ""); err != nil {
		return c.fail("patch executable not found on minion")
	}
	switch {
	case name == "":
		return c.fail("A file/directory to be patched is required")
	case !filepath.IsAbs(name):
		return c.fail("%s is not an absolute path", name)
	case !c.Exists(name):
		return c.fail("%s does not exist", name)
	}
	for _, old := range [...]struct {
		name  string
		value value.Value
	}{{"hash", a.Hash}, {"dry_run_first", a.DryRunFirst}} {
		if old.value != nil {
			c.ret.Warnings = append(c.ret.Warnings, "The '"+old.name+"' argument is no longer used and has been ignored.")
		}
	}
	if reject := textOf(a.RejectFile); reject != nil {
		switch dir := filepath.Dir(*reject); {
		case !filepath.IsAbs(dir):
			return c.fail("'%s' is not an absolute path", *reject)
		case !c.IsDir(dir):
			return c.fail("Parent directory for reject_file '%s' either does not exist, or is not a directory", *reject)
		}
	}
	options, strip, fault := a.patchOptions()
	if fault != "" {
		return c.fail("%s", fault)
	}
	dir, err := c.MkdirTemp("", "brine-patch-*")
	if err != nil {
		return c.fail("%s", host.OSError(err))
	}
	defer func() { _ = c.RemoveAll(dir) }()
	file := filepath.Join(dir, "patch")
	if ret := c.fetchPatch(ctx, a, file); ret.Result == fun.Failed || ret.Err != nil {
		return ret
	}
	return c.applyPatch(ctx, a, dir, file, options, strip)
}

// patchOptions returns the options that patch(1) gets, and strip; fault is
// what there is to say of those that may not be given.
func (a *patchArgs) patchOptions() (options []string, strip *int, fault string) {
	if a.Strip.Given {
		n := int(a.Strip.V)
		strip = &n
	}
	given := fun.StringsOf(a.Options)
	if _, list := a.Options.(*value.List); !list {
		var err error
		if given, err = proc.Split(fun.TextOf(a.Options)); err != nil {
			return nil, nil, "options: " + err.Error()
		}
	}
	set := func(flag, n string) bool {
		i, err := strconv.Atoi(n)
		if err != nil {
			fault = "Invalid format for '" + flag + "' CLI option. Consider using the 'strip' option for this state."
			return false
		}
		strip = &i
		return true
	}
	var refused []string
	for i := 0; i < len(given); i++ {
		o := given[i]
		for _, own := range []string{"-N", "--forward", "-r", "--reject-file", "-o", "--output"} {
			if strings.HasPrefix(o, own) {
				refused = append(refused, o)
				break
			}
		}
		switch n, long := strings.CutPrefix(o, "--strip="); {
		case long:
			if !set("-strip", n) {
				return nil, nil, fault
			}
		case o == "--strip":
			i++
			if i == len(given) || !set("-strip", given[i]) {
				return nil, nil, "Invalid format for '-strip' CLI option. Consider using the 'strip' option for this state."
			}
		case strings.HasPrefix(o, "-p"):
			if !set("-p", o[2:]) {
				return nil, nil, fault
			}
		default:
			options = append(options, o)
		}
	}
	if len(refused) > 0 {
		return nil, nil, "The following CLI options are not allowed: " + strings.Join(refused, ", ")
	}
	return options, strip, ""
}

// fetchPatch brings the patch to a file of this machine, rendered where it is
// a template.
func (c *call) fetchPatch(ctx context.Context, a *patchArgs, file string) fun.Ret {
	s := c.sub(file)
	s.Test = false
	fs := *c.FS
	fs.Test = false
	s.FS = &fs
	if env := a.Saltenv; env != "" {
		s.SaltEnv = env
	}
	if !value.Truth(a.Source) {
		return c.fail("Unable to manage file: no source was given")
	}
	return s.manageChecked(ctx, &managedFile{
		source: a.Source, hash: a.SourceHash, hashName: a.SourceHashName, skipVerify: a.SkipVerify,
		template: a.Template, context: a.Context, defaults: a.Defaults, replace: true, create: true,
		perms: files.Perms{Follow: true},
	})
}

// applyPatch tries the patch and applies it where all of it fits.
func (c *call) applyPatch(ctx context.Context, a *patchArgs, dir, file string, options []string, strip *int) fun.Ret {
	name := c.path()
	run := func(file string, dry bool, more ...string) (*value.Map, int64, error) {
		out, err := c.Patch(ctx, name, file, append(append([]string{}, options...), more...), dry)
		if err != nil {
			return nil, 0, err
		}
		code, _ := value.AsInt(out.At("retcode"))
		return out, code, nil
	}
	reject := filepath.Join(dir, "rejects")
	var level []string
	if c.IsDir(name) && strip != nil {
		level = []string{"-p" + strconv.Itoa(*strip)}
	}
	trial, code, err := run(file, false, append([]string{"-N", "-r", reject, "-o", filepath.Join(dir, "output")}, level...)...)
	if err != nil {
		return c.fail("%s", err)
	}
	if to := textOf(a.RejectFile); to != nil { // patch would write through a link there
		if text, err := c.ReadFile(reject); err == nil {
			if err := c.WriteFile(*to, bytes.NewReader(text), host.WriteOptions{FollowLinks: true}); err != nil {
				return c.fail("Unable to write reject_file '%s': %s", *to, host.OSError(err))
			}
		}
	}
	if code != 0 {
		st, err := c.Stat(reject)
		if err != nil || st.Size == 0 || code == 2 && trial.Str("stderr") != "" {
			return c.fail("%s", trial.Str("stderr"))
		}
		// What was refused fits the other way round: the patch is applied.
		_, back, err := run(reject, true, "-R", "-f")
		if err != nil {
			return c.fail("%s", err)
		}
		if back == 0 {
			return c.done(fun.OK, "Patch was already applied")
		}
		say := "Patch would not apply cleanly, no changes made. Results of dry-run are below."
		if a.RejectFile == nil {
			say += " Run state again using the reject_file option to save rejects to a persistent file."
		}
		var b strings.Builder
		if err := outputter.Nested(&b, trial, &outputter.Options{NestedIndent: 14}); err != nil {
			return fun.Raise(err)
		}
		return c.fail("%s", say+"\n\n"+strings.TrimRight(b.String(), "\n"))
	}
	if c.Test {
		c.ret.Changes = trial
		return c.done(fun.WouldChange, "The patch would be applied")
	}
	done, code, err := run(file, false, level...)
	if err != nil {
		return c.fail("%s", err)
	}
	c.ret.Changes = done
	if code != 0 {
		return c.fail("Failed to apply patch")
	}
	return c.done(fun.OK, "Patch successfully applied")
}
