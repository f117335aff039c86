import { ComponentChildren, h, Fragment } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Heap } from './data'
import type { State } from './state'
import { delta, percent, size } from './format'

export interface Node { name: string; place: string; owner: string; bytes: number; before: number; children: Map<string, Node> }
interface Box { node: Node; parent: Box | null; depth: number; left: number; width: number; children: Box[] }

const rowHeight = 19
const least = 0.0015 // of the width: what is thinner is not drawn

// tree joins stacks at equal functions, from the outside in, or with invert from
// the allocating line outwards. Without runtime, its frames are folded into their
// callers.
export function tree(heap: Heap, of: (s: Heap['stacks'][0]) => number, invert: boolean, runtime: boolean): Node {
  const fresh = (name: string, place: string, owner: string): Node => ({ name, place, owner, bytes: 0, before: 0, children: new Map() })
  const root = fresh('all', '', '')
  for (const s of heap.stacks) {
    const bytes = of(s)
    if (bytes <= 0 && s.before <= 0) continue
    let at = root
    at.bytes += bytes
    at.before += s.before
    const frames = invert ? [...s.frames].reverse() : s.frames
    for (const n of frames) {
      const f = heap.frames[n]
      if (!runtime && f.owner === 'runtime') continue
      const key = f.function + f.place
      let next = at.children.get(key)
      if (!next) at.children.set(key, (next = fresh(f.function, f.place, f.owner)))
      next.bytes += bytes
      next.before += s.before
      at = next
    }
  }
  return root
}

function boxes(root: Node): Box[] {
  const out: Box[] = []
  const lay = (node: Node, parent: Box | null, depth: number, left: number, width: number): Box | null => {
    if (width < least || depth > 60) return null
    const box: Box = { node, parent, depth, left, width, children: [] }
    out.push(box)
    let x = left
    for (const child of [...node.children.values()].sort((a, b) => b.bytes - a.bytes)) {
      const w = node.bytes > 0 ? (width * child.bytes) / node.bytes : 0
      const made = lay(child, box, depth + 1, x, w)
      if (made) box.children.push(made)
      x += w
    }
    return box
  }
  lay(root, null, 0, 0, 1)
  return out
}

export function Icicle({ heap, state, change, baseline }: { heap: Heap; state: State; change: (s: Partial<State>) => void; baseline: boolean }) {
  const everything = state.all || state.view === 'allocated'
  const of = everything ? (s: Heap['stacks'][0]) => s.allocated : (s: Heap['stacks'][0]) => s.bytes
  const whole = useMemo(() => tree(heap, of, state.invert, state.runtime), [heap, everything, state.invert, state.runtime])
  if (!heap.stacks.length) return <p class="muted">No call stacks were read.</p>
  return <div>
    <Boxes key={`${state.invert} ${state.runtime}`} whole={whole} search={state.search} find={(search) => change({ search })} id="search" label="Stacks by bytes" baseline={baseline}>
      <label><input type="checkbox" checked={state.invert} onChange={() => change({ invert: !state.invert })} /> Bottom-up</label>
      <label><input type="checkbox" checked={state.runtime} onChange={() => change({ runtime: !state.runtime })} /> Show the runtime</label>
      <label><input type="checkbox" checked={everything} onChange={() => change({ all: !state.all })} disabled={state.view === 'allocated'} /> All allocated since the start</label>
    </Boxes>
    <p class="muted key">{baseline ? <><i class="box grew" /> grew <i class="box shrank" /> shrank <i class="box same" /> the same</> : <><i class="box own" /> your code <i class="box dependency" /> dependency <i class="box standard" /> standard library{state.runtime && <> <i class="box runtime" /> runtime</>}</>}
      {heap.left.count > 0 && `; ${heap.left.count} smaller stacks, ${size(heap.left.bytes)}, are not drawn`}{!baseline && '. Ctrl+drag on the chart selects a baseline: boxes then show what grew and shrank.'}</p>
  </div>
}

// matcher is what a regular expression finds; wrong says why it is none.
export function matcher(search: string): { match: (text: string) => boolean; wrong: string } {
  if (!search) return { match: () => false, wrong: '' }
  try {
    const pattern = new RegExp(search, 'i')
    return { match: (text) => pattern.test(text), wrong: '' }
  } catch {
    return { match: () => false, wrong: 'not a regular expression' }
  }
}

