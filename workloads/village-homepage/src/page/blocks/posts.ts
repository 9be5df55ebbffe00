// What the village's own accounts have posted, and which of them must be authorised again.
import { html } from 'hono/html'
import { latestPosts, type PostRow, socialFacts, type UnauthorisedAccount } from '../../social/post-store.ts'
import { jobNote } from '../job-note.ts'
import { ago } from '../time-words.ts'
import type { Block, Html, View } from '../view.ts'

const MOST = 6
const NETWORKS: Readonly<Record<string, string>> = { instagram: 'Instagram', mastodon: 'Mastodon' }

export const posts: Block = {
  name: 'posts',
  async render(view) {
    const { database } = view.parts
    const [latest, facts] = await Promise.all([latestPosts(database, MOST), socialFacts(database)])
    const refreshed = { type: 'SOCIAL_REFRESH', at: facts.refreshedAt ?? undefined, schedules: ['social-refresh'] }
    return html`<h2 id="posts">Posts</h2>
${facts.unauthorised.map((account) => banner(account, view))}
${latest.length === 0 ? empty : html`<ul class="posts">${latest.map((post) => row(post, view))}</ul>`}
${jobNote(view, refreshed)}`
  },
}

const empty = html`<p class="empty">No posts yet. What the village's own accounts publish will appear here.</p>`

/** Residents learn that posts are missing; only those who run the village learn why. */
const banner = ({ provider, handle, problem }: UnauthorisedAccount, { showsJobs }: View): Html =>
  html`<p class="warned"><span class="sign" aria-hidden="true">⚠</span>
<span>@${handle} on ${NETWORKS[provider]} must be authorised again: its newest posts are missing.${showsJobs ? ` ${problem ?? ''}` : ''}</span></p>`

const row = ({ provider, handle, text, url, postedAt }: PostRow, { now }: View): Html => html`<li>
<p>${text === '' ? 'A picture' : text}</p>
<p class="meta"><span><a href="${url}" rel="noopener noreferrer nofollow">@${handle} on ${NETWORKS[provider]}</a></span> <time datetime="${postedAt.toISOString()}">${ago(postedAt, now)}</time></p></li>`
