package lsp

import (
	"fmt"
	"strings"

	"brine/internal/core/fun"
)

// code returns a text as code in Markdown.
func code(s string) string {
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

// argKind returns the type of an argument as text, with its unit and words.
func argKind(a *fun.Arg) string {
	kind := a.Type.String()
	if a.Unit != "" {
		kind += ", " + a.Unit
	}
	return kind
}

// argDefault returns "required", or the default.
func argDefault(a *fun.Arg) string {
	if a.Required {
		return "required"
	}
	return "default " + a.DefaultText()
}

// argDoc documents an argument.
func argDoc(a *fun.Arg) string {
	text := fmt.Sprintf("%s: %s; %s", code(a.Name), argKind(a), argDefault(a))
	if len(a.OneOf) > 0 {
		text += "\n\nOne of: " + code(strings.Join(a.OneOf, ", "))
	}
	if a.Doc != "" {
		text += "\n\n" + a.Doc
	}
	return text
}

// maxArgs bounds how many arguments the documentation of a function lists.
const maxArgs = 60

// functionDoc documents a function: what it does, its arguments, an example.
func (s *server) functionDoc(mod *fun.Module, name string, spec *fun.Spec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** (%s)\n\n", name, mod.Kind)
	if spec.Doc != "" {
		b.WriteString(spec.Doc + "\n\n")
	}
	for i := range spec.Args {
		a := &spec.Args[i]
		if i == maxArgs {
			fmt.Fprintf(&b, "- and %d more\n", len(spec.Args)-i)
			break
		}
		fmt.Fprintf(&b, "- %s: %s; %s", code(a.Name), argKind(a), argDefault(a))
		if a.Doc != "" {
			b.WriteString(": " + a.Doc)
		}
		b.WriteString("\n")
	}
	if s.Example != nil {
		if text := s.Example(mod, spec.Name); text != "" {
			lang := "shell"
			if mod.Kind == fun.State {
				lang = "yaml"
			}
			fmt.Fprintf(&b, "\n```%s\n%s\n```\n", lang, text)
		}
	}
	if s.DocsURL != "" && !strings.HasPrefix(spec.Src, "salt://") {
		dir := map[fun.Kind]string{fun.Exec: "modules", fun.State: "states", fun.Runner: "runners", fun.Wheel: "wheel"}[mod.Kind]
		fmt.Fprintf(&b, "\n[Reference](%sreference/%s/%s.md)\n", s.DocsURL, dir, mod.Name)
	}
	return b.String()
}

// globalDoc documents an argument of every state.
func globalDoc(g *global) string {
	return fmt.Sprintf("%s: %s\n\n%s", code(g.name), g.kind, g.doc)
}
