// Package complete offers words to the shell: SLS names, functions, targets, jobs and
// the values of flags.
package complete

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/internal/progress"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/outputter"
)

// SLS offers the names of SLS files to the shell, for the last of a comma
// list.
func SLS(a *app.App) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeFrom(a, c, func(env *fun.Env) []string {
			names, err := fun.ListSLS(c.Context(), env.Up, env.SaltEnv)
			if err != nil {
				return nil
			}
			return afterComma(names, prefix)
		})
	}
}

// completeFrom offers what an Env of the tree gives.
func completeFrom(a *app.App, c *cobra.Command, offer func(*fun.Env) []string) ([]string, cobra.ShellCompDirective) {
	f := &app.RunFlags{LogLevel: "quiet"}
	f.ConfigDir, _ = c.Flags().GetString("config-dir")
	f.FileRoots = app.Repeated(c.Flags(), "file-root")
	f.PillarRoots = app.Repeated(c.Flags(), "pillar-root")
	kind, section := config.Master, "salt-run"
	if c.Name() == "call" || c.Name() == "salt-call" {
		kind, section = config.Minion, "salt-call"
	}
	s, err := session.New(a, kind, section, f, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer s.End()
	return offer(s.Env(c.Context(), "")), cobra.ShellCompDirectiveNoFileComp
}

// afterComma returns the names for the last item of a comma list, each with the
// items before it; what the list has is not offered again.
func afterComma(names []string, list string) []string {
	cut := strings.LastIndexByte(list, ',') + 1
	before := strings.Split(list[:cut], ",")
	var out []string
	for _, n := range app.Begins(names, list[cut:]) {
		if !slices.Contains(before, n) {
			out = append(out, list[:cut]+n)
		}
	}
	return out
}

// Call offers the functions that a command can call first, then what they
// take: SLS names, pillar keys or jids.
func Call(a *app.App) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			kind := fun.Exec
			if c.Name() == "run" || c.Name() == "salt-run" {
				kind = fun.Runner
			}
			return app.Begins(assembly.Table().Names(kind), prefix), cobra.ShellCompDirectiveNoFileComp
		}
		switch args[0] {
		case "state.apply", "state.sls", "state.show_sls", "state.show_low_sls", "state.orchestrate", "state.orch":
			return SLS(a)(c, args[1:], prefix)
		case "pillar.get", "pillar.item", "pillar.fetch", "pillar.keys", "pillar.ls":
			if len(args) == 1 {
				return completeFrom(a, c, func(env *fun.Env) []string { return app.Begins(pillarPaths(env.Pillar, prefix), prefix) })
			}
		case "jobs.lookup_jid", "jobs.print_job", "jobs.list_job", "jobs.exit_success", "state.soft_kill", "state.pause", "state.resume":
			if len(args) == 1 {
				return completeJIDs(a, c, prefix)
			}
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// pillarPaths returns the keys of the level of the pillar that a path is at, as
// paths.
func pillarPaths(m value.Mapping, path string) []string {
	above := ""
	if cut := strings.LastIndexByte(path, ':'); cut >= 0 {
		above = path[:cut+1]
		v, _ := value.Traverse(m, path[:cut], ":")
		m, _ = v.(value.Mapping)
	}
	if m == nil {
		return nil
	}
	var out []string
	for _, k := range m.Keys() {
		out = append(out, above+value.Str(k))
	}
	return out
}

// completeJIDs offers the jobs of the cache, the latest first.
func completeJIDs(a *app.App, c *cobra.Command, prefix string) ([]string, cobra.ShellCompDirective) {
	return completeFrom(a, c, func(env *fun.Env) []string {
		res, err := env.Invoker.Invoke(c.Context(), fun.Runner, "jobs.list_jobs", fun.Args{})
		m, ok := res.Value.(*value.Map)
		if err != nil || !ok {
			return nil
		}
		var jids []string
		for k := range m.All() {
			jids = append(jids, value.Str(k))
		}
		slices.Sort(jids)
		slices.Reverse(jids)
		return app.Begins(jids, prefix)
	})
}

// Resume offers the jobs of the cache to --resume.
func Resume(a *app.App, c *cobra.Command) {
	_ = c.RegisterFlagCompletionFunc("resume", func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return completeJIDs(a, c, prefix)
	})
}

