-- A highwater recording. docs/recording.md explains every column. Times are UTC
-- nanoseconds, durations nanoseconds, amounts of memory bytes; NULL: not seen.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT
);

CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  host TEXT, boot_id TEXT, pid INTEGER, start_ticks INTEGER,
  parent INTEGER, name TEXT, exe TEXT, args TEXT,
  go_version TEXT, experiments TEXT, module TEXT, module_version TEXT, main_package TEXT,
  revision TEXT, build_id TEXT, arch TEXT, pie INTEGER, cgo INTEGER, stripped INTEGER, deps TEXT,
  heap_profile TEXT, why_not TEXT, found_by TEXT
);

CREATE TABLE sample (
  id INTEGER PRIMARY KEY,
  at INTEGER,
  usage INTEGER, peak INTEGER, usage_limit INTEGER,
  anon INTEGER, page_cache INTEGER, shmem INTEGER, kernel INTEGER, sock INTEGER,
  active_file INTEGER, inactive_file INTEGER, dirty INTEGER, writeback INTEGER,
  kernel_stack INTEGER, page_tables INTEGER, slab INTEGER,
  major_faults INTEGER, refaults INTEGER, scanned INTEGER,
  events_max INTEGER, events_high INTEGER, events_oom INTEGER, events_oom_kill INTEGER,
  pressure_some10 REAL, pressure_full10 REAL, pressure_some_total INTEGER, pressure_full_total INTEGER,
  host_total INTEGER, host_available INTEGER,
  unchanged INTEGER
);

CREATE TABLE process_sample (
  id INTEGER PRIMARY KEY,
  at INTEGER, process INTEGER REFERENCES process,
  resident INTEGER, shared INTEGER, threads INTEGER, user_time INTEGER, system_time INTEGER, process_faults INTEGER,
  gogc INTEGER, memory_limit INTEGER,
  heap_live INTEGER, heap_marked INTEGER, heap_goal INTEGER, gc_trigger INTEGER,
  total_alloc INTEGER, total_free INTEGER,
  heap_in_use INTEGER, heap_free INTEGER, heap_released INTEGER, mapped_ready INTEGER,
  stack_in_use INTEGER, stack_sys INTEGER, mspan_sys INTEGER, mcache_sys INTEGER,
  buck_hash INTEGER, gc_sys INTEGER, other_sys INTEGER,
  num_gc INTEGER, num_forced_gc INTEGER, gc_phase INTEGER, last_gc INTEGER, pause_total INTEGER,
  gc_assist_time INTEGER, gc_dedicated_time INTEGER, gc_idle_time INTEGER, gc_pause_time INTEGER,
  cpu_total INTEGER, gc_cpu_fraction REAL,
  goroutines INTEGER, profile_rate INTEGER,
  unchanged INTEGER
);

CREATE TABLE gc_cycle (
  id INTEGER PRIMARY KEY,
  at INTEGER, process INTEGER REFERENCES process, n INTEGER, missed INTEGER,
  gc_trigger INTEGER, marked INTEGER, goal INTEGER, pause INTEGER,
  gogc INTEGER, memory_limit INTEGER, total_alloc INTEGER
);

CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  at INTEGER, kind TEXT, process INTEGER REFERENCES process, value INTEGER, text TEXT
);

CREATE TABLE gap (
  id INTEGER PRIMARY KEY,
  since INTEGER, until INTEGER, process INTEGER REFERENCES process, what TEXT, why TEXT
);

CREATE TABLE frame (
  id INTEGER PRIMARY KEY,
  hash BLOB, function TEXT, file TEXT, line INTEGER, start_line INTEGER
);

CREATE TABLE location (
  id INTEGER PRIMARY KEY,
  address INTEGER, frames TEXT
);

CREATE TABLE site (
  id INTEGER PRIMARY KEY,
  process INTEGER REFERENCES process, number INTEGER, hash BLOB, size INTEGER, stack TEXT, hidden INTEGER
);

CREATE TABLE heap_profile (
  id INTEGER PRIMARY KEY,
  at INTEGER, process INTEGER REFERENCES process, rate INTEGER, cycle INTEGER,
  sites INTEGER, base INTEGER REFERENCES heap_profile, counts BLOB
);

