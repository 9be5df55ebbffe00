// The news: stories of all feeds, with the tags that the model gave them.
import { html } from 'hono/html'
import { jobNote } from '../job-note.ts'
import { categoriesOf, feedFacts, type StoryRow, type StoryTags, storiesOf } from '../page-store.ts'
import { ago } from '../time-words.ts'
import type { Block, Html, View } from '../view.ts'
import { wayTo } from '../way-to.ts'

const MOST = 24
const PER_SOURCE = 4
const TOPICS = 4
/** Below it the model was guessing. */
const SURE = 0.5
const MOODS: Readonly<Record<string, string>> = {
  positive: 'good news',
  negative: 'bad news',
  mixed: 'mixed',
  neutral: 'neutral',
}

export const today: Block = {
  name: 'today',
  async render(view) {
    const { parts, now, category } = view
    const { database } = parts
    const [stories, categories, facts] = await Promise.all([
      storiesOf(database, { now, category, perSource: category === undefined ? PER_SOURCE : MOST, most: MOST }),
      categoriesOf(database, now),
      feedFacts(database),
    ])
    const refreshed = { type: 'RSS_FEED_REFRESH', at: facts.fetchedAt ?? undefined, schedules: ['rss-feed-refresh'] }
    return html`<h2 id="today">Today</h2>
${filter(view, categories)}
${stories.length === 0 ? empty(view) : html`<ol class="stories">${stories.map((story) => row(story, view))}</ol>`}
${jobNote(view, refreshed)}${disabledNote(view, facts.disabled)}`
  },
}

function filter({ basePath, category }: View, categories: readonly { name: string; count: number }[]): Html {
  if (categories.length === 0 && category === undefined) return html``
  const shown = categories.map(({ name }) => name)
  // A filter that finds nothing any more must stay visible, or it cannot be taken away.
  const names = category === undefined || shown.includes(category) ? shown : [...shown, category]
  const link = (name: string | undefined): Html => {
    const query = name === undefined ? '' : `?category=${encodeURIComponent(name)}`
    const current = name === category ? html` aria-current="page"` : ''
    return html`<li><a href="${basePath}/village${query}#today"${current}>${name ?? 'All'}</a></li>`
  }
  return html`<nav aria-label="Categories"><ul class="chips">${[undefined, ...names].map(link)}</ul></nav>`
}

function empty({ category }: View): Html {
  if (category !== undefined) return html`<p class="empty">There is no news about ${category} this week.</p>`
  return html`<p class="empty">No news yet. The feeds are about to be fetched, and their stories appear here.</p>`
}

function row({ id, title, url, source, publishedAt, tags }: StoryRow, { now, basePath }: View): Html {
  return html`<li><article>
<h3><a href="${wayTo({ kind: 'item', id, url }, basePath) ?? '#today'}" rel="noopener noreferrer nofollow">${title}</a></h3>
<p class="meta"><span>${source}</span> <time datetime="${publishedAt.toISOString()}">${ago(publishedAt, now)}</time></p>
${tags === null ? html`<p class="tags untagged">not tagged yet</p>` : tagLine(tags)}
</article></li>`
}

function tagLine({ topics, sentiment, confidence }: StoryTags): Html {
  const isSure = confidence >= SURE
  const mood = Object.hasOwn(MOODS, sentiment) ? sentiment : 'neutral'
  return html`<p class="tags${isSure ? '' : ' unsure'}"><span class="mood ${mood}">${MOODS[mood]}</span>
${topics.slice(0, TOPICS).map((topic) => html`<span class="topic">${topic}</span> `)}${isSure ? '' : html`<span class="guess">a guess</span>`}</p>`
}

function disabledNote({ showsJobs, basePath }: View, disabled: number): Html {
  if (!showsJobs || disabled === 0) return html``
  const what = disabled === 1 ? '1 feed was disabled' : `${disabled} feeds were disabled`
  return html`<p class="note"><a href="${basePath}/village/feeds">${what} after too many errors</a></p>`
}
