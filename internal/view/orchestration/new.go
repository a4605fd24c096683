package orchestration

import (
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/core/host"
)

// The files of a new template; NAME stands for its name.
var scaffold = []struct{ path, text string }{
	{"states/NAME/init.sls", `# The orchestration. Targets are ids in pillar['targets'], under the names of the
# metadata; values of its form are in the pillar.
NAME_apply:
  salt.state:
    - tgt: {{ pillar['targets']['servers'] }}
    - tgt_type: list
    - sls:
      - apply
    - pillar:
        message: {{ pillar['message'] | json }}
`},
	{"states/NAME/apply.sls", `# Applied to the targets.
say:
  test.configurable_test_state:
    - name: NAME
    - changes: False
    - result: True
    - comment: {{ pillar['message'] | json }}
`},
	{"metadata/NAME/metadata.yml", `description: What this orchestration does
targets:
  servers:
    - description: Servers to do it on
steps:
  step1:
    - description: Apply the state
    - ids: NAME_apply
pillar:
  message:
    $type: text
    $help: Text to show
    $default: hello
`},
}

// New makes the files of a template below a root, and returns their paths. It
// returns fs.ErrExist if there is a template with the name.
func New(files host.Host, root, name string) ([]string, error) {
	if err := free(files, root, name); err != nil {
		return nil, err
	}
	var made []string
	for _, f := range scaffold {
		path := filepath.Join(root, strings.ReplaceAll(f.path, "NAME", name))
		if err := files.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return made, err
		}
		if err := files.WriteFile(path, strings.NewReader(strings.ReplaceAll(f.text, "NAME", name)), host.WriteOptions{Mode: new(fs.FileMode(0o644))}); err != nil {
			return made, err
		}
		made = append(made, path)
	}
	return made, nil
}
