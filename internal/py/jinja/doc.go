// Package jinja renders templates as Jinja2 3.1 does.
//
// An [Env] holds the options and the parsed templates; [Env.Parse] or
// [Env.Get] give a [Template], whose [Template.Render] gives an [Output]: the
// text, and for each of its lines the place in the template it came from.
// Every fault is an [*Error] with template, line and column.
//
// What templates can call is a [Func]. Objects in the variables implement
// [AttrGetter], [ItemGetter] or value.Mapping. The engine has Jinja2's own
// filters, tests, globals and tags; [Extension] adds those of a dialect, such as
// package saltjinja's. The methods of strings, lists, dicts and so on are in
// package pymethod.
package jinja
