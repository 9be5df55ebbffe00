// Text that a terminal may show. What comes from jobs, tenants and errors may hold anything: sequences that move the cursor,
// hide what was printed or make links, newlines that forge lines of a table or a log, and marks that turn text around.

/** C0 and C1 controls, line and paragraph separators, directions of text, and invisible characters. */
const UNSAFE = String.raw`\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u{FFF9}-\u{FFFB}\u{E0000}-\u{E007F}`
/** What `colours.ts` marks text with: nothing that is stored may look like it. */
const MARKS = String.raw`\u{F8E0}-\u{F8E6}`
const RUN = new RegExp(`[${UNSAFE}${MARKS}]+`, 'gu')
const ONE = new RegExp(`(?!\n)[${UNSAFE}]`, 'gu')
const ONE_OF_JSON = new RegExp(`(?!\n)[${UNSAFE}${MARKS}]`, 'gu')
const ANY = new RegExp(`[${UNSAFE}${MARKS}]`, 'u')

export const isUnsafe = (text: string): boolean => ANY.test(text)

/** One line. */
export const safeLine = (text: string): string => text.replace(RUN, ' ').trim()

/** The same lines, with the marks of colours. */
export const safeLines = (text: string): string => text.replace(ONE, ' ')

/** JSON of the same value: what a terminal would obey is written as an escape. */
export const safeJson = (json: string): string =>
  json.replace(ONE_OF_JSON, (character) => [...utf16(character)].map((unit) => `\\u${unit}`).join(''))

const utf16 = (text: string): string[] =>
  Array.from({ length: text.length }, (_, i) => text.charCodeAt(i).toString(16).padStart(4, '0'))
