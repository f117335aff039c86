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

export function Course({ source, overview, state, change, jump, at }: {
  source: Source; overview: Overview; state: State; change: (s: Partial<State>) => void; jump: (name: 'kill' | 'peak' | 'last') => void; at: number | null
}) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const handle = useRef<HTMLElement | null>(null) // of the brush
  const [timeline, setTimeline] = useState<Timeline | null>(null)
  const [hidden, setHidden] = useState<Set<string>>(new Set())
  const [problem, setProblem] = useState('')
  const dark = useDark()
  const end = Math.max(overview.seconds, overview.from + 0.001)
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
  const all = shown.filter((d) => !hidden.has(d.column)).concat(laid ? [{ column: laid, label: overOf(laid).label, means: '', stroke: '--over', width: 1.5 }] : [])
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
  const now = useRef({ overview, state, change, at, view, move, done })
  now.current = { overview, state, change, at, view, move, done }
  const kind = all.map((d) => d.column).join() + dark
  useEffect(() => {
    const first = stretches.current!.best(...view.current)
    if (!first || !box.current) return
    const made = make(box.current, all, laid, first, now)
    plot.current = made
    plotted.current = first
    draw.current()
    const fit = new ResizeObserver(() => made.setSize({ width: box.current!.clientWidth, height: box.current!.clientHeight }))
    fit.observe(box.current)
    return () => { fit.disconnect(); made.destroy(); plot.current = null }
  }, [kind, timeline === null])
  useEffect(() => { plot.current?.redraw(false) }, [at, overview, state.base])

  const step = (e: KeyboardEvent) => {
    const by = ({ ArrowLeft: -1, ArrowRight: 1 }[e.key] ?? 0) * (to - from) / 100
    if (!by) return
    const t = Math.min(to, Math.max(from, (at ?? end) + by * (e.shiftKey ? 10 : 1)))
    change({ at: `${+t.toFixed(4)}s` })
    e.preventDefault()
  }
  const toggle = (column: string) => setHidden((set) => { const next = new Set(set); if (!next.delete(column)) next.add(column); return next })
  return <section class="course" aria-labelledby="course-title">
    <div class="tools">
      <h2 id="course-title">How did it get there?</h2>
      <span class="legend-line">{shown.map((d) => <button class={'series' + (hidden.has(d.column) ? ' off' : '')} aria-pressed={!hidden.has(d.column)} title={d.means} onClick={() => toggle(d.column)}><i style={{ borderTopColor: `var(${d.stroke})`, borderTopStyle: d.dash ? 'dashed' : 'solid' }} />{d.label}</button>)}
        {overview.cycles.length > 0 && <span class="series" title="Short strokes at the foot: a collection ended."><i class="gc" />collection</span>}
        {overview.moments.length > 0 && <span class="series" title="At the top: all was read at once then, the heap profile and the goroutines too."><i class="moment" />moment read in full</span>}</span>
      {whole && <label class="over">lay over <select value={laid} onChange={(e) => change({ over: (e.target as HTMLSelectElement).value })}><option value="">nothing</option>
        {Object.keys(whole.columns).filter((c) => over[c] || c.startsWith('figure ')).sort().map((c) => <option value={c}>{overOf(c).label}</option>)}</select></label>}
      <span class="push actions" role="group" aria-label="Jump to">
        <button onClick={() => jump('peak')} disabled={overview.peak === null} aria-keyshortcuts="p">Peak</button>
        <button onClick={() => jump('kill')} disabled={overview.kill === null} aria-keyshortcuts="k">Kill</button>
        <button onClick={() => jump('last')} disabled={overview.last === null} aria-keyshortcuts="l">Last</button>
        {state.base && <button class="base" onClick={() => change({ base: null })}>Stop comparing with {clock(state.base[1])}</button>}
        {state.window && <button onClick={() => change({ window: null })}>Whole run ({'\u00d7'} {clock(state.window[0])} {'\u2013'} {clock(state.window[1])})</button>}
      </span>
    </div>
    {problem && <p class="problem" role="alert">{problem}</p>}
    <div class="plot" ref={box} tabIndex={0} role="slider" aria-label="Time at the cursor; arrows move it" aria-valuemin={from} aria-valuemax={to} aria-valuenow={at ?? end} aria-valuetext={at === null ? '' : `${clock(at)}`} onKeyDown={step} />
    <Brush span={span} shown={[from, to]} whole={whole} move={move} done={done} hold={(e) => { handle.current = e }} />
    <details class="asTable"><summary>The same as a table{timeline?.thinned && `; drawn from ${timeline.read.toLocaleString()} of more samples, and the peaks: a narrower window has all`}</summary>{timeline && <Rows timeline={timeline} shown={shown} />}</details>
  </section>
}

// Rows is the picture for those who cannot see it: every so often a row.
function Rows({ timeline, shown }: { timeline: Timeline; shown: Drawn[] }) {
  const n = timeline.at.length, rows = Math.min(60, n)
  const picked = Array.from({ length: rows }, (_, i) => Math.round((i * (n - 1)) / Math.max(1, rows - 1)))
  return <div class="scroll" tabIndex={0} role="region" aria-label="Samples"><table><thead><tr><th scope="col" class="num">Time</th>{shown.map((d) => <th scope="col" class="num">{d.label}</th>)}</tr></thead>
    <tbody>{picked.map((i) => <tr><td class="num">{clock(timeline.at[i])}</td>{shown.map((d) => { const v = timeline.columns[d.column]?.[i] ?? null; return <td class="num">{v === null ? '\u2013' : size(v)}</td> })}</tr>)}</tbody></table></div>
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

