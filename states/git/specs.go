package git

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cloned", Doc: "Make sure that a repository is cloned, whatever its commit is.", Src: "states/git.py cloned", Do: cloned, Leaves: targetLeaves,
	},
	{
		Name: "config_set", Doc: "Make sure that a Git setting has a value.", Src: "states/git.py config_set", Do: configSet,
		Exclusive: [][]string{{"value", "multivar"}},
	},
	{
		Name: "config_unset", Doc: "Make sure that Git settings are not set.", Src: "states/git.py config_unset", Do: configUnset,
	},
	{
		Name: "detached", Doc: "Make sure that a commit, tag or branch is checked out without a branch (detached HEAD).", Src: "states/git.py detached", Do: detached, Leaves: targetLeaves,
	},
	{
		Name: "latest", Doc: "Make sure that a clone is at the newest commit of a branch, or at a tag or commit.", Src: "states/git.py latest", Do: latest, Leaves: targetLeaves,
	},
	{
		Name: "present", Doc: "Make sure that a repository exists.", Src: "states/git.py present", Do: present, Leaves: presentLeaves,
	},
}
