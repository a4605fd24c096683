package file

import (
	"brine/internal/fun"
)

const (
	userDoc  = "owner, by name or ID"
	groupDoc = "group, by name or ID"
	modeDoc  = "permissions, such as '0644'"
)

// account is the type of users and groups: names or IDs.
const account = fun.Str | fun.Int

// patterns is one pattern or a list of them.
const patterns = fun.Str | fun.Strs

var keepMode = []string{"keep"}

// Windows arguments have no effect here. They are accepted so that a tree can
// serve both systems.
var windowsArgs = []fun.Arg{
	{Name: "win_owner", Type: fun.Str, Doc: "Windows only"},
	{Name: "win_perms", Type: fun.Dict, Doc: "Windows only"},
	{Name: "win_deny_perms", Type: fun.Dict, Doc: "Windows only"},
	{Name: "win_inheritance", Type: fun.Bool, Default: true, Doc: "Windows only"},
}

var windowsResetArgs = []fun.Arg{
	{Name: "win_perms_reset", Type: fun.Bool, Default: false, Doc: "Windows only"},
}

// textArgs are the arguments of the functions that add text to a file.
var textArgs = []fun.Arg{
	{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file; created if it is missing"},
	{Name: "text", Doc: "text, or a list of texts that are looked for one by one"},
	{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing parent directories"},
	{Name: "source", Type: fun.Str | fun.List, Doc: "file to read the text from; it is rendered"},
	{Name: "source_hash", Type: fun.Str, Doc: "digest of a source that is not on the file server"},
	{Name: "template", Type: fun.Str, Default: "jinja", Doc: "template engine of the sources"},
	{Name: "sources", Type: fun.Strs, Doc: "list of files to read the text from"},
	{Name: "source_hashes", Type: fun.Strs, Doc: "digests of the sources"},
	{Name: "defaults", Type: fun.Dict, Doc: "default template variables"},
	{Name: "context", Type: fun.Dict, Doc: "template variables; they override defaults"},
}

// commentArgs are the arguments of comment and uncomment.
var commentArgs = []fun.Arg{
	{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file"},
	{Name: "regex", Type: fun.Str, Required: true, Doc: "regular expression for the lines, without the comment character"},
	{Name: "char", Type: fun.Str, Default: "#", Doc: "comment character"},
	{Name: "backup", Type: fun.Str | fun.Bool, Default: ".bak", Doc: "suffix of the backup copy; False keeps none"},
}

var specs = []fun.Spec{
	{
		Name: "absent", Shared: [][]fun.Arg{fun.SystemPath}, VarKw: true, State: absent, Src: "states/file.py absent",
		Doc: "Remove a file, a link, or a directory and its contents.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path to remove"},
		},
	},
	{
		Name: "accumulated", VarKw: true, State: accumulated, Always: true, Src: "states/file.py accumulated",
		Doc: "Collect text for a file.managed or file.blockreplace that runs later.\nTheir templates read it as accumulator[name].",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the accumulator"},
			{Name: "filename", Type: fun.Str, Required: true, Doc: "name of the state that uses it"},
			{Name: "text", Required: true, Doc: "text, or a list of texts"},
		},
	},
	{
		Name: "append", State: appendText, Src: "states/file.py append",
		Doc: "Append text to a file unless the file already contains it.",
		Shared: [][]fun.Arg{textArgs, {
			{Name: "ignore_whitespace", Type: fun.Bool, Default: true, Doc: "ignore differences in whitespace when looking for the text"},
		}},
	},
	{
		Name: "blockreplace", State: blockreplace, Src: "states/file.py blockreplace",
		Doc: "Replace the lines between two marker lines of a file.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file"},
			{Name: "marker_start", Type: fun.Str, Default: "#-- start managed zone --", Doc: "text of the line before the block"},
			{Name: "marker_end", Type: fun.Str, Default: "#-- end managed zone --", Doc: "text of the line after the block"},
			{Name: "source", Type: fun.Str | fun.List, Doc: "file to read further content from; it is rendered"},
			{Name: "source_hash", Type: fun.Str, Doc: "digest of a source that is not on the file server"},
			{Name: "template", Type: fun.Str, Default: "jinja", Doc: "template engine of the sources"},
			{Name: "sources", Type: fun.Strs, Doc: "list of such files"},
			{Name: "source_hashes", Type: fun.Strs, Doc: "digests of the sources"},
			{Name: "defaults", Type: fun.Dict, Doc: "default template variables"},
			{Name: "context", Type: fun.Dict, Doc: "template variables; they override defaults"},
			{Name: "content", Default: "", Doc: "lines of the block"},
			{Name: "append_if_not_found", Type: fun.Bool, Default: false, Doc: "append the block if the markers are missing"},
			{Name: "prepend_if_not_found", Type: fun.Bool, Default: false, Doc: "prepend the block if the markers are missing"},
			{Name: "backup", Type: fun.Str | fun.Bool, Default: ".bak", Doc: "suffix of the backup copy; False keeps none"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "show the difference"},
			{Name: "append_newline", Type: fun.Bool, Doc: "end the content with a newline; default: if it has none"},
			{Name: "insert_before_match", Type: fun.Str, Doc: "without markers, insert the block before the first line that matches"},
			{Name: "insert_after_match", Type: fun.Str, Doc: "without markers, insert the block after the first line that matches"},
		},
	},
	{
		Name: "cached", State: cached, Always: true, Src: "states/file.py cached",
		Doc: "Keep a copy of a source in the cache.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "source: a salt:// or web URL, or a path"},
			{Name: "source_hash", Type: fun.Str, Default: "", Doc: "digest of the source, or a file of digests"},
			{Name: "source_hash_name", Type: fun.Str, Doc: "name to look up in a file of digests"},
			{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "accept a web source without a digest"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"},
			{Name: "use_etag", Type: fun.Bool, Default: false, Doc: "use ETag headers to check whether the copy is current"},
		},
	},
	{
		Name: "comment", State: comment, Src: "states/file.py comment",
		Doc: "Comment out the lines that match.",
		Shared: [][]fun.Arg{commentArgs, {
			{Name: "ignore_missing", Type: fun.Bool, Default: false, Doc: "succeed if no line matches"},
		}},
	},
	{
		Name: "copy", Shared: [][]fun.Arg{fun.SystemPath}, VarKw: true, State: copyFile, Src: "states/file.py copy_",
		Doc: "Copy a file or directory of this machine unless the target exists.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the copy"},
			{Name: "source", Type: fun.Path, Required: true, Doc: "file or directory to copy"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "replace an existing target"},
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing parent directories"},
			{Name: "preserve", Type: fun.Bool, Default: false, Doc: "keep owner and mode"},
			{Name: "user", Type: account, Doc: userDoc + "; default: the user that brine runs as"},
			{Name: "group", Type: account, Doc: groupDoc + "; default: the primary group of user"},
			{Name: "mode", Type: fun.Mode, Doc: modeDoc + "; default: those of the source"},
			{Name: "dir_mode", Type: fun.Mode, Doc: "permissions of created parent directories"},
			{Name: "subdir", Type: fun.Bool, Default: false, Doc: "copy into an existing target directory"},
		},
	},
	{
		Name: "decode", State: decode, Src: "states/file.py decode",
		Doc: "Write a file from Base64 text.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file"},
			{Name: "encoded_data", Type: fun.Str, Doc: "Base64 text"},
			{Name: "contents_pillar", Type: fun.Str, Doc: "pillar key of the Base64 text"},
			{Name: "encoding_type", Type: fun.Str, Default: "base64", Doc: "encoding of the text"},
			{Name: "checksum", Type: fun.Str, Default: "md5", Doc: "digest that shows what changed"},
		},
	},
	{
		Name: "directory", VarKw: true, State: directory, Src: "states/file.py directory",
		Doc: "Create a directory and manage the owner and mode of it and its contents.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the directory"},
			{Name: "user", Type: account, Doc: userDoc},
			{Name: "group", Type: account, Doc: groupDoc},
			{Name: "recurse", Doc: "what to manage recursively: a list of user, group, mode, ignore_files or ignore_dirs, silent"},
			{Name: "max_depth", Type: fun.Int, Doc: "levels that recurse descends; not together with clean"},
			{Name: "dir_mode", Type: fun.Mode, Doc: modeDoc},
			{Name: "mode", Type: fun.Mode, Doc: "same as dir_mode"},
			{Name: "file_mode", Type: fun.Mode, Doc: "permissions of the files in it; default: dir_mode"},
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing parent directories"},
			{Name: "clean", Type: fun.Bool, Default: false, Doc: "remove files that belong to no file state that this one requires"},
			{Name: "require", Type: fun.List, Doc: "requisites; clean keeps their files"},
			{Name: "exclude_pat", Type: patterns, Doc: "globs, or regular expressions after E@, of files that clean keeps"},
			{Name: "follow_symlinks", Type: fun.Bool, Default: false, Doc: "manage the targets of symbolic links"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "replace a file that has this name"},
			{Name: "backupname", Type: fun.Path, Doc: "rename a file that has this name to backupname"},
			{Name: "allow_symlink", Type: fun.Bool, Default: true, Doc: "accept a symbolic link to a directory"},
			{Name: "children_only", Type: fun.Bool, Default: false, Doc: "manage the contents but not the directory itself"},
		},
		Shared: [][]fun.Arg{windowsArgs, windowsResetArgs, fun.SystemPath},
	},
	{
		Name: "exists", VarKw: true, State: exists, Src: "states/file.py exists",
		Doc: "Fail unless a path exists; nothing is created.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "path to check"},
		},
	},
	{
		Name: "hardlink", VarKw: true, State: hardlink, Src: "states/file.py hardlink",
		Doc: "Create a hard link.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the link"},
			{Name: "target", Type: fun.Path, Required: true, Doc: "absolute path of the file"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "replace another file that has this name"},
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing parent directories"},
			{Name: "user", Type: account, Doc: userDoc + ", of created parent directories"},
			{Name: "group", Type: account, Doc: groupDoc + ", of created parent directories"},
			{Name: "dir_mode", Type: fun.Mode, Doc: "permissions of created parent directories"},
		},
	},
	{
		Name: "keyvalue", State: keyvalue, Src: "states/file.py keyvalue",
		Doc: "Set keys to values in a file of lines such as key=value.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "path of the file"},
			{Name: "key", Type: fun.Str, Doc: "key to set"},
			{Name: "value", Doc: "value of key"},
			{Name: "key_values", Doc: "mapping of keys to values"},
			{Name: "separator", Type: fun.Str, Default: "=", Doc: "text between key and value"},
			{Name: "append_if_not_found", Type: fun.Bool, Default: false, Doc: "append missing keys"},
			{Name: "prepend_if_not_found", Type: fun.Bool, Default: false, Doc: "prepend missing keys"},
			{Name: "search_only", Type: fun.Bool, Default: false, Doc: "accepted without effect"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "show the difference"},
			{Name: "ignore_if_missing", Type: fun.Bool, Default: false, Doc: "succeed if the file does not exist"},
			{Name: "count", Type: fun.Int, Default: int64(1), Doc: "lines of a key to keep; -1 keeps all that are not commented out"},
			{Name: "uncomment", Type: fun.Str, Doc: "comment characters; a commented line is used if its key is missing"},
			{Name: "key_ignore_case", Type: fun.Bool, Default: false, Doc: "ignore the case of keys"},
			{Name: "value_ignore_case", Type: fun.Bool, Default: false, Doc: "ignore the case of values"},
		},
	},
	{
		Name: "line", State: line, Src: "states/file.py line",
		Doc: "Insert, replace, ensure or delete one line of a file.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file"},
			{Name: "content", Type: fun.Str | fun.Bool, Doc: "the line"},
			{Name: "match", Type: fun.Str | fun.Bool, Doc: "text or regular expression of the line to replace or delete; default: content"},
			{Name: "mode", Type: fun.Str, Doc: "insert, ensure, replace or delete"},
			{Name: "location", Type: fun.Str, Doc: "where to insert: start or end"},
			{Name: "before", Type: fun.Str, Doc: "text or regular expression of the line to insert before"},
			{Name: "after", Type: fun.Str, Doc: "text or regular expression of the line to insert after"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "show the difference"},
			{Name: "backup", Type: fun.Bool, Default: false, Doc: "keep a copy of the file with the time in its name"},
			{Name: "quiet", Type: fun.Bool, Default: false, Doc: "do not fail if the file does not exist"},
			{Name: "indent", Type: fun.Bool, Default: true, Doc: "indent the line like its neighbour"},
			{Name: "create", Type: fun.Bool, Default: false, Doc: "create an empty file if it is missing"},
			{Name: "user", Type: account, Doc: userDoc},
			{Name: "group", Type: account, Doc: groupDoc},
			{Name: "file_mode", Type: fun.Mode, Doc: modeDoc},
		},
	},
	{
		Name: "managed", VarKw: true, State: managed, Src: "states/file.py managed",
		Doc: "Manage the content, owner and mode of a file.\n" +
			"The content comes from source or contents. Without them a missing file is created empty, and the content of an existing file is not changed.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file"},
			{Name: "source", Type: fun.Str | fun.List, Doc: "salt://, http://, https:// or file:// URL or a path; the first of a list that exists"},
			{Name: "source_hash", Type: fun.Str, Default: "", Doc: "digest of a source that is not on the file server, as TYPE=DIGEST, or a file of digests"},
			{Name: "source_hash_name", Type: fun.Str, Doc: "name to look up in a file of digests"},
			{Name: "keep_source", Type: fun.Bool, Default: true, Doc: "keep the copy of the source in the cache"},
			{Name: "user", Type: account, Doc: userDoc},
			{Name: "group", Type: account, Doc: groupDoc},
			{Name: "mode", Type: fun.Mode, OneOf: keepMode, Doc: modeDoc + "; keep copies those of the source"},
			{Name: "attrs", Type: fun.Str, Doc: "chattr(1) attributes"},
			{Name: "template", Type: fun.Str, Doc: "template engine that renders the content: jinja or pongo2"},
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing parent directories"},
			{Name: "dir_mode", Type: fun.Mode, Doc: "permissions of created parent directories; default: mode with search permission"},
			{Name: "context", Doc: "template variables; they override defaults"},
			{Name: "replace", Type: fun.Bool, Default: true, Doc: "replace the content of an existing file"},
			{Name: "defaults", Doc: "default template variables"},
			{Name: "backup", Type: fun.Str, Default: "", Doc: "minion: keep a copy of the replaced file"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "show the difference"},
			{Name: "create", Type: fun.Bool, Default: true, Doc: "create the file if it is missing"},
			{Name: "contents", Doc: "content, as text or a list of lines"},
			{Name: "tmp_dir", Type: fun.Path, Default: "", Doc: "directory of the temporary file for check_cmd"},
			{Name: "tmp_ext", Type: fun.Str, Default: "", Doc: "suffix of the temporary file for check_cmd"},
			{Name: "contents_pillar", Type: fun.Str | fun.List, Doc: "pillar key of the content, or a list of keys"},
			{Name: "contents_grains", Type: fun.Str | fun.List, Doc: "grain that is the content, or a list of grains"},
			{Name: "contents_newline", Type: fun.Bool, Default: true, Doc: "end the content with a newline"},
			{Name: "contents_delimiter", Type: fun.Str, Default: ":", Doc: "separator in contents_pillar and contents_grains"},
			{Name: "encoding", Type: fun.Str, Doc: "encoding of the content, by Python's name; default: UTF-8"},
			{Name: "encoding_errors", Type: fun.Str, Default: "strict", Doc: "handling of characters that the encoding lacks: strict, ignore, replace, xmlcharrefreplace or backslashreplace"},
			{Name: "allow_empty", Type: fun.Bool, Default: true, Doc: "accept empty contents"},
			{Name: "follow_symlinks", Type: fun.Bool, Default: true, Doc: "write to the target of a symbolic link instead of replacing the link"},
			{Name: "check_cmd", Type: fun.Str, Doc: "command that checks the new content, whose path it gets; it must succeed"},
			{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "accept a web source without a digest"},
			{Name: "selinux", Type: fun.Dict, Doc: "SELinux context; not managed"},
		},
		Shared: [][]fun.Arg{windowsArgs, windowsResetArgs, {
			{Name: "verify_ssl", Type: fun.Bool, Default: true, Doc: "verify the certificates of https:// sources"},
			{Name: "use_etag", Type: fun.Bool, Default: false, Doc: "use ETag headers to check whether a web source changed"},
		}},
	},
	{
		Name: "missing", VarKw: true, State: missing, Src: "states/file.py missing",
		Doc: "Fail if a path exists; nothing is removed.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "path to check"},
		},
	},
	{
		Name: "mknod", State: mknod, Src: "states/file.py mknod",
		Doc: "Create a device or a named pipe.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "path of the device or pipe"},
			{Name: "ntype", Type: fun.Str, Required: true, Doc: "c for a character device, b for a block device, p for a named pipe"},
			{Name: "major", Type: fun.Int, Default: int64(0), Doc: "major device number"},
			{Name: "minor", Type: fun.Int, Default: int64(0), Doc: "minor device number"},
			{Name: "user", Type: account, Doc: userDoc},
			{Name: "group", Type: account, Doc: groupDoc},
			{Name: "mode", Type: fun.Mode, Default: "0600", Doc: modeDoc},
		},
	},
	{
		Name: "not_cached", State: notCached, Src: "states/file.py not_cached",
		Doc: "Remove the copy of a source from the cache.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "source: a salt:// or web URL, or a path"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"},
		},
	},
	{
		Name: "patch", VarKw: true, State: patch, Src: "states/file.py patch",
		Doc: "Apply a patch to a file or directory unless it is already applied.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file or directory"},
			{Name: "source", Type: fun.Str | fun.List, Doc: "patch: a salt:// or web URL, or a path"},
			{Name: "source_hash", Type: fun.Str, Default: "", Doc: "digest of a source that is not on the file server"},
			{Name: "source_hash_name", Type: fun.Str, Doc: "name to look up in a file of digests"},
			{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "accept a web source without a digest"},
			{Name: "template", Type: fun.Str, Doc: "template engine that renders the patch"},
			{Name: "context", Doc: "template variables; they override defaults"},
			{Name: "defaults", Doc: "default template variables"},
			{Name: "options", Type: patterns, Default: "", Doc: "further options of patch(1)"},
			{Name: "reject_file", Type: fun.Path, Doc: "file for the parts of the patch that do not apply"},
			{Name: "strip", Type: fun.Int, Doc: "number of leading directories to strip from paths in the patch of a directory"},
			{Name: "saltenv", Type: fun.Str, Doc: "environment of a salt:// URL; default: that of the state"},
			{Name: "hash", Type: fun.Str, Doc: "obsolete, without effect"},
			{Name: "dry_run_first", Type: fun.Bool, Doc: "obsolete, without effect"},
		},
	},
	{
		Name: "prepend", State: prependText, Src: "states/file.py prepend",
		Doc: "Prepend text to a file unless the file already contains it.",
		Shared: [][]fun.Arg{textArgs, {
			{Name: "header", Type: fun.Bool, Doc: "require the text at the very beginning of the file"},
		}},
	},
	{
		Name: "pruned", Shared: [][]fun.Arg{fun.SystemPath}, State: pruned, Src: "states/file.py pruned",
		Doc: "Remove an empty directory, or one that only has empty directories.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the directory"},
			{Name: "recurse", Type: fun.Bool, Default: false, Doc: "first remove the empty directories in it"},
			{Name: "ignore_errors", Type: fun.Bool, Default: false, Doc: "remove empty directories and leave the rest; implies recurse"},
			{Name: "older_than", Type: fun.Int, Unit: "days", Doc: "only remove directories that were not modified for this long"},
		},
	},
	{
		Name: "recurse", VarKw: true, State: recurse, Src: "states/file.py recurse",
		Doc: "Copy a directory of the file server recursively.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the directory to fill"},
			{Name: "source", Type: fun.Str | fun.List, Required: true, Doc: "salt:// URL of a directory; the first of a list that exists"},
			{Name: "keep_source", Type: fun.Bool, Default: true, Doc: "keep the copies of the sources in the cache"},
			{Name: "clean", Type: fun.Bool, Default: false, Doc: "remove files that are not in the source"},
			{Name: "require", Type: fun.List, Doc: "requisites; clean keeps their files"},
			{Name: "user", Type: account, Doc: userDoc},
			{Name: "group", Type: account, Doc: groupDoc},
			{Name: "dir_mode", Type: fun.Mode, Doc: "permissions of directories"},
			{Name: "file_mode", Type: fun.Mode, OneOf: keepMode, Doc: "permissions of files; keep copies those of the sources"},
			{Name: "sym_mode", Type: fun.Mode, Doc: "permissions of directories that are created for symbolic links"},
			{Name: "template", Type: fun.Str, Doc: "template engine that renders the files: jinja or pongo2"},
			{Name: "context", Doc: "template variables; they override defaults"},
			{Name: "replace", Type: fun.Bool, Default: true, Doc: "replace the content of existing files"},
			{Name: "defaults", Doc: "default template variables"},
			{Name: "include_empty", Type: fun.Bool, Default: false, Doc: "create empty directories too"},
			{Name: "backup", Type: fun.Str, Default: "", Doc: "minion: keep copies of replaced files"},
			{Name: "include_pat", Type: patterns, Doc: "globs, or regular expressions after E@, of files to copy"},
			{Name: "exclude_pat", Type: patterns, Doc: "globs, or regular expressions after E@, of files not to copy and not to clean"},
			{Name: "maxdepth", Type: fun.Int, Doc: "levels of directories to copy; 0 copies only files directly in the source"},
			{Name: "keep_symlinks", Type: fun.Bool, Default: false, Doc: "create symbolic links for those in the source instead of copying their targets"},
			{Name: "force_symlinks", Type: fun.Bool, Default: false, Doc: "replace files that have the names of such links"},
		},
		Shared: [][]fun.Arg{windowsArgs, fun.SystemPath},
	},
	{
		Name: "rename", Shared: [][]fun.Arg{fun.SystemPath}, VarKw: true, State: rename, Src: "states/file.py rename",
		Doc: "Move a file or directory of this machine unless the target exists.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the target"},
			{Name: "source", Type: fun.Path, Required: true, Doc: "file or directory to move"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "replace an existing target"},
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing parent directories"},
		},
	},
	{
		Name: "replace", State: replace, Src: "states/file.py replace",
		Doc: "Replace the matches of a regular expression in a file.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file"},
			{Name: "pattern", Required: true, Doc: "regular expression in Python's syntax"},
			{Name: "repl", Type: fun.Str, Required: true, Doc: "replacement; \\1 and \\g<name> refer to groups"},
			{Name: "count", Type: fun.Int, Default: int64(0), Doc: "maximum number of replacements; 0 replaces all"},
			{Name: "flags", Type: fun.Int | fun.Str | fun.List, Default: int64(8), Doc: "flags of the expression: names such as IGNORECASE, or Python's number"},
			{Name: "bufsize", Type: fun.Int | fun.Str, Default: int64(1), Doc: "accepted without effect; the whole file is searched at once"},
			{Name: "append_if_not_found", Type: fun.Bool, Default: false, Doc: "append the replacement if nothing matches"},
			{Name: "prepend_if_not_found", Type: fun.Bool, Default: false, Doc: "prepend the replacement if nothing matches"},
			{Name: "not_found_content", Type: fun.Str, Doc: "text to append or prepend; default: repl"},
			{Name: "backup", Type: fun.Str | fun.Bool, Default: ".bak", Doc: "suffix of the backup copy; False keeps none"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "show the difference"},
			{Name: "ignore_if_missing", Type: fun.Bool, Default: false, Doc: "succeed if the file does not exist"},
			{Name: "backslash_literal", Type: fun.Bool, Default: false, Doc: "take backslashes in repl literally"},
		},
	},
	{
		Name: "retention_schedule", Shared: [][]fun.Arg{fun.SystemPath}, State: retentionSchedule, Src: "states/file.py retention_schedule",
		Doc: "Remove old backups from a directory, keeping some by hour, day, week, month and year.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "path of the directory"},
			{Name: "retain", Type: fun.Dict, Required: true, Doc: "number to keep, or all, by rule: most_recent, first_of_hour, first_of_day, first_of_week, first_of_month, first_of_year"},
			{Name: "strptime_format", Type: fun.Str, Doc: "strptime format of the names, other files are kept; default: all files by modification time"},
			{Name: "timezone", Type: fun.Str, Doc: "time zone of modification times; default: that of this machine"},
		},
	},
	{
		Name: "serialize", VarKw: true, State: serialize, Src: "states/file.py serialize",
		Doc: "Write data to a file as YAML, JSON, TOML, INI, plist, MessagePack, lines of key and value, or Python.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file"},
			{Name: "dataset", Doc: "the data"},
			{Name: "dataset_pillar", Type: fun.Str, Doc: "pillar key of the data"},
			{Name: "user", Type: account, Doc: userDoc},
			{Name: "group", Type: account, Doc: groupDoc},
			{Name: "mode", Type: fun.Mode, Doc: modeDoc},
			{Name: "backup", Type: fun.Str, Default: "", Doc: "minion: keep a copy of the replaced file"},
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing parent directories"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "show the difference"},
			{Name: "create", Type: fun.Bool, Default: true, Doc: "create the file if it is missing"},
			{Name: "merge_if_exists", Type: fun.Bool, Default: false, Doc: "merge the data into the data of an existing file"},
			{Name: "encoding", Type: fun.Str, Doc: "encoding of the file, by Python's name; default: UTF-8"},
			{Name: "encoding_errors", Type: fun.Str, Default: "strict", Doc: "handling of characters that the encoding lacks"},
			{Name: "serializer", Type: fun.Str, Doc: "configparser, json, keyvalue, msgpack, plist, python, toml, yaml (default) or yamlex"},
			{Name: "formatter", Type: fun.Str, Doc: "same as serializer"},
			{Name: "serializer_opts", Type: fun.List | fun.Dict, Doc: "options of the serializer, such as indent"},
			{Name: "deserializer_opts", Type: fun.List | fun.Dict, Doc: "options for reading the file with merge_if_exists, such as defaults for configparser"},
		},
	},
	{
		Name: "symlink", Shared: [][]fun.Arg{fun.SystemPath}, VarKw: true, State: symlink, Src: "states/file.py symlink",
		Doc: "Create a symbolic link.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the link"},
			{Name: "target", Type: fun.Path, Required: true, Doc: "path that the link points to"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "replace a file or directory that has this name"},
			{Name: "backupname", Type: fun.Path, Doc: "rename a file or directory that has this name to backupname"},
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing parent directories"},
			{Name: "user", Type: account, Doc: userDoc + "; default: the user that brine runs as"},
			{Name: "group", Type: account, Doc: groupDoc + "; default: the primary group of user"},
			{Name: "mode", Type: fun.Mode, Doc: "permissions of created parent directories"},
			{Name: "win_owner", Type: fun.Str, Doc: "Windows only"},
			{Name: "win_perms", Type: fun.Dict, Doc: "Windows only"},
			{Name: "win_deny_perms", Type: fun.Dict, Doc: "Windows only"},
			{Name: "win_inheritance", Type: fun.Bool, Doc: "Windows only"},
			{Name: "atomic", Type: fun.Bool, Default: false, Doc: "replace an existing file in one step"},
			{Name: "disallow_copy_and_unlink", Type: fun.Bool, Default: false, Doc: "fail if backupname is on another file system"},
			{Name: "inherit_user_and_group", Type: fun.Bool, Default: false, Doc: "keep the owner of an existing link"},
		},
	},
	{
		Name: "tidied", Shared: [][]fun.Arg{fun.SystemPath}, VarKw: true, State: tidied, Src: "states/file.py tidied",
		Doc: "Remove old or large files from a directory.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the directory"},
			{Name: "age", Type: fun.Int, Default: int64(0), Unit: "days", Doc: "remove files that are at least this old"},
			{Name: "matches", Type: fun.Strs, Doc: "regular expressions of the names to remove; default: all"},
			{Name: "rmdirs", Type: fun.Bool, Default: false, Doc: "remove directories too"},
			{Name: "size", Type: fun.Size, Default: int64(0), Unit: "bytes", Doc: "remove files of at least this size, such as 10M"},
			{Name: "exclude", Type: fun.Strs, Doc: "regular expressions of the names to keep"},
			{Name: "full_path_match", Type: fun.Bool, Default: false, Doc: "match whole paths instead of names"},
			{Name: "followlinks", Type: fun.Bool, Default: false, Doc: "descend into targets of symbolic links"},
			{Name: "time_comparison", Type: fun.Str, Default: "atime", Doc: "time that is the age: atime, mtime or ctime"},
			{Name: "age_size_logical_operator", Type: fun.Str, Default: "OR", Doc: "AND requires age and size, OR one of them"},
			{Name: "age_size_only", Type: fun.Str, Doc: "age or size: compare only that"},
			{Name: "rmlinks", Type: fun.Bool, Default: true, Doc: "remove symbolic links too"},
		},
	},
	{
		Name: "touch", State: touch, Always: true, Src: "states/file.py touch",
		Doc: "Create an empty file, or set the times of an existing one.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the file"},
			{Name: "atime", Type: fun.Int | fun.Float, Unit: "s", Doc: "access time, in seconds since 1970; default: now"},
			{Name: "mtime", Type: fun.Int | fun.Float, Unit: "s", Doc: "modification time, in seconds since 1970; default: now"},
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing parent directories"},
		},
	},
	{
		Name: "uncomment", State: uncomment, Src: "states/file.py uncomment",
		Doc:    "Uncomment the lines that match.",
		Shared: [][]fun.Arg{commentArgs},
	},
}
