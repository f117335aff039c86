import { h } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import type { Overview, Source, Timeline } from './data'
import type { State } from './state'
import { clock, duration, limit, size } from './format'

interface Drawn { column: string; label: string; means: string; stroke: string; fill?: string; width: number; dash?: number[]; stepped?: boolean }

// What is drawn, back to front. The strokes are variables of page.css.
const drawn: Drawn[] = [
  { column: 'usage', label: 'charged', means: 'What the kernel charges, page cache included: the figure that the limit is compared with.', stroke: '--usage', fill: '--usage-fill', width: 1.5 },
  { column: 'resident', label: 'resident', means: 'The resident memory of all processes.', stroke: '--resident', width: 1 },
  { column: 'heap_goal', label: 'heap goal', means: 'The size at which the next collection is to end.', stroke: '--goal', width: 1.5, dash: [2, 3], stepped: true },
  { column: 'heap_live', label: 'live heap', means: 'Found live by the last collection, and all that was allocated since: what the collector compares with its trigger.', stroke: '--live', width: 2 },
  { column: 'memory_limit', label: 'GOMEMLIMIT', means: 'The limit that the Go runtime knows.', stroke: '--memlimit', width: 1.5, dash: [8, 4], stepped: true },
  { column: 'usage_limit', label: 'limit', means: 'The limit of the cgroup.', stroke: '--limit', width: 2, stepped: true },
]

// over are the columns that can be laid over, each with a scale of its own: what the
// program publishes comes after them.
const over: Record<string, { label: string; show: (v: number) => string }> = {
  page_cache: { label: 'page cache', show: size }, shmem: { label: 'shared memory', show: size }, kernel: { label: 'kernel', show: size }, heap_in_use: { label: 'heap in use', show: size },
  goroutines: { label: 'goroutines', show: count }, pressure_some10: { label: 'memory pressure, %', show: count }, 'request latency, s': { label: 'latency of requests', show: duration },
}

function count(v: number): string { return Math.abs(v) >= 1e5 ? v.toExponential(2) : `${+v.toFixed(2)}` }

const overOf = (column: string) => over[column] ?? { label: column.replace(/^figure /, ''), show: /bytes$/.test(column) ? size : count }

const steps = 1200

