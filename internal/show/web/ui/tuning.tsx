import { h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Predicted, Source, Tuning } from './data'
import { Copy } from './verdict'
import { limit, size } from './format'

const name = (p: Predicted) => [p.gogc === null ? 'GOGC=off' : `GOGC=${p.gogc}`, p.gomemlimit_bytes !== null && `GOMEMLIMIT=${limit(p.gomemlimit_bytes).replace(' ', '')}`, p.gc_at && `GC at ${p.gc_at}`].filter(Boolean).join(' ')
const lives: Record<string, string> = { yes: 'survives', no: 'killed', uncertain: 'uncertain' }

// Settings is what the run would have needed under other settings of the collector:
// a bar for the middle of the prediction, a stroke up to its 95th percentile.
export function Settings({ source, command }: { source: Source; command: string }) {
  const [tuning, setTuning] = useState<Tuning | null>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => { source.tuning().then(setTuning, (err: Error) => setProblem(err.message)) }, [])
  const a = tuning?.answer
  const most = a ? Math.max(...a.settings.map((p) => Math.max(p.resident_bytes.p95, p.limit_bytes ?? 0)), a.recorded.resident_bytes, 1) : 1
  const part = (n: number) => `${(100 * n) / most}%`
  return <section aria-labelledby="settings-title" class="settings"><h2 id="settings-title">Other settings <span class="finding">predicted from this run, not tried{a && a.grade !== 'refused' && `; confidence ${a.grade}`}</span></h2>
    {(problem || tuning?.why) && <p class="muted">{problem || `Nothing is predicted: ${tuning!.why}`}</p>}
    {a?.grade === 'refused' && <p class="muted">Nothing is predicted: {a.why.join('; ')}</p>}
    {a && a.settings.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label="Settings"><table><thead><tr><th scope="col">Setting</th><th scope="col">Peak RSS; the limit as a line</th><th scope="col" class="num">Middle</th><th scope="col" class="num">95 %</th><th scope="col" class="num">Peak heap</th><th scope="col" class="num">GCs</th><th scope="col">GC cost</th><th scope="col">Limit</th></tr></thead>
      <tbody>{a.settings.map((p) => <tr class={p.recorded ? 'on' : ''}>
        <th scope="row"><code>{name(p)}</code>{p.recorded && <span class="chip">as recorded</span>}</th>
        <td class="wide"><span class="range"><i style={{ width: part(p.resident_bytes.p50) }} /><b style={{ left: part(p.resident_bytes.p50), width: part(p.resident_bytes.p95 - p.resident_bytes.p50) }} />{p.limit_bytes !== null && <s style={{ left: part(p.limit_bytes) }} />}</span></td>
        <td class="num">{size(p.resident_bytes.p50)}</td><td class="num">{size(p.resident_bytes.p95)}</td><td class="num">{size(p.peak_heap_bytes.p50)}</td><td class="num">{p.gcs}</td><td>{p.gc_cost}</td>
        <td>{p.limit_bytes !== null && <span class={p.survives === 'no' ? 'up' : p.survives === 'yes' ? 'down' : ''}>{lives[p.survives]}{p.thrash && ', GC thrashing'}</span>}</td></tr>)}</tbody></table></div>}
    {a?.settings.some((p) => p.survives === 'yes' && p.limit_bytes !== null && p.resident_bytes.p50 > p.limit_bytes) && <p class="muted">RSS includes file pages. The kernel reclaims those, so a run may survive with an RSS above its limit.</p>}
    {a && !a.recommended && a.not_recommended && <p class="muted">No GOMEMLIMIT is advised: {a.not_recommended}.</p>}
    {a?.recommended && <p>Advice: <code>{name({ ...a.settings[0], gogc: a.recommended.gogc, gomemlimit_bytes: a.recommended.gomemlimit_bytes, gc_at: '' })}</code> under {limit(a.recommended.limit_bytes)}: {a.recommended.because} <Copy text={command} label="Copy highwater tune" /></p>}
  </section>
}
