// Commands of IMAP as they come over the line: words, quoted strings, lists and literals.

/** A list is an array; a word, a quoted string and a literal are a string. */
export type Argument = string | readonly Argument[]

export interface Command {
  readonly tag: string
  readonly name: string
  readonly parts: readonly Argument[]
}

/** What a client has sent is no IMAP. */
export class BadCommand extends Error {
  override readonly name = 'BadCommand'
}

const MOST_BYTES = 5 * 1024 * 1024
const LITERAL = /\{(\d+)(\+?)\}$/

/** Collects bytes until a command is whole. */
export class CommandReader {
  #waiting = Buffer.alloc(0)
  /** Of the command that has begun: its lines, with their literals as texts of their own. */
  #pieces: (string | { literal: string })[] = []
  #literal: number | undefined
  readonly #goAhead: () => void

  /** `goAhead` tells the client that its literal may follow. */
  constructor(goAhead: () => void) {
    this.#goAhead = goAhead
  }

  /** The commands that these bytes complete. */
  *read(bytes: Buffer): Generator<Command> {
    this.#waiting = Buffer.concat([this.#waiting, bytes])
    if (this.#waiting.length > MOST_BYTES) throw new BadCommand('The command is too long.')
    for (;;) {
      if (this.#literal !== undefined) {
        if (this.#waiting.length < this.#literal) return
        this.#pieces.push({ literal: this.#take(this.#literal).toString() })
        this.#literal = undefined
      }
      const end = this.#waiting.indexOf('\r\n')
      if (end === -1) return
      const line = this.#take(end + 2)
        .subarray(0, -2)
        .toString()
      const literal = LITERAL.exec(line)
      this.#pieces.push(literal === null ? line : line.slice(0, literal.index))
      if (literal !== null) {
        this.#literal = Number(literal[1])
        if (this.#literal > MOST_BYTES) throw new BadCommand('The literal is too long.')
        if (literal[2] === '') this.#goAhead()
        continue
      }
      const pieces = this.#pieces
      this.#pieces = []
      yield commandOf(pieces)
    }
  }

  #take(length: number): Buffer {
    const taken = this.#waiting.subarray(0, length)
    this.#waiting = this.#waiting.subarray(length)
    return taken
  }
}

function commandOf(pieces: readonly (string | { literal: string })[]): Command {
  const stack: Argument[][] = [[]]
  const add = (part: Argument) => stack.at(-1)?.push(part)
  for (const piece of pieces) {
    if (typeof piece !== 'string') {
      add(piece.literal)
      continue
    }
    for (const word of wordsOf(piece)) {
      if (word === '(') stack.push([])
      else if (word === ')') {
        const list = stack.pop()
        if (list === undefined || stack.length === 0)
          throw new BadCommand('A parenthesis is closed that was not opened.')
        add(list)
      } else add(word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : word)
    }
  }
  const [parts] = stack
  const [tag, name, ...rest] = parts ?? []
  if (stack.length !== 1) throw new BadCommand('A parenthesis is not closed.')
  if (typeof tag !== 'string' || typeof name !== 'string') throw new BadCommand('Expected a tag and a command.')
  return { tag, name: name.toUpperCase(), parts: rest }
}

/** A word may have a section in brackets, with blanks and parentheses of its own: BODY.PEEK[HEADER.FIELDS (FROM TO)]<0.10>. */
const WORD = /"(?:[^"\\]|\\.)*"|[()]|(?:[^\s()"[]|\[[^\]]*\])+/g

const wordsOf = (line: string): string[] => line.match(WORD) ?? []

/** The numbers of a set such as '1:3,7,9:*', as a test; `last` stands for '*'. */
export function numbersOf(set: Argument | undefined, last: number): (value: number) => boolean {
  if (typeof set !== 'string' || !/^(\d+|\*)(:(\d+|\*))?(,(\d+|\*)(:(\d+|\*))?)*$/.test(set))
    throw new BadCommand('Expected a set of numbers such as 1:3,7.')
  const number = (text: string): number => (text === '*' ? last : Number(text))
  const ranges = set.split(',').map((range) => {
    const [from = '', to = from] = range.split(':')
    return [number(from), number(to)].sort((a, b) => a - b) as [number, number]
  })
  return (value) => ranges.some(([from, to]) => value >= from && value <= to)
}
