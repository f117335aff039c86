import { h } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const keys: [string, string][] = [
  ['p', 'go to the peak'], ['k', 'go to the kill'], ['l', 'go to the last snapshot'],
  ['\u2190 \u2192', 'on the chart: move the cursor'], ['wheel', 'on the chart: zoom; with Shift: move the window'], ['double click', 'on the chart: show the whole run'],
  ['drag', 'select a window; growth is counted within it'], ['Ctrl+drag', 'select a baseline (\u2318 on a Mac); the page then shows the change since it'],
  ['d', 'compare with the start of the window, or of the run'], ['/', 'search in the flame graph'], ['Esc', 'clear window, baseline, search and selection'], ['?', 'show this list'],
]

export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => { dialog.current!.showModal() }, [])
  return <dialog ref={dialog} onClose={close} aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl class="keys">{keys.map(([key, does]) => [<dt><kbd>{key}</kbd></dt>, <dd>{does}</dd>])}</dl>
    <form method="dialog"><button autofocus>Close</button></form>
  </dialog>
}
