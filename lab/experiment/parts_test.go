package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/lab/shard"
	"github.com/wandertoken/wander/sim/circulation"
)

// nested has every kind of thing that results have.
type nested struct {
	flag    bool
	small   int8
	large   int64
	count   uint64
	narrow  float32
	wide    float64
	phase   complex128
	text    string
	three   [3]uint16
	list    []float64
	table   map[int][]string
	next    *inner
	Visible int
	Left    func() `keep:"-"`
}

type inner struct {
	circulation.Ignore
	span time.Duration
}

// Values come back with every bit, nil or empty as they were.
func TestKept_AnyValue_ComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := nested{
			flag: rapid.Bool().Draw(rt, "flag"), small: rapid.Int8().Draw(rt, "small"), large: rapid.Int64().Draw(rt, "large"),
			count: rapid.Uint64().Draw(rt, "count"), narrow: rapid.Float32().Draw(rt, "narrow"),
			wide:  rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1.1, math.Inf(1), math.MaxFloat64, 5e-324}).Draw(rt, "wide"),
			phase: complex(rapid.Float64().Draw(rt, "re"), rapid.Float64().Draw(rt, "im")), text: rapid.String().Draw(rt, "text"),
			three: [3]uint16{1, rapid.Uint16().Draw(rt, "three"), 3}, list: rapid.SliceOf(rapid.Float64()).Draw(rt, "list"),
			Visible: rapid.Int().Draw(rt, "visible"),
		}
		if rapid.Bool().Draw(rt, "nil") {
			v.list = nil
		} else {
			v.table = rapid.MapOf(rapid.Int(), rapid.SliceOf(rapid.String())).Draw(rt, "table")
			v.next = &inner{span: time.Duration(rapid.Int64().Draw(rt, "span"))}
		}
		text, err := keep(v)
		require.NoError(rt, err)
		again, err := keptValue[nested](text)
		require.NoError(rt, err)
		require.Equal(rt, v, again)
		same, err := keep(again)
		require.NoError(rt, err)
		require.Equal(rt, text, same)
	})
	nan := math.Float64frombits(0x7ff8_0000_0000_1234)
	text, err := keep(nan)
	require.NoError(t, err)
	again, err := keptValue[float64](text)
	require.NoError(t, err)
	assert.Equal(t, math.Float64bits(nan), math.Float64bits(again))
}

// Bytes of something else are refused, whatever they are.
func TestKept_OtherBytes_Refused(t *testing.T) {
	text, err := keep(nested{list: []float64{1, 2}, next: &inner{}, table: map[int][]string{1: {"a"}}})
	require.NoError(t, err)
	for size := range len(text) {
		_, err := keptValue[nested](text[:size])
		require.ErrorIs(t, err, ErrKeptValue, size)
	}
	long, err := keep([]uint64{1, 2, 3})
	require.NoError(t, err)
	_, err = keptValue[uint64](long)
	require.ErrorIs(t, err, ErrKeptValue, "more than a value")
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		raw := make([]byte, random.IntN(60))
		for i := range raw {
			raw[i] = byte(random.IntN(256))
		}
		k := keptReader{raw}
		var v nested
		_ = k.get(reflect.ValueOf(&v).Elem()) // returns, and takes no more memory than there are bytes
	}
}

func TestKeepable_WhatCannotBe_Named(t *testing.T) {
	type within struct{ Self *within }
	for name, of := range map[string]reflect.Type{
		"a function":   reflect.TypeFor[func()](),
		"an interface": reflect.TypeFor[struct{ any any }](),
		"a channel":    reflect.TypeFor[[]chan int](),
		"within a map": reflect.TypeFor[map[string]error](),
		"a list":       reflect.TypeFor[within](),
	} {
		assert.ErrorIs(t, keepable(of), ErrKept, name)
	}
	assert.NoError(t, keepable(reflect.TypeFor[nested]()))
	_, err := run1(t, Options{Seeds: Seeds(1, 1)}, func(l *Lab) error {
		_, err := Gather(l, func(uint64) (func(), error) { return nil, nil })
		return err
	})
	assert.ErrorIs(t, err, ErrKept, "also where nothing is split")

	shared := new(int)
	_, err = keep([]*int{shared, shared})
	assert.ErrorIs(t, err, ErrKept)
}

// run1 runs one experiment.
func run1(t *testing.T, o Options, do func(*Lab) error) ([]Result, error) {
	t.Helper()
	return Run(t.Context(), []Experiment{{Name: "x", Run: do}}, o)
}

// split runs experiments in parts, and merges them.
func split(t *testing.T, experiments []Experiment, o Options, of int) ([]Result, error) {
	t.Helper()
	dir := t.TempDir()
	for i := range of {
		part := shard.Part{Index: i + 1, Of: of}
		records, err := RunPart(t.Context(), experiments, o, part)
		require.NoError(t, err)
		_, err = shard.Write(dir, shard.Job{Args: []byte("1")}, part, records)
		require.NoError(t, err)
	}
	set, err := shard.Read(dir)
	require.NoError(t, err)
	return Merge(t.Context(), experiments, o, set)
}

