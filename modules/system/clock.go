package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/pyformat"
	"brine/modules/cmd"
)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// write replaces a file that everyone may read.
func write(h host.Host, path, text string) error {
	mode := fs.FileMode(0o644)
	if st, err := h.Stat(path); err == nil {
		mode = st.Mode.Perm()
	}
	return h.WriteFile(path, strings.NewReader(text), host.WriteOptions{Mode: &mode, FollowLinks: true})
}

// now returns the time in the zone that utc_offset names; the machine's own
// where it names none.
func now(c *fun.Call) (time.Time, error) {
	t := c.Env.Host.Now()
	if c.IsNone("utc_offset") {
		return t, nil
	}
	s := c.Str("utc_offset")
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || len(digits) != 4 || strings.Trim(digits, "0123456789") != "" {
		return t, &fun.InvocationError{Msg: "Invalid UTC offset"}
	}
	hours, minutes := int(digits[0]-'0')*10+int(digits[1]-'0'), int(digits[2]-'0')*10+int(digits[3]-'0')
	offset := (hours*60 + minutes) * 60
	if s[0] == '-' {
		offset = -offset
	}
	return t.In(time.FixedZone("", offset)), nil
}

// show returns the time in a format.
func show(c *fun.Call, format string) (fun.Result, error) {
	t, err := now(c)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pyformat.Strftime(t, format))
}

func getDate(_ context.Context, c *fun.Call) (fun.Result, error) { return show(c, "%a %m/%d/%Y") }
func getTime(_ context.Context, c *fun.Call) (fun.Result, error) { return show(c, "%I:%M:%S %p") }
func getDateTime(_ context.Context, c *fun.Call) (fun.Result, error) {
	return show(c, "%Y-%m-%d %H:%M:%S")
}

// parse reads text by the first layout that fits.
func parse(text string, layouts ...string) (time.Time, bool) {
	for _, l := range layouts {
		if t, err := time.Parse(l, strings.ToUpper(text)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func setTime(ctx context.Context, c *fun.Call) (fun.Result, error) {
	t, ok := parse(c.Str("newtime"), "3:4:5 PM", "3:4 PM", "15:4:5", "15:4")
	if !ok {
		return fun.Value(false)
	}
	return set(ctx, c, func(at *parts) { at.hour, at.min, at.sec = t.Hour(), t.Minute(), t.Second() })
}

func setDate(ctx context.Context, c *fun.Call) (fun.Result, error) {
	t, ok := parse(c.Str("newdate"), "2006-1-2", "1-2-2006", "1-2-06", "1/2/2006", "1/2/06", "2006/1/2")
	if !ok {
		return fun.Result{}, &fun.InvocationError{Msg: "Invalid date format"}
	}
	return set(ctx, c, func(at *parts) { at.year, at.month, at.day = t.Year(), int(t.Month()), t.Day() })
}

func setDateTime(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return set(ctx, c, func(at *parts) {
		for name, p := range map[string]*int{
			"years": &at.year, "months": &at.month, "days": &at.day, "hours": &at.hour, "minutes": &at.min, "seconds": &at.sec,
		} {
			if !c.IsNone(name) {
				*p = int(c.Int(name))
			}
		}
	})
}

// parts are what a time is made of.
type parts struct{ year, month, day, hour, min, sec int }

// set changes parts of the machine's time by date(1), which may know no
// seconds, and hands it to the hardware clock.
// Salt: salt/modules/system.py set_system_date_time, _date_bin_set_datetime.
func set(ctx context.Context, c *fun.Call, change func(*parts)) (fun.Result, error) {
	t, err := now(c)
	if err != nil {
		return fun.Result{}, err
	}
	at := parts{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second()}
	change(&at)
	d := time.Date(at.year, time.Month(at.month), at.day, at.hour, at.min, at.sec, 0, t.Location())
	if (parts{d.Year(), int(d.Month()), d.Day(), d.Hour(), d.Minute(), d.Second()}) != at || at.year < 1 || at.year > 9999 {
		return fun.Result{}, &fun.InvocationError{Msg: fmt.Sprintf("%d-%d-%d %d:%d:%d is not a date and time", at.year, at.month, at.day, at.hour, at.min, at.sec)}
	}
	argv := []string{"date"}
	if !c.IsNone("utc_offset") {
		d, argv = d.UTC(), append(argv, "-u")
	}
	out, err := run(ctx, c, append(argv, pyformat.Strftime(d, "%m%d%H%M%Y.%S"))...)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Retcode != 0 {
		posix, err := run(ctx, c, append(argv, pyformat.Strftime(d, "%m%d%H%M%Y"))...)
		if err != nil {
			return fun.Result{}, err
		}
		if posix.Retcode != 0 {
			return fun.Result{}, fun.Errorf("date failed: %s", out.Stdout)
		}
	}
	has, err := hwclock(ctx, c)
	if err != nil || !has {
		return fun.Result{Value: true}, err
	}
	if out, err = run(ctx, c, "hwclock", "--systohc"); err != nil {
		return fun.Result{}, err
	}
	if out.Retcode != 0 {
		return fun.Result{}, fun.Errorf("hwclock failed to set hardware clock from software clock: %s", out.Stdout)
	}
	return fun.Value(true)
}

// hwclock reports whether there is a hardware clock that can be set.
func hwclock(ctx context.Context, c *fun.Call) (bool, error) {
	if cmd.Which(c.Env, "hwclock") == "" {
		return false, nil
	}
	out, err := run(ctx, c, "hwclock", "--test", "--systohc")
	return err == nil && out.Retcode == 0, err
}

func hasHWClock(ctx context.Context, c *fun.Call) (fun.Result, error) {
	has, err := hwclock(ctx, c)
	return fun.Result{Value: has}, err
}
