// The document of /village/feeds.
import type { PageContext } from '@millrace/admin'
import { html } from 'hono/html'
import { allSources, type SourceRow } from '../feeds/source-catalogue.ts'
import type { VillageParts } from '../village-parts.ts'
import { ago } from './time-words.ts'
import type { Html } from './view.ts'

interface Shown {
  readonly basePath: string
  readonly now: Date
  readonly threshold: number
}

const TOLD: Readonly<Record<string, string>> = {
  refreshes: 'is being refreshed.',
  waits: 'is being refreshed already.',
  enabled: 'is enabled again. It is fetched at the next tick, within five minutes.',
}

export async function feedsDocument(
  { database, clock, config }: VillageParts,
  { basePath }: PageContext,
  query: URLSearchParams,
): Promise<Html> {
  const sources = await allSources(database)
  const shown = { basePath, now: clock.now(), threshold: config.feeds.errorThreshold }
  return html`<!doctype html>
<html lang="en"><head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Feeds of the village</title>
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${basePath}/village/style.css"><link rel="stylesheet" href="${basePath}/village/feeds.css">
<link rel="icon" href="data:,">
</head><body>
<a class="skip" href="#main">Skip to the feeds</a>
<header class="top"><div><h1>Feeds</h1><p class="date">${summary(sources)}</p></div>
<p><a href="${basePath}/village">To the village</a></p></header>
<main id="main" tabindex="-1">${notice(sources, query, basePath)}
${sources.length === 0 ? empty : html`<ul class="sources">${sources.map((source) => row(source, shown))}</ul>`}</main>
</body></html>`
}

function summary(sources: readonly SourceRow[]): string {
  const failing = sources.filter((source) => stateOf(source) === 'failing').length
  const disabled = sources.filter(({ is_active }) => !is_active).length
  const parts = [
    `${sources.length} ${sources.length === 1 ? 'feed' : 'feeds'}`,
    ...(failing > 0 ? [`${failing} failing`] : []),
    ...(disabled > 0 ? [`${disabled} disabled`] : []),
  ]
  return parts.join(', ')
}

function notice(sources: readonly SourceRow[], query: URLSearchParams, basePath: string): Html | string {
  const text = TOLD[query.get('told') ?? '']
  const source = sources.find(({ id }) => id === query.get('source'))
  if (text === undefined || source === undefined) return ''
  const job = query.get('job') ?? ''
  const link = /^\d{1,19}$/.test(job) ? html` <a href="${basePath}/admin/jobs/${job}">Job ${job}</a>` : ''
  return html`<p class="told" role="status">${source.name} ${text}${link}</p>`
}

const empty = html`<p class="told">The village follows no feeds yet. Add the first one:</p>
<pre tabindex="0">curl -X POST http://localhost:8080/admin/api/rss-sources \\
  -H "Content-Type: application/json" \\
  -d '{"name": "Gazette", "url": "https://example.com/feed.xml", "category": "Breaking News"}'</pre>`

type State = 'active' | 'failing' | 'disabled'

const stateOf = ({ is_active, error_count }: SourceRow): State =>
  !is_active ? 'disabled' : error_count > 0 ? 'failing' : 'active'

function row(source: SourceRow, shown: Shown): Html {
  const { name, url, category, last_error_type, last_error_message, moved_to } = source
  return html`<li>
<h2><a href="${url}" rel="noreferrer">${name}</a></h2>
<p>${state(source, shown)} · ${category} · ${when(source, shown.now)}</p>
${last_error_message === null ? '' : html`<p class="error">${last_error_type}: ${last_error_message}</p>`}
${moved_to === null ? '' : html`<p>It has moved for good to <a href="${moved_to}" rel="noreferrer">${moved_to}</a>: change its url.</p>`}
${button(source, shown.basePath)}
</li>`
}

function state(source: SourceRow, { threshold }: Shown): Html {
  const name = stateOf(source)
  const { error_count: errors, disabled_at } = source
  const words = {
    active: 'Active',
    failing: `Failing: ${errors} of ${threshold} errors in a row`,
    disabled: `Disabled ${errors > 0 && disabled_at !== null ? `after ${errors} errors in a row` : 'by an operator'}`,
  }
  return html`<span class="state ${name}">${words[name]}</span>`
}

function when({ last_fetched_at, last_attempt_at, refresh_interval_minutes }: SourceRow, now: Date): string {
  const every = `every ${refresh_interval_minutes} min`
  if (last_fetched_at !== null) return `${every}, last refreshed ${ago(last_fetched_at, now)}`
  return last_attempt_at === null ? `${every}, not fetched yet` : `${every}, never fetched with success`
}

/** Which feed a button is for is said to those who only hear it. */
function button({ id, name, is_active }: SourceRow, basePath: string): Html {
  const [action, text] = is_active ? ['refresh', 'Refresh now'] : ['enable', 'Enable']
  return html`<form method="post" action="${basePath}/village/feeds/${id}/${action}"><button>${text}<span class="hidden"> ${name}</span></button></form>`
}
