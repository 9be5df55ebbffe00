// Texts of entries as plain text. The village renders no markup of strangers.
import { compile } from 'html-to-text'
import type { RawText } from './parse-feed.ts'

const LONGEST_HTML = 60_000

/** Compiled once. Without a bound on the depth, deep markup overflows the stack. */
const converted = compile({
  limits: { maxDepth: 64, ellipsis: '…' },
  wordwrap: false,
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    { selector: 'script', format: 'skip' },
    { selector: 'style', format: 'skip' },
    // Roman numbers have no end, and the library fails beyond 3999.
    { selector: 'ol', format: 'unorderedList' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', options: { uppercaseHeaderCells: false } },
  ],
})

/** Markup that cannot be read says nothing. It is no reason to lose the other entries. */
function fromHtml(html: string): string {
  try {
    return converted(html.slice(0, LONGEST_HTML))
  } catch {
    return ''
  }
}

const INLINE_MARKUP =
  /<\/?(?:a|abbr|b|br|code|em|i|p|q|s|small|span|strong|sub|sup|tt|u)\b[^>]*>|&(?:#\d+|#x[\da-f]+|[a-z]+\d*);/i
const CONTROLS = /[^\P{Cc}\n\t]/gu

/** Text of at most this many characters, with its lines; undefined if nothing is left. */
export function plainText({ value, kind }: RawText, longest: number): string | undefined {
  const isMarkup = kind === 'html' && /[<&]/.test(value)
  const text = clean(isMarkup ? fromHtml(value) : value)
  const lines = text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
  return cut(lines.trim(), longest)
}

/** One line. Titles are plain text by most formats, and many publishers put markup into them: "Vec<String>" is none. */
export function plainLine({ value, kind }: RawText, longest: number): string | undefined {
  const isMarkup = kind === 'html' || (kind === 'unknown' && INLINE_MARKUP.test(value))
  const text = isMarkup ? fromHtml(value) : value
  return cut(clean(text).replace(/\s+/g, ' ').trim(), longest)
}

/** Postgres takes no NUL, and UTF-8 no half of a pair. */
const clean = (text: string): string => text.replace(CONTROLS, '').toWellFormed()

function cut(text: string, longest: number): string | undefined {
  if (text === '') return undefined
  return text.length <= longest ? text : `${text.slice(0, longest - 1).trimEnd()}…`.toWellFormed()
}
