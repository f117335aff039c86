import { h } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import type { Overview, Source, Timeline } from './data'
import type { State } from './state'
import { Brush, within } from './brush'
import { columnsOf, Drawn, drawn, make, over, overOf } from './plot'
import { Stretches } from './stretches'
import { clock, size } from './format'

type Range = [number, number]

// How wide the chart is on paper: A4 in landscape without its margins, as page.css zooms it.
const paper = 1550

export function Course({ source, overview, state, change, jump, at }: {
  source: Source; overview: Overview; state: State; change: (s: Partial<State>) => void; jump: (name: 'kill' | 'peak' | 'last') => void; at: number | null
}) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const handle = useRef<HTMLElement | null>(null) // of the brush
  const [timeline, setTimeline] = useState<Timeline | null>(null)
  const [chosen, setChosen] = useState<Record<string, boolean>>({}) // lines that were switched on or off
  const [stacks, setStacks] = useState(true) // the ledger is drawn
  const [problem, setProblem] = useState('')
  const dark = useDark()
  const end = endOf(overview)
  const span: Range = [overview.from, end]
  const [from, to] = state.window ?? span

  // What is on screen runs ahead of the state while it is moved: then nothing but
  // the plot and the brush is drawn anew.
  const view = useRef<Range>([from, to])
  const plotted = useRef<Timeline | null>(null)
  const stretches = useRef<Stretches | null>(null)
  if (!stretches.current) {
    stretches.current = new Stretches(source, span, () => { setProblem(''); setTimeline(stretches.current!.best(...view.current)); draw.current() }, setProblem)
  }
  const whole = stretches.current.overview()
  const shown = whole ? drawn.filter((d) => whole.columns[d.column]) : []
  const laid = whole && whole.columns[state.over] ? state.over : ''
  const isOn = (d: Drawn) => chosen[d.column] ?? usual(d, whole!)
  const all = shown.filter(isOn).concat(laid ? [{ column: laid, label: overOf(laid).label, means: '', stroke: '--over', width: 2, dots: laid === 'gc_pause' }] : [])
  const draw = useRef(() => {})
  draw.current = () => {
    const best = stretches.current!.best(...view.current)
    if (!plot.current || !best) return
    if (best !== plotted.current) plot.current.setData(columnsOf(best, all, overview.holes), false)
    plotted.current = best
    plot.current.setScale('x', { min: view.current[0], max: view.current[1] })
  }
  const move = (r: Range) => {
    view.current = within(r, span)
    const part = (t: number) => `${(100 * t) / (span[1] - span[0])}%`
    if (handle.current) { handle.current.style.left = part(view.current[0] - span[0]); handle.current.style.width = part(view.current[1] - view.current[0]) }
    draw.current()
    stretches.current!.want(...view.current)
  }
  const done = () => {
    const [a, b] = view.current
    change({ window: b - a >= span[1] - span[0] ? null : [a, b] })
  }

  useEffect(() => {
    view.current = [from, to]
    stretches.current!.renew(span)
    draw.current()
    stretches.current!.want(from, to)
  }, [from, to, overview])

  // The plot is made anew with other columns or colours; else it gets new data.
  const stack = () => (stacks ? stretches.current!.best(...view.current)?.ledger ?? null : null)
  const now = useRef({ overview, state, change, at, view, move, done, stack })
  now.current = { overview, state, change, at, view, move, done, stack }
  const kind = all.map((d) => d.column).join() + dark
  useEffect(() => {
    const first = stretches.current!.best(...view.current)
    if (!first || !box.current) return
    const made = make(box.current, all, laid, first, now)
    plot.current = made
    plotted.current = first
    draw.current()
    const onScreen = () => made.setSize({ width: box.current!.clientWidth, height: box.current!.clientHeight })
    const onPaper = () => made.setSize({ width: paper, height: 245 })
    const fit = new ResizeObserver(onScreen)
    fit.observe(box.current)
    addEventListener('beforeprint', onPaper)
    addEventListener('afterprint', onScreen)
    return () => {
      fit.disconnect(); removeEventListener('beforeprint', onPaper); removeEventListener('afterprint', onScreen)
      made.destroy(); plot.current = null
    }
  }, [kind, timeline === null])
  useEffect(() => { plot.current?.redraw(false) }, [at, overview, state.base])
  useEffect(() => { if (plotted.current) plot.current?.setData(columnsOf(plotted.current, all, overview.holes), false); draw.current() }, [stacks])

  const step = (e: KeyboardEvent) => {
    const by = ({ ArrowLeft: -1, ArrowRight: 1 }[e.key] ?? 0) * (to - from) / 100
    if (!by) return
    const t = Math.min(to, Math.max(from, (at ?? end) + by * (e.shiftKey ? 10 : 1)))
    change({ at: `${+t.toFixed(4)}s` })
    e.preventDefault()
  }
  return <section class="course" aria-labelledby="course-title">
    <div class="tools">
      <h2 id="course-title">Memory over time</h2>
      <span class="legend-line">{whole && whole.ledger.at.length > 0 && <button class={'series' + (stacks ? '' : ' off')} aria-pressed={stacks} title="Where the memory was, stacked: the rows sum to the memory usage. The bar below names their colours." onClick={() => setStacks(!stacks)}><i class="areas" />where it was</button>}
        {shown.map((d) => <button class={'series' + (isOn(d) ? '' : ' off')} aria-pressed={isOn(d)} title={d.means} onClick={() => setChosen((c) => ({ ...c, [d.column]: !isOn(d) }))}><i style={{ borderTopColor: `var(${d.stroke})`, borderTopStyle: d.dash ? 'dashed' : 'solid' }} />{d.label}</button>)}
        {overview.cycles.length > 0 && <span class="series" title="Short strokes at the foot: a GC ended."><i class="gc" />GC</span>}
        {overview.moments.length > 0 && <span class="series" title="Snapshot: heap profile and goroutines were captured here. Click to jump."><i class="moment" />snapshot</span>}</span>
      {whole && <label class="over">Overlay: <select value={laid} onChange={(e) => change({ over: (e.target as HTMLSelectElement).value })}><option value="">none</option>
        {Object.keys(whole.columns).filter((c) => over[c] || c.startsWith('figure ')).sort(byUse).map((c) => <option value={c}>{overOf(c).label}</option>)}</select></label>}
      <span class="push actions" role="group" aria-label="Jump to">
        <button onClick={() => jump('peak')} disabled={overview.peak === null} aria-keyshortcuts="p" title="Show the snapshot with the highest memory usage">Peak</button>
        <button onClick={() => jump('kill')} disabled={overview.kill === null} aria-keyshortcuts="k" title="Show the snapshot at the kill">Kill</button>
        <button onClick={() => jump('last')} disabled={overview.last === null} aria-keyshortcuts="l" title="Show the last snapshot">Last</button>
        {state.base && <button class="base" onClick={() => change({ base: null })}>Stop comparing with {clock(state.base[1])}</button>}
        {state.window && <button onClick={() => change({ window: null })}>Whole run ({'\u00d7'} {clock(state.window[0])} {'\u2013'} {clock(state.window[1])})</button>}
      </span>
    </div>
    {problem && <p class="problem" role="alert">{problem}</p>}
    <div class="plot" ref={box} tabIndex={0} role="slider" aria-label="Time at the cursor; arrows move it" aria-valuemin={from} aria-valuemax={to} aria-valuenow={at ?? end} aria-valuetext={at === null ? '' : `${clock(at)}`} onKeyDown={step} />
    <Brush span={span} shown={[from, to]} whole={whole} move={move} done={done} hold={(e) => { handle.current = e }} />
    <details class="asTable"><summary>Show as table{timeline?.thinned && ` (drawn from ${timeline.read.toLocaleString()} samples and all peaks; zoom in for more)`}</summary>{timeline && <Rows timeline={timeline} shown={shown} />}</details>
  </section>
}

