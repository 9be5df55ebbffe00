// The form to a seller, on the card of a listing and on its own page.
import { html } from 'hono/html'
import type { Listing } from '../market/listing-store.ts'
import { listingPath } from './addresses.ts'
import type { Html } from './view.ts'

/** What a buyer has filled in. */
export interface WrittenFields {
  readonly name: string
  readonly email: string
  readonly text: string
}

export type Problems = Partial<Record<keyof WrittenFields, string>>

export interface Filled {
  readonly fields?: WrittenFields
  readonly problems?: Problems
}

const EMPTY: WrittenFields = { name: '', email: '', text: '' }

export function writeToSeller(
  basePath: string,
  { id, title }: Pick<Listing, 'id' | 'title'>,
  { fields = EMPTY, problems = {} }: Filled = {},
): Html {
  const field = (name: keyof WrittenFields, label: string, input: (common: Html) => Html): Html => {
    const problem = problems[name]
    const fieldId = `${name}-${id}`
    const invalid = problem === undefined ? '' : html` aria-invalid="true" aria-describedby="${fieldId}-problem"`
    const told = problem === undefined ? '' : html`<span class="problem" id="${fieldId}-problem">${problem}</span>`
    return html`<p><label for="${fieldId}">${label}</label>${told}${input(html`id="${fieldId}" name="${name}" required${invalid}`)}</p>`
  }
  return html`<form class="write" method="post" action="${basePath}${listingPath(id)}/write" aria-label="Write to the seller of ${title}">
${summary(id, problems)}
${field('name', 'Your name', (common) => html`<input ${common} autocomplete="name" maxlength="80" value="${fields.name}">`)}
${field('email', 'Your e-mail address', (common) => html`<input ${common} type="email" autocomplete="email" maxlength="254" value="${fields.email}">`)}
${field('text', 'Your message', (common) => html`<textarea ${common} rows="4" maxlength="5000">${fields.text}</textarea>`)}
<p class="meta">The seller gets your name and your message, and an address that stands for yours.</p>
<button>Send</button>
</form>`
}

function summary(id: string, problems: Problems): Html | string {
  const entries = Object.entries(problems)
  if (entries.length === 0) return ''
  return html`<div class="problems" role="alert"><h2>Your message was not sent</h2>
<ul>${entries.map(([name, problem]) => html`<li><a href="#${name}-${id}">${problem}</a></li>`)}</ul></div>`
}