// gathersAll gathers in every way: one after the other, several at once, and again in each of these.
func gathersAll(job func(what int, seed uint64) (float64, error)) func(*Lab) error {
	return func(l *Lab) error {
		var all [][]float64
		var adding sync.Mutex
		gather := func(l *Lab, what int) error {
			values, err := Gather(l, func(seed uint64) (float64, error) { return job(what, seed) })
			adding.Lock()
			defer adding.Unlock()
			all = append(all, values)
			return err
		}
		if err := gather(l, 0); err != nil {
			return err
		}
		sums := make([]float64, 3)
		err := AtOnce(l, 3, func(l *Lab, i int) error {
			for k := range 2 {
				values, err := Gather(l, func(seed uint64) (float64, error) { return job(10*i+k+1, seed) })
				if err != nil {
					return fmt.Errorf("group %d: %w", i, err)
				}
				for _, v := range values {
					sums[i] += v
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := gather(l, 100); err != nil {
			return err
		}
		l.Row(Claim{ID: l.result.Name, Source: "§", Says: "s", Quantity: "q", Unit: Number, Holds: AtMost(3)}, all[1])
		l.Row(Claim{ID: l.result.Name + "-sums", Source: "§", Says: "s", Quantity: "q", Unit: Number, Holds: AtMost(3)}, []float64{sums[0] + 2*sums[1] + 4*sums[2]})
		return nil
	}
}

// drawn is a value of a run.
func drawn(what int, seed uint64) (float64, error) {
	return rand.New(rand.NewPCG(seed, uint64(what))).Float64(), nil
}

// rowsOf are the results without what differs in each run: times, and functions.
func rowsOf(results []Result) (rows [][]Row) {
	for _, r := range results {
		rows = append(rows, r.Rows)
	}
	return rows
}

func TestMerge_AnyParts_SameResults(t *testing.T) {
	experiments := []Experiment{{Name: "a", Run: gathersAll(drawn)}, {Name: "b", Run: gathersAll(drawn)}, {Name: "c", Run: gathersAll(drawn)}}
	for _, seeds := range []int{1, 2, 7} {
		o := Options{Seeds: Seeds(5, seeds), Parallel: 3}
		want, err := Run(t.Context(), experiments, o)
		require.NoError(t, err)
		for _, of := range []int{1, 2, 4, 30} {
			got, err := split(t, experiments, o, of)
			require.NoError(t, err)
			require.Equal(t, rowsOf(want), rowsOf(got), "%d seeds in %d parts", seeds, of)
			require.Equal(t, want[0].First, got[0].First)
			require.Equal(t, want[0].Seeds, got[0].Seeds)
		}
	}
}

// The merge fails as the whole does: with the first seed of the first experiment.
func TestMerge_RunsThatFail_SameError(t *testing.T) {
	boom := func(what int, seed uint64) (float64, error) {
		if what == 11 && seed >= 3 {
			return 0, fmt.Errorf("boom %d", seed)
		}
		return drawn(what, seed)
	}
	experiments := []Experiment{{Name: "a", Run: gathersAll(drawn)}, {Name: "b", Run: gathersAll(boom)}, {Name: "c", Run: gathersAll(boom)}}
	o := Options{Seeds: Seeds(1, 6), Parallel: 1}
	_, want := Run(t.Context(), experiments, o)
	require.EqualError(t, want, "b: group 1: seed 3: boom 3")
	for _, of := range []int{1, 2, 3, 18} {
		_, err := split(t, experiments, o, of)
		assert.EqualError(t, err, want.Error(), of)
	}
}

// A job that depends on what other seeds gave cannot be split: where that changes which runs there are, the merge says so.
func TestMerge_OtherRuns_Refused(t *testing.T) {
	depends := []Experiment{{Name: "a", Run: func(l *Lab) error {
		for range len(l.Seeds()) {
			if _, err := Gather(l, func(seed uint64) (float64, error) { return drawn(0, seed) }); err != nil {
				return err
			}
		}
		return nil
	}}}
	_, err := split(t, depends, Options{Seeds: Seeds(1, 4), Parallel: 1}, 2)
	assert.ErrorIs(t, err, ErrNotRun)
	few := []Experiment{{Name: "a", Run: func(l *Lab) error {
		for range 10 - len(l.Seeds()) {
			if _, err := Gather(l, func(seed uint64) (float64, error) { return drawn(0, seed) }); err != nil {
				return err
			}
		}
		return nil
	}}}
	_, err = split(t, few, Options{Seeds: Seeds(1, 4), Parallel: 1}, 2)
	assert.ErrorIs(t, err, ErrUnused)
}

// An interrupted part gives nothing.
func TestRunPart_Interrupted_NoRecords(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := Experiment{Name: "a", Run: func(l *Lab) error {
		_, err := Gather(l, func(uint64) (int, error) { cancel(); return 1, nil })
		return err
	}}
	records, err := RunPart(ctx, []Experiment{e}, Options{Seeds: Seeds(1, 10), Parallel: 1}, shard.Part{Index: 1, Of: 2})
	assert.True(t, errors.Is(err, context.Canceled))
	assert.Nil(t, records)
}
