// The plot of the course: what uPlot draws, and what is drawn over it.
import uPlot from 'uplot'
import type { Overview, Stacked, Timeline } from './data'
import type { State } from './state'
import { within, zoomed } from './brush'
import { clock, duration, limit, percent, size } from './format'

export interface Drawn { column: string; label: string; means: string; stroke: string; fill?: string; width: number; dash?: number[]; stepped?: boolean; usual?: boolean; dots?: boolean }

// What can be drawn as a line, back to front; usual ones are drawn unless they are switched
// off. The strokes are variables of page.css.
export const drawn: Drawn[] = [
  { column: 'usage', label: 'memory usage', means: 'What the kernel counts for the cgroup, page cache included: the figure that it compares with the limit.', stroke: '--usage', width: 1, usual: true },
  { column: 'resident', label: 'RSS', means: 'The resident memory of all processes.', stroke: '--resident', width: 1.5, dash: [1, 2] },
  { column: 'heap_goal', label: 'GC target', means: 'The heap size at which the next GC is due.', stroke: '--goal', width: 1.5, dash: [3, 3], stepped: true },
  { column: 'heap_live', label: 'Go heap', means: 'Live at the last GC, and all that was allocated since, live or garbage.', stroke: '--heap', width: 1.5, dash: [6, 2] },
  { column: 'heap_marked', label: 'live heap', means: 'Reachable at the last GC.', stroke: '--live', width: 2.5, stepped: true, usual: true },
  { column: 'memory_limit', label: 'GOMEMLIMIT', means: 'The limit that the Go runtime knows.', stroke: '--memlimit', width: 1.5, dash: [8, 4], stepped: true },
  { column: 'usage_limit', label: 'limit', means: 'The limit of the cgroup.', stroke: '--limit', width: 2.5, stepped: true, usual: true },
]

// over are the overlays, each with a scale of its own: what the
// program publishes comes after them.
export const over: Record<string, { label: string; show: (v: number) => string }> = {
  alloc_rate: { label: 'allocation rate', show: (v) => `${size(v)}/s` }, gc_pause: { label: 'GC pauses', show: duration },
  page_cache: { label: 'page cache', show: size }, shmem: { label: 'shared memory', show: size }, kernel: { label: 'kernel', show: size }, heap_in_use: { label: 'heap in use', show: size },
  goroutines: { label: 'goroutines', show: count }, pressure_some10: { label: 'memory pressure, %', show: count }, 'request latency, s': { label: 'request latency', show: duration },
}

function count(v: number): string { return Math.abs(v) >= 1e5 ? v.toExponential(2) : `${+v.toFixed(2)}` }

export const overOf = (column: string) => over[column] ?? { label: column.replace(/^figure /, ''), show: /bytes$/.test(column) ? size : count }

// columnsOf makes what uPlot draws: undefined where a row has no value of its own,
// so that the line goes on, null within holes, so that it does not.
export function columnsOf(t: Timeline, shown: Drawn[], holes: [number, number][]): uPlot.AlignedData {
  const at = [...t.at], breaks: number[] = []
  for (const [from, to] of holes) {
    const i = at.findIndex((x) => x > from)
    if (i > 0) { at.splice(i, 0, (from + to) / 2); breaks.push(i) }
  }
  return [at, ...shown.map((d) => {
    const v: (number | null | undefined)[] = t.columns[d.column]?.map((x) => x ?? undefined) ?? at.map(() => undefined)
    for (const i of breaks) v.splice(i, 0, null)
    return v
  })] as uPlot.AlignedData
}

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

type Range = [number, number]

// Now is what the plot needs to know of the page whenever it draws or is touched.
interface Now { current: { overview: Overview; state: State; change: (s: Partial<State>) => void; at: number | null; view: { current: Range }; move: (r: Range) => void; done: () => void; stack: () => Stacked | null } }

// steps are distances of the marks of time, in seconds: those of a clock.
const steps = [...[-6, -5, -4, -3, -2, -1].flatMap((e) => [1, 2, 5].map((n) => n * 10 ** e)), 1, 2, 5, 10, 15, 30,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * 60), ...[1, 2, 3, 6, 12].map((n) => n * 3600), ...[1, 2, 4, 7, 14, 28, 91, 182, 364].map((n) => n * 86400)]

