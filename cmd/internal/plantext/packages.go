package plantext

import (
	"fmt"

	"brine/internal/view/plan"
)

// packages adds the packages that a state would change: first those that it asks
// for. Those that are removed or become older ones are in red, and all are in words.
func (c *colours) packages(b *body, list []plan.Package) {
	for i, pkg := range list {
		if i == maxLines {
			b.add(9, "", "... and %d more packages (--out=json has all)", len(list)-maxLines)
			b.hidden = fmt.Sprint(list[i:])
			return
		}
		colour := ""
		if pkg.Loses() {
			colour = c.remove
		}
		b.add(9, colour, "%s", packageText(pkg))
	}
}

// packageText says what happens to a package.
func packageText(p plan.Package) string {
	text := ""
	switch p.Action {
	case plan.Remove:
		text = fmt.Sprintf("remove %s %s", p.Name, p.From)
	case plan.Install, plan.Reinstall:
		text = fmt.Sprintf("%s %s %s", p.Action, p.Name, p.To)
	default:
		text = fmt.Sprintf("%s %s from %s to %s", p.Action, p.Name, p.From, p.To)
	}
	if p.Along {
		text += " (comes along)"
	}
	return text
}
