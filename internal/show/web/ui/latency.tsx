import { h } from 'preact'
import type { Answer } from './data'
import { clock, duration } from './format'

const ns = (n: number) => duration(n / 1e9)

// Answers is how long requests took: the percentiles, how many took how long, and
// the course; without a probe, what the load said of it.
export function Answers({ answer, said }: { answer: Answer; said: string }) {
  const l = answer.latency
  if (!l) return said ? <section aria-labelledby="answers-title"><h2 id="answers-title">Request latency <span class="finding">as the load printed it</span></h2><pre>{said}</pre></section> : null
  const of: [string, number | null][] = [['50 %', l.p50_ns], ['90 %', l.p90_ns], ['99 %', l.p99_ns], ['99.9 %', l.p999_ns], ['all', l.max_ns]]
  const most = Math.max(...l.histogram.map((b) => b.requests), 1)
  return <section aria-labelledby="answers-title"><h2 id="answers-title">Request latency <span class="finding">{l.sentence || `${l.requests} requests of ${l.probe}`}</span></h2>
    <div class="pair">
      <table><caption class="hidden">Percentiles of the latency</caption><tbody>{of.map(([share, t]) => <tr><th scope="row">{share} within</th><td class="num">{t === null ? 'too few requests to tell' : ns(t)}</td></tr>)}
        {l.no_answer > 0 && <tr><th scope="row">no answer in time</th><td class="num">{l.no_answer}</td></tr>}{l.failed > 0 && <tr><th scope="row">failed</th><td class="num">{l.failed}</td></tr>}</tbody></table>
      <table class="bars"><caption class="hidden">How many requests took how long</caption><tbody>{l.histogram.map((b) => <tr>
        <th scope="row" class="num">{ns(b.from_ns)} {'\u2013'} {ns(b.to_ns)}</th><td class="wide"><i style={{ width: `${(100 * b.requests) / most}%` }} /></td><td class="num">{b.requests}</td></tr>)}</tbody></table>
      <div class="scroll" tabIndex={0} role="region" aria-label="Latency over time"><table><thead><tr><th scope="col" class="num">From</th><th scope="col" class="num">Requests</th><th scope="col" class="num">Median</th><th scope="col" class="num">Longest</th></tr></thead>
        <tbody>{l.course.map((c) => <tr><td class="num">{clock(c.at_seconds)}</td><td class="num">{c.requests}</td><td class="num">{c.p50_ns === null ? '\u2013' : ns(c.p50_ns)}</td><td class="num">{c.max_ns === null ? '\u2013' : ns(c.max_ns)}</td></tr>)}</tbody></table></div>
    </div>
    {l.failures.length > 0 && <ul>{l.failures.map((f) => <li>{f.requests} failed: {f.why}</li>)}</ul>}
  </section>
}
