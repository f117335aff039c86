package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/internal/s3local"
	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

// TestMain is the program, too: a sync under test starts this binary again as
// its source, destination and store.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-child") {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheTruthAgreesWithTheSource(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		if err := truthfile.Relocate("."); err != nil {
			t.Fatal(err)
		}
	}
	if err := truthfile.Check(".", knownFaults...); err != nil {
		t.Error(err)
	}
}

func TestRowsArrive(t *testing.T) {
	eachFault(t, func(t *testing.T, fault *faults.Set) {
		for _, s := range []source{
			{count: 9, pages: 3, pageRows: 40},
			{count: 1, pages: 1, pageRows: 1},
			{count: 2, pages: 0, pageRows: 5},
		} {
			e := newEnds(t, fault, s)
			tables, rows, err := e.sync(t.Context())
			if err != nil || tables != int64(s.count) || rows != int64(s.count*s.pages*s.pageRows) {
				t.Fatalf("%+v: %d tables, %d rows, %v", s, tables, rows, err)
			}
			for i := range s.count {
				want := makePage(tableName(i), 0, s.pages*s.pageRows)
				compare(t, e.store, tableName(i)+".parquet", want)
				want.Release()
			}
		}
	})
}

func TestAnObjectOfSeveralPartsArrives(t *testing.T) {
	for _, fault := range []string{"none", "noseek"} {
		e := newEnds(t, faults.Of(fault), source{count: 1, pages: 25, pageRows: 5000})
		if _, _, err := e.sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := e.store.Objects()[0].Bytes; n <= 5<<20 {
			t.Errorf("%d bytes make one part", n)
		}
		want := makePage(tableName(0), 0, 25*5000)
		compare(t, e.store, tableName(0)+".parquet", want)
		want.Release()
	}
}

