package browsertest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // of axe
	"fmt"
	"io"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axe is axe-core 4.14.1, which looks for faults that keep people from using a
// page. Its licence stands beside it.
//
//go:embed axe/axe.min.js.gz
var axe []byte

// axeRun has axe look at a page by rules, or by the rules of tags. The one about the size of
// targets is off by default.
const axeRun = `axe.run({runOnly: %s, rules: {"target-size": {enabled: true}}}).then(r =>
	r.violations.map(v => v.id + ": " + v.nodes.map(n => n.target.join(" ") + " " + n.failureSummary).join("; ")))`

// Axe returns what axe finds wrong with the page by WCAG 2.2, levels A and AA; or
// only with its contrast.
func (b *Tab) Axe(t *testing.T, contrast bool) []string {
	t.Helper()
	if contrast {
		return b.AxeRule(t, "color-contrast")
	}
	return b.axe(t, `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]`)
}

// AxeRule returns what is wrong with the page by one rule of axe.
func (b *Tab) AxeRule(t *testing.T, rule string) []string {
	t.Helper()
	return b.axe(t, fmt.Sprintf("[%q]", rule))
}

func (b *Tab) axe(t *testing.T, rules string) []string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(axe))
	if err != nil {
		t.Fatal(err)
	}
	script, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if !Get(t, b, chromedp.Evaluate[bool](`typeof axe === "object"`)) {
		Get(t, b, chromedp.Evaluate[bool](string(script)+"; true"))
	}
	return Get(t, b, chromedp.Evaluate[[]string](fmt.Sprintf(axeRun, rules), chromedp.EvalAwaitPromise))
}

// Scheme has the page see a colour scheme, light or dark, as the one that the person
// prefers.
func (b *Tab) Scheme(t *testing.T, scheme string) {
	t.Helper()
	b.Do(t, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// Media has the page be laid out for a medium, such as print; "" is the screen.
func (b *Tab) Media(t *testing.T, medium string) {
	t.Helper()
	b.Do(t, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium})
		return err
	}))
}

// Wider reports whether the page is wider than its window.
func (b *Tab) Wider(t *testing.T) bool {
	t.Helper()
	return Get(t, b, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`))
}
