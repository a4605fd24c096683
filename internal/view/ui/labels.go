package ui

import (
	"regexp"
	"strings"

	"brine/internal/fleet/history"
	"brine/internal/view/chain"
)

// stepWords are what steps of a chain are called that become two steps of an orchestration.
var stepWords = map[string]string{chain.Reboot + "_wait": "reboot and wait", chain.Upgrade + "_answers": "upgrade, and ask for an answer"}

// stepLabel is what a step of a chain is called: by its number and its action, instead of the
// name that its orchestration has for it.
func stepLabel(chainName, id string) string {
	rest, ok := strings.CutPrefix(id, chainName+"_step")
	n, what, found := strings.Cut(rest, "_")
	if !ok || !found || n == "" || strings.Trim(n, "0123456789") != "" {
		return id
	}
	words := stepWords[what]
	if words == "" {
		action, host, own := strings.Cut(what, "_") // a host with values of its own
		if words = action; own {
			words += " on " + host
		}
	}
	return "Step " + n + ": " + words
}

// labelled is a text about a chain with the labels of its steps instead of their names.
func labelled(chainName, text string) string {
	if chainName == "" || !strings.Contains(text, chainName+"_step") {
		return text
	}
	name := regexp.MustCompile(`(?:chains\.` + regexp.QuoteMeta(chainName) + `\.)?\b` + regexp.QuoteMeta(chainName) + `_step[0-9]+_[A-Za-z0-9_.-]*[A-Za-z0-9]`)
	return name.ReplaceAllStringFunc(text, func(id string) string {
		return stepLabel(chainName, strings.TrimPrefix(id, "chains."+chainName+"."))
	})
}

// executedChain is the name of the chain that was executed; "": it is not one.
func executedChain(kind, name string) string {
	if kind == history.Chain {
		return name
	}
	return ""
}
