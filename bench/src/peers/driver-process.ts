// The side of the parent: a child process that runs one driver, asked for one thing at a time.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { CannotMeasure } from '../suite.ts'
import type { Answer, Request } from './driver.ts'

export interface DriverPlan {
  /** As the report calls it: every error begins with it. */
  readonly name: string
  readonly module: string
  readonly args: readonly string[]
  readonly node: string
  /** A command that takes longer than this hangs. */
  readonly timeoutMs: number
}

type Command = Request['command']
interface Pending {
  resolve(result: unknown): void
  reject(error: Error): void
}

const KEPT_OUTPUT = 4_000

export class DriverProcess implements AsyncDisposable {
  readonly #plan: DriverPlan
  readonly #child: ChildProcess
  readonly #pending = new Map<number, Pending>()
  #onJob: Pending | undefined
  #output = ''
  #lastId = 0
  #ended: CannotMeasure | undefined

  constructor(plan: DriverPlan) {
    this.#plan = plan
    this.#child = fork(plan.module, plan.args, { execPath: plan.node, execArgv: [], stdio: 'pipe' })
    this.#child.on('message', (answer: Answer) => this.#receive(answer))
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#output = (this.#output + chunk).slice(-KEPT_OUTPUT)
      })
    }
    this.#child.once('error', (error) => this.#end(this.#failure(`could not be started: ${error.message}`)))
    // After 'close' everything it wrote has arrived.
    this.#child.once('close', (code, signal) => this.#end(this.#failure(`ended with ${signal ?? `code ${code}`}`)))
  }

  async ask(command: Command, jobs = 0): Promise<unknown> {
    if (this.#ended) throw this.#ended
    const id = ++this.#lastId
    const answered = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
    this.#child.send({ id, command, jobs } satisfies Request)
    return await this.#withinTime(answered, command)
  }

  /** When the next job starts, by the clock that all drivers share. */
  async nextJob(): Promise<number> {
    const started = new Promise<unknown>((resolve, reject) => {
      this.#onJob = { resolve, reject }
    })
    return (await this.#withinTime(started, 'run a job')) as number
  }

  /** Ends it at once; whoever waits for an answer is told why. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) return
    const closed = once(this.#child, 'close')
    this.#end(new CannotMeasure(`${this.#plan.name}: the run is over`))
    this.#child.kill('SIGKILL')
    await closed
  }

  async #withinTime<T>(answer: Promise<T>, doing: string): Promise<T> {
    const { timeoutMs } = this.#plan
    let timer: NodeJS.Timeout | undefined
    const expired = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#failure(`did not ${doing} within ${timeoutMs / 1_000} s`)), timeoutMs)
    })
    try {
      return await Promise.race([answer, expired])
    } finally {
      clearTimeout(timer)
    }
  }

  #receive(answer: Answer): void {
    if ('startedAt' in answer) {
      this.#onJob?.resolve(answer.startedAt)
      return
    }
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if ('error' in answer) pending?.reject(this.#failure(`failed: ${answer.error}`))
    else pending?.resolve(answer.result)
  }

  #end(error: CannotMeasure): void {
    this.#ended ??= error
    for (const { reject } of [...this.#pending.values(), ...(this.#onJob ? [this.#onJob] : [])]) reject(this.#ended)
    this.#pending.clear()
  }

  #failure(what: string): CannotMeasure {
    const output = this.#output.trim()
    return new CannotMeasure(`${this.#plan.name}: the driver ${what}${output === '' ? '' : `\nit said: ${output}`}`)
  }
}
