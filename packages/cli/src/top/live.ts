// `millrace top` on a terminal: reads every few seconds, draws, and does what keys ask for.
import type { Millrace } from 'millrace'
import { jobText, lookAt } from '../commands/job.ts'
import { isQuit, LiveScreen } from '../live-screen.ts'
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
  readonly #screen: LiveScreen

  constructor(options: LiveOptions) {
    this.#options = options
    this.#screen = new LiveScreen(options, {
      onKey: (key) => void this.#press(key),
      onResize: () => this.#draw(),
    })
  }

  /** Until a person quits. */
  async run(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#quit = resolve
    })
    this.#screen.open()
    this.#timer = setInterval(() => void this.#read(), this.#options.intervalMs)
    try {
      await this.#read()
      await ended
    } finally {
      clearInterval(this.#timer)
      this.#screen.close()
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
    if (isQuit(key)) return this.#quit()
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
    const { database, intervalMs } = this.#options
    const { size } = this.#screen
    const lines =
      this.#opened === undefined
        ? screen({ reading: this.#reading, database, intervalMs, chosen: this.#chosen, notice: this.#notice }, size)
        : [...this.#opened.split('\n').slice(0, size.rows - 1), 'any key: back   q quit']
    this.#screen.draw(lines)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
