// Package archive is Salt's state module archive.
//
// Salt: salt/states/archive.py.
package archive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	archives "brine/modules/archive"
	"brine/modules/cp"
	files "brine/modules/file"
)

// States returns the state module archive.
func States() fun.Module {
	return fun.Module{Name: "archive", Kind: fun.State, Doc: "Extract archives.", Specs: specs}
}

// A job is one archive to unpack.
type job struct {
	a       *extractedArgs
	c       *fun.Call
	fs      *files.FS
	ret     *files.Return
	dir     string // with a slash at the end
	source  string
	cached  string
	format  string
	strip   int
	list    *archives.Listing
	missing bool // files of the archive are not there
	other   bool // the digest is another
	updated bool // and nothing else makes unpacking due
	newSum  string
	unzip   bool // unzip(1) unpacks
}

type extractedArgs struct {
	_                   string        `arg:"name,required,path" doc:"absolute path of the directory to extract to"`
	Source              value.Value   `arg:"source,required,str|list" doc:"URL or path of the archive; the first of a list that exists"`
	SourceHash          value.Value   `arg:"source_hash,str" doc:"digest of the archive, or a file of digests"`
	SourceHashName      string        `arg:"source_hash_name" doc:"name to look up in a file of digests"`
	SourceHashUpdate    bool          `arg:"source_hash_update" default:"False" doc:"extract again if the digest changed"`
	SkipFilesListVerify bool          `arg:"skip_files_list_verify" default:"False" doc:"do nothing while the digest is the one that source_hash_update noted"`
	KeepSource          bool          `arg:"keep_source" default:"True" doc:"keep a downloaded archive in the cache"`
	SkipVerify          bool          `arg:"skip_verify" default:"False" doc:"accept a remote archive without a digest"`
	Password            value.Value   `arg:"password,secret,str" doc:"accepted; encrypted archives are not supported"`
	Options             value.Value   `arg:"options,str" doc:"options of tar(1) or unzip(1), which then extracts the archive"`
	ListOptions         string        `arg:"list_options" doc:"command that writes the decompressed archive to standard output, for other compressions"`
	Force               bool          `arg:"force" default:"False" doc:"replace files of another type that have the same names"`
	Overwrite           bool          `arg:"overwrite" default:"False" doc:"always extract"`
	Clean               bool          `arg:"clean" default:"False" doc:"first remove the top-level entries of the archive"`
	CleanParent         bool          `arg:"clean_parent" default:"False" doc:"first remove the directory and its contents"`
	User                value.Value   `arg:"user,str|int" doc:"owner of extracted files, by name or ID"`
	Group               value.Value   `arg:"group,str|int" doc:"group of extracted files, by name or ID"`
	IfMissing           value.Value   `arg:"if_missing,path" doc:"do nothing if this path exists"`
	TrimOutput          value.Value   `arg:"trim_output,bool|int" default:"False" doc:"report at most this many files; True is 100"`
	UseCmdUnzip         fun.Opt[bool] `arg:"use_cmd_unzip" doc:"extract a zip archive with unzip(1); default: if options are given"`
	ExtractPerms        bool          `arg:"extract_perms" default:"True" doc:"keep the permissions in a zip archive"`
	EnforceToplevel     bool          `arg:"enforce_toplevel" default:"True" doc:"refuse an archive without a single top-level directory"`
	EnforceOwnershipOn  value.Value   `arg:"enforce_ownership_on,path" doc:"path whose owner is managed instead of that of all files"`
	ArchiveFormat       string        `arg:"archive_format" doc:"tar or zip; default: by the name of the source"`
	UseETag             bool          `arg:"use_etag" default:"False" doc:"use ETag headers to check whether a web source changed"`
	fun.SystemPath
	Keep fun.Opt[bool] `arg:"keep" doc:"a former name of keep_source"`
	_    fun.Kwargs
}

