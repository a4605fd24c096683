package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"brine/internal/fleet/kept"
	"brine/internal/view/chain"
)

// A route is a row of the table of what the pages answer. All routes are made of these
// rows, and the documentation has them: who may ask, what is recorded, and what a
// request may read, reach and run.
type route struct {
	// pattern is that of http.ServeMux.
	pattern string
	least   Role // Nobody: before the log-in
	// action is the name in the audit record; "": nothing is changed.
	action string
	may    map[Role]powers

	public func(*Server, http.ResponseWriter, *http.Request) // where least is Nobody
	do     func(*Server, http.ResponseWriter, *http.Request, *visit)
	// name returns what a form is sent for, where that is not always the action.
	name func(url.Values) string
	// check says whether the role may do this very thing, before it is recorded; nil:
	// the role decides.
	check func(*Server, *http.Request, *visit) error
	api   *apiOp // of routes of the API
}

// from has a role and those above it have powers.
func from(least Role, p powers) map[Role]powers {
	out := map[Role]powers{}
	for r := least; r <= Editor; r++ {
		out[r] = p
	}
	return out
}

// each has the roles have powers of their own.
func each(viewer, operator, editor powers) map[Role]powers {
	out := map[Role]powers{Operator: operator, Editor: editor}
	if viewer != 0 {
		out[Viewer] = viewer
	}
	return out
}

// Powers of looking up a target expression.
const (
	knownPowers = readHosts
	exactPowers = knownPowers | readPillar | reachHosts | runTemplates
	fullPowers  = exactPowers | searchPillar
)