export function Course({ source, overview, state, change, jump, at }: {
  source: Source; overview: Overview; state: State; change: (s: Partial<State>) => void; jump: (name: 'kill' | 'peak' | 'last') => void; at: number | null
}) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [timeline, setTimeline] = useState<Timeline | null>(null)
  const [hidden, setHidden] = useState<Set<string>>(new Set())
  const [problem, setProblem] = useState('')
  const dark = useDark()
  const end = Math.max(overview.seconds, overview.from + 0.001)
  const [from, to] = state.window ?? [overview.from, end]

  useEffect(() => {
    let late = false
    source.timeline(from, to, steps).then((t) => { if (!late) { setTimeline(t); setProblem('') } }, (err: Error) => { if (!late) setProblem(err.message) })
    return () => { late = true }
  }, [from, to, overview])

  // The plot is made anew with other columns or colours; else it gets new data.
  const now = useRef({ overview, state, change, at })
  now.current = { overview, state, change, at }
  const shown = timeline ? drawn.filter((d) => timeline.columns[d.column]) : []
  const laid = timeline && timeline.columns[state.over] ? state.over : ''
  const all = shown.filter((d) => !hidden.has(d.column)).concat(laid ? [{ column: laid, label: overOf(laid).label, means: '', stroke: '--over', width: 1.5 }] : [])
  const kind = all.map((d) => d.column).join() + dark
  useEffect(() => {
    if (!timeline || !box.current) return
    const made = make(box.current, all, laid, timeline, now)
    plot.current = made
    const fit = new ResizeObserver(() => made.setSize({ width: box.current!.clientWidth, height: box.current!.clientHeight }))
    fit.observe(box.current)
    return () => { fit.disconnect(); made.destroy(); plot.current = null }
  }, [kind, timeline === null])
  useEffect(() => {
    if (!timeline || !plot.current) return
    plot.current.setData(columnsOf(timeline, all, overview.holes), false)
    plot.current.setScale('x', { min: from, max: to })
  }, [timeline])
  useEffect(() => { plot.current?.redraw(false) }, [at, overview, state.base])

  const step = (to - from) / 100
  const move = (e: KeyboardEvent) => {
    const by = e.key === 'ArrowLeft' ? -step : e.key === 'ArrowRight' ? step : 0
    if (!by) return
    const t = Math.min(to, Math.max(from, (at ?? end) + by * (e.shiftKey ? 10 : 1)))
    change({ at: `${+t.toFixed(4)}s` })
    e.preventDefault()
  }
  const toggle = (column: string) => setHidden((set) => { const next = new Set(set); if (!next.delete(column)) next.add(column); return next })
  return <section class="course" aria-labelledby="course-title">
    <div class="tools">
      <h2 id="course-title">How did it get there?</h2>
      <span class="legend-line">{shown.map((d) => <button class={'series' + (hidden.has(d.column) ? ' off' : '')} aria-pressed={!hidden.has(d.column)} title={d.means} onClick={() => toggle(d.column)}><i style={{ borderTopColor: `var(${d.stroke})`, borderTopStyle: d.dash ? 'dashed' : 'solid' }} />{d.label}</button>)}</span>
      {timeline && <label class="over">lay over <select value={laid} onChange={(e) => change({ over: (e.target as HTMLSelectElement).value })}><option value="">nothing</option>
        {Object.keys(timeline.columns).filter((c) => over[c] || c.startsWith('figure ')).sort().map((c) => <option value={c}>{overOf(c).label}</option>)}</select></label>}
      <span class="push actions" role="group" aria-label="Jump to">
        <button onClick={() => jump('peak')} disabled={overview.peak === null} aria-keyshortcuts="p">Peak</button>
        <button onClick={() => jump('kill')} disabled={overview.kill === null} aria-keyshortcuts="k">Kill</button>
        <button onClick={() => jump('last')} disabled={overview.last === null} aria-keyshortcuts="l">Last</button>
        {state.base && <button class="base" onClick={() => change({ base: null })}>Stop comparing with {clock(state.base[1])}</button>}
        {state.window && <button onClick={() => change({ window: null })}>Whole run ({'\u00d7'} {clock(state.window[0])} {'\u2013'} {clock(state.window[1])})</button>}
      </span>
    </div>
    {problem && <p class="problem" role="alert">{problem}</p>}
    <div class="plot" ref={box} tabIndex={0} role="slider" aria-label="Time at the cursor; arrows move it" aria-valuemin={from} aria-valuemax={to} aria-valuenow={at ?? end} aria-valuetext={at === null ? '' : `${clock(at)}`} onKeyDown={move} />
    <details class="asTable"><summary>The same as a table</summary>{timeline && <Rows timeline={timeline} shown={shown} />}</details>
  </section>
}

// Rows is the picture for those who cannot see it: every so often a row.
function Rows({ timeline, shown }: { timeline: Timeline; shown: Drawn[] }) {
  const n = timeline.at.length, rows = Math.min(60, n)
  const picked = Array.from({ length: rows }, (_, i) => Math.round((i * (n - 1)) / Math.max(1, rows - 1)))
  return <div class="scroll" tabIndex={0} role="region" aria-label="Samples"><table><thead><tr><th scope="col" class="num">Time</th>{shown.map((d) => <th scope="col" class="num">{d.label}</th>)}</tr></thead>
    <tbody>{picked.map((i) => <tr><td class="num">{clock(timeline.at[i])}</td>{shown.map((d) => { const v = timeline.columns[d.column][i]; return <td class="num">{v === null ? '\u2013' : size(v)}</td> })}</tr>)}</tbody></table></div>
}

function useDark(): boolean {
  const query = matchMedia('(prefers-color-scheme: dark)')
  const [dark, setDark] = useState(query.matches)
  useEffect(() => {
    const follow = () => setDark(query.matches)
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }, [])
  return dark
}

// columnsOf makes what uPlot draws: undefined where a row has no value of its own,
// so that the line goes on, null within holes, so that it does not.
function columnsOf(t: Timeline, shown: Drawn[], holes: [number, number][]): uPlot.AlignedData {
  const at = [...t.at], breaks: number[] = []
  for (const [from, to] of holes) {
    const i = at.findIndex((x) => x > from)
    if (i > 0) { at.splice(i, 0, (from + to) / 2); breaks.push(i) }
  }
  return [at, ...shown.map((d) => {
    const v: (number | null | undefined)[] = t.columns[d.column].map((x) => x ?? undefined)
    for (const i of breaks) v.splice(i, 0, null)
    return v
  })] as uPlot.AlignedData
}

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

