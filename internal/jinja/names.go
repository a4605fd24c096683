package jinja

import "strings"

// The names of filters and tests, for hints and the debug tag.

func filterNames() []string { return strings.Fields(allFilters) }

func testNames() []string { return strings.Fields(allTests) }

const allTests = `!= < <= == > >= boolean callable compound_match defined divisibleby eq equalto escaped even
	false filter float ge greaterthan gt in integer ip_in_subnet iterable le lessthan list lower lt mapping match ne
	none number odd sameas sequence string test true undefined upper`

const allFilters = `abs attr batch capitalize center count d default dictsort e escape filesizeformat first float
	forceescape format groupby indent int items join last length list lower map max min pprint random reject
	rejectattr replace reverse round safe select selectattr slice sort string striptags sum title tojson trim
	truncate unique upper urlencode urlize wordcount wordwrap xmlattr`
