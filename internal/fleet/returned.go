package fleet

import (
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// returned fires the event of a return.
func (f *Fleet) returned(job fun.Job, ret fun.Return) { f.fireReturn(job, args(f.Table, job), ret) }

// fireReturn fires the event of a return. Salt: salt/minion.py _return_pub,
// salt/utils/job.py store_job.
func (f *Fleet) fireReturn(job fun.Job, arg *value.List, ret fun.Return) {
	if f.Bus == nil || ret.Stage != fun.Returned || job.Unrecorded {
		return
	}
	v, err := ret.Value()
	if err != nil {
		return
	}
	code, success := ret.Outcome()
	data := value.MapOf(
		"cmd", "_return", "id", ret.ID, "jid", ret.JID, "fun", jobs.FunOf(name(job)), "fun_args", fun.Plain(name(job), arg),
		"return", v, "retcode", code, "success", success,
	)
	if ret.Out != "" {
		data.Set("out", ret.Out)
	}
	if job.User != "" {
		data.Set("user", job.User)
	}
	if job.Metadata != nil {
		data.Set("metadata", job.Metadata)
	}
	if f.OldEvents {
		f.Bus.Fire(job.JID, data)
	}
	f.Bus.Fire("salt/job/"+job.JID+"/ret/"+ret.ID, data)
}
