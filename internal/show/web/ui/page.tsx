// The page: it draws what internal/show/web computed, and decides nothing.
import './vendor/uplot/uPlot.min.css'
import './page.css'
import { h, render } from 'preact'
import { Book } from './book'
import { Comparison } from './diff'
import { Fleet } from './fleet'
import { List } from './list'
import { embedded, served } from './data'

const root = document.getElementById('page')!
const data = document.getElementById('data')

if (root.dataset.kind === 'book') {
  const source = data ? embedded(data.textContent!) : served
  source.overview().then(
    (overview) => {
      root.textContent = ''
      render(<Book source={source} first={overview} />, root)
    },
    (err: Error) => {
      const say = document.createElement('p')
      say.className = 'problem'
      say.setAttribute('role', 'alert')
      say.textContent = err.message
      root.prepend(say)
    },
  )
} else {
  root.textContent = ''
  render(root.dataset.kind === 'diff' ? <Comparison /> : root.dataset.kind === 'fleet' ? <Fleet /> : <List />, root)
}
