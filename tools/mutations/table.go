package main

// mutation is one thing that is broken: old is in the file once, and the test of the package must fail
// where new stands in its place.
type mutation struct {
	name, file, old, new string
	pkg, test            string
}

var table = []mutation{
	{"flag: it has no effect", "internal/app/diff.go", "after = compared{path: before.path, at: f.To}", `after = compared{path: before.path, at: ""}`,
		"internal/cli", "TestPromises/diff"},
	{"flag: it is bound to another option", "internal/cli/diff_command.go", "&f.To,", "&f.From,", "internal/cli", "TestPromises/diff"},
	{"flag: nothing reads its option", "internal/app/diff.go", "	From, To       string", "	From, To, Unheeded string", "internal/aside/arch",
		"TestEveryOptionOfACommandIsRead"},
	{"flag: its page is not written", "internal/cli/diff_command.go", `"print as JSON"`, `"print the answer as JSON"`, "internal/cli",
		"TestEveryCommandHasATaskTwoExamplesAndAPage"},

	{"row: it is not filled", "internal/decide/explain/ledger.go", "rows[sample.RowSockets] += s.Sock.Or(0)", "_ = s.Sock", "internal/decide/explain",
		"TestACgroupsRowsAndTheRestSumToItsCharge"},
	{"row: it is in no list", "internal/words/sample/ledger.go", "RowShmem, RowKernel, RowSockets}", "RowShmem, RowKernel}", "internal/show/web",
		"TestTheListOfRowsIsWhole"},
	{"row: the page does not explain it", "internal/show/web/definitions.go", `	sample.RowSockets:     {groupFiles, "Data in flight in network buffers."},`, "",
		"internal/show/web", "TestEveryRowHasItsWordsItsPlaceAndItsColours"},
	{"row: it has no place over time", "internal/show/web/stacked.go", "sample.RowKernel, sample.RowSockets, sample.RowPageCache",
		"sample.RowKernel, sample.RowPageCache", "internal/show/web", "TestEveryRowHasItsWordsItsPlaceAndItsColours"},
	{"row: it has no colour", "internal/show/web/ui/page.css", ".row-socket-buffers {", ".row-sockets {", "internal/show/web",
		"TestEveryRowHasItsWordsItsPlaceAndItsColours"},
	{"row: a budget does not have it", "internal/measure/budget/budget.go", "{sample.RowKernel, sample.RowSockets}", "{sample.RowKernel}",
		"internal/measure/budget", "TestABudgetHasAPartForEveryRowOfALedger"},

	{"class: it has no words", "internal/decide/explain/rules.go", `Name: "memory never written", Noun: "memory that was never written"`,
		`Name: "memory never written"`, "internal/decide/explain", "TestEveryClassHasItsWords"},
	{"class: it is in no table", "internal/decide/explain/rules.go", "\t\t{Class: Untouched, ", "\t\t// {Class: Untouched, ", "internal/decide/explain",
		"TestThePagesOfTheRulesAreFresh"},
	{"class: its limit moved", "internal/decide/explain/rule_untouched.go", "untouched*100 < heap*30", "untouched*100 < heap*3000", "internal/decide/explain",
		"TestEachRuleSpeaksOnlyOfItsOwn"},
	{"class: its page has no example", "internal/decide/explain/rule_untouched.go", `Example: "buffers that were reserved and never used"`, `Example: "buffers"`,
		"internal/decide/explain", "TestThePagesOfTheRulesAreFresh"},

	{"column: it is not in the schema", "internal/record/recording/column.go", `{"sock", func`, `{"sockets", func`, "internal/record/recording",
		"TestEveryTableHasTheColumnsOfTheSchema"},
	{"column: it holds another value", "internal/record/recording/column.go", `{"pages_swap", func(g *sample.Residency) any { return &g.Swap }}`,
		`{"pages_swap", func(g *sample.Residency) any { return &g.Shmem }}`, "internal/record/recording", "TestWhatWasWrittenIsReadBack"},
	{"column: its handle is misspelled", "internal/record/recording/handles.go", `Column{name: "refaults"}`, `Column{name: "refault"}`,
		"internal/record/recording", "TestEveryHandleNamesColumnsOfItsTable"},
	{"column: the document does not name it", "docs/recording.md", "`untouched_new`", "untouched too", "internal/record/recording",
		"TestTheDocumentNamesEveryTableAndColumn"},
}
