package main

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"
)

var (
	//go:embed brine.rb.tmpl
	homebrew string
	//go:embed PKGBUILD.tmpl
	pkgbuild string
)

// recipes writes the Homebrew formula and the PKGBUILD for the archives that are there.
func (r *release) recipes() error {
	data := struct {
		Version, URL string
		Sums         map[string]string // by platform
	}{r.version, r.url, map[string]string{}}
	for _, b := range r.bins {
		s, err := r.sum("brine-" + r.version + "-" + b.name() + ".tar.gz")
		if err != nil {
			return err
		}
		data.Sums[b.name()] = s
	}
	for _, x := range []struct{ name, text string }{{"brine.rb", homebrew}, {"PKGBUILD", pkgbuild}} {
		t, err := template.New(x.name).Funcs(template.FuncMap{
			// A pkgver of pacman has no dash.
			"pkgver": func(v string) string { return strings.ReplaceAll(v, "-", "_") },
		}).Parse(x.text)
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		if err := r.create(x.name, func(w io.Writer) error { return t.Execute(w, data) }); err != nil {
			return err
		}
	}
	return nil
}
