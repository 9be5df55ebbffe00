// Asks a visitor whether their clicks may be counted, and says afterwards what they decided. It depends on the visitor, so it is no
// block that visitors share.
import { html } from 'hono/html'
import type { Visitor } from '../clicks/visitor.ts'
import type { Html } from './view.ts'

const BUTTONS = { yes: 'Yes, count them', no: 'No, do not count' } as const

const TOLD: Readonly<Record<Visitor['says'], string>> = {
  unasked:
    'May the village count which stories and sites you open? The counts decide what stands first. Each click is kept for 90 days under a random number, without your name or address.',
  yes: 'You agreed that your clicks are counted. Change your mind, and those that are kept will be deleted at once.',
  no: 'Your clicks are not counted.',
}

export const counting = (
  { says }: Visitor,
  basePath: string,
): Html => html`<section class="block counting ${says}" aria-labelledby="counting">
<h2 id="counting">Counting clicks</h2>
<p>${TOLD[says]}</p>
<form method="post" action="${basePath}/village/consent">
${says === 'yes' ? '' : button('yes', BUTTONS.yes)}${says === 'no' ? '' : button('no', says === 'yes' ? 'Stop, and delete mine' : BUTTONS.no)}
</form></section>`

const button = (value: 'yes' | 'no', text: string): Html =>
  html`<button name="counting" value="${value}">${text}</button>`
