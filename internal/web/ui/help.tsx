import { h } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const keys: [string, string][] = [
  ['p', 'to the peak'], ['k', 'to the kill'], ['l', 'to the last moment'],
  ['\u2190 \u2192', 'move the cursor, on the timeline'], ['drag', 'a window: growth is counted within it'],
  ['\u21e7 wheel', 'moves the window, as dragging in the strip below does; Ctrl wheel looks closer'],
  ['Ctrl drag', 'a baseline (\u2318 on a Mac): the page becomes a difference to its end'], ['d', 'compare with the start of the window, or of the run'],
  ['/', 'search in the stacks'], ['Esc', 'undo window, baseline, search and choice'], ['?', 'this list'],
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
