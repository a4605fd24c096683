package handbook

import (
	_ "embed" // of the style and the script
	"html"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/version"
)

//go:embed assets/docs.css
var style string

//go:embed assets/docs.js
var script string

//go:embed assets/icon.svg
var icon string

// assets are the files that every page uses.
var assets = map[string]string{"docs.css": style, "docs.js": script, "icon.svg": icon}

// heading finds the headings of a body. Text in bodies has no bare "<".
var heading = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<h([1-6]) id="([^"]*)">(.*?)</h[1-6]>`)
})

// tag finds the tags of a body.
var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<[^>]*>`) })

// plain returns the text of HTML, with single blanks.
func plain(text string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tag().ReplaceAllString(text, ""))), " ")
}

// layout returns a page as a file.
func (b *Book) layout(p *Page) []byte {
	var w strings.Builder
	root := strings.Repeat("../", strings.Count(p.Path, "/"))
	w.WriteString(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>` + html.EscapeString(p.Title) + ` · brine</title>
<link rel="stylesheet" href="` + root + `docs.css">
<link rel="icon" href="` + root + `icon.svg">
<script src="` + root + `docs.js" defer></script>
</head>
<body data-root="` + root + `">
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="brand" href="` + root + `index.html">brine</a>
<form role="search" hidden><label class="hidden" for="words">Search the documentation</label><input id="words" type="search" placeholder="Search" autocomplete="off" spellcheck="false"></form>
<a class="all" href="#pages">All pages</a>
</header>
<section id="found" aria-live="polite" aria-label="Search results" hidden></section>
<div class="columns">
`)
	outline(&w, p)
	w.WriteString(`<main id="main" tabindex="-1">` + "\n")
	w.WriteString(decorate(p.Body))
	b.neighbours(&w, p, root)
	w.WriteString("</main>\n")
	b.navigation(&w, p, root)
	w.WriteString("</div>\n<footer>brine " + html.EscapeString(version.Number()) + "</footer>\n</body>\n</html>\n")
	return []byte(w.String())
}

// outline writes the table of contents of a page that has several parts.
func outline(w *strings.Builder, p *Page) {
	all := heading().FindAllStringSubmatch(p.Body, -1)
	var items strings.Builder
	n := 0
	for _, h := range all {
		if h[1] != "2" && h[1] != "3" {
			continue
		}
		n++
		items.WriteString(`<li class="level` + h[1] + `"><a href="#` + h[2] + `">` + html.EscapeString(plain(h[3])) + "</a></li>\n")
	}
	if n < 2 {
		return
	}
	w.WriteString(`<details class="outline" open><summary>On this page</summary>
<nav aria-label="On this page"><ul>
` + items.String() + "</ul></nav></details>\n")
}

// decorate adds to a body what the archive omits: headings link to themselves, and
// tables and code, which may be wider than the page, can be scrolled by the keyboard.
func decorate(body string) string {
	body = heading().ReplaceAllString(body, `<h$1 id="$2">$3 <a class="anchor" href="#$2" aria-label="Link to this part">#</a></h$1>`)
	return strings.NewReplacer(
		"<table>", `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>`, "</table>", "</table></div>",
		"<pre>", `<div class="code"><pre tabindex="0">`, "</pre>", "</pre></div>",
	).Replace(body)
}

// neighbours writes links to the pages before and after this one in the navigation.
func (b *Book) neighbours(w *strings.Builder, p *Page, root string) {
	var all []Entry
	at := -1
	for _, g := range b.Groups {
		for _, e := range g.Entries {
			if e.Path == p.Path && at < 0 {
				at = len(all)
			}
			all = append(all, e)
		}
	}
	first := p.Path == "index.html" && at < 0 // it is the navigation, so it is not in it
	if at < 0 && !first || len(all) == 0 {
		return
	}
	link := func(rel, text string, e Entry) {
		w.WriteString(`<a rel="` + rel + `" href="` + root + html.EscapeString(e.Path) + `">` + text + "</a>\n")
	}
	w.WriteString(`<nav class="turn" aria-label="Previous and next page">` + "\n")
	if at > 0 {
		link("prev", "← "+html.EscapeString(all[at-1].Title), all[at-1])
	}
	if at+1 < len(all) {
		link("next", html.EscapeString(all[at+1].Title)+" →", all[at+1])
	}
	w.WriteString("</nav>\n")
}

// navigation writes the list of pages.
func (b *Book) navigation(w *strings.Builder, p *Page, root string) {
	w.WriteString(`<nav id="pages" class="pages" aria-label="All pages">` + "\n")
	for _, g := range b.Groups {
		w.WriteString("<h2>" + html.EscapeString(g.Title) + "</h2>\n<ul>\n")
		for _, e := range g.Entries {
			w.WriteString(`<li><a href="` + root + html.EscapeString(e.Path) + `"`)
			if e.Path == p.Path {
				w.WriteString(` aria-current="page"`)
			}
			w.WriteString(">" + html.EscapeString(e.Title) + "</a></li>\n")
		}
		w.WriteString("</ul>\n")
	}
	w.WriteString("</nav>\n")
}