// extracted unpacks an archive.
//
// It fails where the archive cannot be had or read, has no single directory at
// the top (unless enforce_toplevel is False), or where other things are in the
// way (unless force is set). Salt: states/archive.py extracted. Differences:
// rar and encrypted zip are not read; members that would leave the directory
// are refused.
func extracted(ctx context.Context, c *fun.Call, a *extractedArgs) fun.Ret {
	saltenv := ""
	if c.Low != nil {
		saltenv = c.Low.SaltEnv
	}
	j := &job{c: c, a: a, fs: files.New(c.Env, saltenv, c.Test), ret: files.NewReturn(c.Name)}
	if fault := j.check(); fault != "" {
		return j.ret.Fail("%s", fault).Ret()
	}
	if p := fun.TextOf(a.IfMissing); p != "" && j.fs.Exists(p) {
		j.ret.Comment = fmt.Sprintf("Path %s exists", p)
		return j.ret.Ret()
	}
	if fault := j.checkOwner(); fault != "" {
		return j.ret.Fail("%s", fault).Ret()
	}
	if ret, stop := j.fetch(ctx); stop {
		return ret
	}
	if fault := j.read(ctx); fault != "" {
		return j.ret.Fail("%s", fault).Ret()
	}
	if a.Clean && a.CleanParent {
		return j.ret.Fail("Only one of 'clean' and 'clean_parent' can be set to True").Ret()
	}
	if err := j.checkSystem(); err != nil {
		return j.ret.Fail("%s", err).Ret()
	}
	due, wrong := j.compare()
	if len(wrong) > 0 {
		if ret, stop := j.clearWay(wrong); stop {
			return ret
		}
		due = true
	}
	if !due && j.other {
		due, j.updated = true, true
	}
	if due && c.Test {
		j.ret.Result = fun.WouldChange
		j.ret.Comment = fmt.Sprintf("Archive %s would be extracted to %s", cp.Redact(j.source), j.dir)
		if a.Clean {
			j.ret.Comment += ", after cleaning destination path(s)"
		}
		j.explain()
		return j.ret.Ret()
	}
	if due {
		if ret, ok := j.extract(ctx); !ok {
			return ret
		}
	} else {
		j.ret.Comment = "All files in archive are already present"
	}
	j.noteSum()
	j.own(ctx)
	j.dropCached()
	return j.ret.Ret()
}

// check checks the arguments and returns what is wrong.
func (j *job) check() string {
	c := j.c
	if j.a.SkipFilesListVerify && j.a.SkipVerify {
		return `Only one of "skip_files_list_verify" and "skip_verify" can be set to True`
	}
	name := c.Name
	if !filepath.IsAbs(name) {
		return name + " is not an absolute path"
	}
	trimmed := strings.TrimRight(name, "/")
	if j.fs.IsFile(trimmed) {
		return trimmed + " exists and is not a directory"
	}
	j.dir = trimmed + "/"
	owned := fun.TextOf(j.a.EnforceOwnershipOn)
	if p := fun.TextOf(j.a.IfMissing); p != "" && !filepath.IsAbs(p) {
		return "Value for 'if_missing' is not an absolute path"
	}
	if owned != "" && !filepath.IsAbs(owned) {
		return "Value for 'enforce_ownership_on' is not an absolute path"
	}
	if owned != "" && !strings.HasPrefix(filepath.Clean(owned)+"/", j.dir) {
		return "Value for 'enforce_ownership_on' must be within " + j.dir
	}
	return ""
}

// checkOwner checks the owner that is asked for.
func (j *job) checkOwner() string {
	if u := j.a.User; value.Truth(u) {
		if _, ok := j.fs.UserToUID(u); !ok {
			return fmt.Sprintf("User %s does not exist", value.Str(u))
		}
	}
	if g := j.a.Group; value.Truth(g) {
		if _, ok := j.fs.GroupToGID(g); !ok {
			return fmt.Sprintf("Group %s does not exist", value.Str(g))
		}
	}
	if j.a.SourceHashUpdate && !value.Truth(j.a.SourceHash) {
		j.ret.Warnings = append(j.ret.Warnings, "The 'source_hash_update' argument is ignored when 'source_hash' is not also specified.")
	}
	return ""
}

