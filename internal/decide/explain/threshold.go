package explain

// Threshold is a number that a verdict depends on. All that decide stand in one
// table, so that whoever reads a verdict can find what it rests on.
type Threshold struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Origin string  `json:"origin"` // a formula, the kernel, the runtime, statistics, or "corpus"
}

// threshold is an index into the table.
type threshold int

// The thresholds, by what they are of.
const (
	fewestReadings threshold = iota
	enoughReadings
	manyReadings
	shortestRise
	longRise
	longestFirstRise
	leastGrown
	leastGrownShare
	leastGrownOfLimit
	lateGrowth
	goneOnGrowing
	cameToRest
	warmUp
	wrapUp
	fellBack
	freedLittle
	takenFront
	takenMany
	fewestProcesses
	freedMuch
	turnedOver
	manyTimes
	leftBehind
	followsCalls
	heldByRoot
	busyCore
	pacedCore
	leastRise
	leastSpike
	spikeOverFloor
	speakScore
	openScore
	mediumMargin
	highMargin
	nearTheLimit
	agedHalf
	stillRunning
	fewerCalls
	stacksShare
	threadStacks
	deepStack
	flatShare
	flatBytes
	flatOf
	isSo
	one
	none
	longRun
	manyCalls
	sameCourse
	threadTouched
	blamedPart
	smallPeak
	oneInstant
	passingPart
	churnRate
	churnRateKnown
	churnSeconds
	churnCycles
	churnPace
	churnLine
	churnCost
	churnCostKnown
	churnCores
	shortestPile
	shortestIO
	fewestPiled
	nativeCaches
	minSpiralGCShare
	shortestSpiral
	thrashFaults
	thrashRefaults
	thrashStalled
	thrashSeconds
	shortestSteady
	keptIdle
	heldAtMost
	minStableRun
	smallRise
	partOfGrower
	slowRise
	keptShare
	keptLeast
	keptSeen
	keptPart
	keptArenas
	keptOfArena
	unreadPart
	spreadReadings
	heldByEach
	fewestLarge
	churnCoresKnown
	trustedShare
	asMany
	leftPlace
	gathering
	freedByCalls
	lateShare
)

