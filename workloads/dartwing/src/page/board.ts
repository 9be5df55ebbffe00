// The part of the page that moves, as HTML. Titles and messages come from strangers: all texts are escaped.
import { escaped } from '@millrace/sandbox'
import { QUEUE_CONFIG } from '../jobs/queue-config.ts'
import { hueOf } from './hue.ts'
import type { Neighbour, Neighbours, Slot } from './neighbours.ts'
import { seconds } from './verdict.ts'

export function board(figures: Neighbours, basePath: string): string {
  const { verdict, slots, neighbours, others } = figures
  const columns = neighbours.map((each) => column(each, basePath)).join('')
  const rest =
    others.organizations === 0
      ? ''
      : `<section class="org others"><h2>Others</h2><p>${others.organizations} more organizations</p><dl><div><dt>Waiting</dt><dd>${others.waiting}</dd></div><div><dt>Running</dt><dd>${others.running}</dd></div></dl></section>`
  const empty = neighbours.length === 0 ? '<p class="empty">There is no organization yet that you may see.</p>' : ''
  return `<p class="verdict" role="status">${escaped(verdict)}</p>
<section class="slots" aria-label="Slots">${Object.keys(QUEUE_CONFIG)
    .map((queue) => slotRow(queue, slots))
    .join('')}</section>
${empty}<div class="orgs">${columns}${rest}</div>
<div class="strips">${throttled(figures)}${stuck(figures, basePath)}${refused(figures)}</div>`
}

function slotRow(queue: string, all: readonly Slot[]): string {
  const slots = all.filter((slot) => slot.queue === queue)
  const used = slots.filter(({ isUsed }) => isUsed).length
  const squares = slots.map(({ organization, isUsed }) => {
    const who = organization ?? (isUsed ? 'somebody else' : 'free')
    return `<li class="${isUsed ? 'used' : 'free'}${organization === null ? '' : ` hue-${hueOf(organization)}`}" title="${escaped(who)}"><span class="unseen">${escaped(who)}</span></li>`
  })
  return `<div class="queue ${queue}"><h2>${queue}</h2><ul>${squares.join('')}</ul><span class="faint">${used} of ${slots.length}</span></div>`
}

function column(
  { organization, title, isSuspended, queues, waitP95Ms, why, letters }: Neighbour,
  basePath: string,
): string {
  const rows = queues.map(({ queue, waiting, running, limit, isOver }) => {
    const of = limit === null ? '' : ` <span class="faint">/ ${limit}</span>`
    return `<tr><th scope="row">${queue}${isOver ? ' <span class="warned">warned</span>' : ''}</th><td>${running}</td><td>${waiting}</td><td>${waiting + running}${of}</td></tr>`
  })
  const causes = letters.map(({ fingerprint, pending, message }) => {
    const text = `${pending} × ${escaped(message.slice(0, 120))}`
    return `<li>${fingerprint === null ? text : `<a href="${basePath}/admin/failures/${encodeURIComponent(fingerprint)}">${text}</a>`}</li>`
  })
  const dead =
    causes.length === 0 ? '<p class="faint">No dead letters.</p>' : `<ul class="causes">${causes.join('')}</ul>`
  return `<section class="org hue-${hueOf(organization)}" aria-labelledby="${organization}">
<h2 id="${organization}"><a href="${basePath}/admin/tenants/${organization}">${organization}</a>${isSuspended ? ' <span class="warned">suspended</span>' : ''}</h2>
<p class="title">${escaped(title)}</p>
<table><thead><tr><th scope="col">Queue</th><th scope="col">Running</th><th scope="col">Waiting</th><th scope="col">Of limit</th></tr></thead><tbody>${rows.join('')}</tbody></table>
<p>Wait, p95 of the last minute: <strong>${waitP95Ms === null ? 'nothing ran' : seconds(waitP95Ms)}</strong></p>
${why === null ? '' : `<p class="why">${escaped(why)}</p>`}${dead}</section>`
}

function throttled({ throttled: { started, most, paused } }: Neighbours): string {
  const rate =
    most === null
      ? 'Bulk has no rate.'
      : started === null
        ? `Each organization may start ${most} bulk jobs a minute.`
        : `${started} of ${most} bulk starts in the last 60 s.`
  const meter =
    most === null || started === null
      ? ''
      : `<meter min="0" max="${most}" value="${started}" aria-label="Bulk starts">${started}</meter>`
  const held = paused === null ? '' : `<p class="warned-text">Bulk is paused: ${escaped(paused)}.</p>`
  return strip('Throttled', `<p>${rate}</p>${meter}${held}`)
}

function stuck({ stuck: all }: Neighbours, basePath: string): string {
  const rows = all.map(({ job, method, organization, secondsLeft, letter }) => {
    const end =
      letter === null
        ? `killed in ${secondsLeft} s`
        : `killed, <a href="${basePath}/admin/dead-letters/${letter}">dead letter ${letter}</a>`
    return `<li>Job ${job}, ${escaped(method)} of ${organization ?? 'the installation'}: ${end}</li>`
  })
  return strip(
    'Stuck',
    rows.length === 0 ? '<p class="faint">No job runs beyond its time.</p>' : `<ul>${rows.join('')}</ul>`,
  )
}

function refused({ refused: all }: Neighbours): string {
  const rows = all.map(
    ({ at, organization, what }) =>
      `<li><time datetime="${at}">${at.slice(11, 19)}</time> ${escaped(organization)}: ${escaped(what)}</li>`,
  )
  return strip(
    'Refused',
    rows.length === 0
      ? '<p class="faint">No job has reached for rows of another organization.</p>'
      : `<ul>${rows.join('')}</ul>`,
  )
}

const strip = (title: string, body: string): string => `<section class="strip"><h2>${title}</h2>${body}</section>`
