package cmd

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"brine/internal/dispatch"
	"brine/internal/fun"
	"brine/internal/value"
)

// saltFlags are those of salt alone.
type saltFlags struct {
	metadata  string
	preview   bool
	safeLimit int
	safeSize  int
	separator string
	showJID   bool
	hideTime  bool
}

func (o *saltFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.metadata, "metadata", "", "data to keep with the job, read as YAML")
	f.StringVar(&o.separator, "args-separator", ",", "what stands alone between the arguments of several functions")
	f.BoolVar(&o.showJID, "show-jid", false, "print the jid of the job first")
	f.BoolVar(&o.hideTime, "hide-timeout", false, "print nothing of targets that did not return")
	f.BoolVar(&o.preview, "preview-target", false, "print the targets that match and run nothing")
	f.IntVar(&o.safeLimit, "batch-safe-limit", 0, "work in batches where this many targets match, or more")
	f.IntVar(&o.safeSize, "batch-safe-size", 8, "targets at once, with --batch-safe-limit")
}

// jobMetadata returns what the job keeps, nil where nothing was given.
func (o *saltFlags) jobMetadata() value.Value {
	if o.metadata == "" {
		return nil
	}
	return typed(o.metadata)
}

// typed reads text as a positional argument is read.
func typed(text string) value.Value {
	return dispatch.Typed(fun.Args{Pos: []value.Value{text}}).Pos[0]
}

// effectless are the flags of the program that have no effect.
func (o *sshOpts) effectless() saltProgs {
	if o.prog == saltCLI {
		return forSalt
	}
	return 0
}

// safeBatch has a job run in batches where --batch-safe-limit says so.
// Salt: salt/cli/salt.py SaltCMD.run.
func (o *saltFlags) safeBatch(ctx context.Context, env *fun.Env, job *fun.Job) error {
	if o.safeLimit <= 1 || job.Batch != "" || job.Async {
		return nil
	}
	ids, err := env.Fleet.Match(ctx, job.Tgt, job.TgtType)
	if err != nil {
		return err
	}
	if len(ids) >= o.safeLimit {
		job.Batch = strconv.Itoa(max(1, o.safeSize))
	}
	return nil
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
