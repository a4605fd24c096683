package fileserver

import "brine/internal/core/fun"

type backend struct {
	_       fun.Arguments
	Backend []string `arg:"backend,comma[str]" doc:"backends, all if not given; -NAME leaves one out"`
}

type listArgs struct {
	Saltenv string `arg:"saltenv" default:"base" doc:"environment"`
	backend
}

var specs = []fun.Spec{
	{
		Name: "clear_cache", Src: "runners/fileserver.py clear_cache", Do: clearCache,
		Doc: "Remove what remote backends have fetched.",
	},
	{
		Name: "clear_file_list_cache", Src: "runners/fileserver.py clear_file_list_cache", Do: clearLists,
		Doc: "Drop the listings of files.\nThey are kept only during a run.",
	},
	{
		Name: "clear_lock", Src: "runners/fileserver.py clear_lock", Do: clearLock,
		Doc: "Report locks of remotes.\nA lock is released when its process ends; the lock of a running process is not removed.",
	},
	{
		Name: "dir_list", Src: "runners/fileserver.py dir_list", Do: list(dirs),
		Doc: "List the directories of an environment.",
	},
	{
		Name: "empty_dir_list", Src: "runners/fileserver.py empty_dir_list", Do: list(emptyDirs),
		Doc: "List the empty directories of an environment.",
	},
	{
		Name: "envs", Src: "runners/fileserver.py envs", Do: envs,
		Doc: "List the environments.",
	},
	{
		Name: "file_list", Src: "runners/fileserver.py file_list", Do: list(files),
		Doc: "List the files of an environment.",
	},
	{
		Name: "symlink_list", Src: "runners/fileserver.py symlink_list", Do: links,
		Doc: "Return the symbolic links of an environment and their targets.",
	},
	{
		Name: "update", Src: "runners/fileserver.py update", Do: update,
		Doc: "Fetch what remote backends have now.",
	},
}