interface Now { current: { overview: Overview; state: State; change: (s: Partial<State>) => void; at: number | null } }

function make(box: HTMLElement, shown: Drawn[], laid: string, t: Timeline, now: Now): uPlot {
  const axis = { stroke: css('--muted'), grid: { stroke: css('--grid'), width: 1 }, ticks: { stroke: css('--grid'), width: 1, size: 4 }, font: '11px system-ui, sans-serif' }
  let down: number | null = null, baseline = false
  const tip = document.createElement('div')
  tip.className = 'tip'
  const options: uPlot.Options = {
    width: box.clientWidth, height: box.clientHeight,
    scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, (max || 1) * 1.06] }, over: { range: (_u, min, max) => [Math.min(0, min ?? 0), (max || 1) * 1.06] } },
    axes: [
      { ...axis, size: 26, values: (_u, splits) => splits.map(clock), space: 90 },
      { ...axis, size: 64, values: (_u, splits) => splits.map((v) => (v ? limit(v) : '0')), splits: (_u, _i, _min, max) => ticks(max), space: 34 },
      ...(laid ? [{ ...axis, scale: 'over', side: 1 as const, stroke: css('--over'), size: 70, grid: { show: false }, space: 34, values: (_u: uPlot, splits: number[]) => splits.map(overOf(laid).show) }] : []),
    ],
    series: [{}, ...shown.map((d) => ({
      scale: d.column === laid ? 'over' : 'y', label: d.label, stroke: css(d.stroke), width: d.width, dash: d.dash, fill: d.fill && css(d.fill), points: { show: false }, spanGaps: false, paths: d.stepped ? uPlot.paths.stepped!({ align: 1 }) : undefined,
    }))],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: false } },
    hooks: {
      init: [(u) => {
        u.over.append(tip)
        u.over.addEventListener('mousedown', (e) => { down = e.offsetX; baseline = e.ctrlKey || e.metaKey })
        u.over.addEventListener('mouseup', (e) => {
          const t = +u.posToVal(e.offsetX, 'x').toFixed(4)
          if (down !== null && Math.abs(e.offsetX - down) < 4) now.current.change(baseline ? { base: [t, t] } : { at: `${t}s` })
          down = null
        })
        u.over.addEventListener('mouseleave', () => { tip.hidden = true })
      }],
      setSelect: [(u) => {
        if (u.select.width < 4) return
        const range: [number, number] = [u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')]
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        if (baseline) now.current.change({ base: range })
        else now.current.change({ window: range, at: `${+range[1].toFixed(4)}s` })
      }],
      setCursor: [(u) => showTip(u, tip, shown)],
      drawClear: [(u) => { shade(u, now.current.state.base); hatch(u, now.current.overview) }],
      draw: [(u) => mark(u, now.current.overview, now.current.at)],
    },
  }
  return new uPlot(options, columnsOf(t, shown, now.current.overview.holes), box)
}

// ticks are round amounts of memory up to max.
function ticks(max: number): number[] {
  let step = 1
  while (max / step > 6) step *= 2
  const out: number[] = []
  for (let v = 0; v <= max; v += step) out.push(v)
  return out
}

function showTip(u: uPlot, tip: HTMLElement, shown: Drawn[]) {
  const i = u.cursor.idx, left = u.cursor.left ?? -1
  if (i == null || left < 0) { tip.hidden = true; return }
  tip.hidden = false
  tip.textContent = ''
  const line = (text: string, bold = false) => {
    const row = document.createElement(bold ? 'b' : 'div')
    row.textContent = text
    tip.append(row)
  }
  line(clock(u.data[0][i]), true)
  shown.forEach((d, n) => {
    // The last value before, where this row has none of its own.
    let v: number | null | undefined, j = i
    while (j >= 0 && (v = u.data[n + 1][j]) === undefined) j--
    if (v != null) line(`${d.label} ${d.stroke === '--over' ? overOf(d.column).show(v) : size(v)}`)
  })
  const right = left > u.over.clientWidth - 180
  tip.style.left = right ? '' : `${left + 12}px`
  tip.style.right = right ? `${u.over.clientWidth - left + 12}px` : ''
}

