package git

import "brine/internal/fun"

// runArgs are arguments that several functions have.
var runArgs = []fun.Arg{
	{Name: "user", Type: fun.Str, Doc: "account that runs git"},
	{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
	{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
	{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
}

// optRunArgs are arguments that several functions have.
var optRunArgs = []fun.Arg{
	{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
	{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
	{Name: "user", Type: fun.Str, Doc: "account that runs git"},
	{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
	{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
	{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
}

// remoteRunArgs are arguments that several functions have.
var remoteRunArgs = []fun.Arg{
	{Name: "user", Type: fun.Str, Doc: "account that runs git"},
	{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
	{Name: "identity", Type: fun.Strs, Doc: "SSH private keys to try: paths or salt:// URLs"},
	{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
	{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "saltenv of salt:// identity files"},
	{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
}

// httpsRunArgs are arguments that several functions have.
var httpsRunArgs = []fun.Arg{
	{Name: "user", Type: fun.Str, Doc: "account that runs git"},
	{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
	{Name: "identity", Type: fun.Strs, Doc: "SSH private keys to try: paths or salt:// URLs"},
	{Name: "https_user", Type: fun.Str, Doc: "user for HTTPS"},
	{Name: "https_pass", Type: fun.Str, Secret: true, Doc: "password for HTTPS"},
	{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
	{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
	{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "saltenv of salt:// identity files"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Stage a file.", Src: "modules/git.py add", Fn: add,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "filename", Type: fun.Str, Required: true, Doc: "path in the repository"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "archive", Doc: "Write an archive of a commit's files.", Src: "modules/git.py archive", Fn: archive,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "output", Type: fun.Path, Required: true, Doc: "file to write"},
			{Name: "rev", Type: fun.Str, Default: "HEAD", Doc: "branch, tag or commit"},
			{Name: "prefix", Type: fun.Str, Doc: "directory in the archive; default: the name of the repository's directory"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "format", Type: fun.Str, KwOnly: true, Doc: "tar, zip or another format that git knows; default: by the name of the file"},
		},
	},
	{
		Name: "branch", Doc: "Run git branch: make a branch, or with options rename, delete or change one.", Src: "modules/git.py branch", Fn: branch,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "name", Type: fun.Str, Doc: "name of the branch"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "checkout", Doc: "Check out a branch, tag or commit.", Src: "modules/git.py checkout", Fn: checkout,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "rev", Type: fun.Str, Doc: "branch, tag or commit"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "discard local changes"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "clone", Doc: "Clone a repository.", Src: "modules/git.py clone", Fn: clone,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "directory of the clone, or with name its parent"},
			{Name: "url", Type: fun.Str, Doc: "URL of the repository"},
			{Name: "name", Type: fun.Str, Doc: "name of the clone's directory"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "identity", Type: fun.Strs, Doc: "SSH private keys to try: paths or salt:// URLs"},
			{Name: "https_user", Type: fun.Str, Doc: "user for HTTPS"},
			{Name: "https_pass", Type: fun.Str, Secret: true, Doc: "password for HTTPS"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "saltenv of salt:// identity files"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
	{
		Name: "commit", Doc: "Commit staged changes.", Src: "modules/git.py commit", Fn: commit,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "message", Type: fun.Str, Required: true, Doc: "message"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "filename", Type: fun.Str, Doc: "commit this file only"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
	{
		Name: "config_get", Doc: "Return the value of a setting; None if there is none.", Src: "modules/git.py config_get", Fn: configGet,
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str, Required: true, Doc: "name of the setting"},
			{Name: "cwd", Type: fun.Path, Doc: "path of the repository"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "all", Type: fun.Bool, KwOnly: true, Default: false, Doc: "all values"},
			{Name: "global", Type: fun.Bool, KwOnly: true, Default: false, Doc: "the configuration of the account instead of a repository's"},
		},
	},
	{
		Name: "config_get_regex", Doc: "Return settings by regular expression: the same as config_get_regexp.", Src: "modules/git.py config_get_regex", Fn: configGetRegexp,
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str, Required: true, Doc: "name of the setting"},
			{Name: "value_regex", Type: fun.Str, Doc: "only values that match this regular expression"},
			{Name: "cwd", Type: fun.Path, Doc: "path of the repository"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "global", Type: fun.Bool, KwOnly: true, Default: false, Doc: "the configuration of the account instead of a repository's"},
		},
	},
	{
		Name: "config_get_regexp", Doc: "Return the values of the settings whose names match a regular expression.", Src: "modules/git.py config_get_regexp", Fn: configGetRegexp,
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str, Required: true, Doc: "name of the setting"},
			{Name: "value_regex", Type: fun.Str, Doc: "only values that match this regular expression"},
			{Name: "cwd", Type: fun.Path, Doc: "path of the repository"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "global", Type: fun.Bool, KwOnly: true, Default: false, Doc: "the configuration of the account instead of a repository's"},
		},
	},
	{
		Name: "config_set", Doc: "Set a value and return the values that the setting then has.", Src: "modules/git.py config_set", Fn: configSet,
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str, Required: true, Doc: "name of the setting"},
			{Name: "value", Type: fun.Str, Doc: "value"},
			{Name: "multivar", Type: fun.Commas, Doc: "values of a setting that has several"},
			{Name: "cwd", Type: fun.Path, Doc: "path of the repository"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "add", Type: fun.Bool, KwOnly: true, Default: false, Doc: "add the value to those that the setting has"},
			{Name: "global", Type: fun.Bool, KwOnly: true, Default: false, Doc: "the configuration of the account instead of a repository's"},
		},
	},
	{
		Name: "config_unset", Doc: "Remove values of a setting.", Src: "modules/git.py config_unset", Fn: configUnset,
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str, Required: true, Doc: "name of the setting"},
			{Name: "value_regex", Type: fun.Str, Doc: "only values that match this regular expression"},
			{Name: "cwd", Type: fun.Path, Doc: "path of the repository"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "all", Type: fun.Bool, KwOnly: true, Default: false, Doc: "all values"},
			{Name: "global", Type: fun.Bool, KwOnly: true, Default: false, Doc: "the configuration of the account instead of a repository's"},
		},
	},
	{
		Name: "current_branch", Doc: "Return the name of the branch that is checked out.", Src: "modules/git.py current_branch", Fn: currentBranch,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
		},
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "describe", Doc: "Return a name for a commit by the nearest tag.", Src: "modules/git.py describe", Fn: describe,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "rev", Type: fun.Str, Default: "HEAD", Doc: "branch, tag or commit"},
		},
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "diff", Doc: "Return the differences between commits, or between a commit and the working tree.", Src: "modules/git.py diff", Fn: diff,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "item1", Type: fun.Str, Doc: "first commit or path"},
			{Name: "item2", Type: fun.Str, Doc: "second commit or path"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "no_index", Type: fun.Bool, Default: false, Doc: "compare two paths outside of a repository"},
			{Name: "cached", Type: fun.Bool, Default: false, Doc: "show what is staged"},
			{Name: "paths", Type: fun.Commas, Doc: "limit the output to these paths"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
	{
		Name: "discard_local_changes", Doc: "Discard changes of the working tree.", Src: "modules/git.py discard_local_changes", Fn: discardLocalChanges,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "path", Type: fun.Str, Default: ".", Doc: "path in the repository"},
		},
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "fetch", Doc: "Fetch from a remote and return the refs that changed.", Src: "modules/git.py fetch", Fn: fetch,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "remote", Type: fun.Str, Doc: "name of the remote"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "force the command"},
			{Name: "refspecs", Type: fun.Commas, Doc: "what to fetch"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
		},
		Shared: [][]fun.Arg{remoteRunArgs},
	},
	{
		Name: "init", Doc: "Make a repository.", Src: "modules/git.py init", Fn: initialize,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "directory of the repository"},
			{Name: "bare", Type: fun.Bool, Default: false, Doc: "make a repository without working tree"},
			{Name: "template", Type: fun.Path, Doc: "template directory"},
			{Name: "separate_git_dir", Type: fun.Path, Doc: "directory for the repository's data"},
			{Name: "shared", Type: fun.Str | fun.Int | fun.Bool, Doc: "who may write: group, all, or permissions in octal digits"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "is_worktree", Doc: "Return whether a directory is a worktree of another repository.", Src: "modules/git.py is_worktree", Fn: isWorktree,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "directory"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
	{
		Name: "list_branches", Doc: "Return the names of the branches.", Src: "modules/git.py list_branches", Fn: listBranches,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "remote", Type: fun.Bool, Default: false, Doc: "the branches of the remotes"},
		},
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "list_tags", Doc: "Return the names of the tags.", Src: "modules/git.py list_tags", Fn: listTags,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
		},
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "list_worktrees", Doc: "Return the worktrees of a repository by path.", Src: "modules/git.py list_worktrees", Fn: listWorktrees,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "stale", Type: fun.Bool, Default: false, Doc: "only worktrees whose directory is missing"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "all", Type: fun.Bool, KwOnly: true, Default: false, Doc: "also worktrees whose directory is missing"},
		},
	},
	{
		Name: "ls_remote", Doc: "Return the refs of a remote repository.", Src: "modules/git.py ls_remote", Fn: lsRemote,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Doc: "path of the repository"},
			{Name: "remote", Type: fun.Str, Default: "origin", Doc: "name of a remote, or a URL"},
			{Name: "ref", Type: fun.Str, Doc: "only refs that match"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
		},
		Shared: [][]fun.Arg{httpsRunArgs},
	},
	{
		Name: "merge", Doc: "Merge into the branch that is checked out.", Src: "modules/git.py merge", Fn: merge,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "rev", Type: fun.Str, Doc: "branch, tag or commit"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "identity", Type: fun.Strs, Doc: "SSH private keys to try: paths or salt:// URLs"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
	{
		Name: "merge_base", Doc: "Return the common ancestor of commits.", Src: "modules/git.py merge_base", Fn: mergeBase,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "refs", Type: fun.Commas, Doc: "branches, tags or commits"},
			{Name: "octopus", Type: fun.Bool, Default: false, Doc: "common ancestor of all refs, as for an octopus merge"},
			{Name: "is_ancestor", Type: fun.Bool, Default: false, Doc: "return whether the first of two refs is an ancestor of the second"},
			{Name: "independent", Type: fun.Bool, Default: false, Doc: "refs that cannot be reached from any other"},
			{Name: "fork_point", Type: fun.Str, Doc: "ref whose reflog is looked at for the point where a branch forked"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "all", Type: fun.Bool, KwOnly: true, Default: false, Doc: "all common ancestors, as a list"},
		},
	},
	{
		Name: "merge_tree", Doc: "Return what a merge would change, without merging.", Src: "modules/git.py merge_tree", Fn: mergeTree,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "ref1", Type: fun.Str, Required: true, Doc: "first branch or commit"},
			{Name: "ref2", Type: fun.Str, Required: true, Doc: "second branch or commit"},
			{Name: "base", Type: fun.Str, Doc: "common ancestor; default: git finds it"},
		},
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "pull", Doc: "Pull from a remote.", Src: "modules/git.py pull", Fn: pull,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
		},
		Shared: [][]fun.Arg{remoteRunArgs},
	},
	{
		Name: "push", Doc: "Push to a remote.", Src: "modules/git.py push", Fn: push,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "remote", Type: fun.Str, Doc: "name of the remote"},
			{Name: "ref", Type: fun.Str, Doc: "branch, tag or commit"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
		},
		Shared: [][]fun.Arg{remoteRunArgs},
	},
	{
		Name: "rebase", Doc: "Rebase the branch that is checked out.", Src: "modules/git.py rebase", Fn: rebase,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "rev", Type: fun.Str, Default: "master", Doc: "branch, tag or commit"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "remote_get", Doc: "Return the URLs of a remote.", Src: "modules/git.py remote_get", Fn: remoteGet,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "remote", Type: fun.Str, Default: "origin", Doc: "name of the remote"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "redact_auth", Type: fun.Bool, Default: true, Doc: "hide the credentials of URLs"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
	{
		Name: "remote_refs", Doc: "Return the refs of the repository at a URL.", Src: "modules/git.py remote_refs", Fn: remoteRefs,
		Args: []fun.Arg{
			{Name: "url", Type: fun.Str, Required: true, Doc: "URL of the repository"},
			{Name: "heads", Type: fun.Bool, Default: false, Doc: "only branches"},
			{Name: "tags", Type: fun.Bool, Default: false, Doc: "only tags"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "identity", Type: fun.Strs, Doc: "SSH private keys to try: paths or salt:// URLs"},
			{Name: "https_user", Type: fun.Str, Doc: "user for HTTPS"},
			{Name: "https_pass", Type: fun.Str, Secret: true, Doc: "password for HTTPS"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "saltenv of salt:// identity files"},
			{Name: "filter", Type: fun.Str, KwOnly: true, Doc: "only refs that match this pattern"},
		},
	},
	{
		Name: "remote_set", Doc: "Set the URL of a remote.", Src: "modules/git.py remote_set", Fn: remoteSet,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "url", Type: fun.Str, Required: true, Doc: "URL of the repository"},
			{Name: "remote", Type: fun.Str, Default: "origin", Doc: "name of the remote"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "https_user", Type: fun.Str, Doc: "user for HTTPS"},
			{Name: "https_pass", Type: fun.Str, Secret: true, Doc: "password for HTTPS"},
			{Name: "push_url", Type: fun.Str, Doc: "URL for pushing, where it is another"},
			{Name: "push_https_user", Type: fun.Str, Doc: "user for HTTPS of push_url"},
			{Name: "push_https_pass", Type: fun.Str, Secret: true, Doc: "password for HTTPS of push_url"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
	{
		Name: "remotes", Doc: "Return the URLs of all remotes.", Src: "modules/git.py remotes", Fn: remotes,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "redact_auth", Type: fun.Bool, Default: true, Doc: "hide the credentials of URLs"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
	{
		Name: "reset", Doc: "Run git reset.", Src: "modules/git.py reset", Fn: reset,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "identity", Type: fun.Strs, Doc: "SSH private keys to try: paths or salt:// URLs"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
	{
		Name: "rev_parse", Doc: "Return the output of git rev-parse.", Src: "modules/git.py rev_parse", Fn: revParse,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "rev", Type: fun.Str, Doc: "branch, tag or commit"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "revision", Doc: "Return the SHA of a commit.", Src: "modules/git.py revision", Fn: revision,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "rev", Type: fun.Str, Default: "HEAD", Doc: "branch, tag or commit"},
			{Name: "short", Type: fun.Bool, Default: false, Doc: "abbreviate the SHA"},
		},
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "rm", Doc: "Remove a file from the working tree and the index.", Src: "modules/git.py rm", Fn: rm,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "filename", Type: fun.Str, Required: true, Doc: "path in the repository"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "stash", Doc: "Run git stash.", Src: "modules/git.py stash", Fn: stash,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "action", Type: fun.Str, Default: "save", Doc: "save, pop, list or another action of git stash"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "status", Doc: "Return the files that changed, by kind of change.", Src: "modules/git.py status", Fn: statusOf,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
		},
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "submodule", Doc: "Run a command of git submodule.", Src: "modules/git.py submodule", Fn: submodule,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "command", Type: fun.Str, Required: true, Doc: "add, init, update, status or another command of git submodule"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "identity", Type: fun.Strs, Doc: "SSH private keys to try: paths or salt:// URLs"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "saltenv of salt:// identity files"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "init", Type: fun.Bool, KwOnly: true, Default: false, Doc: "refused: use the command init"},
		},
	},
	{
		Name: "symbolic_ref", Doc: "Return or set what a symbolic ref points to.", Src: "modules/git.py symbolic_ref", Fn: symbolicRef,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "ref", Type: fun.Str, Required: true, Doc: "name of the symbolic ref"},
			{Name: "value", Type: fun.Str, Doc: "branch that it is to point to"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "tag", Doc: "Make a tag, or with the option -d delete one.", Src: "modules/git.py tag", Fn: tag,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the tag"},
			{Name: "ref", Type: fun.Str, Default: "HEAD", Doc: "branch, tag or commit"},
			{Name: "message", Type: fun.Str, Doc: "message, which makes the tag an annotated one"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "version", Doc: "Return the version of git.", Src: "modules/git.py version", Fn: version,
		Args: []fun.Arg{
			{Name: "versioninfo", Type: fun.Bool, Default: false, Doc: "return the parts of the version as a list"},
		},
	},
	{
		Name: "worktree_add", Doc: "Make a worktree.", Src: "modules/git.py worktree_add", Fn: worktreeAdd,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "worktree_path", Type: fun.Path, Required: true, Doc: "directory of the worktree"},
			{Name: "ref", Type: fun.Str, Doc: "branch, tag or commit"},
			{Name: "reset_branch", Type: fun.Bool, Doc: "reset the branch where it exists"},
			{Name: "force", Type: fun.Bool, Doc: "force the command"},
			{Name: "detach", Type: fun.Bool, Default: false, Doc: "check out a commit, not a branch"},
			{Name: "opts", Type: fun.Str | fun.List, Default: "", Doc: "further options of the git command"},
			{Name: "git_opts", Type: fun.Str | fun.List, Default: "", Doc: "options of git itself, before the command"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted for compatibility; it is used on Windows only"},
			{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a failing git does not change the exit status"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
			{Name: "branch", Type: fun.Str, KwOnly: true, Doc: "name of the branch; default: the last part of the path"},
		},
	},
	{
		Name: "worktree_prune", Doc: "Remove data of worktrees whose directory is missing.", Src: "modules/git.py worktree_prune", Fn: worktreePrune,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "path of the repository"},
			{Name: "dry_run", Type: fun.Bool, Default: false, Doc: "only report"},
			{Name: "verbose", Type: fun.Bool, Default: true, Doc: "report what is removed"},
			{Name: "expire", Type: fun.Str, Doc: "only worktrees that are unused for this long"},
		},
		Shared: [][]fun.Arg{optRunArgs},
	},
	{
		Name: "worktree_rm", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Remove the directory of a worktree.", Src: "modules/git.py worktree_rm", Fn: worktreeRm,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "directory of the worktree"},
			{Name: "user", Type: fun.Str, Doc: "account that runs git"},
			{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
		},
	},
}
