package e2e

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"brine/internal/view/ui"
)

// uiSecret is in the pillar of all hosts.
const uiSecret = "Sesame-opens-7"

// rolesTree is a tree with a secret in the pillar, which everything uses, and a host
// behind an address that tells of connections.
var rolesTree = map[string]string{
	"master":         "file_roots: {base: [salt]}\npillar_roots: {base: [pillar]}\ncachedir: cache\nosenv: {driver: env}\nnodegroups: {secret: 'I@db:password:S*'}\nssh_retries: 0\n",
	"pillar/top.sls": "base: {'*': [db]}\n",
	"pillar/db.sls":  "db: {password: " + uiSecret + "}\nrole: web\n",
	"roster":         "web1: {connection: local}\nfar: {host: 127.0.0.1, port: PORT, user: root, passwd: x}\n",
	"salt/orch/deploy.sls": `# Deploys, with token: abcdefgh
probe:
  salt.function:
    - name: cmd.run
    - tgt: web1
    - arg: ['echo {{ pillar['db']['password'] }}; exit 1']
    - kwarg: {env: {TOKEN: env-secret-1}}
`,
	// The hint of the error quotes the value.
	"salt/orch/broken.sls": "x:\n  salt.state: [{tgt: web1}, {sls: broken}]\n",
	"salt/hidden.sls":      "probe:\n  salt.function: [{name: cmd.run}, {tgt: web1}, {arg: ['exit 1']}]\n",
	"salt/show.sls":        "/x/{{ pillar['db']['password'] }}:\n  file.managed:\n    - contents: {{ pillar['db']['password'] }}\n",
	"salt/broken.sls":      "x: {{ pillar['db']['password'] }}\n  - [\n",
	"salt/orchestration/states/write/init.sls": `write_it:
  salt.state:
    - tgt: {{ pillar['targets']['web'] }}
    - tgt_type: list
    - sls: [apply]
    - pillar: {{ {'text': pillar['text']} | json }}
`,
	"salt/orchestration/states/write/apply.sls":        "FILES/out:\n  file.managed:\n    - makedirs: True\n    - contents: {{ pillar['text'] | json }}\n",
	"salt/orchestration/metadata/write/metadata.yml":   "description: Write\ntargets:\n  web: {description: Where}\npillar:\n  text: {$name: Text}\n  api_token: {$optional: True}\n",
	"chains/friday.yml":                                "description: 'with token: abcdefgh'\nsteps:\n  - {id: 1, action: cmd, targets: web1, command: 'mysql --password=other-secret -p" + uiSecret + "; exit 1'}\n",
	"salt/orchestration/metadata/write/unused.comment": "\n",
}

// An account is a user of the pages in a browser.
type account struct {
	t      *testing.T
	base   string
	client *http.Client
	csrf   string
}

