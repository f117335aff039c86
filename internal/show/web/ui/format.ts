// Amounts as package units prints them, so that the page and the terminal say the
// same figure in the same letters.

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

export function size(n: number): string {
  if (n < 0) return '\u2212' + size(-n)
  let v = n, unit = 0
  while (Math.abs(v) >= 1024 && unit < units.length - 1) { v /= 1024; unit++ }
  return unit === 0 ? `${Math.round(n)} B` : `${v.toFixed(1)} ${units[unit]}`
}

// limit prints a size that somebody chose, without decimals where it is whole.
export function limit(n: number): string {
  let v = n, unit = 0
  while (Math.abs(v) >= 1024 && unit < units.length - 1) { v /= 1024; unit++ }
  return v === Math.trunc(v) ? `${v} ${units[unit]}` : size(n)
}

export function delta(n: number): string {
  return n < 0 ? '\u2212' + size(-n) : '+' + size(n)
}

export function percent(part: number, whole: number): string {
  if (whole <= 0) return '-'
  const p = (100 * part) / whole
  return p > 0 && p < 1 ? '<1%' : `${Math.round(p)}%`
}

// glued keeps a figure and its unit on one line.
export function glued(text: string): string {
  return text.replace(/(\d) (?=(?:B|[KMGTP]iB|ms|s|min|h|d)\b)/g, '$1\u00a0')
}

// clock prints a time since the start.
export function clock(s: number): string {
  const sign = s < 0 ? '\u2212' : ''
  s = Math.abs(s)
  if (s < 60) return `${sign}${trim(s, s < 10 ? 2 : 1)} s`
  if (s < 3600) return `${sign}${Math.floor(s / 60)} min ${trim(s % 60, 0)} s`
  if (s < 86400) return `${sign}${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
  return `${sign}${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`
}

function trim(v: number, digits: number): string {
  return v.toFixed(digits).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
}

export function duration(s: number): string {
  if (s < 1e-3) return `${Math.round(s * 1e6)} \u00b5s`
  return s < 1 ? `${trim(s * 1e3, 1)} ms` : clock(s)
}

export const count = (n: number) => n.toLocaleString('en')