// fetch finds the archive and brings it to this machine; stop says that the
// return is complete.
func (j *job) fetch(ctx context.Context) (fun.Ret, bool) {
	fail := func(format string, args ...any) (fun.Ret, bool) { return j.ret.Fail(format, args...).Ret(), true }
	src, hash, err := j.fs.SourceList(ctx, j.a.Source, j.a.SourceHash)
	if err != nil {
		return fail("%s", err)
	}
	if src == "" {
		return fail(`Invalid source "%s"`, value.Str(j.a.Source))
	}
	j.source = src
	local := cp.Scheme(src) == "" || cp.Scheme(src) == "file"
	if local {
		j.source = j.fs.Expand(strings.TrimPrefix(src, "file://"))
		if !j.fs.IsFile(j.source) {
			return fail("Source file '%s' does not exist", j.source)
		}
	}
	base, _, _ := strings.Cut(src, "?")
	j.format = strings.ToLower(j.a.ArchiveFormat)
	switch {
	case j.format == "":
		if j.format = archives.Guess(base); j.format == "" {
			return fail("Could not guess archive_format from the value of the 'source' argument. Please set this archive_format to one of the following: tar, rar, zip")
		}
	case j.format != "tar" && j.format != "zip" && j.format != "rar":
		return fail("Invalid archive_format '%s'. Either set it to a supported value (tar, rar, zip) or remove this argument and the archive format will be guessed based on file extension.", j.format)
	}
	if j.format == "rar" {
		return fail("rar archives are not supported")
	}
	if j.format == "tar" && value.Truth(j.a.Password) {
		return fail("The 'password' argument is only supported for zip archives")
	}
	if fault := j.zipArgs(); fault != "" {
		return fail("%s", fault)
	}
	if m := regexp.MustCompile(`--strip(?:-components)?(?:\s+|=)["']?(\d+)["']?`).FindStringSubmatch(fun.TextOf(j.a.Options)); m != nil {
		j.strip, _ = strconv.Atoi(m[1])
	}
	var want cp.Sum
	if value.Truth(hash) {
		if want, err = j.fs.SourceSum(ctx, "", src, value.Str(hash), j.a.SourceHashName, cp.Options{}); err != nil {
			return fail("%s", err)
		}
	}
	if j.a.SkipFilesListVerify && want.Hex != "" && j.fs.IsDir(j.dir) && j.notedSum() == noteOf(want) {
		j.ret.Comment = fmt.Sprintf("Archive %s existing source sum is the same as the expected one and skip_files_list_verify argument was set to True. Extraction is not needed", cp.Redact(j.source))
		return j.ret.Ret(), true
	}
	if local {
		j.cached = j.source
	} else if ret, stop := j.download(ctx, want); stop {
		return ret, true
	}
	if want.Hex != "" && !j.a.SkipVerify {
		have, err := cp.HashFile(j.fs.Host, j.cached, want.Type)
		if err != nil {
			return fail("%s", host.OSError(err))
		}
		if have != want.Hex {
			return fail("%s does not match the desired source_hash %s", cp.Redact(j.source), want.Hex)
		}
		j.other = j.a.SourceHashUpdate && j.changedSum(want)
	}
	return fun.Ret{}, false
}

// zipArgs settles which program unpacks a zip.
func (j *job) zipArgs() string {
	if j.format != "zip" {
		return ""
	}
	use := j.a.UseCmdUnzip.V
	if fun.TextOf(j.a.Options) == "" {
		j.unzip = use
		return ""
	}
	if !use && j.a.UseCmdUnzip.Given {
		return "'use_cmd_unzip' cannot be set to False if CLI options are being specified (via the 'options' argument). Either remove 'use_cmd_unzip', or set it to True."
	}
	if _, err := j.fs.LookPath("unzip", ""); err != nil {
		return "archive.cmd_unzip function not available, unzip might not be installed on minion"
	}
	j.unzip = true
	return ""
}

// download brings an archive that is not on this machine.
func (j *job) download(ctx context.Context, want cp.Sum) (fun.Ret, bool) {
	c := j.c
	if c.Test && (!c.Env.Plan || cp.Scheme(j.source) != "salt") {
		j.ret.Result = fun.WouldChange
		j.ret.Comment = fmt.Sprintf("Archive %s would be cached (if necessary) and checked to discover if extraction is needed", cp.Redact(j.source))
		ret := j.ret.Ret()
		if c.Env.Plan && j.fs.IsDir(j.dir) && !j.a.Overwrite {
			ret = ret.Planned(fun.PlanUnsure, "a plan does not fetch the archive, so it is not known whether its files are all there")
		}
		return ret, true
	}
	// Salt reports a failure here as that of another state, named as the source.
	fail := func(format string, args ...any) (fun.Ret, bool) {
		j.ret.Name = j.source
		return j.ret.Fail(format, args...).Ret(), true
	}
	if cp.IsRemote(j.source) && want.Hex == "" && !j.a.SkipVerify && !j.a.UseETag {
		return fail("Unable to verify upstream hash of source file %s, please set source_hash or set skip_verify or use_etag to True", cp.Redact(j.source))
	}
	p, err := cp.New(c.Env, j.fs.SaltEnv).CacheFile(ctx, j.source, cp.Options{SourceHash: want.Hex, UseETag: j.a.UseETag})
	if err != nil {
		return fail("%s", host.OSError(err))
	}
	if p == "" {
		return fail("Failed to cache %s, check minion log for more information", cp.Redact(j.source))
	}
	j.cached = p
	return fun.Ret{}, false
}