// settled is how long after the last turn of the wheel a window is kept.
const settled = 200

export function make(box: HTMLElement, shown: Drawn[], laid: string, t: Timeline, now: Now): uPlot {
  const axis = { stroke: css('--muted'), grid: { stroke: css('--grid'), width: 1 }, ticks: { stroke: css('--grid'), width: 1, size: 4 }, font: '11px system-ui, sans-serif' }
  let down: number | null = null, baseline = false, before = ''
  const tip = document.createElement('div')
  tip.className = 'tip'
  const options: uPlot.Options = {
    width: box.clientWidth, height: box.clientHeight,
    scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, (Math.max(max || 0, highest(now.current.stack())) || 1) * 1.06] }, over: { range: (_u, min, max) => [Math.min(0, min ?? 0), (max || 1) * 1.06] } },
    axes: [
      { ...axis, size: 26, values: (_u, splits) => splits.map((v) => clock(v).replace(/ 0 (s|min|h)$/, '')), space: 90, incrs: steps },
      { ...axis, size: 64, values: (_u, splits) => splits.map((v) => (v ? limit(v) : '0')), splits: (_u, _i, _min, max) => ticks(max), space: 34 },
      ...(laid ? [{ ...axis, scale: 'over', side: 1 as const, stroke: css('--over'), size: 70, grid: { show: false }, space: 34, values: (_u: uPlot, splits: number[]) => splits.map(overOf(laid).show) }] : []),
    ],
    series: [{}, ...shown.map((d) => ({
      scale: d.column === laid ? 'over' : 'y', label: d.label, stroke: css(d.stroke), width: d.width, dash: d.dash, fill: d.fill && css(d.fill), points: { show: !!d.dots, size: 7, fill: css(d.stroke) }, spanGaps: false, paths: d.dots ? () => null : d.stepped ? uPlot.paths.stepped!({ align: 1 }) : undefined,
    }))],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => { now.current.change({ window: null, at: before }); return null } } },
    hooks: {
      init: [(u) => {
        u.over.append(tip)
        u.over.addEventListener('mousedown', (e) => { down = e.offsetX; baseline = e.ctrlKey || e.metaKey; if (e.detail < 2) before = now.current.state.at })
        u.over.addEventListener('mouseup', (e) => {
          const t = +u.posToVal(e.offsetX, 'x').toFixed(4)
          if (down !== null && Math.abs(e.offsetX - down) < 4) now.current.change(baseline ? { base: [t, t] } : { at: `${t}s` })
          down = null
        })
        u.over.addEventListener('mouseleave', () => { tip.hidden = true })
        u.over.addEventListener('wheel', (e) => turn(u, e, now), { passive: false })
      }],
      setSelect: [(u) => {
        if (u.select.width < 4) return
        const range: [number, number] = [u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')]
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        if (baseline) now.current.change({ base: range })
        else now.current.change({ window: range, at: `${+range[1].toFixed(4)}s` })
      }],
      setCursor: [(u) => showTip(u, tip, shown, now.current.stack())],
      drawClear: [(u) => { layers(u, now.current.stack()); kept(u, now.current.overview.after_end); shade(u, now.current.state.base); hatch(u, now.current.overview) }],
      draw: [(u) => { names(u, now.current.stack()); mark(u, now.current.overview, now.current.at) }],
    },
  }
  return new uPlot(options, columnsOf(t, shown, now.current.overview.holes), box)
}

let turned = 0 // the timer of the wheel

// turn is the wheel: it zooms around the cursor; sideways, or with Shift, it moves the
// window. Where the whole run is shown and the wheel would zoom out, the page scrolls.
function turn(u: uPlot, e: WheelEvent, now: Now) {
  const [from, to] = now.current.view.current, o = now.current.overview
  const sideways = e.shiftKey && !e.deltaX ? e.deltaY : Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : 0
  const whole = from <= o.from && to >= o.seconds
  if (sideways) { const by = (sideways / u.over.clientWidth) * (to - from); now.current.move([from + by, to + by]) }
  else if (e.deltaY && !(whole && e.deltaY > 0)) now.current.move(zoomed([from, to], Math.exp(Math.max(-400, Math.min(400, e.deltaY)) / 400), u.posToVal(u.cursor.left ?? 0, 'x')))
  else return
  e.preventDefault()
  clearTimeout(turned)
  turned = setTimeout(() => now.current.done(), settled)
}