// routes are the rows, in the order of the documentation.
func routes() []route {
	const edit = readText | changeChains
	return []route{
		{pattern: "GET /assets/{file}", public: (*Server).asset},
		{pattern: "GET /login", action: "login", public: (*Server).loginPage},
		{pattern: "POST /login", action: "login", public: (*Server).login},
		{pattern: "GET /login/oidc", action: "login", public: (*Server).toSSO},
		{pattern: "GET " + SSOCallback, action: "login", public: (*Server).fromSSO},
		{pattern: "POST /logout", least: Viewer, action: "logout", do: (*Server).logout},

		{pattern: "GET /{$}", least: Viewer, may: from(Viewer, readNames|readRuns), do: (*Server).startPage},
		{pattern: "GET /search", least: Viewer, may: from(Viewer, readNames|readRuns|readRecords|knownPowers), do: (*Server).search},
		{pattern: "GET /orchestrations/{sls}", least: Viewer, may: each(readSteps|runTemplates, readSteps|runTemplates, readNames|readSteps|runTemplates), do: (*Server).orchestration},
		{pattern: "GET /orchestrations/{sls}/graph.svg", least: Viewer, may: from(Viewer, readSteps|runTemplates), do: (*Server).orchestrationGraph},
		{pattern: "GET /orchestrations/{sls}/step", least: Editor, do: stepFor(chain.Orchestrate)},
		{pattern: "GET /orchestrations/{sls}/check", least: Operator, may: from(Operator, checkPowers), do: checkOf(kept.Orchestrations, "sls")},
		{pattern: "POST /orchestrations/{sls}/plan", least: Operator, action: "plan", may: from(Operator, readSteps|runTemplates|runDefined), do: (*Server).planOrchestration},
		{pattern: "POST /orchestrations/{sls}/run", least: Operator, action: "run", may: from(Operator, readSteps|runTemplates|runDefined), do: (*Server).runOrchestration},

		{pattern: "GET /chains/{name}", least: Viewer, may: each(readNames|readSteps|runTemplates, readNames|readSteps|runTemplates, readNames|readText), do: (*Server).chain},
		{pattern: "GET /chains/{name}/check", least: Operator, may: from(Operator, checkPowers), do: (*Server).checkChain},
		{pattern: "POST /chains/{name}/plan", least: Operator, action: "plan", may: from(Operator, readSteps|runDefined), do: (*Server).planChain},
		{pattern: "POST /chains/{name}/run", least: Operator, action: "run", may: from(Operator, readSteps|runDefined), do: (*Server).runChain},
		{pattern: "POST /chains/{name}/schedule", least: Operator, action: "chain.schedule", may: from(Operator, readSteps|planRuns), do: (*Server).scheduleChain},
		{pattern: "POST /chains/{name}/unschedule", least: Operator, action: "chain.unschedule", may: from(Operator, readNames|planRuns), do: (*Server).unscheduleChain},
		{pattern: "POST /chains", least: Editor, action: "chain.new", may: from(Editor, changeChains), do: (*Server).chainNew},
		{pattern: "POST /chains/{name}/clone", least: Editor, action: "chain.clone", may: from(Editor, edit), do: (*Server).chainClone},
		{pattern: "POST /chains/{name}/delete", least: Editor, action: "chain.delete", may: from(Editor, edit|readNames), do: (*Server).chainDelete},
		{pattern: "POST /chains/{name}/move", least: Editor, action: "chain.move", may: from(Editor, edit), do: (*Server).chainMove},
		{pattern: "POST /chains/{name}/remove", least: Editor, action: "chain.rm", may: from(Editor, edit), do: (*Server).chainRemove},
		{pattern: "POST /chains/{name}/targets", least: Editor, action: "chain.targets", may: from(Editor, edit), do: (*Server).chainTargets},
		{pattern: "POST /chains/{name}/approve", least: Editor, action: "chain.approve", may: from(Editor, edit), do: (*Server).chainApprove},
		{pattern: "POST /chains/{name}/about", least: Editor, action: "chain.about", may: from(Editor, edit|readNames), do: (*Server).chainAbout},
		{pattern: "GET /chains/{name}/text", least: Editor, may: from(Editor, readText), do: (*Server).chainText},
		{pattern: "POST /chains/{name}/text", least: Editor, action: "chain.edit", may: from(Editor, edit), do: (*Server).chainSaveText},
		{pattern: "GET /chains/{name}/step", least: Editor, may: from(Editor, readText), do: (*Server).chainStep},
		{pattern: "POST /chains/{name}/step", least: Editor, action: "chain.step", name: stepAction, may: from(Editor, edit), do: (*Server).chainSaveStep},

		{pattern: "GET /templates/{name}", least: Viewer, may: each(readNames, readNames|readAnswers, readNames|readAnswers), do: (*Server).wizard},
		{pattern: "GET /templates/{name}/check", least: Operator, may: from(Operator, checkPowers), do: checkOf(kept.Templates, "name")},
		{pattern: "POST /templates/{name}", least: Operator, action: "run", name: templateAction, may: each(0, readNames|readRecords|readRuns|exactPowers|runDefined, readNames|readRecords|readRuns|fullPowers|runDefined), check: mayResumeTemplate, do: (*Server).runTemplate},

		{pattern: "GET /runs", least: Viewer, may: from(Viewer, readRuns), do: (*Server).runList},
		{pattern: "GET /runs/{id}", least: Viewer, may: from(Viewer, readRuns|readRecords), do: (*Server).run},
		{pattern: "GET /runs/{id}/events", least: Viewer, may: from(Viewer, readRuns|readRecords), do: (*Server).runEvents},
		{pattern: "GET /runs/{id}/hosts", least: Viewer, may: from(Viewer, readRuns), do: (*Server).runHosts},
		{pattern: "GET /runs/{id}/output", least: Viewer, may: from(Viewer, readRuns), do: (*Server).output},
		{pattern: "GET /runs/{id}/output/events", least: Viewer, may: from(Viewer, readRuns), do: (*Server).outputEvents},
		{pattern: "GET /runs/{id}/output/log", least: Viewer, may: from(Viewer, readRuns), do: (*Server).outputLog},
		{pattern: "GET /runs/{id}/plan", least: Viewer, may: from(Viewer, readRuns), do: (*Server).plan},
		{pattern: "POST /runs/{id}/apply", least: Operator, action: "run", may: from(Operator, readRuns|runDefined), do: (*Server).applyPlan},
		{pattern: "POST /runs/{id}/stop", least: Operator, action: "stop", may: from(Operator, readRuns|endRuns), do: (*Server).stopRun},
		{pattern: "POST /runs/{id}/kill", least: Operator, action: "kill", may: from(Operator, readRuns|endRuns), do: (*Server).killRun},
		{pattern: "POST /runs/{id}/resume", least: Operator, action: "resume", may: each(0, readRuns|readRecords|readNames|runDefined, readRuns|runDefined), check: mayResumeRun, do: (*Server).resumeRun},

		{pattern: "GET /approvals", least: Viewer, may: from(Viewer, readRuns), do: (*Server).approvals},
		{pattern: "POST /approvals/{id}/approve", least: Operator, action: "approval.approve", may: from(Operator, readRuns|answerRuns), check: mayAnswer, do: answerRun(true)},
		{pattern: "POST /approvals/{id}/refuse", least: Operator, action: "approval.refuse", may: from(Operator, readRuns|answerRuns), check: mayAnswer, do: answerRun(false)},

		{pattern: "GET /history", least: Viewer, may: from(Viewer, readRecords), do: (*Server).history},
		{pattern: "GET /history/compare", least: Viewer, may: from(Viewer, readRecords), do: (*Server).compare},
		{pattern: "GET /history/{jid}", least: Viewer, may: from(Viewer, readRecords), do: (*Server).execution},
		{pattern: "GET /history/{jid}/events", least: Viewer, may: from(Viewer, readRecords), do: (*Server).executionEvents},
		{pattern: "GET /jobs", least: Viewer, may: from(Viewer, readRecords), do: (*Server).jobs},
		{pattern: "GET /jobs/{jid}", least: Viewer, may: from(Viewer, readRecords), do: (*Server).job},
		{pattern: "POST /jobs/{jid}/resume", least: Operator, action: "resume", may: each(0, readRecords|readNames|runDefined, readRecords|readNames|runDefined|runAny), check: mayRepeatJob, do: (*Server).resumeJob},
		{pattern: "POST /jobs/{jid}/retry", least: Operator, action: "retry", may: each(0, readRecords|readNames|readSteps|runDefined, readRecords|runDefined|runAny), check: mayRepeatJob, do: (*Server).retryJob},
		{pattern: "GET /audit", least: Viewer, may: from(Viewer, readRecords), do: (*Server).audit},

		{pattern: "GET /hosts", least: Viewer, may: each(readRecords|knownPowers, readRecords|exactPowers, readRecords|readNames|fullPowers), do: (*Server).hostList},
		{pattern: "GET /hosts/{id}", least: Viewer, may: from(Viewer, readRecords|knownPowers), do: (*Server).host},
		{pattern: "POST /hosts/ping", least: Operator, action: "ping", may: each(0, readRecords|exactPowers|runDefined, readRecords|fullPowers|runDefined), do: (*Server).pingHosts},
		{pattern: "POST /hosts/facts", least: Operator, action: "hosts.facts", may: each(0, readRecords|exactPowers|runDefined, readRecords|fullPowers|runDefined), do: (*Server).factsOfHosts},
		{pattern: "POST /hosts/run", least: Editor, action: "hosts.run", may: from(Editor, readRecords|fullPowers|runAny), do: (*Server).runOnHosts},
		{pattern: "POST /hosts/chain", least: Editor, action: "hosts.chain", may: from(Editor, readRecords|fullPowers|changeChains), do: (*Server).chainOnHosts},
		{pattern: "GET /targets", least: Viewer, may: each(knownPowers, exactPowers, fullPowers), do: (*Server).targets},

		{pattern: "GET /drift", least: Viewer, may: from(Viewer, readRecords), do: (*Server).drift},

		{pattern: "GET /recurring", least: Viewer, may: from(Viewer, readNames|readRecords), do: (*Server).recurring},
		{pattern: "POST /recurring", least: Operator, action: "recurring.add", may: from(Operator, planRuns), do: (*Server).addRecurring},
		{pattern: "POST /recurring/{name}/pause", least: Operator, action: "recurring.pause", may: from(Operator, planRuns), do: changeRecurring(PauseRecurrence)},
		{pattern: "POST /recurring/{name}/resume", least: Operator, action: "recurring.resume", may: from(Operator, planRuns), do: changeRecurring(ResumeRecurrence)},
		{pattern: "POST /recurring/{name}/remove", least: Operator, action: "recurring.remove", may: from(Operator, planRuns), do: changeRecurring(RemoveRecurrence)},

		{pattern: "GET /states", least: Viewer, may: from(Viewer, readNames), do: (*Server).stateList},
		{pattern: "GET /states/{sls}", least: Viewer, may: from(Viewer, readNames|readSteps|runTemplates), do: (*Server).state},
		{pattern: "GET /states/{sls}/step", least: Editor, do: stepFor(chain.State)},
		{pattern: "/", least: Viewer, do: (*Server).notFound},
	}
}

