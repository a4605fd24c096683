// Package jinja renders Jinja2 templates as Salt 3006 does with Jinja2 3.1.
//
// An [Env] holds the options and the parsed templates; [Env.Parse] or
// [Env.Get] give a [Template], whose [Template.Render] gives an [Output]: the
// text, and for each of its lines the place in the template it came from.
// Every fault is an [*Error] with template, line and column.
//
// What templates can call is a [Func]; objects that render hands in (salt,
// opts, ...) implement [AttrGetter], [ItemGetter] or value.Mapping.
package jinja
