// The sandbox's page: plain HTML without script. A browser reloads it every few seconds.
import { escaped } from './exchange.ts'
import type { ReceivedCall } from './received.ts'
import { MODES, type Setting } from './switches.ts'

export interface ControlPage {
  readonly title: string
  readonly intro: string
  readonly services: readonly (Setting & { readonly name: string; readonly title: string; readonly calls: number })[]
  readonly blocks: readonly Block[]
  readonly callNote: string
  readonly calls: readonly (ReceivedCall & { readonly title: string })[]
}

/** A list on the page, newest first. */
export interface Block {
  readonly title: string
  readonly rows: readonly Row[]
  /** What stands there while there is nothing. */
  readonly empty: string
}

/** Its texts may come from strangers: the page escapes them. */
export interface Row {
  readonly label: string
  /** A short word before the label: a state, a channel. */
  readonly tag?: string
  /** Colours the tag. */
  readonly tone?: 'good' | 'bad'
  /** What opens with a click. */
  readonly body?: string
  readonly at?: string
  /** Smaller words below. */
  readonly notes?: readonly string[]
}

const MEANINGS = {
  ok: 'answers',
  slow: 'answers late',
  down: 'answers 503',
  limited: 'refuses: too many requests',
} as const
const SHOWN = 20

export function controlPage(page: ControlPage): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="10"><title>${escaped(page.title)}</title><style>${STYLE}</style></head>
<body><header><h1>${escaped(page.title)}</h1>
<p>${escaped(page.intro)}</p></header>
<main>
<section aria-labelledby="switches"><h2 id="switches">Switches</h2><ul class="services">${page.services.map(serviceRow).join('')}</ul></section>
<div class="columns"><div>
${page.blocks.map(({ title, rows, empty }) => block(title, rows.map(blockRow), empty)).join('\n')}
</div>${callBlock(page)}</div></main></body></html>`
}

function serviceRow({ name, title, mode, delayMs, calls }: ControlPage['services'][number]): string {
  const buttons = MODES.map(
    (each) =>
      `<button name="mode" value="${each}" title="${MEANINGS[each]}" aria-pressed="${each === mode}">${each}</button>`,
  ).join('')
  const late = mode === 'slow' ? ` by ${delayMs / 1000} s` : ''
  return `<li class="${mode}"><div><strong>${escaped(title)}</strong><span class="faint">${counted(calls, 'call')} · ${MEANINGS[mode]}${late}</span></div>
<form method="post" action="/control/${encodeURIComponent(name)}" aria-label="${escaped(title)}">${buttons}</form></li>`
}

function blockRow({ label, tag, tone, body, at, notes = [] }: Row): string {
  const marked =
    tag === undefined ? '' : `<span class="state${tone === undefined ? '' : ` ${tone}`}">${escaped(tag)}</span> `
  const head = `${marked}${escaped(label)}`
  const shown =
    body === undefined ? `<p>${head}</p>` : `<details><summary>${head}</summary><pre>${escaped(body)}</pre></details>`
  const below = [...(at === undefined ? [] : [time(at)]), ...notes.map(escaped)].join(' · ')
  return `<li>${shown}<p class="faint">${below}</p></li>`
}

function callBlock({ calls, callNote }: ControlPage): string {
  const rows = calls.map(
    ({ at, title, what, status }) =>
      `<li class="call"><code>${status}</code> <span>${escaped(title)}: ${escaped(what)}</span> <span class="faint">${time(at)}</span></li>`,
  )
  const note = callNote === '' ? '' : `<p class="faint">${escaped(callNote)}</p>`
  return block('Latest calls', rows, 'No call yet.', note)
}

function block(title: string, rows: readonly string[], empty: string, note = ''): string {
  const id = title.toLowerCase().replaceAll(/[^a-z]+/g, '-')
  const more = rows.length > SHOWN ? `<p class="faint">${rows.length - SHOWN} older ones are not shown.</p>` : ''
  const list =
    rows.length === 0 ? `<p class="faint">${escaped(empty)}</p>` : `<ol>${rows.slice(0, SHOWN).join('')}</ol>${more}`
  return `<section aria-labelledby="${id}"><h2 id="${id}">${escaped(title)}</h2>${note}${list}</section>`
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
const time = (at: string): string => `<time datetime="${escaped(at)}">${escaped(at.slice(11, 19))} UTC</time>`

const STYLE = `
:root{color-scheme:light dark;--bg:#f6f7f8;--card:#fff;--ink:#14202b;--faint:#4a5966;--line:#cbd2d9;--accent:#0b7285;--good:#1f7a4d;--bad:#c0392b;--warn:#8f5b0c}
@media (prefers-color-scheme:dark){:root{--bg:#0e1419;--card:#151d24;--ink:#e8edf1;--faint:#a9b6c1;--line:#364651;--accent:#3fb8cb;--good:#4cc38a;--bad:#f07167;--warn:#e0a83e}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 Inter,-apple-system,"Segoe UI",Roboto,"Noto Sans","Open Sans",system-ui,sans-serif;font-variant-numeric:tabular-nums}
header,main{max-width:1180px;margin:0 auto;padding:0 20px}header{padding-top:24px}h1{font-size:24px;margin:0}header p{color:var(--faint);margin:4px 0 0}
h2{font-size:15px;margin:0 0 8px}section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px 16px;margin:16px 0;min-width:0}
ul,ol{list-style:none;margin:0;padding:0}.services{display:grid;grid-template-columns:repeat(auto-fill,minmax(340px,1fr));gap:0 40px}
.services li{display:flex;justify-content:space-between;align-items:center;gap:12px;padding:8px 0;border-bottom:1px solid var(--line)}
.services div{display:flex;flex-direction:column;min-width:0}.services strong{white-space:nowrap}.services li:nth-last-child(-n+3){border-bottom:0}form{display:flex;flex:none}
button{font:inherit;font-size:13px;padding:3px 9px;border:1px solid var(--line);border-left-width:0;background:none;color:var(--faint);cursor:pointer}
button:first-child{border-left-width:1px;border-radius:6px 0 0 6px}button:last-child{border-radius:0 6px 6px 0}
button[aria-pressed=true]{color:var(--card);background:var(--good);border-color:var(--good);font-weight:600}
.slow button[aria-pressed=true],.limited button[aria-pressed=true]{background:var(--warn);border-color:var(--warn)}
.down button[aria-pressed=true]{background:var(--bad);border-color:var(--bad)}
button:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:0 16px;align-items:start}
ol li{padding:8px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}ol li p{margin:0}.faint{color:var(--faint);font-size:13px}
.call{display:flex;gap:8px;padding:3px 0;font-size:13px}.call span:nth-of-type(1){flex:1}.state{font-size:12px;border:1px solid currentColor;border-radius:4px;padding:0 5px;color:var(--faint);white-space:nowrap}
.state.bad{color:var(--bad)}.state.good{color:var(--good)}summary{cursor:pointer}pre{white-space:pre-wrap;font-size:13px;margin:6px 0;max-height:320px;overflow:auto}
@media (max-width:480px){.services{grid-template-columns:1fr}.services li{flex-direction:column;align-items:stretch}button{flex:1}form{flex:1}}
`
