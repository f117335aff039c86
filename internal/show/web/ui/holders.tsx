import { Fragment, h } from 'preact'
import type { Answer, Grown, GrownLine, NativeLive, NativeLiveLine, Held, Instant, Line, Overview } from './data'
import type { State, View } from './state'
import { HeldBy } from './held'
import { Icicle } from './icicle'
import { clock, count, delta, limit, percent, size } from './format'

const views: [View, string, string][] = [
  ['live', 'Allocated by', 'The lines that allocated what is live.'], ['holders', 'Retained by', 'The variables, maps and goroutines without which the rest would be garbage.'],
  ['written', 'First written by', 'The lines that wrote to resident pages first, by a sample of page faults, native memory included.'],
  ['flame', 'Flame graph', 'Allocations by call stack.'],
  ['allocated', 'All allocated', 'The lines by all that they allocated since the start, live or not.'], ['garbage', 'Garbage', 'Dead objects that GC has not collected yet, by the line that allocated them.'],
  ['native', 'Native', 'Memory outside Go: cgo and mmap, by process, and by line where malloc and free were sampled (--native=live).'], ['goroutines', 'Goroutines', 'Where the goroutines wait or run.'],
]
const rows = 5

// apart says why the headline's figures are others than the table's: they are of a capture of the heap near the moment.
const apart = (s: Answer['sampling'], total: number) => s.view === 'captured' && Math.abs(s.total_bytes - total) > total / 20 ? `. The headline is of a heap capture with ${size(s.total_bytes)} live` : ''

export function Holders({ instant, held, overview, state, change }: { instant: Instant; held: Held | null; overview: Overview; state: State; change: (s: Partial<State>) => void }) {
  const heap = instant.heap
  const figure = (l: Line) => state.view === 'allocated' ? l.allocated : state.view === 'garbage' ? l.garbage : l.bytes
  const lines = [...heap.lines].sort((a, b) => figure(b) - figure(a)).filter((l) => figure(l) > 0)
  const whole = state.view === 'live' ? heap.total : lines.reduce((n, l) => n + figure(l), 0)
  const chosen = lines.find((l) => l.place === state.line) ?? lines[0]
  // What is a hundredth or less only distracts from the first screen.
  const listed = lines.filter((l, i) => i < rows && (i === 0 || figure(l) > whole / 100 || l === chosen))
  const others = lines.length - listed.length + heap.others.count
  const finding = heap.view === 'none' ? 'no heap profile was read'
    : `${size(heap.total)}${instant.processes.length > 1 ? ` of ${overview.answer.program.name} (pid ${overview.answer.program.pid})` : ''} ${heap.view === 'live' ? 'live' : 'live at the last GC'}${heap.rate > 1 ? `; sampled, \u00b1 ${size(heap.error)}` : ''}${apart(overview.answer.sampling, heap.total)}`
  const written = state.view === 'written' ? instant.grown.find((g) => g.kind === state.kind) ?? instant.grown[0] : undefined
  const retained = state.view === 'holders' && instant.capture !== null
  const compared = (state.window !== null || state.base !== null) && heap.since !== null
  return <section class="holders" aria-labelledby="who-title" id="who">
    <h2 id="who-title">Which code uses the memory? <span class="finding">{written ? faults(written) : finding}</span></h2>
    <div class="tabs" role="group" aria-label="What to list">{views.filter(([view]) => (view !== 'holders' || instant.capture !== null) && (view !== 'written' || instant.grown.length > 0)).map(([view, label, means]) => <button title={means} aria-pressed={state.view === view} onClick={() => change({ view })}>{label}</button>)}
      <span class="muted push">{retained ? `captured at ${clock(instant.capture!)}` : written ? `until ${clock(instant.moment)}` : heap.since !== null && `growth since ${clock(heap.since)}`}{!retained && !written && Math.abs(instant.apart) > 0.05 && `, read at ${clock(heap.taken)}`}</span></div>
    {state.view !== 'holders' && !written && heap.total > 0 && instant.ledger.of_cgroup && heap.total < 0.3 * instant.ledger.total && <p class="note">These lines allocated {percent(heap.total, instant.ledger.total)} of the memory usage. Most memory is elsewhere: see the bar above.</p>}
    {state.view === 'written' && (written ? <Written all={instant.grown} grown={written} state={state} change={change} /> : <p class="muted">No page faults were sampled until this snapshot.</p>)}
    {state.view === 'written' ? null : retained ? <HeldBy held={held} state={state} change={change} rows={rows} /> : state.view === 'flame' ? <Icicle heap={heap} state={state} change={change} baseline={compared} /> : state.view === 'native' ? <Native instant={instant} state={state} change={change} /> : state.view === 'goroutines' ? <Standing instant={instant} />
      : !lines.length ? <p class="muted">{heap.view === 'none' ? whyNone(overview) : state.view === 'garbage' ? 'No garbage is known here. Which objects are dead is read only at a kill or where a process ends.' : 'Nothing.'}</p>
      : <table class="lines"><colgroup><col /><col class="w3" /><col class="w1" /><col class="w2" /><col class="w2" /></colgroup><thead><tr><th scope="col">Line</th><th scope="col" class="num">Bytes</th><th scope="col" class="num">Share</th><th scope="col" class="num">Growth</th><th scope="col">Over time</th></tr></thead>
        <tbody>{listed.map((l) => [
          <tr class={l === chosen ? 'on' : ''} onClick={() => change({ line: l.place })}>
            <th scope="row" title={`${l.function} ${l.place}`}><button class="term" onClick={() => change({ line: l.place })} aria-expanded={l === chosen}><code>{l.place}</code></button> <span class={l.short.length > 60 ? 'muted long' : 'muted'}>{l.short}</span>{l.owner !== 'own' && <span class="chip">{l.owner}</span>}{l.in_flight > 0 && <span class="chip">{l.in_flight} {l.in_flight === 1 ? 'goroutine' : 'goroutines'} inside</span>}</th>
            <td class="num"><b>{size(figure(l))}</b>{state.view === 'live' && l.error > l.bytes / 100 && <span class="muted"> {'\u00b1'} {size(l.error)}</span>}</td>
            <td class="num">{percent(figure(l), whole)}</td>
            <td class="num">{heap.since === null ? '\u2013' : delta(l.grown)}</td>
            <td><Spark course={l.course} /></td>
          </tr>,
          l === chosen && <tr class="code"><td colSpan={5}><Code line={l} /></td></tr>,
        ])}</tbody></table>}
    {state.view === 'live' && others > 0 && <p class="muted">{others} other {others === 1 ? 'line' : 'lines'}, {size(lines.filter((l) => !listed.includes(l)).reduce((n, l) => n + l.bytes, 0) + heap.others.bytes)}</p>}
  </section>
}

