package archive

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type zipArg struct {
	_       fun.Arguments
	ZipFile string `arg:"zip_file,required,path" doc:"the archive"`
}

type rarArg struct {
	_       fun.Arguments
	Rarfile string `arg:"rarfile,required,path" doc:"the archive"`
}

type destArg struct {
	_    fun.Arguments
	Dest string `arg:"dest,required,path" doc:"directory to unpack in"`
}

type sourcesArg struct {
	_       fun.Arguments
	Sources []string `arg:"sources,required,comma[str]" doc:"files and directories, as a list or separated by commas; globs are expanded"`
}

type cwdArg struct {
	_   fun.Arguments
	Cwd string `arg:"cwd,path" doc:"directory to run in"`
}

type runasArg struct {
	_     fun.Arguments
	Runas string `arg:"runas" doc:"user to run as"`
}

type optionsArg struct {
	_       fun.Arguments
	Options string `arg:"options" doc:"further options of the program"`
}

type templateArg struct {
	_ fun.Arguments
	_ value.Value `arg:"template,none" doc:"not supported"`
}

type excludesArg struct {
	_        fun.Arguments
	Excludes []string `arg:"excludes,comma[str]" doc:"members to leave out, as a list or separated by commas"`
}

type hashArg struct {
	_          fun.Arguments
	SourceHash string `arg:"source_hash" doc:"digest of a remote archive"`
}

type etagArgs struct {
	_       fun.Arguments
	UseEtag bool `arg:"use_etag" default:"False" doc:"ask a web server by ETag whether its file changed"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cmd_unzip", Doc: "Run unzip(1); return the lines of its output.", Src: "modules/archive.py cmd_unzip",
		Do: cmdUnzip,
	},
	{Name: "cmd_zip", Doc: "Run zip(1); return the lines of its output.", Src: "modules/archive.py cmd_zip", Do: cmdZip},
	{
		Name: "gunzip", Doc: "Unpack a gzip file in place.", Src: "modules/archive.py gunzip",
		Do: gunzipFile,
	},
	{
		Name: "gzip", Doc: "Pack a file with gzip in place.", Src: "modules/archive.py gzip_",
		Do: gzipFile,
	},
	{
		Name: "is_encrypted", Doc: "Return whether a zip archive has encrypted members.", Src: "modules/archive.py is_encrypted",
		Do: isEncrypted,
	},
	{
		Name: "list", Doc: "Return the names in an archive.", Src: "modules/archive.py list_",
		Do: list,
	},
	{Name: "rar", Doc: "Run rar(1); return the lines of its output.", Src: "modules/archive.py rar", Do: rar},
	{
		Name: "tar", Doc: "Run tar(1); return the lines of its output.", Src: "modules/archive.py tar",
		Do: tarFn,
	},
	{
		Name: "unrar", Doc: "Run unrar(1); return the lines of its output.", Src: "modules/archive.py unrar",
		Do: unrar,
	},
	{
		Name: "unzip", Doc: "Unpack a zip archive; return the names.", Src: "modules/archive.py unzip",
		Do: unzip,
	},
	{
		Name: "zip", Doc: "Create a zip archive; return the names in it.", Src: "modules/archive.py zip_",
		Do: pack,
	},
}
