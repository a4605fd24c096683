package file

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	// pathArg is the first argument of most functions.
	pathArg = fun.Arg{Name: "path", Type: fun.Path, Required: true, Doc: "the file or directory"}
	// nameArg is what some functions call it.
	nameArg  = fun.Arg{Name: "name", Type: fun.Path, Required: true, Doc: "the path"}
	regexArg = fun.Arg{Name: "regex", Type: fun.Str, Required: true, Doc: "regular expression for the lines"}
	// Owners are Any where they are required and None is a value.
	userArg     = fun.Arg{Name: "user", Required: true, Doc: "owner, by name or ID"}
	groupArg    = fun.Arg{Name: "group", Required: true, Doc: "group, by name or ID"}
	modeArg     = fun.Arg{Name: "mode", Required: true, Doc: "permissions"}
	attrsArg    = fun.Arg{Name: "attrs", Required: true, Doc: "chattr(1) attributes"}
	saltenvArg  = fun.Arg{Name: "saltenv", Type: fun.Str, Required: true, Doc: "environment of salt:// URLs"}
	srcArg      = fun.Arg{Name: "src", Type: fun.Path, Required: true, Doc: "the old path"}
	dstArg      = fun.Arg{Name: "dst", Type: fun.Path, Required: true, Doc: "the new path"}
	ownerOpt    = fun.Arg{Name: "user", Type: fun.Str | fun.Int, Doc: "owner, by name or ID"}
	groupOpt    = fun.Arg{Name: "group", Type: fun.Str | fun.Int, Doc: "group, by name or ID"}
	modeOpt     = fun.Arg{Name: "mode", Type: fun.Mode, Doc: "permissions, such as 0755"}
	backupIDArg = fun.Arg{Name: "backup_id", Type: fun.Int | fun.Str, Required: true, Doc: "its number in list_backups"}
	patternArg  = fun.Arg{Name: "pattern", Type: fun.Str, Required: true, Doc: "the regular expression"}
	hashNameOpt = fun.Arg{Name: "source_hash_name", Type: fun.Str, Doc: "name to look for first"}
	limitOpt    = fun.Arg{Name: "limit", Type: fun.Int, Doc: "return at most this many"}
)

var followArgs = []fun.Arg{
	{Name: "follow_symlinks", Type: fun.Bool, Default: true, Doc: "follow a symbolic link"},
}

var formArgs = []fun.Arg{
	{Name: "form", Type: fun.Str, Default: "sha256", Doc: "md5, sha1, sha224, sha256, sha384 or sha512"},
}

var commentArgs = []fun.Arg{
	{Name: "char", Type: fun.Str, Default: "#", Doc: "the comment character"},
}

var backupArgs = []fun.Arg{
	{Name: "backup", Type: fun.Str | fun.Bool, Default: ".bak", Doc: "keep a copy of the file with this suffix; False keeps none"},
}

var nodeMode = []fun.Arg{
	{Name: "mode", Type: fun.Mode, Default: "0660", Doc: "permissions"},
}

var managedArgs = []fun.Arg{
	{Name: "name", Type: fun.Path, Required: true, Doc: "the file"},
	{Name: "source", Required: true, Doc: "URL or path, or a list of them"},
	{Name: "source_hash", Required: true, Doc: "digest of the source"},
	{Name: "source_hash_name", Required: true, Doc: "name to look for in a file of digests"},
	userArg,
	groupArg,
	modeArg,
	attrsArg,
	{Name: "template", Required: true, Doc: "template engine"},
	{Name: "context", Required: true, Doc: "variables of the template"},
	{Name: "defaults", Required: true, Doc: "variables of the template"},
	saltenvArg,
	{Name: "contents", Type: fun.Str, Doc: "the content, instead of a source"},
	{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "accept a remote source without a digest"},
}

// contextArgs are the parts of a SELinux context.
var contextArgs = []fun.Arg{
	{Name: "seuser", Type: fun.Str, Doc: "user of the SELinux context; not managed"},
	{Name: "serole", Type: fun.Str, Doc: "role of the SELinux context; not managed"},
	{Name: "setype", Type: fun.Str, Doc: "type of the SELinux context; not managed"},
	{Name: "serange", Type: fun.Str, Doc: "range of the SELinux context; not managed"},
}

var managedChangesArgs = []fun.Arg{
	{Name: "keep_mode", Type: fun.Bool, Default: false, Doc: "use the mode of the source"},
	{Name: "verify_ssl", Type: fun.Bool, Default: true, Doc: "verify certificates"},
	{Name: "follow_symlinks", Type: fun.Bool, Default: false, Doc: "follow symbolic links"},
}

