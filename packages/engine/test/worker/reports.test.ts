import { defineJob, defineLimit, defineQueues, implement, WorkerNotFound } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { attentive, eventually, jobEvent, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ mail: { concurrency: 2 } })
const payload = z.object({ n: z.number() })
const browsers = defineLimit('browsers', { perProcess: 3 })
const send = defineJob({ type: 'mail.send', queue: queues.mail, payload, limits: [browsers] })
const ask = { by: 'the test', reason: 'to see what happens' }

/** A worker whose handlers wait for `release`. */
async function working() {
  const t = await setup()
  const release = signal()
  const { millrace, worker } = await t.working([implement(send, () => release.promise)], { lease: attentive })
  const reported = (check: (report: NonNullable<Awaited<ReturnType<typeof look>>>['report']) => boolean) =>
    eventually(async () => {
      const found = await look()
      return found?.report && check(found.report) ? found : undefined
    })
  const look = () => millrace.workers.get(worker.id)
  return {
    ...t,
    millrace,
    worker,
    release,
    reported,
    [Symbol.asyncDispose]() {
      release.resolve()
      return t[Symbol.asyncDispose]()
    },
  }
}

describe('what a worker reports with its heartbeat', () => {
  test('where it is, what it runs, what is left of its slots and permits, and how it feels', async () => {
    await using t = await working()
    const { id } = await t.millrace.enqueue(send, { n: 1 })
    const { host, pid, types, request, report } = await t.reported((each) => each?.runs.length === 1)
    expect({ pid, types, request }).toEqual({ pid: process.pid, types: ['mail.send'], request: null })
    expect(host).not.toBe('')
    expect(report).toMatchObject({
      state: 'working',
      running: 1,
      lanes: [{ name: 'mail', slots: 2, running: 1, buffered: 0, queues: ['mail'] }],
      runs: [{ jobId: id, type: 'mail.send' }],
      permits: [{ limit: 'browsers', most: 3, free: 2, types: ['mail.send'] }],
      suspectJobId: null,
      memory: { isHigh: false },
    })
    expect(report?.memory.percent).toBeGreaterThan(0)
    expect(report?.loopLagMs).toBeGreaterThanOrEqual(0)
    expect(report?.runs[0]?.since.getTime()).toBeLessThanOrEqual(report?.at.getTime() ?? 0)
    await t.reported((each) => each?.isListening === true)
  })
})

describe('a worker that was asked to take no more jobs', () => {
  test('finishes what it runs, claims nothing, and goes on when it may', async () => {
    await using t = await working()
    const first = await t.millrace.enqueue(send, { n: 1 })
    await t.reported((each) => each?.running === 1)
    const quiet = t.millrace.events.next('worker_asked', ({ request }) => request?.kind === 'quiet')
    const asked = await t.millrace.workers.quiet(t.worker.id, ask)
    expect(asked.request).toMatchObject({ kind: 'quiet', ...ask })
    await quiet
    expect(t.worker.isQuiet).toBe(true)
    const second = await t.millrace.enqueue(send, { n: 2 })
    t.release.resolve()
    await jobEvent(t.millrace, 'job_completed', first.id)
    await t.reported((each) => each?.state === 'quiet' && each.running === 0)
    // Not even claimed and given back.
    expect(await t.millrace.job(second.id)).toMatchObject({ status: 'pending', runId: null })
    await t.millrace.workers.resume(t.worker.id, { by: 'the test' })
    await jobEvent(t.millrace, 'job_completed', second.id)
    expect(t.worker.isQuiet).toBe(false)
    const audit = await t.sql('select actor, action, target from millrace.audit_log order by id')
    expect(audit).toEqual([
      { actor: 'the test', action: 'worker.quiet', target: t.worker.id },
      { actor: 'the test', action: 'worker.resume', target: t.worker.id },
    ])
  })

  test('stays quiet under the new id of a lease that it had to take anew', async () => {
    await using t = await working()
    await t.millrace.workers.quiet(t.worker.id, ask)
    await t.reported((each) => each?.state === 'quiet')
    const former = t.worker.id
    const lost = t.millrace.events.next('lease_lost')
    await t.sql(`update millrace.worker set ended_at = now(), ended_reason = 'a test' where id = $1`, [former])
    await lost
    const { request } = await t.reported((each) => each?.state === 'quiet')
    expect(t.worker.id).not.toBe(former)
    expect(request).toMatchObject({ kind: 'quiet', ...ask })
    expect(t.worker.isQuiet).toBe(true)
  })
})

describe('a worker that was asked to stop', () => {
  test('finishes what it runs, ends its lease, and the row says who asked', async () => {
    await using t = await working()
    const { id } = await t.millrace.enqueue(send, { n: 1 })
    await t.reported((each) => each?.running === 1)
    const stopped = t.millrace.events.next('worker_stopped')
    const asked = t.millrace.events.next('worker_asked', ({ request }) => request?.kind === 'stop')
    await t.millrace.workers.stop(t.worker.id, ask)
    await asked
    await expect(t.millrace.workers.resume(t.worker.id, { by: 'the test' })).rejects.toThrow(
      'a stop cannot be taken back',
    )
    t.release.resolve()
    await stopped
    expect((await t.millrace.job(id))?.status).toBe('completed')
    expect(await t.millrace.workers.list()).toEqual([])
    expect(await t.sql('select ended_reason from millrace.worker')).toEqual([
      { ended_reason: 'stopped, as the test asked: to see what happens' },
    ])
  })

  test('a worker that is gone, was never there, or cannot hear is named in the refusal', async () => {
    await using t = await working()
    const { workers } = t.millrace
    const nobody = '00000000-0000-4000-8000-000000000000'
    await expect(workers.stop(nobody, ask)).rejects.toThrow(WorkerNotFound)
    await expect(workers.stop('x', ask)).rejects.toThrow('no living worker has that id')
    await expect(workers.quiet(t.worker.id, { by: 'the test', reason: '' })).rejects.toThrow('`reason` is missing')
    await t.sql(
      `insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at)
       values ($1, 'old', 1, '0.0.1', '{}', now(), now(), now() + interval '1 hour')`,
      [nobody],
    )
    await expect(workers.quiet(nobody, ask)).rejects.toThrow('it runs version 0.0.1, which hears no requests')
    expect((await workers.list()).find(({ id }) => id === nobody)?.report).toBeNull()
  })
})
