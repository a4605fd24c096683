package locale

import "brine/internal/fun"

var localeArgs = []fun.Arg{
	{Name: "locale", Type: fun.Str, Required: true, Doc: "name of the locale, such as en_US.UTF-8"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "avail", Doc: "Return whether there is a locale.", Src: "modules/localemod.py avail", Args: localeArgs, Fn: avail},
	{
		Name: "gen_locale", Doc: "Make a locale. Return whether that worked.", Src: "modules/localemod.py gen_locale",
		VarKw: true, Fn: genLocale,
		Args: []fun.Arg{
			{Name: "locale", Type: fun.Str, Required: true, Doc: "name of the locale; \"ca_ES.UTF-8@valencia UTF-8\" names its charmap, too"},
			{Name: "verbose", Type: fun.Bool, Default: false, Doc: "return the output of the program that makes it"},
		},
	},
	{Name: "get_locale", Doc: "Return the locale of the system.", Src: "modules/localemod.py get_locale", Fn: getLocale},
	{Name: "list_avail", Doc: "Return the locales that there are.", Src: "modules/localemod.py list_avail", Fn: listAvail},
	{Name: "set_locale", Doc: "Set the locale of the system. Return whether that worked.", Src: "modules/localemod.py set_locale", Args: localeArgs, Fn: setLocale},
}
