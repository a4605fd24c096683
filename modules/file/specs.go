package file

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// pathArg is the first argument of most functions.
type pathArg struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"the file or directory"`
}

// nameArg is what some functions call it.
type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required,path" doc:"the path"`
}

type regexArg struct {
	_     fun.Arguments
	Regex string `arg:"regex,required" doc:"regular expression for the lines"`
}

// Owners are Any where they are required and None is a value.
type userArg struct {
	_    fun.Arguments
	User value.Value `arg:"user,required" doc:"owner, by name or ID"`
}

type groupArg struct {
	_     fun.Arguments
	Group value.Value `arg:"group,required" doc:"group, by name or ID"`
}

type modeArg struct {
	_    fun.Arguments
	Mode value.Value `arg:"mode,required" doc:"permissions"`
}

type attrsArg struct {
	_     fun.Arguments
	Attrs fun.Opt[string] `arg:"attrs,required,any" doc:"chattr(1) attributes"`
}

type saltenvArg struct {
	_       fun.Arguments
	SaltEnv string `arg:"saltenv,required" doc:"environment of salt:// URLs"`
}

type srcArg struct {
	_   fun.Arguments
	Src string `arg:"src,required,path" doc:"the old path"`
}

type dstArg struct {
	_   fun.Arguments
	Dst string `arg:"dst,required,path" doc:"the new path"`
}

type ownerOpt struct {
	_    fun.Arguments
	User value.Value `arg:"user,str|int" doc:"owner, by name or ID"`
}

type groupOpt struct {
	_     fun.Arguments
	Group value.Value `arg:"group,str|int" doc:"group, by name or ID"`
}

type modeOpt struct {
	_    fun.Arguments
	Mode value.Value `arg:"mode,mode" doc:"permissions, such as 0755"`
}

type backupIDArg struct {
	_        fun.Arguments
	BackupID value.Value `arg:"backup_id,required,str|int" doc:"its number in list_backups"`
}

type patternArg struct {
	_       fun.Arguments
	Pattern string `arg:"pattern,required" doc:"the regular expression"`
}

type hashNameOpt struct {
	_              fun.Arguments
	SourceHashName string `arg:"source_hash_name" doc:"name to look for first"`
}

type followArgs struct {
	_              fun.Arguments
	FollowSymlinks bool `arg:"follow_symlinks" default:"True" doc:"follow a symbolic link"`
}

type commentArgs struct {
	_    fun.Arguments
	Char string `arg:"char" default:"#" doc:"the comment character"`
}

type backupArgs struct {
	_      fun.Arguments
	Backup value.Value `arg:"backup,str|bool" default:"'.bak'" doc:"keep a copy of the file with this suffix; False keeps none"`
}

type nodeMode struct {
	_    fun.Arguments
	Mode value.Value `arg:"mode,mode" default:"0660" doc:"permissions"`
}

type managedArgs struct {
	Name           string      `arg:"name,required,path" doc:"the file"`
	Source         value.Value `arg:"source,required" doc:"URL or path, or a list of them"`
	SourceHash     value.Value `arg:"source_hash,required" doc:"digest of the source"`
	SourceHashName string      `arg:"source_hash_name,required,any" doc:"name to look for in a file of digests"`
	userArg
	groupArg
	modeArg
	attrsArg
	Template string     `arg:"template,required,any" doc:"template engine"`
	Context  *value.Map `arg:"context,required,any" doc:"variables of the template"`
	Defaults *value.Map `arg:"defaults,required,any" doc:"variables of the template"`
	saltenvArg
	Contents   fun.Opt[string] `arg:"contents" doc:"the content, instead of a source"`
	SkipVerify bool            `arg:"skip_verify" default:"False" doc:"accept a remote source without a digest"`
}

