package assembly

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// readsOfFurther are the arguments that code may read from further keyword arguments
// (fun.Kwargs, c.Kw) by name, with the reason. Others are declared.
var readsOfFurther = map[string]string{
	"modules/cmd runas":               "an argument of cmd.run_all, which the function hands on",
	"modules/mdadmraid spare-devices": "mdadm takes any option",
	"modules/pkg test":                "the option test of a run, for one call",
	"modules/pkg/aptpkg repo":         "refused, with another name",
	"modules/slsutil saltenv":         "a variable of the template like others",
	"modules/slsutil sls":             "a variable of the template like others",
	"runner/fn/state localconfig":     "refused, with what to do",
	"states/file file_mode":           "refused, with another name",
	"states/file mode":                "refused, with another name",
	"states/file owner":               "a slip for user, of which a warning says so",
	"states/http test_url":            "an argument of http.query, which the function hands on",
	"states/iptables rules":           "made by aggregation",
	"states/module args":              "module.run takes the arguments of any function",
	"states/module kwargs":            "module.run takes the arguments of any function",
	"states/pkg sources":              "refused",
	"states/pkgrepo repo":             "refused, with another name",
	"states/service enabled":          "refused, with another name",
	"runner/fn/state concurrent":      "only some functions declare it; the others warn of it",
}

