package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"brine/internal/testkit/browsertest"
)

// shopTree is the tree of the pictures in docs/ui.md.
var shopTree = map[string]string{
	"master":         "file_roots: {base: [salt]}\npillar_roots: {base: [pillar]}\ncachedir: cache\n",
	"pillar/top.sls": "{}\n",
	"roster":         "web1: {connection: local}\nweb2: {connection: local}\nweb3: {connection: local}\ndb1: {connection: local}\n",
	"salt/orch/deploy.sls": `# Deploys the shop: the database first, then the web servers.
migrate the database:
  salt.state: [{tgt: 'db*'}, {sls: [shop.database]}]
configure nginx:
  salt.state: [{tgt: 'web*'}, {sls: [shop.nginx]}, {require: [{salt: migrate the database}]}]
ask the shop:
  salt.function: [{name: cmd.run}, {tgt: 'web*'}, {arg: ['sleep 0.2; test -e FLAG || { echo "connection refused"; exit 1; }']}, {require: [{salt: configure nginx}]}]
tell the team:
  salt.function: [{name: test.ping}, {tgt: db1}, {require: [{salt: ask the shop}]}]
`,
	"salt/shop/database.sls": "# The database of the shop, and its schema.\nschema:\n  test.succeed_with_changes\nwait for the database:\n  cmd.run:\n    - name: sleep 0.3\n",
	"salt/shop/nginx.sls": `# nginx with the site of the shop.
FILES/{{ grains.id }}/nginx.conf:
  file.managed:
    - makedirs: True
    - contents: |
        worker_processes 8;
        server_name {{ grains.id }}.example.com;
`,
	"salt/orch/restart.sls": `# Restarts the shop on the application servers.
restart the shop:
  salt.state: [{tgt: 'app*'}, {sls: [shop.restart]}]
check the shop:
  salt.function: [{name: test.ping}, {tgt: 'app*'}, {require: [{salt: restart the shop}]}]
`,
	"salt/shop/restart.sls": `# Restarts the shop.
{% set n = grains.id[3:5] | int %}
restart:
  cmd.run:
    - name: {% if n % 13 == 0 %}echo port 8080 is in use >&2; exit 1{% elif n % 3 %}sleep 0.{{ n % 7 }}{% else %}for i in $(seq 600); do test -e FLAG && break; sleep 0.1; done{% endif %}
`,
	"salt/shop/cache.sls":                         "# The cache in front of the shop.\ncache:\n  test.succeed_without_changes\n",
	"salt/orchestration/states/new_site/init.sls": "site:\n  salt.function: [{name: test.ping}, {tgt: {{ pillar['targets']['servers'] }}}, {tgt_type: list}]\n",
	"salt/orchestration/metadata/new_site/metadata.yml": `description: Sets up a site on web servers
targets:
  servers: {description: Web servers, default: 'web*'}
steps:
  one: {description: Create the site, ids: site}
pillar:
  domain: {$name: Domain, $default: shop.example.com, $help: 'The name that customers type'}
  workers: {$type: number, $name: Workers, $default: 8}
  tls: {$type: boolean, $name: Redirect to HTTPS, $default: True}
`,
	"chains/deploy-friday.yml": `description: The Friday deployment
steps:
  - {action: upgrade, id: 1, targets: 'web*', packages: {nginx: '1.24'}}
  - {action: state, id: 2, targets: 'web*', sls: [shop.nginx]}
  - {action: reboot, id: 3, targets: 'web*'}
  - {action: cmd, id: 4, targets: db1, command: systemctl reload shop}
`,
}

