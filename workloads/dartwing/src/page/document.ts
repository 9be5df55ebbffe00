// The frame of the page, which stays while the board is read again.
import { escaped } from '@millrace/sandbox'
import { TRIES } from './try-out.ts'

export function document(basePath: string, content: string, hasSandbox: boolean): string {
  const base = escaped(`${basePath}/dartwing`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Dartwing</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${base}/style.css"><script type="module" src="${base}/page.js"></script></head>
<body data-base="${base}" data-admin="${escaped(basePath)}/admin"><header><h1>Dartwing</h1><p>Organizations side by side: what each has running, and why it waits.</p>
<p class="faint" id="state">as of now</p><noscript><p>Without script this page shows one moment: reload it.</p></noscript></header>
<main><div id="board">${content}</div>${hasSandbox ? tries(base) : ''}</main></body></html>
`
}

function tries(base: string): string {
  const forms = Object.entries(TRIES).map(
    ([name, { label, effect }]) =>
      `<li><form method="post" action="${base}/try/${name}"><button>${escaped(label)}</button></form><p>${escaped(effect)}</p><code>curl -X POST $URL${base}/try/${name}</code></li>`,
  )
  return `<section class="tries" aria-labelledby="tries"><h2 id="tries">Try it</h2><p class="faint">The outside world is a sandbox here. <code>$URL</code> is the address of this server.</p><ul>${forms.join('')}</ul></section>`
}
