package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/pyformat"
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
func now(c *fun.Call, a *offsetArg) (time.Time, error) {
	t := c.Env.Host.Now()
	if !a.UtcOffset.Given {
		return t, nil
	}
	s := a.UtcOffset.V
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
func show(c *fun.Call, a *offsetArg, format string) (fun.Result, error) {
	t, err := now(c, a)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pyformat.Strftime(t, format))
}

func getDate(_ context.Context, c *fun.Call, a *offsetArg) (fun.Result, error) {
	return show(c, a, "%a %m/%d/%Y")
}

func getTime(_ context.Context, c *fun.Call, a *offsetArg) (fun.Result, error) {
	return show(c, a, "%I:%M:%S %p")
}

func getDateTime(_ context.Context, c *fun.Call, a *offsetArg) (fun.Result, error) {
	return show(c, a, "%Y-%m-%d %H:%M:%S")
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

type setTimeArgs struct {
	Newtime string `arg:"newtime,required" doc:"HH:MM or HH:MM:SS, optionally with AM or PM; quote it twice, since 11:20 is a number in YAML"`
	offsetArg
}

func setTime(ctx context.Context, c *fun.Call, a *setTimeArgs) (fun.Result, error) {
	t, ok := parse(a.Newtime, "3:4:5 PM", "3:4 PM", "15:4:5", "15:4")
	if !ok {
		return fun.Value(false)
	}
	return set(ctx, c, &a.offsetArg, func(at *parts) { at.hour, at.min, at.sec = t.Hour(), t.Minute(), t.Second() })
}

type setDateArgs struct {
	Newdate string `arg:"newdate,required" doc:"YYYY-MM-DD, MM-DD-YYYY or MM-DD-YY, also with slashes"`
	offsetArg
}

func setDate(ctx context.Context, c *fun.Call, a *setDateArgs) (fun.Result, error) {
	t, ok := parse(a.Newdate, "2006-1-2", "1-2-2006", "1-2-06", "1/2/2006", "1/2/06", "2006/1/2")
	if !ok {
		return fun.Result{}, &fun.InvocationError{Msg: "Invalid date format"}
	}
	return set(ctx, c, &a.offsetArg, func(at *parts) { at.year, at.month, at.day = t.Year(), int(t.Month()), t.Day() })
}

type setDateTimeArgs struct {
	Years   fun.Opt[int64] `arg:"years" doc:"the year, four digits; default: unchanged"`
	Months  fun.Opt[int64] `arg:"months" doc:"1 to 12; default: unchanged"`
	Days    fun.Opt[int64] `arg:"days" doc:"1 to 31; default: unchanged"`
	Hours   fun.Opt[int64] `arg:"hours" doc:"0 to 23; default: unchanged"`
	Minutes fun.Opt[int64] `arg:"minutes" doc:"0 to 59; default: unchanged"`
	Seconds fun.Opt[int64] `arg:"seconds" doc:"0 to 59; default: unchanged"`
	offsetArg
}

func setDateTime(ctx context.Context, c *fun.Call, a *setDateTimeArgs) (fun.Result, error) {
	return set(ctx, c, &a.offsetArg, func(at *parts) {
		*at = parts{
			int(a.Years.Or(int64(at.year))), int(a.Months.Or(int64(at.month))), int(a.Days.Or(int64(at.day))),
			int(a.Hours.Or(int64(at.hour))), int(a.Minutes.Or(int64(at.min))), int(a.Seconds.Or(int64(at.sec))),
		}
	})
}

// parts are what a time is made of.
type parts struct{ year, month, day, hour, min, sec int }

// set changes parts of the machine's time by date(1), which may know no
// seconds, and hands it to the hardware clock.
// Salt: salt/modules/system.py set_system_date_time, _date_bin_set_datetime.
func set(ctx context.Context, c *fun.Call, a *offsetArg, change func(*parts)) (fun.Result, error) {
	t, err := now(c, a)
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
	if a.UtcOffset.Given {
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

func hasHWClock(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	has, err := hwclock(ctx, c)
	return fun.Result{Value: has}, err
}