// handler answers the requests of a route.
func (s *Server) handler(x route) http.HandlerFunc {
	switch {
	case x.api != nil:
		return s.api(x)
	case x.least == Nobody:
		return func(w http.ResponseWriter, r *http.Request) { x.public(s, w, r) }
	case x.action == "":
		return s.look(x)
	}
	return s.act(x)
}

// grant returns a request of a visitor with what the route grants to the role.
func (x route) grant(r *http.Request, v *visit) *http.Request {
	ctx := context.WithValue(r.Context(), visitKey{}, v)
	if v.role >= x.least {
		may := x.may[v.role]
		if v.line != nil && x.may[Operator]&searchPillar == 0 { // a right to names is none to what is secret
			may &^= searchPillar
		}
		ctx = context.WithValue(ctx, powersKey{}, may)
	}
	return r.WithContext(ctx)
}

// refuses says why a role may not use the route; nil: it may.
func (x route) refuses(s *Server, r *http.Request, v *visit) error {
	if v.role < x.least {
		return &roleError{x.least, "you have the role " + v.role.String()}
	}
	if limits := v.limits(); limits.Limited() {
		rule := x.rule()
		if rule == nil {
			rule = unlimitedOnly
		}
		if err := rule(s, r, limits); err != nil {
			return err
		}
	}
	if x.check != nil {
		return x.check(s, r, v)
	}
	return nil
}

// Table is the table of the routes of the pages for the documentation, as Markdown. A
// route that grants more to a role has a line for that role.
func Table() string { return tableOf(routes()) }

func tableOf(rows []route) string {
	var b strings.Builder
	b.WriteString("| route | role | audit | reads | reaches | runs and changes |\n|---|---|---|---|---|---|\n")
	for _, x := range rows {
		if x.least == Nobody {
			fmt.Fprintf(&b, "| `%s` | anybody | %s | | | |\n", x.pattern, x.action)
			continue
		}
		pattern, action := "`"+x.pattern+"`", x.action
		for role := x.least; role <= Editor; role++ {
			if role > x.least && x.may[role] == x.may[role-1] {
				continue
			}
			c := x.may[role].describe()
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", pattern, role, action, c[0], c[1], c[2])
			pattern, action = "", ""
		}
	}
	text := b.String()
	for strings.Contains(text, "|  |") {
		text = strings.ReplaceAll(text, "|  |", "| |")
	}
	return text
}
