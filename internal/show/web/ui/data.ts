// The data of the page as internal/show/web gives it. Times are seconds since the start,
// amounts bytes; null is "not seen".

export interface Overview {
  name: string; typed: string
  answer: Answer
  text: string
  markdown: string
  live: boolean
  damage: string
  start: string
  from: number
  seconds: number
  kill: number | null
  peak: number | null
  last: number | null
  after_end: [number, number] | null
  moments: { at: number; kind: string; bytes: number | null; pid: number }[]
  events: { at: number; kind: string; pid: number; value: number; text: string }[]
  gaps: { from: number; to: number | null; pid: number; what: string; why: string }[]
  holes: [number, number][]
  cycles: Cycle[]
  cycles_all: number
  moments_all: number
  events_all: number
  gaps_all: number
  programs: Program[]
  environment: Setting[]
  about: Record<string, string>
}

export interface Cycle { at: number; n: number; missed: number; trigger: number; marked: number; goal: number; pause: number }
export interface Setting { name: string; value: string }

export interface Program {
  pid: number; name: string; args: string; go_version: string; heap_profile: string; why_not: string
  from: number | null; to: number | null; peak: number | null; end: string; subject: boolean
}

export interface Answer {
  recording: string
  program: { name: string; pid: number; go_version: string; heap_profile: string }
  outcome: {
    state: string; by: string; exit_code: number | null; signal: string; limit_bytes: number | null; peak_bytes: number | null
    moment: string; at: string; elapsed_seconds: number; moment_seconds: number; killed_by_kernel: boolean; limit_of?: string; sentence: string
  }
  verdict: {
    class: string; sentence: string; detail: string; confidence: string; reasons: string[]; fingerprint: string; seen: number
    note?: { text: string; accepted: boolean }
    culprit: { function: string; file: string; line: number; bytes: number; role: string; hint: boolean } | null
    why: { text: string; evidence: string[]; url?: string }[]
    known: string[]; not_known: string[]; next: string[]
  }
  latency?: Latency
  allocators: { function: string; file: string; line: number; bytes: number }[]
  sampling: { view: string; total_bytes: number }
  run: {
    seconds: number
    footprint: { p50_bytes: number; p95_bytes: number; p99_bytes: number | null; p999_bytes: number | null } | null
    growth: { of: string; bytes_per_hour: number; low_bytes_per_hour: number; high_bytes_per_hour: number } | null
    collections: number; gc_share: number | null; tendency: string
  }
  evidence: { id: string; text: string; values: Record<string, number> }[]
  ruled_out: { class: string; name: string; reason: string; evidence: string[] }[]
  fixes: { id: string; text: string; kind: string; state: string; outlook: string; command: string; setting: string; limit_bytes: number }[]
  wont_help: { text: string; reason: string }[]
  not_predicted: string
  gaps: { what: string; why: string }[]
}

// Latency is how long answers took, in nanoseconds.
export interface Latency {
  probe: string; requests: number; no_answer: number; failed: number; sentence: string
  p50_ns: number; p90_ns: number; p99_ns: number | null; p999_ns: number | null; max_ns: number
  histogram: { from_ns: number; to_ns: number; requests: number }[]
  course: { at_seconds: number; requests: number; p50_ns: number | null; max_ns: number | null }[]
  failures: { why: string; requests: number }[]
}

export interface Predicted {
  gogc: number | null; gomemlimit_bytes: number | null; gc_at?: string; limit_bytes: number | null
  peak_heap_bytes: { p50: number; p95: number }; resident_bytes: { p50: number; p95: number }
  gcs: number; gc_cost: string; survives: string; thrash: boolean; recorded: boolean
}

export interface Tuning {
  answer: { grade: string; why: string[]; recorded: { resident_bytes: number }; settings: Predicted[]; recommended: { gogc: number | null; gomemlimit_bytes: number; limit_bytes: number; because: string } | null; not_recommended: string } | null
  why: string
}

export interface Timeline {
  from: number; to: number; exact: boolean; thinned: boolean; read: number
  at: number[]
  columns: Record<string, (number | null)[]>
  ledger: Stacked
}

// Stacked is the ledger over time: the rows, from the bottom up, sum to the memory usage.
export interface Stacked { at: number[]; rows: { name: string; word: string; bytes: number[] }[] }

export interface Row { name: string; word: string; group: string; bytes: number; reclaimable: boolean; means: string; parts: { name: string; bytes: number }[] }

export interface Instant {
  at: number; name: string; moment: number; apart: number; kind: string; took: number; stopped: number
  pages: boolean
  ledger: { total: number; limit: number | null; unexplained: number; of_cgroup: boolean; rows: Row[] }
  capture: number | null
  untouched: number
  native: { pid: number; name: string; malloc: number; mapped: number; image: number }[]
  heap: Heap
  grown: Grown[]
  native_live: NativeLive | null
  goroutines: { state: string; count: number; bytes: number; oldest: number; own: string; stack: string[]; by: string }[]
  processes: { name: string; pid: number; go_version: string; bytes: number; args: string; subject: boolean; signal: string }[]
  gaps: { what: string; why: string }[]
  settings: Setting[]
}

export interface Heap {
  view: string; rate: number; taken: number; since: number | null; total: number; error: number; grown: number
  lines: Line[]
  others: { count: number; bytes: number }
  frames: { function: string; place: string; owner: string }[]
  stacks: { frames: number[]; bytes: number; before: number; allocated: number; objects: number }[]
  left: { count: number; bytes: number }
}

