import { h } from 'preact'
import { useState } from 'preact/hooks'
import type { Answer, Instant, Overview, Source } from './data'
import { Raw } from './raw'
import { Copy } from './verdict'
import { glued, size } from './format'

// mostReasons are listed whole; of more, the first two are: what fixes it is to stay
// on the first screen.
const mostReasons = 3, firstReasons = 2

// firstCauses of those that were ruled out are named in one line.
const firstCauses = 3

export function Why({ source, overview, instant }: { source: Source; overview: Overview; instant: Instant }) {
  const { verdict: v, evidence: facts, ruled_out: out } = overview.answer
  const evidence = (ids: string[]) => facts.filter((f) => ids.includes(f.id)).map((f) => <Fact key={f.id} fact={f} source={source} overview={overview} instant={instant} />)
  const reason = (w: Answer['verdict']['why'][0]) => <li>{sentence(w.text)} {w.url && <a href={w.url} rel="noreferrer" target="_blank">documented</a>} {evidence(w.evidence)}</li>
  const rest = v.why.length > mostReasons ? v.why.slice(firstReasons) : []
  return <section aria-labelledby="why-title">
    <h2 id="why-title">Evidence</h2>
    {v.why.length ? <ol class="why">{v.why.slice(0, v.why.length - rest.length).map(reason)}</ol> : <p class="muted">{v.class === 'healthy' ? 'Nothing points to a problem.' : 'No single piece of evidence stands out.'}</p>}
    {rest.length > 0 && <details class="out"><summary>{rest.length} more reasons</summary><ol class="why" start={firstReasons + 1}>{rest.map(reason)}</ol></details>}
    {out.length > 0 && <details class="out"><summary>Ruled out: {out.slice(0, firstCauses).map((r) => r.name).join(', ')}{out.length > firstCauses && ` and ${out.length - firstCauses} more`}</summary>
      <ul>{out.map((r) => <li><b>{r.name}</b>: {r.reason} {evidence(r.evidence)}</li>)}</ul></details>}
  </section>
}

// sentence begins with a capital, unless a name of the program is its first word.
const sentence = (text: string) => glued(text).replace(/^[a-z](?=[a-z]*[ ,])/, (c) => c.toUpperCase())

// Fact opens the figures of one piece of evidence, and the samples that they are of.
function Fact({ fact: f, source, overview, instant }: { fact: Answer['evidence'][0]; source: Source; overview: Overview; instant: Instant }) {
  const [open, setOpen] = useState(false)
  return <details class="fact" onToggle={(e) => setOpen((e.target as HTMLDetailsElement).open)}><summary>{f.id}</summary>{open && <div class="card"><p>{f.text}</p>
    <table><tbody>{Object.entries(f.values).map(([name, n]) => <tr><th scope="row">{name.replace(/_bytes$/, '').replaceAll('_', ' ')}</th><td class="num">{/_bytes$/.test(name) ? size(n) : n}</td></tr>)}</tbody></table>
    <Raw about={overview.about[f.id] ?? ''} text={f.text} source={source} overview={overview} instant={instant} />
  </div>}</details>
}

const means: Record<string, string> = {
  proved: 'highwater try ran this fix under the real limit: the program survived', refuted: 'highwater try ran this fix under the real limit: the program was killed as before', predicted: 'computed from this recording, not tried', untested: 'not tried yet: highwater try can prove it',
}
const states: Record<string, string> = { proved: 'proved', refuted: 'refuted', predicted: 'predicted', untested: 'not tried' }

export function Fixes({ answer }: { answer: Answer }) {
  return <section aria-labelledby="fix-title">
    <h2 id="fix-title">What fixes it?</h2>
    {answer.fixes.length ? <ul class="fixes">{answer.fixes.map((f) => <li>
      <div class="fix"><b>{f.id}</b><span>{f.text}{f.outlook && <span class="muted"> {'\u2014'} {f.outlook}</span>}</span>
        <span class={'chip push ' + f.state} title={means[f.state]}>{states[f.state] ?? f.state}</span>
        {f.command && <Copy text={f.command} label="Copy command" />}</div>
    </li>)}</ul> : <p class="muted">{answer.verdict.class === 'healthy' ? 'Nothing to do.' : 'No fix is known for this.'}</p>}
    {answer.wont_help.length > 0 && <div><h3>What does not help</h3><ul class="fixes">{answer.wont_help.map((n) => <li>{n.text}<span class="muted"> {'\u2014'} {n.reason}</span></li>)}</ul></div>}
    {answer.not_predicted && <p class="muted">Not predicted: GOMEMLIMIT or another limit. {sentence(answer.not_predicted)}.</p>}
  </section>
}
