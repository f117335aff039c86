import { h, Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { clock, limit, percent, size } from './format'

interface Listed { name: string; path: string; bytes: number; started: string; program: string; limit_bytes?: number; peak_bytes?: number; state: string; seconds?: number; verdict: string; fingerprint: string; cause: string; note: { text: string } | null; problem?: string }

// Group is the runs of a program with one cause, as highwater list prints them.
interface Group { program: string; fingerprint: string; recordings: string[]; runs: number; killed: number; peaks_bytes: number[]; trend: string }

const base = (path: string) => path.replace(/.*\//, '')
const share = (l: Listed) => (l.peak_bytes && l.limit_bytes ? l.peak_bytes / l.limit_bytes : undefined)
const outcome = (l: Listed) => (l.state === 'watched' && l.seconds ? `watched ${clock(l.seconds)}` : l.state)

// A column has its heading, and what it is sorted by: text from A, numbers from the greatest.
interface Column { id: string; title: string; of: (l: Listed) => string | number | undefined; num?: boolean }
const columns: Column[] = [
  { id: 'name', title: 'Recording', of: (l) => l.name }, { id: 'program', title: 'Program', of: (l) => base(l.program) },
  { id: 'started', title: 'Started', of: (l) => Date.parse(l.started) }, { id: 'outcome', title: 'Outcome', of: (l) => l.state },
  { id: 'verdict', title: 'Verdict', of: (l) => l.verdict }, { id: 'fingerprint', title: 'Fingerprint', of: (l) => l.fingerprint },
  { id: 'share', title: 'Peak of limit', of: share }, { id: 'peak', title: 'Peak', of: (l) => l.peak_bytes, num: true },
  { id: 'limit', title: 'Limit', of: (l) => l.limit_bytes, num: true }, { id: 'file', title: 'File', of: (l) => l.bytes, num: true },
]

// State is what the list shows, kept in the address.
interface State { sort: string; turned: boolean; flat: boolean; find: string; open: string }

function fromHash(): State {
  const p = new URLSearchParams(location.hash.slice(1))
  return { sort: columns.some((c) => c.id === p.get('sort')) ? p.get('sort')! : 'started', turned: p.has('turned'), flat: p.has('flat'), find: p.get('find') ?? '', open: p.get('open') ?? '' }
}

function toHash(s: State): string {
  const p = new URLSearchParams()
  if (s.sort !== 'started') p.set('sort', s.sort)
  if (s.turned) p.set('turned', '')
  if (s.flat) p.set('flat', '')
  if (s.find) p.set('find', s.find)
  if (s.open) p.set('open', s.open)
  const text = p.toString()
  return text ? '#' + text : ''
}

// sorted is by one column, what is not known last in either direction.
function sorted(all: Listed[], s: State): Listed[] {
  const of = columns.find((c) => c.id === s.sort)!.of
  const unknown = (v: string | number | undefined) => v === undefined || v === '' || Number.isNaN(v)
  return [...all].sort((a, b) => {
    const x = of(a), y = of(b)
    if (unknown(x) || unknown(y)) return Number(unknown(x)) - Number(unknown(y))
    const order = typeof x === 'string' ? x.localeCompare(String(y), 'en', { numeric: true }) : Number(y) - Number(x)
    return s.turned ? -order : order
  })
}

// fewRuns of a group are listed until the reader asks for all.
const fewRuns = 5

// part is what is listed together: the runs of a group, or one recording that is in none.
interface Part { group: Group | null; rows: Listed[] }

function parts(rows: Listed[], groups: Group[]): Part[] {
  const of = new Map<string, Group>()
  for (const g of groups) if (g.runs > 1) for (const name of g.recordings) of.set(name, g)
  const out: Part[] = [], at = new Map<Group, Part>()
  for (const l of rows) {
    const g = of.get(l.name) ?? null
    const known = g && at.get(g)
    if (known) { known.rows.push(l); continue }
    const part = { group: g, rows: [l] }
    if (g) at.set(g, part)
    out.push(part)
  }
  return out
}

// List is all recordings; two that are ticked are compared.
export function List() {
  const [all, setAll] = useState<Listed[] | null>(null)
  const [groups, setGroups] = useState<Group[]>([])
  const [problem, setProblem] = useState('')
  const [state, setState] = useState(fromHash)
  const [ticked, setTicked] = useState<string[]>([])
  const change = (some: Partial<State>) => setState((s) => ({ ...s, ...some }))
  useEffect(() => {
    fetch('api/list').then(async (a) => { if (!a.ok) throw new Error(await a.text()); return a.json() }).then((list) => { setGroups(list.groups); setAll(list.recordings) }, (err: Error) => setProblem(err.message))
    const follow = () => setState(fromHash())
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  useEffect(() => {
    if (toHash(state) !== location.hash) history.replaceState(null, '', toHash(state) || location.pathname + location.search)
  }, [state])
  const matches = (l: Listed) => [l.name, l.program, outcome(l), l.verdict, l.fingerprint, l.cause, l.note?.text].join(' ').toLowerCase().includes(state.find.toLowerCase())
  const rows = sorted((all ?? []).filter(matches), state)
  const tick = (name: string) => setTicked((t) => (t.includes(name) ? t.filter((n) => n !== name) : [...t, name].slice(-2)))
  const inOrder = (all ?? []).filter((l) => ticked.includes(l.name)).map((l) => l.name).reverse() // the older one first
  const row = (l: Listed) => <Row l={l} ticked={ticked.includes(l.name)} tick={() => tick(l.name)} />
  const sort = (id: string) => change(state.sort === id ? { turned: !state.turned } : { sort: id, turned: false })
  return <main class="list">
    <h1>Recordings</h1>
    {problem && <p class="problem" role="alert">{problem}</p>}
    <div class="tabs"><label>Filter <input type="search" id="search" value={state.find} onInput={(e) => change({ find: (e.target as HTMLInputElement).value })} /></label>
      <label class="sorts">Sort by <select value={state.sort} onChange={(e) => change({ sort: (e.target as HTMLSelectElement).value, turned: false })}>{columns.map((c) => <option value={c.id}>{c.title}</option>)}</select></label>
      <button class="sorts" onClick={() => change({ turned: !state.turned })}>Reverse the order</button>
      <label><input type="checkbox" checked={!state.flat} onChange={() => change({ flat: !state.flat })} /> Group by program and cause</label>
      <span class="push">{ticked.length === 2 ? <a class="button" href={`diff?before=${encodeURIComponent(inOrder[0])}&after=${encodeURIComponent(inOrder[1])}`}>Compare {inOrder[0]} with {inOrder[1]}</a> : all && all.length > 1 && <span class="muted">Select two to compare them.</span>}</span></div>
    {all && !all.length && <p>No recordings yet. <code>highwater run -- PROGRAM</code> makes one.</p>}
    {all && all.length > 0 && !rows.length && <p>No recording matches. <button onClick={() => change({ find: '' })}>Show all {all.length}</button></p>}
    {rows.length > 0 && <table class="cards"><thead><tr><th scope="col"><span class="hidden">Compare</span></th>{columns.map((c) => <th scope="col" class={c.num ? 'num' : ''} aria-sort={state.sort !== c.id ? undefined : ascending(c, rows, state) ? 'ascending' : 'descending'}>
      <button class="term" onClick={() => sort(c.id)}>{c.title}{state.sort === c.id && <span aria-hidden="true">{ascending(c, rows, state) ? ' \u25b4' : ' \u25be'}</span>}</button></th>)}</tr></thead>
      {state.flat ? <tbody>{rows.map(row)}</tbody> : parts(rows, groups).map((p) => p.group ? <Runs part={p} all={state.find !== '' || state.open === key(p.group)} open={() => change({ open: key(p.group!) })} row={row} /> : <tbody>{p.rows.map(row)}</tbody>)}</table>}
  </main>
}

const ascending = (c: Column, rows: Listed[], s: State) => (typeof rows.map(c.of).find((v) => v !== undefined && v !== '') === 'string') !== s.turned

const key = (g: Group) => `${g.program} ${g.fingerprint}`

const trends: Record<string, string> = {
  rising: 'The peaks rise from run to run.', falling: 'The peaks fall from run to run.', flat: 'The peaks differ by less than 5%.', varying: 'The peaks rise and fall.', '': 'Fewer than two peaks are known.',
}

// Runs is a group: how its peaks compare, oldest first, and its recordings.
function Runs({ part: { group, rows }, all, open, row }: { part: Part; all: boolean; open: () => void; row: (l: Listed) => h.JSX.Element }) {
  const g = group!, peaks = g.peaks_bytes, verdict = rows[0].verdict
  const listed = all ? rows : rows.slice(0, fewRuns)
  return <tbody class="group">
    <tr class="head"><td /><th scope="rowgroup" colSpan={columns.length}>{g.program} <span class="muted">{verdict}</span> {g.fingerprint && <code>{g.fingerprint}</code>}{' '}
      <span class="trend">{g.runs} runs{g.killed > 0 && <>, <span class="up">{g.killed} killed</span></>}{peaks.length > 1 && <>; peak {size(peaks[0])} {'\u2192'} {size(peaks[peaks.length - 1])} <Peaks peaks={peaks} /> <b class={g.trend === 'rising' ? 'up' : g.trend === 'falling' ? 'down' : ''} title={trends[g.trend]}>{g.trend}</b></>}</span></th></tr>
    {listed.map(row)}
    {listed.length < rows.length && <tr class="rest"><td /><td colSpan={columns.length}><button onClick={open}>Show {rows.length - listed.length} more of {g.program}</button></td></tr>}
  </tbody>
}

// Peaks draws the peaks of runs, oldest first, each as a point.
function Peaks({ peaks }: { peaks: number[] }) {
  const few = peaks.slice(-40), top = Math.max(...few, 1)
  const at = few.map((p, i) => [2 + (76 * i) / (few.length - 1), 16 - (13 * p) / top])
  return <svg class="spark" width="80" height="18" viewBox="0 0 80 18" role="img" aria-label={`peaks of ${few.length} runs, oldest first: ${few.map(size).join(', ')}`}>
    <polyline points={at.map((p) => p.join()).join(' ')} />{few.length <= 12 && at.map(([x, y]) => <circle cx={x} cy={y} r="1.8" />)}</svg>
}

function Row({ l, ticked, tick }: { l: Listed; ticked: boolean; tick: () => void }) {
  // A cell without a value has no name, and is not shown on a phone.
  const cell = (name: string, value: unknown, kind = '') => <td data-name={value ? name : undefined} class={kind}>{value || (kind === 'num' ? '\u2013' : '')}</td>
  const of = share(l)
  return <tr>
    <td><input type="checkbox" aria-label={`Compare ${l.name}`} checked={ticked} onChange={tick} /></td>
    <th scope="row">{l.state === 'unreadable' ? l.name : <a href={`r/${encodeURIComponent(l.name)}/`}>{l.name}</a>} {l.problem && <span class="muted">{l.problem}</span>}</th>
    {cell('Program', l.program && <span title={l.program}>{base(l.program)}</span>)}{cell('Started', new Date(l.started).toLocaleString())}{cell('Outcome', outcome(l), l.state === 'killed' ? 'up' : '')}{cell('Verdict', l.verdict)}
    {cell('Fingerprint', (l.fingerprint || l.note?.text) && <>{l.fingerprint && <code>{l.fingerprint}</code>} {l.cause && <span class={'chip ' + l.cause}>{l.cause}</span>} {l.note?.text}</>)}
    {cell('Peak of limit', of !== undefined && <span class={'meter' + (of > 0.95 ? ' full' : '')} role="img" aria-label={percent(l.peak_bytes!, l.limit_bytes!)}><i style={{ width: `${Math.min(100, 100 * of)}%` }} /></span>)}
    {cell('Peak', l.peak_bytes && size(l.peak_bytes), 'num')}{cell('Limit', l.limit_bytes && limit(l.limit_bytes), 'num')}{cell('File', size(l.bytes), 'num')}</tr>
}
