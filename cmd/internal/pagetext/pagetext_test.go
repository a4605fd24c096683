package pagetext_test

import (
	"strings"
	"testing"

	"brine/cmd/internal/columns"
	"brine/cmd/internal/pagetext"
	"brine/internal/view/handbook"
)

const body = `<h1 id="machines">Machines</h1>
<p>Over <em>SSH</em>: see <a href="../guide/keys.html#agent">keys.md</a>, <a href="roster.html">the
roster</a>, <a href="#jump">below</a> and <a href="https://example.com">a site</a>.</p>
<ul>
<li>one &amp; two</li>
<li>
<p>three is a long item that goes on in a second line</p>
<ol start="3">
<li>inner</li>
</ol>
</li>
</ul>
<h2 id="jump">Jump hosts</h2>
<pre><code class="language-console">$ ssh -J a b &lt;file&gt;  # a line of code is never broken, however long it is

  x
</code></pre>
<table>
<thead><tr><th>key</th><th>meaning</th></tr></thead>
<tbody><tr><td><code>a|b</code></td><td>what it means, in words</td></tr></tbody>
</table>
<h3 id="deep">Deep</h3>
<blockquote>
<p>quoted</p>
</blockquote>
<h2 id="last">Last</h2>
<p>end` + "\x1b[31m" + `</p>
`

const want = `Machines
========

Over SSH: see guide/keys#agent, the
roster (ssh/roster), below and a site
(https://example.com).

- one & two
- three is a long item that goes on in a
  second line
  3. inner

Jump hosts
----------

    $ ssh -J a b <file>  # a line of code is never broken, however long it is

      x

key    meaning
-----  -----------------------
` + "`a|b`  what it means, in words" + `

Deep

  quoted

Last
----

end\x1b[31m
`

func TestRender(t *testing.T) {
	t.Parallel()
	p := &handbook.Page{Path: "ssh/index.html", Title: "Machines", Body: body}
	if got := pagetext.Render(p, "", 40); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	got := pagetext.Render(p, "jump", 40)
	if !strings.HasPrefix(got, "Jump hosts\n") || !strings.HasSuffix(got, "  quoted\n") {
		t.Errorf("the part under a heading is\n%s", got)
	}
}

// TestHostile: a page is text, whatever an archive says.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "</ul></li></a></td></table></blockquote></pre>", "<td>x</td><tr><li>y", "<pre>a<table><tr><td>b</pre></table>",
		"<a href=\"%zz#\">x</a><ol start=\"99999999999999999999\"><li>z</ol>", "<p>" + strings.Repeat("<ul><li>x", 200) + "</p>",
		"<h1 id=\"\x00\">\x1b]0;title\a</h1>",
	} {
		text := pagetext.Render(&handbook.Page{Path: "x.html", Body: body}, "", columns.Least)
		if strings.ContainsAny(text, "\x00\x1b\a") {
			t.Errorf("%q is written as %q", body, text)
		}
	}
}
