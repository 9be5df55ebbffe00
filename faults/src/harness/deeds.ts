// What the worker process does for a task, told to the history step by step.
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { JobContext } from 'millrace'
import type pg from 'pg'
import { itemOf, LARGE_RESULT } from './corpus.ts'
import type { Recorder, RunFact } from './history.ts'
import type { Task } from './tasks.ts'

export interface DeedServices {
  record: Recorder
  /** For effects outside transactions: straight to the server, never through a proxy. */
  effects: pg.Pool
  /** A file: while it is missing, 'hold' holds. */
  gate: string
}

const INSERT = 'insert into fault.effect (n, run_id, kind) values ($1, $2, $3)'

export function taskHandler(services: DeedServices): (task: Task, ctx: JobContext) => Promise<unknown> {
  return async (task, ctx) => {
    const tell = (what: RunFact['what'], more: Partial<RunFact> = {}) =>
      services.record({ what, n: task.n, id: ctx.jobId, run: ctx.runId, ...more })
    tell('started', { attempt: ctx.attempt })
    ctx.signal.addEventListener('abort', () => tell('aborted', { why: nameOf(ctx.signal.reason) }))
    try {
      const result = await perform(task, ctx, services)
      tell('ended')
      return result
    } catch (error) {
      tell('failed', { why: nameOf(error) })
      throw error
    }
  }
}

async function perform(task: Task, ctx: JobContext, services: DeedServices): Promise<unknown> {
  const ms = task.ms ?? 0
  const plainly = () => services.effects.query(INSERT, [task.n, ctx.runId, 'plain']).then(() => task.n)
  const inTransaction = (wait: () => Promise<unknown>) =>
    ctx.transaction(async (tx) => {
      await tx.query(INSERT, [task.n, ctx.runId, 'transactional'])
      await wait()
      return task.n
    })
  switch (task.does) {
    case 'plain':
    case 'ignore':
      if (ms > 0) await sleep(ms)
      return plainly()
    case 'heed':
      await sleep(ms, undefined, { signal: ctx.signal })
      return plainly()
    case 'transaction':
    case 'ignore-transaction':
      return inTransaction(() => sleep(ms))
    case 'hold':
      await gateOpened(services.gate)
      return plainly()
    case 'hold-transaction':
      return inTransaction(() => gateOpened(services.gate))
    case 'block':
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
      return plainly()
    case 'stumble':
      await sleep(ms)
      if (ctx.attempt === 1) throw new Error('stumbled')
      return plainly()
    case 'abort':
      return process.abort()
    case 'exhaust':
      return exhaustMemory()
    case 'kill':
      return process.kill(process.pid, 'SIGKILL')
    case 'carry':
      return carried(task, ctx, services)
    case 'answer':
      return itemOf(task.answers as string).make()
    case 'segfault':
      process.kill(process.pid, 'SIGSEGV')
      return sleep(1_000)
  }
}

function carried({ n, carries, value }: Task, ctx: JobContext, { record }: DeedServices): unknown {
  const item = itemOf(carries as string)
  const isExact = isDeepStrictEqual(value, item.arrives ?? item.make()) && !('polluted' in {})
  record({ what: 'effect', n, id: ctx.jobId, run: ctx.runId, why: isExact ? 'exact' : 'changed' })
  // Results have a lower limit than payloads.
  return JSON.stringify(value).length < LARGE_RESULT ? value : undefined
}

async function gateOpened(gate: string): Promise<void> {
  while (!existsSync(gate)) await sleep(20)
}

/** V8 ends the process when its heap limit is reached; nothing in it gets to say a word. */
function exhaustMemory(): never {
  const kept: number[][] = []
  for (;;) kept.push(new Array<number>(100_000).fill(kept.length))
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : String(thrown)
}