// highest is the greatest sum of a ledger, 0 where there is none.
function highest(s: Stacked | null): number {
  let top = 0
  for (let i = 0; s && i < s.at.length; i++) top = Math.max(top, s.rows.reduce((sum, r) => sum + r.bytes[i], 0))
  return top
}

// edges are the upper edges of the rows, from the bottom up.
function edges(s: Stacked): number[][] {
  let below = s.at.map(() => 0)
  return s.rows.map((r) => (below = below.map((b, i) => b + r.bytes[i])))
}

const slugOf = (name: string) => name.toLowerCase().replace(/[^a-z]+/g, '-').replace(/-$/, '')

// layers draws the ledger over time: an area for each row, with a seam between them, so
// that the colours alone need not tell them apart.
function layers(u: uPlot, s: Stacked | null) {
  if (!s || !s.at.length) return
  const { ctx, bbox } = u, up = edges(s), y = (v: number) => u.valToPos(v, 'y', true)
  const xs = s.at.map((t) => u.valToPos(t, 'x', true))
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  s.rows.forEach((r, n) => {
    ctx.beginPath()
    xs.forEach((x, i) => (i ? ctx.lineTo(x, y(up[n][i])) : ctx.moveTo(x, y(up[n][i]))))
    for (let i = xs.length - 1; i >= 0; i--) ctx.lineTo(xs[i], y(n ? up[n - 1][i] : 0))
    ctx.closePath()
    ctx.fillStyle = css('--row-' + slugOf(r.name))
    ctx.fill()
    ctx.strokeStyle = css('--page')
    ctx.lineWidth = devicePixelRatio / 2
    ctx.stroke()
  })
  ctx.restore()
}

