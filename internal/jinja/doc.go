// Package jinja renders Jinja2 templates as Salt 3006 does with Jinja2 3.1.
package jinja

// A State is one rendering of a template.
type State struct{}
