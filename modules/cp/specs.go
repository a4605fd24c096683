package cp

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	pathArg     = fun.Arg{Name: "path", Type: fun.Path, Required: true, Doc: "salt:// or web URL, or a path"}
	destArg     = fun.Arg{Name: "dest", Type: fun.Path, Required: true, Doc: "where to put it"}
	saltenvArg  = fun.Arg{Name: "saltenv", Type: fun.Str, Doc: "environment of a URL that names none; default: the configured one, else base"}
	templateArg = fun.Arg{Name: "template", Type: fun.Str, Doc: "template engine that renders path and dest"}
	gzipArg     = fun.Arg{Name: "gzip", Type: fun.Int, Doc: "accepted"}
	hashArg     = fun.Arg{Name: "source_hash", Type: fun.Str, Doc: "digest of a remote file; a cached copy that has it is not fetched again"}
	pushArg     = fun.Arg{Name: "path", Type: fun.Path, Required: true, Doc: "absolute path of the file"}
	uploadArg   = fun.Arg{Name: "upload_path", Type: fun.Path, Doc: "absolute path under which the controller keeps it; default: path"}
)

var makedirsArgs = []fun.Arg{
	{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing directories"},
}

var prefixArgs = []fun.Arg{
	{Name: "prefix", Type: fun.Str, Default: "", Doc: "only what is under this directory"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cache_dest", Doc: "Return where in the cache the copy of a file is or would be.", Src: "modules/cp.py cache_dest",
		Fn: cacheDest,
		Args: []fun.Arg{
			{Name: "url", Type: fun.Path, Required: true, Doc: "salt:// or web URL, or a path"},
			saltenvArg,
		},
	},
	{
		Name: "cache_dir", Doc: "Fetch a directory of the file server to the cache.", Src: "modules/cp.py cache_dir",
		Fn: cacheDir,
		Args: []fun.Arg{
			pathArg, saltenvArg,
			{Name: "include_empty", Type: fun.Bool, Default: false, Doc: "include empty directories"},
			{Name: "include_pat", Type: fun.Str | fun.Strs, Doc: "glob, or regular expression after E@, of the files to fetch"},
			{Name: "exclude_pat", Type: fun.Str | fun.Strs, Doc: "glob, or regular expression after E@, of the files to leave out"},
		},
	},
	{
		Name: "cache_file", Doc: "Fetch a file to the cache; return its path there.", Src: "modules/cp.py cache_file",
		Fn: cacheFile,
		Args: []fun.Arg{
			pathArg, saltenvArg, hashArg,
			{Name: "verify_ssl", Type: fun.Bool, Default: true, Doc: "verify certificates of https:// URLs"},
			{Name: "use_etag", Type: fun.Bool, Default: false, Doc: "ask a web server by ETag whether its file changed"},
		},
	},
	{
		Name: "cache_files", Doc: "Fetch several files to the cache; return their paths there.", Src: "modules/cp.py cache_files",
		Fn: cacheFiles,
		Args: []fun.Arg{
			{Name: "paths", Type: fun.Commas, Required: true, Doc: "URLs, as a list or separated by commas"},
			saltenvArg,
		},
	},
	{Name: "cache_local_file", Doc: "Keep a copy of a local file in the cache.", Src: "modules/cp.py cache_local_file", Args: []fun.Arg{pathArg}, Fn: cacheLocal},
	{Name: "cache_master", Doc: "Fetch all files of an environment to the cache.", Src: "modules/cp.py cache_master", Args: []fun.Arg{saltenvArg}, Fn: cacheMaster},
	{Name: "envs", Doc: "Return the environments that have files.", Src: "modules/cp.py envs", Fn: envs},
	{
		Name: "get_dir", Doc: "Copy a directory of the file server with its contents.", Src: "modules/cp.py get_dir",
		VarKw: true, Fn: getDir,
		Args: []fun.Arg{
			pathArg, destArg, saltenvArg, templateArg, gzipArg,
		},
	},
	{
		Name: "get_file", Doc: "Copy a file of the file server.", Src: "modules/cp.py get_file",
		VarKw: true, Fn: getFile,
		Args: []fun.Arg{
			pathArg, destArg, saltenvArg,
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing directories"},
			templateArg, gzipArg,
		},
	},
	{Name: "get_file_str", Doc: "Return the content of a file.", Src: "modules/cp.py get_file_str", Args: []fun.Arg{pathArg, saltenvArg}, Fn: getFileStr},
	{
		Name: "get_template", Doc: "Render a file as a template; return where the result is.", Src: "modules/cp.py get_template",
		VarKw: true, Shared: [][]fun.Arg{makedirsArgs}, Fn: getTemplate,
		Args: []fun.Arg{
			pathArg,
			{Name: "dest", Type: fun.Path | fun.None, Required: true, Doc: "where to put it; None: in the cache"},
			{Name: "template", Type: fun.Str, Default: "jinja", Doc: "template engine"},
			saltenvArg,
		},
	},
	{
		Name: "get_url", Doc: "Fetch a URL to a path, to the cache, or as text if dest is None.", Src: "modules/cp.py get_url",
		Fn: getURL,
		Args: []fun.Arg{
			pathArg,
			{Name: "dest", Type: fun.Path, Default: "", Doc: "where to put it"},
			saltenvArg,
			{Name: "makedirs", Type: fun.Bool, Default: false, Doc: "create missing directories"},
			hashArg,
			{Name: "verify_ssl", Type: fun.Bool, Default: true, Doc: "verify certificates of https:// URLs"},
		},
	},
	{Name: "hash_file", Doc: "Return the digest of a file.", Src: "modules/cp.py hash_file", Args: []fun.Arg{pathArg, saltenvArg}, Fn: hashFile},
	{Name: "is_cached", Doc: "Return where the copy of a file in the cache is.", Src: "modules/cp.py is_cached", Args: []fun.Arg{pathArg, saltenvArg}, Fn: isCached},
	{Name: "list_master", Doc: "Return the files of an environment.", Src: "modules/cp.py list_master", Args: []fun.Arg{saltenvArg}, Shared: [][]fun.Arg{prefixArgs}, Fn: listMaster},
	{
		Name: "list_master_dirs", Doc: "Return the directories of an environment.", Src: "modules/cp.py list_master_dirs",
		Shared: [][]fun.Arg{prefixArgs}, Fn: listMasterDirs,
		Args: []fun.Arg{
			saltenvArg,
		},
	},
	{
		Name: "list_master_symlinks", Doc: "Return the links of an environment and their targets.", Src: "modules/cp.py list_master_symlinks",
		Shared: [][]fun.Arg{prefixArgs}, Fn: listMasterLinks,
		Args: []fun.Arg{
			saltenvArg,
		},
	},
	{Name: "list_minion", Doc: "Return the files of an environment that are in the cache.", Src: "modules/cp.py list_minion", Args: []fun.Arg{saltenvArg}, Fn: listMinion},
	{Name: "list_states", Doc: "Return the SLS files of an environment.", Src: "modules/cp.py list_states", Args: []fun.Arg{saltenvArg}, Fn: listStates},
	{
		Name: "push", Doc: "Send a file of this machine to the controller; return whether it was accepted.\nThe controller keeps it in minions/ID/files under its cache. It accepts files if file_recv is True, up to file_recv_max_size MiB.", Src: "modules/cp.py push",
		Fn: push,
		Args: []fun.Arg{
			pushArg,
			{Name: "keep_symlinks", Type: fun.Bool, Default: false, Doc: "name the file by the link, not by its target"},
			uploadArg,
			{Name: "remove_source", Type: fun.Bool, Default: false, Doc: "remove the file after it was accepted"},
		},
	},
	{
		Name: "push_dir", Doc: "Send the files under a directory to the controller; return whether all were accepted.", Src: "modules/cp.py push_dir",
		Fn: pushDir,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Required: true, Doc: "absolute path of the directory"},
			{Name: "glob", Type: fun.Str, Doc: "only files whose names match"},
			uploadArg,
		},
	},
	{
		Name: "stat_file", Doc: "Return the permissions of a file.", Src: "modules/cp.py stat_file",
		Fn: statFile,
		Args: []fun.Arg{
			pathArg, saltenvArg,
			{Name: "octal", Type: fun.Bool, Default: true, Doc: "as text such as 0644"},
		},
	},
}
