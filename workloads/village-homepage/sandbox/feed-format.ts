// Stories as feeds: RSS 0.91, 1.0 and 2.0, Atom, JSON Feed.

export interface Story {
  readonly guid: string
  readonly url: string
  /** Null: the publisher forgot it. */
  readonly title: string | null
  readonly summary: string
  readonly html: string
  readonly author: string
  readonly publishedAt: Date
}

export interface Channel {
  readonly title: string
  readonly url: string
  readonly description: string
  readonly language: string
}

export type Format = 'rss-0.91' | 'rss-1.0' | 'rss-2.0' | 'atom' | 'json'

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  'rss-0.91': 'application/rss+xml',
  'rss-1.0': 'application/rdf+xml',
  'rss-2.0': 'application/rss+xml',
  atom: 'application/atom+xml',
  json: 'application/feed+json',
}

type Write = (channel: Channel, stories: readonly Story[], charset: string) => string

export const writers: Readonly<Record<Format, Write>> = {
  'rss-0.91': (channel, stories, charset) => `${head(charset)}
<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="0.91"><channel>${about(channel)}<language>${channel.language}</language>
${stories.map((story) => `<item>${titled(story)}<link>${xml(story.url)}</link><description>${xml(story.summary)}</description></item>`).join('\n')}
</channel></rss>`,

  'rss-1.0': (channel, stories, charset) => `${head(charset)}
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="${xml(channel.url)}">${about(channel)}
<items><rdf:Seq>${stories.map(({ url }) => `<rdf:li rdf:resource="${xml(url)}"/>`).join('')}</rdf:Seq></items></channel>
${stories.map(rdfItem).join('\n')}
</rdf:RDF>`,

  'rss-2.0': (channel, stories, charset) => `${head(charset)}
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>${about(channel)}
${stories.map(rssItem).join('\n')}
</channel></rss>`,

  atom: (channel, stories, charset) => `${head(charset)}
<feed xmlns="http://www.w3.org/2005/Atom"><title>${xml(channel.title)}</title><id>${xml(channel.url)}</id>
<link href="${xml(channel.url)}"/><updated>${(stories[0]?.publishedAt ?? new Date(0)).toISOString()}</updated>
${stories.map(atomEntry).join('\n')}
</feed>`,

  json: (channel, stories) =>
    JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: channel.title,
      home_page_url: channel.url,
      language: channel.language,
      items: stories.map((story) => ({
        id: story.guid,
        url: story.url,
        title: story.title,
        summary: story.summary,
        content_html: story.html,
        date_published: story.publishedAt.toISOString(),
        authors: [{ name: story.author }],
      })),
    }),
}

function rssItem(story: Story): string {
  return `<item>${titled(story)}<link>${xml(story.url)}</link><guid isPermaLink="false">${xml(story.guid)}</guid>
<description>${xml(story.summary)}</description><content:encoded><![CDATA[${story.html}]]></content:encoded>
<dc:creator>${xml(story.author)}</dc:creator><pubDate>${story.publishedAt.toUTCString()}</pubDate></item>`
}

function rdfItem(story: Story): string {
  return `<item rdf:about="${xml(story.url)}">${titled(story)}<link>${xml(story.url)}</link>
<description>${xml(story.summary)}</description><dc:date>${story.publishedAt.toISOString()}</dc:date></item>`
}

function atomEntry(story: Story): string {
  return `<entry>${titled(story)}<id>${xml(story.guid)}</id><link rel="alternate" href="${xml(story.url)}"/>
<published>${story.publishedAt.toISOString()}</published><updated>${story.publishedAt.toISOString()}</updated>
<author><name>${xml(story.author)}</name></author><summary>${xml(story.summary)}</summary>
<content type="html">${xml(story.html)}</content></entry>`
}

const head = (charset: string): string => `<?xml version="1.0" encoding="${charset}"?>`
const about = ({ title, url, description }: Channel): string =>
  `<title>${xml(title)}</title><link>${xml(url)}</link><description>${xml(description)}</description>`
const titled = ({ title }: Story): string => (title === null ? '' : `<title>${xml(title)}</title>`)
const xml = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
