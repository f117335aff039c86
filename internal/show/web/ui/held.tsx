import { h, Fragment } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Held, HeldPath } from './data'
import type { State } from './state'
import { Boxes, matcher, type Node } from './icicle'
import { clock, count, duration, percent, size } from './format'

// mostFound bounds the rows of a search: who wants more of them searches closer.
const mostFound = 40

// The text of each path: "main.cache.entries[].body". A path comes after the one
// that it is a part of.
function texts(held: Held): string[] {
  const all: string[] = []
  for (const p of held.paths) all.push((p.parent >= 0 ? all[p.parent] : '') + p.label)
  return all
}

// inferred says that most objects of a type do not carry it themselves.
function inferred(t: Held['types'][number]): boolean {
  return 2 * (t.inferred_bytes ?? 0) > t.bytes
}

// idOf names a path in the address: several may have one text, of different types.
const idOf = (held: Held, all: string[], i: number) => (i < 0 ? '' : `${all[i]} ${held.paths[i].type}`)

const typeOf = (type: string) => (type === '?' ? '' : type)

// HeldBy is who holds most, as the first screen lists it.
export function HeldBy({ held, state, change, rows }: { held: Held | null; state: State; change: (s: Partial<State>) => void; rows: number }) {
  const all = useMemo(() => (held ? texts(held) : []), [held])
  if (!held) return <p class="muted">Loading…</p>
  const holders = held.paths.map((p, i) => ({ p, i })).filter(({ p }) => p.holder).sort((a, b) => b.p.retained - a.p.retained)
  if (!holders.length) return <p class="muted">No single object retains a large part of the heap: see the picture below.</p>
  const rest = holders.slice(rows)
  return <div><table class="lines holds"><colgroup><col /><col class="w2" /><col class="w1" /><col class="w2" /><col class="w4" /></colgroup><thead><tr><th scope="col">Retained by</th><th scope="col" class="num">Retained</th><th scope="col" class="num">Share</th><th scope="col" class="num">Objects</th><th scope="col">Allocated at</th></tr></thead>
    <tbody>{holders.slice(0, rows).map(({ p, i }) => <tr class={idOf(held, all, i) === state.line ? 'on' : ''} onClick={() => change({ line: idOf(held, all, i) })}>
      <th scope="row"><button class="term" onClick={() => change({ line: idOf(held, all, i) })} aria-pressed={idOf(held, all, i) === state.line}><code>{all[i]}</code></button> <span class="muted">{typeOf(p.type)}</span></th>
      <td class="num"><b>{size(p.retained)}</b></td><td class="num">{percent(p.retained, held.live_bytes)}</td><td class="num">{count(p.held)}</td>
      <td>{p.sites.length ? <code>{p.sites[0].place}</code> : '\u2013'}</td></tr>)}</tbody></table>
    {rest.length > 0 && <p class="muted">{rest.length} other {rest.length === 1 ? 'path' : 'paths'}, {size(rest.reduce((n, { p }) => n + p.retained, 0))}</p>}</div>
}

