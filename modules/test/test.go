// Package test is Salt's execution module "test": functions that answer what a
// test of brine, of a tree or of a connection wants to know.
package test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/digest"
	"brine/internal/py/value"
)

// Module returns the execution module "test".
func Module() fun.Module {
	return fun.Module{Name: "test", Kind: fun.Exec, Doc: "Functions for testing.", Specs: specs}
}

func yes(context.Context, *fun.Call, *fun.NoArgs) (fun.Result, error) { return fun.Value(true) }

func no(context.Context, *fun.Call, *fun.NoArgs) (fun.Result, error) { return fun.Value(false) }

type echoArgs struct {
	_    fun.Arguments
	Text value.Value `arg:"text,required" doc:"what to return"`
}

func echo(_ context.Context, c *fun.Call, a *echoArgs) (fun.Result, error) { return fun.Value(a.Text) }

type outputterArgs struct {
	_    fun.Arguments
	Data value.Value `arg:"data,required" doc:"what to return"`
}

func outputter(_ context.Context, c *fun.Call, a *outputterArgs) (fun.Result, error) {
	return fun.Value(a.Data)
}

type kwargArgs struct {
	Rest fun.Kwargs
}

func kwarg(_ context.Context, c *fun.Call, a *kwargArgs) (fun.Result, error) {
	return fun.Value(a.Rest.Map)
}

// argArgs are the arguments of arg, argClean, argRepr and argType.
type argArgs struct {
	More fun.Varargs
	Rest fun.Kwargs
}

func arg(_ context.Context, c *fun.Call, a *argArgs) (fun.Result, error) {
	return fun.Value(value.MapOf("args", value.Tuple(a.More), "kwargs", a.Rest.Map))
}

func argClean(_ context.Context, c *fun.Call, a *argArgs) (fun.Result, error) {
	return fun.Value(value.MapOf("args", value.Tuple(a.More), "kwargs", clean(a.Rest.Map)))
}

// clean returns kw without the arguments that Salt adds to a call.
func clean(kw *value.Map) *value.Map {
	out := value.NewMap(kw.Len())
	for k, v := range kw.All() {
		if !strings.HasPrefix(value.Str(k), "__") {
			out.Set(k, v)
		}
	}
	return out
}

func argRepr(_ context.Context, c *fun.Call, a *argArgs) (fun.Result, error) {
	return fun.Value(value.MapOf("args", value.Repr(value.Tuple(a.More)), "kwargs", value.Repr(a.Rest.Map)))
}

func argType(_ context.Context, c *fun.Call, a *argArgs) (fun.Result, error) {
	class := func(v value.Value) string { return "<class '" + value.TypeName(v) + "'>" }
	args, kwargs := value.NewList(), value.NewMap(a.Rest.Len())
	for _, v := range a.More {
		args.Append(class(v))
	}
	for k, v := range a.Rest.All() {
		kwargs.Set(k, class(v))
	}
	return fun.Value(value.MapOf("args", args, "kwargs", kwargs))
}

type assertionArgs struct {
	_         fun.Arguments
	Assertion bool `arg:"assertion,required,any" doc:"what must be true"`
}

// assertion returns None, or raises an AssertionError without a message.
func assertion(_ context.Context, c *fun.Call, a *assertionArgs) (fun.Result, error) {
	if !a.Assertion {
		return fun.Result{}, value.Raise("AssertionError", "")
	}
	return fun.Value(nil)
}

func attrCall(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "grains.items", fun.Args{})
}

func confTest(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "config.option", fun.Args{Pos: []value.Value{"test.foo"}})
}

type crossTestArgs struct {
	_    fun.Arguments
	Func string        `arg:"func,required" doc:"the function, such as test.ping"`
	Args []value.Value `arg:"args" doc:"its arguments"`
}

// crossTest calls func with args by position.
func crossTest(ctx context.Context, c *fun.Call, a *crossTestArgs) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, a.Func, fun.Args{Pos: a.Args})
}

type tryArgs struct {
	Module             string `arg:"module,required" doc:"the function, such as pkg.version"`
	ReturnTryException bool   `arg:"return_try_exception" default:"False" doc:"return the error instead of None"`
	Rest               fun.Kwargs
}

// try calls module with the other keyword arguments. Its return code does not
// count; a call that is cut off by the end of ctx is an error all the same.
func try(ctx context.Context, c *fun.Call, a *tryArgs) (fun.Result, error) {
	res, err := c.Env.Exec(ctx, a.Module, clean(a.Rest.Map))
	switch {
	case err == nil:
		return fun.Value(res)
	case ctx.Err() != nil:
		return fun.Result{}, ctx.Err()
	case a.ReturnTryException:
		return fun.Value(err.Error())
	}
	return fun.Value(nil)
}

type exceptionArgs struct {
	_       fun.Arguments
	Message string `arg:"message,any" default:"'Test Exception'" doc:"its message"`
}

func exception(_ context.Context, c *fun.Call, a *exceptionArgs) (fun.Result, error) {
	return fun.Result{}, value.Raise("Exception", "%s", a.Message)
}

