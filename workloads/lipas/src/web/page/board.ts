// The work on the page: lanes with their slots, what waits, breakers as lamps, what was received, and how to make trouble.

import type { Trouble } from '../../sandbox/trouble.ts'
import type { BoardState, Lamp, Lane, Received, Waiting } from '../board-state.ts'
import { type Html, html } from './html.ts'
import { clock, seconds } from './time-words.ts'

export interface BoardView {
  readonly now: Date
  readonly timeZone: string
  readonly mayOperate: boolean
}

export const boardHtml = (state: BoardState, view: BoardView): Html => html`
<section class="panel" aria-labelledby="lanes"><h2 id="lanes">Lanes</h2>${lanes(state)}${waiting(state.waiting, view)}</section>
<section class="panel" aria-labelledby="breakers"><h2 id="breakers">Services</h2><ul class="lamps">${state.lamps.map((each) => lamp(each, view))}</ul></section>
<section class="panel" aria-labelledby="received"><h2 id="received">Received last</h2>${receivedHtml(state, view)}</section>
${state.troubles === undefined ? '' : trouble(state.troubles, view)}`

function lanes({ lanes: all, workers }: BoardState): Html {
  if (all.length === 0)
    return html`<p class="dim">${workers === 0 ? 'No worker runs. What is saved waits until one does.' : 'The worker has not reported yet.'}</p>`
  return html`<ul class="lanes">${all.map(lane)}</ul>`
}

const MOST_SLOTS = 40

function lane({ name, slots, running }: Lane): Html {
  const boxes = Array.from(
    { length: Math.min(slots, MOST_SLOTS) },
    (_, i) => html`<i${i < running ? html` class="on"` : ''}></i>`,
  )
  return html`<li><b>${name}</b> <span class="slots" aria-hidden="true">${boxes}</span> <span class="dim">${running} of ${slots} in use</span></li>`
}

function waiting(types: readonly Waiting[], view: BoardView): Html {
  return html`<table><caption class="vh">Jobs by type</caption>
<thead><tr><th scope="col">type</th><th scope="col" class="n">run</th><th scope="col" class="n">wait</th><th scope="col" class="n">later</th><th scope="col" class="n">dead</th></tr></thead>
<tbody>${[...types].sort(byName).map((each) => typeRow(each, view))}</tbody></table>`
}

const byName = (one: Waiting, other: Waiting): number => (one.type < other.type ? -1 : 1)

function typeRow({ type, due, later, running, dead, oldestDueAt }: Waiting, { now }: BoardView): Html {
  const age = oldestDueAt === null ? 0 : now.getTime() - oldestDueAt.getTime()
  const since = due > 0 && age > 1_000 ? html` <small class="dim">${seconds(age)}</small>` : ''
  const letters = dead > 0 ? html`<a class="t-fail" href="admin/failures">${dead}</a>` : '0'
  return html`<tr><th scope="row"><a href="admin/jobs?q=${encodeURIComponent(`type:${type}`)}">${type}</a></th><td class="n">${running}</td><td class="n">${due}${since}</td><td class="n">${later}</td><td class="n">${letters}</td></tr>`
}

const STATES: Readonly<Record<Lamp['state'], readonly [word: string, tone: string]>> = {
  closed: ['works', 'ok'],
  half_open: ['is being tried', 'late'],
  open: ['is held back', 'fail'],
}

function lamp({ service, state, failures, limit, nextTryAt }: Lamp, { timeZone, mayOperate }: BoardView): Html {
  const [word, tone] = STATES[state]
  const next = nextTryAt === null ? 'until it is reset' : `next try at ${clock(nextTryAt, timeZone)}`
  const failed = failures === 0 ? '' : html`<small class="dim">${failures} of ${limit} failures</small>`
  const more = state === 'open' ? html`<small class="dim">${next}</small>` : failed
  const reset = html`<button class="btn" type="button" data-reset="${service}" data-key="reset ${service}">Reset<span class="vh"> ${service}</span></button>`
  return html`<li class="lamp ${tone}"><i aria-hidden="true"></i><span><b>${service}</b> <span class="state">${word}</span> ${more}</span>${state !== 'closed' && mayOperate ? reset : ''}</li>`
}

function receivedHtml({ mails, partner, troubles }: BoardState, view: BoardView): Html {
  const last = (title: string, rows: readonly Received[], empty: string): Html =>
    html`<h3>${title}</h3>${rows.length === 0 ? html`<p class="dim">${empty}</p>` : html`<ol class="received">${rows.map((each) => receivedRow(each, view))}</ol>`}`
  const isSandbox = troubles !== undefined
  return html`${mails === undefined ? '' : last('Sandbox mail server', mails, 'No mail yet. Save a place, and its owner gets one.')}
${last(isSandbox ? 'Sandbox partner' : 'Partner', partner, 'Nothing yet. Every save is told to the partner.')}`
}

const receivedRow = ({ at, what, note }: Received, { timeZone }: BoardView): Html =>
  html`<li><time class="faint" datetime="${at.toISOString()}">${clock(at, timeZone)}</time> <span>${what}<small class="dim">${note}</small></span></li>`

const TROUBLE_WORDS: Readonly<Record<Trouble, readonly [name: string, watch: string]>> = {
  'mail-down': [
    'Mail is down',
    'Save a place or wait for others to: after five failures the breaker opens, e-mails wait without losing attempts, and all other work goes on.',
  ],
  'elevation-slow': [
    'Elevation is slow',
    'Move a few places: elevations pile up in the general lane, while e-mails and webhooks do not wait for them.',
  ],
  'partner-429': ['Partner says 429', 'Webhooks wait as long as the partner asks, and none is lost.'],
}

function trouble(troubles: ReadonlyMap<Trouble, boolean>, { mayOperate }: BoardView): Html {
  const rows = [...troubles].map(([name, isOn]) => {
    const [words, watch] = TROUBLE_WORDS[name]
    const button = html`<button class="btn${isOn ? ' danger' : ''}" type="button" aria-pressed="${String(isOn)}" data-trouble="${name}" data-key="trouble ${name}">${words}</button>`
    return html`<li>${mayOperate ? button : html`<b>${words}: ${isOn ? 'yes' : 'no'}</b>`} <span class="dim">${watch}</span></li>`
  })
  return html`<section class="panel trouble" aria-labelledby="trouble"><h2 id="trouble">Make trouble</h2><ul>${rows}</ul></section>`
}
