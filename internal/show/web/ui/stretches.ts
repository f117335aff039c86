import type { Source, Timeline } from './data'

const steps = 1200 // of what is on screen

type Range = [number, number]

// Stretches is what was read of the course: all of it coarsely, and what is on
// screen finely, with a screen more on either side, so that the course can be moved
// without waiting for each frame's data.
export class Stretches {
  private whole: Timeline | null = null
  private fine: Timeline | null = null
  private asking = false
  private stale = true
  private wanted: Range

  constructor(private source: Source, private span: Range, private changed: () => void, private failed: (why: string) => void) { this.wanted = span }

  // best is what there is to draw of a stretch by now.
  best(from: number, to: number): Timeline | null { return this.covers(from, to, 0) ? this.fine : this.whole }

  overview(): Timeline | null { return this.whole }

  // want reads what is missing of a stretch, and just beside it.
  want(from: number, to: number) {
    this.wanted = [from, to]
    void this.read()
  }

  // renew reads again what may have grown.
  renew(span: Range) {
    this.stale = this.stale || span[0] !== this.span[0] || span[1] !== this.span[1]
    this.span = span
  }

  private async read() {
    const missing = this.asking ? null : this.missing()
    if (!missing) return
    const [range, n] = missing
    this.asking = true
    try {
      const t = await this.source.timeline(range[0], range[1], n)
      if (this.stale) { this.whole = t; this.stale = false } else this.fine = t
      this.asking = false
      this.changed()
      void this.read()
    } catch (err) {
      this.asking = false
      this.failed((err as Error).message)
    }
  }

  // missing is what to ask for next, and in how many steps; null: nothing.
  private missing(): [Range, number] | null {
    if (this.stale) return [this.span, steps]
    const [from, to] = this.wanted, wide = to - from, [start, end] = this.span
    if (this.source.offline || this.whole!.exact || wide >= 0.9 * (end - start) || this.covers(from, to, wide / 2)) return null
    const range: Range = [Math.max(start, from - wide), Math.min(end, to + wide)]
    return [range, Math.round((steps * (range[1] - range[0])) / wide)]
  }

  private covers(from: number, to: number, beside: number): boolean {
    const f = this.fine
    return f !== null && f.from <= Math.max(this.span[0], from - beside) && f.to >= Math.min(this.span[1], to + beside) && f.to - f.from <= 4 * (to - from)
  }
}
