package cp

import (
	"brine/internal/core/fun"
)

type pathArg struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"salt:// or web URL, or a path"`
}

type destArg struct {
	_    fun.Arguments
	Dest string `arg:"dest,required,path" doc:"where to put it"`
}

type saltenvArg struct {
	_       fun.Arguments
	Saltenv string `arg:"saltenv" doc:"environment of a URL that names none; default: the configured one, else base"`
}

type templateArg struct {
	_        fun.Arguments
	Template string `arg:"template" doc:"template engine that renders path and dest"`
}

type gzipArg struct {
	_ fun.Arguments
	_ int64 `arg:"gzip" doc:"accepted"`
}

type hashArg struct {
	_          fun.Arguments
	SourceHash string `arg:"source_hash" doc:"digest of a remote file; a cached copy that has it is not fetched again"`
}

type uploadArg struct {
	_          fun.Arguments
	UploadPath string `arg:"upload_path,path" doc:"absolute path under which the controller keeps it; default: path"`
}

type prefixArgs struct {
	_      fun.Arguments
	Prefix string `arg:"prefix" default:"" doc:"only what is under this directory"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cache_dest", Doc: "Return where in the cache the copy of a file is or would be.", Src: "modules/cp.py cache_dest",
		Do: cacheDest,
	},
	{
		Name: "cache_dir", Doc: "Fetch a directory of the file server to the cache.", Src: "modules/cp.py cache_dir",
		Do: cacheDir,
	},
	{
		Name: "cache_file", Doc: "Fetch a file to the cache; return its path there.", Src: "modules/cp.py cache_file",
		Do: cacheFile,
	},
	{
		Name: "cache_files", Doc: "Fetch several files to the cache; return their paths there.", Src: "modules/cp.py cache_files",
		Do: cacheFiles,
	},
	{Name: "cache_local_file", Doc: "Keep a copy of a local file in the cache.", Src: "modules/cp.py cache_local_file", Do: cacheLocal},
	{Name: "cache_master", Doc: "Fetch all files of an environment to the cache.", Src: "modules/cp.py cache_master", Do: cacheMaster},
	{Name: "envs", Doc: "Return the environments that have files.", Src: "modules/cp.py envs", Do: envs},
	{
		Name: "get_dir", Doc: "Copy a directory of the file server with its contents.", Src: "modules/cp.py get_dir",
		Do: getDir,
	},
	{
		Name: "get_file", Doc: "Copy a file of the file server.", Src: "modules/cp.py get_file",
		Do: getFile,
	},
	{Name: "get_file_str", Doc: "Return the content of a file.", Src: "modules/cp.py get_file_str", Do: getFileStr},
	{
		Name: "get_template", Doc: "Render a file as a template; return where the result is.", Src: "modules/cp.py get_template",
		Do: getTemplate,
	},
	{
		Name: "get_url", Doc: "Fetch a URL to a path, to the cache, or as text if dest is None.", Src: "modules/cp.py get_url",
		Do: getURL,
	},
	{Name: "hash_file", Doc: "Return the digest of a file.", Src: "modules/cp.py hash_file", Do: hashFile},
	{Name: "is_cached", Doc: "Return where the copy of a file in the cache is.", Src: "modules/cp.py is_cached", Do: isCached},
	{Name: "list_master", Doc: "Return the files of an environment.", Src: "modules/cp.py list_master", Do: listMaster},
	{
		Name: "list_master_dirs", Doc: "Return the directories of an environment.", Src: "modules/cp.py list_master_dirs",
		Do: listMasterDirs,
	},
	{
		Name: "list_master_symlinks", Doc: "Return the links of an environment and their targets.", Src: "modules/cp.py list_master_symlinks",
		Do: listMasterLinks,
	},
	{Name: "list_minion", Doc: "Return the files of an environment that are in the cache.", Src: "modules/cp.py list_minion", Do: listMinion},
	{Name: "list_states", Doc: "Return the SLS files of an environment.", Src: "modules/cp.py list_states", Do: listStates},
	{
		Name: "push", Doc: "Send a file of this machine to the controller; return whether it was accepted.\nThe controller keeps it in minions/ID/files under its cache. It accepts files if file_recv is True, up to file_recv_max_size MiB.", Src: "modules/cp.py push",
		Do: push,
	},
	{
		Name: "push_dir", Doc: "Send the files under a directory to the controller; return whether all were accepted.", Src: "modules/cp.py push_dir",
		Do: pushDir,
	},
	{
		Name: "stat_file", Doc: "Return the permissions of a file.", Src: "modules/cp.py stat_file",
		Do: statFile,
	},
}