function whyNone(overview: Overview): string {
  const p = overview.programs.find((p) => p.subject)
  if (p && !p.go_version) return `${p.name} is not a Go program: the lines that allocate are not known.`
  return p?.why_not ? `No heap profile: ${p.why_not}` : 'No heap profile was read.'
}

const faults = (g: Grown) => `${size(g.total)} of ${g.word}; ${count(g.samples)} page ${g.samples === 1 ? 'fault' : 'faults'} sampled, \u00b1 ${size(g.error)}`

// Written is who wrote first to the pages of one kind of memory.
function Written({ all, grown: g, state, change }: { all: Grown[]; grown: Grown; state: State; change: (s: Partial<State>) => void }) {
  const name = (l: GrownLine) => l.place || l.short
  const chosen = g.lines.find((l) => name(l) === state.line) ?? g.lines[0]
  const listed = g.lines.filter((l, i) => i < rows || l === chosen)
  const others = { count: g.lines.length - listed.length + g.others.count, bytes: g.lines.filter((l) => !listed.includes(l)).reduce((n, l) => n + l.bytes, 0) + g.others.bytes }
  return <div>
    {all.length > 1 && <div class="tabs" role="group" aria-label="Which memory">{all.map((k) => <button aria-pressed={k === g} onClick={() => change({ kind: k.kind, line: '' })}>{k.word} {size(k.total)}</button>)}</div>}
    {listed.length > 0 && <table class="lines"><colgroup><col /><col class="w3" /><col class="w1" /><col class="w2" /><col class="w2" /></colgroup><thead><tr><th scope="col">Line</th><th scope="col" class="num">Bytes</th><th scope="col" class="num">Share</th><th scope="col" class="num">Page faults</th><th scope="col">Over time</th></tr></thead>
      <tbody>{listed.map((l) => [
        <tr class={l === chosen ? 'on' : ''} onClick={() => change({ line: name(l) })}>
          <th scope="row" title={`${l.function} ${l.place}`}><button class="term" onClick={() => change({ line: name(l) })} aria-expanded={l === chosen}><code>{name(l)}</code></button> {l.place ? <span class={l.short.length > 60 ? 'muted long' : 'muted'}>{l.short}</span> : <span class="chip">a thread of C</span>}{l.place && l.owner !== 'own' && <span class="chip">{l.owner}</span>}</th>
          <td class="num"><b>{size(l.bytes)}</b>{l.error > l.bytes / 100 && <span class="muted"> {'\u00b1'} {size(l.error)}</span>}</td>
          <td class="num">{percent(l.bytes, g.whole)}</td>
          <td class="num">{count(l.samples)}</td>
          <td><Spark course={l.course} /></td>
        </tr>,
        l === chosen && <tr class="code"><td colSpan={5}>{l.place && <Code line={l} />}{l.native.length > 0 && <p class="muted">C: <code>{l.native.join(' < ')}</code></p>}</td></tr>,
      ])}</tbody></table>}
    <p class="muted">{[others.count > 0 && others.bytes > 0 && `${others.count} other ${others.count === 1 ? 'line' : 'lines'}, ${size(others.bytes)}.`, g.whole - g.total > g.whole / 20 && `${size(g.whole - g.total)} was not sampled.`, 'Memory that was returned since is still counted.'].filter(Boolean).join(' ')}</p>
  </div>
}