// TestFurtherArgumentsAreDeclared: no room reads a further keyword argument by a constant
// name, since an argument that is read by name is declared.
func TestFurtherArgumentsAreDeclared(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	rooms := 0
	for _, root := range []string{"../../modules", "../../states", "../../runner/fn"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			rooms++
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range f.Decls {
				d, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				params := kwargsParams(d)
				read := func(lit ast.Expr) {
					l, ok := lit.(*ast.BasicLit)
					if !ok || l.Kind != token.STRING {
						return
					}
					name, _ := strconv.Unquote(l.Value)
					if strings.HasPrefix(name, "__") { // what the machinery adds to a call
						return
					}
					key := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../") + " " + name
					used[key] = true
					if readsOfFurther[key] == "" {
						t.Errorf("%s: %s is read of further arguments, and not declared", files.Position(l.Pos()), name)
					}
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if loop, ok := n.(*ast.RangeStmt); ok && overKwargs(loop, params) {
						constants(loop, read)
						return true
					}
					call, ok := n.(*ast.CallExpr)
					if !ok || len(call.Args) == 0 {
						return true
					}
					sel, ok := call.Fun.(*ast.SelectorExpr)
					if !ok || !slices.Contains([]string{"At", "Get", "Has", "Str", "List", "Map", "Delete"}, sel.Sel.Name) || !isKwargs(sel.X, params) {
						return true
					}
					read(call.Args[0])
					return true
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for key := range readsOfFurther {
		if !used[key] {
			t.Errorf("%s: nothing reads it", key)
		}
	}
	if rooms < 300 {
		t.Errorf("%d files were looked at", rooms)
	}
}

// kwargsParams returns the names of the parameters of type fun.Kwargs.
func kwargsParams(d *ast.FuncDecl) []string {
	var names []string
	for _, p := range d.Type.Params.List {
		if sel, ok := p.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Kwargs" {
			for _, n := range p.Names {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// isKwargs reports whether x is a field of type fun.Kwargs, by its usual name, the further
// arguments of a call, or such a parameter.
func isKwargs(x ast.Expr, params []string) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return slices.Contains(params, x.Name)
	case *ast.SelectorExpr:
		if x.Sel.Name == "Map" {
			return isKwargs(x.X, params)
		}
		id, _ := x.X.(*ast.Ident)
		return x.Sel.Name == "Rest" || x.Sel.Name == "rest" || x.Sel.Name == "Kw" && id != nil && (id.Name == "c" || id.Name == "fc")
	}
	return false
}

// overKwargs reports whether a loop is over further arguments.
func overKwargs(loop *ast.RangeStmt, params []string) bool {
	call, ok := loop.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "All" || sel.Sel.Name == "Keys") && isKwargs(sel.X, params)
}

// constants calls f with the values of the cases in a loop.
func constants(loop *ast.RangeStmt, f func(ast.Expr)) {
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		if x, ok := n.(*ast.CaseClause); ok {
			for _, e := range x.List {
				f(e)
			}
		}
		return true
	})
}

// TestFurtherArgumentsAreOfAFunction: the function that a row hands its further arguments
// on to is in the table, and a row that takes any argument says what it does with them.
func TestFurtherArgumentsAreOfAFunction(t *testing.T) {
	t.Parallel()
	n := 0
	for _, kind := range []fun.Kind{fun.Exec, fun.State, fun.Runner, fun.Wheel} {
		for _, mod := range modules(kind) {
			for i := range mod.Specs {
				spec := &mod.Specs[i]
				where := kind.String() + " " + mod.Name + "." + spec.Name
				if spec.Hands && !strings.Contains(spec.Doc, "urther arguments") {
					t.Errorf("%s takes any argument, and its documentation does not say what further arguments are", where)
				}
				if spec.Of == "" {
					continue
				}
				n++
				if of := Table().Spec(fun.Exec, spec.Of); of == nil || len(of.Args) == 0 && !of.VarKw {
					t.Errorf("%s: there is no %s with arguments", where, spec.Of)
				}
				if !spec.VarKw || spec.Hands {
					t.Errorf("%s: Of is for rows with further arguments, and goes without Hands", where)
				}
			}
		}
	}
	if n < 30 {
		t.Errorf("%d rows hand their arguments on", n)
	}
}

// TestSlipsOfFurtherArguments: an argument that Salt documents and takes by **kwargs is
// declared or of the function that gets it, so that a slip is reported with the name
// that was meant, and a value of the wrong type is refused.
func TestSlipsOfFurtherArguments(t *testing.T) {
	t.Parallel()
	wrong := value.MapOf("a", value.NewList())
	for _, tt := range []struct {
		kind            fun.Kind
		provider, names string // functions of a module
		slip, want      string
		wrong           value.Value // refused as a value of want; nil: there is no such, or the function that gets it refuses it
	}{
		{fun.State, "network", "managed", "prtoo", "proto", wrong},
		{fun.State, "network", "managed", "ipadr", "ipaddr", wrong},
		{fun.State, "network", "managed", "noifupdwn", "noifupdown", wrong},
		{fun.State, "network", "routes", "rotues", "routes", wrong},
		{fun.State, "network", "system", "apply_hostnme", "apply_hostname", wrong},
		{fun.Exec, "debian_ip", "build_interface build_bond", "netmsak", "netmask", wrong},
		{fun.Exec, "debian_ip", "build_routes", "rotues", "routes", wrong},
		{fun.Exec, "debian_ip", "build_network_settings apply_network_settings", "require_rebot", "require_reboot", wrong},
		{fun.Exec, "rh_ip", "build_interface", "netmsak", "netmask", wrong},
		{fun.Exec, "rh_ip", "build_routes", "rotues", "routes", wrong},
		{fun.Exec, "rh_ip", "build_network_settings apply_network_settings", "retain_setings", "retain_settings", wrong},
		{fun.State, "lvm", "pv_present", "metadatasze", "metadatasize", nil},
		{fun.State, "lvm", "vg_present", "physicalextentsze", "physicalextentsize", nil},
		{fun.State, "lvm", "lv_present", "stripesze", "stripesize", nil},
		{fun.Exec, "linux_lvm", "pvcreate", "metadatasze", "metadatasize", wrong},
		{fun.Exec, "linux_lvm", "vgcreate", "physicalextentsze", "physicalextentsize", wrong},
		{fun.Exec, "linux_lvm", "lvcreate", "stripesze", "stripesize", wrong},
		{fun.State, "blockdev", "formatted", "inode_sze", "inode_size", nil},
		{fun.State, "http", "query wait_for_successful_query", "verify_sll", "verify_ssl", nil},
		{fun.State, "at", "absent", "minuet", "minute", wrong},
		{fun.Exec, "at", "at", "runs", "runas", wrong},
		{fun.Exec, "at", "jobcheck", "minuet", "minute", wrong},
		{fun.Exec, "disk", "tune", "read-ahed", "read-ahead", wrong},
		{fun.Exec, "file", "chattr", "operatr", "operator", wrong},
		{fun.Exec, "file", "append prepend write", "arg", "args", wrong},
		{fun.Exec, "file", "find", "maxdpth", "maxdepth", wrong},
		{fun.Exec, "grains", "item", "delimeter", "delimiter", wrong},
		{fun.Exec, "pillar", "item items data ls obfuscate", "pilarenv", "pillarenv", wrong},
		{fun.Exec, "network", "connect", "prtoo", "proto", wrong},
		{fun.Exec, "network", "connect", "tiemout", "timeout", wrong},
		{fun.Exec, "network", "mod_bufsize", "rx-jmbo", "rx-jumbo", wrong},
		{fun.Exec, "linux_acl", "getfacl wipefacls modfacl delfacl", "recursve", "recursive", wrong},
		{fun.Exec, "linux_acl", "wipefacls modfacl delfacl", "raise_er", "raise_err", wrong},
		{fun.Exec, "zypperpkg", "mod_repo", "prioritiy", "priority", wrong},
		{fun.Exec, "zypperpkg", "install upgrade list_upgrades download", "gpgautoimprt", "gpgautoimport", wrong},
		{fun.Exec, "cmd", "run run_all shell script", "stdin_raw_newline", "stdin_raw_newlines", wrong},
		{fun.Exec, "out", "string_format out_format", "output_indnt", "output_indent", wrong},
		{fun.Runner, "pillar", "show_pillar", "pilarenv", "pillarenv", wrong},
		{fun.State, "file", "recurse", "show_change", "show_changes", wrong},
		{fun.State, "docker_image", "present", "buildarg", "buildargs", nil},
		{fun.State, "archive", "extracted", "kep", "keep", wrong},
	} {
		mod := providerModule(tt.kind, tt.provider)
		if mod == nil {
			t.Errorf("there is no %s module %s", tt.kind, tt.provider)
			continue
		}
		for name := range strings.FieldsSeq(tt.names) {
			where := tt.kind.String() + " " + tt.provider + "." + name
			i := slices.IndexFunc(mod.Specs, func(s fun.Spec) bool { return s.Name == name })
			if i < 0 {
				t.Errorf("%s: there is none", where)
				continue
			}
			spec := &mod.Specs[i]
			env, warnings := fakeEnv(fakeHost())
			args := sampleArgs(spec)
			args.Kw.Set(tt.slip, "x")
			_, err := env.Invoker.Bind(mod, spec, args)
			var refused *fun.ArgError
			switch {
			case errors.As(err, &refused):
				if refused.Nearest != tt.want {
					t.Errorf("%s(%s): %v, meant as %q, want %q", where, tt.slip, err, refused.Nearest, tt.want)
				}
			case err != nil:
				t.Errorf("%s(%s): %v", where, tt.slip, err)
			case !slices.ContainsFunc(*warnings, func(w fun.Warning) bool { return strings.Contains(w.Text, `(did you mean "`+tt.want+`"?)`) }):
				t.Errorf("%s(%s): warnings %v, want one that names %s", where, tt.slip, *warnings, tt.want)
			}
			if tt.wrong == nil {
				continue
			}
			args = sampleArgs(spec)
			args.Kw.Set(tt.want, tt.wrong)
			var inv *fun.InvocationError
			if _, err := env.Invoker.Bind(mod, spec, args); !errors.As(err, &inv) || inv.Arg != tt.want {
				t.Errorf("%s(%s=%s): %v, want a refusal of the value", where, tt.want, value.Repr(tt.wrong), err)
			}
		}
	}
}

// providerModule returns the module that a provider of the table is; nil: there is none.
func providerModule(kind fun.Kind, provider string) *fun.Module {
	table := Table()
	for _, name := range table.Modules(kind) {
		for _, mod := range table.Providers(kind, name) {
			if mod.Provider == provider {
				return mod
			}
		}
	}
	return nil
}
