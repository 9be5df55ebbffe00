import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { defineJob, defineQueues, type JobContract } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { RetryAfter } from '#src/contract/outcome'
import { IsolatedCrash, LeaseLost, MillraceError, TimedOut, Unrecoverable, WorkerStopping } from '#src/errors'
import { RunningContext } from '#src/worker/context'
import { decodeThrown, encodeThrown } from '#src/worker/isolation/encoding'
import { IsolatedPool, type PoolSettings } from '#src/worker/isolation/pool'
import { planLanes } from '#src/worker/lane-plan'
import { Run } from '#src/worker/run'
import { CancelRequested } from '#src/worker/verdict'
import { eventually, silent } from '../support/setup.ts'

const task = defineJob({
  type: 'task',
  queue: defineQueues({ default: {} }).default,
  payload: z.looseObject({ does: z.string() }),
})

/** A pool with no database behind it: these handlers need none. */
function poolOf(type: string, settings: Partial<PoolSettings> = {}) {
  const module = new URL('./fixtures/deeds.js', import.meta.url)
  const connection = { host: 'nowhere.invalid' }
  const plan = { type, module, memoryMb: 64, warm: 1, idleMs: 60_000, maxRuns: 100, connection, schema: 'millrace' }
  const pool = new IsolatedPool({ ...plan, ...settings }, silent)
  return {
    pool,
    async run(does: string): Promise<unknown> {
      const { run, payload, context } = workFor(task, does)
      const handler = await pool.handlerFor(run, systemClock)
      return handler(payload, context)
    },
    [Symbol.asyncDispose]: () => pool.close(),
  }
}

function workFor(contract: JobContract, does: string) {
  const job = { id: '1', type: contract.type, queue: 'default', attempt: 1, correlationId: 'c' }
  const fields = { runId: randomUUID(), contract, lane: planLanes({}, [contract])[0], place: 0, claimedAtMs: 0 }
  const run = new Run(job as never, fields as never)
  return { run, payload: { does }, context: new RunningContext(run, { logger: silent } as never) }
}

function processesOf(type: string): string[] {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine)
  return lines.filter((line) => line.includes('/child-main.js') && line.includes(`\0${type}\0`))
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

test('a process is used again, and replaced after so many runs', async () => {
  await using p = poolOf('recycled', { maxRuns: 3 })
  await p.pool.start()
  const pids: unknown[] = []
  for (let i = 0; i < 7; i++) pids.push(await p.run('pid'))
  const [first, , , second, , , third] = pids
  expect(pids).toEqual([first, first, first, second, second, second, third])
  expect(new Set(pids).size).toBe(3)
})

test('a process is replaced after a crash, without waiting for the next job', async () => {
  await using p = poolOf('replaced')
  await p.pool.start()
  const before = await p.run('pid')
  await expect(p.run('exit')).rejects.toBeInstanceOf(IsolatedCrash)
  await eventually(async () => p.pool.size === 1)
  expect(await p.run('pid')).not.toBe(before)
})

test('a process that kept too much is not used again', async () => {
  await using p = poolOf('bloated')
  const before = await p.run('pid')
  await p.run('keep-buffers')
  expect(await p.run('pid')).not.toBe(before)
})

test('as many processes are started as there are runs at once, and the surplus is ended when it is idle', async () => {
  await using p = poolOf('surplus', { idleMs: 100 })
  await p.pool.start()
  expect(p.pool.size).toBe(1)
  const pids = await Promise.all([p.run('pid'), p.run('pid'), p.run('pid')])
  expect(new Set(pids).size).toBe(3)
  await eventually(async () => p.pool.size === 1)
  expect(processesOf('surplus')).toHaveLength(1)
})

test('starts and stops, most of them halfway, leave no process behind', async () => {
  const cycle = async (n: number) => {
    await using p = poolOf('cycled')
    const started = p.pool.start().catch(() => {})
    // Most are stopped while they start.
    if (n % 5 === 0) await started
    if (n % 10 === 0) expect(await p.run('pid')).toBeGreaterThan(0)
  }
  for (let round = 0; round < 5; round++) await Promise.all([0, 1, 2, 3].map((i) => cycle(round * 4 + i)))
  expect(processesOf('cycled')).toEqual([])
})

test.each([
  new TimedOut('task', 100),
  new CancelRequested(),
  new WorkerStopping(),
  new LeaseLost('it was ended by a rescuer'),
  new Unrecoverable('never'),
  new RetryAfter('90s'),
])('$name is recognised in the other process', (error) => {
  const received = decodeThrown(structuredClone(encodeThrown(error))) as Error
  expect(received).toBeInstanceOf(error.constructor)
  expect(received).toMatchObject({ ...error, name: error.name, message: error.message, stack: error.stack })
  expect(received instanceof MillraceError).toBe(error instanceof MillraceError)
})

test('what cannot be told of an error is left out, and the rest arrives', () => {
  const error = Object.assign(new Error('odd'), { status: 503, retry: () => {} })
  expect(decodeThrown(structuredClone(encodeThrown(error)))).toMatchObject({ message: 'odd', status: 503 })
  const hostile = new Proxy(new Error('x'), {
    get: () => {
      throw new Error('no')
    },
  })
  expect(decodeThrown(structuredClone(encodeThrown(hostile)))).toMatchObject({ name: 'Unprintable' })
})

test('a result too large to be sent is refused in its process, and the next run finds it ready', async () => {
  await using p = poolOf('flooding')
  await p.pool.start()
  const pid = await p.run('pid')
  await expect(p.run('huge')).rejects.toThrow(/it has \d+ bytes, 1048576 is the most/)
  expect(await p.run('pid')).toBe(pid)
})

test('an error with too much in it arrives without its fields', async () => {
  await using p = poolOf('flooding-error')
  await p.pool.start()
  const error = await p.run('huge-error').catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'OutOfPaper', message: 'tray 2 is empty' })
  expect(error).not.toHaveProperty('pages')
})

test('a process that was killed while it was idle is replaced', async () => {
  await using p = poolOf('killed-idle')
  await p.pool.start()
  const pid = Number(await p.run('pid'))
  process.kill(pid, 'SIGKILL')
  const next = await eventually(async () => {
    const other = await p.run('pid').catch(() => pid)
    return other !== pid && other
  })
  expect(next).toEqual(expect.any(Number))
  expect(p.pool.size).toBe(1)
})

test('a process that ends before its first run is not started again and again', async () => {
  await using p = poolOf('short-lived', { module: new URL('./fixtures/short-lived.js', import.meta.url) })
  await p.pool.start()
  await eventually(async () => p.pool.size === 0)
  expect(processesOf('short-lived')).toEqual([])
})

test('a closed pool starts nothing', async () => {
  const { pool, run } = poolOf('closed')
  await pool.close()
  await expect(pool.start()).rejects.toBeInstanceOf(WorkerStopping)
  await expect(run('pid')).rejects.toBeInstanceOf(WorkerStopping)
  expect(processesOf('closed')).toEqual([])
})