// Boxes draws a tree from the top down, each node as wide as its bytes, with a
// search and a way in: a click or Enter zooms. chose is told the names that lead to
// where it is zoomed to.
export function Boxes({ whole, search, find, id, label, baseline, chose, children }: {
  whole: Node; search: string; find: (search: string) => void; id: string; label: string; baseline: boolean; chose?: (keys: string[]) => void; children?: ComponentChildren
}) {
  const [zoom, setZoom] = useState<string[]>([]) // keys from the root
  const [focus, setFocus] = useState(0)
  const grid = useRef<HTMLDivElement>(null)
  const moved = useRef(false)
  let top = whole
  const path = [whole]
  for (const key of zoom) {
    const next = top.children.get(key)
    if (!next) break
    path.push((top = next))
  }
  const all = useMemo(() => boxes(top), [top])
  const { match, wrong } = matcher(search)
  const found = search && !wrong ? sumOfMatches(whole, match) : 0
  useEffect(() => { if (moved.current) grid.current?.querySelectorAll<HTMLElement>('[role=treeitem]')[focus]?.focus() }, [focus])

  const go = (keys: string[]) => { setZoom(keys); setFocus(0); chose?.(keys) }
  const zoomTo = (b: Box) => {
    const keys: string[] = []
    for (let at: Box | null = b; at && at.parent; at = at.parent) keys.unshift(at.node.name + at.node.place)
    go([...zoom.slice(0, path.length - 1), ...keys])
  }
  const press = (e: KeyboardEvent, i: number) => {
    const b = all[i]
    const sibling = (by: number) => { const row = b.parent?.children ?? [b]; return row[row.indexOf(b) + by] }
    const to = { ArrowDown: b.children[0], ArrowUp: b.parent, ArrowRight: sibling(1), ArrowLeft: sibling(-1) }[e.key]
    if (to) { moved.current = true; setFocus(all.indexOf(to)) }
    else if (e.key === 'Enter' || e.key === ' ') zoomTo(b)
    else if (e.key === 'Backspace') go(zoom.slice(0, -1))
    else return
    e.preventDefault()
    e.stopPropagation()
  }
  const depth = Math.max(...all.map((b) => b.depth))
  return <>
    <div class="tabs">
      <label>Search <input id={id} type="search" value={search} placeholder="regular expression" onInput={(e) => find((e.target as HTMLInputElement).value)} /></label>
      <span role="status">{wrong || (search && `${size(found)}, ${percent(found, whole.bytes)} of all`)}</span>
      {children}
      {path.length > 1 && <button onClick={() => go([])}>Whole heap</button>}
    </div>
    <nav class="path" aria-label={`${label}: zoomed to`}>{path.map((n, i) => <button class="quiet" onClick={() => go(zoom.slice(0, i))}>{i ? n.name : 'all'}{i < path.length - 1 && ' \u203a'}</button>)}</nav>
    <div class="icicle" role="tree" aria-label={`${label}; arrows move, Enter zooms, Backspace goes back`} ref={grid} style={{ height: `${(depth + 1) * rowHeight}px` }}>
      {all.map((b, i) => {
        const grown = b.node.bytes - b.node.before
        const label = `${b.node.name} ${b.node.place} ${size(b.node.bytes)}, ${percent(b.node.bytes, whole.bytes)}${baseline ? `, ${delta(grown)}` : ''}`
        return <div role="treeitem" aria-level={b.depth + 1} aria-label={label} title={label} tabIndex={i === focus ? 0 : -1} onKeyDown={(e) => press(e, i)} onClick={() => zoomTo(b)}
          class={`box ${b.node.owner.replace(' ', '-') || 'root'}${search && !wrong ? (match(b.node.name + ' ' + b.node.place) ? ' hit' : ' dim') : ''}${baseline ? (grown > b.node.bytes / 20 ? ' grew' : -grown > b.node.bytes / 20 ? ' shrank' : ' same') : ''}`}
          style={{ left: `${100 * b.left}%`, width: `${100 * b.width}%`, top: `${b.depth * rowHeight}px` }}>{b.width > 0.03 && <span>{short(b.node.name)} <small>{b.width > 0.12 && b.node.place} {size(b.node.bytes)}</small></span>}</div>
      })}
    </div>
  </>
}

const short = (name: string) => name.slice(name.lastIndexOf('/') + 1)

function sumOfMatches(n: Node, match: (text: string) => boolean): number {
  if (n.name !== 'all' && match(n.name + ' ' + n.place)) return n.bytes
  let sum = 0
  for (const child of n.children.values()) sum += sumOfMatches(child, match)
  return sum
}
