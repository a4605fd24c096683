package random

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type seedArg struct {
	_    fun.Arguments
	Seed value.Value `arg:"seed" doc:"makes the result reproducible; None is random"`
}

type valueArg struct {
	_     fun.Arguments
	Value value.Value `arg:"value,required" doc:"the text"`
}

type listArg struct {
	_     fun.Arguments
	Value value.Value `arg:"value,required" doc:"the list"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "get_str", Doc: "Return random text.", Src: "modules/mod_random.py get_str",
		Do: getStr,
	},
	{
		Name: "hash", Doc: "Return the digest of a text in hexadecimal.", Src: "modules/mod_random.py hash",
		Do: digestOf,
	},
	{
		Name: "rand_int", Doc: "Return a random integer.", Src: "modules/mod_random.py rand_int",
		Do: randInt,
	},
	{
		Name: "sample", Doc: "Choose items of a list, each at most once.", Src: "modules/mod_random.py sample",
		Do: sample,
	},
	{
		Name: "seed", Doc: "Return a number from 0 up to range that is always the same for a minion.", Src: "modules/mod_random.py seed",
		Do: seeded,
	},
	{
		Name: "shadow_hash", Doc: "Return the hash of a password for shadow(5).", Src: "modules/mod_random.py shadow_hash",
		Do: shadowHash,
	},
	{Name: "shuffle", Doc: "Return a list in random order.", Src: "modules/mod_random.py shuffle", Do: shuffle},
	{
		Name: "str_encode", Doc: "Encode a text as Base64.", Src: "modules/mod_random.py str_encode",
		Do: strEncode,
	},
}
