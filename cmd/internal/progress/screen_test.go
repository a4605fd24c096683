package progress

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/testkit/termtest"
)

// A board is a screen on a terminal in memory that shows text.
type board struct {
	*Screen
	vt     *termtest.VT
	t      *testing.T
	writes int
	text   string
	height int
}

func (b *board) Write(p []byte) (int, error) {
	b.writes++
	if _, err := b.vt.Write(p); err != nil {
		b.t.Error(err)
	}
	return len(p), nil
}

func newBoard(t *testing.T) *board {
	b := &board{vt: &termtest.VT{Width: 40}, t: t, height: 24, text: "head\nbody\nlast"}
	b.Screen = newScreen(nil, func(width, _ int) (lines []string, columns []int) {
		if b.text == "" {
			return nil, nil
		}
		for l := range strings.SplitSeq(b.text, "\n") {
			l = l[:min(len(l), width)]
			lines, columns = append(lines, l), append(columns, len(l))
		}
		return lines, columns
	})
	b.w, b.size = b, func() (int, int) { return b.vt.Width, b.height }
	return b
}

func (b *board) want(want string) {
	b.t.Helper()
	if got := strings.TrimRight(b.vt.Text(), "\n"); got != want {
		b.t.Errorf("the terminal shows %q, want %q", got, want)
	}
}

func TestScreen(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	out := b.Writer(b)
	print := func(s string) {
		if _, err := io.WriteString(out, s); err != nil {
			t.Error(err)
		}
	}
	b.draw()
	b.want("head\nbody\nlast")
	b.text = "head\nmore\nof it\nlast"
	b.draw()
	b.want("head\nmore\nof it\nlast")
	b.text = "head\nlast"
	b.draw()
	b.want("head\nlast")
	n := b.writes
	b.draw()
	if b.writes != n {
		t.Error("what is the same was written again")
	}
	print("report\n")
	b.want("report")
	b.draw()
	b.want("report\nhead\nlast")
	b.above("x it failed")
	b.draw()
	b.want("report\nx it failed\nhead\nlast")
	print("Password: ")
	b.above("x and again")
	b.draw() // a prompt keeps it away
	b.want("report\nx it failed\nPassword:")
	print("\n")
	b.draw()
	b.want("report\nx it failed\nPassword:\nx and again\nhead\nlast")
	b.text = ""
	b.draw()
	b.want("report\nx it failed\nPassword:\nx and again")
	b.text = "head"
	b.draw()
	b.above("x at last")
	b.close()
	b.want("report\nx it failed\nPassword:\nx and again\nx at last")
	b.close()
	b.draw()
	print("end\n")
	b.want("report\nx it failed\nPassword:\nx and again\nx at last\nend")
}

// TestScreenResize: nothing of the view is left, and nothing else is lost, where
// the terminal becomes narrower, wider and lower.
func TestScreenResize(t *testing.T) {
	t.Parallel()
	for _, width := range []int{39, 30, 20, 11, 3, 80} {
		b := newBoard(t)
		b.text = "a head of thirty-five columns, so to\nbody\nthe last line of thirty columns"
		if _, err := b.Writer(b).Write([]byte("report\n")); err != nil {
			t.Fatal(err)
		}
		b.draw()
		b.vt.Resize(width)
		b.text = "now\nend"
		b.draw()
		wanted := map[bool]string{true: "report\nnow\nend", false: "rep\nort\nno\nen"}
		want := wanted[width > 3]
		if got := strings.TrimRight(b.vt.Text(), "\n"); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// TestScreenRate: at most ten frames a second, and none before the first moment.
func TestScreenRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		frames := 0
		b.frame = func(int, int) ([]string, []int) {
			frames++
			return []string{fmt.Sprint(frames)}, []int{1}
		}
		b.show()
		b.show()
		time.Sleep(firstDraw - time.Millisecond)
		synctest.Wait()
		if frames > 0 {
			t.Error("short work has a view")
		}
		time.Sleep(10 * time.Second)
		b.close()
		if frames < 50 || frames > 101 {
			t.Errorf("%d frames in ten seconds", frames)
		}
		b.want("")
	})
	synctest.Test(t, func(t *testing.T) { // what is short prints no failures either
		b := newBoard(t)
		b.show()
		b.above("x it failed")
		b.close()
		b.want("")
	})
	newBoard(t).close() // never shown
}