// Flags offers the values that the flags of a command know.
func Flags(c *cobra.Command) {
	offer := func(name string, values func() []string) {
		if c.Flags().Lookup(name) == nil {
			return
		}
		_ = c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			var out []string
			for _, v := range values() {
				if strings.HasPrefix(v, prefix) {
					out = append(out, v)
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		})
	}
	offer("out", func() []string { return append(output.OutNames(), "stream") })
	offer("state-output", func() []string {
		names := outputter.StateOutputs()
		for _, n := range outputter.StateOutputs() {
			names = append(names, n+"_id")
		}
		return names
	})
	offer("progress", progress.Names)
	offer("state-verbose", func() []string { return []string{"True", "False"} })
	offer("log-level", app.LogLevels)
	offer("log-file-level", app.LogLevels)
	offer("kind", func() []string { return []string{"state", "execution", "runner", "wheel"} })
}

// groupsOf returns the nodegroups that begin with a prefix.
func groupsOf(f *fleet.Fleet, prefix string) []string {
	var names []string
	for k := range f.Nodegroups.All() {
		names = append(names, value.Str(k))
	}
	slices.Sort(names)
	return app.Begins(names, prefix)
}

// rosterGrains returns the grains that the roster gives targets and that begin with a
// prefix, each as a target.
func rosterGrains(r *roster.Roster, prefix string) []string {
	var out []string
	var add func(path string, v value.Value, depth int)
	add = func(path string, v value.Value, depth int) {
		switch v := v.(type) {
		case *value.Map:
			for k, x := range v.All() {
				if depth < maxGrainDepth {
					add(path+value.Str(k)+":", x, depth+1)
				}
			}
		case *value.List:
			for _, x := range v.Items {
				if depth < maxGrainDepth {
					add(path, x, depth+1)
				}
			}
		default:
			out = append(out, path+value.Str(v))
		}
	}
	for _, e := range r.Entries() {
		if e.Grains != nil {
			add("", e.Grains, 0)
		}
	}
	slices.Sort(out)
	return app.Begins(slices.Compact(out), prefix)
}

// maxGrainDepth bounds how deep grains are looked at for completion.
const maxGrainDepth = 8

// Targets offers roster ids, nodegroups with -N or grains of the roster with -G,
// then functions and SLS names.
func Targets(a *app.App) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return Call(a)(c, args[1:], prefix)
		}
		rf := &app.RunFlags{}
		rf.ConfigDir, _ = c.Flags().GetString("config-dir")
		ff := &app.FleetFlags{Fleets: fleet.RosterFleet} // no master is asked for each key press
		ff.Roster, _ = c.Flags().GetString("roster")
		ff.RosterFile, _ = c.Flags().GetString("roster-file")
		s, err := session.New(a, config.Master, "salt-ssh", rf, ff.Override())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		defer s.End()
		// Not s.controller: neither a store nor a bus is opened for a key press.
		o := s.EnvOptions(s.NewJID())
		env := assembly.NewEnv(c.Context(), o)
		set := func(flag string) bool { on, err := c.Flags().GetBool(flag); return err == nil && on }
		if set("grain") {
			r, err := assembly.Roster(c.Context(), env, s.Cfg, s.SSH)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return rosterGrains(r, prefix), cobra.ShellCompDirectiveNoFileComp
		}
		f, err := assembly.NewFleet(c.Context(), env, o, s.NewJID)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		defer func() { _ = f.Close() }()
		if set("nodegroup") {
			return groupsOf(f, prefix), cobra.ShellCompDirectiveNoFileComp
		}
		if set("grain-pcre") || set("pillar") || set("pillar-pcre") || set("compound") || set("ipcidr") || set("range") {
			return nil, cobra.ShellCompDirectiveNoFileComp // no ids
		}
		ids, err := f.Match(c.Context(), "*", "glob")
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		if set("list") {
			return afterComma(ids, prefix), cobra.ShellCompDirectiveNoFileComp
		}
		return app.Begins(ids, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}
