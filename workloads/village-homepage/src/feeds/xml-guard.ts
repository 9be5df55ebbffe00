// One linear look at a document before any parser sees it. Parsers of XML expand, recurse and backtrack, and strangers
// know it: what is too deep, too much, or declares entities is refused here.
import { InvalidXml } from './source-errors.ts'

const MOST_TAGS = 200_000
const MOST_DEPTH = 64
const MOST_REFERENCES = 100_000
/** Of one tag with its attributes. */
const LONGEST_TAG = 65_536

/** HTML that stands unescaped in a description, as too many publishers write it, leaves these open. */
const NEVER_CLOSED = new Set(['area', 'br', 'col', 'hr', 'img', 'input', 'wbr'])
/** Whom a feed calls its author can be read in quadratic time only, so a text that is no name is cut out. */
const PERSONS = new Set(['author', 'managingeditor', 'webmaster'])
const LONGEST_PERSON = 120
const BRACKET = /[([<&]/g
const MOST_BRACKETS = 8
const NAME = /[A-Za-z_:\u00c0-\uffff][^\s/>]*/y

export interface GuardedXml {
  /** Without its DOCTYPE, and without persons that are no names. */
  readonly text: string
  /** In small letters and without a prefix: 'rss', 'feed', 'rdf'. */
  readonly root: string
}

/** Throws FeedError InvalidXml. */
export function guardedXml(text: string): GuardedXml {
  refuseManyReferences(text)
  return new Walk(text).document()
}

interface Element {
  readonly name: string
  readonly isPerson: boolean
  /** Where its content begins. */
  readonly from: number
}

class Walk {
  readonly #text: string
  readonly #open: Element[] = []
  readonly #kept: string[] = []
  #keptUntil = 0
  #tags = 0
  #root: string | undefined
  #hasDoctype = false

  constructor(text: string) {
    this.#text = text
  }

  document(): GuardedXml {
    const text = this.#text
    for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) at = this.#after(at)
    if (this.#root === undefined) throw new InvalidXml('it has no XML element.')
    const open = this.#open.map(({ name }) => name)
    if (open.length > 0) throw new InvalidXml(`it ends inside "${open.join(' > ').slice(0, 200)}".`)
    return { text: this.#kept.join('') + text.slice(this.#keptUntil), root: this.#root }
  }

  #cut(start: number, end: number): void {
    this.#kept.push(this.#text.slice(this.#keptUntil, start))
    this.#keptUntil = end
  }

  /** Where the markup at this `<` ends. */
  #after(at: number): number {
    const text = this.#text
    const next = text[at + 1]
    if (next === '?') return this.#end(at, '?>')
    if (next === '!') {
      if (text.startsWith('<!--', at)) return this.#end(at + 4, '-->')
      if (text.startsWith('<![CDATA[', at)) return this.#end(at, ']]>')
      return this.#declaration(at)
    }
    if (next === '/') return this.#close(at)
    NAME.lastIndex = at + 1
    const name = NAME.exec(text)?.[0]
    // "a < b" in a text is no tag.
    return name === undefined ? at + 1 : this.#tag(at, name)
  }

  #end(from: number, mark: string): number {
    const found = this.#text.indexOf(mark, from)
    if (found === -1) throw new InvalidXml(`it ends inside "${this.#text.slice(from, from + 9)}".`)
    return found + mark.length
  }

  /** A DOCTYPE before the root may name a DTD, which is never loaded. It may not bring one. */
  #declaration(start: number): number {
    if (!/^<!doctype\s/i.test(this.#text.slice(start, start + 10)))
      throw new InvalidXml('it declares entities or elements.')
    if (this.#hasDoctype || this.#root !== undefined) throw new InvalidXml('it has more than one DOCTYPE.')
    const end = this.#tagEnd(start)
    if (/\[|<!entity/i.test(this.#text.slice(start, end)))
      throw new InvalidXml('its DOCTYPE declares entities or elements.')
    this.#hasDoctype = true
    this.#cut(start, end)
    return end
  }

  #tag(start: number, name: string): number {
    const end = this.#tagEnd(start)
    this.#tags += 1
    if (this.#tags > MOST_TAGS) throw new InvalidXml(`it has more than ${MOST_TAGS} elements.`)
    const local = name.slice(name.indexOf(':') + 1).toLowerCase()
    this.#root ??= local
    if (this.#text[end - 2] === '/' || NEVER_CLOSED.has(local)) return end
    this.#open.push({ name, isPerson: this.#root === 'rss' && PERSONS.has(local), from: end })
    if (this.#open.length > MOST_DEPTH) throw new InvalidXml(`it is more than ${MOST_DEPTH} elements deep.`)
    return end
  }

  /** Closes what was left open inside, too: HTML that stands unescaped is not well-formed. */
  #close(start: number): number {
    const end = this.#tagEnd(start)
    const name = this.#text.slice(start + 2, end - 1).trimEnd()
    const at = this.#open.findLastIndex((element) => element.name === name)
    if (at === -1) return end
    const closed = this.#open.splice(at).find(({ isPerson }) => isPerson)
    if (closed !== undefined && !isName(this.#text, closed.from, start)) this.#cut(closed.from, start)
    return end
  }

  /** Behind the next `>` that is in no quotes. */
  #tagEnd(start: number): number {
    const text = this.#text
    const last = Math.min(text.length, start + LONGEST_TAG)
    let quote: string | undefined
    for (let at = start + 1; at < last; at++) {
      const character = text[at]
      if (quote !== undefined) {
        if (character === quote) quote = undefined
      } else if (character === '>') return at + 1
      else if (character === '"' || character === "'") quote = character
    }
    throw new InvalidXml(
      last === text.length ? 'it ends inside a tag.' : `it has a tag of more than ${LONGEST_TAG} characters.`,
    )
  }
}

const isName = (text: string, from: number, to: number): boolean =>
  to - from <= LONGEST_PERSON && (text.slice(from, to).match(BRACKET)?.length ?? 0) <= MOST_BRACKETS

function refuseManyReferences(text: string): void {
  let count = 0
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    count += 1
    if (count > MOST_REFERENCES) throw new InvalidXml(`it has more than ${MOST_REFERENCES} character references.`)
  }
}

/** The same for JSON, which nests by brackets. */
export function guardedJson(text: string): unknown {
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isQuoted) {
      if (character === '\\') at += 1
      else if (character === '"') isQuoted = false
    } else if (character === '"') isQuoted = true
    else if (character === '{' || character === '[') {
      depth += 1
      if (depth > MOST_DEPTH) throw new InvalidXml(`it is more than ${MOST_DEPTH} levels deep.`)
    } else if (character === '}' || character === ']') depth -= 1
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new InvalidXml(`its JSON is broken (${(cause as Error).message.slice(0, 200)}).`, cause)
  }
}
