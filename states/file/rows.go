package file

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Windows arguments have no effect here. They are accepted so that a tree can
// serve both systems.
type windowsArgs struct {
	_ fun.Arguments
	_ string      `arg:"win_owner" doc:"Windows only"`
	_ value.Value `arg:"win_perms,dict" doc:"Windows only"`
	_ value.Value `arg:"win_deny_perms,dict" doc:"Windows only"`
	_ bool        `arg:"win_inheritance" default:"True" doc:"Windows only"`
}

type windowsResetArgs struct {
	_ fun.Arguments
	_ bool `arg:"win_perms_reset" default:"False" doc:"Windows only"`
}

// textArgs are the arguments of the functions that add text to a file.
type textArgs struct {
	_            fun.Arguments
	_            string      `arg:"name,required,path" doc:"absolute path of the file; created if it is missing"`
	Text         value.Value `arg:"text" doc:"text, or a list of texts that are looked for one by one"`
	Makedirs     bool        `arg:"makedirs" default:"False" doc:"create missing parent directories"`
	Source       value.Value `arg:"source,str|list" doc:"file to read the text from; it is rendered"`
	SourceHash   value.Value `arg:"source_hash,str" doc:"digest of a source that is not on the file server"`
	Template     string      `arg:"template" default:"jinja" doc:"template engine of the sources"`
	Sources      []string    `arg:"sources" doc:"list of files to read the text from"`
	SourceHashes []string    `arg:"source_hashes" doc:"digests of the sources"`
	Defaults     *value.Map  `arg:"defaults" doc:"default template variables"`
	Context      *value.Map  `arg:"context" doc:"template variables; they override defaults"`
}

// commentArgs are the arguments of comment and uncomment.
type commentArgs struct {
	_      fun.Arguments
	_      string      `arg:"name,required,path" doc:"absolute path of the file"`
	Regex  string      `arg:"regex,required" doc:"regular expression for the lines, without the comment character"`
	Char   string      `arg:"char" default:"#" doc:"comment character"`
	Backup value.Value `arg:"backup,str|bool" default:"'.bak'" doc:"suffix of the backup copy; False keeps none"`
}

var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Files: true, Src: "states/file.py absent",
		Doc: "Remove a file, a link, or a directory and its contents.",
	},
	{
		Name: "accumulated", Do: accumulated, Always: true, Src: "states/file.py accumulated",
		Doc: "Collect text for a file.managed or file.blockreplace that runs later.\nTheir templates read it as accumulator[name].",
	},
	{
		Name: "append", Do: appendText, Files: true, Src: "states/file.py append", Exclusive: oneSource,
		Doc: "Append text to a file unless the file already contains it.",
	},
	{
		Name: "blockreplace", Do: blockreplace, Files: true, Src: "states/file.py blockreplace",
		Doc: "Replace the lines between two marker lines of a file.",
	},
	{
		Name: "cached", Do: cached, Always: true, Src: "states/file.py cached",
		Doc: "Keep a copy of a source in the cache.",
	},
	{
		Name: "comment", Do: comment, Files: true, Src: "states/file.py comment",
		Doc: "Comment out the lines that match.",
	},
	{
		Name: "copy", Do: copyFile, Files: true, Src: "states/file.py copy_",
		Doc: "Copy a file or directory of this machine unless the target exists.",
	},
	{
		Name: "decode", Do: decode, Files: true, Src: "states/file.py decode",
		Doc: "Write a file from Base64 text.",
	},
	{
		Name: "directory", Do: directory, Files: true, Src: "states/file.py directory",
		Doc: "Create a directory and manage the owner and mode of it and its contents.",
	},
	{
		Name: "exists", Do: exists, Src: "states/file.py exists",
		Doc: "Fail unless a path exists; nothing is created.",
	},
	{
		Name: "hardlink", Do: hardlink, Files: true, Src: "states/file.py hardlink",
		Doc: "Create a hard link.",
	},
	{
		Name: "keyvalue", Do: keyvalue, Files: true, Src: "states/file.py keyvalue",
		Doc: "Set keys to values in a file of lines such as key=value.",
	},
	{
		Name: "line", Do: line, Files: true, Src: "states/file.py line",
		Doc: "Insert, replace, ensure or delete one line of a file.",
	},
	{
		Name: "managed", Do: managed, Files: true, Src: "states/file.py managed",
		Exclusive: [][]string{{"source", "contents", "contents_pillar", "contents_grains"}},
		Doc: "Manage the content, owner and mode of a file.\n" +
			"The content comes from source or contents. Without them a missing file is created empty, and the content of an existing file is not changed.",
	},
	{
		Name: "missing", Do: missing, Src: "states/file.py missing",
		Doc: "Fail if a path exists; nothing is removed.",
	},
	{
		Name: "mknod", Do: mknod, Src: "states/file.py mknod",
		Doc: "Create a device or a named pipe.",
	},
	{
		Name: "not_cached", Do: notCached, Src: "states/file.py not_cached",
		Doc: "Remove the copy of a source from the cache.",
	},
	{
		Name: "patch", Do: patch, Src: "states/file.py patch",
		Doc: "Apply a patch to a file or directory unless it is already applied.",
	},
	{
		Name: "prepend", Do: prependText, Files: true, Src: "states/file.py prepend", Exclusive: oneSource,
		Doc: "Prepend text to a file unless the file already contains it.",
	},
	{
		Name: "pruned", Do: pruned, Files: true, Src: "states/file.py pruned",
		Doc: "Remove an empty directory, or one that only has empty directories.",
	},
	{
		Name: "recurse", Do: recurse, Files: true, Src: "states/file.py recurse",
		Doc: "Copy a directory of the file server recursively.",
	},
	{
		Name: "rename", Do: rename, Files: true, Src: "states/file.py rename",
		Doc: "Move a file or directory of this machine unless the target exists.",
	},
	{
		Name: "replace", Do: replace, Files: true, Src: "states/file.py replace",
		Doc: "Replace the matches of a regular expression in a file.",
	},
	{
		Name: "retention_schedule", Do: retentionSchedule, Src: "states/file.py retention_schedule",
		Doc: "Remove old backups from a directory, keeping some by hour, day, week, month and year.",
	},
	{
		Name: "serialize", Do: serialize, Files: true, Src: "states/file.py serialize",
		Exclusive: [][]string{{"serializer", "formatter"}, {"dataset", "dataset_pillar"}},
		Doc:       "Write data to a file as YAML, JSON, TOML, INI, plist, MessagePack, lines of key and value, or Python.",
	},
	{
		Name: "symlink", Do: symlink, Files: true, Src: "states/file.py symlink",
		Doc: "Create a symbolic link.",
	},
	{
		Name: "tidied", Do: tidied, Files: true, Src: "states/file.py tidied",
		Doc: "Remove old or large files from a directory.",
	},
	{
		Name: "touch", Do: touch, Files: true, Always: true, Src: "states/file.py touch",
		Doc: "Create an empty file, or set the times of an existing one.",
	},
	{
		Name: "uncomment", Do: uncomment, Files: true, Src: "states/file.py uncomment",
		Doc: "Uncomment the lines that match.",
	},
}
