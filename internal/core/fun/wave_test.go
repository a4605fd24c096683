package fun

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/py/value"
)

func TestParseShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   value.Value
		text string
		of   int // 300
	}{
		{int64(3), "3", 3},
		{"3", "3", 3},
		{" 3 ", "3", 3},
		{"25%", "25%", 75},
		{"%25", "25%", 75},
		{"0.5%", "0.5%", 1},
		{"29 %", "29%", 87},
		{int64(0), "0", 0},
		{"0%", "0%", 0},
		{float64(2), "2", 2},
		{int64(1000), "1000", 1000},
	} {
		s, err := ParseShare(tt.in)
		if err != nil || s.String() != tt.text || s.Of(300) != tt.of {
			t.Errorf("ParseShare(%#v) = %s (%d of 300), %v; want %s (%d)", tt.in, s, s.Of(300), err, tt.text, tt.of)
		}
	}
	for _, bad := range []value.Value{nil, true, "", "%", "x", "5%%", "%5%", "-1", int64(-1), 1.5, "1e400", "nan", "inf%", "1e20", value.NewList()} {
		if s, err := ParseShare(bad); err == nil {
			t.Errorf("ParseShare(%#v) = %s", bad, s)
		}
	}
}

func TestParseWaves(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   value.Value
		want string
	}{
		{int64(1), "1"},
		{"1, 10%,100%", "1 10% 100%"},
		{value.NewList(int64(1), "10%", "50%", "100%"), "1 10% 50% 100%"},
		{value.NewList("50%", int64(1)), "50% 1"}, // which is larger depends on the targets
		{value.NewList("G@a:b and web*", value.MapOf("tgt", "x*"), value.MapOf("tgt", value.Strings("a", "b")), int64(5)), "G@a:b and web*/compound x*/ ['a', 'b']/list 5"},
	} {
		waves, err := ParseWaves(tt.in)
		if err != nil {
			t.Errorf("ParseWaves(%s): %v", value.Repr(tt.in), err)
			continue
		}
		var got []string
		for _, w := range waves {
			text := w.String()
			if w.Tgt != nil {
				text += "/" + w.TgtType
			}
			got = append(got, text)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("ParseWaves(%s) = %s, want %s", value.Repr(tt.in), s, tt.want)
		}
	}
	for _, bad := range []value.Value{
		value.NewList(), "", "1,", int64(0), "101%", value.NewList(int64(2), int64(2)), value.NewList(int64(1), "5%", int64(1)), true,
		value.NewList(value.NewMap(0)), value.NewList(value.MapOf("tgt", int64(1))), value.NewList(value.MapOf("tgt", "")),
		value.NewList(value.MapOf("tgt", "a", "x", int64(1))), value.NewList(nil),
	} {
		if w, err := ParseWaves(bad); err == nil {
			t.Errorf("ParseWaves(%s) = %v", value.Repr(bad), w)
		}
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			r     Retries
			good  int // the try that succeeds; 0: none does
			open  time.Duration
			tries int
			took  time.Duration
		}{
			{r: Retries{}, good: 1, open: time.Hour, tries: 1},
			{r: Retries{}, open: time.Hour, tries: 1},
			{r: Retries{3, 10 * time.Second}, good: 3, open: time.Hour, tries: 3, took: 20 * time.Second},
			{r: Retries{3, 10 * time.Second}, open: time.Hour, tries: 4, took: 30 * time.Second},
			{r: Retries{3, 10 * time.Second}, open: 15 * time.Second, tries: 2, took: 15 * time.Second},
		} {
			begin, n := time.Now(), 0
			err := tt.r.Try(t.Context(), func() bool { return time.Since(begin) < tt.open }, func() error {
				if n++; n == tt.good {
					return nil
				}
				return errors.New("no")
			})
			if took := time.Since(begin).Round(time.Second); (err == nil) != (tt.good > 0) || n != tt.tries || took != tt.took {
				t.Errorf("%+v: %d tries in %s, %v", tt, n, took, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if Sleep(ctx, time.Hour, func() bool { return true }) {
			t.Error("it slept on a context that has ended")
		}
	})
}

func TestNotBegun(t *testing.T) {
	t.Parallel()
	why := errors.New("no")
	for _, tt := range []struct {
		err  *NotBegunError
		want string
	}{
		{&NotBegunError{Wave: 1, Of: 1, Why: why}, "not begun: no"},
		{&NotBegunError{Wave: 2, Of: 4, Why: why}, "not begun: stopped in wave 2 of 4: no"},
	} {
		err := fmt.Errorf("x: %w", tt.err)
		if !errors.Is(err, ErrNotBegun) || !errors.Is(err, why) || errors.Is(err, ErrStopped) || tt.err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// some is a Fleet whose targets return what they are.
type some []Return

func (f some) Match(context.Context, value.Value, string) ([]string, error) { return nil, nil }

func (f some) Run(_ context.Context, _ Job, each func(Return) error) (Summary, error) {
	var sum Summary
	for _, r := range f {
		sum.Targets = append(sum.Targets, r.ID)
		if err := each(r); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func TestRunCheck(t *testing.T) {
	t.Parallel()
	good := Return{ID: "a", Body: ValueBody{true}}
	var many some
	for i := range 20 {
		many = append(many, Return{ID: fmt.Sprintf("web%02d", i), Retcode: 3})
	}
	for _, tt := range []struct {
		fleet some
		want  string
	}{
		{some{good}, ""},
		{some{}, "f.g: no target matches web*"},
		{some{good, {ID: "b", Body: ValueBody{false}}}, "f.g failed on b (b: its return is a failure)"},
		{some{{ID: "b", Stage: TimedOut}}, "f.g failed on b (b: timed out)"},
		{some{{ID: "b", Stage: Unreachable, Err: errors.New("no route")}}, "f.g failed on b (b: no route)"},
		{many, "f.g failed on web00, web01, web02, web03, web04, web05, web06, web07, web08, web09 and 10 more (web00: return code 3)"},
	} {
		text := ""
		if err := RunCheck(t.Context(), tt.fleet, Job{Fun: "f.g", Tgt: "web*"}, Healthy); err != nil {
			text = err.Error()
		}
		if text != tt.want {
			t.Errorf("%q, want %q", text, tt.want)
		}
	}
}
