// The page of one good site: its picture, what is known of it, and the way there.
import { html } from 'hono/html'
import type { Picture } from '../media/picture-store.ts'
import type { VillageParts } from '../village-parts.ts'
import { message } from './layout.ts'
import type { ListedSite } from './page-store.ts'
import { picture } from './picture.ts'
import { stateOfSite } from './site-words.ts'
import type { Html } from './view.ts'
import { wayTo } from './way-to.ts'

export interface ShownSite {
  readonly parts: VillageParts
  readonly site: ListedSite
  readonly pictures: readonly Picture[]
}

/** Undefined: there is none, or it is not listed. */
export function siteDocument(basePath: string, shown: ShownSite | undefined): Html {
  if (shown === undefined)
    return message(basePath, 'Not listed', 'There is no such site, or it is not in the directory now.')
  const { parts, site, pictures } = shown
  const { id, title, url, category, state, score } = site
  const away = wayTo({ kind: 'site', id, url }, basePath)
  const link = html`<p><a href="${away ?? '#main'}" rel="noopener noreferrer nofollow">Open ${title}</a></p>`
  return html`<!doctype html>
<html lang="en"><head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Village</title>
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${basePath}/village/style.css"><link rel="stylesheet" href="${basePath}/village/market.css">
<link rel="stylesheet" href="${basePath}/village/pictures.css"><link rel="icon" href="data:,">
</head><body>
<a class="skip" href="#main">Skip to the site</a>
<header class="top"><div><h1>${title}</h1>
<p class="date">${category} · ${stateOfSite(state)} · score ${score.toFixed(2)}</p></div>
<p><a href="${basePath}/village#sites">To the village</a></p></header>
<main id="main" class="listing" tabindex="-1"><section class="block">
${picture({ parts, basePath }, pictures, { of: 'desktop', alt: `Screenshot of ${title}`, waiting: 'No picture yet' })}
${away === undefined ? '' : link}</section></main>
</body></html>`
}
