package output

import (
	"os"

	"brine/cmd/app"
	"brine/cmd/internal/progress"
	"brine/internal/fleet/kept"
)

// KeepRun keeps how a run goes, for the pages, which show what the command line started
// as they show their own. What the pages started is kept by who started it. A run that
// cannot be kept goes on.
func (r *Report) KeepRun(p *progress.Progress, spec kept.Spec) {
	if p == nil || r.App.OnExit != nil || r.Jobs == nil {
		return
	}
	spec.User, spec.Name = r.UserName(), r.Secrets.AnyText(spec.Name)
	err := r.keepRun(p, spec)
	if err != nil {
		r.Log.Info("how the run goes is not kept, so that 'brine ui' cannot show it", "error", err)
	}
}

func (r *Report) keepRun(p *progress.Progress, spec kept.Spec) error {
	run, lock, err := kept.New(r.Cfg.CacheDir, r.App.Host.Now).Create(spec, nil, func(*kept.Run) []string { return nil })
	if err != nil {
		return err
	}
	own, err := run.Mine(lock)
	var log *os.File
	if err == nil {
		log, err = run.Log()
	}
	if err != nil {
		run.Remove()
		return err
	}
	p.Keep(app.Masker{W: log, Secrets: r.Secrets})
	r.App.OnExit = func(status int) {
		if err := own.End(status, r.App.Host.Now()); err != nil {
			r.Log.Info("the end of the run is not kept", "error", err)
		}
	}
	return nil
}
