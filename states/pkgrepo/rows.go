package pkgrepo

import "brine/internal/fun"

var (
	coprArg    = fun.Arg{Name: "copr", Type: fun.Str, Doc: "OWNER/NAME of a repository of Copr (Red Hat family)"}
	ppaArg     = fun.Arg{Name: "ppa", Type: fun.Str, Doc: "OWNER/NAME of a Personal Package Archive (Ubuntu)"}
	ppaAuthArg = fun.Arg{Name: "ppa_auth", Type: fun.Str, KwOnly: true, Secret: true, Doc: "USER:PASSWORD of a private archive (Ubuntu)"}
)

var specs = []fun.Spec{
	{
		Name: "absent", State: absent, Src: "states/pkgrepo.py absent",
		Doc:   "Remove a repository, and its key where keyid names it.",
		VarKw: true, Hands: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the repository: an entry in one line (apt), or its ID"},
			{Name: "ppa", Type: fun.Str, KwOnly: true, Doc: ppaArg.Doc},
			ppaAuthArg,
			{Name: "copr", Type: fun.Str, KwOnly: true, Doc: coprArg.Doc},
			{Name: "keyid", Type: fun.Any, KwOnly: true, Doc: "ID of the key to remove with the repository (apt)"},
			{Name: "keyid_ppa", Type: fun.Bool, KwOnly: true, Doc: "ask Launchpad for the ID of the key (Ubuntu)"},
			{Name: "aptkey", Type: fun.Bool, KwOnly: true, Doc: "use apt-key where it is there; False: keyrings; default: True (apt)"},
			{Name: "keydir", Type: fun.Path, KwOnly: true, Doc: "directory of keyrings; default: /etc/apt/keyrings (apt)"},
		},
	},
	{
		Name: "managed", State: managed, Src: "states/pkgrepo.py managed",
		Doc:   "Configure a repository of packages.\nWith apt, the name is an entry in one line. With yum, dnf and zypper it is the ID of the repository; arguments that are not listed here are keys of its file.",
		VarKw: true, Hands: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the repository: an entry in one line (apt), or its ID"},
			ppaArg,
			coprArg,
			{Name: "aptkey", Type: fun.Bool, Default: true, Doc: "use apt-key for keys where it is there, and the entry names no keyring by signed-by (apt)"},
			{Name: "allow_insecure_key", Type: fun.Bool, Default: true, KwOnly: true, Doc: "allow a key_url with http"},
			{Name: "architectures", Type: fun.Commas, KwOnly: true, Doc: "architectures of the entry (apt)"},
			{Name: "baseurl", Type: fun.Any, KwOnly: true, Doc: "address of the repository (yum, zypper)"},
			{Name: "clean_file", Type: fun.Bool, KwOnly: true, Doc: "remove all else from file; default: False"},
			{Name: "comments", Type: fun.Strs, KwOnly: true, Doc: "comments of the entry"},
			{Name: "comps", Type: fun.Commas, KwOnly: true, Doc: "components, instead of those of the name (apt)"},
			{Name: "consolidate", Type: fun.Bool, KwOnly: true, Doc: "join the entries of all one-line files in /etc/apt/sources.list if something is to be changed; default: False (apt)"},
			{Name: "disabled", Type: fun.Any, KwOnly: true, Doc: "whether the repository is disabled; default: False"},
			{Name: "dist", Type: fun.Str, KwOnly: true, Doc: "suite, instead of that of the name (apt)"},
			{Name: "enabled", Type: fun.Any, KwOnly: true, Doc: "whether the repository is enabled; default: True"},
			{Name: "file", Type: fun.Path, KwOnly: true, Doc: "file that a new entry is put in, .list or .sources; default: /etc/apt/sources.list (apt)"},
			{Name: "gpgautoimport", Type: fun.Any, KwOnly: true, Doc: "trust the key of a new repository (zypper)"},
			{Name: "gpgcheck", Type: fun.Any, KwOnly: true, Doc: "whether packages have to be signed (yum, zypper)"},
			{Name: "gpgkey", Type: fun.Any, KwOnly: true, Doc: "addresses of keys (yum, zypper)"},
			{Name: "humanname", Type: fun.Any, KwOnly: true, Doc: "name of the repository for people (yum, zypper)"},
			{Name: "key_text", Type: fun.Str, KwOnly: true, Doc: "a key to import, as text (apt)"},
			{Name: "key_url", Type: fun.Any, KwOnly: true, Doc: "path or URL of a key to import (apt)"},
			{Name: "keyid", Type: fun.Any, KwOnly: true, Doc: "IDs of keys to import from keyserver (apt)"},
			{Name: "keyserver", Type: fun.Str, KwOnly: true, Doc: "server that has the keys (apt)"},
			{Name: "mirrorlist", Type: fun.Any, KwOnly: true, Doc: "address of a list of mirrors (yum, zypper)"},
			ppaAuthArg,
			{Name: "priority", Type: fun.Any, KwOnly: true, Doc: "priority of the repository (yum, zypper)"},
			{Name: "refresh", Type: fun.Any, KwOnly: true, Doc: "refresh the lists of packages after a change; default: True"},
			{Name: "refresh_db", Type: fun.Any, KwOnly: true, Doc: "the same as refresh, which it overrides"},
			{Name: "signedby", Type: fun.Str, KwOnly: true, Doc: "path of a keyring, where the name has no signed-by (apt)"},
		},
	},
}
