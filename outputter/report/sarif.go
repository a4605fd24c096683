package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/view/sarif"
)

// unplaced is the rule of faults whose places are not known.
var unplaced = sarif.Rule{
	ID: "compile-error", Level: sarif.Error, Doc: "States do not compile.",
	Why: "None of them runs. The message says what is wrong, as Salt words it.",
}

// SARIF writes the faults of SLS files and templates as SARIF 2.1.0: those that
// the run reported with their positions, and what did not compile for other
// reasons. States that failed are not results, since they are not faults of a
// file.
func SARIF(w io.Writer, r *Run) error {
	log := &sarif.Log{Tool: "brine", Version: r.Version, Run: &sarif.Invocation{OK: !r.Failed(), Arguments: strings.Fields(r.Fun), Start: r.Start, End: r.End}}
	log.Run.Arguments = append(log.Run.Arguments, r.Args...)
	at := map[string]int{}
	rules := map[string]sarif.Rule{}
	add := func(f Fault) {
		// Only the first line says what is wrong; Salt's text goes on with the file.
		message := f.Error.Err.Error()
		if f.Error.Hint != "" {
			message += " (" + f.Error.Hint + ")"
		}
		key := f.Rule.ID + "\x00" + f.Error.Pos.String() + "\x00" + message
		i, ok := at[key]
		if !ok {
			i = len(log.Results)
			at[key] = i
			rules[f.Rule.ID] = f.Rule
			log.Results = append(log.Results, sarif.Result{Rule: f.Rule.ID, Level: f.Rule.Level, Message: message, Pos: f.Error.Pos, Via: f.Error.Via})
		}
		res := &log.Results[i]
		if f.Host != "" && !slices.Contains(res.Hosts, f.Host) {
			res.Hosts = append(res.Hosts, f.Host)
		}
	}
	shown := map[string]bool{}
	for _, f := range r.Faults {
		add(f)
		shown[f.Error.SaltText()] = true
	}
	for _, s := range r.Suites {
		for _, c := range s.Cases {
			if c.Fun == compileFun && !shown[c.Comment] {
				add(Fault{Host: s.Host, Rule: unplaced, Error: &source.Error{Err: textError(c.Comment)}})
			}
		}
	}
	// Hosts find faults in any order.
	for i := range log.Results {
		slices.Sort(log.Results[i].Hosts)
	}
	slices.SortStableFunc(log.Results, func(a, b sarif.Result) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(a.Message, b.Message))
	})
	for _, rule := range rules {
		log.Rules = append(log.Rules, rule)
	}
	slices.SortFunc(log.Rules, func(a, b sarif.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return log.Write(w)
}

// A textError is an error of which only the text is left.
type textError string

func (e textError) Error() string { return string(e) }
