// What the page shows, kept in the address so that it can be sent to somebody.

export interface State {
  at: string // "", "kill", "peak", "last", or seconds as "12.5s"
  window: [number, number] | null // seconds; null: all
  base: [number, number] | null // what is compared with
  view: View // of what uses the memory; "": the one that fits the verdict
  kind: string // of memory that is listed by who wrote it first, "": the first that there is
  over: string // column that is laid over the course
  line: string // that is chosen, "place"
  search: string // in the flame graph
  find: string // among what retains
  invert: boolean // the flame graph is bottom-up
  all: boolean // it shows all that was ever allocated
  runtime: boolean // show it
}

export type View = '' | 'live' | 'holders' | 'written' | 'flame' | 'allocated' | 'garbage' | 'native' | 'goroutines'
const viewsOf: View[] = ['live', 'holders', 'written', 'flame', 'allocated', 'garbage', 'native', 'goroutines']

export const initial: State = { at: '', window: null, base: null, view: '', kind: '', over: '', line: '', search: '', find: '', invert: false, all: false, runtime: false }

export function fromHash(hash: string): State {
  const p = new URLSearchParams(hash.replace(/^#/, ''))
  const range = (name: string): [number, number] | null => {
    const [from, to] = (p.get(name) ?? '').split('..').map(parseFloat)
    return from <= to ? [from, to] : null
  }
  const view = p.get('view') as View
  return {
    at: p.get('at') ?? '',
    window: range('window'),
    base: range('base'),
    view: viewsOf.includes(view) ? view : '',
    kind: p.get('kind') ?? '',
    over: p.get('over') ?? '',
    line: p.get('line') ?? '',
    search: p.get('search') ?? '',
    find: p.get('find') ?? '',
    invert: p.has('invert'),
    all: p.has('all'),
    runtime: p.has('runtime'),
  }
}

export function toHash(s: State): string {
  const p = new URLSearchParams()
  if (s.at) p.set('at', s.at)
  if (s.window) p.set('window', s.window.map((v) => +v.toFixed(4)).join('..'))
  if (s.base) p.set('base', s.base.map((v) => +v.toFixed(4)).join('..'))
  if (s.view) p.set('view', s.view)
  if (s.kind) p.set('kind', s.kind)
  if (s.over) p.set('over', s.over)
  if (s.line) p.set('line', s.line)
  if (s.search) p.set('search', s.search)
  if (s.find) p.set('find', s.find)
  if (s.invert) p.set('invert', '')
  if (s.all) p.set('all', '')
  if (s.runtime) p.set('runtime', '')
  const text = p.toString()
  return text ? '#' + text : ''
}
