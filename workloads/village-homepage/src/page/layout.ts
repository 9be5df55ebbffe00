// The document around the blocks.
import { html, raw } from 'hono/html'
import type { Visitor } from '../clicks/visitor.ts'
import type { Rendered } from './blocks.ts'
import { counting } from './counting.ts'
import { longDate } from './time-words.ts'
import { type Html, timeZoneOf, type View } from './view.ts'

/** A block as it stands in the page; page.js asks for it again by its address. */
export type Place = (name: string, options?: { readonly as?: 'section' | 'div'; readonly live?: boolean }) => Html

export function placeOf(view: View, blocks: ReadonlyMap<string, Rendered>): Place {
  const query = view.category === undefined ? '' : `?category=${encodeURIComponent(view.category)}`
  return (name, { as = 'section', live = false } = {}) => {
    const rendered = blocks.get(name) ?? { html: '', etag: '' }
    const label = as === 'section' ? html` aria-labelledby="${name}"` : ''
    const isLive = live ? html` role="status" aria-live="polite"` : ''
    const url = `${view.basePath}/village/blocks/${name}${name === 'today' ? query : ''}`
    const open = html`<${raw(as)} class="block ${name}" data-block="${url}" data-etag="${rendered.etag}"${label}${isLive}>`
    return html`${open}${raw(rendered.html)}</${raw(as)}>`
  }
}

export interface Shown {
  readonly place: Place
  readonly visitor: Visitor
  /** After a form. */
  readonly told: Html | string
}

export function document(view: View, { place, visitor, told }: Shown): Html {
  const { basePath, now, showsJobs } = view
  return html`<!doctype html>
<html lang="en"><head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Village</title>
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${basePath}/village/style.css"><link rel="stylesheet" href="${basePath}/village/market.css">
<link rel="stylesheet" href="${basePath}/village/pictures.css"><link rel="icon" href="data:,"><noscript><meta http-equiv="refresh" content="60"></noscript>
<script src="${basePath}/village/page.js" defer></script>
</head><body>
<a class="skip" href="#main">Skip to the news</a>
<header class="top"><div><h1>Village</h1><p class="date">${longDate(now, timeZoneOf(view))}</p></div>
${place('sky', { as: 'div' })}</header>
${told}${place('alerts', { as: 'div', live: true })}
<div class="columns"><main id="main" tabindex="-1">${place('today')}</main>
<aside aria-label="Quotes and weather">${place('quotes')}${place('forecast')}</aside></div>
<div class="cards">${place('marketplace')}${place('sites')}${place('posts')}</div>
<footer>${counting(visitor, basePath)}${showsJobs ? place('budget') : ''}
<p>${showsJobs ? links(basePath) : 'The start page of the village.'}</p></footer>
</body></html>`
}

const links = (basePath: string): Html =>
  html`<a href="${basePath}/admin/">Dashboard</a> · <a href="${basePath}/village/feeds">Feeds</a> · this page is kept true by background jobs`

/** For what is not there, and for methods that are not known. */
export const message = (basePath: string, title: string, text: string): Html => html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><link rel="stylesheet" href="${basePath}/village/style.css"><link rel="icon" href="data:,"></head>
<body><main class="message"><h1>${title}</h1><p>${text}</p><p><a href="${basePath}/village">To the village</a></p></main></body></html>`