export interface Line {
  function: string; short: string; file: string; place: string; line: number; owner: string
  bytes: number; error: number; grown: number; allocated: number; garbage: number; objects: number; in_flight: number
  course: { at: number; bytes: number }[]
  code: { file: string; first: number; mark: number; lines: string[] } | null
  code_why: string
}

// NativeLive is what C's allocator had given out and not got back, by the line that asked for it.
export interface NativeLive {
  total: number; error: number; row: number; blocks: number; samples: number; seen: number; ended: string; before: number
  lines: NativeLiveLine[]
  others: { count: number; bytes: number }
}

export interface NativeLiveLine {
  function: string; short: string; place: string; owner: string
  bytes: number; error: number; blocks: number; growth: number; oldest: number; median: number; native: string[]
  code: { file: string; first: number; mark: number; lines: string[] } | null
  code_why: string
}

// Grown is memory of one kind by the lines that wrote to its pages first.
export interface Grown {
  kind: string; word: string; whole: number; total: number; error: number; samples: number
  lines: GrownLine[]
  others: { count: number; bytes: number }
}

export interface GrownLine {
  function: string; short: string; place: string; owner: string; bytes: number; error: number; samples: number; native: string[]
  course: { at: number; bytes: number }[]
  code: Line['code']
  code_why: string
}

// Held is who holds the heap, as a capture of it found.
export interface Held {
  taken: number; reason: string; pid: number; stopped: number
  live_objects: number; live_bytes: number; dead: number; untyped: number
  paths: HeldPath[]
  types: { type: string; objects: number; bytes: number; inferred_bytes: number | null }[]
  collections: { path: string; kind: string; count: number; entries: number; room: number; bytes: number; reached: number }[]
  chains: { path: string; length: number }[]
  gaps: { what: string; why: string }[]
}

export interface HeldPath {
  parent: number; label: string; type: string; objects: number; bytes: number; held: number; retained: number; holder: boolean
  sites: { place: string; bytes: number }[]
}

// Source is where the page's data comes from: the server that gave the page, or the
// page itself.
export interface Source {
  offline: boolean
  leftOut: string[]
  sources: string[] // files that lines were taken from
  overview(): Promise<Overview>
  timeline(from: number, to: number, steps: number): Promise<Timeline>
  instant(at: string, from: string): Promise<Instant>
  held(at: string): Promise<Held | null>
  tuning(): Promise<Tuning>
  pprof(at: string): string | null
}

async function ask<T>(path: string): Promise<T> {
  let answer: Response
  try {
    answer = await fetch(path)
  } catch {
    throw new Error('highwater no longer answers: it was stopped, or the recording is closed. Run highwater open again.')
  }
  if (!answer.ok) throw new Error((await answer.text()).trim())
  return answer.json()
}

export const served: Source = {
  offline: false,
  leftOut: [],
  sources: [],
  overview: () => ask('api/overview'),
  timeline: (from, to, steps) => ask(`api/timeline?from=${from}&to=${to}&steps=${steps}`),
  instant: (at, from) => ask(`api/instant?at=${encodeURIComponent(at)}&from=${encodeURIComponent(from)}`),
  held: (at) => ask(`api/held?at=${encodeURIComponent(at)}`),
  tuning: () => ask('api/tuning'),
  pprof: (at) => `heap.pb.gz?at=${encodeURIComponent(at)}`,
}

interface Offline { overview: Overview; timeline: Timeline; instants: Instant[] | null; tuning: Tuning; held: Held | null; left_out: string[]; sources: string[]; pprof: string | null }

// since is an instant whose growth is counted from another one, as the server
// does it.
export function since(i: Instant, before: Instant): Instant {
  const was = new Map(before.heap.lines.map((l) => [l.function + l.place, l.bytes]))
  const key = (heap: Heap, s: Heap['stacks'][0]) => s.frames.map((n) => heap.frames[n].function + heap.frames[n].place).join()
  const stood = new Map<string, number>()
  for (const s of before.heap.stacks) stood.set(key(before.heap, s), (stood.get(key(before.heap, s)) ?? 0) + s.bytes)
  const stacks = i.heap.stacks.map((s) => {
    const k = key(i.heap, s), then = stood.get(k) ?? 0
    stood.delete(k) // sites of other object sizes have the same stack
    return { ...s, before: then }
  })
  const lines = i.heap.lines.map((l) => ({ ...l, grown: l.bytes - (was.get(l.function + l.place) ?? 0) }))
  return { ...i, heap: { ...i.heap, since: before.heap.taken, grown: i.heap.total - before.heap.total, lines, stacks } }
}

export function embedded(text: string): Source {
  const all: Offline = JSON.parse(text)
  const instants = all.instants ?? []
  return {
    offline: true,
    leftOut: all.left_out,
    sources: all.sources ?? [],
    overview: async () => all.overview,
    timeline: async () => all.timeline,
    tuning: async () => all.tuning,
    held: async () => all.held,
    instant: async (at, from) => {
      const find = (at: string) => {
        const named = at && instants.find((i) => i.name === at)
        if (named) return named
        const when = at === '' ? all.overview.answer.outcome.moment_seconds : parseFloat(at)
        let best = instants[0]
        if (!best) throw new Error('this file holds no moment')
        for (const i of instants) if (Math.abs(i.moment - when) < Math.abs(best.moment - when)) best = i
        return best
      }
      return from ? since(find(at), find(from)) : find(at)
    },
    pprof: (at) => (at === '' || at === all.overview.answer.outcome.moment) && all.pprof ? `data:application/octet-stream;base64,${all.pprof}` : null,
  }
}
