import { h } from 'preact'

export function List() {
  return <main><h1>Recordings</h1></main>
}
