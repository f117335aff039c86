import { h } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Held, Instant, Overview } from './data'
import type { State } from './state'
import { clock, duration, limit, size } from './format'
import { Explorer } from './held'
import { Standing } from './holders'
import { Icicle } from './icicle'
import { Answers } from './latency'
import { Settings } from './tuning'
import type { Source } from './data'

export function Below({ source, overview, instant, held, state, change }: { source: Source; overview: Overview; instant: Instant; held: Held | null; state: State; change: (s: Partial<State>) => void }) {
  const o = overview
  // What is below the screen is laid out once there is time, so that a capture of the whole page has it.
  useEffect(() => {
    const shown = () => document.querySelectorAll<HTMLElement>('.below > section').forEach((e) => { e.style.contentVisibility = 'visible' })
    const idle = window.requestIdleCallback?.(shown) ?? 0, later = idle ? 0 : setTimeout(shown, 200)
    return () => (idle ? window.cancelIdleCallback(idle) : clearTimeout(later))
  }, [held === null, state.view])
  return <div class="below">
    {state.view !== 'flame' && <section aria-labelledby="icicle-title"><h2 id="icicle-title">Flame graph: allocations by call stack <span class="finding">{state.all || state.view === 'allocated' ? 'all allocated since the start' : `${size(instant.heap.total)} live`}</span></h2>
      <Icicle heap={instant.heap} state={state} change={change} baseline={(state.window !== null || state.base !== null) && instant.heap.since !== null} /></section>}
    {held && <Explorer held={held} state={state} change={change} />}
    <section aria-labelledby="goroutines-title"><h2 id="goroutines-title">Goroutines</h2><Standing instant={instant} most={60} /></section>
    <section aria-labelledby="gc-title"><h2 id="gc-title">Garbage collection <span class="finding">{o.cycles_all} {o.cycles_all === 1 ? 'GC' : 'GCs'} seen{o.answer.run.gc_share !== null && `, ${(100 * o.answer.run.gc_share).toFixed(1)}% of the CPU time, as the runtime counts it`}</span></h2>
      {o.cycles.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label="GCs"><table><thead><tr><th scope="col" class="num">GC</th><th scope="col" class="num">Time</th><th scope="col" class="num">Began at</th><th scope="col" class="num">Live after the GC</th><th scope="col" class="num">Next GC target</th><th scope="col" class="num">Pauses</th></tr></thead>
        <tbody>{o.cycles.map((c) => <tr><td class="num">{c.n}{c.missed > 0 && <span class="muted"> (+{c.missed} unseen)</span>}</td><td class="num">{clock(c.at)}</td><td class="num">{size(c.trigger)}</td><td class="num">{size(c.marked)}</td><td class="num">{size(c.goal)}</td><td class="num">{duration(c.pause)}</td></tr>)}</tbody></table></div>}
    </section>
    <section aria-labelledby="processes-title"><h2 id="processes-title">Processes</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of processes"><table><thead><tr><th scope="col">Program</th><th scope="col" class="num">PID</th><th scope="col">Go</th><th scope="col">Heap profile</th><th scope="col" class="num">Seen</th><th scope="col" class="num">Private peak</th><th scope="col" class="num">At the cursor</th><th scope="col">End</th></tr></thead>
        <tbody>{o.programs.map((p) => <tr class={p.subject ? 'on' : ''}><th scope="row">{p.name} <span class="muted">{p.args}</span></th><td class="num">{p.pid}</td><td>{p.go_version || 'no'}</td><td>{p.heap_profile}{p.why_not && <span class="muted"> {p.why_not}</span>}</td>
          <td class="num">{p.from !== null ? `${clock(p.from)} \u2013 ${clock(p.to!)}` : '\u2013'}</td><td class="num">{p.peak !== null ? size(p.peak) : '\u2013'}</td>
          <td class="num">{(() => { const now = instant.processes.find((q) => q.pid === p.pid); return now ? size(now.bytes) : '\u2013' })()}</td><td>{p.end}</td></tr>)}</tbody></table></div>
    </section>
    <Settings source={source} command={`highwater tune ${o.typed}`} />
    <Answers answer={o.answer} said={o.events.find((e) => e.kind === 'load-end' && /\bp50\b/.test(e.text))?.text ?? ''} />
    <Footprint overview={o} />
    <section aria-labelledby="events-title"><h2 id="events-title">Events</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of events"><table><thead><tr><th scope="col" class="num">Time</th><th scope="col">Event</th><th scope="col" class="num">PID</th><th scope="col">Text</th></tr></thead>
        <tbody>{o.events.map((e) => <tr><td class="num">{clock(e.at)}</td><td>{e.kind}</td><td class="num">{e.pid || ''}</td><td>{e.text.includes('\n') ? <pre>{e.text}</pre> : e.text || (e.kind === 'oom-kill' ? `the kernel counts ${e.value} more` : e.value || '')}</td></tr>)}</tbody></table></div>
    </section>
    <section aria-labelledby="limits-title"><h2 id="limits-title">What was not seen</h2>
      <ul>{[...o.answer.gaps, ...instant.gaps.filter((g) => !o.answer.gaps.some((a) => a.what === g.what && a.why === g.why))].map((g) => <li><b>{g.what}</b>: {g.why}</li>)}{o.gaps.map((g) => <li><b>{g.what}</b>{g.pid ? ` of ${g.pid}` : ''}: {g.why} <span class="muted">({clock(g.from)} to {g.to === null ? 'the end' : clock(g.to)})</span></li>)}
        {o.holes.map(([from, to]) => <li><b>no sample</b> from {clock(from)} to {clock(to)}</li>)}
        {source.leftOut.map((l) => <li><b>left out of this file</b>: {l}</li>)}
        {source.sources.map((f) => <li><b>source lines in this file are from</b> <code>{f}</code></li>)}
        <li>This snapshot took {duration(instant.took)} to read and paused the program for {duration(instant.stopped)}.</li></ul>
    </section>
    <section aria-labelledby="environment-title"><h2 id="environment-title">Environment</h2>
      <dl class="environment">{[...o.environment, ...instant.settings].map((s) => [<dt>{s.name}</dt>, <dd>{s.value}</dd>])}</dl>
    </section>
  </div>
}

function Footprint({ overview }: { overview: Overview }) {
  const f = overview.answer.run.footprint
  if (!f) return null
  const of: [string, number | null][] = [['half of the time', f.p50_bytes], ['95 %', f.p95_bytes], ['99 %', f.p99_bytes], ['99.9 %', f.p999_bytes]]
  const most = Math.max(...of.map(([, n]) => n ?? 0), overview.answer.outcome.limit_bytes ?? 0, 1)
  const bar = (n: number) => <td class="wide"><i style={{ width: `${(100 * n) / most}%` }} /></td>
  return <section aria-labelledby="footprint-title"><h2 id="footprint-title">Memory percentiles <span class="finding">without page cache</span></h2>
    <table class="bars"><tbody>{of.map(([share, n]) => n !== null && <tr><th scope="row">{share} below</th>{bar(n)}<td class="num">{size(n)}</td></tr>)}
      {overview.answer.outcome.limit_bytes !== null && <tr><th scope="row">limit</th>{bar(overview.answer.outcome.limit_bytes)}<td class="num">{limit(overview.answer.outcome.limit_bytes)}</td></tr>}</tbody></table></section>
}
