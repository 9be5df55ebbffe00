// `millrace top` on a terminal: reads every few seconds, draws, and does what keys ask for.
//
// It uses the terminal's alternate screen, so that what was there before is back when it ends, however it ends.
import type { Millrace } from 'millrace'
import { jobText, lookAt } from '../commands/job.ts'
import { safeLines } from '../terminal.ts'
import { type Reading, read } from './reading.ts'
import { choicesOf, screen } from './screen.ts'

export interface LiveOptions {
  readonly millrace: Millrace
  readonly database: string
  readonly intervalMs: number
  /** Who pauses and resumes. */
  readonly by: string
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
}

const ENTER_SCREEN = '\x1b[?1049h\x1b[?25l'
const LEAVE_SCREEN = '\x1b[?25h\x1b[?1049l'
const HOME = '\x1b[H'
/** Clears to the end of the line, and what is below. */
const CLEAR_LINE = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'

export class LiveTop {
  readonly #options: LiveOptions
  #reading: Reading | undefined
  #chosen = 0
  #notice = ''
  /** The text of a job that was opened; undefined: the overview. */
  #opened: string | undefined
  #isReading = false
  #timer: NodeJS.Timeout | undefined
  #quit: () => void = () => {}

  constructor(options: LiveOptions) {
    this.#options = options
  }

  /** Until a person quits. */
  async run(): Promise<void> {
    const { input, output, intervalMs } = this.#options
    const ended = new Promise<void>((resolve) => {
      this.#quit = resolve
    })
    const onKey = (chunk: Buffer | string) => void this.#press(String(chunk))
    const onResize = () => this.#draw()
    output.write(ENTER_SCREEN)
    input.setRawMode?.(true)
    input.on('data', onKey).resume()
    output.on('resize', onResize)
    this.#timer = setInterval(() => void this.#read(), intervalMs)
    try {
      await this.#read()
      await ended
    } finally {
      clearInterval(this.#timer)
      input.off('data', onKey).pause()
      output.off('resize', onResize)
      input.setRawMode?.(false)
      output.write(LEAVE_SCREEN)
    }
  }

  async #read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      this.#reading = await read(this.#options.millrace)
      const last = Math.max(0, choicesOf(this.#reading).length - 1)
      this.#chosen = Math.min(this.#chosen, last)
    } catch (error) {
      this.#notice = `The last reading failed, and the figures are old: ${messageOf(error)}`
    }
    this.#isReading = false
    this.#draw()
  }

  async #press(key: string): Promise<void> {
    if (key === 'q' || key === '\x03' || key === '\x04') return this.#quit()
    if (this.#opened !== undefined) {
      this.#opened = undefined
      return this.#draw()
    }
    this.#notice = ''
    if (key === '\x1b[A' || key === 'k') this.#chosen = Math.max(0, this.#chosen - 1)
    if (key === '\x1b[B' || key === 'j') this.#chosen = Math.min(this.#choices.length - 1, this.#chosen + 1)
    if (key === 'p') await this.#pauseOrResume()
    if (key === '\r' || key === '\n' || key === 'o') await this.#open()
    if (key === 'r' || key === 'p') await this.#read()
    this.#draw()
  }

  async #pauseOrResume(): Promise<void> {
    const choice = this.#choices[this.#chosen]
    if (choice === undefined || !('queue' in choice)) {
      this.#notice = 'Choose a queue with the arrow keys to pause it.'
      return
    }
    const { millrace, by } = this.#options
    const { queue, pauses } = choice.queue
    try {
      if (pauses.length === 0) {
        await millrace.pauses.pause({ queue }, { by, reason: 'paused in millrace top' })
        this.#notice = `${queue} is paused: what runs goes on, nothing more is taken. p again to resume.`
        return
      }
      const { others } = await millrace.pauses.resume({ queue }, { by })
      this.#notice =
        others.length === 0
          ? `${queue} goes on.`
          : `Still paused by ${others.map((each) => each.by).join(', ')}: millrace resume --queue ${queue} --all`
    } catch (error) {
      this.#notice = messageOf(error)
    }
  }

  async #open(): Promise<void> {
    const choice = this.#choices[this.#chosen]
    if (choice === undefined || !('jobId' in choice)) {
      this.#notice = 'Choose a running job with the arrow keys to open it; any other: millrace job ID'
      return
    }
    const { millrace } = this.#options
    try {
      this.#opened = await jobText(millrace, await lookAt(millrace, choice.jobId))
    } catch (error) {
      this.#notice = messageOf(error)
    }
  }

  get #choices() {
    return this.#reading === undefined ? [] : choicesOf(this.#reading)
  }

  #draw(): void {
    if (this.#reading === undefined) return
    const { database, intervalMs, output } = this.#options
    const size = { columns: output.columns || 100, rows: output.rows || 40 }
    const lines =
      this.#opened === undefined
        ? screen({ reading: this.#reading, database, intervalMs, chosen: this.#chosen, notice: this.#notice }, size)
        : [...this.#opened.split('\n').slice(0, size.rows - 1), 'any key: back   q quit']
    const shown = lines.map((line) => `${safeLines(line).slice(0, size.columns)}${CLEAR_LINE}`)
    output.write(`${HOME}${shown.join('\r\n')}${CLEAR_BELOW}`)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