CREATE TABLE moment (
  id INTEGER PRIMARY KEY,
  at INTEGER, kind TEXT, took INTEGER, stopped INTEGER, first_process INTEGER, processes INTEGER,
  usage INTEGER, peak INTEGER, usage_limit INTEGER,
  anon INTEGER, page_cache INTEGER, shmem INTEGER, kernel INTEGER, sock INTEGER,
  active_file INTEGER, inactive_file INTEGER, dirty INTEGER, writeback INTEGER,
  kernel_stack INTEGER, page_tables INTEGER, slab INTEGER,
  major_faults INTEGER, refaults INTEGER, scanned INTEGER,
  events_max INTEGER, events_high INTEGER, events_oom INTEGER, events_oom_kill INTEGER,
  after_usage INTEGER, after_peak INTEGER, after_usage_limit INTEGER,
  after_anon INTEGER, after_page_cache INTEGER, after_shmem INTEGER, after_kernel INTEGER, after_sock INTEGER,
  after_active_file INTEGER, after_inactive_file INTEGER, after_dirty INTEGER, after_writeback INTEGER,
  after_kernel_stack INTEGER, after_page_tables INTEGER, after_slab INTEGER,
  after_major_faults INTEGER, after_refaults INTEGER, after_scanned INTEGER,
  after_events_max INTEGER, after_events_high INTEGER, after_events_oom INTEGER, after_events_oom_kill INTEGER
);

CREATE TABLE process_moment (
  id INTEGER PRIMARY KEY,
  moment INTEGER REFERENCES moment, process INTEGER REFERENCES process,
  signal INTEGER, exit_code INTEGER, profile INTEGER REFERENCES heap_profile, incomplete TEXT,
  first_group INTEGER, groups INTEGER,
  resident INTEGER, shared INTEGER, threads INTEGER, user_time INTEGER, system_time INTEGER, process_faults INTEGER,
  pages_anon INTEGER, pages_file INTEGER, pages_shmem INTEGER, pages_swap INTEGER,
  go_known INTEGER, pages_go_objects INTEGER, pages_go_idle INTEGER, pages_go_stacks INTEGER, pages_go_runtime INTEGER,
  pages_c_malloc INTEGER, pages_mmap INTEGER, pages_image INTEGER,
  untouched INTEGER, untouched_new INTEGER, vm_pte INTEGER, pages_c_stacks INTEGER, c_stacks INTEGER,
  gogc INTEGER, memory_limit INTEGER,
  heap_live INTEGER, heap_marked INTEGER, heap_goal INTEGER, gc_trigger INTEGER,
  total_alloc INTEGER, total_free INTEGER,
  heap_in_use INTEGER, heap_free INTEGER, heap_released INTEGER, mapped_ready INTEGER,
  stack_in_use INTEGER, stack_sys INTEGER, mspan_sys INTEGER, mcache_sys INTEGER,
  buck_hash INTEGER, gc_sys INTEGER, other_sys INTEGER,
  num_gc INTEGER, num_forced_gc INTEGER, gc_phase INTEGER, last_gc INTEGER, pause_total INTEGER,
  gc_assist_time INTEGER, gc_dedicated_time INTEGER, gc_idle_time INTEGER, gc_pause_time INTEGER,
  cpu_total INTEGER, gc_cpu_fraction REAL,
  goroutines INTEGER, profile_rate INTEGER,
  live_objects INTEGER, live_bytes INTEGER, live_large INTEGER, live_took INTEGER, live_sampled BLOB,
  metrics_at INTEGER, metrics TEXT, malloc INTEGER, thread_starts TEXT
);

CREATE TABLE goroutine_group (
  id INTEGER PRIMARY KEY,
  process_moment INTEGER REFERENCES process_moment,
  state TEXT, reason TEXT, pcs TEXT, stack TEXT, creator INTEGER, created_at INTEGER REFERENCES location,
  count INTEGER, stack_bytes INTEGER, oldest INTEGER, frame_bytes TEXT, labels TEXT, locked INTEGER, ids TEXT
);

CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT, bounds TEXT
);
