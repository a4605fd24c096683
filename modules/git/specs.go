package git

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// runArgs are arguments that several functions have.
type runArgs struct {
	_    fun.Arguments
	User string `arg:"user" doc:"account that runs git"`
	_    string `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_    bool   `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_    string `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

// optRunArgs are arguments that several functions have.
type optRunArgs struct {
	_       fun.Arguments
	Opts    value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User    string      `arg:"user" doc:"account that runs git"`
	_       string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_       bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_       string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

// remoteRunArgs are arguments that several functions have.
type remoteRunArgs struct {
	_        fun.Arguments
	User     string   `arg:"user" doc:"account that runs git"`
	_        string   `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Identity []string `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	_        bool     `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	SaltEnv  string   `arg:"saltenv" default:"base" doc:"saltenv of salt:// identity files"`
	_        string   `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Stage a file.", Src: "modules/git.py add", Do: add,
	},
	{
		Name: "archive", Doc: "Write an archive of a commit's files.", Src: "modules/git.py archive", Do: archive,
	},
	{
		Name: "branch", Doc: "Run git branch: make a branch, or with options rename, delete or change one.", Src: "modules/git.py branch", Do: branch,
	},
	{
		Name: "checkout", Doc: "Check out a branch, tag or commit.", Src: "modules/git.py checkout", Do: checkout,
	},
	{
		Name: "clone", Doc: "Clone a repository.", Src: "modules/git.py clone", Do: clone,
	},
	{
		Name: "commit", Doc: "Commit staged changes.", Src: "modules/git.py commit", Do: commit,
	},
	{
		Name: "config_get", Doc: "Return the value of a setting; None if there is none.", Src: "modules/git.py config_get", Do: configGet,
	},
	{
		Name: "config_get_regex", Doc: "Return settings by regular expression: the same as config_get_regexp.", Src: "modules/git.py config_get_regex", Do: configGetRegexp,
	},
	{
		Name: "config_get_regexp", Doc: "Return the values of the settings whose names match a regular expression.", Src: "modules/git.py config_get_regexp", Do: configGetRegexp,
	},
	{
		Name: "config_set", Doc: "Set a value and return the values that the setting then has.", Src: "modules/git.py config_set", Do: configSet,
	},
	{
		Name: "config_unset", Doc: "Remove values of a setting.", Src: "modules/git.py config_unset", Do: configUnset,
	},
	{
		Name: "current_branch", Doc: "Return the name of the branch that is checked out.", Src: "modules/git.py current_branch", Do: currentBranch,
	},
	{
		Name: "describe", Doc: "Return a name for a commit by the nearest tag.", Src: "modules/git.py describe", Do: describe,
	},
	{
		Name: "diff", Doc: "Return the differences between commits, or between a commit and the working tree.", Src: "modules/git.py diff", Do: diff,
	},
	{
		Name: "discard_local_changes", Doc: "Discard changes of the working tree.", Src: "modules/git.py discard_local_changes", Do: discardLocalChanges,
	},
	{
		Name: "fetch", Doc: "Fetch from a remote and return the refs that changed.", Src: "modules/git.py fetch", Do: fetch,
	},
	{
		Name: "init", Doc: "Make a repository.", Src: "modules/git.py init", Do: initialize,
	},
	{
		Name: "is_worktree", Doc: "Return whether a directory is a worktree of another repository.", Src: "modules/git.py is_worktree", Do: isWorktree,
	},
	{
		Name: "list_branches", Doc: "Return the names of the branches.", Src: "modules/git.py list_branches", Do: listBranches,
	},
	{
		Name: "list_tags", Doc: "Return the names of the tags.", Src: "modules/git.py list_tags", Do: listTags,
	},
	{
		Name: "list_worktrees", Doc: "Return the worktrees of a repository by path.", Src: "modules/git.py list_worktrees", Do: listWorktrees,
	},
	{
		Name: "ls_remote", Doc: "Return the refs of a remote repository.", Src: "modules/git.py ls_remote", Do: lsRemote,
	},
	{
		Name: "merge", Doc: "Merge into the branch that is checked out.", Src: "modules/git.py merge", Do: merge,
	},
	{
		Name: "merge_base", Doc: "Return the common ancestor of commits.", Src: "modules/git.py merge_base", Do: mergeBase,
	},
	{
		Name: "merge_tree", Doc: "Return what a merge would change, without merging.", Src: "modules/git.py merge_tree", Do: mergeTree,
	},
	{
		Name: "pull", Doc: "Pull from a remote.", Src: "modules/git.py pull", Do: pull,
	},
	{
		Name: "push", Doc: "Push to a remote.", Src: "modules/git.py push", Do: push,
	},
	{
		Name: "rebase", Doc: "Rebase the branch that is checked out.", Src: "modules/git.py rebase", Do: rebase,
	},
	{
		Name: "remote_get", Doc: "Return the URLs of a remote.", Src: "modules/git.py remote_get", Do: remoteGet,
	},
	{
		Name: "remote_refs", Doc: "Return the refs of the repository at a URL.", Src: "modules/git.py remote_refs", Do: remoteRefs,
	},
	{
		Name: "remote_set", Doc: "Set the URL of a remote.", Src: "modules/git.py remote_set", Do: remoteSet,
	},
	{
		Name: "remotes", Doc: "Return the URLs of all remotes.", Src: "modules/git.py remotes", Do: remotes,
	},
	{
		Name: "reset", Doc: "Run git reset.", Src: "modules/git.py reset", Do: reset,
	},
	{
		Name: "rev_parse", Doc: "Return the output of git rev-parse.", Src: "modules/git.py rev_parse", Do: revParse,
	},
	{
		Name: "revision", Doc: "Return the SHA of a commit.", Src: "modules/git.py revision", Do: revision,
	},
	{
		Name: "rm", Doc: "Remove a file from the working tree and the index.", Src: "modules/git.py rm", Do: rm,
	},
	{
		Name: "stash", Doc: "Run git stash.", Src: "modules/git.py stash", Do: stash,
	},
	{
		Name: "status", Doc: "Return the files that changed, by kind of change.", Src: "modules/git.py status", Do: statusOf,
	},
	{
		Name: "submodule", Doc: "Run a command of git submodule.", Src: "modules/git.py submodule", Do: submodule,
	},
	{
		Name: "symbolic_ref", Doc: "Return or set what a symbolic ref points to.", Src: "modules/git.py symbolic_ref", Do: symbolicRef,
	},
	{
		Name: "tag", Doc: "Make a tag, or with the option -d delete one.", Src: "modules/git.py tag", Do: tag,
	},
	{
		Name: "version", Doc: "Return the version of git.", Src: "modules/git.py version", Do: version,
	},
	{
		Name: "worktree_add", Doc: "Make a worktree.", Src: "modules/git.py worktree_add", Do: worktreeAdd,
	},
	{
		Name: "worktree_prune", Doc: "Remove data of worktrees whose directory is missing.", Src: "modules/git.py worktree_prune", Do: worktreePrune,
	},
	{
		Name: "worktree_rm", Doc: "Remove the directory of a worktree.", Src: "modules/git.py worktree_rm", Do: worktreeRm,
	},
}