// names writes each row's name where it is high enough, at its highest place on screen.
function names(u: uPlot, s: Stacked | null) {
  if (!s) return
  const { ctx, bbox } = u, px = devicePixelRatio, up = edges(s), y = (v: number) => u.valToPos(v, 'y', true), xs = s.at.map((t) => u.valToPos(t, 'x', true))
  ctx.save()
  ctx.font = `600 ${11 * px}px system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  s.rows.forEach((r, n) => {
    const half = ctx.measureText(r.word).width / 2 + 4 * px
    let at = 0, middle = 0, most = 15 * px
    xs.forEach((x, i) => {
      if (x - half < bbox.left || x + half > bbox.left + bbox.width) return
      // What is free under the whole word, to the sample on either side of it.
      let top = -Infinity, bottom = Infinity
      const narrow = (j: number) => { top = Math.max(top, y(up[n][j])); bottom = Math.min(bottom, y(n ? up[n - 1][j] : 0)) }
      let j = i
      for (; j > 0 && xs[j] > x - half; j--) narrow(j)
      narrow(j)
      for (j = i; j < xs.length - 1 && xs[j] < x + half; j++) narrow(j)
      narrow(j)
      if (bottom - top > most) { most = bottom - top; at = x; middle = (top + bottom) / 2 }
    })
    if (!at) return
    ctx.fillStyle = css('--on-' + slugOf(r.name))
    ctx.fillText(r.word, at, middle)
  })
  ctx.restore()
}

// kept shades the time for which a program that had ended was kept, to be read.
function kept(u: uPlot, stretch: [number, number] | null) {
  if (!stretch) return
  const { ctx, bbox } = u
  const left = Math.max(bbox.left, u.valToPos(stretch[0], 'x', true)), right = Math.min(bbox.left + bbox.width, u.valToPos(stretch[1], 'x', true))
  if (right <= left) return
  ctx.save()
  ctx.globalAlpha = 0.8
  ctx.fillStyle = css('--page')
  ctx.fillRect(left, bbox.top, right - left, bbox.height)
  ctx.restore()
}

// ticks are round amounts of memory up to max.
function ticks(max: number): number[] {
  let step = 1
  while (max / step > 6) step *= 2
  const out: number[] = []
  for (let v = 0; v <= max; v += step) out.push(v)
  return out
}

function showTip(u: uPlot, tip: HTMLElement, shown: Drawn[], s: Stacked | null) {
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
  // What of the ledger was there then, the largest rows first.
  if (s && s.at.length) {
    const t = u.data[0][i]
    let k = 0
    while (k + 1 < s.at.length && s.at[k + 1] <= t) k++
    const rows = s.rows.map((r) => ({ word: r.word, bytes: r.bytes[k] })).filter((r) => r.bytes > 0).sort((a, b) => b.bytes - a.bytes)
    const sum = rows.reduce((n, r) => n + r.bytes, 0)
    for (const r of rows.slice(0, 4)) line(`${r.word} ${size(r.bytes)} (${percent(r.bytes, sum)})`)
  }
  const right = left > u.over.clientWidth - 210
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
  // apart is where things lie that are on screen, without those that would cover one another.
  const apart = (list: { at: number }[], pixels: number) => [...new Set(list.filter((c) => inside(c.at)).map((c) => Math.round(x(c.at) / pixels) * pixels))]
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
  // One path each, and one tick a pixel: there may be a thousand.
  ctx.beginPath()
  for (const t of apart(o.cycles, 1)) { ctx.moveTo(t, foot - 7 * px); ctx.lineTo(t, foot) }
  ctx.strokeStyle = css('--gc')
  ctx.lineWidth = px
  ctx.stroke()
  ctx.beginPath()
  for (const t of apart(o.moments, 2)) { ctx.moveTo(t, bbox.top - 4 * px); ctx.lineTo(t, bbox.top) }
  ctx.strokeStyle = css('--capture')
  ctx.stroke()
  ctx.beginPath()
  for (const t of [o.peak, o.last, o.kill]) if (t !== null && inside(t)) { ctx.moveTo(x(t), bbox.top); ctx.lineTo(x(t) - 4 * px, bbox.top - 6 * px); ctx.lineTo(x(t) + 4 * px, bbox.top - 6 * px) }
  ctx.fillStyle = css('--capture')
  ctx.fill()
  ctx.font = `${11 * px}px system-ui, sans-serif`
  ctx.textBaseline = 'top'
  ctx.textAlign = 'left'
  const said: { left: number; right: number; top: number }[] = [] // where names are, so that none lies on another
  const name = (t: number, text: string, color: string) => {
    tick(t, bbox.top, foot, color, 1.5)
    if (!inside(t)) return
    const wide = ctx.measureText(text).width
    const left = x(t) + wide + 8 * px > bbox.left + bbox.width ? x(t) - wide - 5 * px : x(t) + 5 * px
    let top = bbox.top + bbox.height * 0.1
    while (top < foot - 30 * px && said.some((s) => left < s.right && left + wide + 4 * px > s.left && Math.abs(s.top - top) < 16 * px)) top += 17 * px
    said.push({ left, right: left + wide + 4 * px, top })
    ctx.fillStyle = css('--page')
    ctx.fillRect(left - 2 * px, top - 2 * px, wide + 4 * px, 15 * px)
    ctx.fillStyle = color
    ctx.fillText(text, left, top)
  }
  for (const e of o.events) if (named[e.kind]) name(e.at, e.kind === 'note' ? e.text.slice(0, 40) : named[e.kind], css('--muted'))
  if (o.kill !== null) name(o.kill, 'killed', css('--limit'))
  if (o.after_end && Math.min(bbox.left + bbox.width, u.valToPos(o.after_end[1], 'x', true)) - u.valToPos(Math.max(o.after_end[0], u.scales.x.min!), 'x', true) > 70 * px) name(o.after_end[0], 'ended; kept to be read', css('--muted'))
  if (at !== null && at !== o.kill) tick(at, bbox.top, foot, css('--text'), 1)
  if (at !== null && inside(at)) {
    ctx.fillStyle = css('--text')
    ctx.beginPath()
    ctx.arc(x(at), foot, 4 * px, 0, 7)
    ctx.fill()
  }
  ctx.restore()
}
