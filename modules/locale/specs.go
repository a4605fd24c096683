package locale

import "brine/internal/core/fun"

type localeArgs struct {
	_      fun.Arguments
	Locale string `arg:"locale,required" doc:"name of the locale, such as en_US.UTF-8"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "avail", Doc: "Return whether there is a locale.", Src: "modules/localemod.py avail", Do: avail},
	{
		Name: "gen_locale", Doc: "Make a locale. Return whether that worked.", Src: "modules/localemod.py gen_locale",
		Do: genLocale,
	},
	{Name: "get_locale", Doc: "Return the locale of the system.", Src: "modules/localemod.py get_locale", Do: getLocale},
	{Name: "list_avail", Doc: "Return the locales that there are.", Src: "modules/localemod.py list_avail", Do: listAvail},
	{Name: "set_locale", Doc: "Set the locale of the system. Return whether that worked.", Src: "modules/localemod.py set_locale", Do: setLocale},
}
