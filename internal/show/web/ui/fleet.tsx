import { h, Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { count, delta, size } from './format'

interface Line { service: string; function: string; file: string; line: number; from_bytes: number; to_bytes: number; since: string; processes: number; kills: number; place: string }
interface Cause { fingerprint: string; service: string; class: string; status: string; since: string; count: number; kills: number; pods: number; versions: string[]; newest_incident: string; at: string; sentence: string; cause: string; where: string; image: string; recorded: boolean }
interface Service { service: string; processes: number; without_profile: number; kills: number; growth_bytes: number; line: string }
interface Hour { version: string; hour: string; live_bytes: number; processes: number }
interface Fit { limit_bytes: number; peak_bytes: number; heap_live_bytes: number; non_heap_bytes: number; why_not: string; recommended?: { limit_bytes: number; gomemlimit_bytes: number }; notes: string[]; words: string }
interface Data { service: string; since: string; seen: string; services: Service[]; lines: Line[]; causes: Cause[]; course: Hour[]; fit: Fit | null; ledger: { name: string; bytes: number }[]; ledger_of: string }

const times = ['24h', '7d', '4w', '12w']

const address = (service: string, since: string) => `fleet?${new URLSearchParams({ ...(service ? { service } : {}), since })}`

// Fleet is all services, or the one in the address.
export function Fleet() {
  const asked = new URLSearchParams(location.search), service = asked.get('service') ?? '', since = asked.get('since') ?? '7d'
  const [data, setData] = useState<Data | null>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    fetch('api/' + address(service, since)).then(async (a) => { if (!a.ok) throw new Error(await a.text()); return a.json() }).then(setData, (err: Error) => setProblem(err.message))
  }, [])
  return <main class="list">
    <h1>{service ? <><a href={address('', since)}>Fleet</a> / {service}</> : 'Fleet'}</h1>
    <div class="tabs"><span>Since</span> {times.map((t) => t === since ? <b aria-current="true">{t}</b> : <a href={address(service, t)}>{t}</a>)}<span class="push"><a href="./">Recordings of this machine</a></span></div>
    {problem && <p class="problem" role="alert">{problem}</p>}
    {!data && !problem && <p role="status">Loading…</p>}
    {data && <p>{data.seen}</p>}
    {data && (service ? <One d={data} /> : <All d={data} since={since} />)}
  </main>
}

function All({ d, since }: { d: Data; since: string }) {
  return <>
    <h2>Services</h2>
    {!d.services.length && <p>No service was seen.</p>}
    {d.services.length > 0 && <table class="cards"><thead><tr><th scope="col">Service</th><th scope="col" class="num">Growth in a process</th><th scope="col" class="num">Kills</th><th scope="col" class="num">Processes</th><th scope="col" class="num">Without a heap profile</th><th scope="col">Line that grew most</th></tr></thead>
      <tbody>{d.services.map((s) => <tr><th scope="row"><a href={address(s.service, since)}>{s.service}</a></th>
        <td data-name="Growth" class="num">{s.growth_bytes > 0 ? delta(s.growth_bytes) : '\u2013'}</td><td data-name="Kills" class={'num' + (s.kills ? ' up' : '')}>{count(s.kills)}</td><td data-name="Processes" class="num">{count(s.processes)}</td>
        <td data-name="Without a heap profile" class="num">{count(s.without_profile)}</td><td data-name={s.line ? 'Line' : undefined}>{s.line && <code>{s.line}</code>}</td></tr>)}</tbody></table>}
    <Causes d={d} named />
  </>
}

function One({ d }: { d: Data }) {
  return <>
    <Course hours={d.course} />
    <h2>Lines that grew</h2>
    {!d.lines.length ? <p>No line grew.</p> : <table class="cards"><thead><tr><th scope="col">Line</th><th scope="col" class="num">Growth</th><th scope="col">In a process</th><th scope="col">Since</th><th scope="col" class="num">Processes</th></tr></thead>
      <tbody>{d.lines.map((l) => <tr><th scope="row"><code>{l.place}</code></th><td data-name="Growth" class="num">{delta(l.to_bytes - l.from_bytes)}</td><td data-name="In a process">{size(l.from_bytes)} {'\u2192'} {size(l.to_bytes)}</td>
        <td data-name={l.since ? 'Since' : undefined}>{l.since}</td><td data-name="Processes" class="num">{count(l.processes)}</td></tr>)}</tbody></table>}
    <Causes d={d} />
    {d.ledger.length > 0 && <><h2>Memory at the newest incident</h2><table class="cards"><caption class="hidden">{d.ledger_of}</caption><tbody>{d.ledger.map((r) => <tr><th scope="row">{r.name}</th><td data-name="Bytes" class="num">{size(r.bytes)}</td></tr>)}</tbody></table></>}
    {d.fit && <><h2>Limit</h2><pre class="words">{d.fit.words}</pre></>}
  </>
}

