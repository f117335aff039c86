import { h } from 'preact'
import { useState } from 'preact/hooks'
import type { Instant } from './data'
import { clock, delta, limit, percent, size } from './format'

// slug is the class that gives a row its colour.
export const slug = (name: string) => 'row-' + name.toLowerCase().replace(/[^a-z]+/g, '-').replace(/-$/, '')

const when: Record<string, string> = { kill: 'at the kill', peak: 'at the peak', last: 'at the last snapshot' }
const unexplained = 'Counted by the kernel and in none of the rows: its per-CPU reserves, and what changed while the rows were read.'

// parts are what a row divides into: the two largest, and what is a tenth or more.
const parts = (all: { name: string; bytes: number }[]) => {
  const whole = all.reduce((n, p) => n + p.bytes, 0)
  return all.filter((p, i) => i < 2 || p.bytes * 10 >= whole).map((p) => `${p.name} ${size(p.bytes)}`).join(', ')
}

export function Ledger({ instant, before }: { instant: Instant; before: Instant | null }) {
  const l = instant.ledger
  const [shown, setShown] = useState('')
  const rows = [...l.rows.map((r) => ({ ...r })), { name: 'unexplained', word: 'unexplained', group: '', bytes: l.unexplained, reclaimable: false, means: unexplained, parts: [] as { name: string; bytes: number }[] }]
  const sum = rows.reduce((n, r) => n + Math.max(0, r.bytes), 0)
  // What the kernel takes back is the answer only where it is most of all.
  const counts = (r: { bytes: number; reclaimable: boolean }) => (r.reclaimable && r.bytes < l.total / 2 ? 0 : r.bytes)
  const main = rows.reduce((a, b) => (counts(b) > counts(a) ? b : a))
  const groups = new Map<string, number>()
  for (const r of rows) groups.set(r.group || 'unexplained', (groups.get(r.group || 'unexplained') ?? 0) + r.bytes)
  // The bar goes by groups, so that each is one stretch of it.
  const order = [...groups].sort((a, b) => b[1] - a[1]).map(([g]) => g).filter((g) => g !== 'unexplained')
  const bar = [...rows].sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group) || b.bytes - a.bytes).filter((r) => r.name !== 'unexplained')
  bar.push(rows[rows.length - 1])
  const was = (name: string) => (name === 'unexplained' ? before!.ledger.unexplained : before!.ledger.rows.find((r) => r.name === name)?.bytes ?? 0)
  if (before) for (const r of before.ledger.rows) if (!bar.some((b) => b.name === r.name)) bar.splice(-1, 0, { ...r, bytes: 0, parts: [] })
  const means = rows.find((r) => r.name === shown)
  return <section class="ledger" aria-labelledby="where-title">
    <h2 id="where-title">Where did the memory go? <span class="finding">{size(l.total)}{l.limit !== null && l.of_cgroup && ` of ${limit(l.limit)}`} {when[instant.name] ?? `at ${clock(instant.at)}`}: {percent(main.bytes, l.total)} {main.word}</span>
      {before && <span class="chip base">{delta(l.total - before.ledger.total)} since {clock(before.at)}</span>}
      {!l.of_cgroup && <span class="chip">RSS: no cgroup was watched</span>}
      {!instant.pages && <span class="chip" title={`Pages were read at ${clock(instant.moment)}; between such moments the parts are inferred from the figures of the Go runtime.`}>inferred from the runtime’s figures</span>}
    </h2>
    <div class="stack" role="img" aria-label={'The ledger as a bar: ' + rows.map((r) => `${r.word} ${percent(r.bytes, l.total)}`).join(', ')}>
      {bar.map((r) => r.bytes > 0 && <div class={'part ' + slug(r.name) + (shown === r.name ? ' on' : '')} style={{ width: `${(100 * r.bytes) / sum}%` }} title={`${r.word}: ${size(r.bytes)}. ${r.means}`}
        onMouseEnter={() => setShown(r.name)} onMouseLeave={() => setShown('')}>{r.bytes / sum > 0.09 && <span>{r.word}</span>}</div>)}
    </div>
    <div class="groups" aria-hidden="true">{order.map((g) => <div style={{ width: `${(100 * Math.max(0, groups.get(g)!)) / sum}%` }}>{groups.get(g)! / sum > 0.1 && <span>{g} {size(groups.get(g)!)}</span>}</div>)}</div>
    <table class="legend" aria-label="The ledger"><tbody>{bar.map((r) => <tr class={shown === r.name ? 'on' : ''} onMouseEnter={() => setShown(r.name)} onMouseLeave={() => setShown('')}>
      <th scope="row"><button class="term" title={r.means} onFocus={() => setShown(r.name)} onBlur={() => setShown('')}><i class={'swatch ' + slug(r.name)} />{r.word}</button></th>
      <td class="num">{size(r.bytes)}</td>{before && <td class={'num ' + (r.bytes > was(r.name) ? 'up' : 'down')}>{delta(r.bytes - was(r.name))}</td>}<td class="num muted">{percent(r.bytes, l.total)}{r.reclaimable && ' reclaimable'}</td>{r.parts.length > 0 && <td class="muted parts">({parts(r.parts)})</td>}
    </tr>)}</tbody></table>
    <p class="means" aria-live="polite">{means ? `${means.word}: ${means.means}` : instant.untouched > 1 << 20 ? `Another ${size(instant.untouched)} is allocated but not yet written, so the kernel does not count it. “Allocated by” includes this memory.` : '\u00a0'}</p>
  </section>
}