// Explorer is the whole of a capture: the picture, a search, the way to the root,
// and what the objects are.
export function Explorer({ held, state, change }: { held: Held; state: State; change: (s: Partial<State>) => void }) {
  const all = useMemo(() => texts(held), [held])
  const whole = useMemo(() => tree(held), [held])
  const { match } = useMemo(() => matcher(state.find), [state.find])
  const found = state.find ? held.paths.map((_, i) => i).filter((i) => match(all[i] + ' ' + held.paths[i].type)).sort((a, b) => held.paths[b].retained - held.paths[a].retained) : []
  const types = state.find ? held.types.filter((t) => match(t.type)) : held.types
  const chosen = held.paths.findIndex((_, i) => idOf(held, all, i) === state.line)
  // A zoom names labels and types from the root; the text of a path is its labels.
  const chose = (keys: string[]) => change({ line: idOf(held, all, follow(held, keys)) })
  const most = held.paths.filter((p) => p.parent < 0).sort((a, b) => b.retained - a.retained)[0]
  return <section class="held" aria-labelledby="held-title"><h2 id="held-title">What retains the heap? <span class="finding">{most && <><b><code>{most.label}</code> retains {size(most.retained)}</b> of </>}{size(held.live_bytes)} live, in {count(held.live_objects)} objects{held.dead > 0 && `; another ${size(held.dead)} is garbage or not yet swept`}; captured at {clock(held.taken)}{held.stopped > 0 && `, paused for ${duration(held.stopped)}`}</span></h2>
    <Boxes whole={whole} search={state.find} find={(find) => change({ find })} id="find" label="Paths into the heap by retained size" baseline={false} chose={chose} />
    <p class="muted key"><i class="box own" /> memory accumulates here <i class="box standard" /> on the way to it; box width = retained size</p>
    <div class="pair">
      {found.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label="Paths that were found"><Rows held={held} all={all} list={found.slice(0, mostFound)} chosen={chosen} change={change} />
        {found.length > mostFound && <p class="muted">{found.length - mostFound} more</p>}</div>}
      {chosen >= 0 && <Way held={held} at={chosen} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="Types"><table class="types"><caption>Types{types.some(inferred) && ' (~ inferred from the field, slice or map that leads there)'}</caption><thead><tr><th scope="col">Type</th><th scope="col" class="num">Objects</th><th scope="col" class="num">Bytes</th><th scope="col" class="num">Share</th></tr></thead>
        <tbody>{types.map((t) => <tr><th scope="row"><button class="term" onClick={() => change({ find: literally(t.type) })}><code>{inferred(t) && '~'}{t.type === '?' ? 'not known' : t.type}</code></button></th><td class="num">{count(t.objects)}</td><td class="num">{size(t.bytes)}</td><td class="num">{percent(t.bytes, held.live_bytes)}</td></tr>)}</tbody></table></div>
      <Loose held={held} />
    </div>
    {held.gaps.length > 0 && <ul>{held.gaps.map((g) => <li><b>{g.what}</b>: {g.why}</li>)}</ul>}
  </section>
}

function Rows({ held, all, list, chosen, change }: { held: Held; all: string[]; list: number[]; chosen: number; change: (s: Partial<State>) => void }) {
  return <table class="found"><caption>Found</caption><thead><tr><th scope="col">Path</th><th scope="col" class="num">Retained</th><th scope="col" class="num">Objects</th></tr></thead>
    <tbody>{list.map((i) => { const p = held.paths[i]; return <tr class={i === chosen ? 'on' : ''}><th scope="row"><button class="term" onClick={() => change({ line: idOf(held, all, i) })} aria-pressed={i === chosen}><code>{all[i]}</code></button> <span class="muted">{typeOf(p.type)}</span></th><td class="num">{size(p.retained)}</td><td class="num">{count(p.held)}</td></tr> })}</tbody></table>
}

// Way is how one path is reached, from the root down, and where what it holds was
// allocated.
function Way({ held, at }: { held: Held; at: number }) {
  const steps: HeldPath[] = []
  for (let i = at; i >= 0; i = held.paths[i].parent) steps.unshift(held.paths[i])
  const p = held.paths[at]
  return <div><table class="way"><caption>From the root</caption><thead><tr><th scope="col">Step</th><th scope="col">Type</th><th scope="col" class="num">Objects on it</th><th scope="col" class="num">Retained</th></tr></thead>
    <tbody>{steps.map((s, n) => <tr><th scope="row"><span style={{ paddingLeft: `${Math.min(n, 12) * 8}px` }}>{s.label ? <code>{s.label}</code> : <span class="muted">in it</span>}</span></th><td>{typeOf(s.type)}</td><td class="num">{s.objects > 0 ? count(s.objects) : ''}</td><td class="num">{size(s.retained)}</td></tr>)}</tbody></table>
    {p.sites.length > 0 && <p>Allocated at {p.sites.map((s, n) => <span>{n > 0 && ', '}<code>{s.place}</code> <span class="muted">{size(s.bytes)}</span></span>)}</p>}</div>
}

// Loose is what keeps more than it needs to, and what one marker must walk alone.
function Loose({ held }: { held: Held }) {
  if (!held.collections.length && !held.chains.length) return null
  return <div class="scroll" tabIndex={0} role="region" aria-label="Maps and slices"><table class="collections"><caption>Maps, slices and chains</caption><tbody>
    {held.collections.filter((c, i, all) => all.findIndex((o) => o.path === c.path && o.kind === c.kind && o.entries === c.entries && o.bytes === c.bytes) === i).map((c) => <tr><th scope="row"><code>{c.path}</code></th><td>{c.count > 1 && `${count(c.count)} `}{c.kind}{c.kind === 'map' || c.kind === 'channel' ? `, ${count(c.entries)} of ${count(c.room)} entries` : `, ${size(c.reached)} in reach`}</td><td class="num">{size(c.bytes)}</td></tr>)}
    {held.chains.map((c) => <tr><th scope="row"><code>{c.path}</code></th><td>{count(c.length)} objects in a chain</td><td /></tr>)}</tbody></table></div>
}

const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

// tree is the paths as boxes: a box is named by what it adds to its parent.
function tree(held: Held): Node {
  const node = (name: string, place: string, owner: string, bytes: number): Node => ({ name, place, owner, bytes, before: 0, children: new Map() })
  const root = node('all', '', '', held.live_bytes)
  const made: Node[] = []
  for (const p of held.paths) {
    const at = node(p.label, typeOf(p.type), p.holder ? 'own' : 'standard', p.retained)
    ;(p.parent >= 0 ? made[p.parent] : root).children.set(p.label + typeOf(p.type), at)
    made.push(at)
  }
  return root
}

// follow finds the path that the names of boxes lead to.
function follow(held: Held, keys: string[]): number {
  let at = -1
  for (const key of keys) {
    const next = held.paths.findIndex((p) => p.parent === at && p.label + typeOf(p.type) === key)
    if (next < 0) return at
    at = next
  }
  return at
}