type raiseExceptionArgs struct {
	Name string `arg:"name,required" doc:"its name, such as TypeError"`
	More fun.Varargs
	_    fun.Kwargs
}

// raiseException raises the exception that name names, with the further
// positional arguments. It returns False where there is none of that name.
func raiseException(_ context.Context, c *fun.Call, a *raiseExceptionArgs) (fun.Result, error) {
	name := a.Name
	if !isException(name) {
		return fun.Value(false)
	}
	var text string
	switch len(a.More) {
	case 0:
	case 1:
		text = value.Str(a.More[0])
		if name == "KeyError" {
			text = value.Repr(a.More[0])
		}
	default:
		text = value.Repr(value.Tuple(a.More))
		if n, ok := value.AsInt(a.More[0]); ok && name == "OSError" {
			text = fmt.Sprintf("[Errno %d] %s", n, value.Str(a.More[1]))
		}
	}
	if name == "salt.exceptions.CommandExecutionError" {
		return fun.Result{}, &fun.CommandError{Msg: text}
	}
	return fun.Result{}, value.Raise(name, "%s", text)
}

// isException reports whether name is an exception that Python or Salt has.
func isException(name string) bool {
	if s, ok := strings.CutPrefix(name, "salt.exceptions."); ok {
		return strings.HasSuffix(s, "Error") || strings.HasSuffix(s, "Exception") || s == "SaltSystemExit"
	}
	switch name {
	case "Exception", "ArithmeticError", "AssertionError", "AttributeError", "BlockingIOError", "BrokenPipeError", "BufferError",
		"ChildProcessError", "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
		"EOFError", "EnvironmentError", "FileExistsError", "FileNotFoundError", "FloatingPointError", "IOError", "ImportError",
		"IndentationError", "IndexError", "InterruptedError", "IsADirectoryError", "KeyError", "LookupError", "MemoryError",
		"ModuleNotFoundError", "NameError", "NotADirectoryError", "NotImplementedError", "OSError", "OverflowError",
		"PermissionError", "ProcessLookupError", "RecursionError", "ReferenceError", "RuntimeError", "StopAsyncIteration",
		"StopIteration", "SyntaxError", "SystemError", "TabError", "TimeoutError", "TypeError", "UnboundLocalError",
		"UnicodeError", "ValueError", "Warning", "UserWarning", "DeprecationWarning", "RuntimeWarning", "SyntaxWarning",
		"FutureWarning", "PendingDeprecationWarning", "ImportWarning", "UnicodeWarning", "BytesWarning", "ResourceWarning",
		"ZeroDivisionError":
		return true
	}
	return false
}

// integer is Python's int() of an argument.
func integer(arg value.Value) (*big.Int, error) {
	v, err := value.ToInt(arg)
	if err != nil {
		return nil, err
	}
	i, _ := value.AsBig(v)
	return i, nil
}

// maxWork bounds the steps of fib and collatz, which would else fill memory.
const maxWork = 1_000_000

type fibArgs struct {
	_   fun.Arguments
	Num value.Value `arg:"num,required" doc:"which one, from 0"`
}

// fib returns the num-th Fibonacci number and the seconds it took.
func fib(ctx context.Context, c *fun.Call, args *fibArgs) (fun.Result, error) {
	n, err := integer(args.Num)
	if err != nil {
		return fun.Result{}, err
	}
	switch {
	case n.Sign() < 0:
		return fun.Result{}, value.Raise("ValueError", "Negative number is not allowed!")
	case n.Cmp(big.NewInt(maxWork)) > 0:
		return fun.Result{}, value.Raise("ValueError", "fib is bounded to num %d", maxWork)
	}
	start := c.Env.Host.Now()
	a, b := big.NewInt(0), big.NewInt(1)
	for i := n.Int64(); i > 0; i-- {
		if i%4096 == 0 && ctx.Err() != nil {
			return fun.Result{}, ctx.Err()
		}
		a, b = b, a.Add(a, b)
	}
	return fun.Value(value.Tuple{value.NormInt(a), seconds(c, start)})
}

func seconds(c *fun.Call, start time.Time) float64 { return c.Env.Host.Now().Sub(start).Seconds() }

type collatzArgs struct {
	_     fun.Arguments
	Start value.Value `arg:"start,required" doc:"the first number, at least 1"`
}