var csrfRE = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// account logs a user in; "": nobody.
func (p *pages) account(name string) *account {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	a := &account{t: p.t, base: p.base, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if name == "" {
		return a
	}
	if code, text, _ := a.post("/login", "name", name, "password", "the password of "+name); code != http.StatusSeeOther {
		p.t.Fatalf("log in: %d: %s", code, text)
	}
	_, text, _ := a.get("/")
	if m := csrfRE.FindStringSubmatch(text); m != nil {
		a.csrf = m[1]
	} else {
		p.t.Fatalf("%s has not logged in: %s", name, text)
	}
	return a
}

func (a *account) send(method, path string, form url.Values) (code int, text, where string) {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Origin", a.base)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := a.client.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header.Get("Location")
}

func (a *account) get(path string) (int, string, string) { return a.send(http.MethodGet, path, nil) }

func (a *account) post(path string, kv ...string) (int, string, string) {
	f := url.Values{"csrf": {a.csrf}}
	for i := 0; i < len(kv); i += 2 {
		f.Set(kv[i], kv[i+1])
	}
	return a.send(http.MethodPost, path, f)
}

// ended waits for a run of the pages, and returns its page.
func (a *account) ended(where string) string {
	a.t.Helper()
	_, text, _ := a.get(where + "/events") // they end with the run
	if !strings.Contains(text, "event: end") {
		a.t.Fatalf("%s: %s", where, text)
	}
	_, text, _ = a.get(where)
	return text
}

// TestUIRoles has a viewer, an operator and an editor try what they may not do, on a
// real server, and what they may.
func TestUIRoles(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = c.Close()
		}
	}()
	tree := map[string]string{}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for name, text := range rolesTree {
		tree[name] = strings.ReplaceAll(text, "PORT", port)
	}
	p := pagesOf(t, t.TempDir(), tree)
	users := p.dir + "/ui.users"
	for _, role := range ui.RoleNames() {
		c := p.brine("ui", "passwd", role, "--users", users, "--role", role)
		c.Args = c.Args[:len(c.Args)-2] // it takes no -c
		c.Stdin = strings.NewReader("the password of " + role + "\n")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	p.serveWith(map[string]string{"SECRET": uiSecret}, "--users", users)
	nobody, viewer, operator, editor := p.account(""), p.account("viewer"), p.account("operator"), p.account("editor")
	p.everyRoute(map[string]*account{"nobody": nobody, "viewer": viewer, "operator": operator, "editor": editor})

	// Runs of the editor, with records.
	_, text, where := editor.post("/orchestrations/orch.deploy/run", "confirm", "yes")
	if where == "" {
		t.Fatalf("run: %s", text)
	}
	deployed := editor.ended(where)
	_, text, where = editor.post("/orchestrations/orch.broken/run", "confirm", "yes")
	if where == "" {
		t.Fatalf("run: %s", text)
	}
	if text := editor.ended(where); strings.Contains(text, uiSecret) || !strings.Contains(text, "is not a dictionary") {
		t.Errorf("a run that fails: %s", text)
	}
	_, text, _ = editor.get("/chains/friday")
	version := regexp.MustCompile(`name="version" value="([0-9a-f]+)"`).FindStringSubmatch(text)
	if version == nil {
		t.Fatalf("chain: %s", text)
	}
	_, _, where = editor.post("/chains/friday/run", "confirm", "yes", "version", version[1])
	chained := editor.ended(where)
	for _, args := range [][]string{{"ssh", "web1", "cmd.run", "exit 1", "-c", p.dir}, {"orchestrate", "hidden", "-c", p.dir}} {
		c := p.brine(args...)
		c.Args = c.Args[:len(c.Args)-2]
		if out, err := c.CombinedOutput(); err == nil {
			t.Fatalf("%v should fail: %s", args, out)
		}
	}

	before := connections.Load()
	p.viewerSees(viewer)
	if n := connections.Load() - before; n > 0 {
		t.Errorf("%d connections were made for a viewer", n)
	}
	if _, text, _ := editor.get("/targets?expr=" + url.QueryEscape("C@web1 and I@db:password:S*")); !strings.Contains(text, "1 host: web1") {
		t.Errorf("an editor: %s", text)
	}
	p.operatorTypes(operator)
	jobs := func(text string) []string { return regexp.MustCompile(`/jobs/(\d{20})/retry`).FindStringSubmatch(text) }
	for what, page := range map[string]string{"orchestration": deployed, "chain": chained} {
		m := jobs(page)
		if m == nil {
			t.Fatalf("%s: nothing to retry: %s", what, page)
		}
		code, text, where := operator.post("/jobs/" + m[1] + "/retry")
		if code != http.StatusSeeOther {
			t.Errorf("retry of a step of the %s: %d: %s", what, code, text)
			continue
		}
		operator.ended(where)
	}
	p.adHoc(operator, editor)
	operator.get("/targets?expr=G@os:none")
	if connections.Load() == 0 {
		t.Error("no connection was made for an operator: the test does not see any")
	}
}

// serveWith is serve with variables in the environment.
func (p *pages) serveWith(env map[string]string, args ...string) {
	for k, v := range env {
		p.env = append(p.env, k+"="+v)
	}
	p.serve(args...)
}

// everyRoute sends a request of each row of the table as everybody.
func (p *pages) everyRoute(who map[string]*account) {
	t := p.t
	t.Helper()
	row := regexp.MustCompile("(?m)^\\| `(?:(GET|POST) )?(/[^`]*)` \\| (\\w+) \\|")
	rows := row.FindAllStringSubmatch(ui.Table(), -1)
	if len(rows) < 40 {
		t.Fatalf("%d routes", len(rows))
	}
	rank := map[string]int{"nobody": 0, "anybody": 0, "viewer": 1, "operator": 2, "editor": 3}
	for _, m := range rows {
		path := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllStringFunc(m[2], func(s string) string {
			if s == "{$}" {
				return ""
			}
			return "none"
		})
		if path == "/login" || path == "/logout" {
			continue
		}
		for name, a := range who {
			code, text, to := a.send(max(m[1], http.MethodGet), path, url.Values{"csrf": {a.csrf}})
			switch {
			case m[3] == "anybody":
			case name == "nobody":
				if code != http.StatusSeeOther || to != "/login" && !strings.HasPrefix(to, "/login?next=%2F") {
					t.Errorf("%s %s as nobody: %d", m[1], path, code)
				}
			case rank[name] < rank[m[3]]:
				if code != http.StatusForbidden || !strings.Contains(text, "This needs the role "+m[3]) {
					t.Errorf("%s %s as %s: %d: %.300s", m[1], path, name, code, text)
				}
			case code == http.StatusForbidden || code >= 500:
				t.Errorf("%s %s as %s: %d: %.300s", m[1], path, name, code, text)
			}
		}
	}
}

