package file

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	files "brine/modules/file"
)

type decodeArgs struct {
	_              fun.Arguments
	_              string      `arg:"name,required,path" doc:"absolute path of the file"`
	EncodedData    value.Value `arg:"encoded_data,str" doc:"Base64 text"`
	ContentsPillar value.Value `arg:"contents_pillar,str" doc:"pillar key of the Base64 text"`
	_              string      `arg:"encoding_type" default:"base64" doc:"encoding of the text"`
	Checksum       string      `arg:"checksum" default:"md5" doc:"digest that shows what changed"`
}

// decode writes a file from Base64 text. Salt: states/file.py decode.
func decode(ctx context.Context, fc *fun.Call, a *decodeArgs) fun.Ret {
	c := begin(fc)
	text, key := a.EncodedData, a.ContentsPillar
	switch {
	case !value.Truth(text) && !value.Truth(key):
		return fun.Raise(fun.Errorf("Specify either the 'encoded_data' or 'contents_pillar' argument."))
	case value.Truth(text) && value.Truth(key):
		return fun.Raise(fun.Errorf("Specify only one 'encoded_data' or 'contents_pillar' argument."))
	case value.Truth(key):
		v, err := c.invoke(ctx, "pillar.get", key, false)
		if err != nil {
			return fun.Raise(err)
		}
		if v == false {
			return fun.Raise(fun.Errorf("Pillar data not found."))
		}
		text = v
	}
	content, err := decodeBase64(value.Str(text))
	if err != nil {
		return c.fail("%s", err)
	}
	now := files.Text(content)
	newSum, err := now.Sum(a.Checksum)
	if err != nil {
		return fun.Raise(err)
	}
	old := value.Value(nil)
	if c.IsFile(c.path()) {
		sum, err := c.FileAt(c.path()).Sum(a.Checksum)
		if err != nil {
			return fun.Raise(err)
		}
		if sum == newSum {
			return c.done(fun.OK, "File is in the correct state.")
		}
		old = sum
	}
	if c.Test {
		if old != nil {
			c.ret.Changes = value.MapOf("old", old, "new", newSum)
		}
		return c.done(fun.WouldChange, "File is set to be updated.")
	}
	if err := c.WriteFile(c.path(), strings.NewReader(string(content)), host.WriteOptions{FollowLinks: true}); err != nil {
		return c.fail("Unable to write %s: %s", c.path(), host.OSError(err))
	}
	c.ret.Changes = value.MapOf("old", old, "new", newSum)
	return c.done(fun.OK, "File was updated.")
}

// decodeBase64 decodes text; what is not a Base64 character is skipped.
func decodeBase64(s string) ([]byte, error) {
	s = strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '+' || r == '/' {
			return r
		}
		return -1
	}, s)
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("Incorrect padding")
	}
	return b, nil
}
