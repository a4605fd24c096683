package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brine/internal/core/config"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// saltfileFlags are the keys of a Saltfile that stand for flags that are not part
// of the configuration, by Salt's names.
var saltfileFlags = [...]struct{ key, flag string }{
	{"askpass", "askpass"},
	{"batch", "batch"},
	{"batch_wait", "batch-wait"},
	{"failhard", "failhard"},
	{"file_root", "file-root"},
	{"no_parse", "no-parse"},
	{"output_file", "out-file"},
	{"output_file_append", "out-file-append"},
	{"pillar_root", "pillar-root"},
	{"print_metadata", "metadata"},
	{"raw_shell", "raw"},
	{"retcode_passthrough", "retcode-passthrough"},
	{"return", "return"},
	{"return_config", "return-config"},
	{"return_kwargs", "return-kwargs"},
	{"ssh_askpass", "askpass"},
	{"ssh_key_deploy", "key-deploy"},
	{"ssh_priv", "priv"},
	{"static", "static"},
	{"subset", "subset"},
	{"summary", "summary"},
	{"verbose", "verbose"},
}

// Saltfile sets the flags that the Saltfile gives and the command line does
// not. Salt: salt/utils/parsers.py SaltfileMixIn.
func (a *App) Saltfile(c *cobra.Command, section string, f *RunFlags) error {
	sec, found, err := config.Saltfile(config.Options{Host: a.Host, Section: section, Dir: f.ConfigDir, Saltfile: f.Saltfile, Upwards: a.Upwards()})
	if err != nil {
		return err
	}
	if verbose := c.Flags().Lookup("verbose"); found != "" && verbose != nil && verbose.Value.String() == "true" {
		fmt.Fprintf(a.Err, "brine: configuration of %s\n", printable.Line(found))
	}
	for _, x := range saltfileFlags {
		v, ok := sec.Get(x.key)
		fl := c.Flags().Lookup(x.flag)
		if !ok || v == nil || fl == nil || fl.Changed {
			continue
		}
		items := []value.Value{v}
		if l, ok := v.(*value.List); ok {
			items = l.Items
		}
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = value.Str(item)
			if _, ok := item.(bool); ok {
				texts[i] = strings.ToLower(texts[i])
			}
		}
		if fl.Value.Type() != "stringArray" {
			texts = []string{strings.Join(texts, ",")}
		}
		for _, text := range texts {
			if err := c.Flags().Set(x.flag, text); err != nil {
				return &source.Error{Pos: sec.Pos(x.key), Err: fmt.Errorf("%s: %q cannot be --%s", x.key, text, x.flag)}
			}
		}
	}
	return nil
}

// Upwards reports whether a Saltfile above the working directory counts: Salt's programs
// do not look there.
func (a *App) Upwards() bool { return !slices.Contains(SaltPrograms[:], a.Program) }
