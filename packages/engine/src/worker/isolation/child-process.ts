// The worker's end of one process that runs an isolated handler: one job at a time, and it can be killed at any moment.
//
// It leads a process group of its own. So a Ctrl-C in the terminal reaches only the worker, which then decides, and a
// kill takes along whatever the handler has started. It does not outlive the worker: see child-main.ts.
import { type ChildProcess, fork } from 'node:child_process'
import type { ClientConfig } from 'pg'
import { after, monotonicMs, within } from '../../clock.ts'
import { InvalidDefinition, IsolatedCrash, type ProcessEnd } from '../../errors.ts'
import { passwordOf, sentConnection } from '../../store/connection-config.ts'
import { decodeThrown, encodeThrown, type SentEnding } from './encoding.ts'
import { residentMb } from './memory.ts'
import type { AboutRun, FromChild, RunRequest, ToChild } from './protocol.ts'

export interface ChildPlan {
  type: string
  module: URL
  memoryMb: number
  connection: ClientConfig
  schema: string
  tenantRole?: string | undefined
}

/** For Node itself, its code and the young generation, beyond the heap limit. */
const HEADROOM_MB = 128
const MEMORY_WATCH_MS = 100
const START_DEADLINE_MS = 30_000
/** An idle process that was told to stop gets this long to close its connection. */
const STOP_DEADLINE_MS = 1_000
/** What the dead have said is read for so long: something that escaped the group may hold the pipes open. */
const LAST_WORDS_MS = 250
const OUT_OF_HEAP = 'heap out of memory'

type Hear = (message: AboutRun) => void

export class IsolatedChild {
  /** Its module is loaded. Rejects when it cannot be, or when the process ends first. */
  readonly ready: Promise<void>
  /** Resolves when the process is gone and everything it said was heard. */
  readonly exited: Promise<void>
  runs = 0
  idleSinceMs = monotonicMs()
  isReady = false
  readonly #plan: ChildPlan
  readonly #process: ChildProcess
  #settleReady: { resolve: () => void; reject: (error: unknown) => void } | undefined
  #hear: Hear | undefined
  #onExit: ((end: ProcessEnd) => void) | undefined
  /** It has exited, though its last words may still be read. */
  isGone = false
  /** It was told to end. */
  isStopping = false
  #isBeyondLimit = false
  #saidOutOfHeap = false
  #uncaught: unknown
  #stderrTail = ''

