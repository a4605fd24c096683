package jinja

// The names of what is built in, for hints and the debug tag.

const (
	builtinFilters = `abs attr batch capitalize center count d default dictsort e escape filesizeformat first
		float forceescape format groupby indent int items join last length list lower map max min pprint random reject
		rejectattr replace reverse round safe select selectattr slice sort string striptags sum title tojson trim truncate
		unique upper urlencode urlize wordcount wordwrap xmlattr`
	builtinTests = `!= < <= == > >= boolean callable defined divisibleby eq equalto escaped even false filter float
		ge greaterthan gt in integer iterable le lessthan lower lt mapping ne none number odd sameas sequence string test true
		undefined upper`
	builtinGlobals = `cycler dict joiner lipsum namespace range`
	builtinTags    = `autoescape block break call continue debug do extends filter for from if import include macro print raw set
		with`
)
