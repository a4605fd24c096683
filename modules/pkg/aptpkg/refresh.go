package aptpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/dpkg"
)

const listsDir = "/var/lib/apt/lists"

type refreshDBArgs struct {
	CacheValidTime float64 `arg:"cache_valid_time,duration" default:"0" unit:"s" doc:"do nothing if the lists are younger than this"`
	Failhard       bool    `arg:"failhard" default:"False" doc:"fail if a repository cannot be fetched"`
	_              fun.Kwargs
}

func refreshDB(ctx context.Context, c *fun.Call, args *refreshDBArgs) (fun.Result, error) {
	a := newApt(c)
	m, err := a.refresh(ctx, args.CacheValidTime, args.Failhard)
	if err != nil {
		return fun.Result{}, err
	}
	return a.result(m)
}

// refresh updates apt's lists, unless that was done less than cacheValid seconds
// ago. It returns by repository whether something new was fetched, None where there
// is nothing new, and False for one that could not be fetched, which is an error if
// failhard.
func (a *apt) refresh(ctx context.Context, cacheValid float64, failhard bool) (*value.Map, error) {
	pkg.Refreshed(a.env)
	if valid, err := value.Seconds(cacheValid); err == nil && valid > 0 {
		if st, err := a.env.Host.Stat(listsDir); err == nil && st.Mtime.Add(valid).After(a.env.Host.Now()) {
			return value.NewMap(0), nil
		}
	}
	out, ret, failed, err := a.update(ctx)
	if err != nil {
		return nil, err
	}
	if failhard && len(failed) > 0 {
		return nil, &fun.CommandError{Msg: "Error getting repos: " + strings.Join(failed, ", "), Hint: printable.Text(strings.Join(unfetched(out.Stderr), "; "))}
	}
	if lines := unfetched(out.Stderr); len(lines) > 0 {
		a.env.Warn(fun.Warning{Text: "apt-get update: " + printable.Text(strings.Join(lines, "; "))})
	}
	return ret, nil
}

// unfetched returns what apt-get update says of what it could not fetch, which is
// not a failure of it: the old lists are used.
func unfetched(stderr string) []string {
	const most = 5
	var lines []string
	for l := range strings.SplitSeq(stderr, "\n") {
		if l, ok := strings.CutPrefix(l, "W: "); ok && strings.HasPrefix(l, "Failed to fetch ") && len(lines) < most {
			lines = append(lines, strings.Join(strings.Fields(l), " "))
		}
	}
	return lines
}

// update updates apt's lists. It returns what apt said, the result by repository,
// and the repositories that could not be fetched.
func (a *apt) update(ctx context.Context) (out dpkg.Output, ret *value.Map, failed []string, err error) {
	pkg.Refreshed(a.env)
	ret = value.NewMap(0)
	out, err = a.locked(ctx, "", "apt-get", "-q", "update")
	if err != nil {
		return out, nil, nil, err
	}
	if out.Status != 0 {
		return out, nil, nil, &fun.CommandError{Msg: out.Stderr}
	}
	for l := range strings.SplitSeq(out.Stdout, "\n") {
		f := strings.Fields(l)
		if len(f) == 0 {
			continue
		}
		repo := strings.Join(f[1:], " ")
		switch {
		case strings.Contains(f[0], "Get"):
			if i := strings.LastIndex(repo, " ["); i >= 0 && strings.HasSuffix(repo, "B]") {
				repo = repo[:i]
			}
			ret.Set(repo, true)
		case strings.Contains(f[0], "Ign"):
			ret.Set(repo, false)
		case strings.Contains(f[0], "Hit"):
			ret.Set(repo, nil)
		case strings.Contains(f[0], "Err"):
			ret.Set(repo, false)
			if !slices.Contains(failed, repo) {
				failed = append(failed, repo)
			}
		}
	}
	return out, ret, failed, nil
}

// refreshFor refreshes for a function that installs or upgrades, by its argument
// cache_valid_time.
func (a *apt) refreshFor(ctx context.Context, args *changeArgs) error {
	_, err := a.refresh(ctx, args.CacheValidTime, false)
	return err
}
