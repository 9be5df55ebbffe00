import { defineJob, defineLimit, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { StoredReport } from '#src/store/worker-reports'
import { attentive, eventually, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ shots: { concurrency: 5 } })
const browsers = defineLimit('browsers', { perProcess: 1 })
const payload = z.object({ n: z.number() })
const shot = defineJob({ type: 'shot', queue: queues.shots, payload, limits: [browsers] })
const plain = defineJob({ type: 'plain', queue: queues.shots, payload })

const report: StoredReport = {
  state: 'working',
  lanes: [{ name: 'shots', slots: 5, running: 0, buffered: 0, queues: ['shots'] }],
  running: 0,
  runs: [],
  suspectJobId: null,
  memory: { percent: 40, isHigh: false },
  loopLagMs: 0,
  isListening: true,
  permits: [],
  ageMs: 0,
}

/** A client, and rows of workers of other processes with these reports. */
async function withReports(...reports: (Partial<StoredReport> | null)[]) {
  const t = await setup()
  const ids: string[] = []
  for (const each of reports) {
    const [row] = await t.sql<{ id: string }>(
      `insert into millrace.worker (id, host, pid, version, lanes, types, report, started_at, heartbeat_at, expires_at)
       values (gen_random_uuid(), 'far', 7, '0.1.0', '{}', '{plain,shot}', $1, now(), now(), now() + interval '1 hour')
       returning id`,
      [each && JSON.stringify({ ...report, ...each })],
    )
    ids.push(row?.id as string)
  }
  return { ...t, ids, millrace: t.client([plain, shot]) }
}

test('a limit per process that is full in the process of a worker is read from its report', async () => {
  await using t = await setup()
  const release = signal()
  const { millrace, worker } = await t.working([implement(shot, () => release.promise)], { lease: attentive })
  await millrace.enqueue(shot, { n: 1 })
  await eventually(async () => (await millrace.workers.get(worker.id))?.report?.permits[0]?.free === 0)
  const { id } = await millrace.enqueue(shot, { n: 2 })
  // From another program, which knows neither the contract nor the process.
  const { reasons, unknown } = await t.client([]).explain(id)
  expect(reasons).toMatchObject([{ mechanism: 'semaphore', until: null }])
  expect(reasons[0]?.sentence).toMatch(
    /^Limit "browsers" lets 1 run at once in each process, and the only worker that could run it, worker \S+ \(pid \d+ on host \S+\), has no place left\.$/,
  )
  expect(unknown).toEqual([expect.stringMatching(/^Workers say with their heartbeat/)])
  release.resolve()
})

test('memory runs short in every process that could run it', async () => {
  await using t = await withReports(
    { memory: { percent: 91.5, isHigh: true } },
    { memory: { percent: 90, isHigh: true } },
  )
  const { id } = await t.millrace.enqueue(plain, { n: 1 })
  expect((await t.millrace.explain(id)).summary).toBe(
    'All 2 workers that could run it run short of memory (91.5 % in use) and take no jobs until there is room.',
  )
})

test('one process that could run it is enough to hold nothing', async () => {
  await using t = await withReports({ memory: { percent: 91, isHigh: true } }, {})
  const { id } = await t.millrace.enqueue(plain, { n: 1 })
  expect((await t.millrace.explain(id)).reasons).toEqual([])
})

test('processes that are held by different things are told one by one', async () => {
  await using t = await withReports({ state: 'quiet' }, { memory: { percent: 91, isHigh: true } })
  await t.sql(
    `update millrace.worker set request = 'quiet', requested_by = 'ann', request_reason = 'a leak', requested_at = now()
     where id = $1`,
    [t.ids[0]],
  )
  const { id } = await t.millrace.enqueue(plain, { n: 1 })
  const { reasons } = await t.millrace.explain(id)
  expect(reasons).toMatchObject([
    {
      mechanism: 'quiet',
      sentence: '1 of 2 workers that could run it takes no more jobs, as ann asked: a leak.',
      remedy: `millrace workers resume ${t.ids[0]}`,
    },
    { mechanism: 'memory' },
  ])
})

test('a crash suspect waits for another one', async () => {
  await using t = await withReports({ suspectJobId: '17' })
  const { id } = await t.millrace.enqueue(plain, { n: 1 })
  expect((await t.millrace.explain(id)).reasons).toEqual([])
  await t.sql('update millrace.job set crashes = 1')
  const { reasons } = await t.millrace.explain(id)
  expect(reasons).toMatchObject([{ mechanism: 'suspect' }])
  expect(reasons[0]?.sentence).toMatch(/^A process died while running this job, .* runs another one, job 17\.$/)
})

test('what a worker does not say is named as not known', async () => {
  await using t = await withReports(null, { ageMs: 60_000 })
  const { id } = await t.millrace.enqueue(plain, { n: 1 })
  const { unknown, reasons } = await t.millrace.explain(id)
  expect(reasons).toEqual([])
  expect(unknown).toHaveLength(2)
  expect(unknown.join('\n')).toMatch(/runs version 0\.1\.0, which does not report/)
  expect(unknown.join('\n')).toMatch(/is 6\d s old: its event loop may be blocked/)
  await t.sql(`update millrace.job set type = 'stranger'`)
  const stranger = await t.client([]).explain(id)
  expect(stranger.unknown).toEqual([
    'No program that is known declares type "stranger": its limits, services and budget are not known.',
  ])
})

test('a claimed job that its worker does not run yet waits in its buffer, if that is known', async () => {
  const lanes = [{ name: 'shots', slots: 1, running: 1, buffered: 1, queues: ['shots'] }]
  const runs = [{ jobId: '99', type: 'plain', forMs: 5_000 }]
  await using t = await withReports({ lanes, running: 1, runs })
  const { id } = await t.millrace.enqueue(plain, { n: 1 })
  const claimed = (at: string) =>
    t.sql(
      `update millrace.job set status = 'processing', worker_id = $1, started_at = ${at}, run_id = gen_random_uuid(), attempt = 1`,
      [t.ids[0]],
    )
  await claimed(`now() - interval '10 seconds'`)
  expect((await t.millrace.explain(id)).summary).toMatch(/^It was claimed ahead at .* waits for a slot in the buffer/)
  await claimed(`now() + interval '10 seconds'`)
  const { summary, unknown } = await t.millrace.explain(id)
  expect(summary).toMatch(/^It is running: attempt 1/)
  expect(unknown).toEqual([expect.stringMatching(/^Whether its handler has started is not known/)])
})
