import { h } from 'preact'
import type { Answer } from './data'
import { Copy } from './verdict'
import { size } from './format'

export function Why({ answer }: { answer: Answer }) {
  const v = answer.verdict
  const facts = new Map(answer.evidence.map((f) => [f.id, f]))
  const evidence = (ids: string[]) => ids.map((id) => {
    const f = facts.get(id)
    return f && <details class="fact"><summary>{f.id}</summary><div class="card"><p>{f.text}</p>
      <table><tbody>{Object.entries(f.values).map(([name, n]) => <tr><th scope="row">{name.replace(/_bytes$/, '').replaceAll('_', ' ')}</th><td class="num">{/_bytes$/.test(name) ? size(n) : n}</td></tr>)}</tbody></table>
    </div></details>
  })
  return <section aria-labelledby="why-title">
    <h2 id="why-title">Why do we say so?</h2>
    {v.why.length ? <ol class="why">{v.why.map((w) => <li>{w.text} {w.url && <a href={w.url} rel="noreferrer" target="_blank">documented</a>} {evidence(w.evidence)}</li>)}</ol>
      : <p class="muted">No single reason stands out.</p>}
    {answer.ruled_out.length > 0 && <details class="out"><summary>Ruled out: {answer.ruled_out.map((r) => r.class).join(', ')}</summary>
      <ul>{answer.ruled_out.map((r) => <li><b>{r.class}</b>: {r.reason} {evidence(r.evidence)}</li>)}</ul></details>}
  </section>
}

const states: Record<string, string> = { proved: 'proved', predicted: 'predicted', untested: 'your change' }

export function Fixes({ answer }: { answer: Answer }) {
  return <section aria-labelledby="fix-title">
    <h2 id="fix-title">What fixes it?</h2>
    {answer.fixes.length ? <ul class="fixes">{answer.fixes.map((f) => <li>
      <div class="fix"><b>{f.id}</b><span>{f.text}{f.outlook && <span class="muted"> {'\u2014'} {f.outlook}</span>}</span>
        <span class={'chip push ' + f.state}>{states[f.state] ?? f.state}</span>
        {f.command && <Copy text={f.command} label="Copy command" />}</div>
    </li>)}</ul> : <p class="muted">{answer.verdict.class === 'healthy' ? 'Nothing to do.' : 'No fix is known for this.'}</p>}
  </section>
}
