package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"brine/internal/testkit/browsertest"
	"brine/internal/testkit/turn"
)

// TestUIDrag drags steps of a chain to other places, with a mouse and with a finger,
// and moves one by the keyboard.
func TestUIDrag(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	p := startUI(t)
	steps := make([]string, 4)
	for i := range steps {
		steps[i] = fmt.Sprintf("  - {action: cmd, id: %d, command: step%d, targets: web1}\n", i+1, i+1)
	}
	if err := errors.Join(os.Mkdir(p.dir+"/chains", 0o755), os.WriteFile(p.dir+"/chains/order.yml", []byte("steps:\n"+strings.Join(steps, "")), 0o644)); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(p.link), visible("#orchestrations"), p.at("/chains/order"), visible(".grip"))
	p.order("1 2 3 4")
	p.sound("drag")

	p.drag(1, 3, true)
	p.order("2 3 1 4")
	p.drag(4, 1, true)
	p.order("4 2 3 1")
	p.drag(2, 2, true) // back to where it was
	p.order("4 2 3 1")
	p.drag(1, 4, false)
	p.do(chromedp.KeyEvent("\x1b"), chromedp.WaitNotPresent(".dragged"), chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, 5, 5, chromedp.ButtonLeft))
	p.order("4 2 3 1")

	from, to := p.middle(".steps li:nth-child(3) .grip"), p.middle(".steps li:nth-child(1)")
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
		p.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: append([]*input.TouchPoint{}, points...)})
			return err
		}))
	}
	touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: from[0], Y: from[1]})
	touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: from[0], Y: to[1] - 10})
	touch(input.DispatchTouchEventTypeTouchEnd)
	p.order("3 4 2 1")

	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[aria-label='Down: step 1']").focus()`), chromedp.KeyEvent("\r"))
	p.order("4 3 2 1")

	p.do(p.at("/chains/order/text"), visible("#text"))
	if text := p.text("#text"); !strings.Contains(text, "step4") || strings.Index(text, "step4") > strings.Index(text, "step3") {
		t.Errorf("file: %s", text)
	}
	// Somebody else changes the chain meanwhile: nothing is moved.
	p.do(p.at("/chains/order"), visible(".grip"))
	if out, err := p.brine("chain", "move", "order", "1", "4").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.drag(1, 2, true)
	p.do(visible("#problem"))
	if text := p.text("#problem"); !strings.Contains(text, "Somebody else changed this chain") {
		t.Errorf("conflict: %s", text)
	}
}

// drag takes a step by its grip to the place of another one, and drops it there.
func (p *pages) drag(from, to int, drop bool) {
	p.t.Helper()
	at := p.middle(fmt.Sprintf(".steps li:nth-child(%d) .grip", from))
	target := p.middle(fmt.Sprintf(".steps li:nth-child(%d)", to))
	switch {
	case to > from:
		target[1] += 10
	case to < from:
		target[1] -= 10
	}
	p.do(
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, at[0], at[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], (at[1]+target[1])/2, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], target[1], chromedp.ButtonLeft),
	)
	if drop {
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, at[0], target[1], chromedp.ButtonLeft))
	}
}

// middle is where the middle of an element is in the window.
func (p *pages) middle(sel string) [2]float64 {
	p.t.Helper()
	return browsertest.Get(p.t, p.tab, chromedp.Evaluate[[2]float64](fmt.Sprintf(
		`(() => { const b = document.querySelector(%q).getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()`, sel)))
}

// order waits until the commands of the steps are in an order and can be dragged.
func (p *pages) order(want string) {
	p.t.Helper()
	wait(p.t, "the order "+want, func() bool {
		got := browsertest.Get(p.t, p.tab, chromedp.Evaluate[string](
			`[...document.querySelectorAll(".steps > li p:has(.grip)")].map((x) => x.textContent.match(/step(\d)/)?.[1]).join(" ")`))
		return got == want
	})
}