// sumNote is the file that has the digest of the archive that was unpacked last.
func (j *job) sumNote() string {
	return filepath.Join(j.c.Env.CacheDir, "archive_hash", strings.ReplaceAll(strings.Trim(j.dir, "/"), "/", "_")+".hash")
}

// noteOf is what the note says of a digest.
func noteOf(sum cp.Sum) string { return sum.Type + ":" + sum.Hex + "\n" }

// notedSum returns what the note says, "" where there is none.
func (j *job) notedSum() string {
	text, _ := j.fs.ReadFile(j.sumNote())
	return string(text)
}

// changedSum reports whether the archive that was unpacked last had another
// digest.
func (j *job) changedSum(want cp.Sum) bool {
	old, now := j.notedSum(), noteOf(want)
	if old != now {
		j.newSum = now
	}
	return old != "" && old != now
}

// noteSum keeps a new digest, once the archive is unpacked.
func (j *job) noteSum() {
	if j.newSum != "" && !j.c.Test && j.fs.MkdirAll(filepath.Dir(j.sumNote()), 0o755) == nil {
		_ = j.fs.WriteFile(j.sumNote(), strings.NewReader(j.newSum), host.WriteOptions{}) // a lost note costs one more unpacking
	}
}

// workaround is what Salt says could be done about an archive that it cannot
// list.
func (j *job) workaround() string {
	var todo []string
	if !value.Truth(j.a.IfMissing) {
		todo = append(todo, "'if_missing' must be set")
	}
	if !value.Truth(j.a.EnforceOwnershipOn) && (value.Truth(j.a.User) || value.Truth(j.a.Group)) {
		todo = append(todo, "Ownership cannot be managed without setting 'enforce_ownership_on'.")
	}
	if len(todo) == 0 {
		return ""
	}
	how := "The following workarounds must be used for this state to proceed"
	if j.format == "tar" {
		how = "If the source archive is a tar archive compressed using a compression type not natively supported by the tar command, " +
			"then setting the 'list_options' argument may allow the contents to be listed. Otherwise, if Salt is unable to determine the files/directories in the archive, " +
			"the following workaround(s) would need to be used for this state to proceed"
	}
	return fmt.Sprintf("\n\n%s (assuming the source file is a valid %s archive):\n\n- %s", how, j.format, strings.Join(todo, "\n- "))
}

// read lists the archive and checks its top level.
func (j *job) read(ctx context.Context) string {
	l, err := archives.List(ctx, j.fs.Host, j.cached, j.format, archives.LimitsOf(j.c.Env.Opts), j.strip, strings.Fields(j.a.ListOptions)...)
	var encrypted *fun.CommandError
	if errors.As(err, &encrypted) && j.format == "zip" && !value.Truth(j.a.Password) {
		return fmt.Sprintf("Archive %s is password-protected, but no password was specified. Please set the 'password' argument.", cp.Redact(j.source))
	}
	if errors.Is(err, archives.ErrFormat) {
		return archives.Unlisted(j.cached, j.cached, j.format) + j.workaround()
	}
	if err != nil {
		return fmt.Sprintf("Failed to list contents of %s: %s", cp.Redact(j.source), host.OSError(err))
	}
	// Names are compared with files, removed and given away from here on.
	if l.Outside != "" {
		return fmt.Sprintf("Failed to extract %s: the archive holds %q, which is not below the directory", cp.Redact(j.source), l.Outside)
	}
	j.list = l
	if j.a.EnforceToplevel && (len(l.TopDirs) > 1 || len(l.TopFiles) > 0) {
		return fmt.Sprintf("Archive does not have a single top-level directory. To allow this archive to be extracted, set 'enforce_toplevel' to False. "+
			"To avoid a '%s-bomb' it may also be advisable to set a top-level directory by adding it to the 'name' value (for example, setting 'name' to %s instead of %s).",
			j.format, filepath.Join(j.dir, "some_dir"), j.dir)
	}
	return ""
}

