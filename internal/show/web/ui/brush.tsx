import { h } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Timeline } from './data'
import { clock } from './format'

type Range = [number, number]

// least is how narrow a window can be, in seconds: near a limit it holds fifty samples.
const least = 0.05

// within moves and narrows a range so that it fits the span.
export function within([from, to]: Range, [start, end]: Range): Range {
  const wide = Math.min(Math.max(to - from, Math.min(least, end - start)), end - start)
  const left = Math.min(Math.max((from + to - wide) / 2, start), end - wide)
  return [left, left + wide]
}

// zoomed is a range made wider or narrower around one of its times.
export function zoomed([from, to]: Range, by: number, around: number): Range { return [around - (around - from) * by, around + (to - around) * by] }

// Brush is the whole run, small, with the window on it: it is dragged to move over
// the run, and by its ends to look closer. move shows a window, done keeps it.
export function Brush({ span, shown, whole, move, done, hold }: {
  span: Range; shown: Range; whole: Timeline | null; move: (r: Range) => void; done: () => void; hold: (e: HTMLElement | null) => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const drag = useRef<{ x: number; from: Range; part: string } | null>(null)
  const now = useRef(shown)
  now.current = shown
  const wide = span[1] - span[0]
  const at = (e: PointerEvent) => { const r = box.current!.getBoundingClientRect(); return span[0] + (wide * (e.clientX - r.left)) / r.width }
  const down = (e: PointerEvent) => {
    const x = at(e), handle = (e.target as HTMLElement).dataset.part
    let from = now.current
    if (!handle) { // beside the window: it comes here, or one of a tenth is made
      const size = from[1] - from[0] < 0.9 * wide ? from[1] - from[0] : wide / 10
      from = within([x - size / 2, x + size / 2], span)
      move(now.current = from)
    }
    drag.current = { x, from, part: from[1] - from[0] >= wide ? '' : handle ?? 'all' }
    box.current!.setPointerCapture(e.pointerId)
    e.preventDefault()
  }
  const pull = (e: PointerEvent) => {
    const d = drag.current
    if (!d || !d.part) return
    const by = at(e) - d.x, [from, to] = d.from
    if (d.part === 'all') now.current = within([from + by, to + by], span)
    else if (d.part === 'from') now.current = within([Math.min(from + by, to - least), to], span)
    else now.current = within([from, Math.max(to + by, from + least)], span)
    move(now.current)
  }
  const up = () => { if (drag.current) { drag.current = null; done() } }
  const press = (e: KeyboardEvent) => {
    const [from, to] = now.current, step = (to - from) * (e.shiftKey ? 1 : 0.1)
    const next: Range | undefined = ({
      ArrowLeft: [from - step, to - step], ArrowRight: [from + step, to + step], Home: [span[0], span[0] + to - from], End: [span[1] - to + from, span[1]],
      '+': zoomed([from, to], 0.5, (from + to) / 2), '-': zoomed([from, to], 2, (from + to) / 2),
    } as Record<string, Range>)[e.key]
    if (!next) return
    move(now.current = within(next, span))
    done()
    e.preventDefault()
  }
  const part = (t: number) => `${(100 * (t - span[0])) / (wide || 1)}%`
  return <div class="brush" ref={box} tabIndex={0} role="slider" aria-label="Window of the timeline; arrows move it, plus and minus change its width" aria-valuemin={span[0]} aria-valuemax={span[1]} aria-valuenow={shown[0]}
    aria-valuetext={`${clock(shown[0])} to ${clock(shown[1])}`} title="Drag to move over the run; drag the ends to look closer" onPointerDown={down} onPointerMove={pull} onPointerUp={up} onPointerCancel={up} onKeyDown={press}>
    {whole && <Silhouette whole={whole} span={span} />}
    <div class="window" data-part="all" ref={hold} style={{ left: part(shown[0]), width: part(span[0] + shown[1] - shown[0]) }}><i data-part="from" /><i data-part="to" /></div>
  </div>
}

// Silhouette is the outline of the charge, or of resident memory.
function Silhouette({ whole, span }: { whole: Timeline; span: Range }) {
  const path = useMemo(() => {
    const column = whole.columns.usage ?? whole.columns.resident
    if (!column) return ''
    const top = column.reduce((m: number, v) => Math.max(m, v ?? 0), 1)
    let path = 'M0 100', end = '0'
    whole.at.forEach((t, i) => {
      const v = column[i]
      if (v === null) return
      end = ((1000 * (t - span[0])) / (span[1] - span[0])).toFixed(1)
      path += `L${end} ${(100 - (92 * v) / top).toFixed(1)}`
    })
    return path + `L${end} 100Z`
  }, [whole, span[1]])
  return <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true"><path d={path} /></svg>
}
