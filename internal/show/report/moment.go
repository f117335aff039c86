package report

import (
	"time"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// MomentSchema names the form of a Moment in JSON, which docs/json.md describes.
// Its fields are only ever added to.
const MomentSchema = "highwater.moment/1"

// Moment is all that a recording knows of one moment. Amounts are bytes and
// durations nanoseconds, as the names say. Null is what was not seen; no list is
// null.
type Moment struct {
	Schema    string          `json:"schema"`
	Recording string          `json:"recording"`
	Moment    string          `json:"moment"` // "kill", "peak", "last" or "time"
	At        time.Time       `json:"at"`
	Elapsed   float64         `json:"moment_seconds"`
	Kind      string          `json:"kind"`
	Took      time.Duration   `json:"took_ns"`
	Stopped   time.Duration   `json:"stopped_ns"`
	Cgroup    *MomentCgroup   `json:"cgroup"`
	After     *MomentCgroup   `json:"cgroup_after"`
	Processes []MomentProcess `json:"processes"`
}

// MomentCgroup is the kernel's account of the cgroup.
type MomentCgroup struct {
	Usage sample.Bytes   `json:"usage_bytes"`
	Peak  *sample.Bytes  `json:"peak_bytes"`
	Limit *sample.Bytes  `json:"limit_bytes"`
	Stat  *MomentStat    `json:"stat"`
	Event *MomentCounter `json:"events"`
}

// MomentStat is how the charge divides.
type MomentStat struct {
	Anon         sample.Bytes  `json:"anon_bytes"`
	PageCache    sample.Bytes  `json:"page_cache_bytes"`
	Shmem        sample.Bytes  `json:"shmem_bytes"`
	Kernel       sample.Bytes  `json:"kernel_bytes"`
	Sock         *sample.Bytes `json:"sock_bytes"`
	ActiveFile   sample.Bytes  `json:"active_file_bytes"`
	InactiveFile sample.Bytes  `json:"inactive_file_bytes"`
	Dirty        sample.Bytes  `json:"dirty_bytes"`
	Writeback    sample.Bytes  `json:"writeback_bytes"`
	KernelStack  *sample.Bytes `json:"kernel_stack_bytes"`
	PageTables   *sample.Bytes `json:"page_tables_bytes"`
	Slab         *sample.Bytes `json:"slab_bytes"`
	MajorFaults  uint64        `json:"major_faults"`
	Refaults     *uint64       `json:"refaults"`
	Scanned      *uint64       `json:"scanned"`
}

// MomentCounter are the cgroup's counters since it was made.
type MomentCounter struct {
	High    uint64  `json:"high"`
	Max     uint64  `json:"max"`
	OOM     *uint64 `json:"oom"`
	OOMKill uint64  `json:"oom_kill"`
}

// MomentProcess is one process.
type MomentProcess struct {
	PID        int               `json:"pid"`
	StartTicks uint64            `json:"start_ticks"`
	Subject    bool              `json:"subject"` // explain's answer is about it
	Program    *MomentProgram    `json:"program"`
	Signal     int               `json:"signal"`
	ExitCode   *int              `json:"exit_code"`
	Incomplete string            `json:"incomplete"`
	Resident   *MomentResident   `json:"resident"`
	Residency  *MomentResidency  `json:"residency"`
	Runtime    *MomentRuntime    `json:"go_runtime"`
	Live       *MomentLive       `json:"live"`
	Heap       *MomentHeap       `json:"heap_profile"`
	Goroutines []MomentGoroutine `json:"goroutines"`
	Metrics    *MomentMetrics    `json:"runtime_metrics"`
}

// MomentProgram is what a process runs.
type MomentProgram struct {
	Name        string    `json:"name"`
	Exe         string    `json:"exe"`
	Args        []string  `json:"args"`
	Parent      int       `json:"parent_pid"`
	HeapProfile string    `json:"heap_profile"`
	WhyNot      string    `json:"why_not"`
	Go          *MomentGo `json:"go"`
}

// MomentGo is what a Go executable says of itself.
type MomentGo struct {
	Version       string         `json:"version"`
	Experiments   []string       `json:"experiments"`
	Module        string         `json:"module"`
	ModuleVersion string         `json:"module_version"`
	MainPackage   string         `json:"main_package"`
	Revision      string         `json:"revision"`
	BuildID       string         `json:"build_id"`
	Arch          string         `json:"arch"`
	PIE           bool           `json:"pie"`
	CGO           bool           `json:"cgo"`
	Stripped      bool           `json:"stripped"`
	FoundBy       string         `json:"found_by"` // how its runtime's variables were found; "": they were not
	Deps          []MomentModule `json:"deps"`
}

// MomentModule is one module of the build.
type MomentModule struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// MomentResident is the process's resident set.
type MomentResident struct {
	Total   sample.Bytes  `json:"total_bytes"`
	Shared  sample.Bytes  `json:"shared_bytes"`
	Threads int           `json:"threads"`
	User    time.Duration `json:"user_ns"`
	System  time.Duration `json:"system_ns"`
	Majflt  uint64        `json:"major_faults"`
}

// MomentResidency is where its pages lay.
type MomentResidency struct {
	Anon         sample.Bytes `json:"anon_bytes"`
	File         sample.Bytes `json:"file_bytes"`
	Shmem        sample.Bytes `json:"shmem_bytes"`
	Swap         sample.Bytes `json:"swap_bytes"`
	GoKnown      bool         `json:"go_known"`
	GoObjects    sample.Bytes `json:"go_objects_bytes"`
	GoIdle       sample.Bytes `json:"go_idle_bytes"`
	GoStacks     sample.Bytes `json:"go_stacks_bytes"`
	GoRuntime    sample.Bytes `json:"go_runtime_bytes"`
	CMalloc      sample.Bytes `json:"c_malloc_bytes"`
	Mmap         sample.Bytes `json:"mmap_bytes"`
	Image        sample.Bytes `json:"image_bytes"`
	Untouched    sample.Bytes `json:"untouched_bytes"`
	UntouchedNew sample.Bytes `json:"untouched_new_bytes"`
	PageTables   sample.Bytes `json:"page_tables_bytes"`
}

// MomentRuntime is the Go runtime's account of itself.
type MomentRuntime struct {
	GOGC         int32         `json:"gogc"`
	MemoryLimit  *int64        `json:"gomemlimit_bytes"` // null: none is set
	HeapLive     sample.Bytes  `json:"heap_live_bytes"`
	HeapMarked   sample.Bytes  `json:"heap_marked_bytes"`
	HeapGoal     sample.Bytes  `json:"heap_goal_bytes"`
	Trigger      sample.Bytes  `json:"gc_trigger_bytes"`
	TotalAlloc   sample.Bytes  `json:"total_alloc_bytes"`
	TotalFree    sample.Bytes  `json:"total_free_bytes"`
	HeapInUse    sample.Bytes  `json:"heap_in_use_bytes"`
	HeapFree     sample.Bytes  `json:"heap_free_bytes"`
	HeapReleased sample.Bytes  `json:"heap_released_bytes"`
	MappedReady  sample.Bytes  `json:"mapped_ready_bytes"`
	StackInUse   sample.Bytes  `json:"stack_in_use_bytes"`
	StackSys     sample.Bytes  `json:"stack_sys_bytes"`
	MSpanSys     sample.Bytes  `json:"mspan_sys_bytes"`
	MCacheSys    sample.Bytes  `json:"mcache_sys_bytes"`
	BuckHash     sample.Bytes  `json:"buck_hash_bytes"`
	GCSys        sample.Bytes  `json:"gc_sys_bytes"`
	OtherSys     sample.Bytes  `json:"other_sys_bytes"`
	NumGC        uint32        `json:"gcs"`
	NumForcedGC  uint32        `json:"forced_gcs"`
	GCPhase      string        `json:"gc_phase"` // "off", "mark" or "mark termination"
	LastGC       *time.Time    `json:"last_gc_at"`
	PauseTotal   time.Duration `json:"pause_total_ns"`
	GCAssist     time.Duration `json:"gc_assist_ns"`
	GCDedicated  time.Duration `json:"gc_dedicated_ns"`
	GCIdle       time.Duration `json:"gc_idle_ns"`
	GCPause      time.Duration `json:"gc_pause_ns"`
	CPUTotal     time.Duration `json:"cpu_total_ns"`
	GCCPU        float64       `json:"gc_cpu_fraction"`
	Goroutines   int           `json:"goroutines"`
	ProfileRate  int64         `json:"profile_rate_bytes"`
}

// MomentLive is what a mark reached.
type MomentLive struct {
	Objects uint64        `json:"objects"`
	Bytes   sample.Bytes  `json:"bytes"`
	Took    time.Duration `json:"took_ns"`
}

// MomentHeap is the process's heap profile: sites that hold something or have
// allocated something, scaled.
type MomentHeap struct {
	At    time.Time    `json:"at"`
	Rate  int64        `json:"rate_bytes"`
	View  string       `json:"view"` // "live": held is what a mark reached; "published": in use by the program's own profile
	Sites []MomentSite `json:"sites"`
}

// MomentSite is one allocation site: a stack and an object size.
type MomentSite struct {
	ObjectBytes      sample.Bytes   `json:"object_bytes"`
	HeldObjects      int64          `json:"held_objects"`
	HeldBytes        int64          `json:"held_bytes"`
	ErrorBytes       int64          `json:"error_bytes"`
	AllocatedObjects int64          `json:"allocated_objects"`
	AllocatedBytes   int64          `json:"allocated_bytes"`
	Stack            []sample.Place `json:"stack"` // innermost first
}

// MomentGoroutine is goroutines that stand at one place.
type MomentGoroutine struct {
	State      string         `json:"state"`
	Reason     string         `json:"reason"`
	Count      int            `json:"count"`
	StackBytes sample.Bytes   `json:"stack_bytes"`
	Oldest     time.Duration  `json:"oldest_ns"`
	Stack      []sample.Place `json:"stack"`
	// FrameBytes[i] is what the frame of Stack[i] takes in each; 0: inlined into the next.
	FrameBytes []sample.Bytes `json:"frame_bytes"`
	CreatedBy  []sample.Place `json:"created_by"`
	Labels     []MomentLabel  `json:"labels"`
}

// MomentLabel is a profiler label and how many goroutines carry it.
type MomentLabel struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Count int    `json:"count"`
}

// MomentMetrics are the figures of package runtime/metrics.
type MomentMetrics struct {
	At         time.Time         `json:"at"`
	Values     []MomentMetric    `json:"values"`
	Histograms []MomentHistogram `json:"histograms"`
}

// MomentMetric is one figure, in the unit that its name says.
type MomentMetric struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// MomentHistogram has the buckets that are not empty.
type MomentHistogram struct {
	Name    string         `json:"name"`
	Buckets []MomentBucket `json:"buckets"`
}

// MomentBucket counts what is from From on and below To; null is infinite.
type MomentBucket struct {
	From  *float64 `json:"from"`
	To    *float64 `json:"to"`
	Count uint64   `json:"count"`
}

// heldBy is a process's profile as it was held: what a mark reached, or what its
// program published.
func heldBy(p *sample.ProcessMoment) (*sample.HeapProfile, string) {
	if p.Live != nil && p.Live.Sampled != nil {
		return heapdiff.Live(p.Profile, p.Live.Sampled), "live"
	}
	return heapdiff.AsPublished(p.Profile), "published"
}