// compare tells whether unpacking is due, and which paths are of another kind.
func (j *job) compare() (due bool, wrong []string) {
	due = j.a.Overwrite
	for _, kind := range []struct {
		names []string
		is    string
	}{{j.list.Dirs, "dir"}, {j.list.Files, "file"}, {j.list.Links, "link"}} {
		for _, n := range kind.names {
			st, err := j.fs.Stats(filepath.Join(j.dir, n), false)
			switch {
			case err != nil:
				due, j.missing = true, true
			case st.Type != kind.is:
				wrong = append(wrong, n)
			}
		}
	}
	return due, wrong
}

// checkSystem returns an error where a system directory would be removed, or
// given away with all that is in it.
func (j *job) checkSystem() error {
	if j.a.CleanParent && j.fs.LExists(j.dir) {
		if err := j.fs.CheckSystem(j.dir, false); err != nil {
			return err
		}
	}
	owned := value.Truth(j.a.User) || value.Truth(j.a.Group)
	if p := fun.TextOf(j.a.EnforceOwnershipOn); p != "" && owned {
		if err := j.fs.CheckSystem(p, true); err != nil {
			return err
		}
	}
	if !j.a.Clean && (!owned || fun.TextOf(j.a.EnforceOwnershipOn) != "") {
		return nil
	}
	for _, top := range slices.Concat(j.list.TopDirs, j.list.TopFiles) {
		if err := j.fs.CheckSystem(filepath.Join(j.dir, top), false); err != nil {
			return err
		}
	}
	return nil
}

// clearWay removes what is of another kind than in the archive.
func (j *job) clearWay(wrong []string) (fun.Ret, bool) {
	say := fmt.Sprintf("The below paths (relative to %s) exist, but are the incorrect type (file instead of directory, symlink instead of file, etc.).", j.dir)
	names := "\n\n- " + strings.Join(wrong, "\n- ")
	switch {
	case j.a.Clean && j.c.Test:
		j.ret.Result = fun.WouldChange
		j.ret.Comment = say + " Since the 'clean' option is enabled, the destination paths would be cleared and the archive would be extracted." + names
		return j.ret.Ret(), true
	case j.a.CleanParent && j.c.Test:
		j.ret.Result = fun.WouldChange
		j.ret.Comment = say + " Since the 'clean_parent' option is enabled, the destination parent directory would be removed first and then re-created and the archive would be extracted"
		return j.ret.Ret(), true
	case j.a.Clean:
		return fun.Ret{}, false
	case !j.a.Force:
		return j.ret.Fail("%s", say+" To proceed with extraction, set 'force' to True. Note that this will remove these paths before extracting."+names).Ret(), true
	case j.c.Test:
		return fun.Ret{}, false
	}
	return j.remove(wrong)
}

// remove removes paths below the directory and notes them, by the names that the
// archive has.
func (j *job) remove(names []string) (fun.Ret, bool) {
	removed := j.ret.Changes.List("removed")
	if removed == nil {
		removed = &value.List{}
	}
	below := &files.BelowFS{FS: *j.fs, Done: func() {}}
	if j.fs.IsDir(j.dir) {
		var err error
		if below, err = j.fs.Below(j.dir); err != nil {
			return j.ret.Fail("One or more paths existed but could not be removed: %s", host.OSError(err)).Ret(), true
		}
	}
	defer below.Done()
	for _, n := range names {
		p := filepath.Join(j.dir, n)
		ok, err := below.Remove(p)
		if err != nil {
			return j.ret.Fail("One or more paths existed but could not be removed: %s", err).Ret(), true
		}
		if ok {
			removed.Append(j.dir + n)
		}
	}
	if removed.Len() > 0 {
		j.ret.Changes.Set("removed", removed)
	}
	return fun.Ret{}, false
}

