package plantext

import (
	"fmt"
	"html"
	"strings"

	"brine/internal/core/printable"
	"brine/internal/view/plan"
)

// HTML is a plan as a page of its own, which loads and runs nothing: what the text has, with
// its colours.
func HTML(p *plan.Plan) string {
	command := printable.Line(commandText(p.Command))
	c := coloursOf(true)
	// The text has no other codes: those of others are not printed.
	spans := strings.NewReplacer(
		c.add, `<span class="add">`, c.remove, `<span class="remove">`, c.warn, `<span class="warn">`, c.bold, `<span class="bold">`, c.end, `</span>`,
	)
	return fmt.Sprintf(page, html.EscapeString(command), html.EscapeString(command), html.EscapeString(p.Made.Format("2006-01-02 15:04:05 MST")),
		html.EscapeString(p.Brine), spans.Replace(html.EscapeString(Text(p, true))))
}

const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<title>Plan: %s</title>
<link rel="icon" href="data:,">
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
pre { font: 13px/1.5 ui-monospace, monospace; overflow-x: auto; }
.add { color: light-dark(#116329, #57ab5a); }
.remove { color: light-dark(#a40e26, #e5534b); }
.warn { color: light-dark(#7d4e00, #c69026); }
.bold { font-weight: bold; }
</style>
</head>
<body>
<h1>Plan</h1>
<p><code>%s</code></p>
<p>Made %s by brine %s. Nothing was changed.</p>
<pre>%s</pre>
</body>
</html>
`