// viewerSees looks at all pages for secrets, and guesses one by target expressions.
func (p *pages) viewerSees(viewer *account) {
	t := p.t
	t.Helper()
	seen := map[string]bool{}
	links := regexp.MustCompile(`(?:href|src|action)="(/[^"#]*)"`)
	queries := map[string]int{} // of a page: lists have one for each order and filter
	var look func(path string)
	look = func(path string) {
		page, _, asks := strings.Cut(path, "?")
		if seen[path] || strings.HasPrefix(path, "/assets/") || asks && queries[page] > 8 {
			return
		}
		seen[path] = true
		queries[page]++
		code, text, _ := viewer.get(path)
		for _, secret := range []string{uiSecret, "env-secret-1", "abcdefgh"} {
			if strings.Contains(text, secret) {
				i := strings.Index(text, secret)
				t.Errorf("%s shows %s: %s", path, secret, text[max(0, i-200):min(len(text), i+50)])
			}
		}
		if code != http.StatusOK {
			return
		}
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			look(strings.ReplaceAll(m[1], "&amp;", "&"))
		}
	}
	for _, path := range []string{"/", "/orchestrations/orch.deploy/graph.svg", "/chains/friday/text", "/chains/friday/step?step=1", "/states/show", "/states/broken", "/jobs?all=yes", "/audit", "/history", "/hosts", "/drift", "/templates/write"} {
		look(path)
	}
	for _, want := range []string{"/states/broken", "/states/show", "/chains/friday", "/hosts/web1", "/orchestrations/orch.deploy"} {
		if !seen[want] {
			t.Errorf("%s was not looked at", want)
		}
	}
	if len(seen) < 40 {
		t.Errorf("%d pages were looked at", len(seen))
	}
	// Right and wrong guesses have the same answer.
	echo := regexp.MustCompile(`(?:value="[^"]*"|expr=[^"]*)`)
	for _, kind := range []string{"I@db:password:%s*", "J@db:password:%s.*", "I@db:password:%sesame-opens-7", "C@web1 and I@db:password:%s*", "C@web1 and not J|@db|password|%s.*", "I@*:%s*"} {
		for _, path := range []string{"/targets?expr=", "/hosts?expr=", "/targets?kind=" + kind[:1] + "&expr="} {
			ask := func(c string) string {
				expr := strings.ReplaceAll(kind, "%s", c)
				if strings.Contains(path, "kind=") {
					_, expr, _ = strings.Cut(expr, "@")
				}
				_, text, _ := viewer.get(path + url.QueryEscape(expr))
				if strings.Contains(text, "1 host") {
					t.Errorf("%s%s matches for a viewer", path, expr)
				}
				return echo.ReplaceAllString(text, "")
			}
			if right, wrong := ask("S"), ask("Q"); strings.ReplaceAll(right, "S", "Q") != strings.ReplaceAll(wrong, "S", "Q") {
				t.Errorf("%s%s: a viewer can tell right from wrong:\n%s\n%s", path, kind, right, wrong)
			}
		}
	}
	if _, text, _ := viewer.get("/targets?expr=N@secret"); !strings.Contains(text, "pillar, which is not looked at here") {
		t.Errorf("a nodegroup: %s", text)
	}
	if _, text, _ := viewer.get("/targets?expr=G@os:none"); !strings.Contains(text, "grains are not kept here: far.") {
		t.Errorf("by a grain: %s", text)
	}
	if _, text, _ := viewer.get("/audit"); strings.Contains(text, "other-secret") || !strings.Contains(text, "mysql --password=XXX-REDACTED-XXX -pXXX-REDACTED-XXX") {
		t.Errorf("audit: %s", text)
	}
	if _, text, _ := viewer.get("/chains/friday"); !strings.Contains(text, "mysql --password=XXX-REDACTED-XXX -pXXX-REDACTED-XXX") {
		t.Errorf("a chain: %s", text)
	}
}

