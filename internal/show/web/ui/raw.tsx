import { h, Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Instant, Overview, Source, Timeline } from './data'
import { drawn, overOf } from './plot'
import { clock, duration, size } from './format'

// most is how many rows of what was read are shown beside a fact.
const most = 12

// columns are what the samples behind a fact are shown with, by what it is about.
const columns: Record<string, string[]> = {
  outcome: ['usage', 'usage_limit'], cache: ['usage', 'page_cache'], reclaim: ['usage', 'page_cache', 'pressure_some10'], ledger: ['usage', 'resident', 'page_cache', 'kernel'],
  goroutines: ['goroutines', 'usage'], calls: ['goroutines', 'usage'], native: ['usage', 'resident', 'heap_in_use'], idle: ['resident', 'heap_in_use'], untouched: ['resident', 'heap_in_use'],
  latency: ['request latency, s', 'usage'], pace: ['heap_live', 'heap_marked', 'heap_goal', 'memory_limit'], live: ['heap_live', 'heap_marked', 'heap_goal'],
}
const usual = ['usage', 'resident', 'heap_live']

interface Rows { title: string; table: string; heads: string[]; rows: string[][]; all?: string }

// Raw is what a fact was read from: rows of the recording, the last ones before the
// moment that the answer is about.
export function Raw({ about, text, source, overview, instant }: { about: string; text: string; source: Source; overview: Overview; instant: Instant }) {
  const [samples, setSamples] = useState<Rows | null>(null)
  const [problem, setProblem] = useState('')
  const known = collections(about, overview) ?? readings(about, text, instant)
  useEffect(() => { if (!known) samplesBefore(source, overview, about).then(setSamples, (err: Error) => setProblem(err.message)) }, [about])
  const r = known ?? samples
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => { box.current?.closest('.card')?.scrollIntoView({ block: 'nearest' }) }, [samples])
  if (!r) return problem ? <p class="muted">{problem}</p> : null
  return <div class="raw" ref={box}><table><caption>{r.title} <span class="muted">(table <code>{r.table}</code>{r.all && <>; <a href={r.all} onClick={(e) => { document.querySelector(r.all!)?.scrollIntoView(); e.preventDefault() }}>all of them</a></>})</span></caption>
    <thead><tr>{r.heads.map((head) => <th scope="col" class="num">{head}</th>)}</tr></thead><tbody>{r.rows.map((row) => <tr>{row.map((cell) => <td class="num">{cell}</td>)}</tr>)}</tbody></table></div>
}

function collections(about: string, o: Overview): Rows | null {
  if (!['curve', 'collector', 'run'].includes(about) || !o.cycles.length) return null
  return { title: 'The last GCs', table: 'gc_cycle', all: '#gc-title', heads: ['Time', 'Began at', 'Live after the GC', 'Pauses'],
    rows: o.cycles.slice(0, most).map((c) => [clock(c.at), size(c.trigger), size(c.marked), duration(c.pause)]) }
}

// readings are those of one line in the heap profiles.
function readings(about: string, text: string, instant: Instant): Rows | null {
  const line = ['site', 'allocator', 'shares'].includes(about) && instant.heap.lines.find((l) => text.includes(l.place))
  if (!line || !line.course.length) return null
  return { title: `${line.place} in the heap profiles`, table: 'heap_profile', all: '#who', heads: ['Time', 'Live'], rows: line.course.slice(-most).map((c) => [clock(c.at), size(c.bytes)]) }
}

async function samplesBefore(source: Source, o: Overview, about: string): Promise<Rows> {
  const at = o.answer.outcome.moment_seconds
  let t: Timeline | null = null, rows: number[] = []
  const wanted = () => (about === 'work' ? Object.keys(t!.columns).filter((c) => c.startsWith('figure ')) : columns[about] ?? usual).filter((c) => t!.columns[c])
  for (const back of [2, 60, Infinity]) { // a calm recording has few samples a minute
    t = await source.timeline(Math.max(o.from, at - back), at + 0.001, 4000)
    const seen = (i: number) => wanted().filter((c) => t!.columns[c][i] !== null).length
    const read = t.at.map((_, i) => i).filter((i) => t!.at[i] <= at + 0.001 && seen(i) > 0)
    const full = read.filter((i) => seen(i) > 1) // near a limit most samples are of the charge alone
    rows = (full.length >= most / 2 ? full : read).slice(-most)
    if (rows.length >= most / 2) break
  }
  const shown = wanted()
  const show = (c: string, v: number | null) => (v === null ? '\u2013' : drawn.some((d) => d.column === c) ? size(v) : overOf(c).show(v))
  return { title: 'The last samples before the snapshot', table: about === 'latency' ? 'request' : about === 'work' ? 'figure_sample' : shown[0] === 'usage' ? 'sample' : 'process_sample',
    heads: ['Time', ...shown.map((c) => drawn.find((d) => d.column === c)?.label ?? overOf(c).label)], rows: rows.map((i) => [clockOf(t!.at[i]), ...shown.map((c) => show(c, t!.columns[c][i]))]) }
}

// clockOf is a time with milliseconds: near a limit a sample is taken in each.
const clockOf = (s: number) => (s < 3600 ? `${s.toFixed(3)} s` : clock(s))
