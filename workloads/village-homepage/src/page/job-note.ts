// The foot of a block: which job refreshed it, when, and when the next one comes.
import { html } from 'hono/html'
import { ago, dayAndTime } from './time-words.ts'
import { type Html, timeZoneOf, type View } from './view.ts'

export interface Refreshed {
  readonly type: string
  /** Undefined: never yet. 'unknown': the job leaves no time behind. */
  readonly at: Date | undefined | 'unknown'
  /** Which schedules bring such jobs. */
  readonly schedules: readonly string[]
}

export async function jobNote(view: View, { type, at, schedules }: Refreshed): Promise<Html> {
  if (!view.showsJobs) return at instanceof Date ? html`<p class="note">refreshed ${ago(at, view.now)}</p>` : html``
  const next = await nextOf(view, schedules)
  const link = html`<a href="${view.basePath}/admin/jobs?q=${encodeURIComponent(`type:${type}`)}">${type}</a>`
  const refreshed = at instanceof Date ? html`refreshed ${ago(at, view.now)} by ${link}` : html`kept true by ${link}`
  const when = at === undefined ? html`waits for ${link}` : refreshed
  return html`<p class="note">${when}${next === undefined ? '' : `, next ${next}`}</p>`
}

/** Undefined: none of them is known here, or all are paused. */
async function nextOf(view: View, names: readonly string[]): Promise<string | undefined> {
  const states = await view.millrace.schedules.list()
  const times = states.flatMap(({ name, nextAt }) =>
    names.includes(name) && nextAt !== null ? [nextAt.getTime()] : [],
  )
  if (times.length === 0) return undefined
  return dayAndTime(new Date(Math.min(...times)), { now: view.now, timeZone: timeZoneOf(view) })
}