// collatz returns the Collatz sequence from start down to, and without, 1, and
// the seconds it took. As in Salt, a number that was halved is a float, and so
// are those after it.
func collatz(ctx context.Context, c *fun.Call, a *collatzArgs) (fun.Result, error) {
	n, err := integer(a.Start)
	if err != nil {
		return fun.Result{}, err
	}
	if n.Sign() <= 0 {
		return fun.Result{}, value.Raise("ValueError", "the sequence starts with a number above 0")
	}
	begin := c.Env.Host.Now()
	steps := value.NewList()
	one, halved := big.NewInt(1), false
	for n.Cmp(one) != 0 {
		if steps.Len()%4096 == 0 && ctx.Err() != nil {
			return fun.Result{}, ctx.Err()
		}
		if steps.Len() >= maxWork {
			return fun.Result{}, value.Raise("ValueError", "collatz is bounded to %d steps", maxWork)
		}
		if halved {
			f, _ := new(big.Float).SetInt(n).Float64()
			steps.Append(f)
		} else {
			steps.Append(value.NormInt(new(big.Int).Set(n)))
		}
		if n.Bit(0) == 0 {
			n, halved = new(big.Int).Rsh(n, 1), true
		} else {
			n = new(big.Int).Add(new(big.Int).Mul(n, big.NewInt(3)), one)
		}
	}
	return fun.Value(value.Tuple{steps, seconds(c, begin)})
}

func getOpts(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(c.Env.Opts)
}

// optsPkg returns a copy of the configuration with the grains at "grains".
func optsPkg(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m := c.Env.Opts.Copy()
	m.Set("grains", c.Env.SubjectGrains())
	return fun.Value(m)
}

// moduleReport lists what exists under the keys that Salt has: every function
// can be reached by both of Salt's ways, so none is missing by either.
func moduleReport(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	fns, mods := c.Env.Table.Names(fun.Exec), c.Env.Table.Modules(fun.Exec)
	return fun.Value(value.MapOf(
		"functions", value.Strings(fns...), "function_attrs", value.Strings(fns...), "function_subs", value.Strings(fns...),
		"modules", value.Strings(mods...), "module_attrs", value.Strings(mods...),
		"missing_attrs", value.NewList(), "missing_subs", value.NewList()))
}

// randomHash returns the hex digest of a random number from 0 to size.
func randomHash(_ context.Context, c *fun.Call, a *hashArgs) (fun.Result, error) {
	size, err := integer(a.Size)
	if err != nil {
		return fun.Result{}, err
	}
	if size.Sign() < 0 || !size.IsInt64() {
		return fun.Result{}, value.Raise("ValueError", "size is out of range: %s", size)
	}
	name := a.HashType
	if name == "" {
		if name = c.Env.Opts.Str("hash_type"); name == "" {
			name = "md5"
		}
	}
	h := digest.New(name)
	if h == nil {
		return fun.Result{}, value.Raise("AttributeError", "module 'hashlib' has no attribute '%s'", name)
	}
	h.Write([]byte(strconv.FormatUint(rand.Uint64N(size.Uint64()+1), 10)))
	return fun.Value(hex.EncodeToString(h.Sum(nil)))
}

type retcodeArgs struct {
	_    fun.Arguments
	Code value.Value `arg:"code,int|float" default:"42" doc:"the code"`
}

func retcode(_ context.Context, c *fun.Call, a *retcodeArgs) (fun.Result, error) {
	n, err := integer(a.Code)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: true, Retcode: int(n.Int64())}, nil
}

// maxSleep is what time.Duration can hold, in seconds.
const maxSleep = int64(1<<63-1) / int64(time.Second)

type sleepArgs struct {
	_      fun.Arguments
	Length value.Value `arg:"length,required,int|float" unit:"s" doc:"how long"`
}

func sleep(ctx context.Context, c *fun.Call, a *sleepArgs) (fun.Result, error) {
	n, err := integer(a.Length)
	if err != nil {
		return fun.Result{}, err
	}
	return nap(ctx, c, n)
}

// nap sleeps n seconds, or until ctx ends, which is an error.
func nap(ctx context.Context, c *fun.Call, n *big.Int) (fun.Result, error) {
	if n.Sign() < 0 {
		return fun.Result{}, value.Raise("ValueError", "sleep length must be non-negative")
	}
	if n.Cmp(big.NewInt(maxSleep)) > 0 {
		return fun.Result{}, value.Raise("OverflowError", "timestamp too large to convert to C _PyTime_t")
	}
	if err := c.Env.Host.Sleep(ctx, time.Duration(n.Int64())*time.Second); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

type randSleepArgs struct {
	_   fun.Arguments
	Max value.Value `arg:"max,int|float" default:"60" unit:"s" doc:"the longest time"`
}

// randSleep sleeps a random whole number of seconds up to max.
func randSleep(ctx context.Context, c *fun.Call, a *randSleepArgs) (fun.Result, error) {
	n, err := integer(a.Max)
	if err != nil {
		return fun.Result{}, err
	}
	if n.Sign() < 0 {
		return fun.Result{}, value.Raise("ValueError", "empty range for randrange() (0, %s, %s)", new(big.Int).Add(n, big.NewInt(1)), new(big.Int).Add(n, big.NewInt(1)))
	}
	if n.Cmp(big.NewInt(maxSleep)) > 0 {
		n = big.NewInt(maxSleep)
	}
	return nap(ctx, c, big.NewInt(rand.Int64N(n.Int64()+1)))
}

// version returns the grain saltversion.
func version(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if c.Env.Grains == nil {
		return fun.Value(nil)
	}
	v, _ := c.Env.Grains.Get("saltversion")
	return fun.Value(v)
}
