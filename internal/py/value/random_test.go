package value

import (
	"errors"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The expected numbers are what Python 3.11 draws after random.seed(seed):
// randrange(10), randint(1, 100), randrange(2**40), randrange(2**62),
// sample(range(6), 3), sample(range(30), 4).
func TestRandomIsPythons(t *testing.T) {
	big70 := new(big.Int).Lsh(big.NewInt(1), 70)
	for _, tt := range []struct {
		name          string
		seed          Value
		a, b, c, d    int64
		small, sparse []int64
	}{
		{"0", int64(0), 6, 98, 927241537154, 2388085504187641652, []int64{4, 3, 5}, []int64{29, 25, 26, 9}},
		{"1", int64(1), 2, 73, 140719340484, 1087608058291172412, []int64{3, 5, 4}, []int64{20, 12, 25, 6}},
		{"-5", int64(-5), 9, 33, 789164966041, 2297105310323561332, []int64{5, 0, 1}, []int64{3, 11, 15, 27}},
		{"1099511627776", int64(1099511627776), 1, 46, 144613936299, 448091964139190505, []int64{3, 5, 0}, []int64{22, 21, 12, 17}},
		{"1180591620717411303424", big70, 3, 54, 238326140889, 2566787291610999110, []int64{1, 0, 5}, []int64{17, 26, 24, 19}},
		{"'minion1'", "minion1", 3, 51, 259776953452, 328015023162129364, []int64{1, 2, 3}, []int64{4, 17, 15, 11}},
		{"''", "", 7, 77, 851292096640, 2036823470959693702, []int64{2, 4, 0}, []int64{19, 20, 10, 11}},
		{"'é'", "é", 6, 13, 670781717973, 3253993908306824229, []int64{0, 5, 3}, []int64{14, 1, 7, 22}},
		{"b'ab'", Bytes("ab"), 8, 85, 862037996992, 1942945452209059977, []int64{3, 1, 4}, []int64{28, 2, 6, 0}},
		{"1.5", float64(1.5), 8, 33, 808006978154, 3884261820543473615, []int64{5, 4, 0}, []int64{10, 26, 4, 23}},
		{"-2.25", float64(-2.25), 2, 32, 29588433292, 2121225060037328331, []int64{5, 3, 4}, []int64{8, 18, 25, 24}},
		{"1e+300", float64(1e+300), 4, 5, 336797139321, 1758299203710781364, []int64{5, 4, 2}, []int64{15, 12, 14, 19}},
		{"0.1", float64(0.1), 3, 18, 949030146847, 3923227841928491013, []int64{1, 3, 4}, []int64{12, 22, 15, 4}},
		{"True", true, 2, 73, 140719340484, 1087608058291172412, []int64{3, 5, 4}, []int64{20, 12, 25, 6}},
		{"-1.0", float64(-1.0), 2, 96, 234984705870, 2448548258712896929, []int64{0, 4, 2}, []int64{2, 28, 23, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := NewRandom(tt.seed)
			if err != nil {
				t.Fatal(err)
			}
			a, _ := r.RandRange(0, 10)
			b, _ := r.RandRange(1, 101)
			c, _ := r.RandRange(0, 1<<40)
			d, _ := r.RandRange(0, 1<<62)
			if a != tt.a || b != tt.b || c != tt.c || d != tt.d {
				t.Errorf("numbers are %d %d %d %d, want %d %d %d %d", a, b, c, d, tt.a, tt.b, tt.c, tt.d)
			}
			small, err := r.Sample(numbers(6), 3)
			if err != nil {
				t.Fatal(err)
			}
			sparse, err := r.Sample(numbers(30), 4)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([][]int64{tt.small, tt.sparse}, [][]int64{ints(small), ints(sparse)}); d != "" {
				t.Errorf("samples (-want +got):\n%s", d)
			}
		})
	}
}

func numbers(n int) []Value {
	out := make([]Value, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

func ints(items []Value) []int64 {
	var out []int64
	for _, x := range items {
		n, _ := AsInt(x)
		out = append(out, n)
	}
	return out
}

func TestRandomRefuses(t *testing.T) {
	if _, err := NewRandom(NewList()); err == nil {
		t.Error("a list is no seed, but NewRandom took it")
	}
	r, err := NewRandom(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Sample(numbers(2), 3); err == nil {
		t.Error("Sample took 3 of 2 items")
	}
	if _, err := r.RandRange(10, 2); !isPyError(err, "empty range for randrange() (10, 2, -8)") {
		t.Errorf("RandRange(10, 2) = %v", err)
	}
}

func isPyError(err error, msg string) bool {
	e, ok := errors.AsType[*PyError](err)
	return ok && e.Msg == msg
}