// extract unpacks the archive; ok says that it did.
func (j *job) extract(ctx context.Context) (ret fun.Ret, ok bool) {
	c := j.c
	fail := func(format string, args ...any) (fun.Ret, bool) { return j.ret.Fail(format, args...).Ret(), false }
	if j.a.CleanParent && j.fs.LExists(strings.TrimSuffix(j.dir, "/")) {
		if _, err := j.fs.Remove(strings.TrimSuffix(j.dir, "/")); err != nil {
			return fail("Unable to remove the directory %s. The following errors were observed:\n\n- %s", j.dir, host.OSError(err))
		}
		j.ret.Changes.Set("removed", fmt.Sprintf("Directory %s was removed prior to the extraction", j.dir))
	}
	if j.a.Clean {
		if ret, stop := j.remove(slices.Concat(j.list.TopDirs, j.list.TopFiles)); stop {
			return ret, false
		}
	}
	created := !j.fs.IsDir(j.dir)
	if created {
		if err := j.fs.Mkdir(ctx, j.dir, files.Perms{User: j.a.User}); err != nil {
			return fail("%s", host.OSError(err))
		}
	}
	var names []string
	var err error
	limits := archives.LimitsOf(c.Env.Opts)
	switch {
	case j.unzip:
		names, err = j.cmdUnzip(ctx)
	case j.format == "zip":
		names, err = archives.Extract(ctx, j.fs.Host, j.cached, j.format, j.dir, limits, j.a.ExtractPerms)
		names = archives.TrimListed(names, j.a.TrimOutput)
	case j.a.Options == nil:
		names, err = archives.Extract(ctx, j.fs.Host, j.cached, j.format, j.dir, limits, true)
		names = archives.Trim(names, j.a.TrimOutput)
	default:
		var failed *value.Map
		if names, failed, err = j.tar(ctx); failed != nil {
			j.ret.Result, j.ret.Changes = fun.Failed, failed
			return j.ret.Ret(), false
		}
	}
	if errors.Is(err, archives.ErrFormat) {
		return fail("Failed to read from tar archive using Python's native tar file support. If archive is compressed using something other than gzip or bzip2, " +
			"the 'options' argument may be required to pass the correct options to the tar command in order to extract the archive.")
	}
	if err != nil {
		return fail("Failed to extract %s: %s", cp.Redact(j.source), host.OSError(err))
	}
	if len(names) == 0 {
		return fail("No files were extracted from %s", cp.Redact(j.source))
	}
	if created {
		j.ret.Changes.Set("directories_created", value.Strings(j.dir))
	}
	j.ret.Changes.Set("extracted_files", value.Strings(names...))
	j.ret.Comment = fmt.Sprintf("%s extracted to %s", cp.Redact(j.source), j.dir)
	j.explain()
	trim := value.Str(j.a.TrimOutput)
	if j.a.TrimOutput == true {
		trim = "100"
	}
	j.ret.Comment += fmt.Sprintf(". Output was trimmed to %s number of lines", trim)
	return fun.Ret{}, true
}

// cmdUnzip unpacks with unzip(1) and its options; it returns what unzip says.
func (j *job) cmdUnzip(ctx context.Context) ([]string, error) {
	kw := value.MapOf("options", j.a.Options, "trim_output", j.a.TrimOutput)
	if p := fun.TextOf(j.a.Password); p != "" {
		kw.Set("password", p)
	}
	res, err := j.c.Env.Exec(ctx, "archive.cmd_unzip", kw, j.cached, j.dir)
	if err != nil {
		return nil, err
	}
	l, ok := res.(*value.List)
	if !ok {
		return nil, fun.Errorf("%s", value.Str(res))
	}
	names := make([]string, len(l.Items))
	for i, x := range l.Items {
		names[i] = value.Str(x)
	}
	return names, nil
}

// dropCached removes the cached archive where keep_source, or its older name
// keep, is False.
func (j *job) dropCached() {
	keep := j.a.KeepSource
	if keep && j.a.Keep.Given {
		keep = j.a.Keep.V
	}
	if keep || j.cached == j.source || !strings.HasPrefix(j.cached, strings.TrimSuffix(j.c.Env.CacheDir, "/")+"/") {
		return
	}
	if _, err := j.fs.Remove(j.cached); err != nil {
		j.ret.Warnings = append(j.ret.Warnings, host.OSError(err))
	}
}