// compare reads an object and holds it against the rows of a record.
func compare(t *testing.T, store *s3local.Store, key string, want arrow.RecordBatch) {
	t.Helper()
	object, err := store.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	table, err := pqarrow.ReadTable(context.Background(), bytes.NewReader(object), parquet.NewReaderProperties(memory.DefaultAllocator),
		pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	if table.NumRows() != want.NumRows() || table.NumCols() != want.NumCols() {
		t.Fatalf("%s: %d rows of %d columns, want %d of %d", key, table.NumRows(), table.NumCols(), want.NumRows(), want.NumCols())
	}
	for i := range int(want.NumCols()) {
		if want.NumRows() == 0 {
			continue
		}
		chunks := table.Column(i).Data().Chunks()
		got, err := array.Concatenate(chunks, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(values(got), values(want.Column(i))) {
			t.Errorf("%s: column %s differs", key, want.ColumnName(i))
		}
		got.Release()
	}
}

func values(a arrow.Array) []string {
	s := make([]string, a.Len())
	for i := range s {
		s[i] = a.ValueStr(i)
	}
	return s
}

func TestADestinationThatRefusesEndsTheSync(t *testing.T) {
	eachFault(t, func(t *testing.T, fault *faults.Set) {
		e := newEnds(t, fault, source{count: 4, pages: 2, pageRows: 10})
		e.store.Refuse(true)
		_, _, err := e.sync(t.Context())
		if err == nil || !strings.Contains(err.Error(), "table resources_") || !strings.Contains(err.Error(), "503") {
			t.Errorf("error %v, want one of a table with 503", err)
		}
	})
}

func TestADestinationThatIsLostEndsTheSync(t *testing.T) {
	eachFault(t, func(t *testing.T, fault *faults.Set) {
		e := newEnds(t, fault, source{count: 3, pages: 1 << 20, pageRows: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		failed := make(chan error, 1)
		go func() {
			_, _, err := e.sync(ctx)
			failed <- err
		}()
		<-e.writing
		e.stopDestination()
		if err := <-failed; err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "write") {
			t.Errorf("error %v, want one of writing", err)
		}
	})
}

func TestAnUnknownTableIsNotFound(t *testing.T) {
	e := newEnds(t, faults.Of(), source{count: 3})
	for _, name := range []string{"", "resources_0003", "resources_-001", "resources_1", "resources_0001x"} {
		if _, err := e.copyTable(t.Context(), name); status.Code(errors.Unwrap(err)) != codes.NotFound && status.Code(errors.Unwrap(err)) != codes.InvalidArgument {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

func TestABrokenRecordIsRefusedAndNothingIsStored(t *testing.T) {
	page := makePage(tableName(0), 0, 50)
	defer page.Release()
	good, err := encode(page)
	if err != nil {
		t.Fatal(err)
	}
	opening := destinationOf(t, "http://127.0.0.1:1", nil).records.opening
	broken := slices.Clone(good)
	for i := len(opening) + 8; i < len(opening)+300; i++ {
		broken[i] ^= 0x55
	}
	eachFault(t, func(t *testing.T, fault *faults.Set) {
		for name, messages := range map[string][][]byte{
			"empty":              {{}},
			"cut":                {good[:len(good)/2]},
			"cut, after a good":  {good, good[:100]},
			"broken":             {broken},
			"of another schema":  {good, otherSchema(t)},
			"two in one message": {append(slices.Clone(good[:len(good)-8]), good[len(opening):]...)},
		} {
			store, url := serveStore(t)
			d := destinationOf(t, url, fault)
			next := func() ([]byte, error) {
				if len(messages) == 0 {
					return nil, io.EOF
				}
				m := messages[0]
				messages = messages[1:]
				return m, nil
			}
			if _, err := d.write(t.Context(), "x", next); status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s: error %v, want InvalidArgument", name, err)
			}
			if n := len(store.Objects()); n != 0 {
				t.Errorf("%s: %d objects", name, n)
			}
		}
	})
}

func TestABrokenByteAllocatesNoMoreThanTheMessageIsWorth(t *testing.T) {
	page := makePage(tableName(0), 0, 3)
	defer page.Release()
	good, err := encode(page)
	if err != nil {
		t.Fatal(err)
	}
	records := destinationOf(t, "http://127.0.0.1:1", nil).records
	var before, after runtime.MemStats
	for i := range good {
		for _, flip := range []byte{1, 0x80, 0xff} {
			broken := slices.Clone(good)
			broken[i] ^= flip
			runtime.ReadMemStats(&before)
			if record, err := records.decode(broken); err == nil {
				record.Release()
			}
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 16<<20 {
				t.Errorf("byte %d ^ %#x: %d bytes were allocated for a message of %d", i, flip, after.TotalAlloc-before.TotalAlloc, len(good))
			}
		}
	}
}

func otherSchema(t *testing.T) []byte {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int8}}, nil))
	defer b.Release()
	b.Field(0).(*array.Int8Builder).Append(1)
	record := b.NewRecordBatch()
	defer record.Release()
	message, err := encode(record)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func TestAWholeSyncStartsItsProcessesAndEndsThem(t *testing.T) {
	for _, fault := range append([]string{"none"}, knownFaults...) {
		var out strings.Builder
		if err := run(t.Context(), []string{"-tables", "7", "-pages", "2", "-page", "5", "-delay", "1ms", "-fault", fault}, &out); err != nil {
			t.Fatal(err)
		}
		if want := fault + ": 7 tables, 70 rows\n"; !strings.HasPrefix(out.String(), want) {
			t.Errorf("printed %q, want %q first", out.String(), want)
		}
	}
}

func TestTheCommandRefusesWhatItCannotDo(t *testing.T) {
	for _, args := range [][]string{{"-fault", "leak"}, {"-tables", "0"}, {"nonsense"}, {"source", "store"}, {"-listen", "0.0.0.0:0", "store"}, {"-debug", ":1"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}

func FuzzDecode(f *testing.F) {
	page := makePage(tableName(0), 0, 3)
	defer page.Release()
	good, err := encode(page)
	if err != nil {
		f.Fatal(err)
	}
	records, err := newDecoder(resources)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good[len(records.opening):])
	f.Add(good[len(records.opening) : len(good)-40])
	f.Fuzz(func(t *testing.T, b []byte) {
		// What is not of the schema is refused at once: the rest is worth trying.
		if record, err := records.decode(append(slices.Clone(records.opening), b...)); err == nil {
			record.Release()
		}
	})
}
