package target

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// NoMatch is the error of a job that no target matches.
func (o *Options) NoMatch(job fun.Job) error {
	switch {
	case o.RetryFailed != "" && o.Limit != "":
		return fmt.Errorf("no target that failed in job %s is in --limit and matches %q", o.RetryFailed, value.Str(job.Tgt))
	case o.RetryFailed != "":
		return fmt.Errorf("no target that failed in job %s matches %q (%s)", o.RetryFailed, value.Str(job.Tgt), job.TgtType)
	case o.Limit != "":
		return fmt.Errorf("no target of the roster matches %q within --limit", value.Str(job.Tgt))
	}
	return &app.StatusError{
		Status: app.ExitGeneric, Err: fmt.Errorf("no target of the roster matches %q (%s)", value.Str(job.Tgt), job.TgtType),
		Hint: "'brine ssh --hosts' lists the targets; --roster-file names the roster",
	}
}

// Matching are flags that say how the target expression is meant.
type Matching struct {
	list, pcre, grain, grainPCRE, pillar, pillarPCRE, nodegroup, compound, ipcidr, rng bool
}

// Register adds the flags.
func (t *Matching) Register(fs *pflag.FlagSet) {
	fs.BoolVarP(&t.list, "list", "L", false, "the target is a list of ids separated by commas")
	fs.BoolVarP(&t.pcre, "pcre", "E", false, "the target is a regular expression")
	fs.BoolVarP(&t.grain, "grain", "G", false, "the target is <grain>:<glob>")
	fs.BoolVarP(&t.grainPCRE, "grain-pcre", "P", false, "the target is <grain>:<regular expression>")
	fs.BoolVarP(&t.pillar, "pillar", "I", false, "the target is <pillar key>:<glob>")
	fs.BoolVarP(&t.pillarPCRE, "pillar-pcre", "J", false, "the target is <pillar key>:<regular expression>")
	fs.BoolVarP(&t.nodegroup, "nodegroup", "N", false, "the target is the name of a nodegroup")
	fs.BoolVarP(&t.compound, "compound", "C", false, "the target is a compound expression")
	fs.BoolVarP(&t.ipcidr, "ipcidr", "S", false, "the target is an address or a network")
	fs.BoolVarP(&t.rng, "range", "R", false, "the target is a range expression")
}

// tgtType returns Salt's name of the target type, and an error where two are
// asked for.
func (t *Matching) tgtType() (string, error) {
	name, given := "glob", ""
	for _, x := range []struct {
		on         bool
		flag, name string
	}{
		{t.list, "-L", "list"},
		{t.pcre, "-E", "pcre"},
		{t.grain, "-G", "grain"},
		{t.grainPCRE, "-P", "grain_pcre"},
		{t.pillar, "-I", "pillar"},
		{t.pillarPCRE, "-J", "pillar_pcre"},
		{t.nodegroup, "-N", "nodegroup"},
		{t.compound, "-C", "compound"},
		{t.ipcidr, "-S", "ipcidr"},
		{t.rng, "-R", "range"},
	} {
		if !x.on {
			continue
		}
		if given != "" {
			return "", fmt.Errorf("%s and %s both say what the target is; give one of them", given, x.flag)
		}
		name, given = x.name, x.flag
	}
	return name, nil
}

// delimited returns a target of grains or pillar with a delimiter of its own:
// compound targets have a place for it.
func delimited(tgt, typ, delimiter string) (string, string, error) {
	letters := map[string]string{"grain": "G", "grain_pcre": "P", "pillar": "I", "pillar_pcre": "J"}
	letter, ok := letters[typ]
	switch {
	case !ok:
		return tgt, typ, nil // others have no parts
	case len([]rune(delimiter)) != 1:
		return "", "", errors.New("it is one character")
	case strings.ContainsAny(tgt, " \t\n"):
		return "", "", errors.New("the target must not have blanks then")
	}
	return letter + delimiter + "@" + tgt, "compound", nil
}