  constructor(plan: ChildPlan) {
    this.#plan = plan
    this.#process = start(plan)
    this.#process.on('message', (message) => this.#receive(message as FromChild))
    this.#process.stderr?.on('data', (chunk: Buffer) => this.#passOn(chunk))
    this.ready = new Promise<void>((resolve, reject) => {
      this.#settleReady = { resolve, reject }
    })
    this.ready.catch(() => {})
    const stopWaiting = after(START_DEADLINE_MS, () => this.isReady || this.#giveUpStart())
    this.exited = this.#untilExit().then((end) => {
      stopWaiting()
      const crash = new IsolatedCrash(plan.type, end)
      this.#settleReady?.reject(crash)
      this.#onExit?.(end)
    })
    const { connection, schema, tenantRole, module } = plan
    this.send({ kind: 'start', module: module.href, connection: sentConnection(connection), schema, tenantRole })
  }

  /** Has it done enough, or kept so much that whoever runs next in it would have to pay? */
  isSpentAfter(maxRuns: number): boolean {
    return this.isGone || this.runs >= maxRuns || this.#isBeyond(HEADROOM_MB / 2)
  }

  /** Calls the handler. Rejects with IsolatedCrash when the process ends before it has. */
  async call(request: RunRequest, hear: Hear): Promise<SentEnding> {
    this.runs++
    const memoryWatch = setInterval(() => this.#watchMemory(), MEMORY_WATCH_MS)
    try {
      return await new Promise<SentEnding>((resolve, reject) => {
        this.#onExit = (end) => reject(new IsolatedCrash(this.#plan.type, end))
        if (this.isGone) this.#onExit(this.#end())
        this.#hear = (message) => {
          if (message.runId !== request.facts.runId) return
          if (message.kind === 'ended') resolve(message.ending)
          else hear(message)
        }
        this.send({ kind: 'run', request })
      })
    } finally {
      clearInterval(memoryWatch)
      this.#hear = undefined
      this.#onExit = undefined
    }
  }

  /** Throws only when the message cannot be cloned; a process that is gone is told nothing. */
  send(message: ToChild): void {
    this.#process.send?.(message, () => {})
  }

  /** SIGKILL for the whole group. */
  kill(): void {
    this.isStopping = true
    const { pid } = this.#process
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // Gone already.
    }
  }

  /** In order, if it can: an idle process closes its connection first. */
  async stop(): Promise<void> {
    this.isStopping = true
    this.send({ kind: 'stop' })
    await within(STOP_DEADLINE_MS, this.exited)
    if (!this.isGone) this.kill()
    await this.exited
  }

  #receive(message: FromChild): void {
    switch (message.kind) {
      case 'ready':
        this.isReady = true
        this.#settleReady?.resolve()
        break
      case 'unusable':
        this.#settleReady?.reject(unusable(this.#plan, message.problem))
        this.kill()
        break
      case 'password':
        void this.#tellPassword(message.ask)
        break
      case 'uncaught':
        this.#uncaught = decodeThrown(message.error)
        break
      default:
        this.#hear?.(message)
    }
  }

  async #tellPassword(ask: number): Promise<void> {
    const answer = await passwordOf(this.#plan.connection).then(
      (value): ToChild => ({ kind: 'answer', ask, value }),
      (error): ToChild => ({ kind: 'refused', ask, error: encodeThrown(error) }),
    )
    this.send(answer)
  }

  #giveUpStart(): void {
    this.#uncaught = new Error(`its module was not loaded within ${START_DEADLINE_MS} ms`)
    this.kill()
  }

  async #untilExit(): Promise<ProcessEnd> {
    const child = this.#process
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', (error) => {
        if (child.pid !== undefined) return
        this.#uncaught = error
        resolve()
      })
    })
    this.isGone = true
    this.kill()
    if (child.pid !== undefined) await within(LAST_WORDS_MS, closed)
    return this.#end()
  }

  #end(): ProcessEnd {
    const { exitCode, signalCode: signal } = this.#process
    const isOutOfMemory = this.#isBeyondLimit || (this.#saidOutOfHeap && signal !== null)
    return {
      exitCode,
      signal,
      memoryLimitMb: isOutOfMemory ? this.#plan.memoryMb : null,
      uncaught: this.#uncaught,
    }
  }

  #isBeyond(headroomMb: number): boolean {
    const { pid } = this.#process
    return pid !== undefined && (residentMb(pid) ?? 0) > this.#plan.memoryMb + headroomMb
  }

  #watchMemory(): void {
    if (!this.#isBeyond(HEADROOM_MB)) return
    this.#isBeyondLimit = true
    this.kill()
  }

  /** V8 says only on stderr that it gave up for lack of memory. */
  #passOn(chunk: Buffer): void {
    process.stderr.write(chunk)
    const text = this.#stderrTail + chunk.toString('latin1')
    this.#saidOutOfHeap ||= text.includes(OUT_OF_HEAP)
    this.#stderrTail = text.slice(-OUT_OF_HEAP.length)
  }
}

function start({ type, memoryMb }: ChildPlan): ChildProcess {
  return fork(new URL('./child-main.js', import.meta.url), [type, String(process.pid)], {
    // The last one counts. Loaders and source maps of the worker apply in the process too; its debugger does not.
    execArgv: [...inherited(process.execArgv), `--max-old-space-size=${memoryMb}`],
    serialization: 'advanced',
    detached: true,
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
}

function inherited(execArgv: readonly string[]): string[] {
  return execArgv.filter((argument, i) => {
    const isScript = /^(-e|--eval|-p|--print|-pe)$/
    const isForScript = /^--(inspect|eval=|print=|input-type)/
    return !isForScript.test(argument) && !isScript.test(argument) && !isScript.test(execArgv[i - 1] ?? '')
  })
}

function unusable({ type, module }: ChildPlan, problem: string): InvalidDefinition {
  return new InvalidDefinition(
    `The isolated handler of job "${type}" cannot be used: ${module.href} ${problem}. Its default export must be the handler.`,
  )
}
