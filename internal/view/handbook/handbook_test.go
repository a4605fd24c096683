package handbook

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

// small returns a book of three pages.
func small(t *testing.T) *Book {
	t.Helper()
	b := &Book{
		Groups: []Group{{Title: "Start", Entries: []Entry{{"index.html", "Home"}, {"ssh.html", "SSH & co"}}}},
		Pages: []*Page{
			{Path: "index.html", Title: "brine", Body: "<h1 id=\"brine\">brine</h1>\n<p>All about hosts.</p>\n"},
			{Path: "ssh.html", Title: "Machines", Body: "<h1 id=\"machines\">Machines</h1>\n<p>Over SSH.</p>\n" +
				"<h2 id=\"jump-hosts\">Jump hosts</h2>\n<p>Use <code>ProxyJump</code> &amp; a key.</p>\n<pre><code class=\"language-console\">$ ssh x\n</code></pre>\n" +
				"<h2 id=\"keys\">Keys</h2>\n<table>\n<tr><td>priv</td><td>file</td></tr>\n</table>\n"},
			{Path: "reference/states/file.html", Title: "State module file", Body: "<h1 id=\"state-module-file\">State module file</h1>\n<h2 id=\"managed\">managed</h2>\n<p>Manage a file on hosts.</p>\n"},
		},
		Pictures: map[string][]byte{"ui/start.png": []byte("\x89PNG")},
	}
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLayout(t *testing.T) {
	b := small(t)
	page, ok := b.File("ssh.html")
	if !ok {
		t.Fatal("no page ssh.html")
	}
	for _, want := range []string{
		`<title>Machines · brine</title>`, `<a href="ssh.html" aria-current="page">SSH &amp; co</a>`,
		`<li class="level2"><a href="#jump-hosts">Jump hosts</a></li>`, `href="#keys" aria-label="Link to this part"`,
		`<div class="code"><pre tabindex="0"><code`, `<div class="scroll" tabindex="0"`,
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("ssh.html has no %s", want)
		}
	}
	page, _ = b.File("reference/states/file.html")
	for _, want := range []string{`href="../../docs.css"`, `href="../../ssh.html"`, `data-root="../../"`} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("file.html has no %s", want)
		}
	}
	if bytes.Contains(page, []byte(`class="outline"`)) {
		t.Error("a page with one part has a table of contents")
	}
	for _, name := range b.Files() {
		if text, ok := b.File(name); !ok || len(text) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}

func TestFind(t *testing.T) {
	b := small(t)
	for name, want := range map[string]string{
		"ssh": "ssh.html", "ssh.md": "ssh.html", "docs/ssh.md": "ssh.html", "ssh.html#keys": "ssh.html#keys", "index": "index.html",
		"reference/states/file": "reference/states/file.html",
	} {
		if got, ok := b.Find(name); !ok || got != want {
			t.Errorf("Find(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"nothing", "ssh#nothing", ""} {
		if got, ok := b.Find(name); ok {
			t.Errorf("Find(%q) = %q, want none", name, got)
		}
	}
}

func TestSearch(t *testing.T) {
	b := small(t)
	for words, want := range map[string]string{
		"jump host": "ssh#jump-hosts", "proxyjump": "ssh#jump-hosts", "PRIV": "ssh#keys", "file.managed": "reference/states/file#managed",
		"the hosts": "ssh#jump-hosts", "jump nonsense": "ssh#jump-hosts", "": "", "the": "", "nonsense": "",
	} {
		got := ""
		if hits := b.Search(words, 5); len(hits) > 0 {
			got = hits[0].Name
		}
		if got != want {
			t.Errorf("Search(%q) begins with %q, want %q", words, got, want)
		}
	}
	if hits := b.Search("hosts", 2); len(hits) != 2 {
		t.Errorf("Search with a limit of 2 returns %v", hits)
	}
}

func TestRead(t *testing.T) {
	if _, err := Read(strings.NewReader("no archive")); err == nil {
		t.Error("text is read as an archive")
	}
	for _, path := range []string{"../x.html", "/x.html", "a/../x.html", "x.js", ""} {
		b := &Book{Pages: []*Page{{Path: "index.html"}, {Path: path}}}
		if b.prepare() == nil {
			t.Errorf("a page %q is accepted", path)
		}
	}
	b := &Book{Pages: []*Page{{Path: "index.html"}}, Pictures: map[string][]byte{"../x.png": nil}}
	if b.prepare() == nil {
		t.Error("a picture outside of the site is accepted")
	}
	if embedded == nil {
		if _, err := Embedded(); !errors.Is(err, ErrNone) {
			t.Errorf("Embedded() = %v, want ErrNone", err)
		}
	}
}

func TestHandler(t *testing.T) {
	h := small(t).handler("127.0.0.1:80", "localhost:80")
	for _, tt := range []struct {
		method, host, path string
		status             int
	}{
		{"GET", "127.0.0.1:80", "/", 200},
		{"GET", "localhost:80", "/ssh.html", 200},
		{"HEAD", "localhost:80", "/index.js", 200},
		{"GET", "localhost:80", "/ui/start.png", 200},
		{"GET", "localhost:80", "/ui/", 404},
		{"GET", "localhost:80", "/nothing.html", 404},
		{"GET", "localhost:80", "/../../etc/passwd", 404},
		{"POST", "localhost:80", "/", 405},
		{"GET", "evil.example:80", "/", 421},
		{"GET", "localhost", "/", 421},
	} {
		r := httptest.NewRequest(tt.method, "http://"+tt.host+"/", nil)
		r.URL.Path = tt.path
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%s %s at %s: status %d, want %d", tt.method, tt.path, tt.host, w.Code, tt.status)
		}
		if w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s %s: no Content-Security-Policy", tt.method, tt.path)
		}
		if tt.method == http.MethodHead && w.Body.Len() > 0 {
			t.Error("HEAD has a body")
		}
	}
}