function Code({ line }: { line: Pick<Line, 'code' | 'code_why'> }) {
  if (!line.code) return <p class="muted">{line.code_why}</p>
  const { file, first, mark, lines } = line.code
  return <><pre tabIndex={0} role="region" aria-label="Source">{lines.map((text, i) => <div class={i === mark ? 'mark' : ''}><span class="no">{first + i}</span>{i === mark ? <mark>{text || ' '}</mark> : text}</div>)}</pre><p class="muted">source: <code>{file}</code></p></>
}

function Spark({ course }: { course: { at: number; bytes: number }[] }) {
  if (course.length < 2) return <span class="muted">{'\u2013'}</span>
  const top = Math.max(...course.map((c) => c.bytes), 1), from = course[0].at, to = course[course.length - 1].at
  const points = course.map((c) => `${(76 * (c.at - from)) / (to - from || 1) + 2},${17 - (15 * c.bytes) / top}`).join(' ')
  return <svg class="spark" width="80" height="18" viewBox="0 0 80 18" role="img" aria-label={`from ${size(course[0].bytes)} to ${size(course[course.length - 1].bytes)}, most ${size(top)}`}><polyline points={points} /></svg>
}

// Native is C's live blocks by line, where they were followed, and the pages outside Go by process.
function Native({ instant, state, change }: { instant: Instant; state: State; change: (s: Partial<State>) => void }) {
  return <>{instant.native_live && <Allocated live={instant.native_live} state={state} change={change} />}<Outside instant={instant} /></>
}

const age = (seconds: number) => seconds < 10 ? `${Math.max(seconds, 0.1).toFixed(1)} s` : seconds < 120 ? `${Math.round(seconds)} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`