// tar unpacks with tar(1) and its options. failed is the outcome of a tar that
// did not succeed, as cmd.run_all returns it.
func (j *job) tar(ctx context.Context) (names []string, failed *value.Map, err error) {
	var short strings.Builder
	short.WriteString("xv")
	argv := []string{"tar"}
	var long []string
	for i, o := range strings.Fields(fun.TextOf(j.a.Options)) {
		if i == 0 && !strings.HasPrefix(o, "-") {
			short.WriteString(strings.Trim(strings.NewReplacer("x", "", "f", "", "v", "").Replace(o), "-"))
			continue
		}
		long = append(long, strings.Trim(o, `"'`))
	}
	argv = append(append(append(argv, short.String()), long...), "-f", j.cached)
	out, err := j.fs.Run(ctx, host.Cmd{Argv: argv, Dir: strings.TrimSuffix(j.dir, "/")})
	if err != nil {
		return nil, nil, err
	}
	text := func(b []byte) string { return strings.TrimRight(value.DecodeReplace(b), " \t\r\n") }
	if out.Status != 0 {
		return nil, value.MapOf("pid", int64(out.PID), "retcode", int64(out.Status), "stdout", text(out.Stdout), "stderr", text(out.Stderr)), nil
	}
	names = strings.FieldsFunc(string(out.Stdout), func(r rune) bool { return r == '\n' })
	return archives.Trim(names, j.a.TrimOutput), nil, nil
}

// explain says why the archive is unpacked.
func (j *job) explain() {
	switch {
	case j.updated:
		j.ret.Comment += ", due to source_hash update"
	case j.missing:
		j.ret.Comment += ", due to absence of one or more files/dirs"
	}
}

// own gives what was unpacked, and what is in its directories, the owner that is
// asked for.
func (j *job) own(ctx context.Context) {
	user, group := j.a.User, j.a.Group
	if !value.Truth(user) && !value.Truth(group) {
		return
	}
	tops := slices.Concat(j.list.TopDirs, j.list.TopFiles, j.list.TopLinks)
	if p := fun.TextOf(j.a.EnforceOwnershipOn); p != "" {
		rel, err := filepath.Rel(j.dir, p)
		if err != nil {
			rel = p
		}
		tops = []string{rel}
	}
	below := &files.BelowFS{FS: *j.fs, Done: func() {}}
	if j.fs.IsDir(j.dir) {
		b, err := j.fs.Below(j.dir)
		if err != nil {
			j.ret.Fail("Unable to change ownership in %s: %s", j.dir, host.OSError(err))
			return
		}
		below = b
	}
	defer below.Done()
	g := giver{job: j, on: &below.FS, perms: files.Perms{User: user, Group: group}}
	var missing, failed []string
	for _, top := range tops {
		p := filepath.Join(j.dir, top)
		switch {
		case !j.fs.LExists(p):
			if !j.c.Test {
				missing = append(missing, j.dir+top)
			}
		case !g.giveTree(ctx, p):
			failed = append(failed, j.dir+top)
		}
	}
	if g.changed {
		j.ret.Changes.Set("updated ownership", true)
		if j.c.Test {
			j.ret.Result = fun.WouldChange
			j.ret.Comment += ". Ownership would be updated on one or more files/directories."
		}
	}
	if len(missing) > 0 {
		if fun.TextOf(j.a.IfMissing) == "" {
			j.ret.Result = fun.Failed
		}
		j.ret.Comment += "\n\nWhile trying to enforce user/group ownership, the following paths were missing:\n\n- " + strings.Join(missing, "\n- ")
	}
	if len(failed) > 0 {
		j.ret.Result = fun.Failed
		j.ret.Comment += "\n\nWhile trying to enforce user/group ownership, Salt was unable to change ownership on the following paths:\n\n- " + strings.Join(failed, "\n- ")
	}
}

// A giver gives files to the owner that the state names.
type giver struct {
	*job
	on      *files.FS // the directory, and nothing that links in it lead to
	perms   files.Perms
	changed bool // a file has, or would get, another owner
}

// give reports whether the owner is right, or can be set.
func (g *giver) give(ctx context.Context, p string) bool {
	r := files.NewReturn(p)
	if _, err := g.on.CheckPerms(ctx, p, r, g.perms); err != nil {
		return false
	}
	g.changed = g.changed || r.Changes.Len() > 0
	return r.Result != fun.Failed
}

// giveTree is give of a path and all below it.
func (g *giver) giveTree(ctx context.Context, p string) bool {
	good := g.give(ctx, p)
	if g.fs.IsLink(p) || !g.fs.IsDir(p) {
		return good
	}
	err := g.fs.Walk(p, false, func(dir string, dirs, names []string) error {
		for _, n := range slices.Concat(dirs, names) {
			good = g.give(ctx, filepath.Join(dir, n)) && good
		}
		return ctx.Err()
	})
	return good && err == nil
}
