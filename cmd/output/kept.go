package output

import (
	"errors"
	"os"
	"time"

	"brine/cmd/app"
	"brine/cmd/internal/progress"
	"brine/internal/fleet/kept"
)

// KeepRun keeps how a run goes, for the pages, which show what the command line started
// as they show their own. What the pages started is kept by who started it. A run that
// cannot be kept goes on.
func (r *Report) KeepRun(p *progress.Progress, spec kept.Spec) {
	if r.App.RunDir != "" {
		r.keepPrinted(kept.OpenDir(r.App.RunDir))
		return
	}
	if p == nil || r.App.OnExit != nil || r.Jobs == nil {
		return
	}
	spec.User, spec.Name = r.UserName(), r.Secrets.AnyText(spec.Name)
	r.keepPrinted(r.keepRun(p, spec))
}

func (r *Report) keepRun(p *progress.Progress, spec kept.Spec) (*kept.Run, error) {
	run, lock, err := kept.New(r.Cfg.CacheDir, r.App.Host.Now).Create(spec, nil, func(*kept.Run) []string { return nil })
	if err != nil {
		return nil, err
	}
	own, err := run.Mine(lock)
	var log *os.File
	if err == nil {
		log, err = run.Log()
	}
	if err != nil {
		run.Remove()
		return nil, err
	}
	p.Keep(app.Masker{W: log, Secrets: r.Secrets})
	r.App.OnExit = func(status int) {
		if err := own.End(status, r.App.Host.Now()); err != nil {
			r.Log.Info("the end of the run is not kept", "error", err)
		}
	}
	return run, nil
}

// askPace is how often a run looks whether somebody asks for what its programs print.
const askPace = 250 * time.Millisecond

// keepPrinted has what programs print kept, from the time on when somebody asks for it.
func (r *Report) keepPrinted(run *kept.Run, err error) {
	if err != nil {
		r.Log.Info("how the run goes is not kept, so that 'brine ui' cannot show it", "error", err)
		return
	}
	var keeper *kept.Keeper
	begin := func() bool {
		if _, asked := run.Heard(); !asked {
			return false
		}
		k, err := run.Keeper(r.App.Host.Now)
		if err != nil {
			r.Log.Info("what programs print is not kept", "error", err)
			return true
		}
		keeper = k
		r.Output.Listen(k.Take)
		return true
	}
	if r.Flags.Output.Stream { // it is sent anyway
		err = run.Listen()
	}
	ending, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for !begin() {
			select {
			case <-ending:
				return
			case <-time.After(askPace):
			}
		}
	}()
	r.OnEnd(func() {
		close(ending)
		<-ended
		if keeper != nil {
			err = errors.Join(err, keeper.Close())
		}
		if err != nil {
			r.Log.Info("not all that programs printed is kept", "error", err)
		}
	})
}
