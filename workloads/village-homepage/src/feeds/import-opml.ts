// The feeds of an OPML file, as readers and other villages export them. Folders become categories.
import { parseOpml } from 'feedsmith'
import { DEFAULT_CATEGORY, intervalOf } from './categories.ts'
import type { NewSource } from './source-catalogue.ts'
import { InvalidXml } from './source-errors.ts'
import { guardedXml } from './xml-guard.ts'

interface Outline {
  readonly text?: string | undefined
  readonly title?: string | undefined
  readonly xmlUrl?: string | undefined
  readonly outlines?: readonly Outline[] | undefined
}

export interface OpmlFeeds {
  readonly feeds: readonly NewSource[]
  /** Addresses that are no http(s) URLs. */
  readonly unusable: readonly string[]
}

const LONGEST = 200
const LONGEST_URL = 2_000

export class OpmlUnusable extends Error {
  override readonly name = 'OpmlUnusable'

  constructor(what: string, cause?: unknown) {
    super(`The text is no OPML that can be read: ${what} Export the list of feeds again.`, { cause })
  }
}

/** Throws OpmlUnusable. */
export function feedsOfOpml(text: string): OpmlFeeds {
  const feeds = new Map<string, NewSource>()
  const unusable: string[] = []
  const walk = (outlines: readonly Outline[], category: string): void => {
    for (const { text: label, title, xmlUrl, outlines: inner = [] } of outlines) {
      const name = (title ?? label ?? '').trim().slice(0, LONGEST)
      if (xmlUrl === undefined) walk(inner, name || category)
      else if (!isHttp(xmlUrl)) unusable.push(xmlUrl.slice(0, LONGEST))
      else if (!feeds.has(xmlUrl))
        feeds.set(xmlUrl, {
          ...{ name: name || new URL(xmlUrl).host, url: xmlUrl, category },
          refresh_interval_minutes: intervalOf(category),
        })
    }
  }
  walk(outlinesOf(text), DEFAULT_CATEGORY)
  return { feeds: [...feeds.values()], unusable }
}

function outlinesOf(text: string): readonly Outline[] {
  try {
    const { text: xml, root } = guardedXml(text.trimStart())
    if (root !== 'opml') throw new InvalidXml(`its root is "${root.slice(0, 50)}", expected "opml".`)
    return (parseOpml(xml).body?.outlines ?? []) as readonly Outline[]
  } catch (cause) {
    throw new OpmlUnusable(cause instanceof InvalidXml ? cause.what : `${(cause as Error).message}.`, cause)
  }
}

const isHttp = (url: string): boolean =>
  url.length <= LONGEST_URL && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