function Causes({ d, named }: { d: Data; named?: boolean }) {
  return <>
    <h2>Incidents</h2>
    {!d.causes.length ? <p>No incident.</p> : <table class="cards"><thead><tr>{named && <th scope="col">Service</th>}<th scope="col">What happened</th><th scope="col">Status</th><th scope="col" class="num">Incidents</th><th scope="col" class="num">Pods</th><th scope="col">Newest</th></tr></thead>
      <tbody>{d.causes.map((c) => <tr>{named && <th scope="row"><a href={address(c.service, new URLSearchParams(location.search).get('since') ?? '7d')}>{c.service}</a></th>}
        <td data-name="What happened">{c.sentence} {c.cause !== c.sentence && c.cause}{c.image && <> <code>{c.image}</code></>}</td><td data-name="Status"><span class={'chip' + (c.status === 'known' ? '' : ' new')}>{c.status}</span> {c.since}</td>
        <td data-name="Incidents" class="num">{count(c.count)}</td><td data-name="Pods" class="num">{count(c.pods)}</td>
        <td data-name="Newest">{c.recorded ? <a href={`r/${c.newest_incident.slice(0, 12)}/`}>{new Date(c.at).toLocaleString()}</a> : new Date(c.at).toLocaleString()}</td></tr>)}</tbody></table>}
  </>
}

const colours = ['--heap', '--goal', '--memlimit', '--accent', '--limit']

// Course draws the heap of a process, in the mean, a line for each version; the newest five.
function Course({ hours }: { hours: Hour[] }) {
  const versions = [...new Set(hours.map((x) => x.version))].slice(-colours.length)
  const shown = hours.filter((x) => versions.includes(x.version))
  if (shown.length < 2) return null
  const at = (x: Hour) => Date.parse(x.hour), first = at(shown[0]), last = Math.max(at(shown[shown.length - 1]), first + 1), top = Math.max(...shown.map((x) => x.live_bytes), 1)
  const point = (x: Hour) => `${(60 + (730 * (at(x) - first)) / (last - first)).toFixed(1)},${(150 - (140 * x.live_bytes) / top).toFixed(1)}`
  const of = (v: string) => shown.filter((x) => x.version === v)
  return <>
    <h2>Live heap of a process, by version</h2>
    <svg class="fleet-course" viewBox="0 0 800 170" role="img" aria-label={`live heap of a process: ${versions.map((v) => `${v || 'no version'} ${size(of(v)[0].live_bytes)} to ${size(of(v)[of(v).length - 1].live_bytes)}`).join(', ')}`}>
      {[0, 0.5, 1].map((p) => <g><line x1="60" x2="790" y1={150 - 140 * p} y2={150 - 140 * p} /><text x="56" y={154 - 140 * p} text-anchor="end">{size(top * p)}</text></g>)}
      <text x="60" y="166">{new Date(first).toLocaleString()}</text><text x="790" y="166" text-anchor="end">{new Date(last).toLocaleString()}</text>
      {versions.map((v, i) => <polyline points={of(v).map(point).join(' ')} style={{ stroke: `var(${colours[i]})` }} />)}
    </svg>
    <p class="legend-line">{versions.map((v, i) => <span class="series"><i style={{ color: `var(${colours[i]})` }} />{v || 'no version'}</span>)}</p>
    <details class="asTable"><summary>Show as table</summary><table><thead><tr><th scope="col">Version</th><th scope="col">From</th><th scope="col">To</th><th scope="col" class="num">First</th><th scope="col" class="num">Last</th></tr></thead>
      <tbody>{versions.map((v) => { const all = of(v), one = all[0], two = all[all.length - 1]; return <tr><th scope="row">{v || 'no version'}</th><td>{new Date(at(one)).toLocaleString()}</td><td>{new Date(at(two)).toLocaleString()}</td><td class="num">{size(one.live_bytes)}</td><td class="num">{size(two.live_bytes)}</td></tr> })}</tbody></table></details>
  </>
}
