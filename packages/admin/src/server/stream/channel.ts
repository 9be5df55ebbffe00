// One topic as it is told to everybody who follows it: one poller, however many listen, and none while nobody does.
import { randomBytes } from 'node:crypto'
import type { Millrace } from 'millrace'
import { problemOf } from '../problem.ts'
import type { Topic } from './topics.ts'

export interface Message {
  readonly kind: 'snapshot' | 'change' | 'error'
  /** Names what the listener has seen once it has this; null: nothing new. */
  readonly version: string | null
  readonly value: unknown
}

export type Listener = (message: Message) => void

/** Changes kept for listeners that come back after a drop. */
const KEPT = 100
const SLOWEST_MS = 30_000

export interface ChannelOptions {
  readonly millrace: Millrace
  readonly topic: Topic
  readonly tenants: readonly string[] | null
}

export class Channel {
  readonly #options: ChannelOptions
  readonly #listeners = new Set<Listener>()
  /** Another process, or another life of this channel, counts anew. */
  readonly #epoch = randomBytes(4).toString('hex')
  readonly #kept: { number: number; value: unknown }[] = []
  #number = 0
  #state: { value: unknown; text: string } | undefined
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #isPolling = false

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0
  }

  /** `since`: the version that the listener has seen. It gets what it missed, or a snapshot. */
  join(listener: Listener, since: string | undefined): void {
    this.#listeners.add(listener)
    this.#catchUp(listener, since)
    if (!this.#isPolling && this.#timer === undefined) void this.#poll()
  }

  leave(listener: Listener): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** All of it, for a listener that could not keep up. */
  snapshot(): Message | undefined {
    return this.#state && { kind: 'snapshot', version: this.#version(), value: this.#state.value }
  }

  #catchUp(listener: Listener, since: string | undefined): void {
    const [epoch, seen] = since?.split('-') ?? []
    const missed = epoch === this.#epoch ? this.#number - Number(seen) : Number.NaN
    if (missed === 0) return
    if (missed > 0 && missed <= this.#kept.length) {
      for (const { number, value } of this.#kept.slice(-missed))
        listener({ kind: this.#changeKind, version: `${this.#epoch}-${number}`, value })
      return
    }
    const whole = this.snapshot()
    if (whole !== undefined) listener(whole)
  }

  async #poll(): Promise<void> {
    const { topic, millrace, tenants } = this.#options
    this.#isPolling = true
    try {
      const value = await topic.read(millrace, tenants)
      this.#failures = 0
      this.#changed(value)
    } catch (error) {
      // Once for each series of failures: the listeners know then that what they have grows old.
      if (this.#failures++ === 0) this.#tell({ kind: 'error', version: null, value: problemOf(error).detail })
    }
    this.#isPolling = false
    if (this.#listeners.size === 0) return
    const delayMs = Math.min(SLOWEST_MS, topic.everyMs * 2 ** this.#failures)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#poll()
    }, delayMs)
    this.#timer.unref()
  }

  #changed(value: unknown): void {
    const text = JSON.stringify(value) ?? 'null'
    const before = this.#state
    if (before?.text === text) return
    this.#state = { value, text }
    if (before === undefined) {
      this.#tell({ kind: 'snapshot', version: this.#version(), value })
      return
    }
    const { change } = this.#options.topic
    const told = change === undefined ? value : change(before.value, value)
    if (told === undefined) return
    this.#number++
    this.#kept.push({ number: this.#number, value: told })
    if (this.#kept.length > KEPT) this.#kept.shift()
    this.#tell({ kind: this.#changeKind, version: this.#version(), value: told })
  }

  /** Without differences every change is the whole state. */
  get #changeKind(): 'snapshot' | 'change' {
    return this.#options.topic.change === undefined ? 'snapshot' : 'change'
  }

  #version(): string {
    return `${this.#epoch}-${this.#number}`
  }

  #tell(message: Message): void {
    for (const listener of this.#listeners) listener(message)
  }
}
