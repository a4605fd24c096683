package render

import (
	"context"
	"errors"

	"github.com/pelletier/go-toml/v2"

	"brine/internal/py/serial"
	"brine/internal/py/source"
)

// tomlStage reads a TOML document.
func (e *Engine) tomlStage(_ context.Context, in *Input, _ stage, d *datum) (*datum, error) {
	m, err := serial.ReadTOML([]byte(dropShebang(d.text)))
	if err != nil {
		pos := source.Pos{File: in.name(), Line: 1}
		if de, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, col := de.Position()
			p := d.pos(line)
			pos = source.Pos{File: p.File, Line: p.Line, Col: col}
		}
		return nil, &source.Error{Pos: pos, Err: &PlainError{"TomlDecodeError", err.Error()}}
	}
	return &datum{data: m}, nil
}
