package archive

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	zipArg      = fun.Arg{Name: "zip_file", Type: fun.Path, Required: true, Doc: "the archive"}
	rarArg      = fun.Arg{Name: "rarfile", Type: fun.Path, Required: true, Doc: "the archive"}
	destArg     = fun.Arg{Name: "dest", Type: fun.Path, Required: true, Doc: "directory to unpack in"}
	sourcesArg  = fun.Arg{Name: "sources", Type: fun.Commas, Required: true, Doc: "files and directories, as a list or separated by commas; globs are expanded"}
	cwdArg      = fun.Arg{Name: "cwd", Type: fun.Path, Doc: "directory to run in"}
	runasArg    = fun.Arg{Name: "runas", Type: fun.Str, Doc: "user to run as"}
	optionsArg  = fun.Arg{Name: "options", Type: fun.Str, Doc: "further options of the program"}
	templateArg = fun.Arg{Name: "template", Type: fun.Str, Doc: "accepted"}
	excludesArg = fun.Arg{Name: "excludes", Type: fun.Commas, Doc: "members to leave out, as a list or separated by commas"}
	hashArg     = fun.Arg{Name: "source_hash", Type: fun.Str, Doc: "digest of a remote archive"}
)

var trimArgs = []fun.Arg{
	{Name: "trim_output", Type: fun.Int | fun.Bool, Default: false, Doc: "return at most this many names; True is 100"},
}

var etagArgs = []fun.Arg{
	{Name: "use_etag", Type: fun.Bool, Default: false, Doc: "ask a web server by ETag whether its file changed"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cmd_unzip", Doc: "Run unzip(1); return the lines of its output.", Src: "modules/archive.py cmd_unzip",
		Fn: cmdUnzip,
		Args: []fun.Arg{
			zipArg, destArg, excludesArg, optionsArg, templateArg, runasArg,
			{Name: "trim_output", Type: fun.Int | fun.Bool, Default: false, Doc: "return at most this many names; True is 100"},
			{Name: "password", Type: fun.Str, Doc: "password of the archive", Secret: true},
		},
	},
	{Name: "cmd_zip", Doc: "Run zip(1); return the lines of its output.", Src: "modules/archive.py cmd_zip", Args: []fun.Arg{zipArg, sourcesArg, templateArg, cwdArg, runasArg}, Fn: cmdZip},
	{
		Name: "gunzip", Doc: "Unpack a gzip file in place.", Src: "modules/archive.py gunzip",
		Fn: gunzipFile,
		Args: []fun.Arg{
			{Name: "gzipfile", Type: fun.Path, Required: true, Doc: "the file"},
			templateArg, runasArg, optionsArg,
		},
	},
	{
		Name: "gzip", Doc: "Pack a file with gzip in place.", Src: "modules/archive.py gzip_",
		Fn: gzipFile,
		Args: []fun.Arg{
			{Name: "sourcefile", Type: fun.Path, Required: true, Doc: "the file"},
			templateArg, runasArg, optionsArg,
		},
	},
	{
		Name: "is_encrypted", Doc: "Return whether a zip archive has encrypted members.", Src: "modules/archive.py is_encrypted",
		Shared: [][]fun.Arg{etagArgs}, Fn: isEncrypted,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "path or URL of the archive"},
			{Name: "clean", Type: fun.Bool, Default: false, Doc: "accepted"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"},
			hashArg,
		},
	},
	{
		Name: "list", Doc: "Return the names in an archive.", Src: "modules/archive.py list_",
		Shared: [][]fun.Arg{etagArgs}, Fn: list,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "path or URL of the archive"},
			{Name: "archive_format", Type: fun.Str, Doc: "tar or zip; default: by the name"},
			optionsArg,
			{Name: "strip_components", Type: fun.Int, Doc: "remove this many leading parts of the names"},
			{Name: "clean", Type: fun.Bool, Default: false, Doc: "accepted"},
			{Name: "verbose", Type: fun.Bool, Default: false, Doc: "return directories, files and links separately"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"},
			hashArg,
		},
	},
	{Name: "rar", Doc: "Run rar(1); return the lines of its output.", Src: "modules/archive.py rar", Args: []fun.Arg{rarArg, sourcesArg, templateArg, cwdArg, runasArg}, Fn: rar},
	{
		Name: "tar", Doc: "Run tar(1); return the lines of its output.", Src: "modules/archive.py tar",
		Fn: tarFn,
		Args: []fun.Arg{
			{Name: "options", Type: fun.Str, Required: true, Doc: "letters such as cjvf, or options"},
			{Name: "tarfile", Type: fun.Path, Required: true, Doc: "the archive"},
			{Name: "sources", Type: fun.Commas, Doc: "files to pack, as a list or separated by commas"},
			{Name: "dest", Type: fun.Path, Doc: "directory to unpack in"},
			cwdArg, templateArg, runasArg,
		},
	},
	{
		Name: "unrar", Doc: "Run unrar(1); return the lines of its output.", Src: "modules/archive.py unrar",
		Shared: [][]fun.Arg{trimArgs}, Fn: unrar,
		Args: []fun.Arg{
			rarArg, destArg, excludesArg, templateArg, runasArg,
		},
	},
	{
		Name: "unzip", Doc: "Unpack a zip archive; return the names.", Src: "modules/archive.py unzip",
		Fn: unzip,
		Args: []fun.Arg{
			zipArg, destArg,
			{Name: "excludes", Type: fun.Commas, Doc: "accepted"},
			optionsArg, templateArg, runasArg,
			{Name: "trim_output", Type: fun.Int | fun.Bool, Default: false, Doc: "return at most this many names; True is 100"},
			{Name: "password", Type: fun.Str, Doc: "accepted; encrypted archives are not read", Secret: true},
			{Name: "extract_perms", Type: fun.Bool, Default: true, Doc: "keep the permissions of the archive"},
		},
	},
	{
		Name: "zip", Doc: "Create a zip archive; return the names in it.", Src: "modules/archive.py zip_",
		Fn: pack,
		Args: []fun.Arg{
			zipArg, sourcesArg, templateArg,
			{Name: "cwd", Type: fun.Path, Doc: "base directory of relative sources and of the names"},
			{Name: "runas", Type: fun.Str, Doc: "owner of the archive"},
			{Name: "zip64", Type: fun.Bool, Default: false, Doc: "accepted; large archives are zip64"},
		},
	},
}