// TestUIPictures makes the pictures of docs/ui.md in the directory that
// BRINE_UI_PICTURES names; see make ui-pictures.
func TestUIPictures(t *testing.T) {
	to := os.Getenv("BRINE_UI_PICTURES")
	if to == "" {
		t.Skip("BRINE_UI_PICTURES is not set")
	}
	dir, err := os.MkdirTemp("", "shop-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	tree := maps.Clone(shopTree)
	for i := range 36 {
		tree["roster"] += fmt.Sprintf("app%02d.example.com: {connection: local}\n", i+1)
	}
	p := pagesOf(t, dir, tree)
	for _, id := range []string{"web1", "web2", "web3"} {
		path := filepath.Join(dir, "files", id, "nginx.conf")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("worker_processes 4;\nserver_name "+id+".example.com;\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.serve()
	p.tab = browsertest.Open(t, 900, 760)
	wide := func(name string, width, height int64) {
		t.Helper()
		p.do(chromedp.EmulateViewport(width, height))
		p.picture(filepath.Join(to, name+".png"))
	}
	take := func(name string, height int64) {
		t.Helper()
		wide(name, 900, height)
	}
	p.do(chromedp.Navigate(p.link), visible("#orchestrations"), p.at("/orchestrations/orch.deploy"), visible("#run-heading"), click("[name=confirm]"), click("section .buttons button"), visible("#run-state.is-failed"))
	take("run", 1430)
	p.do(p.at("/history"), visible("table"), click("tbody a"), visible(".timeline"))
	take("execution", 1500)
	failed := browsertest.Get(t, p.tab, chromedp.Evaluate[string](`location.pathname`))
	p.do(p.at("/orchestrations/orch.restart"), visible("#run-heading"), click("[name=confirm]"), click("section .buttons button"), visible("#run-state.is-running"))
	wait(t, "hosts that are done, and that failed", func() bool {
		text := p.text("#steps")
		return strings.Contains(text, "24 of 36 hosts done, 2 failed")
	})
	wide("live", 1600, 1000)
	if err := os.WriteFile(dir+"/flag", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.do(visible("#run-state.is-failed"), p.at(failed), click("form[action$='/resume'] button"), visible("#run-state.is-succeeded"))
	p.do(p.at("/orchestrations/orch.deploy"), visible("#run-heading"), click("[name=confirm]"), click("section .buttons button"), visible("#run-state.is-succeeded"))
	p.do(p.at("/"), visible("#chains"))
	take("start", 760)
	p.do(p.at("/history"), visible("table"))
	take("history", 680)
	p.do(p.at("/hosts"), visible("#hosts"))
	take("hosts", 760)
	p.do(p.at("/states?text=shop"), visible(".list"))
	take("states", 480)
	p.do(p.at("/chains/deploy-friday"), visible("#later"))
	take("chain", 1150)
	p.do(p.at("/templates/new_site"), visible("#fields"), visible(`[id="t:servers-matched"] .hint`))
	take("template", 1000)
}

// picture writes what the window shows to a file, in few colours.
func (p *pages) picture(path string) {
	t := p.t
	t.Helper()
	img, err := png.Decode(bytes.NewReader(browsertest.Get(t, p.tab, chromedp.CaptureScreenshot())))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, paletted(img)); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 60<<10 {
		t.Errorf("%s: %d bytes", path, out.Len())
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// paletted is a picture in 16 colours.
func paletted(img image.Image) image.Image {
	n := map[color.RGBA]int{}
	b := img.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			n[at(x, y)]++
		}
	}
	// Each colour is the one that most of the picture would be most wrong without.
	var palette color.Palette
	off := make(map[color.RGBA]int, len(n)) // how far a colour is from the palette
	for c := range n {
		off[c] = math.MaxInt32
	}
	for len(palette) < 16 {
		var next color.RGBA
		most := 0
		for c, times := range n {
			if wrong := times * off[c]; wrong > most || wrong == most && wrong > 0 && less(c, next) {
				most, next = wrong, c
			}
		}
		if most == 0 {
			break
		}
		palette = append(palette, next)
		for c := range off {
			off[c] = min(off[c], apart(c.R, next.R)+apart(c.G, next.G)+apart(c.B, next.B))
		}
	}
	index := map[color.RGBA]uint8{}
	out := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := at(x, y)
			i, ok := index[c]
			if !ok {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}

func apart(x, y uint8) int { return (int(x) - int(y)) * (int(x) - int(y)) }

// less is an order of colours.
func less(x, y color.RGBA) bool {
	return cmp.Or(int(x.R)-int(y.R), int(x.G)-int(y.G), int(x.B)-int(y.B)) < 0
}