// operatorTypes fills in the form of a template.
func (p *pages) operatorTypes(operator *account) {
	t := p.t
	t.Helper()
	// A host that cannot be asked is not left out silently.
	if _, text, _ := operator.get("/targets?expr=G@os:none"); !strings.Contains(text, "the grains of far are not known, so it is not matched by them") {
		t.Errorf("by a grain of an unreachable host: %s", text)
	}
	out := p.dir + "/files/out"
	write := func(text, target string) (int, string, string) {
		return operator.post("/templates/write", "op", "run", "confirm", "yes", "t:web", target, "v:text", text, "v:api_token", "typed-token-1")
	}
	for _, text := range []string{"sdb://osenv/SECRET", " sdb://osenv/SECRET", "salt://hidden.sls", "__slot__:salt:cmd.run(echo " + uiSecret + ")", "x __slot__:salt:test.ping()", "a\nb: c", "-----BEGIN PGP MESSAGE-----"} {
		code, page, _ := write(text, "web1")
		if code != http.StatusUnprocessableEntity || !strings.Contains(page, `aria-invalid="true"`) {
			t.Errorf("%q: %d: %s", text, code, page)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was written")
	}
	for _, text := range []string{"{{ 7 * 7 }} {% raw %}", "- a: [b, 'c' \"d\" #e", "!!python/object:x &a *a", "$(id) `id` ; id", "null", "2026-01-01", "%", "http://x/{{ grains.id }}"} {
		code, page, where := write(text, "web1")
		if code != http.StatusSeeOther {
			t.Errorf("%q: %d: %s", text, code, page)
			continue
		}
		page = operator.ended(where)
		if b, err := os.ReadFile(filepath.Clean(out)); err != nil || !bytes.Equal(b, []byte(text+"\n")) {
			t.Errorf("%q: the target has %q, %v: %s", text, b, err, page)
		}
	}
	_, page, _ := operator.get("/templates/write")
	if !strings.Contains(page, "http://x/{{ grains.id }}") || strings.Contains(page, "typed-token-1") {
		t.Errorf("kept answers: %s", page)
	}
	for expr, want := range map[string]string{"I@db:password:S*": "searches the pillar by a pattern", "J@db:password:S": "searches the pillar by a pattern", "C@web1 and I@db:password:[S]*": "searches the pillar by a pattern"} {
		if code, page, _ := write("x", expr); code != http.StatusUnprocessableEntity || !strings.Contains(page, want) {
			t.Errorf("targets %s: %d: %s", expr, code, page)
		}
		for _, path := range []string{"/targets?expr=", "/hosts?expr="} {
			if _, page, _ := operator.get(path + url.QueryEscape(expr)); !strings.Contains(page, want) {
				t.Errorf("%s%s: %s", path, expr, page)
			}
		}
		if code, page, _ := operator.post("/hosts/ping", "expr", expr); code != http.StatusUnprocessableEntity || !strings.Contains(page, want) {
			t.Errorf("ping %s: %d: %s", expr, code, page)
		}
	}
}

// adHoc repeats what an administrator ran on the command line.
func (p *pages) adHoc(operator, editor *account) {
	t := p.t
	t.Helper()
	_, text, _ := editor.get("/jobs")
	row := regexp.MustCompile(`(?s)href="/jobs/(\d{20})">.*?</tr>`)
	command, hidden := "", ""
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		switch {
		case strings.Contains(m[0], "runner.state.orchestrate") && strings.Contains(m[0], ">hidden<") || strings.Contains(m[0], "hidden"):
			hidden = m[1]
		case strings.Contains(m[0], "<td>cmd.run</td>"):
			command = m[1]
		}
	}
	if command == "" || hidden == "" {
		t.Fatalf("jobs: %q, %q: %s", command, hidden, text)
	}
	for path, want := range map[string]string{"/jobs/" + command + "/retry": "not a step of", "/jobs/" + hidden + "/resume": "is not among the orchestrations"} {
		if code, text, _ := operator.post(path); code != http.StatusForbidden || !strings.Contains(text, "This needs the role editor") || !strings.Contains(text, want) {
			t.Errorf("%s as an operator: %d: %s", path, code, text)
		}
		code, text, where := editor.post(path)
		if code != http.StatusSeeOther {
			t.Errorf("%s as an editor: %d: %s", path, code, text)
			continue
		}
		editor.ended(where)
	}
}
