import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  defineJob,
  defineQueues,
  type EnqueueOptions,
  type Implementation,
  type Isolation,
  implement,
  type JobContract,
  type Logger,
  type Millrace,
} from 'millrace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, type Setup, setup, silent } from '../support/setup.ts'

const queues = defineQueues({ default: { concurrency: 2 } })
const payload = z.looseObject({ does: z.string() })
const retry = { attempts: 2, backoff: () => 3_600_000 }
// The database's address, which the module has no other way to know.
const allowSecrets = ['url']
const isolated = defineJob({ type: 'isolated', queue: queues.default, payload, allowSecrets, retry })
const hasty = defineJob({ type: 'hasty', queue: queues.default, payload, allowSecrets, retry, timeout: '1500ms' })
const booking = defineJob({
  type: 'booking',
  queue: queues.default,
  payload,
  retry,
  result: z.object({ booked: z.boolean() }),
})

const fixture = (name: string): URL => new URL(`./fixtures/${name}`, import.meta.url)
const inProcess = (options: Partial<Isolation> = {}): Isolation => ({
  isolation: 'process',
  module: fixture('deeds.js'),
  ...options,
})

const directory = mkdtempSync(join(tmpdir(), 'millrace-isolation-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0
const newFile = (): string => join(directory, String(files++))
const textOf = (file: string): Promise<string> =>
  eventually(async () => existsSync(file) && readFileSync(file, 'utf8') !== '' && readFileSync(file, 'utf8'))

/** Also true for the dead that nobody has buried yet. */
function isGone(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

const untilGone = (pid: number): Promise<true> => eventually(async () => isGone(pid), 5_000)

/** The processes that run handlers of this type. */
function processesOf(type: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    try {
      const [, , ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return words.some((word) => word.endsWith('/child-main.js')) && words.includes(type) && !isGone(pid)
    } catch {
      return false
    }
  })
}

/** One job that fails its attempt, in a worker that then still works. */
async function failure(t: Setup, does: string, options?: Partial<Isolation>) {
  const { millrace } = await t.working([implement(isolated, inProcess(options))])
  const { id } = await millrace.enqueue(isolated, { does })
  const { failure } = await jobEvent(millrace, 'job_retry_scheduled', id)
  const next = await millrace.enqueue(isolated, { does: 'nothing' })
  await jobEvent(millrace, 'job_completed', next.id)
  expect(await millrace.job(id)).toMatchObject({ attempt: 1, crashes: 0 })
  return failure
}

/** One job that is under way in its process. */
async function underWay(t: Setup, does: string, options: { grace?: number } = {}) {
  const file = newFile()
  const { millrace, worker } = await t.working([implement(isolated, inProcess())], {
    gracePeriod: options.grace ?? 0,
  })
  const { id } = await millrace.enqueue(isolated, { does, file, url: t.url })
  return { millrace, worker, id, file, pid: Number(await textOf(file)) }
}

describe('an isolated handler', () => {
  const dated = defineJob({
    type: 'dated',
    queue: queues.default,
    payload: z.object({ does: z.string(), at: z.iso.datetime().transform((at) => new Date(at)) }),
  })
  const odd = defineJob({
    type: 'odd',
    queue: queues.default,
    payload: payload.transform((value) => ({ ...value, act: () => {} })),
  })
  const backoff = ({ error }: { error: unknown }) => (error as { tray: number }).tray * 3_600_000
  const printing = defineJob({ type: 'printing', queue: queues.default, payload, allowSecrets, retry: { backoff } })
  const everyType = [isolated, booking, dated, odd, printing] as const
  let t: Setup
  let millrace: Millrace

  beforeAll(async () => {
    t = await setup()
    const handlers = everyType.map((contract) => implement(contract as JobContract, inProcess({ warm: 0 })))
    millrace = (await t.working(handlers)).millrace
  })

  afterAll(() => t[Symbol.asyncDispose]())

  /** One job through to its end. */
  async function returned(does: string, more: object = {}, options: EnqueueOptions = {}) {
    const { id } = await millrace.enqueue(isolated, { does, ...more }, options)
    const { job } = await jobEvent(millrace, 'job_completed', id)
    return { id, runId: job.runId, result: (await millrace.job(id))?.result }
  }

  test('gets its payload and returns its result', async () => {
    const sent = { list: [1, { deep: null }] }
    expect(await returned('echo', sent)).toMatchObject({ result: { does: 'echo', ...sent } })
  })

  test('gets the same context as any handler', async () => {
    const options = { tenant: 'acme', correlationId: 'order-7', createdBy: 'ann' }
    const { id, runId, result } = await returned('context', {}, options)
    expect(result).toEqual({
      jobId: id,
      type: 'isolated',
      queue: 'default',
      tenant: 'acme',
      attempt: 1,
      maxAttempts: 2,
      correlationId: 'order-7',
      parentJobId: null,
      workflowId: null,
      createdBy: 'ann',
      runId,
      traceParent: null,
      traceId: null,
      payload: { does: 'context' },
      isAborted: false,
    })
  })

  test('gets the payload as the schema transforms it', async () => {
    const { id } = await millrace.enqueue(dated, { does: 'date', at: '2024-05-01T00:00:00Z' })
    await jobEvent(millrace, 'job_completed', id)
    expect((await millrace.job(id))?.result).toEqual({ isDate: true, at: '2024-05-01T00:00:00.000Z' })
  })

  test('whose payload is transformed into something that cannot be sent becomes a dead letter that says so', async () => {
    const { id } = await millrace.enqueue(odd, { does: 'nothing' })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({
      reason: 'unrecoverable',
      failure: { message: expect.stringMatching(/cannot be sent to another process/) },
    })
  })

  test('passes correlation and parent on to what it enqueues', async () => {
    const { id } = await returned('enqueue', { url: t.url }, { correlationId: 'order-8' })
    expect(await t.sql(`select correlation_id, parent_job_id::text from millrace.job where type = 'child'`)).toEqual([
      { correlation_id: 'order-8', parent_job_id: id },
    ])
  })

  test('that returns nothing has null as its result', async () => {
    expect(await returned('nothing')).toMatchObject({ result: null })
  })

  test('whose result cannot be sent has an invalid one', async () => {
    const { id } = await millrace.enqueue(isolated, { does: 'function' })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({ failure: { class: 'InvalidResult' } })
  })

  test('has its result checked against the schema in the worker', async () => {
    const { id } = await millrace.enqueue(booking, { does: 'echo' })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({
      reason: 'unrecoverable',
      failure: { class: 'InvalidResult', message: expect.stringMatching(/booked/) },
    })
  })

  test.each([
    ['snooze', 'job_snoozed', { delayMs: 3_600_000 }],
    ['cancel', 'job_cancelled', { reason: 'not needed' }],
    ['discard', 'job_died', { reason: 'discarded', failure: { message: 'hopeless' } }],
    ['unrecoverable', 'job_died', { reason: 'unrecoverable', failure: { message: 'it will never work' } }],
    ['retry-after', 'job_snoozed', { delayMs: 90_000 }],
  ] as const)('is understood when it asks for "%s"', async (does, event, expected) => {
    const { id } = await millrace.enqueue(isolated, { does })
    expect(await jobEvent(millrace, event, id)).toMatchObject(expected)
  })

  test.each([
    ['throw', { class: 'TypeError', message: 'plain', stack: expect.stringMatching(/deeds\.js/) }],
    ['custom', { class: 'OutOfPaper', message: 'tray 2 is empty' }],
    ['throw-text', { class: 'NonError', message: 'just text', stack: null }],
  ])('that does "%s" fails with class, message and stack', async (does, expected) => {
    const { id } = await millrace.enqueue(isolated, { does })
    expect(await jobEvent(millrace, 'job_retry_scheduled', id)).toMatchObject({ failure: expected })
  })

  test('throws errors whose properties a backoff may look at', async () => {
    const { id } = await millrace.enqueue(printing, { does: 'custom' })
    expect(await jobEvent(millrace, 'job_retry_scheduled', id)).toMatchObject({ delayMs: 7_200_000 })
  })

  test('leads a process group of its own, so that a terminal does not signal it', async () => {
    const { result: pid } = await returned('pid')
    const [, group] = / . \d+ (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    expect(group).toBe(String(pid))
  })

  test('leaves it to the worker what a signal for the whole service means', async () => {
    expect(await returned('signal-itself')).toMatchObject({ result: 'still here' })
  })
})

describe('log lines', () => {
  test('go to the logger of the worker, and are stored with a failed attempt', async () => {
    await using t = await setup()
    const lines: object[] = []
    const logger: Logger = { ...silent, info: (fields, msg) => lines.push({ ...fields, msg }) }
    const millrace = t.client([isolated], { logger })
    await millrace.work({ handlers: [implement(isolated, inProcess())] })
    const { id } = await millrace.enqueue(isolated, { does: 'log' })
    await jobEvent(millrace, 'job_retry_scheduled', id)
    expect(lines).toMatchObject([{ job: id, attempt: 1, page: 1, msg: 'rendered' }])
    expect(await millrace.attempts(id)).toMatchObject([
      { logs: [{ level: 'info', msg: 'rendered' }, { msg: 'with something that cannot be sent' }] },
    ])
  })

  test('written before a crash are stored too', async () => {
    await using t = await setup()
    const { millrace } = await t.working([implement(isolated, inProcess())])
    const { id } = await millrace.enqueue(isolated, { does: 'log-and-crash' })
    await jobEvent(millrace, 'job_retry_scheduled', id)
    expect(await millrace.attempts(id)).toMatchObject([{ logs: [{ msg: 'the last line' }] }])
  })
})

describe('a crash fails the attempt, and only that', () => {
  test.each([
    ['exit', /exit code 3\./],
    ['abort', /killed by SIGABRT\./],
    ['segfault', /killed by SIGSEGV\./],
    ['uncaught', /exit code 1 \(RangeError: nobody catches this\)/],
  ])('%s', async (does, message) => {
    await using t = await setup()
    expect(await failure(t, does)).toMatchObject({
      class: 'IsolatedCrash',
      message: expect.stringMatching(message),
    })
  })

  test.each(['heap', 'buffers'])('too much memory: %s', async (does) => {
    await using t = await setup()
    expect(await failure(t, does, { memoryMb: 64 })).toMatchObject({
      class: 'IsolatedCrash',
      message: expect.stringMatching(/out of memory \(limit 64 MB\)/),
    })
  })

  test('memory within the limit is no crash', async () => {
    await using t = await setup()
    const { millrace } = await t.working([implement(isolated, inProcess({ memoryMb: 64 }))])
    const { id } = await millrace.enqueue(isolated, { does: 'buffers-within-limits' })
    await jobEvent(millrace, 'job_completed', id)
  })

  test('its neighbour goes on', async () => {
    await using t = await setup()
    const { millrace, id, file, pid } = await underWay(t, 'heed')
    const crashing = await millrace.enqueue(isolated, { does: 'exit' })
    await jobEvent(millrace, 'job_retry_scheduled', crashing.id)
    expect(isGone(pid)).toBe(false)
    const cancelled = jobEvent(millrace, 'job_cancelled', id)
    await millrace.cancel(id, { by: 'ann' })
    await cancelled
    expect(await textOf(file)).toBe('CancelRequested')
  })

  test('and the job is a dead letter when its attempts are used up', async () => {
    await using t = await setup()
    const once = defineJob({ type: 'once', queue: queues.default, payload, allowSecrets, retry: { attempts: 1 } })
    const { millrace } = await t.working([implement(once, inProcess())])
    const { id } = await millrace.enqueue(once, { does: 'segfault' })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({
      reason: 'exhausted',
      failure: { class: 'IsolatedCrash' },
    })
    expect(await millrace.job(id)).toMatchObject({ crashes: 0, attempt: 1 })
  })
})

describe('a timeout', () => {
  test('kills a handler that blocks its event loop: its slot is free and its retry is due as usual', async () => {
    await using t = await setup()
    // At twice its timeout a run is stuck and dies, and a busy machine may stand still for that long.
    const { millrace } = await t.working([implement(hasty, inProcess())], {
      ...{ concurrency: { default: 1 }, stuckAfter: '20s' },
    })
    let leaks = 0
    millrace.events.on('slot_leaked', () => leaks++)
    const file = newFile()
    const { id } = await millrace.enqueue(hasty, { does: 'block', file })
    const next = await millrace.enqueue(hasty, { does: 'nothing' })
    const completed = jobEvent(millrace, 'job_completed', next.id)
    expect(await jobEvent(millrace, 'job_retry_scheduled', id)).toMatchObject({ failure: { class: 'TimedOut' } })
    expect(isGone(Number(await textOf(file)))).toBe(true)
    await completed
    expect(leaks).toBe(0)
  })

  test('takes along what the handler has started', async () => {
    await using t = await setup()
    const { millrace } = await t.working([implement(hasty, inProcess())])
    const file = newFile()
    const { id } = await millrace.enqueue(hasty, { does: 'grandchild', file })
    const retried = jobEvent(millrace, 'job_retry_scheduled', id)
    const grandchild = Number(await textOf(file))
    expect(isGone(grandchild)).toBe(false)
    await retried
    await untilGone(grandchild)
  })
})

describe('cancelling', () => {
  test('aborts the signal, and the handler knows why', async () => {
    await using t = await setup()
    const { millrace, id, file } = await underWay(t, 'heed')
    const cancelled = jobEvent(millrace, 'job_cancelled', id)
    await millrace.cancel(id, { by: 'ann' })
    await cancelled
    expect(await textOf(file)).toBe('CancelRequested')
  })

  test.each(['ignore', 'block'])('kills a handler that does not listen: %s', async (does) => {
    await using t = await setup()
    const { millrace, id, pid } = await underWay(t, does)
    const cancelled = jobEvent(millrace, 'job_cancelled', id)
    await millrace.cancel(id, { by: 'ann' })
    await cancelled
    expect(isGone(pid)).toBe(true)
  })
})

describe('shutdown', () => {
  test('aborts the signal, and the job goes back without losing an attempt', async () => {
    await using t = await setup()
    const { millrace, worker, id, file } = await underWay(t, 'heed')
    await worker.stop()
    expect(await textOf(file)).toBe('WorkerStopping')
    expect(await millrace.job(id)).toMatchObject({ status: 'pending', attempt: 0, crashes: 0 })
  })

  test.each(['ignore', 'block'])('kills a handler that does not listen: %s', async (does) => {
    await using t = await setup()
    const { millrace, worker, id, pid } = await underWay(t, does)
    await worker.stop()
    expect(isGone(pid)).toBe(true)
    expect(await millrace.job(id)).toMatchObject({ status: 'pending', attempt: 0, crashes: 0 })
  })

  test('leaves no process behind', async () => {
    await using t = await setup()
    const quiet = defineJob({ type: 'quiet-shutdown', queue: queues.default, payload, allowSecrets })
    const { millrace } = await t.working([implement(quiet, inProcess({ warm: 2 }))])
    expect(processesOf(quiet.type)).toHaveLength(2)
    await millrace.close()
    expect(processesOf(quiet.type)).toEqual([])
  })
})

test('a lost lease kills the process at once', async () => {
  await using t = await setup()
  const { millrace, pid } = await underWay(t, 'ignore')
  const lost = millrace.events.next('lease_lost')
  await t.sql(`update millrace.worker set ended_at = now(), ended_reason = 'test'`)
  await lost
  await untilGone(pid)
})

describe.each(['ignore', 'block'])('when the worker is killed, a handler that does "%s"', (does) => {
  test('is gone within seconds', async () => {
    await using t = await setup()
    const worker = fork(fixture('worker-process.js'), [t.url], { execArgv: [] })
    await once(worker, 'message')
    const file = newFile()
    const millrace = t.client([isolated])
    await millrace.enqueue(isolated, { does, file })
    const pid = Number(await textOf(file))
    expect(isGone(pid)).toBe(false)
    worker.kill('SIGKILL')
    await untilGone(pid)
  })
})

describe('a module that cannot be used is refused when the worker starts', () => {
  test.each([
    ['cannot-load.js', /cannot be loaded .*there is no printer/s],
    ['missing.js', /cannot be loaded .*Cannot find module/s],
    ['no-handler.js', /no function as default export/],
  ])('%s', async (name, message) => {
    await using t = await setup()
    const refused = defineJob({ type: 'refused', queue: queues.default, payload, allowSecrets })
    const millrace = t.client([refused])
    const starting = millrace.work({ handlers: [implement(refused, inProcess({ module: fixture(name) }))] })
    await expect(starting).rejects.toThrow(message)
    await expect(starting).rejects.toMatchObject({ code: 'invalid_definition' })
    expect(processesOf(refused.type)).toEqual([])
    expect(await t.sql('select from millrace.worker where ended_at is null')).toEqual([])
  })
})

test.each([
  [{ module: './deeds.js' as unknown as URL }, /module: new URL/],
  [{ module: new URL('https://example.com/handler.js') }, /module: new URL/],
  [{ memoryMb: 1 }, /memoryMb 1: expected an integer from 32/],
  [{ warm: -1 }, /warm -1/],
  [{ isolation: 'thread' as 'process' }, /isolation "thread"/],
])('implement refuses %o', (options, message) => {
  const wrong = (): Implementation => implement(isolated, inProcess(options))
  expect(wrong).toThrow(message)
})
