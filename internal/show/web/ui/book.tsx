import { h, Fragment } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Held, Instant, Overview, Source } from './data'
import { fromHash, State, toHash, View } from './state'
import { Verdict } from './verdict'
import { Course } from './course'
import { Ledger } from './ledger'
import { Holders } from './holders'
import { Fixes, Why } from './why'
import { Below } from './below'
import { Help } from './help'

// how often a recording that is still being written is asked for more.
const followEvery = 1000

export function Book({ source, first }: { source: Source; first: Overview }) {
  const [overview, setOverview] = useState(first)
  const [state, setState] = useState<State>(() => fromHash(location.hash))
  const [instant, setInstant] = useState<Instant | null>(null)
  const [before, setBefore] = useState<Instant | null>(null) // the baseline
  const [held, setHeld] = useState<Held | null>(null) // of the capture that is nearest
  const [problem, setProblem] = useState('')
  const [help, setHelp] = useState(false)

  // What needs scrolling is drawn when the first screen is there.
  const [later, setLater] = useState(false)
  useEffect(() => { if (instant && !later) requestAnimationFrame(() => setTimeout(() => setLater(true))) }, [instant])

  const change = useCallback((some: Partial<State>) => setState((s) => ({ ...s, ...some })), [])

  useEffect(() => {
    const hash = toHash(state)
    if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname + location.search)
  }, [state])
  useEffect(() => {
    const follow = () => setState(fromHash(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])

  // The instant at the cursor. Only the last one asked for counts.
  const asked = useRef(0)
  const base = state.base ? `${state.base[1]}s` : ''
  const from = base || (state.window ? `${state.window[0]}s` : '')
  useEffect(() => {
    const mine = ++asked.current
    source.instant(state.at, from).then(
      (i) => { if (mine === asked.current) { setInstant(i); setProblem('') } },
      (err: Error) => { if (mine === asked.current) setProblem(err.message) },
    )
  }, [state.at, from, overview])

  useEffect(() => {
    setHeld(null)
    if (!later || !instant || instant.capture === null) return
    let late = false
    source.held(state.at).then((found) => { if (!late) setHeld(found) }, (err: Error) => setProblem(err.message))
    return () => { late = true }
  }, [later, instant?.capture])

  useEffect(() => {
    if (!base) { setBefore(null); return }
    let late = false
    source.instant(base, '').then((i) => { if (!late) setBefore(i) }, (err: Error) => setProblem(err.message))
    return () => { late = true }
  }, [base])

  useEffect(() => {
    if (!overview.live) return
    const timer = setTimeout(() => source.overview().then(setOverview, (err: Error) => setProblem(err.message)), followEvery)
    return () => clearTimeout(timer)
  }, [overview])

  const shown = instant ? { ...state, view: state.view || fitting(overview, instant) } : state

  const jump = useCallback((name: 'kill' | 'peak' | 'last') => {
    if (overview[name] !== null) change({ at: name })
  }, [overview])

  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).matches?.('input, select, textarea')) return
      const keys: Record<string, () => void> = {
        p: () => jump('peak'), k: () => jump('kill'), l: () => jump('last'),
        d: () => setState((s) => ({ ...s, base: s.base ? null : [overview.from, s.window ? s.window[0] : overview.moments[0]?.at ?? overview.from] })),
        '/': () => document.querySelector<HTMLInputElement>('#search')?.focus(),
        '?': () => setHelp((shown) => !shown),
        Escape: () => { if (help) setHelp(false); else change({ window: null, base: null, search: '', find: '', line: '' }) },
      }
      const act = keys[e.key]
      if (act) { act(); e.preventDefault() }
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [jump, help])

  return <>
    <a class="skip" href="#who">Skip to the code</a>
    <header class="bar">
      <span class="brand">Highwater</span>
      <span class="muted">{overview.answer.program.name}{overview.answer.program.go_version && ' \u00b7 ' + overview.answer.program.go_version} {'\u00b7'} <span title={overview.name}>{overview.name.replace(/.*\//, '')}</span></span>
      <span class="muted push">{new Date(overview.start).toLocaleString()}</span>
      {overview.live && <span class="live" role="status">being recorded</span>}
      {source.offline && <span class="muted">offline file</span>}
      <button class="quiet" onClick={() => setHelp(true)} aria-haspopup="dialog">Keys <kbd>?</kbd></button>
    </header>
    <main>
      {(problem || overview.damage) && <p class="problem" role="alert">{problem || `${overview.damage}. This page shows what could be read.`}</p>}
      <Verdict overview={overview} pprof={source.pprof(state.at)} />
      <Course source={source} overview={overview} state={state} change={change} jump={jump} at={instant?.at ?? null} />
      {instant && <>
        <Ledger instant={instant} before={before} />
        <div class={'columns' + (shown.view === 'flame' ? ' one' : '')}>
          <Holders instant={instant} held={held} overview={overview} state={shown} change={change} />
          <div>
            <Why source={source} overview={overview} instant={instant} />
            <Fixes answer={overview.answer} />
          </div>
        </div>
        {later && <Below source={source} overview={overview} instant={instant} held={held} state={shown} change={change} />}
      </>}
    </main>
    {help && <Help close={() => setHelp(false)} />}
  </>
}

// fitting is the list that a reader of the verdict wants first.
function fitting(overview: Overview, instant: Instant): View {
  switch (overview.answer.verdict.class) {
    case 'native': case 'fragmentation': return instant.native_live?.lines.length ? 'native' : instant.grown.some((g) => g.kind === 'native' && g.lines.length > 0) ? 'written' : 'live'
    case 'goroutine-leak': return instant.goroutines.length > 0 ? 'goroutines' : 'live'
  }
  return 'live'
}