// thresholds is the table. An origin of "corpus" says that the value was chosen by
// the programs of the corpus, and that no better reason is known.
var thresholds = [...]Threshold{
	fewestReadings:    {"readings.fewest", 3, "readings", "statistics: two points are on a line whatever they are"},
	enoughReadings:    {"readings.enough", 5, "readings", "statistics: five rising readings in a row come by chance once in 120"},
	manyReadings:      {"readings.many", 10, "readings", "statistics: from ten readings on Sen's interval is as wide as a normal one"},
	shortestRise:      {"rise.shortest", 3, "seconds", "corpus"},
	longRise:          {"rise.long", 10, "seconds", "corpus"},
	longestFirstRise:  {"rise.first", 60, "seconds", "corpus"},
	leastGrown:        {"growth.least", 2 << 20, "bytes", "statistics: four samples at the profile's default rate of 512 KiB, twice their own error"},
	leastGrownShare:   {"growth.share", 0.05, "of the live heap", "corpus"},
	leastGrownOfLimit: {"growth.limit", 0.15, "of the limit", "corpus"},
	lateGrowth:        {"growth.late", 0.3, "of even growth", "corpus"},
	cameToRest:        {"growth.rest", 0.1, "of even growth", "corpus"},
	goneOnGrowing:     {"growth.even", 0.5, "of even growth", "corpus"},
	warmUp:            {"growth.warm_up", 0.2, "of the run", "corpus"},
	wrapUp:            {"growth.wrap_up", 0.1, "of the run", "corpus"},
	fellBack:          {"growth.fall", 0.5, "of the rise", "formula: more came back than stayed"},
	takenFront:        {"queue.taken", 1.0 / 32, "of the entries", "formula: append makes a quarter of room, half of it used in the mean; a quarter of that"},
	fewestProcesses:   {"processes.fewest", 5, "processes", "corpus: programs that start two or three helpers of one kind end with them"},
	takenMany:         {"queue.taken_many", 64, "items", "statistic: nobody skips a header of so many; they show a consumer that takes a sixteenth of what comes"},
	freedLittle:       {"line.freed_little", 0.1, "of what was allocated", "corpus"},
	freedMuch:         {"line.freed_much", 0.3, "of what was allocated", "corpus"},
	turnedOver:        {"line.turnover", 0.9, "of what was held half-way", "formula: all that was held has been freed since, less the error of sampling"},
	manyTimes:         {"line.many_times", 3, "of what was held half-way", "formula: more often than once by chance, with the error of sampling"},
	leftBehind:        {"calls.left", 0.5, "of what is held", "formula: more was left behind than is in flight"},
	followsCalls:      {"calls.follow", 0.7, "correlation", "statistics: half of the variance"},
	heldByRoot:        {"root.share", 0.5, "of what is held", "formula: more than all others together"},
	busyCore:          {"run.busy", 0.8, "cores", "corpus"},
	pacedCore:         {"run.paced", 0.5, "cores", "corpus"},
	leastRise:         {"rise.limit", 0.2, "of the limit", "corpus"},
	leastSpike:        {"spike.least", 128 << 20, "bytes", "corpus"},
	spikeOverFloor:    {"spike.floor", 2, "times", "formula: what comes and goes is more than what stays"},
	speakScore:        {"score.speaks", 2.5, "log-odds", "corpus"},
	openScore:         {"score.open", 0, "log-odds", "formula: as likely as not"},
	mediumMargin:      {"score.medium", 1, "log-odds", "corpus"},
	highMargin:        {"score.high", 4, "log-odds", "corpus"},
	nearTheLimit:      {"limit.near", 0.9, "of the limit", "corpus"},
	agedHalf:          {"line.aged", 0.25, "of what is held", "formula: of even growth that is never freed half is older than half of the rise"},
	stillRunning:      {"calls.standing", 0.9, "of the looks", "corpus"},
	fewerCalls:        {"calls.fewer", 0.5, "of the calls", "formula: more calls ended than go on"},
	stacksShare:       {"stacks.share", 0.35, "of the memory", "corpus"},
	deepStack:         {"stack.deep", 16 << 20, "bytes", "runtime: a stack of 16 MiB is of calls that go deep; it may grow to 1 GB"},
	threadStacks:      {"threads.many", 500, "threads", "corpus"},
	flatShare:         {"flat.share", 0.05, "of the memory", "corpus"},
	longRun:           {"rise.longest", 600, "seconds", "corpus"},
	oneInstant:        {"readings.apart", 0.04, "of the time", "corpus: a collection, and the capture or mark right after it"},
	passingPart:       {"line.passing", 0.2, "of its growth", "corpus: what the growth of a line counts that frees as much as it allocates"},
	keptShare:         {"malloc.kept", 0.25, "of the memory", "corpus: as much as free heap that is to be named"},
	keptSeen:          {"malloc.kept_seen", 16 << 20, "bytes", "corpus: as native memory that is to be named"},
	keptPart:          {"malloc.part", 0.25, "of what malloc keeps", "corpus: what a fix brings back that is worth a try"},
	keptArenas:        {"malloc.arenas", 3, "arenas", "formula: more than the main one and that of one thread"},
	keptOfArena:       {"malloc.of_arena", 1.0 / 16, "of what malloc keeps", "formula: less than an even share of glibc's eight arenas a processor, of two"},
	unreadPart:        {"malloc.unread", 1.0 / 64, "of malloc's memory", "formula: below what the answer rounds to"},
	keptLeast:         {"malloc.kept_least", 64 << 20, "bytes", "corpus: as much as free heap that is to be named where nothing is short"},
	smallPeak:         {"peak.small", 32 << 20, "bytes", "corpus"},
	blamedPart:        {"line.part", 0.1, "of the growth", "corpus"},
	threadTouched:     {"threads.touched", 64 << 10, "bytes", "corpus: what a thread's stack touches, and its control block"},
	sameCourse:        {"course.same", 0.9, "correlation", "statistics: four fifths of the variance"},
	manyCalls:         {"calls.many", 8, "calls", "corpus"},
	isSo:              {"yes", 0.5, "yes or no", "formula"},
	one:               {"one", 0.5, "things", "formula: at least one"},
	none:              {"none", 0.5, "things", "formula: fewer than one"},
	flatOf:            {"memory.flat_of", 0.25, "of the memory", "corpus"},
	churnRate:         {"churn.rate", 50 << 20, "bytes a second", "corpus"},
	churnRateKnown:    {"churn.rate_known", 5 << 20, "bytes a second", "corpus: where a cheaper way is known"},
	churnSeconds:      {"churn.seconds", 2, "seconds", "corpus"},
	churnCycles:       {"churn.collections", 30, "collections", "statistics: their rate is known to a fifth"},
	churnPace:         {"churn.pace", 10, "collections a second", "corpus: where no cheaper way is known"},
	churnLine:         {"churn.line", 0.6, "of what is allocated", "corpus"},
	churnCost:         {"churn.cost", 0.2, "of the CPU time", "corpus"},
	churnCostKnown:    {"churn.cost_known", 0.05, "of the CPU time", "corpus: where a cheaper way is known"},
	churnCores:        {"churn.cores", 0.1, "cores", "corpus: what GC must take where no cheaper way is known"},
	shortestPile:      {"pile.shortest", 1.5, "seconds", "corpus"},
	shortestIO:        {"pile.shortest_io", 10, "seconds", "corpus: whoever waits for a peer may wait for long and still be served"},
	nativeCaches:      {"native.caches", 16 << 20, "bytes", "corpus: what caches of C libraries come to"},
	fewestPiled:       {"pile.fewest", 100, "goroutines", "corpus"},
	minSpiralGCShare: {"spiral.cost", 0.1, "of the CPU time",
		"corpus: a mirror of files that had 7 % of it took as long as without a limit; spirals took 15 to 70 %"},
	shortestSpiral:  {"spiral.shortest", 3, "seconds", "corpus"},
	thrashFaults:    {"thrash.faults", 50, "faults a second", "corpus"},
	thrashRefaults:  {"thrash.refaults", 500, "refaults a second", "corpus"},
	thrashStalled:   {"thrash.stalled", 0.2, "of the time", "corpus"},
	thrashSeconds:   {"thrash.shortest", 5, "seconds", "corpus"},
	shortestSteady:  {"steady.shortest", 2, "seconds", "corpus"},
	keptIdle:        {"idle.shortest", 60, "seconds", "runtime: the scavenger gives free heap back over minutes"},
	heldAtMost:      {"capture.held", 0.5, "seconds", "formula: for how long a killed process is held at most for the capture of its heap"},
	partOfGrower:    {"growth.beside", 0.25, "of the growth", "corpus"},
	smallRise:       {"rise.small", 6 << 20, "bytes", "corpus"},
	slowRise:        {"rise.slow", 10, "seconds", "corpus"},
	minStableRun:    {"run.stable", 600, "seconds", "corpus"},
	churnCoresKnown: {"churn.cores_known", 0.01, "cores", "corpus: what GC must take where a cheaper way is known"},
	trustedShare:    {"gc.trusted", 0.9, "of the CPU time", "runtime: GC's time is booked by the clock, which others' work is in"},
	heldByEach:      {"pile.each", 64 << 10, "bytes", "corpus: far more than a goroutine's own stack, which is 2 to 8 KiB"},
	fewestLarge:     {"pile.fewest_large", 30, "goroutines", "statistics: so many that rise evenly come by chance no more; where each holds much"},
	spreadReadings:  {"readings.spread", 0.25, "of the time", "corpus: readings that lie together at the end tell nothing of the time before"},
	lateShare:       {"growth.second_half", 0.5, "of the rise", "formula: of an even rise half comes in its second half"},
	gathering:       {"calls.gather", 8, "seconds", "corpus"},
	freedByCalls: {"calls.freed", 8, "of what is held",
		"formula: append grows a large slice by a quarter and so frees four times what it holds at last; twice that"},
	asMany: {"pile.as_many", 0.8, "of the goroutines of the largest place",
		"statistics: the counts of what has one goroutine at each place differ by those that were just begun"},
	leftPlace: {"pile.left", 0.5, "of the oldest goroutines at a place", "formula: most of them"},
	flatBytes: {"flat.bytes", 4 << 20, "bytes", "runtime: the smallest heap at which Go collects"},
}

// v is the threshold's value.
func (t threshold) v() float64 { return thresholds[t].Value }