// endOf is where the picture ends: at the end of the program, where nothing of it happens
// later than that Highwater releases it. On a busy machine the last sample is late.
export function endOf(o: Overview): number {
  const end = Math.max(o.seconds, o.from + 0.001)
  const kept = o.after_end
  return kept && end - kept[1] < 0.5 && kept[0] > o.from ? Math.min(end, kept[0] + (kept[0] - o.from) / 400) : end
}

// usual says whether a line is drawn unless it is switched on or off. RSS stands in for a
// memory usage that was not measured; a limit far above everything would flatten the rest.
function usual(d: Drawn, t: Timeline): boolean {
  const most = (column: string) => Math.max(0, ...(t.columns[column] ?? []).map((v) => v ?? 0))
  if (d.column === 'resident') return !t.columns.usage
  if (d.column === 'usage_limit') return most('usage_limit') < 4 * Math.max(most('usage'), most('resident'))
  return d.usual ?? false
}

// byUse sorts the overlays: those that every Go program has come first.
function byUse(a: string, b: string): number {
  const rank = (c: string) => ['alloc_rate', 'gc_pause', 'goroutines'].indexOf(c) >>> 0
  return rank(a) - rank(b) || a.localeCompare(b)
}

// Rows is the picture for those who cannot see it: every so often a row, with the ledger
// of that time.
function Rows({ timeline, shown }: { timeline: Timeline; shown: Drawn[] }) {
  const n = timeline.at.length, rows = Math.min(60, n), s = timeline.ledger
  const picked = Array.from({ length: rows }, (_, i) => Math.round((i * (n - 1)) / Math.max(1, rows - 1)))
  const divided = (t: number) => { let k = -1; while (k + 1 < s.at.length && s.at[k + 1] <= t) k++; return k }
  return <div class="scroll" tabIndex={0} role="region" aria-label="Samples"><table><thead><tr><th scope="col" class="num">Time</th>{shown.map((d) => <th scope="col" class="num">{d.label}</th>)}{s.rows.map((r) => <th scope="col" class="num">{r.word}</th>)}</tr></thead>
    <tbody>{picked.map((i) => <tr><td class="num">{clock(timeline.at[i])}</td>{shown.map((d) => { const v = timeline.columns[d.column]?.[i] ?? null; return <td class="num">{v === null ? '\u2013' : size(v)}</td> })}
      {s.rows.map((r) => { const k = divided(timeline.at[i]); return <td class="num">{k < 0 ? '\u2013' : size(r.bytes[k])}</td> })}</tr>)}</tbody></table></div>
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

