// Addresses as files of the sitemap protocol: at most 50,000 and 45 MB each, compressed.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Address } from './address-pages.ts'

export interface SitemapFile {
  /** '1', '2' and so on. */
  readonly name: string
  readonly urls: number
  readonly bytes: Buffer
}

const MOST_URLS = 50_000
/** The protocol allows 50 MB before compression. */
const MOST_BYTES = 45_000_000
const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
const FOOT = '</urlset>\n'

const compressed = promisify(gzip)

/** `siteUrl`: without a slash at the end. */
export async function* sitemapFiles(
  pages: AsyncIterable<readonly Address[]>,
  siteUrl: string,
): AsyncGenerator<SitemapFile> {
  let entries: string[] = []
  let length = 0
  let count = 0
  const file = async (): Promise<SitemapFile> => {
    count += 1
    const done = { name: String(count), urls: entries.length, bytes: await compressed(HEAD + entries.join('') + FOOT) }
    entries = []
    length = 0
    return done
  }
  for await (const page of pages)
    for (const address of page) {
      const entry = entryOf(address, siteUrl)
      const bytes = Buffer.byteLength(entry)
      if (entries.length === MOST_URLS || length + bytes > MOST_BYTES) yield await file()
      entries.push(entry)
      length += bytes
    }
  if (entries.length > 0) yield await file()
}

const entryOf = ({ path, changedAt }: Address, siteUrl: string): string =>
  `<url><loc>${escaped(new URL(`${siteUrl}${path}`).href)}</loc><lastmod>${changedAt.toISOString()}</lastmod></url>\n`

/** `names`: of the files; they are parts of one address, because a file covers only what lies beside and below it. */
export function sitemapIndex(names: readonly string[], { siteUrl, at }: { siteUrl: string; at: Date }): string {
  const entry = (name: string): string =>
    `<sitemap><loc>${escaped(`${siteUrl}/sitemap.xml?part=${name}`)}</loc><lastmod>${at.toISOString()}</lastmod></sitemap>\n`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${names.map(entry).join('')}</sitemapindex>\n`
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
