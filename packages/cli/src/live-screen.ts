// A screen that is drawn again in place. It is the terminal's alternate one, so that what was there before is back when it ends,
// however it ends.
import { cutTo, painted } from './colours.ts'
import { safeLines } from './terminal.ts'

export interface Terminal {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
}

interface Heard {
  onKey(key: string): void
  onResize(): void
}

const ENTER = '\x1b[?1049h\x1b[?25l'
const LEAVE = '\x1b[?25h\x1b[?1049l'
const HOME = '\x1b[H'
/** Clears to the end of the line, and what is below. */
const CLEAR_LINE = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'

export class LiveScreen {
  readonly #terminal: Terminal
  readonly #onKey: (chunk: Buffer | string) => void
  readonly #onResize: () => void

  constructor(terminal: Terminal, { onKey, onResize }: Heard) {
    this.#terminal = terminal
    this.#onKey = (chunk) => onKey(String(chunk))
    this.#onResize = onResize
  }

  open(): void {
    const { input, output } = this.#terminal
    output.write(ENTER)
    input.setRawMode?.(true)
    input.on('data', this.#onKey).resume()
    output.on('resize', this.#onResize)
  }

  get size(): { columns: number; rows: number } {
    const { columns, rows } = this.#terminal.output
    return { columns: columns || 100, rows: rows || 40 }
  }

  /** In one write, over what stands there: a screen that is cleared first would flicker. */
  draw(lines: readonly string[]): void {
    const { columns } = this.size
    const shown = lines.map((line) => `${painted(cutTo(safeLines(line), columns))}${CLEAR_LINE}`)
    this.#terminal.output.write(`${HOME}${shown.join('\r\n')}${CLEAR_BELOW}`)
  }

  close(): void {
    const { input, output } = this.#terminal
    input.off('data', this.#onKey).pause()
    output.off('resize', this.#onResize)
    input.setRawMode?.(false)
    output.write(LEAVE)
  }
}

export const isQuit = (key: string): boolean => key === 'q' || key === '\x03' || key === '\x04'
