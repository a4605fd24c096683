package report

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/testkit"
	"brine/internal/view/sarif"
)

// TestSARIF writes faults of two hosts, one of them without a place, and holds
// the log to the published schema.
func TestSARIF(t *testing.T) {
	t.Parallel()
	rule := sarif.Rule{ID: "undefined-variable", Level: sarif.Error, Doc: "A template uses a variable that does not exist.", Why: "It is empty."}
	fault := func(host string) Fault {
		return Fault{Host: host, Rule: rule, Error: &source.Error{
			Pos: source.Pos{File: "salt/a b.sls", Line: 2, Col: 4}, Via: []source.Pos{{File: "/srv/salt/top.sls", Line: 1}}, Hint: "name it", Salt: "Rendering SLS 'a b' failed", Err: errors.New(evil),
		}}
	}
	in := info()
	in.Fun, in.Faults = "state.apply", []Fault{fault("web2"), fault("web1")}
	data := value.MapOf("web1", value.Strings("Rendering SLS 'a b' failed"), "web2", value.Strings("Rendering SLS 'a b' failed"),
		"web3", value.Strings("No matching sls found for 'x' in env 'base'"), "web4", host(true))
	text := write(t, "sarif", Build(data, in))
	testkit.CheckSchema(t, "../../testdata/schemas/sarif-2.1.0.json", []byte(text))
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
				RelatedLocations []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
				Properties struct{ Hosts []string }
			}
			Invocations []struct{ ExecutionSuccessful bool }
		}
	}
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if len(run.Results) != 2 || run.Invocations[0].ExecutionSuccessful {
		t.Fatalf("log: %s", text)
	}
	second, first := run.Results[0], run.Results[1] // those without a place come first
	at := first.Locations[0].PhysicalLocation
	if at.ArtifactLocation.URI != "salt/a%20b.sls" || at.Region.StartLine != 2 || at.Region.StartColumn != 4 {
		t.Errorf("location %+v", at)
	}
	if got := first.RelatedLocations[0].PhysicalLocation.ArtifactLocation.URI; got != "file:///srv/salt/top.sls" {
		t.Errorf("included from %q", got)
	}
	if diff := cmp.Diff([]string{"web1", "web2"}, first.Properties.Hosts); diff != "" {
		t.Error(diff)
	}
	if second.RuleID != "compile-error" || len(second.Locations) != 0 || second.Properties.Hosts[0] != "web3" {
		t.Errorf("without a place: %+v", second)
	}
}
