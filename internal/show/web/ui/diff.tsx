import { h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { since, type Instant } from './data'
import { Icicle } from './icicle'
import { initial, type State } from './state'
import { Copy } from './verdict'
import { slug } from './ledger'
import { clock, delta, size } from './format'

interface Delta { before_bytes: number; after_bytes: number; change_bytes: number; error_bytes: number }
interface Side { recording: string; program: string; pid: number; go_version: string; moment: string; moment_seconds: number; view: string; of_cgroup: boolean }
interface Line extends Delta { function: string; file: string; line: number }
interface Difference {
  before: Side; after: Side; total: Delta; ledger: (Delta & { name: string; word?: string; reclaimable: boolean })[]; heap: Delta
  grew: Line[]; shrank: Line[]; same: Line[]; allocated: Delta; allocated_by: Line[]; notes: string[]
}

const name = (s: Side) => s.recording.replace(/\.hwm$/, '')
const when: Record<string, string> = { kill: 'at the kill', peak: 'at the peak', last: 'at the last snapshot' }
const at = (s: Side) => `${when[s.moment] ?? `at ${clock(s.moment_seconds)}`}, ${clock(s.moment_seconds)} after start`
const place = (l: Line) => (l.file ? `${l.file.split('/').slice(-2).join('/')}:${l.line}` : l.function)
const way = (n: number) => (n > 0 ? 'up' : n < 0 ? 'down' : 'muted')

// Comparison is two recordings side by side: where the memory was in each, the lines that
// grew and shrank, and the call stacks of both in one flame graph.
export function Comparison() {
  const [d, setD] = useState<Difference | null>(null)
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  useEffect(() => {
    fetch('api/diff' + location.search).then(async (a) => { if (!a.ok) throw new Error(await a.text()); return a.json() }).then((all) => { for (const r of all.diff.ledger) r.word = all.words[r.name] ?? r.name; setD(all.diff); setText(all.text) }, (err: Error) => setProblem(err.message))
  }, [])
  if (!d) return <main class="list">{problem && <p class="problem" role="alert">{problem}</p>}</main>
  const link = (s: Side) => <a href={`r/${encodeURIComponent(name(s))}/`}>{name(s)}</a>
  return <main class="list">
    <nav class="actions"><a class="button" href="./">All recordings</a><Copy text={text} label="Copy as text" /></nav>
    <h1>{headline(d)}</h1>
    <p class="state"><span>{name(d.after)} compared with {name(d.before)}</span></p>
    <Most d={d} />
    <div class="scroll" tabIndex={0} role="region" aria-label="The two recordings"><table><thead><tr><td /><th scope="col">Before: {link(d.before)}</th><th scope="col">After: {link(d.after)}</th></tr></thead><tbody>
      <tr><th scope="row">program</th><td>{d.before.program} {d.before.go_version}</td><td>{d.after.program} {d.after.go_version}</td></tr>
      <tr><th scope="row">snapshot</th><td>{at(d.before)}</td><td>{at(d.after)}</td></tr></tbody></table></div>
    {d.notes.length > 0 && <ul>{d.notes.map((n) => <li>{n}</li>)}</ul>}
    <section aria-labelledby="where-title"><h2 id="where-title">Where did the memory go? <span class="finding">{size(d.total.before_bytes)}, then {size(d.total.after_bytes)}</span></h2><Rows d={d} /></section>
    <Lines title="Lines that grew" none="No line grew by more than the sampling error." lines={d.grew} />
    <Lines title="Lines that shrank" none="No line shrank by more than the sampling error." lines={d.shrank} />
    {d.same.length > 0 && <p class="muted">{d.same.length} {d.same.length === 1 ? 'line' : 'lines'} changed by less than the sampling error.</p>}
    <Stacks d={d} />
    {d.allocated_by.length > 0 && <Lines title="Lines that allocated more or less, live or not" none="" lines={d.allocated_by} />}
  </main>
}

// headline is the change and what it is mostly made of.
function headline(d: Difference): string {
  const row = [...d.ledger].sort((a, b) => Math.abs(b.change_bytes) - Math.abs(a.change_bytes))[0]
  if (!row?.change_bytes && !d.total.change_bytes) return 'No difference'
  const total = delta(d.total.change_bytes)
  return row && row.change_bytes ? `${total}, mostly ${row.word} (${delta(row.change_bytes)})` : total
}

// Most says whether a line accounts for the change: the line that changed most, in the same
// direction, if that is a tenth of it or more.
function Most({ d }: { d: Difference }) {
  const all = (d.total.change_bytes < 0 ? d.shrank : d.grew).slice().sort((a, b) => Math.abs(b.change_bytes) - Math.abs(a.change_bytes))
  const [l] = all
  if (!d.total.change_bytes) return null
  if (!l || Math.abs(l.change_bytes) < Math.abs(d.total.change_bytes) / 10) return <p class="state"><span>No line of code accounts for this change.</span></p>
  if (Math.abs(l.change_bytes) < Math.abs(d.total.change_bytes) / 2) return <p class="state"><span>The line that {l.change_bytes < 0 ? 'shrank' : 'grew'} most is <code class="place">{place(l)}</code>: <strong>{delta(l.change_bytes)}</strong></span></p>
  return <p class="state"><span>Most of this change was allocated at <code class="place">{place(l)}</code>: <strong>{delta(l.change_bytes)}</strong></span></p>
}

// Stacks is the flame graph of the second recording, coloured by the change since the first.
function Stacks({ d }: { d: Difference }) {
  const [instant, setInstant] = useState<Instant | null>(null)
  const [state, setState] = useState<State>(initial)
  useEffect(() => {
    const read = (s: Side) => fetch(`r/${encodeURIComponent(name(s))}/api/instant?from=&at=${s.moment_seconds}s`).then((a) => (a.ok ? (a.json() as Promise<Instant>) : null))
    Promise.all([read(d.before), read(d.after)]).then(([before, after]) => { if (before && after && after.heap.stacks.length) setInstant(since(after, before)) }, () => {})
  }, [d])
  if (!instant) return null
  return <section aria-labelledby="flame-title"><h2 id="flame-title">Flame graph <span class="finding">{name(d.after)}, coloured by the change</span></h2>
    <Icicle heap={instant.heap} state={state} change={(some) => setState((s) => ({ ...s, ...some }))} baseline /></section>
}

// Rows are the ledgers beside each other: bars of one scale.
function Rows({ d }: { d: Difference }) {
  const most = Math.max(...d.ledger.map((r) => Math.max(r.before_bytes, r.after_bytes)), 1)
  const bar = (r: string, n: number) => <i class={slug(r)} style={{ width: `${(100 * Math.max(0, n)) / most}%` }} />
  return <div class="scroll" tabIndex={0} role="region" aria-label="The ledgers side by side"><table class="side"><thead><tr><th scope="col">Part</th><th scope="col" class="num">Before</th><th scope="col">Before, and below it after</th><th scope="col" class="num">After</th><th scope="col" class="num">Change</th></tr></thead>
    <tbody>{d.ledger.map((r) => <tr><th scope="row">{r.word}{r.reclaimable && <span class="muted"> reclaimable</span>}</th><td class="num">{size(r.before_bytes)}</td><td class="wide">{bar(r.name, r.before_bytes)}{bar(r.name, r.after_bytes)}</td><td class="num">{size(r.after_bytes)}</td><td class={'num ' + way(r.change_bytes)}>{delta(r.change_bytes)}</td></tr>)}
      <tr class="on"><th scope="row">all</th><td class="num">{size(d.total.before_bytes)}</td><td /><td class="num">{size(d.total.after_bytes)}</td><td class={'num ' + way(d.total.change_bytes)}>{delta(d.total.change_bytes)}</td></tr></tbody></table></div>
}

function Lines({ title, none, lines }: { title: string; none: string; lines: Line[] }) {
  const most = Math.max(...lines.map((l) => Math.abs(l.change_bytes)), 1), id = title.replace(/\W+/g, '-')
  return <section aria-labelledby={id}><h2 id={id}>{title}</h2>
    {!lines.length ? <p class="muted">{none}</p> : <div class="scroll" tabIndex={0} role="region" aria-label={`The table of: ${title}`}><table class="side"><thead><tr><th scope="col">Line</th><th scope="col" class="num">Before</th><th scope="col" class="num">After</th><th scope="col" class="num">Change</th><th scope="col">Change, drawn</th></tr></thead>
      <tbody>{lines.map((l) => <tr><th scope="row"><code>{place(l)}</code> <span class="muted">{l.function.slice(l.function.lastIndexOf('/') + 1)}</span></th><td class="num">{size(l.before_bytes)}</td><td class="num">{size(l.after_bytes)}</td>
        <td class={'num ' + way(l.change_bytes)}>{delta(l.change_bytes)}{l.error_bytes > 0 && <span class="muted"> {'\u00b1'} {size(l.error_bytes)}</span>}</td><td class="wide"><i class={l.change_bytes > 0 ? 'more' : 'less'} style={{ width: `${(100 * Math.abs(l.change_bytes)) / most}%` }} /></td></tr>)}</tbody></table></div>}
  </section>
}
