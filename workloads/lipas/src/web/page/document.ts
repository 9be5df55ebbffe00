// The document of /lipas. Addresses in it are relative, so that it works wherever the server is mounted.
import type { MapState } from '../map-state.ts'
import { type Html, html } from './html.ts'
import { legend, mapSummary, mapSvg } from './map.ts'

export interface Shown {
  readonly map: MapState
  readonly query: string
  readonly results: Html
  readonly panel: Html
  /** Undefined: no action is followed. */
  readonly trace: string | undefined
  /** Undefined: the visitor may not see the work. */
  readonly board: Html | undefined
  readonly sandboxUrl: string | undefined
}

const head = (
  title: string,
  base = '',
): Html => html`<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${base}lipas/lipas.css"><link rel="icon" href="data:,">`

export function pageHtml(shown: Shown): Html {
  const { map, query, results, panel, trace, board, sandboxUrl } = shown
  const municipality = map.summary?.municipality
  return html`<!doctype html>
<html lang="en"><head>${head('LIPAS, sports places')}
<script src="lipas/lipas.js" defer></script></head>
<body data-revision="${map.places.newest}"${board === undefined ? '' : html` data-work`}>
<a class="skip" href="#place">Skip to the place</a>
<header class="top"><h1>LIPAS</h1><p class="dim">Sports places${municipality === undefined ? '' : ` of ${municipality}`}</p>
<form class="search" role="search" action="lipas" method="get"><label class="vh" for="q">Search places</label>
<input id="q" name="q" type="search" value="${query}" placeholder="Search by name, type or number" maxlength="100" autocomplete="off"><button class="btn">Search</button></form>
<nav aria-label="Elsewhere"><a href="admin/">Dashboard</a> <a href="admin/schedules">Schedules</a> <a href="admin/failures">Dead letters</a> <a href="admin/workers">Workers</a>${sandboxUrl === undefined ? '' : html` <a href="${sandboxUrl}" rel="noreferrer">Sandbox</a>`}</nav></header>
<noscript><p class="warn">Without script the page shows what is there, and saves nothing. <code>POST /lipas/api/sites/:id</code> does.</p></noscript>
<p id="said" class="vh" role="status"></p>
<main>
<section class="panel map" aria-labelledby="map-title"><h2 id="map-title">Diversity of the sports offer</h2>
<p id="summary" class="dim">${mapSummary(map)}</p>${mapSvg(map)}${legend}</section>
<div class="side">
<section id="results" class="panel" aria-label="Found places"${query === '' ? html` hidden` : ''}>${results}</section>
<section id="place" class="panel" aria-label="Chosen place" tabindex="-1">${panel}</section>
<section id="trace" class="panel" aria-labelledby="trace-title"${trace === undefined ? html` hidden` : ''}><h2 id="trace-title">Your save</h2><div data-trace="${trace ?? ''}"></div></section>
</div>
<div id="board" class="board">${board ?? html`<section class="panel"><h2>The work behind it</h2><p class="dim"><a href="admin/login">Log in</a> to see lanes, services and what was sent last.</p></section>`}</div>
</main>
<footer class="faint">Squares are 250 m wide. What is saved here is computed by background jobs of Millrace.</footer>
</body></html>`
}

/** For an address below /lipas where nothing is. `basePath`: before every path of this server. */
export const messageHtml = (basePath: string, title: string, text: string): Html => html`<!doctype html>
<html lang="en"><head>${head(title, `${basePath}/`)}</head>
<body><main class="message"><h1>${title}</h1><p>${text}</p><p><a href="${basePath}/lipas">To the map</a></p></main></body></html>`