var managedCheckArgs = []fun.Arg{
	{Name: "follow_symlinks", Type: fun.Bool, Default: false, Doc: "follow symbolic links"},
	{Name: "keep_mode", Type: fun.Bool, Default: false, Doc: "use the mode of the source"},
	{Name: "verify_ssl", Type: fun.Bool, Default: true, Doc: "verify certificates"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "access", Doc: "Return whether a path can be used in a mode.", Src: "modules/file.py access",
		Fn: access,
		Args: []fun.Arg{
			pathArg,
			{Name: "mode", Type: fun.Str, Required: true, Doc: "f: exists, r: readable, w: writable, x: executable"},
		},
	},
	{Name: "append", Doc: "Append lines to a file.", Src: "modules/file.py append", VarArg: true, VarKw: true, Args: []fun.Arg{pathArg}, Fn: appendTo},
	{
		Name: "apply_template_on_contents", Doc: "Render text as a template.", Src: "modules/file.py apply_template_on_contents",
		Fn: applyTemplate,
		Args: []fun.Arg{
			{Name: "contents", Type: fun.Str, Required: true, Doc: "the text"},
			{Name: "template", Type: fun.Str, Required: true, Doc: "template engine"},
			{Name: "context", Required: true, Doc: "variables; they take precedence over defaults"},
			{Name: "defaults", Required: true, Doc: "variables"},
			{Name: "saltenv", Type: fun.Str, Required: true, Doc: "environment of imports"},
		},
	},
	{Name: "basename", Doc: "Return the last part of a path.", Src: "modules/file.py basename", Args: []fun.Arg{pathArg}, Fn: basename},
	{
		Name: "blockreplace", Doc: "Replace the lines between two marker lines.", Src: "modules/file.py blockreplace",
		Fn: blockReplaceRow,
		Args: []fun.Arg{
			pathArg,
			{Name: "marker_start", Type: fun.Str, Default: "#-- start managed zone --", Doc: "text of the line before the block"},
			{Name: "marker_end", Type: fun.Str, Default: "#-- end managed zone --", Doc: "text of the line after it"},
			{Name: "content", Type: fun.Str, Default: "", Doc: "the lines of the block"},
			{Name: "append_if_not_found", Type: fun.Bool, Default: false, Doc: "append the block if there are no markers"},
			{Name: "prepend_if_not_found", Type: fun.Bool, Default: false, Doc: "prepend the block if there are no markers"},
			{Name: "backup", Type: fun.Str | fun.Bool, Default: ".bak", Doc: "keep a copy of the file with this suffix; False keeps none"},
			{Name: "dry_run", Type: fun.Bool, Default: false, Doc: "change nothing"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "return the diff instead of whether there is one"},
			{Name: "append_newline", Type: fun.Bool, Default: false, Doc: "end the content with a newline; None: only if it has none"},
			{Name: "insert_before_match", Type: fun.Str, Doc: "if there are no markers, add the block before the first line that matches"},
			{Name: "insert_after_match", Type: fun.Str, Doc: "if there are no markers, add the block after the first line that matches"},
		},
	},
	{Name: "chattr", Doc: "Change chattr(1) attributes of files.", Src: "modules/file.py chattr", VarArg: true, VarKw: true, Fn: chattr},
	{
		Name: "check_hash", Doc: "Return whether a file has a digest.", Src: "modules/file.py check_hash",
		Fn: checkHash,
		Args: []fun.Arg{
			pathArg,
			{Name: "file_hash", Required: true, Doc: "the digest, or TYPE:DIGEST, or TYPE=DIGEST"},
		},
	},
	{
		Name: "check_managed", Doc: "Return what a managed file would change, as a result and text.", Src: "modules/file.py check_managed",
		VarKw: true, Args: managedArgs, Shared: [][]fun.Arg{managedCheckArgs, contextArgs}, Fn: checkManaged,
	},
	{
		Name: "check_managed_changes", Doc: "Return what a managed file would change.", Src: "modules/file.py check_managed_changes",
		VarKw: true, Args: managedArgs, Shared: [][]fun.Arg{managedChangesArgs, contextArgs}, Fn: checkManagedChanges,
	},
	{
		Name: "check_perms", Doc: "Set the owner and mode of a file; return the changes and the former values.", Src: "modules/file.py check_perms",
		Fn: checkPerms, Shared: [][]fun.Arg{contextArgs},
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "the file"},
			{Name: "ret", Required: true, Doc: "state return to add to, or None"},
			userArg, groupArg, modeArg,
			{Name: "attrs", Type: fun.Str, Doc: "chattr(1) attributes"},
			{Name: "follow_symlinks", Type: fun.Bool, Default: false, Doc: "follow a symbolic link"},
		},
	},
	{Name: "chgrp", Doc: "Change the group of a file.", Src: "modules/file.py chgrp", Args: []fun.Arg{pathArg, groupArg}, Fn: chgrp},
	{Name: "chown", Doc: "Change the owner and group of a file.", Src: "modules/file.py chown", Args: []fun.Arg{pathArg, userArg, groupArg}, Fn: chown},
	{Name: "comment", Doc: "Comment out lines.", Src: "modules/file.py comment", Args: []fun.Arg{pathArg, regexArg}, Shared: [][]fun.Arg{commentArgs, backupArgs}, Fn: comment},
	{
		Name: "comment_line", Doc: "Comment lines out or in.", Src: "modules/file.py comment_line",
		Shared: [][]fun.Arg{backupArgs}, Fn: commentLineRow,
		Args: []fun.Arg{
			pathArg, regexArg,
			{Name: "char", Type: fun.Str, Default: "#", Doc: "the comment character"},
			{Name: "cmnt", Type: fun.Bool, Default: true, Doc: "False removes the comment character"},
		},
	},
	{
		Name: "contains", Doc: "Return whether a file contains a text.", Src: "modules/file.py contains",
		Fn: contains,
		Args: []fun.Arg{
			pathArg,
			{Name: "text", Type: fun.Str, Required: true, Doc: "the text; white space around it is ignored"},
		},
	},
	{
		Name: "contains_glob", Doc: "Return whether a glob matches in a file.", Src: "modules/file.py contains_glob",
		Fn: containsGlob,
		Args: []fun.Arg{
			pathArg,
			{Name: "glob_expr", Type: fun.Str, Required: true, Doc: "the glob"},
		},
	},
	{
		Name: "contains_regex", Doc: "Return whether a regular expression matches in a line of a file.", Src: "modules/file.py contains_regex",
		Fn: containsRegex,
		Args: []fun.Arg{
			pathArg,
			{Name: "regex", Type: fun.Str, Required: true, Doc: "the regular expression"},
			{Name: "lchar", Type: fun.Str, Default: "", Doc: "characters to strip from the start of each line"},
		},
	},
	{
		Name: "copy", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Copy a file or directory.", Src: "modules/file.py copy",
		Fn: copyAction,
		Args: []fun.Arg{
			srcArg, dstArg,
			{Name: "recurse", Type: fun.Bool, Default: false, Doc: "copy a directory with its contents"},
			{Name: "remove_existing", Type: fun.Bool, Default: false, Doc: "remove an existing directory first"},
		},
	},
	{Name: "delete_backup", Doc: "Remove a backup of a file.", Src: "modules/file.py delete_backup", Args: []fun.Arg{pathArg, backupIDArg}, Fn: deleteBackup},
	{Name: "directory_exists", Doc: "Return whether a path is a directory.", Src: "modules/file.py directory_exists", Args: []fun.Arg{pathArg}, Fn: directoryExists},
	{Name: "dirname", Doc: "Return a path without its last part.", Src: "modules/file.py dirname", Args: []fun.Arg{pathArg}, Fn: dirname},
	{Name: "diskusage", Doc: "Return the size of all files under a path in bytes.", Src: "modules/file.py diskusage", Args: []fun.Arg{pathArg}, Fn: diskusage},
	{
		Name: "extract_hash", Doc: "Find the digest of a file in a file of digests.", Src: "modules/file.py extract_hash",
		Fn: extractHash,
		Args: []fun.Arg{
			{Name: "hash_fn", Type: fun.Path, Required: true, Doc: "the file of digests"},
			{Name: "hash_type", Type: fun.Str, Default: "sha256", Doc: "kind of digest"},
			{Name: "file_name", Type: fun.Str, Default: "", Doc: "name of the file"},
			{Name: "source", Type: fun.Str, Default: "", Doc: "URL of the file"},
			hashNameOpt,
		},
	},
	{Name: "file_exists", Doc: "Return whether a path is a regular file.", Src: "modules/file.py file_exists", Args: []fun.Arg{pathArg}, Fn: fileExists},
	{
		Name: "find", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Find files under a path.\nFurther arguments are criteria (name, iname, regex, iregex, type, size, mtime, user, group, grep, mindepth, maxdepth)\nand actions (print, delete, exec), as in find(1): type=f name='*.log' mtime=+30d.", Src: "modules/file.py find",
		VarArg: true, VarKw: true, Fn: find,
		Args: []fun.Arg{
			pathArg,
		},
	},
	{Name: "get_devmm", Doc: "Return the major and minor number of a device, 0 and 0 for other files.", Src: "modules/file.py get_devmm", Args: []fun.Arg{nameArg}, Fn: getDevMM},
	{
		Name: "get_diff", Doc: "Return the unified diff of two files.", Src: "modules/file.py get_diff",
		Fn: getDiff,
		Args: []fun.Arg{
			{Name: "file1", Type: fun.Path, Required: true, Doc: "path or URL"},
			{Name: "file2", Type: fun.Path, Required: true, Doc: "path or URL"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of salt:// URLs"},
			{Name: "show_filenames", Type: fun.Bool, Default: true, Doc: "name the files at the top"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "show the diff"},
			{Name: "template", Type: fun.Bool, Default: false, Doc: "accepted"},
			{Name: "source_hash_file1", Type: fun.Str, Doc: "digest of the first file"},
			{Name: "source_hash_file2", Type: fun.Str, Doc: "digest of the second file"},
		},
	},
	{Name: "get_gid", Doc: "Return the group ID of a file.", Src: "modules/file.py get_gid", Args: []fun.Arg{pathArg}, Shared: [][]fun.Arg{followArgs}, Fn: getGID},
	{Name: "get_group", Doc: "Return the group of a file.", Src: "modules/file.py get_group", Args: []fun.Arg{pathArg}, Shared: [][]fun.Arg{followArgs}, Fn: getGroup},
	{
		Name: "get_hash", Doc: "Return the digest of a file.", Src: "modules/file.py get_hash",
		Fn: getHash,
		Args: []fun.Arg{
			pathArg,
			{Name: "form", Type: fun.Str, Default: "sha256", Doc: "md5, sha1, sha224, sha256, sha384 or sha512"},
			{Name: "chunk_size", Type: fun.Int, Default: int64(65536), Unit: "bytes", Doc: "accepted"},
		},
	},
	{Name: "get_mode", Doc: "Return the permissions of a file.", Src: "modules/file.py get_mode", Args: []fun.Arg{pathArg}, Shared: [][]fun.Arg{followArgs}, Fn: getMode},
	{Name: "get_selinux_context", Doc: "Return the SELinux context of a path.", Src: "modules/file.py get_selinux_context", Args: []fun.Arg{pathArg}, Fn: getContext},
	{
		Name: "get_source_sum", Doc: "Return the digest that a source_hash names.", Src: "modules/file.py get_source_sum",
		Fn: sourceSum,
		Args: []fun.Arg{
			{Name: "file_name", Type: fun.Str, Default: "", Doc: "the file"},
			{Name: "source", Type: fun.Str, Default: "", Doc: "its URL"},
			{Name: "source_hash", Type: fun.Str, Doc: "digest, or a file of digests"},
			hashNameOpt,
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of salt:// URLs"},
			{Name: "verify_ssl", Type: fun.Bool, Default: true, Doc: "verify certificates"},
		},
	},
	{Name: "get_sum", Doc: `Return the digest of a file, or "File not found".`, Src: "modules/file.py get_sum", Args: []fun.Arg{pathArg}, Shared: [][]fun.Arg{formArgs}, Fn: getSum},
	{Name: "get_uid", Doc: "Return the user ID of the owner of a file.", Src: "modules/file.py get_uid", Args: []fun.Arg{pathArg}, Shared: [][]fun.Arg{followArgs}, Fn: getUID},
	{Name: "get_user", Doc: "Return the owner of a file.", Src: "modules/file.py get_user", Args: []fun.Arg{pathArg}, Shared: [][]fun.Arg{followArgs}, Fn: getUser},
	{
		Name: "gid_to_group", Doc: "Return the name of a group, or its ID if it has no name.", Src: "modules/file.py gid_to_group",
		Fn: gidToGroup,
		Args: []fun.Arg{
			{Name: "gid", Type: fun.Int | fun.Str, Required: true, Doc: "ID or name"},
		},
	},
	{
		Name: "grep", Doc: "Run grep(1) on a file or the files of a glob; further arguments are its options.", Src: "modules/file.py grep",
		VarArg: true, Fn: grep,
		Args: []fun.Arg{
			pathArg,
			{Name: "pattern", Type: fun.Str, Required: true, Doc: "the pattern"},
		},
	},
	{
		Name: "group_to_gid", Doc: `Return the ID of a group, "" if it does not exist.`, Src: "modules/file.py group_to_gid",
		Fn: groupToGID,
		Args: []fun.Arg{
			{Name: "group", Required: true, Doc: "name or ID"},
		},
	},
	{Name: "is_blkdev", Doc: "Return whether a path is a block device.", Src: "modules/file.py is_blkdev", Args: []fun.Arg{nameArg}, Fn: isBlockDev},
	{Name: "is_chrdev", Doc: "Return whether a path is a character device.", Src: "modules/file.py is_chrdev", Args: []fun.Arg{nameArg}, Fn: isCharDev},
	{Name: "is_fifo", Doc: "Return whether a path is a named pipe.", Src: "modules/file.py is_fifo", Args: []fun.Arg{nameArg}, Fn: isFIFO},
	{Name: "is_hardlink", Doc: "Return whether a file has several hard links.", Src: "modules/file.py is_hardlink", Args: []fun.Arg{pathArg}, Fn: isHardLink},
	{Name: "is_link", Doc: "Return whether a path is a symbolic link.", Src: "modules/file.py is_link", Args: []fun.Arg{pathArg}, Fn: isLink},
	{Name: "join", Doc: "Join parts to a path; leading slashes of all but the first are removed.", Src: "modules/file.py join", VarArg: true, Fn: join},
	{Name: "lchown", Doc: "Change the owner and group of a symbolic link itself.", Src: "modules/file.py lchown", Args: []fun.Arg{pathArg, userArg, groupArg}, Fn: lchown},
	{
		Name: "line", Doc: "Insert, replace, ensure or delete one line.", Src: "modules/file.py line",
		Fn: lineRow,
		Args: []fun.Arg{
			pathArg,
			{Name: "content", Type: fun.Str, Doc: "the line"},
			{Name: "match", Type: fun.Str, Doc: "text or regular expression of the line; default: content"},
			{Name: "mode", Type: fun.Str, Doc: "insert, ensure, replace or delete"},
			{Name: "location", Type: fun.Str, Doc: "where to insert: start or end"},
			{Name: "before", Type: fun.Str, Doc: "line before which to insert"},
			{Name: "after", Type: fun.Str, Doc: "line after which to insert"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "return the diff instead of whether there is one"},
			{Name: "backup", Type: fun.Bool, Default: false, Doc: "keep a copy of the file with the time as suffix"},
			{Name: "quiet", Type: fun.Bool, Default: false, Doc: "a missing file is not an error"},
			{Name: "indent", Type: fun.Bool, Default: true, Doc: "indent like the neighbouring line"},
		},
	},
	{Name: "link", Doc: "Create a hard link.", Src: "modules/file.py link", Args: []fun.Arg{srcArg, {Name: "path", Type: fun.Path, Required: true, Doc: "the new name"}}, Fn: link},
	{Name: "list_backup", Doc: "Return the backups of a file, newest first.", Src: "modules/file.py list_backup", Args: []fun.Arg{pathArg, limitOpt}, Fn: listBackups},
	{Name: "list_backups", Doc: "Return the backups of a file, newest first.", Src: "modules/file.py list_backups", Args: []fun.Arg{pathArg, limitOpt}, Fn: listBackups},
	{
		Name: "list_backups_dir", Doc: "Return the number of backups of each file in a directory.", Src: "modules/file.py list_backups_dir",
		Fn: listBackupsDir,
		Args: []fun.Arg{
			pathArg,
			{Name: "limit", Type: fun.Int, Doc: "accepted"},
		},
	},
	{Name: "lsattr", Doc: "Return the chattr(1) attributes of a file, or of the files in a directory.", Src: "modules/file.py lsattr", Args: []fun.Arg{pathArg}, Fn: lsattr},
	{Name: "lstat", Doc: "Return the result of lstat(2) for a path.", Src: "modules/file.py lstat", Args: []fun.Arg{pathArg}, Fn: lstat},
	{
		Name: "makedirs", Doc: "Create the directory that contains a path, and its parents.", Src: "modules/file.py makedirs",
		Fn: makedirs,
		Args: []fun.Arg{
			pathArg, ownerOpt, groupOpt, modeOpt,
		},
	},
	{
		Name: "makedirs_perms", Doc: "Create a directory and its parents with owner and mode.", Src: "modules/file.py makedirs_perms",
		Fn: makedirsPerms,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "the directory"},
			ownerOpt, groupOpt,
			{Name: "mode", Type: fun.Mode, Default: "0755", Doc: "permissions"},
		},
	},
	{
		Name: "manage_file", Doc: "Create or update a file as described; return what changed.", Src: "modules/file.py manage_file",
		VarKw: true, Fn: manageFile, Shared: [][]fun.Arg{contextArgs},
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "the file"},
			{Name: "sfn", Required: true, Doc: "path of the new content, or empty"},
			{Name: "ret", Required: true, Doc: "state return to add to, or None"},
			{Name: "source", Required: true, Doc: "URL of the source"},
			{Name: "source_sum", Required: true, Doc: "its digest: {hash_type, hsum}"},
			userArg, groupArg, modeArg, attrsArg, saltenvArg,
			{Name: "backup", Required: true, Doc: "backup mode"},
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing directories"},
			{Name: "template", Type: fun.Str, Doc: "accepted"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "show the diff"},
			{Name: "contents", Type: fun.Str, Doc: "the content, instead of a source"},
			{Name: "dir_mode", Type: fun.Mode, Doc: "permissions of directories that are created"},
			{Name: "follow_symlinks", Type: fun.Bool, Default: true, Doc: "write to the target of a symbolic link"},
			{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "do not check the digest"},
			{Name: "keep_mode", Type: fun.Bool, Default: false, Doc: "use the mode of the source"},
			{Name: "encoding", Type: fun.Str, Doc: "encoding of contents"},
			{Name: "encoding_errors", Type: fun.Str, Default: "strict", Doc: "how to treat characters that the encoding lacks"},
			{Name: "verify_ssl", Type: fun.Bool, Default: true, Doc: "verify certificates"},
			{Name: "use_etag", Type: fun.Bool, Default: false, Doc: "ask a web server by ETag whether its file changed"},
		},
	},
	{
		Name: "mkdir", Doc: "Create a directory and its parents.", Src: "modules/file.py mkdir",
		Fn: mkdir,
		Args: []fun.Arg{
			{Name: "dir_path", Type: fun.Path, Required: true, Doc: "the directory"},
			ownerOpt, groupOpt, modeOpt,
		},
	},
	{
		Name: "mknod", Doc: "Create a device or a named pipe, and missing parent directories.", Src: "modules/file.py mknod",
		Fn: mknod,
		Args: []fun.Arg{
			nameArg,
			{Name: "ntype", Type: fun.Str, Required: true, Doc: "c: character device, b: block device, p: pipe"},
			{Name: "major", Type: fun.Int, Default: int64(0), Doc: "major number"},
			{Name: "minor", Type: fun.Int, Default: int64(0), Doc: "minor number"},
			ownerOpt, groupOpt,
			{Name: "mode", Type: fun.Mode, Default: "0600", Doc: "permissions"},
		},
	},
	{
		Name: "mknod_blkdev", Doc: "Create a block device.", Src: "modules/file.py mknod_blkdev",
		Shared: [][]fun.Arg{nodeMode}, Fn: mknodBlock,
		Args: []fun.Arg{
			nameArg,
			{Name: "major", Type: fun.Int, Required: true, Doc: "major number"},
			{Name: "minor", Type: fun.Int, Required: true, Doc: "minor number"},
			ownerOpt, groupOpt,
		},
	},
	{
		Name: "mknod_chrdev", Doc: "Create a character device.", Src: "modules/file.py mknod_chrdev",
		Shared: [][]fun.Arg{nodeMode}, Fn: mknodChar,
		Args: []fun.Arg{
			nameArg,
			{Name: "major", Type: fun.Int, Required: true, Doc: "major number"},
			{Name: "minor", Type: fun.Int, Required: true, Doc: "minor number"},
			ownerOpt, groupOpt,
		},
	},
	{Name: "mknod_fifo", Doc: "Create a named pipe.", Src: "modules/file.py mknod_fifo", Args: []fun.Arg{nameArg, ownerOpt, groupOpt}, Shared: [][]fun.Arg{nodeMode}, Fn: mknodFIFO},
	{
		Name: "move", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Move a file or directory, also to another file system.", Src: "modules/file.py move",
		Fn: moveAction,
		Args: []fun.Arg{
			srcArg, dstArg,
			{Name: "disallow_copy_and_unlink", Type: fun.Bool, Default: false, Doc: "fail if the destination is on another file system"},
		},
	},
	{Name: "normpath", Doc: `Return a path without ".", ".." and repeated slashes.`, Src: "modules/file.py normpath", Args: []fun.Arg{pathArg}, Fn: normpath},
	{
		Name: "open_files", Doc: "Return the IDs of the processes that have each file open.", Src: "modules/file.py open_files",
		Fn: openFiles,
		Args: []fun.Arg{
			{Name: "by_pid", Type: fun.Bool, Default: false, Doc: "return the files by process"},
		},
	},
	{Name: "pardir", Doc: `Return the name of the parent directory, "..".`, Src: "modules/file.py pardir", Fn: pardir},
	{
		Name: "patch", Doc: "Run patch(1) on a file or directory; return pid, retcode, stdout and stderr.", Src: "modules/file.py patch",
		Fn: patchRow,
		Args: []fun.Arg{
			{Name: "originalfile", Type: fun.Path, Required: true, Doc: "the file or directory"},
			{Name: "patchfile", Type: fun.Path, Required: true, Doc: "the patch"},
			{Name: "options", Type: fun.Str | fun.Strs, Default: "", Doc: "options of patch"},
			{Name: "dry_run", Type: fun.Bool, Default: false, Doc: "change nothing"},
		},
	},
	{Name: "path_exists_glob", Doc: "Return whether a glob matches an existing path.", Src: "modules/file.py path_exists_glob", Args: []fun.Arg{pathArg}, Fn: pathExistsGlob},
	{Name: "prepend", Doc: "Insert lines at the start of a file.", Src: "modules/file.py prepend", VarArg: true, VarKw: true, Args: []fun.Arg{pathArg}, Fn: prependTo},
	{Name: "pwd", Doc: "Return the working directory.", Src: "modules/file.py pwd", Fn: pwd},
	{
		Name: "read", Doc: "Return the content of a file.", Src: "modules/file.py read",
		Fn: read,
		Args: []fun.Arg{
			pathArg,
			{Name: "binary", Type: fun.Bool, Default: false, Doc: "return bytes"},
		},
	},
	{Name: "readdir", Doc: `Return the names in a directory, "." and ".." first.`, Src: "modules/file.py readdir", Args: []fun.Arg{pathArg}, Fn: readdir},
	{
		Name: "readlink", Doc: "Return the target of a symbolic link.", Src: "modules/file.py readlink",
		Fn: readlink,
		Args: []fun.Arg{
			pathArg,
			{Name: "canonicalize", Type: fun.Bool, Default: false, Doc: "resolve all links; return an absolute path"},
		},
	},
	{Name: "remove", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Remove a file, a link, or a directory with its contents.", Src: "modules/file.py remove", VarKw: true, Args: []fun.Arg{pathArg}, Fn: remove},
	{Name: "remove_backup", Doc: "Remove a backup of a file.", Src: "modules/file.py remove_backup", Args: []fun.Arg{pathArg, backupIDArg}, Fn: deleteBackup},
	{Name: "rename", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Rename a file or directory.", Src: "modules/file.py rename", Args: []fun.Arg{srcArg, dstArg}, Fn: renameAction},
	{
		Name: "replace", Doc: "Replace the matches of a regular expression.", Src: "modules/file.py replace",
		Fn: replaceRow,
		Args: []fun.Arg{
			pathArg, patternArg,
			{Name: "repl", Type: fun.Str, Required: true, Doc: "the replacement"},
			{Name: "count", Type: fun.Int, Default: int64(0), Doc: "replace at most this many matches; 0 is all"},
			{Name: "flags", Type: fun.Int | fun.Str | fun.Strs, Default: int64(8), Doc: "flags of the expression: names, or Python's number"},
			{Name: "bufsize", Type: fun.Int | fun.Str, Default: int64(1), Doc: "accepted"},
			{Name: "append_if_not_found", Type: fun.Bool, Default: false, Doc: "append the text if nothing matches"},
			{Name: "prepend_if_not_found", Type: fun.Bool, Default: false, Doc: "prepend the text if nothing matches"},
			{Name: "not_found_content", Type: fun.Str, Doc: "text to add then; default: repl"},
			{Name: "backup", Type: fun.Str | fun.Bool, Default: ".bak", Doc: "keep a copy of the file with this suffix; False keeps none"},
			{Name: "dry_run", Type: fun.Bool, Default: false, Doc: "change nothing"},
			{Name: "search_only", Type: fun.Bool, Default: false, Doc: "only return whether it matches"},
			{Name: "show_changes", Type: fun.Bool, Default: true, Doc: "return the diff instead of whether there is one"},
			{Name: "ignore_if_missing", Type: fun.Bool, Default: false, Doc: "a missing file is not an error"},
			{Name: "preserve_inode", Type: fun.Bool, Default: true, Doc: "accepted; the file is replaced atomically"},
			{Name: "backslash_literal", Type: fun.Bool, Default: false, Doc: "take backslashes in repl literally"},
		},
	},
	{Name: "restore_backup", Doc: "Restore a backup of a file.", Src: "modules/file.py restore_backup", Args: []fun.Arg{pathArg, backupIDArg}, Fn: restoreBackup},
	{
		Name: "restorecon", Doc: "Set the SELinux context of a path by the policy; return whether that worked.", Src: "modules/file.py restorecon",
		Fn: restoreContext,
		Args: []fun.Arg{
			pathArg,
			{Name: "recursive", Type: fun.Bool, Default: false, Doc: "include everything under it"},
		},
	},
	{
		Name: "rmdir", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Remove an empty directory; return whether that worked.", Src: "modules/file.py rmdir",
		Fn: rmdir,
		Args: []fun.Arg{
			pathArg,
			{Name: "recurse", Type: fun.Bool, Default: false, Doc: "also remove the empty directories in it"},
			{Name: "verbose", Type: fun.Bool, Default: false, Doc: "return what was removed and what failed"},
			{Name: "older_than", Type: fun.Int, Unit: "days", Doc: "only directories not changed for this long"},
		},
	},
	{
		Name: "search", Doc: "Return whether a regular expression matches in a file.", Src: "modules/file.py search",
		Fn: search,
		Args: []fun.Arg{
			pathArg, patternArg,
			{Name: "flags", Type: fun.Int | fun.Str | fun.Strs, Default: int64(8), Doc: "flags of the expression: names, or Python's number"},
			{Name: "bufsize", Type: fun.Int | fun.Str, Default: int64(1), Doc: "accepted"},
			{Name: "ignore_if_missing", Type: fun.Bool, Default: false, Doc: "a missing file has no match"},
			{Name: "multiline", Type: fun.Bool, Default: false, Doc: "let ^ and $ match at line ends"},
		},
	},
	{
		Name: "sed", Doc: "Run sed(1) on a file: replace before by after.", Src: "modules/file.py sed",
		Fn: sed,
		Args: []fun.Arg{
			pathArg,
			{Name: "before", Type: fun.Str, Required: true, Doc: "the pattern"},
			{Name: "after", Type: fun.Str, Required: true, Doc: "the replacement"},
			{Name: "limit", Type: fun.Str, Default: "", Doc: "pattern of the lines to edit"},
			{Name: "backup", Type: fun.Str | fun.Bool, Default: ".bak", Doc: "keep a copy of the file with this suffix; False keeps none"},
			{Name: "options", Type: fun.Str, Default: "-r -e", Doc: "options of sed"},
			{Name: "flags", Type: fun.Str, Default: "g", Doc: "flags of the s command"},
			{Name: "escape_all", Type: fun.Bool, Default: false, Doc: "take special characters literally"},
			{Name: "negate_match", Type: fun.Bool, Default: false, Doc: "edit the lines that limit does not match"},
		},
	},
	{
		Name: "sed_contains", Doc: "Return whether sed(1) finds a text in a file.", Src: "modules/file.py sed_contains",
		Fn: sedContains,
		Args: []fun.Arg{
			pathArg,
			{Name: "text", Type: fun.Str, Required: true, Doc: "extended regular expression"},
			{Name: "limit", Type: fun.Str, Default: "", Doc: "pattern of the lines to search"},
			{Name: "flags", Type: fun.Str, Default: "g", Doc: "flags of the s command"},
		},
	},
	{
		Name: "seek_read", Doc: "Return part of a file as text.", Src: "modules/file.py seek_read",
		Fn: seekRead,
		Args: []fun.Arg{
			pathArg,
			{Name: "size", Type: fun.Int, Required: true, Unit: "bytes", Doc: "how much to read"},
			{Name: "offset", Type: fun.Int, Required: true, Unit: "bytes", Doc: "where to start; negative counts from the end"},
		},
	},
	{
		Name: "seek_write", Doc: "Write text to a file at an offset.", Src: "modules/file.py seek_write",
		Fn: seekWrite,
		Args: []fun.Arg{
			pathArg,
			{Name: "data", Type: fun.Str, Required: true, Doc: "the text"},
			{Name: "offset", Type: fun.Int, Required: true, Unit: "bytes", Doc: "where to start"},
		},
	},
	{
		Name: "set_mode", Doc: "Set the permissions of a file.", Src: "modules/file.py set_mode",
		Fn: setMode,
		Args: []fun.Arg{
			pathArg,
			{Name: "mode", Required: true, Doc: "permissions, such as 0644"},
		},
	},
	{
		Name: "set_selinux_context", Doc: "Set parts of the SELinux context of a path; return it, or False.", Src: "modules/file.py set_selinux_context",
		Fn: setContext,
		Args: []fun.Arg{
			pathArg,
			{Name: "user", Type: fun.Str, Doc: "SELinux user"},
			{Name: "role", Type: fun.Str, Doc: "role"},
			{Name: "type", Type: fun.Str, Doc: "type"},
			{Name: "range", Type: fun.Str, Doc: "range"},
			{Name: "persist", Type: fun.Bool, Default: false, Doc: "also store it in the policy"},
		},
	},
	{
		Name: "source_list", Doc: "Return the first source that exists, and its digest.", Src: "modules/file.py source_list",
		Fn: sourceList,
		Args: []fun.Arg{
			{Name: "source", Required: true, Doc: "sources"},
			{Name: "source_hash", Required: true, Doc: "digest"},
			{Name: "saltenv", Type: fun.Str, Required: true, Doc: "environment of salt:// URLs"},
		},
	},
	{
		Name: "stats", Doc: "Return type, size, owner, mode and times of a file.", Src: "modules/file.py stats",
		Shared: [][]fun.Arg{followArgs}, Fn: stats,
		Args: []fun.Arg{
			pathArg,
			{Name: "hash_type", Type: fun.Str, Doc: "also return a digest of this kind"},
		},
	},
	{
		Name: "symlink", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Create a symbolic link.", Src: "modules/file.py symlink",
		Fn: symlink,
		Args: []fun.Arg{
			srcArg,
			{Name: "path", Type: fun.Path, Required: true, Doc: "the link"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "replace an existing path"},
			{Name: "atomic", Type: fun.Bool, Default: false, Doc: "replace it in one step"},
		},
	},
	{Name: "tail", Doc: "Return the last lines of a file.", Src: "modules/file.py tail", Args: []fun.Arg{pathArg, {Name: "lines", Type: fun.Int, Required: true, Doc: "how many"}}, Fn: tail},
	{
		Name: "touch", Doc: "Create an empty file, or set the times of an existing one.", Src: "modules/file.py touch",
		Fn: touch,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "the file"},
			{Name: "atime", Unit: "s", Doc: "access time, since 1970"},
			{Name: "mtime", Unit: "s", Doc: "modification time, since 1970"},
		},
	},
	{
		Name: "truncate", Doc: "Truncate a file to a length.", Src: "modules/file.py truncate",
		Fn: truncate,
		Args: []fun.Arg{
			pathArg,
			{Name: "length", Type: fun.Int, Required: true, Unit: "bytes", Doc: "the new length"},
		},
	},
	{
		Name: "uid_to_user", Doc: "Return the name of a user, or the ID if it has no name.", Src: "modules/file.py uid_to_user",
		Fn: uidToUser,
		Args: []fun.Arg{
			{Name: "uid", Required: true, Doc: "user ID"},
		},
	},
	{
		Name: "uncomment", Doc: "Remove the comment character from lines.", Src: "modules/file.py uncomment",
		Shared: [][]fun.Arg{commentArgs, backupArgs}, Fn: uncomment,
		Args: []fun.Arg{
			pathArg, regexArg,
		},
	},
	{
		Name: "user_to_uid", Doc: `Return the ID of a user, "" if it does not exist.`, Src: "modules/file.py user_to_uid",
		Fn: userToUID,
		Args: []fun.Arg{
			{Name: "user", Required: true, Doc: "name or ID; None is the user brine runs as"},
		},
	},
	{Name: "write", Doc: "Write lines to a file, replacing its content.", Src: "modules/file.py write", VarArg: true, VarKw: true, Args: []fun.Arg{pathArg}, Fn: write},
}