// Allocated is which lines asked C's allocator for what it has not got back.
function Allocated({ live, state, change }: { live: NativeLive; state: State; change: (s: Partial<State>) => void }) {
  const name = (l: NativeLiveLine) => l.place || l.short
  const chosen = live.lines.find((l) => name(l) === state.line) ?? live.lines[0]
  const listed = live.lines.filter((l, i) => i < rows || l === chosen)
  const others = { count: live.lines.length - listed.length + live.others.count, bytes: live.lines.filter((l) => !listed.includes(l)).reduce((n, l) => n + l.bytes, 0) + live.others.bytes }
  const notes = [`${size(live.total)} in ${count(live.blocks)} live ${live.blocks === 1 ? 'block' : 'blocks'} of C code, \u00b1 ${size(live.error)}, of ${size(live.row)} native memory.`,
    others.count > 0 && others.bytes > 0 && `${others.count} other ${others.count === 1 ? 'line' : 'lines'}, ${size(others.bytes)}.`,
    live.ended ? `As it was ${age(live.before)} before, when the probes were taken out: ${live.ended}.` : `Calls were followed for ${age(live.seen)}: what was allocated before that is not listed.`]
  return <div class="asked">
    {listed.length > 0 && <table class="lines"><colgroup><col /><col class="w3" /><col class="w1" /><col class="w2" /><col class="w2" /><col class="w2" /></colgroup><thead><tr><th scope="col">Line</th><th scope="col" class="num">Live bytes</th><th scope="col" class="num">Share</th><th scope="col" class="num">Blocks</th><th scope="col" class="num">Oldest</th><th scope="col" class="num">Median age</th></tr></thead>
      <tbody>{listed.map((l) => [
        <tr class={l === chosen ? 'on' : ''} onClick={() => change({ line: name(l) })}>
          <th scope="row" title={`${l.function} ${l.place}`}><button class="term" onClick={() => change({ line: name(l) })} aria-expanded={l === chosen}><code>{name(l)}</code></button> {l.place ? <span class={l.short.length > 60 ? 'muted long' : 'muted'}>{l.short}</span> : <span class="chip">a thread of C</span>}{l.place && l.owner !== 'own' && <span class="chip">{l.owner}</span>}</th>
          <td class="num"><b>{size(l.bytes)}</b>{l.error > l.bytes / 100 && <span class="muted"> {'\u00b1'} {size(l.error)}</span>}</td>
          <td class="num">{percent(l.bytes, live.total)}</td>
          <td class="num">{count(l.blocks)}</td>
          <td class="num">{age(l.oldest)}</td>
          <td class="num">{age(l.median)}</td>
        </tr>,
        l === chosen && <tr class="code"><td colSpan={6}>{l.place && <Code line={l} />}{l.growth > l.bytes / 10 && l.growth > 2 * l.error && <p class="muted">{size(l.growth)} more than halfway through.</p>}{l.native.length > 0 && <p class="muted">C: <code>{l.native.join(' < ')}</code></p>}</td></tr>,
      ])}</tbody></table>}
    <p class="muted">{notes.filter(Boolean).join(' ')}</p>
  </div>
}

// Outside is what no heap profile shows, by the pages of each process.
function Outside({ instant }: { instant: Instant }) {
  if (!instant.native.length) return <p class="muted">This snapshot has no pages of a process.</p>
  return <table class="lines"><colgroup><col /><col class="w2" /><col class="w2" /><col class="w2" /></colgroup><thead><tr><th scope="col">Process</th><th scope="col" class="num">malloc</th><th scope="col" class="num">Mapped</th><th scope="col" class="num">Program data</th></tr></thead>
    <tbody>{instant.native.map((n) => <tr><th scope="row">{n.name} <span class="muted">{n.pid}</span></th><td class="num"><b>{size(n.malloc)}</b></td><td class="num">{size(n.mapped)}</td><td class="num">{size(n.image)}</td></tr>)}</tbody></table>
}

export function Standing({ instant, most = rows }: { instant: Instant; most?: number }) {
  if (!instant.goroutines.length) return <p class="muted">This snapshot has no goroutines.</p>
  return <table class="lines"><colgroup><col class="w1" /><col /><col class="w2" /><col class="w2" /><col class="w2" /></colgroup><thead><tr><th scope="col" class="num">Count</th><th scope="col">Where</th><th scope="col">State</th><th scope="col" class="num">Stacks</th><th scope="col" class="num">Longest wait</th></tr></thead>
    <tbody>{instant.goroutines.slice(0, most).map((g) => <tr>
      <td class="num"><b>{g.count}</b></td>
      <th scope="row"><details><summary><code>{g.own || g.stack.find((c) => !c.startsWith('runtime.')) || g.stack[0] || 'not known'}</code></summary><ol class="calls">{g.stack.map((c) => <li><code>{c}</code></li>)}</ol>{g.by && <p>started by <code>{g.by}</code></p>}</details></th>
      <td>{g.state}</td><td class="num">{size(g.bytes)}</td><td class="num">{g.oldest ? clock(g.oldest) : '\u2013'}</td>
    </tr>)}</tbody></table>
}
