// A hostile page: it tries to reach loopback, link-local addresses and files, by redirect, script, image, frame, WebSocket and fetch,
// and writes down what it got. `?port=` names the port of this machine that it is after.
import { type Answer, type Call, text } from '@millrace/sandbox'

const HTML = { 'content-type': 'text/html; charset=utf-8' }

/** What it is after. All of it lies inside. */
export const targetsOf = (port: number): readonly string[] => [
  `http://127.0.0.1:${port}/by-NAME`,
  `http://localhost:${port}/by-NAME`,
  `http://[::1]:${port}/by-NAME`,
  `http://0x7f.1:${port}/by-NAME`,
  `https://127.0.0.1:${port}/by-NAME`,
  'http://169.254.169.254/latest/meta-data/',
  'http://[fe80::1]/',
  'http://10.0.0.1/',
  'file:///etc/passwd',
]

/** `rest`: below /trap. 'to/3' leads to a target by a redirect; 'away' does so with the page itself. */
export function trapAnswer(rest: string, { query }: Call): Answer {
  const asked = Number(query.get('port') ?? 8_080)
  const port = Number.isInteger(asked) && asked > 0 && asked < 65_536 ? asked : 8_080
  const targets = targetsOf(port)
  const [, index] = /^to\/(\d+)$/.exec(rest) ?? []
  if (index !== undefined) {
    const target = targets[Number(index)]
    return target === undefined
      ? text(404, 'There is no such target.')
      : text(302, '', { location: target.replace('NAME', 'redirect') })
  }
  if (rest !== '') return text(404, 'There is no such page.')
  return { status: 200, headers: HTML, body: page(targets, port) }
}

const page = (targets: readonly string[], port: number): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>A curious corner</title><style>
body { margin: 0; padding: 40px 6vw; font: 18px/1.5 "Open Sans", sans-serif; background: #2b2230; color: #f3eaf6; }
h1 { font-size: 44px; margin: 0 0 8px; } ul { columns: 2; padding: 0; list-style: none; font-size: 14px; }
li::before { content: "✗ "; } li.reached { background: #c0392b; } iframe, img { display: none; }
@media (max-width: 600px) { ul { columns: 1; } }
</style></head><body><h1>A curious corner</h1><p>This page looks around on the machine that takes its picture.</p>
<p id="sum">Trying …</p><ul id="found"></ul><script>
const targets = ${JSON.stringify(targets)}
const found = document.getElementById('found')
let reached = 0, tried = 0
function note(way, url, isReached) {
  tried += 1
  if (isReached) reached += 1
  const line = document.createElement('li')
  line.textContent = way + ' ' + url
  if (isReached) line.className = 'reached'
  found.append(line)
  document.getElementById('sum').textContent = tried + ' attempts, ' + reached + ' reached something'
}
function element(way, tag, url, attribute) {
  const one = document.createElement(tag)
  one.onload = () => note(way, url, tag !== 'iframe')
  one.onerror = () => note(way, url, false)
  one[attribute] = url
  document.body.append(one)
}
targets.forEach((target, i) => {
  const by = (name) => target.replace('NAME', name)
  const led = 'trap/to/' + i + '?port=${port}'
  for (const [way, url] of [['', 'x'], ['redirected ', led]]) {
    const to = (name) => url === 'x' ? by(name) : url
    element(way + 'image', 'img', to('image'), 'src')
    element(way + 'script', 'script', to('script'), 'src')
    element(way + 'frame', 'iframe', to('frame'), 'src')
    fetch(to('fetch')).then(() => note(way + 'fetch', url === 'x' ? target : led, true), () => note(way + 'fetch', url === 'x' ? target : led, false))
  }
  if (!target.startsWith('http')) return
  try {
    const socket = new WebSocket(by('socket').replace('http', 'ws'))
    socket.onopen = () => note('WebSocket', target, true)
    socket.onerror = () => note('WebSocket', target, false)
  } catch { note('WebSocket', target, false) }
  navigator.sendBeacon(by('beacon'), 'x')
  open(by('window'))
})
try {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }, { urls: 'turn:127.0.0.1:${port}?transport=tcp', username: 'x', credential: 'x' }] })
  peer.createDataChannel('x')
  peer.createOffer().then((offer) => peer.setLocalDescription(offer))
} catch {}
</script></body></html>`
