// How much of the month's tagging budget is used, and what follows from it. For those who run the village.
import { html } from 'hono/html'
import type { BudgetLevel } from 'millrace'
import { taggedFacts } from '../page-store.ts'
import type { Block } from '../view.ts'

const DOLLAR = 1_000_000
const MEANINGS: Readonly<Record<BudgetLevel, string>> = {
  NORMAL: 'NORMAL: 20 stories at a time',
  REDUCE: 'REDUCE: 10 stories at a time',
  QUEUE: 'QUEUE: tagging waits for the next hour',
  HARD_STOP: 'HARD_STOP: no tagging until next month',
}

export const budget: Block = {
  name: 'budget',
  async render({ parts, now, millrace, showsJobs, basePath }) {
    if (!showsJobs) return html``
    const { tagged, all } = await taggedFacts(parts.database, now)
    const { spent, limit, percent, level, endsAt } = await millrace.budgets.get('ai-tagging')
    const dollars = (amount: number): string => `$${(amount / DOLLAR).toFixed(2)}`
    const ends = endsAt.toLocaleDateString('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'long' })
    return html`<h2 id="budget">Tagging budget</h2>
<svg class="bar ${level.toLowerCase()}" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
<rect class="all" width="100" height="3"/><rect class="used" width="${Math.min(100, percent)}" height="3"/>
<rect class="mark" x="75" width=".3" height="3"/><rect class="mark" x="90" width=".3" height="3"/></svg>
<p>${dollars(spent)} of ${dollars(limit)} used this month, ${percent} %. <strong>${MEANINGS[level]}</strong>.
${tagged} of ${all} stories of this week are tagged.</p>
<p class="note">by <a href="${basePath}/admin/jobs?q=${encodeURIComponent('type:AI_TAGGING')}">AI_TAGGING</a>, begins anew on ${ends}</p>`
  },
}