// contextArgs are the parts of a SELinux context.
type contextArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"seuser,none" doc:"not supported"`
	_ value.Value `arg:"serole,none" doc:"not supported"`
	_ value.Value `arg:"setype,none" doc:"not supported"`
	_ value.Value `arg:"serange,none" doc:"not supported"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "access", Doc: "Return whether a path can be used in a mode.", Src: "modules/file.py access",
		Do: access,
	},
	{Name: "append", Doc: "Append lines to a file.", Src: "modules/file.py append", Do: appendTo},
	{
		Name: "apply_template_on_contents", Doc: "Render text as a template.", Src: "modules/file.py apply_template_on_contents",
		Do: applyTemplate,
	},
	{Name: "basename", Doc: "Return the last part of a path.", Src: "modules/file.py basename", Do: basename},
	{
		Name: "blockreplace", Doc: "Replace the lines between two marker lines.", Src: "modules/file.py blockreplace",
		Do: blockReplaceRow,
	},
	{Name: "chattr", Doc: "Change chattr(1) attributes of files.", Src: "modules/file.py chattr", Do: chattr},
	{
		Name: "check_hash", Doc: "Return whether a file has a digest.", Src: "modules/file.py check_hash",
		Do: checkHash,
	},
	{
		Name: "check_managed", Doc: "Return what a managed file would change, as a result and text.", Src: "modules/file.py check_managed",
		Do: checkManaged,
	},
	{
		Name: "check_managed_changes", Doc: "Return what a managed file would change.", Src: "modules/file.py check_managed_changes",
		Do: checkManagedChanges,
	},
	{
		Name: "check_perms", Doc: "Set the owner and mode of a file; return the changes and the former values.", Src: "modules/file.py check_perms",
		Do: checkPerms,
	},
	{Name: "chgrp", Doc: "Change the group of a file.", Src: "modules/file.py chgrp", Do: chgrp},
	{Name: "chown", Doc: "Change the owner and group of a file.", Src: "modules/file.py chown", Do: chown},
	{Name: "comment", Doc: "Comment out lines.", Src: "modules/file.py comment", Do: comment},
	{
		Name: "comment_line", Doc: "Comment lines out or in.", Src: "modules/file.py comment_line",
		Do: commentLineRow,
	},
	{
		Name: "contains", Doc: "Return whether a file contains a text.", Src: "modules/file.py contains",
		Do: contains,
	},
	{
		Name: "contains_glob", Doc: "Return whether a glob matches in a file.", Src: "modules/file.py contains_glob",
		Do: containsGlob,
	},
	{
		Name: "contains_regex", Doc: "Return whether a regular expression matches in a line of a file.", Src: "modules/file.py contains_regex",
		Do: containsRegex,
	},
	{
		Name: "copy", Doc: "Copy a file or directory.", Src: "modules/file.py copy",
		Do: copyAction,
	},
	{Name: "delete_backup", Doc: "Remove a backup of a file.", Src: "modules/file.py delete_backup", Do: deleteBackup},
	{Name: "directory_exists", Doc: "Return whether a path is a directory.", Src: "modules/file.py directory_exists", Do: directoryExists},
	{Name: "dirname", Doc: "Return a path without its last part.", Src: "modules/file.py dirname", Do: dirname},
	{Name: "diskusage", Doc: "Return the size of all files under a path in bytes.", Src: "modules/file.py diskusage", Do: diskusage},
	{
		Name: "extract_hash", Doc: "Find the digest of a file in a file of digests.", Src: "modules/file.py extract_hash",
		Do: extractHash,
	},
	{Name: "file_exists", Doc: "Return whether a path is a regular file.", Src: "modules/file.py file_exists", Do: fileExists},
	{
		Name: "find", Doc: "Find files under a path.\nThe criteria and actions are those of find(1): type=f name='*.log' mtime=+30d.", Src: "modules/file.py find",
		Do: find,
	},
	{Name: "get_devmm", Doc: "Return the major and minor number of a device, 0 and 0 for other files.", Src: "modules/file.py get_devmm", Do: getDevMM},
	{
		Name: "get_diff", Doc: "Return the unified diff of two files.", Src: "modules/file.py get_diff",
		Do: getDiff,
	},
	{Name: "get_gid", Doc: "Return the group ID of a file.", Src: "modules/file.py get_gid", Do: getGID},
	{Name: "get_group", Doc: "Return the group of a file.", Src: "modules/file.py get_group", Do: getGroup},
	{
		Name: "get_hash", Doc: "Return the digest of a file.", Src: "modules/file.py get_hash",
		Do: getHash,
	},
	{Name: "get_mode", Doc: "Return the permissions of a file.", Src: "modules/file.py get_mode", Do: getMode},
	{Name: "get_selinux_context", Doc: "Return the SELinux context of a path.", Src: "modules/file.py get_selinux_context", Do: getContext},
	{
		Name: "get_source_sum", Doc: "Return the digest that a source_hash names.", Src: "modules/file.py get_source_sum",
		Do: sourceSum,
	},
	{Name: "get_sum", Doc: `Return the digest of a file, or "File not found".`, Src: "modules/file.py get_sum", Do: getSum},
	{Name: "get_uid", Doc: "Return the user ID of the owner of a file.", Src: "modules/file.py get_uid", Do: getUID},
	{Name: "get_user", Doc: "Return the owner of a file.", Src: "modules/file.py get_user", Do: getUser},
	{
		Name: "gid_to_group", Doc: "Return the name of a group, or its ID if it has no name.", Src: "modules/file.py gid_to_group",
		Do: gidToGroup,
	},
	{
		Name: "grep", Doc: "Run grep(1) on a file or the files of a glob; further arguments are its options.", Src: "modules/file.py grep",
		Do: grep,
	},
	{
		Name: "group_to_gid", Doc: `Return the ID of a group, "" if it does not exist.`, Src: "modules/file.py group_to_gid",
		Do: groupToGID,
	},
	{Name: "is_blkdev", Doc: "Return whether a path is a block device.", Src: "modules/file.py is_blkdev", Do: isBlockDev},
	{Name: "is_chrdev", Doc: "Return whether a path is a character device.", Src: "modules/file.py is_chrdev", Do: isCharDev},
	{Name: "is_fifo", Doc: "Return whether a path is a named pipe.", Src: "modules/file.py is_fifo", Do: isFIFO},
	{Name: "is_hardlink", Doc: "Return whether a file has several hard links.", Src: "modules/file.py is_hardlink", Do: isHardLink},
	{Name: "is_link", Doc: "Return whether a path is a symbolic link.", Src: "modules/file.py is_link", Do: isLink},
	{Name: "join", Doc: "Join parts to a path; leading slashes of all but the first are removed.", Src: "modules/file.py join", Do: join},
	{Name: "lchown", Doc: "Change the owner and group of a symbolic link itself.", Src: "modules/file.py lchown", Do: lchown},
	{
		Name: "line", Doc: "Insert, replace, ensure or delete one line.", Src: "modules/file.py line",
		Do: lineRow,
	},
	{Name: "link", Doc: "Create a hard link.", Src: "modules/file.py link", Do: link},
	{Name: "list_backup", Doc: "Return the backups of a file, newest first.", Src: "modules/file.py list_backup", Do: listBackups},
	{Name: "list_backups", Doc: "Return the backups of a file, newest first.", Src: "modules/file.py list_backups", Do: listBackups},
	{
		Name: "list_backups_dir", Doc: "Return the backups of each file in a directory, newest first.", Src: "modules/file.py list_backups_dir",
		Do: listBackupsDir,
	},
	{Name: "lsattr", Doc: "Return the chattr(1) attributes of a file, or of the files in a directory.", Src: "modules/file.py lsattr", Do: lsattr},
	{Name: "lstat", Doc: "Return the result of lstat(2) for a path.", Src: "modules/file.py lstat", Do: lstat},
	{
		Name: "makedirs", Doc: "Create the directory that contains a path, and its parents.", Src: "modules/file.py makedirs",
		Do: makedirs,
	},
	{
		Name: "makedirs_perms", Doc: "Create a directory and its parents with owner and mode.", Src: "modules/file.py makedirs_perms",
		Do: makedirsPerms,
	},
	{
		Name: "manage_file", Doc: "Create or update a file as described; return what changed.", Src: "modules/file.py manage_file",
		Do: manageFile,
	},
	{
		Name: "mkdir", Doc: "Create a directory and its parents.", Src: "modules/file.py mkdir",
		Do: mkdir,
	},
	{
		Name: "mknod", Doc: "Create a device or a named pipe, and missing parent directories.", Src: "modules/file.py mknod",
		Do: mknod,
	},
	{
		Name: "mknod_blkdev", Doc: "Create a block device.", Src: "modules/file.py mknod_blkdev",
		Do: mknodBlock,
	},
	{
		Name: "mknod_chrdev", Doc: "Create a character device.", Src: "modules/file.py mknod_chrdev",
		Do: mknodChar,
	},
	{Name: "mknod_fifo", Doc: "Create a named pipe.", Src: "modules/file.py mknod_fifo", Do: mknodFIFO},
	{
		Name: "move", Doc: "Move a file or directory, also to another file system.", Src: "modules/file.py move",
		Do: moveAction,
	},
	{Name: "normpath", Doc: `Return a path without ".", ".." and repeated slashes.`, Src: "modules/file.py normpath", Do: normpath},
	{
		Name: "open_files", Doc: "Return the IDs of the processes that have each file open.", Src: "modules/file.py open_files",
		Do: openFiles,
	},
	{Name: "pardir", Doc: `Return the name of the parent directory, "..".`, Src: "modules/file.py pardir", Do: pardir},
	{
		Name: "patch", Doc: "Run patch(1) on a file or directory; return pid, retcode, stdout and stderr.", Src: "modules/file.py patch",
		Do: patchRow,
	},
	{Name: "path_exists_glob", Doc: "Return whether a glob matches an existing path.", Src: "modules/file.py path_exists_glob", Do: pathExistsGlob},
	{Name: "prepend", Doc: "Insert lines at the start of a file.", Src: "modules/file.py prepend", Do: prependTo},
	{Name: "pwd", Doc: "Return the working directory.", Src: "modules/file.py pwd", Do: pwd},
	{
		Name: "read", Doc: "Return the content of a file.", Src: "modules/file.py read",
		Do: read,
	},
	{Name: "readdir", Doc: `Return the names in a directory, "." and ".." first.`, Src: "modules/file.py readdir", Do: readdir},
	{
		Name: "readlink", Doc: "Return the target of a symbolic link.", Src: "modules/file.py readlink",
		Do: readlink,
	},
	{Name: "remove", Doc: "Remove a file, a link, or a directory with its contents.", Src: "modules/file.py remove", Do: remove},
	{Name: "remove_backup", Doc: "Remove a backup of a file.", Src: "modules/file.py remove_backup", Do: deleteBackup},
	{Name: "rename", Doc: "Rename a file or directory.", Src: "modules/file.py rename", Do: renameAction},
	{
		Name: "replace", Doc: "Replace the matches of a regular expression.", Src: "modules/file.py replace",
		Do: replaceRow,
	},
	{Name: "restore_backup", Doc: "Restore a backup of a file.", Src: "modules/file.py restore_backup", Do: restoreBackup},
	{
		Name: "restorecon", Doc: "Set the SELinux context of a path by the policy; return whether that worked.", Src: "modules/file.py restorecon",
		Do: restoreContext,
	},
	{
		Name: "rmdir", Doc: "Remove an empty directory; return whether that worked.", Src: "modules/file.py rmdir",
		Do: rmdir,
	},
	{
		Name: "search", Doc: "Return whether a regular expression matches in a file.", Src: "modules/file.py search",
		Do: search,
	},
	{
		Name: "sed", Doc: "Run sed(1) on a file: replace before by after.", Src: "modules/file.py sed",
		Do: sed,
	},
	{
		Name: "sed_contains", Doc: "Return whether sed(1) finds a text in a file.", Src: "modules/file.py sed_contains",
		Do: sedContains,
	},
	{
		Name: "seek_read", Doc: "Return part of a file as text.", Src: "modules/file.py seek_read",
		Do: seekRead,
	},
	{
		Name: "seek_write", Doc: "Write text to a file at an offset.", Src: "modules/file.py seek_write",
		Do: seekWrite,
	},
	{
		Name: "set_mode", Doc: "Set the permissions of a file.", Src: "modules/file.py set_mode",
		Do: setMode,
	},
	{
		Name: "set_selinux_context", Doc: "Set parts of the SELinux context of a path; return it, or False.", Src: "modules/file.py set_selinux_context",
		Do: setContext,
	},
	{
		Name: "source_list", Doc: "Return the first source that exists, and its digest.", Src: "modules/file.py source_list",
		Do: sourceList,
	},
	{
		Name: "stats", Doc: "Return type, size, owner, mode and times of a file.", Src: "modules/file.py stats",
		Do: stats,
	},
	{
		Name: "symlink", Doc: "Create a symbolic link.", Src: "modules/file.py symlink",
		Do: symlink,
	},
	{Name: "tail", Doc: "Return the last lines of a file.", Src: "modules/file.py tail", Do: tail},
	{
		Name: "touch", Doc: "Create an empty file, or set the times of an existing one.", Src: "modules/file.py touch",
		Do: touch,
	},
	{
		Name: "truncate", Doc: "Truncate a file to a length.", Src: "modules/file.py truncate",
		Do: truncate,
	},
	{
		Name: "uid_to_user", Doc: "Return the name of a user, or the ID if it has no name.", Src: "modules/file.py uid_to_user",
		Do: uidToUser,
	},
	{
		Name: "uncomment", Doc: "Remove the comment character from lines.", Src: "modules/file.py uncomment",
		Do: uncomment,
	},
	{
		Name: "user_to_uid", Doc: `Return the ID of a user, "" if it does not exist.`, Src: "modules/file.py user_to_uid",
		Do: userToUID,
	},
	{Name: "write", Doc: "Write lines to a file, replacing its content.", Src: "modules/file.py write", Do: write},
}
