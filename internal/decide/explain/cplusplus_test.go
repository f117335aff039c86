package explain

import "testing"

// Names of DuckDB 1.5 and of libstdc++.
func TestNamesOfCPlusPlusAreAsTheSourceHasThem(t *testing.T) {
	for symbol, want := range map[string]string{
		"_ZN6duckdb10ColumnData10AppendDataERNS_14BaseStatisticsERNS_17ColumnAppendStateERNS_19UnifiedVectorFormatEm": "duckdb::ColumnData::AppendData",
		"_ZN6duckdb13ClientContext15CleanupInternalERNS_17ClientContextLockEPNS_15BaseQueryResultEbb":                 "duckdb::ClientContext::CleanupInternal",
		"_ZNK7rocksdb5Arena11MemoryUsageEv":  "rocksdb::Arena::MemoryUsage",
		"_ZN7rocksdb5ArenaC2Em":              "rocksdb::Arena::Arena",
		"_ZN7rocksdb5ArenaD0Ev":              "rocksdb::Arena::~Arena",
		"_ZNSt6vectorIiSaIiEE9push_backERKi": "std::vector<…>",
		"_Z4keepm":                           "keep",
		"_Znwm":                              "_Znwm",
		"_ZN":                                "_ZN",
		"_ZN99999999999999999999x":           "_ZN99999999999999999999x",
		"_ZN6duck":                           "_ZN6duck",
		"malloc":                             "malloc",
		"(libMagickCore-6.Q16.so.6)":         "(libMagickCore-6.Q16.so.6)",
	} {
		if got := plainName(symbol); got != want {
			t.Errorf("%s is %q, want %q", symbol, got, want)
		}
	}
}
