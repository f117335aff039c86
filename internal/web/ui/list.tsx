import { h, Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { limit, percent, size } from './format'

interface Listed { name: string; path: string; bytes: number; started: string; program: string; limit_bytes?: number; peak_bytes?: number; state: string; verdict: string; fingerprint: string; cause: string; note: { text: string } | null; problem?: string }

// List is all recordings; two that are ticked are compared.
export function List() {
  const [all, setAll] = useState<Listed[] | null>(null)
  const [problem, setProblem] = useState('')
  const [search, setSearch] = useState('')
  const [ticked, setTicked] = useState<string[]>([])
  useEffect(() => {
    fetch('api/list').then(async (a) => { if (!a.ok) throw new Error(await a.text()); return a.json() }).then((list) => setAll(list.recordings), (err: Error) => setProblem(err.message))
  }, [])
  const shown = (all ?? []).filter((l) => !search || [l.name, l.program, l.state, l.verdict, l.fingerprint, l.cause].join(' ').toLowerCase().includes(search.toLowerCase()))
  const tick = (name: string) => setTicked((t) => (t.includes(name) ? t.filter((n) => n !== name) : [...t, name].slice(-2)))
  const inOrder = (all ?? []).filter((l) => ticked.includes(l.name)).map((l) => l.name).reverse() // the older one first
  return <main class="list">
    <h1>Recordings</h1>
    {problem && <p class="problem" role="alert">{problem}</p>}
    <div class="tabs"><label>Filter <input type="search" id="search" value={search} onInput={(e) => setSearch((e.target as HTMLInputElement).value)} /></label>
      <span class="push">{ticked.length === 2 ? <a class="button" href={`diff?before=${encodeURIComponent(inOrder[0])}&after=${encodeURIComponent(inOrder[1])}`}>Compare {inOrder[0]} with {inOrder[1]}</a> : <span class="muted">Select two to compare them.</span>}</span></div>
    {all && !all.length && <p>No recordings yet. <code>highwater run -- PROGRAM</code> makes one.</p>}
    {all && all.length > 0 && !shown.length && <p>No recording matches.</p>}
    {shown.length > 0 && <table class="cards"><thead><tr><th scope="col"><span class="hidden">Compare</span></th><th scope="col">Recording</th><th scope="col">Program</th><th scope="col">Started</th><th scope="col">Outcome</th><th scope="col">Verdict</th><th scope="col">Fingerprint</th><th scope="col">Peak of limit</th><th scope="col" class="num">Peak</th><th scope="col" class="num">Limit</th><th scope="col" class="num">File</th></tr></thead>
      <tbody>{shown.map((l) => <tr>
        <td><input type="checkbox" aria-label={`Compare ${l.name}`} checked={ticked.includes(l.name)} onChange={() => tick(l.name)} /></td>
        <th scope="row">{l.problem ? l.name : <a href={`r/${encodeURIComponent(l.name)}/`}>{l.name}</a>} {l.problem && <span class="muted">{l.problem}</span>}</th>
        <td data-name="Program" title={l.program}>{l.program.replace(/.*\//, '')}</td><td data-name="Started">{new Date(l.started).toLocaleString()}</td><td data-name="Outcome" class={l.state === 'killed' ? 'up' : ''}>{l.state}</td><td data-name="Verdict">{l.verdict}</td>
        <td data-name="Fingerprint">{l.fingerprint && <><code>{l.fingerprint}</code> <span class={'chip ' + l.cause}>{l.cause}</span></>} {l.note?.text}</td>
        <td data-name="Peak of limit">{l.peak_bytes && l.limit_bytes ? <span class={'meter' + (l.peak_bytes > 0.95 * l.limit_bytes ? ' full' : '')} role="img" aria-label={percent(l.peak_bytes, l.limit_bytes)}><i style={{ width: `${Math.min(100, (100 * l.peak_bytes) / l.limit_bytes)}%` }} /></span> : ''}</td><td data-name="Peak" class="num">{l.peak_bytes ? size(l.peak_bytes) : '\u2013'}</td><td data-name="Limit" class="num">{l.limit_bytes ? limit(l.limit_bytes) : '\u2013'}</td><td data-name="File" class="num">{size(l.bytes)}</td></tr>)}</tbody></table>}
  </main>
}
