import { Fragment, h } from 'preact'
import type { Held, Instant, Line, Overview } from './data'
import type { State, View } from './state'
import { HeldBy } from './held'
import { Icicle } from './icicle'
import { clock, delta, limit, percent, size } from './format'

const views: [View, string, string][] = [
  ['live', 'Allocated by', 'The lines that allocated what is live.'], ['holders', 'Retained by', 'The variables, maps and goroutines without which the rest would be garbage.'],
  ['flame', 'Flame graph', 'Allocations by call stack.'],
  ['allocated', 'All allocated', 'The lines by all that they allocated since the start, live or not.'], ['garbage', 'Garbage', 'Dead objects that GC has not collected yet, by the line that allocated them.'],
  ['native', 'Native', 'Memory outside Go, by process: cgo and mmap.'], ['goroutines', 'Goroutines', 'Where the goroutines wait or run.'],
]
const rows = 5

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
    : `${size(heap.total)}${instant.processes.length > 1 ? ` of ${overview.answer.program.name} (pid ${overview.answer.program.pid})` : ''} ${heap.view === 'live' ? 'live' : 'live at the last GC'}${heap.rate > 1 ? `; sampled, \u00b1 ${size(heap.error)}` : ''}`
  const retained = state.view === 'holders' && instant.capture !== null
  const compared = (state.window !== null || state.base !== null) && heap.since !== null
  return <section class="holders" aria-labelledby="who-title" id="who">
    <h2 id="who-title">Which code uses the memory? <span class="finding">{finding}</span></h2>
    <div class="tabs" role="group" aria-label="What to list">{views.filter(([view]) => view !== 'holders' || instant.capture !== null).map(([view, label, means]) => <button title={means} aria-pressed={state.view === view} onClick={() => change({ view })}>{label}</button>)}
      <span class="muted push">{retained ? `captured at ${clock(instant.capture!)}` : heap.since !== null && `growth since ${clock(heap.since)}`}{!retained && Math.abs(instant.apart) > 0.05 && `, read at ${clock(heap.taken)}`}</span></div>
    {state.view !== 'holders' && heap.total > 0 && instant.ledger.of_cgroup && heap.total < 0.3 * instant.ledger.total && <p class="note">These lines allocated {percent(heap.total, instant.ledger.total)} of the memory usage. Most of it is elsewhere: see the bar above.</p>}
    {retained ? <HeldBy held={held} state={state} change={change} rows={rows} /> : state.view === 'flame' ? <Icicle heap={heap} state={state} change={change} baseline={compared} /> : state.view === 'native' ? <Outside instant={instant} /> : state.view === 'goroutines' ? <Standing instant={instant} />
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

function Code({ line }: { line: Line }) {
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
