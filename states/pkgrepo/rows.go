package pkgrepo

import "brine/internal/fun"

type coprArg struct {
	_    fun.Arguments
	Copr string `arg:"copr" doc:"OWNER/NAME of a repository of Copr (Red Hat family)"`
}

type ppaArg struct {
	_   fun.Arguments
	PPA string `arg:"ppa" doc:"OWNER/NAME of a Personal Package Archive (Ubuntu)"`
}

type ppaAuthArg struct {
	_ fun.Arguments
	_ string `arg:"ppa_auth,kw,secret" doc:"USER:PASSWORD of a private archive (Ubuntu)"`
}

var specs = []fun.Spec{
	{
		Name: "absent", State: absent, Src: "states/pkgrepo.py absent",
		Doc:   "Remove a repository, and its key where keyid names it.",
		VarKw: true, Hands: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the repository: an entry in one line (apt), or its ID"},
			{Name: "ppa", Type: fun.Str, KwOnly: true, Doc: fun.ArgsOf((*ppaArg)(nil))[0].Doc},
			fun.ArgsOf((*ppaAuthArg)(nil))[0],
			{Name: "copr", Type: fun.Str, KwOnly: true, Doc: fun.ArgsOf((*coprArg)(nil))[0].Doc},
			{Name: "keyid", Type: fun.Any, KwOnly: true, Doc: "ID of the key to remove with the repository (apt)"},
			{Name: "keyid_ppa", Type: fun.Bool, KwOnly: true, Doc: "ask Launchpad for the ID of the key (Ubuntu)"},
			{Name: "aptkey", Type: fun.Bool, KwOnly: true, Doc: "use apt-key where it is there; False: keyrings; default: True (apt)"},
			{Name: "keydir", Type: fun.Path, KwOnly: true, Doc: "directory of keyrings; default: /etc/apt/keyrings (apt)"},
		},
	},
	{
		Name: "managed", Do: managed, Src: "states/pkgrepo.py managed",
		Doc:   "Configure a repository of packages.\nWith apt, the name is an entry in one line. With yum, dnf and zypper it is the ID of the repository; arguments that are not listed here are keys of its file.",
		Hands: true,
	},
}
