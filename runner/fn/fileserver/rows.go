package fileserver

import "brine/internal/fun"

var (
	backend = fun.Arg{Name: "backend", Type: fun.Commas, Doc: "backends, all if not given; -NAME leaves one out"}
	saltenv = fun.Arg{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment"}
)

var specs = []fun.Spec{
	{
		Name: "clear_cache", Src: "runners/fileserver.py clear_cache", Fn: clearCache,
		Doc: "Remove what remote backends have fetched.", Args: []fun.Arg{backend},
	},
	{
		Name: "clear_file_list_cache", Src: "runners/fileserver.py clear_file_list_cache", Fn: clearLists,
		Doc:  "Drop the listings of files.\nThey are kept only during a run.",
		Args: []fun.Arg{{Name: "saltenv", Type: fun.Str, Doc: "environment, all if not given"}, backend},
	},
	{
		Name: "clear_lock", Src: "runners/fileserver.py clear_lock", Fn: clearLock,
		Doc:  "Report locks of remotes.\nA lock is released when its process ends; the lock of a running process is not removed.",
		Args: []fun.Arg{backend, {Name: "remote", Type: fun.Str, Doc: "glob of the URLs or names of remotes"}},
	},
	{
		Name: "dir_list", Src: "runners/fileserver.py dir_list", Fn: list(dirs),
		Doc: "List the directories of an environment.", Args: []fun.Arg{saltenv, backend},
	},
	{
		Name: "empty_dir_list", Src: "runners/fileserver.py empty_dir_list", Fn: list(emptyDirs),
		Doc: "List the empty directories of an environment.", Args: []fun.Arg{saltenv, backend},
	},
	{
		Name: "envs", Src: "runners/fileserver.py envs", Fn: envs,
		Doc:  "List the environments.",
		Args: []fun.Arg{backend, {Name: "sources", Type: fun.Bool, Default: false, Doc: "return them by backend"}},
	},
	{
		Name: "file_list", Src: "runners/fileserver.py file_list", Fn: list(files),
		Doc: "List the files of an environment.", Args: []fun.Arg{saltenv, backend},
	},
	{
		Name: "symlink_list", Src: "runners/fileserver.py symlink_list", Fn: links,
		Doc: "Return the symbolic links of an environment and their targets.", Args: []fun.Arg{saltenv, backend},
	},
	{
		Name: "update", Src: "runners/fileserver.py update", Fn: update,
		Doc: "Fetch what remote backends have now.", Args: []fun.Arg{backend},
	},
}
