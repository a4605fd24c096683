package random

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	seedArg  = fun.Arg{Name: "seed", Doc: "makes the result reproducible; None is random"}
	valueArg = fun.Arg{Name: "value", Required: true, Doc: "the text"}
)

var listArg = fun.Arg{Name: "value", Required: true, Doc: "the list"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "get_str", Doc: "Return random text.", Src: "modules/mod_random.py get_str",
		Fn: getStr,
		Args: []fun.Arg{
			{Name: "length", Type: fun.Int, Default: int64(20), Unit: "characters", Doc: "length of the text"},
			{Name: "chars", Type: fun.Str, Doc: "the characters to choose from, instead of the classes below"},
			{Name: "lowercase", Type: fun.Bool, Default: true, Doc: "use a to z"},
			{Name: "uppercase", Type: fun.Bool, Default: true, Doc: "use A to Z"},
			{Name: "digits", Type: fun.Bool, Default: true, Doc: "use 0 to 9"},
			{Name: "punctuation", Type: fun.Bool, Default: true, Doc: "use ASCII punctuation"},
			{Name: "whitespace", Type: fun.Bool, Default: false, Doc: "use ASCII white space"},
			{Name: "printable", Type: fun.Bool, Default: false, Doc: "use all of these classes"},
		},
	},
	{
		Name: "hash", Doc: "Return the digest of a text in hexadecimal.", Src: "modules/mod_random.py hash",
		Fn: digestOf,
		Args: []fun.Arg{
			valueArg,
			{Name: "algorithm", Type: fun.Str, Default: "sha512", Doc: "md5, sha1, sha224, sha256, sha384, sha512, sha3_224, sha3_256, sha3_384 or sha3_512"},
		},
	},
	{
		Name: "rand_int", Doc: "Return a random integer.", Src: "modules/mod_random.py rand_int",
		Fn: randInt,
		Args: []fun.Arg{
			{Name: "start", Type: fun.Int, Default: int64(1), Doc: "the smallest"},
			{Name: "end", Type: fun.Int, Default: int64(10), Doc: "the largest"},
			seedArg,
		},
	},
	{
		Name: "sample", Doc: "Choose items of a list, each at most once.", Src: "modules/mod_random.py sample",
		Fn: sample,
		Args: []fun.Arg{
			listArg,
			{Name: "size", Type: fun.Int, Required: true, Doc: "how many"},
			seedArg,
		},
	},
	{
		Name: "seed", Doc: "Return a number from 0 up to range that is always the same for a minion.", Src: "modules/mod_random.py seed",
		Fn: seeded,
		Args: []fun.Arg{
			{Name: "range", Type: fun.Int, Default: int64(10), Doc: "how many numbers there are"},
			{Name: "hash", Doc: "what to derive it from; default: the minion ID"},
		},
	},
	{
		Name: "shadow_hash", Doc: "Return the hash of a password for shadow(5).", Src: "modules/mod_random.py shadow_hash",
		Fn: shadowHash,
		Args: []fun.Arg{
			{Name: "crypt_salt", Type: fun.Str, Doc: "at most sixteen characters; default: random"},
			{Name: "password", Type: fun.Str, Doc: "the password; default: random", Secret: true},
			{Name: "algorithm", Type: fun.Str, Default: "sha512", Doc: "sha512, sha256 or md5, which is insecure"},
		},
	},
	{Name: "shuffle", Doc: "Return a list in random order.", Src: "modules/mod_random.py shuffle", Args: []fun.Arg{listArg, seedArg}, Fn: shuffle},
	{
		Name: "str_encode", Doc: "Encode a text as Base64.", Src: "modules/mod_random.py str_encode",
		Fn: strEncode,
		Args: []fun.Arg{
			valueArg,
			{Name: "encoder", Type: fun.Str, Default: "base64", Doc: "base64; Salt supports no other"},
		},
	},
}
