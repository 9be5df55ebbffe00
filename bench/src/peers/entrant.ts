// A contestant in the run: its two processes, and the four things that are measured on them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { percentile } from '../figures.ts'
import type { Contestant } from './contestants.ts'
import type { Description, Figures } from './document.ts'
import type { Target } from './driver.ts'
import { DriverProcess } from './driver-process.ts'

export const kinds = ['drain', 'bulk', 'single16', 'latency'] as const
export type Kind = (typeof kinds)[number]

const COMMAND_TIMEOUT_MS = 120_000
/** pg-boss's defaults leave a job for up to two seconds. */
const LATENCY_MS = 4_000
const MAX_SAMPLES = 100

export class Entrant implements AsyncDisposable {
  readonly contestant: Contestant
  readonly #bench: Bench
  readonly #worker: DriverProcess
  /** Another process than the worker's, as in production: waking each other is part of what is measured. */
  readonly #producer: DriverProcess

  constructor(contestant: Contestant, { bench, redisUrl, node }: { bench: Bench; redisUrl: string; node: string }) {
    const { name, module, profile, store } = contestant
    const target: Target = { profile, databaseUrl: bench.databaseUrl, redisUrl }
    const plan = { name, module, node, args: [JSON.stringify(target), store], timeoutMs: COMMAND_TIMEOUT_MS }
    this.contestant = contestant
    this.#bench = bench
    this.#worker = new DriverProcess(plan)
    this.#producer = new DriverProcess(plan)
  }

  async install(): Promise<Description> {
    await this.#worker.ask('install')
    const { note } = this.contestant
    return { ...((await this.#worker.ask('describe')) as Description), ...(note && { note }) }
  }

  /** `scale` is less than 1 to warm up. */
  async measure(kind: Kind, scale: number): Promise<Partial<Figures>> {
    if (kind === 'drain') return { drain: await this.#drain(scale) }
    return kind === 'latency' ? await this.#latency(scale) : { [kind]: await this.#write(kind, scale) }
  }

  async #drain(scale: number): Promise<number> {
    const { pool, options } = this.#bench
    const jobs = Math.max(1, Math.round(options.jobs * this.contestant.backlog * scale))
    await this.#producer.ask('reset')
    await this.#producer.ask('fill', jobs)
    if (this.contestant.store === 'postgres') {
      await pool.query('vacuum analyze')
      await pool.query('checkpoint')
    }
    return (await this.#worker.ask('drain', jobs)) as number
  }

  async #write(how: 'bulk' | 'single16', scale: number): Promise<number> {
    await this.#producer.ask('reset')
    return (await this.#producer.ask(how, Math.ceil(this.#bench.options.jobs * scale))) as number
  }

  /** Milliseconds from just before the enqueue to the start of the handler, one job at a time and pauses in between. */
  async #latency(scale: number): Promise<Partial<Figures>> {
    const samples = Math.max(3, Math.min(MAX_SAMPLES, this.#bench.options.jobs / 100) * scale)
    await this.#producer.ask('reset')
    await this.#worker.ask('listen')
    await this.#producer.ask('open')
    const waits: number[] = []
    const until = performance.now() + LATENCY_MS
    // The first one opens connections.
    for (let n = 0; n <= samples && (n < 3 || performance.now() < until); n++) {
      const started = this.#worker.nextJob()
      const asked = this.#producer.ask('add', n)
      const [startedAt, askedAt] = await Promise.all([started, asked])
      if (n > 0) waits.push(startedAt - (askedAt as number))
      // Idle again, and never in step with anybody's timers.
      await sleep(15 + Math.random() * 20)
    }
    await this.#worker.ask('close')
    await this.#producer.ask('close')
    return { latencyP50: percentile(waits, 0.5), latencyP99: percentile(waits, 0.99) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#worker[Symbol.asyncDispose](), this.#producer[Symbol.asyncDispose]()])
  }
}
