package pkgrepo

import "brine/internal/core/fun"

type ppaAuthArg struct {
	_ fun.Arguments
	_ string `arg:"ppa_auth,kw,secret" doc:"USER:PASSWORD of a private archive (Ubuntu)"`
}

var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Src: "states/pkgrepo.py absent",
		Doc:   "Remove a repository, and its key where keyid names it.\nFurther arguments are those of managed; they have no effect.",
		Hands: true,
	},
	{
		Name: "managed", Do: managed, Src: "states/pkgrepo.py managed",
		Doc:   "Configure a repository of packages.\nWith apt, the name is an entry in one line. With yum, dnf and zypper it is the ID of the repository; further arguments are keys of its file.",
		Hands: true,
	},
}