// TestNeighbours: a page leads to the one before and after it in the navigation.
func TestNeighbours(t *testing.T) {
	b := small(t)
	b.Groups = append(b.Groups, Group{Title: "More", Entries: []Entry{{"reference/states/file.html", "file"}}})
	for name, want := range map[string][]string{
		"index.html":                 {`<a rel="next" href="ssh.html">SSH &amp; co →</a>`},
		"ssh.html":                   {`<a rel="prev" href="index.html">← Home</a>`, `<a rel="next" href="reference/states/file.html">file →</a>`},
		"reference/states/file.html": {`<a rel="prev" href="../../ssh.html">← SSH &amp; co</a>`},
	} {
		page, _ := b.File(name)
		if n := bytes.Count(page, []byte("<a rel=")); n != len(want) {
			t.Errorf("%s has %d neighbours, want %d", name, n, len(want))
		}
		for _, link := range want {
			if !bytes.Contains(page, []byte(link)) {
				t.Errorf("%s has no %s", name, link)
			}
		}
	}
}

// TestSearchAnswers: words of other programs lead to the page that answers them, and a hit
// shows what was searched for.
func TestSearchAnswers(t *testing.T) {
	b := small(t)
	b.Pages = append(b.Pages, &Page{Path: "plan.html", Title: "Plan and apply", Body: "<h1 id=\"plan-and-apply\">Plan and apply</h1>\n<p>See what would change.</p>\n"})
	b.Pages[0].Body += "<p>" + strings.Repeat("Something else first. ", 20) + "A dry run does <code>run</code>s. " + strings.Repeat("And more. ", 40) + "</p>\n"
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	hits := b.Search("dry runs", 5)
	if len(hits) != 2 || hits[0].Name != "plan" || hits[1].Name != "index" {
		t.Fatalf("dry runs: %+v", hits)
	}
	if got := hits[1].Text; !strings.HasPrefix(got, "… ") || !strings.Contains(got, "A dry run does runs. And more.") || !strings.HasSuffix(got, " …") || len(got) > 160 {
		t.Errorf("the hit shows %q", got)
	}
	if hits := b.Search("dry", 5); len(hits) != 1 || hits[0].Name != "index" {
		t.Errorf("dry: %+v", hits)
	}
}

// TestAskedPages: what people ask leads to pages and parts that exist.
func TestAskedPages(t *testing.T) {
	other := regexp.MustCompile(`[^a-z0-9_ -]`)
	for _, a := range asked {
		name, anchor, _ := strings.Cut(a.address, "#")
		text, err := os.ReadFile("../../../docs/" + name + ".md")
		if errors.Is(err, fs.ErrNotExist) {
			text, err = os.ReadFile("../../../docs/" + name + "/README.md")
		}
		if err != nil {
			t.Errorf("%q: %v", a.words, err)
			continue
		}
		found := anchor == ""
		for line := range strings.Lines(string(text)) {
			if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
				slug := strings.ReplaceAll(other.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
				found = found || slug == anchor
			}
		}
		if !found {
			t.Errorf("%q: there is no %s", a.words, a.address)
		}
	}
}
