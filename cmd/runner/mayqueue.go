package runner

import (
	"fmt"
	"strings"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
)

// MayQueue returns an error for arguments that state.orchestrate does not take, and
// for a pillar with secrets: the database would have them in clear text.
func MayQueue(s *session.Session, env *fun.Env, in fun.Args) error {
	mod, spec, err := env.Find(fun.Runner, session.OrchestrateName)
	if err != nil {
		return err
	}
	if _, err := dispatch.New(env).Bind(mod, spec, in); err != nil {
		return app.UsageOf(session.OrchestrateName, err)
	}
	p := in.Kw.At("pillar")
	if _, ok := p.(*value.Map); p != nil && !ok {
		return fmt.Errorf("pillar data must be a mapping, not %s: pillar='{\"key\": \"value\"}'", value.Kind(p))
	}
	known := s.Secrets
	if known == nil {
		known = redact.NewSet()
	}
	if paths := known.Paths(p); len(paths) > 0 {
		return &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("the pillar has secrets, which a queue does not keep: %s", strings.Join(paths, ", ")),
			Hint: "put them into the pillar of the workers, or give them encrypted with GPG and pillar_enc=gpg; '!NAME' in mask_pillar_keys says that a key is not a secret",
		}
	}
	return nil
}
