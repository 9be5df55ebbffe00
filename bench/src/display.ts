// Progress on stderr: lines that stay, and what is being done right now. In a terminal that is one line which updates
// itself; elsewhere a plain line, at most one every ten seconds.
import { performance } from 'node:perf_hooks'
import type { WriteStream } from 'node:tty'

const PLAIN_EVERY_MS = 10_000
const CLEAR_LINE = '\r\u001b[2K'

export interface Display extends Disposable {
  line(message: string): void
  step(message: string): void
}

export function openDisplay(stream: WriteStream): Display {
  return stream.isTTY ? new TerminalDisplay(stream) : new PlainDisplay(stream)
}

class PlainDisplay implements Display {
  readonly #stream: NodeJS.WritableStream
  #steppedAt = Number.NEGATIVE_INFINITY

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream
  }

  line(message: string): void {
    this.#stream.write(`${message}\n`)
  }

  step(message: string): void {
    if (performance.now() - this.#steppedAt < PLAIN_EVERY_MS) return
    this.#steppedAt = performance.now()
    this.line(`  ${message}`)
  }

  [Symbol.dispose](): void {}
}

class TerminalDisplay implements Display {
  readonly #stream: WriteStream
  readonly #timer: NodeJS.Timeout
  #step = ''
  #since = 0

  constructor(stream: WriteStream) {
    this.#stream = stream
    this.#timer = setInterval(() => this.#show(), 1_000)
    this.#timer.unref()
  }

  line(message: string): void {
    this.#stream.write(`${CLEAR_LINE}${message}\n`)
    this.#step = ''
  }

  step(message: string): void {
    this.#step = message
    this.#since = performance.now()
    this.#show()
  }

  #show(): void {
    if (this.#step === '') return
    const seconds = Math.floor((performance.now() - this.#since) / 1_000)
    const text = seconds === 0 ? `${this.#step} …` : `${this.#step} … ${seconds} s`
    this.#stream.write(CLEAR_LINE + text.slice(0, this.#stream.columns - 1))
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    if (this.#step !== '') this.#stream.write(CLEAR_LINE)
  }
}
