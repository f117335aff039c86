import { h } from 'preact'
import { useState } from 'preact/hooks'
import type { Overview } from './data'
import { glued } from './format'

const ended: Record<string, string> = { exited: 'ENDED', running: 'RUNNING', seen: 'IMPORTED', killed: 'KILLED' }

export function Verdict({ overview, pprof }: { overview: Overview; pprof: string | null }) {
  const { outcome: o, verdict: v } = overview.answer
  return <section class="verdict" aria-labelledby="verdict-title">
    <div class="state">
      <span class={'badge ' + (o.state === 'killed' ? 'bad' : v.class === 'healthy' ? 'good' : 'plain')}>{ended[o.state] ?? o.state}</span>
      <span>{glued(o.sentence)}</span>
      {v.fingerprint && <span class="push fingerprint"><span class="muted">fingerprint</span> <code>{v.fingerprint}</code> <span class={v.seen ? 'chip' : 'chip new'}>{v.note?.accepted ? 'accepted' : v.seen ? `known, seen ${v.seen === 1 ? 'once' : `${v.seen} times`} before` : 'new'}</span></span>}
    </div>
    <h1 id="verdict-title">{v.detail && <span class="detail">{glued(v.detail)} </span>}{glued(v.sentence).split(/(\S+\.go:\d+)/).map((part, i) => (i % 2 ? <code class="place">{part}</code> : part))}</h1>
    <div class="state">
      {v.culprit?.file && !v.sentence.includes(`:${v.culprit.line}`) && <span>{v.culprit.hint ? 'perhaps ' : ''}at <code class="place">{v.culprit.file.split('/').slice(-2).join('/')}:{v.culprit.line}</code></span>}
      <details class="confidence">
        <summary>Confidence {v.confidence}</summary>
        <ul>{v.reasons.map((r) => <li>{r}</li>)}{!v.reasons.length && <li>No reason was given.</li>}</ul>
      </details>
      {v.note?.text && <span>Note: {v.note.text}</span>}
      <span class="push actions">
        <Copy text={overview.markdown} label="Copy as Markdown" />
        <Copy text={() => location.href} label="Copy link" />
        {pprof && <a class="button" href={pprof} download={`${overview.name.replace(/.*\/|\.hwm$/g, '')}.heap.pb.gz`}>Download pprof</a>}
      </span>
    </div>
    {(v.not_known.length > 0 || v.known.length > 0) && <dl class="known">
      {v.known.length > 0 && [<dt>Known</dt>, <dd>{v.known.map(sentence).join(' ')}</dd>]}
      {v.not_known.length > 0 && [<dt>Unknown</dt>, <dd>{v.not_known.map(sentence).join(' ')}</dd>]}
      {v.next.length > 0 && [<dt>Next</dt>, <dd>{v.next.map((n) => <code>{n}</code>)}</dd>]}
    </dl>}
  </section>
}

// sentence makes a clause a sentence; a name of the program keeps its first letter.
const sentence = (text: string) => glued(text).replace(/^[a-z](?=[a-z]*[ ,])/, (c) => c.toUpperCase()).replace(/[^.]$/, '$&.')

export function Copy({ text, label }: { text: string | (() => string); label: string }) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    const words = typeof text === 'string' ? text : text()
    try {
      await navigator.clipboard.writeText(words)
      setSaid('Copied')
    } catch {
      // Pages that were opened from a file have no clipboard in some browsers.
      const area = document.createElement('textarea')
      area.value = words
      document.body.append(area)
      area.select()
      setSaid(document.execCommand('copy') ? 'Copied' : 'Not allowed to copy')
      area.remove()
    }
    setTimeout(() => setSaid(''), 2000)
  }
  return <button onClick={copy}><span aria-live="polite">{said || label}</span></button>
}