// shade marks the baseline.
function shade(u: uPlot, base: [number, number] | null) {
  if (!base) return
  const { ctx, bbox } = u
  const left = Math.max(bbox.left, u.valToPos(base[0], 'x', true)), right = Math.min(bbox.left + bbox.width, u.valToPos(base[1], 'x', true))
  if (right < left) return
  ctx.save()
  ctx.fillStyle = css('--base')
  ctx.fillRect(left, bbox.top, Math.max(2 * devicePixelRatio, right - left), bbox.height)
  ctx.restore()
}

// hatch shades the time in which nothing was observed.
function hatch(u: uPlot, o: Overview) {
  const { ctx, bbox } = u
  const unseen: [number, number][] = [...o.holes]
  for (const [from, to] of unseen) {
    const left = Math.max(bbox.left, u.valToPos(from, 'x', true)), right = Math.min(bbox.left + bbox.width, u.valToPos(to, 'x', true))
    if (right <= left) continue
    ctx.save()
    ctx.beginPath()
    ctx.rect(left, bbox.top, right - left, bbox.height)
    ctx.clip()
    ctx.strokeStyle = css('--hatch')
    ctx.lineWidth = devicePixelRatio
    ctx.beginPath()
    for (let x = left - bbox.height; x < right; x += 8 * devicePixelRatio) {
      ctx.moveTo(x, bbox.top + bbox.height)
      ctx.lineTo(x + bbox.height, bbox.top)
    }
    ctx.stroke()
    ctx.restore()
  }
}

// named are the events that have a line of their own.
const named: Record<string, string> = { 'load-start': 'load', 'load-end': 'load ended', exec: 'exec', note: 'note' }

// mark draws what happened: collections and moments as ticks at the foot, the kill
// as a line with its name, and the cursor.
function mark(u: uPlot, o: Overview, at: number | null) {
  const { ctx, bbox } = u, px = devicePixelRatio
  const x = (t: number) => Math.round(u.valToPos(t, 'x', true))
  const inside = (t: number) => t >= u.scales.x.min! && t <= u.scales.x.max!
  ctx.save()
  const foot = bbox.top + bbox.height
  const tick = (t: number, from: number, to: number, color: string, width: number) => {
    if (!inside(t)) return
    ctx.strokeStyle = color
    ctx.lineWidth = width * px
    ctx.beginPath()
    ctx.moveTo(x(t), from)
    ctx.lineTo(x(t), to)
    ctx.stroke()
  }
  for (const c of o.cycles) tick(c.at, foot - 7 * px, foot, css('--gc'), 1)
  for (const m of o.moments) {
    if (!inside(m.at)) continue
    ctx.fillStyle = css('--capture')
    ctx.beginPath()
    ctx.moveTo(x(m.at), bbox.top)
    ctx.lineTo(x(m.at) - 3 * px, bbox.top - 5 * px)
    ctx.lineTo(x(m.at) + 3 * px, bbox.top - 5 * px)
    ctx.fill()
  }
  ctx.font = `${11 * px}px system-ui, sans-serif`
  ctx.textBaseline = 'top'
  ctx.textAlign = 'left'
  const name = (t: number, text: string, color: string) => {
    tick(t, bbox.top, foot, color, 1.5)
    if (!inside(t)) return
    const wide = ctx.measureText(text).width
    const left = x(t) + wide + 8 * px > bbox.left + bbox.width ? x(t) - wide - 5 * px : x(t) + 5 * px
    const top = bbox.top + bbox.height * 0.42
    ctx.fillStyle = css('--page')
    ctx.fillRect(left - 2 * px, top - 2 * px, wide + 4 * px, 15 * px)
    ctx.fillStyle = color
    ctx.fillText(text, left, top)
  }
  for (const e of o.events) if (named[e.kind]) name(e.at, e.kind === 'note' ? e.text.slice(0, 40) : named[e.kind], css('--muted'))
  if (o.kill !== null) name(o.kill, 'killed', css('--limit'))
  if (at !== null && at !== o.kill) tick(at, bbox.top, foot, css('--text'), 1)
  if (at !== null && inside(at)) {
    ctx.fillStyle = css('--text')
    ctx.beginPath()
    ctx.arc(x(at), foot, 4 * px, 0, 7)
    ctx.fill()
  }
  ctx.restore()
}
