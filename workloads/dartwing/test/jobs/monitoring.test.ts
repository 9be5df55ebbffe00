// Stuck jobs are reported once, old letters are cleaned up, and both come by the clock.
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { dartwingSchedules } from '#src/jobs/schedules'
import { readSettings } from '#src/settings'
import { type Dartwing, LARGE, setup } from '../support/dartwing.ts'

const CLEAN_UP = 'dartwing_core.jobs.monitoring.cleanup_old_dlq_entries'
const DETECT = 'dartwing_core.jobs.monitoring.detect_stuck_jobs'

const run = (t: Dartwing, method: string) => runJob(t.handler(method), {} as never, { millrace: t.millrace })

async function letter(
  t: Dartwing,
  { daysAgo, status }: { daysAgo: number; status: 'pending' | 'resolved' | 'ignored' },
): Promise<string> {
  await runJob(
    t.handler('dartwing_fax.send_fax'),
    { organization: LARGE, fax: String(Math.floor(Math.random() * 1e9)) } as never,
    { millrace: t.millrace },
  )
  const [newest] = await t.millrace.deadLetters.list({ limit: 1 })
  const id = newest?.id as string
  if (status === 'resolved') await t.millrace.deadLetters.resolve(id, { by: 'test' })
  if (status === 'ignored') await t.millrace.deadLetters.ignore(id, { by: 'test' })
  await t.sql(`update millrace.dead_letter_jobs set died_at = now() - make_interval(days => $2) where id = $1`, [
    id,
    daysAgo,
  ])
  return id
}

test('clean-up removes what was decided and failed more than seven days ago, and nothing else', async () => {
  await using t = await setup()
  const gone = [await letter(t, { daysAgo: 8, status: 'resolved' }), await letter(t, { daysAgo: 8, status: 'ignored' })]
  const kept = [
    await letter(t, { daysAgo: 6, status: 'resolved' }),
    await letter(t, { daysAgo: 30, status: 'pending' }),
  ]
  const report = await run(t, CLEAN_UP)
  expect(report).toMatchObject({ outcome: 'completed', result: { removed: 2 } })
  expect(report.logs.map(({ message }) => message)).toContain('Cleaned up 2 old DLQ entries')
  const left = (await t.millrace.deadLetters.list()).map(({ id }) => id)
  expect(left.sort()).toEqual(kept.sort())
  expect(left).not.toContain(gone[0])
})

test('with nothing to remove, clean-up logs nothing', async () => {
  await using t = await setup()
  const report = await run(t, CLEAN_UP)
  expect(report).toMatchObject({ result: { removed: 0 } })
  expect(report.logs).toEqual([])
})

test('a stuck job is reported once, with the sentence of the specification on its letter', async () => {
  await using t = await setup()
  const id = await letter(t, { daysAgo: 0, status: 'pending' })
  await t.sql(`update millrace.dead_letter_jobs set reason = 'stuck' where id = $1`, [id])
  const first = await run(t, DETECT)
  expect(first).toMatchObject({ result: { reported: 1, failed: 0 } })
  expect(first.logs.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^Stuck job detected: \d+ in queue critical, started at /),
  ])
  expect((await t.millrace.deadLetters.get(id))?.notes).toContain('Job exceeded timeout threshold')
  expect(await run(t, DETECT)).toMatchObject({ result: { reported: 0, failed: 0 } })
})

test('stuck detection comes every quarter of an hour and clean-up at three, in the configured time zone', () => {
  const schedules = dartwingSchedules(readSettings({ DARTWING_TIME_ZONE: 'Europe/Helsinki' }))
  expect(schedules.map(({ name, when, settings }) => [name, when, settings.overlap])).toMatchObject([
    ['detect-stuck-jobs', { expression: '*/15 * * * *', timeZone: 'Europe/Helsinki' }, 'skip'],
    ['cleanup-old-dlq-entries', { expression: '0 3 * * *', timeZone: 'Europe/Helsinki' }, 'skip'],
  ])
})
